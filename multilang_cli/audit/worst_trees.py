"""The worst tuple trees of an audit, each with what the task was told and said that holds its open tuple."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.runs import topology_runs
from multilang_cli.audit.store.local_rows import local_rows
from multilang_cli.audit.tables import CONVERSATIONS, EVENTS
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.reports.html.conversation import PageConversation
from multilang_cli.reports.html.findings import Explainer
from multilang_cli.reports.html.keeping import EventBudget
from multilang_cli.reports.html.run_sections import line
from multilang_cli.reports.model import SubjectResult
from multilang_cli.transcript.format import decode_header, decode_line
from multilang_cli.transcript.reader import reader_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame

    from multilang_cli.audit.store.stored import StoredTables
    from multilang_cli.reports.html.document import AnySection

TREES_WITH_EVENTS = 8
"""Trees that are shown with their conversation."""
EVENTS_AROUND = 100
"""Events of it before the tuple, and behind it."""
LONGEST_SHOWN_LINE = 65_536
"""Bytes of a line that is shown; longer ones are passed over."""
_WHOSE = ("conv", "part", "component", "task", "storm", "file", "header")
_BAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)


class WorstTrees(NamedTuple):
    """`sections`: conversations; `links`: by run and root, where in them its tuple is, as SECTION/SEQ."""

    sections: tuple[AnySection, ...]
    links: dict[tuple[str, int], str]


class TreePlace(NamedTuple):
    """The event with which a tree's open tuple was delivered, or its root emitted; whose it was."""

    run: str
    root: int
    conv: str
    part: int
    seq: int
    id: str
    kind: str
    component: str
    task: int
    storm: str
    file: str
    header: bytes


def worst_trees(roots: DataFrame, known: StoredTables) -> WorstTrees:
    """The conversations behind the first of `roots`, the worst first.

    Two passes over the events: one finds the places, one the lines around all of them.
    """
    wanted = roots.limit(TREES_WITH_EVENTS).collect()
    places = places_of(wanted, known) if wanted else []
    around = _around(places, known["events"]) if places else {}
    sections, links = [], {}
    for number, place in enumerate(places):
        told = _told(f"tree{number + 1}", place, around.get(number, ()))
        if told is not None:
            links[place.run, place.root] = f"{told.id}/{place.seq}"
            sections.append(told)
    return WorstTrees(tuple(sections), links)


def places_of(wanted: Iterable[Any], known: StoredTables) -> list[TreePlace]:
    """Place of each of `wanted`, rows of roots: the first such event. Those of which none was recorded have none.

    A tuple that died on its way to its task is in no recording: then it is that of the emit.
    """
    asked: list[tuple[Any, ...]] = []
    for row in wanted:
        if row.open_id is not None:
            asked.append((row.run, row.root, row.open_task, row.open_id, "tuple"))
        asked.append((row.run, row.root, row.task, row.message_id, "emit"))
    tasks = {task for _, _, task, _, _ in asked if task is not None}
    whose = {(conv, part): rest for conv, part, *rest in known.rows(CONVERSATIONS, *_WHOSE, of={"task": tasks})}
    runs = topology_runs(known.facts, {each.run for each in known.trees})
    run_of = {conv: run.name for run in runs.values() for conv in run.convs}
    may_be: dict[tuple[Any, ...], list[tuple[str, int]]] = {}
    for (conv, part), (_, task, _, _, _) in whose.items():
        for run, root, *which in asked:
            if which[0] == task and run == run_of.get(conv):
                may_be.setdefault((conv, part, *which[1:]), []).append((run, root))
    of = {name: {event[at] for event in may_be} for at, name in enumerate(("conv", "part", "id", "kind"))}
    first: dict[tuple[str, int], tuple[Any, ...]] = {}
    for *event, seq in known.rows(EVENTS, *of, "seq", of=of):
        conv, part, id_, kind = event
        for tree in may_be.get(tuple(event), ()):
            place = (kind != "tuple", conv, part, seq, id_, kind)
            first[tree] = min(place, first.get(tree, place))
    found = {
        tree: TreePlace._make((*tree, *place, component, task, storm, file, header))
        for tree, (_, *place) in first.items()
        for component, task, storm, file, header in (whose[place[0], place[1]],)
    }
    return [found[tree] for tree in dict.fromkeys((run, root) for run, root, *_ in asked) if tree in found]


def _around(places: list[TreePlace], events: DataFrame) -> dict[int, list[bytes]]:
    """The lines of the events around each place, by its number, in order."""
    spans = [
        (number, at.conv, at.part, at.seq - EVENTS_AROUND, at.seq + EVENTS_AROUND) for number, at in enumerate(places)
    ]
    asked = local_rows(events.sparkSession, spans, "place int, conv string, part int, first bigint, last bigint")
    # A join alone is no filter that Parquet could skip row groups by.
    theirs = events.where(
        F.col("conv").isin(sorted({at.conv for at in places})) & (F.length("raw") <= LONGEST_SHOWN_LINE)
    )
    near = theirs.join(F.broadcast(asked), ["conv", "part"]).where("seq between first and last")
    found: defaultdict[int, list[bytes]] = defaultdict(list)
    for row in near.select("place", "line", "raw").orderBy("place", "line").collect():
        found[row.place].append(row.raw)
    return found


def _told(lead: str, place: TreePlace, lines: Sequence[bytes]) -> AnySection | None:
    """The conversation around a place as a section; None if its lines can't be read any more."""
    header = decode_header(place.header)
    reader = reader_of(header, header.transcript, None)
    told = PageConversation(
        lead,
        header,
        SubjectResult(id=place.conv, title=place.conv, kind="conversation", verdict="fail"),
        Explainer(load_rulebook(), place.storm),
        EventBudget(),
        detailed=False,
        alone=False,
    )
    for raw in lines:
        try:
            event = reader.event(decode_line(raw))
        except _BAD:
            continue
        if event is not None:
            told.take((event,))
    section = next(told.sections(), None)
    return None if section is None else msgspec.structs.replace(section, title=_title(place))


def _title(place: TreePlace) -> str:
    return line(
        f"{place.component}, task {place.task}: around {'tuple' if place.kind == 'tuple' else 'message'} {place.id}"
    )
