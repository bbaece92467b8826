"""The page of an audit: limits, the topology with its losses, activity over time, tables, the worst trees."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.pages.answer import BAD, MEANINGS
from multilang_cli.audit.pages.cells import cell, head
from multilang_cli.audit.pages.over_time import over_time
from multilang_cli.audit.pages.topology_map import topology_map
from multilang_cli.audit.tables import TABLES
from multilang_cli.audit.worst_trees import WorstTrees, worst_trees
from multilang_cli.reports.html.document import (
    Cell,
    PageDocument,
    PageVerdict,
    SectionColumn,
    TableSection,
    Text,
)
from multilang_cli.reports.html.page_file import load_kit, render
from multilang_cli.reports.html.run_sections import line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import Column as SortedBy
    from pyspark.sql import DataFrame, Row

    from multilang_cli.audit.store.stored import StoredTables
    from multilang_cli.reports.html.document import AnySection, Tone
    from multilang_cli.reports.model import RunResult

MOST_ROWS = 100
"""Rows of a table that a page shows: the first, in the order that `TABLES_SHOWN` gives."""
TONES: dict[int, Tone] = {0: "good", 1: "bad", 6: "warn"}

TABLES_SHOWN: dict[str, tuple[str, str]] = {
    "roots": ("The worst tuple trees", "run, root"),
    "rates": ("Rates and latency by task and hour", "topology, component, task, hour"),
    "dialects": ("What dies or loses data on other Storm versions", "messages desc, version"),
    "timeouts": ("Slower than the message timeout", "after desc"),
    "silences": ("Heartbeats answered late or never", "after desc"),
    "restarts": ("Restarts", "lost desc, first_at"),
    "replays": ("Message ids emitted again", "emissions desc"),
    "keys": ("Keys of fields groupings", "moves desc, tuples desc"),
    "quarantine": ("Lines in quarantine", "file, line"),
    "files": ("Files", "quarantined desc, file"),
}
"""Tables that the page shows, with their heading and what comes first."""
_WORST_FIRST = (
    f"array_position(array({', '.join(map(repr, BAD))}), verdict)", "confidence != 'certain'", "-edges", "run", "root"
)  # fmt: skip
"""As the screen has them: see ``worst_first``."""


def page_of(result: RunResult, known: StoredTables) -> str:
    """The page. Raises KitError."""
    return render(document_of(result, known), load_kit())


def document_of(result: RunResult, known: StoredTables) -> PageDocument:
    """The page document of an audit."""
    bad = [subject.reason for subject in result.subjects if subject.verdict in {"fail", "error", "untestable"}]
    return PageDocument(
        title="Audit",
        subtitle=line(bad[0]) if bad else "No limit was broken.",
        made_by=f"{result.tool.name} {result.tool.version}",
        made_at=result.started_at.replace("+00:00", "Z"),
        verdict=PageVerdict(text=result.verdict.replace("-", " "), tone=TONES.get(result.exit_code, "bad")),
        sections=tuple(_sections(result, known)),
    )


def _sections(result: RunResult, known: StoredTables) -> Iterator[AnySection]:
    yield from _trees(known)
    yield _limits(result)
    if result.notes:
        yield Text(id="notes", title="Notes", paragraphs=tuple(map(line, result.notes)))
    yield from topology_map(known)
    yield from over_time(known)
    trees = _worst_trees(known)
    for name, (title, order) in TABLES_SHOWN.items():
        if name in known:
            yield from _table(name, title, order, known[name], trees.links)
    yield from trees.sections


def _trees(known: StoredTables) -> Iterator[TableSection]:
    """Number of trees by verdict; nothing where there are none."""
    number: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    for each in known.trees:
        number[each.verdict] += each.trees
        sure[each.verdict] += each.trees if each.confidence == "certain" else 0
    if not number:
        return
    heads = ("verdict", "trees", "certain")
    yield TableSection(
        id="trees",
        title="What became of the tuple trees",
        note="Certain: nothing of it was guessed.",
        columns=(
            *(SectionColumn(name=name, align="left" if name == "verdict" else "right") for name in heads),
            SectionColumn(name="what happened"),
        ),
        rows=tuple(
            (
                Cell(text=name, tone="bad", to="roots") if name in BAD else name,
                *(Cell(text=f"{of[name]:,}", value=float(of[name])) for of in (number, sure)),
                meaning,
            )
            for name, meaning in MEANINGS.items()
            if number[name]
        ),
    )


def _worst_trees(known: StoredTables) -> WorstTrees:
    if "roots" not in known:
        return WorstTrees((), {})
    return worst_trees(_in_order("roots", TABLES_SHOWN["roots"][1], known["roots"]), known)


def _limits(result: RunResult) -> TableSection:
    tones: dict[str, Tone] = {"pass": "good", "fail": "bad", "error": "bad"}
    rows = tuple(
        (Cell(text=each.title), Cell(text=each.verdict, tone=tones.get(each.verdict, "warn")), line(each.reason))
        for each in result.subjects
    )
    return TableSection(
        id="limits",
        title="Limits",
        columns=(SectionColumn(name="what"), SectionColumn(name="verdict"), SectionColumn(name="why")),
        rows=rows,
    )


def _in_order(name: str, order: str, rows: DataFrame) -> DataFrame:
    # Spark knows more times than Python, which would refuse them, and would show all in the zone of this machine.
    texts = {column for column, kind in rows.dtypes if kind == "timestamp"}
    shown = [column for column in rows.columns if column not in {"raw", "header"}]
    plain = rows.select([F.col(each).cast("string").alias(each) if each in texts else F.col(each) for each in shown])
    if name == "roots":
        plain = plain.where(F.col("verdict").isin(*BAD)).orderBy(*(F.expr(each) for each in _WORST_FIRST))
    else:
        plain = plain.orderBy(*(_ordered(word) for word in order.split(", ")))
    return plain


def _table(
    name: str, title: str, order: str, rows: DataFrame, links: Mapping[tuple[str, int], str]
) -> Iterator[TableSection]:
    """The first rows of a table; nothing for an empty one. `links`: where the page shows more of a root, by its run."""
    ordered = _in_order(name, order, rows)
    found = ordered.limit(MOST_ROWS + 1).collect()
    if not found:
        return
    about = TABLES[name].about
    more = f" The first {MOST_ROWS} are shown; the table {name} has them all." if len(found) > MOST_ROWS else ""
    yield TableSection(
        id=name,
        title=title,
        note=f"{about}{more}".strip(),
        columns=tuple(head(column) for column in TABLES[name].columns if column.name in ordered.columns),
        rows=tuple(_cells(row, links if name == "roots" else {}) for row in found[:MOST_ROWS]),
    )


def _ordered(word: str) -> SortedBy:
    """A column, and how it is sorted: ``messages desc``."""
    name, _, descending = word.partition(" ")
    return F.desc_nulls_first(name) if descending else F.asc(name)


def _cells(row: Row, links: Mapping[tuple[str, int], str]) -> tuple[Cell | str, ...]:
    to = links.get((row.run, row.root)) if links else None
    return tuple(
        Cell(text=row.verdict, tone="bad", to=to) if to and column == "verdict" else cell(column, row[column])
        for column in row.__fields__
    )
