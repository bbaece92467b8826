"""The answer of an audit on a screen: what became of the trees, by whom, the worst of them, what changed since."""

from __future__ import annotations

import heapq
import shlex
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.audit.summary_tables import RATES
from multilang_cli.audit.tables import ROOTS
from multilang_cli.audit.worst_trees import places_of
from multilang_cli.reports.escape import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from multilang_cli.audit.store.stored import StoredTables

LOST = ("lost", "never acked")
"""Verdicts on trees of which a tuple is gone."""
BAD = (*LOST, "double ack", "late ack", "failed", "timed out", "uncertain")
"""Verdicts that somebody should look at, the worst first."""
ORDER = ("completed", "open", *BAD)
MOST_TASKS = 12
"""Tasks that are listed; the table rates has all."""
WORST = 3
_SUMS = ("tuples", "emits", "acks", "fails", "late", "twice", "never")


class _BadTree(NamedTuple):
    """A row of the table roots."""

    run: str
    root: int
    verdict: str
    confidence: str
    edges: int
    task: int | None
    message_id: str | None
    open_task: int | None
    open_id: str | None

    def order(self) -> tuple[Any, ...]:
        """Key of a sort that has the worst first."""
        return BAD.index(self.verdict), self.confidence != "certain", -self.edges, self.run, self.root


class AuditAnswer(NamedTuple):
    """`trees`: how many have each verdict; `certain`: how many of those that are lost are so for certain.

    `tasks`: lines of a table; `worst`: a sentence and a command for each.
    """

    trees: dict[str, int]
    certain: int
    tasks: tuple[str, ...]
    worst: tuple[tuple[str, str], ...]

    def sentence(self) -> str:
        """The verdicts in a sentence."""
        total = sum(self.trees.values())
        if not total:
            return "no spout's tuple with a message id is in the recordings, so there are no trees to tell of"
        parts = [f"{self.trees[name]:,} {name}" for name in ORDER if self.trees.get(name)]
        lost = sum(self.trees.get(name, 0) for name in LOST)
        sure = f"; of those lost or never acked {self.certain:,} for certain" if lost else ""
        return f"{total:,} tuple trees: {', '.join(parts)}{sure}"

    def since(self, before: Mapping[str, int]) -> str:
        """A sentence on what is different from the trees of the run before; "" for nothing."""
        changes = {name: self.trees.get(name, 0) - before.get(name, 0) for name in ORDER}
        told = [f"{change:+,} {name}" for name, change in changes.items() if change]
        return f"since the run before: {', '.join(told)}" if told else ""


def answer_of(known: StoredTables) -> AuditAnswer:
    """The answer, from the tables of an audit."""
    trees: dict[str, int] = {}
    held: dict[int | None, int] = {}
    for each in known.trees:
        trees[each.verdict] = trees.get(each.verdict, 0) + each.trees
        if each.verdict in BAD:
            held[each.held] = held.get(each.held, 0) + each.trees
    certain = sum(each.trees for each in known.trees if each.verdict in LOST and each.confidence == "certain")
    return AuditAnswer(trees, certain, tuple(_tasks(known, held)), tuple(_worst(known) if held else ()))


def _tasks(known: StoredTables, held: Mapping[int | None, int]) -> Iterator[str]:
    rows: dict[tuple[str, int, str], list[int]] = {}
    for component, task, kind, *numbers in known.few(RATES, "component", "task", "kind", *_SUMS):
        sums = rows.get((component, task, kind), [0] * len(_SUMS))
        rows[component, task, kind] = [one + (two or 0) for one, two in zip(sums, numbers, strict=True)]
    if not rows:
        return
    never, twice = _SUMS.index("never"), _SUMS.index("twice")
    order = sorted(rows.items(), key=lambda row: (-held.get(row[0][1], 0), -row[1][never], -row[1][twice], row[0][1]))
    wide = min(max(9, *(len(_shown(component)) for component, _, _ in rows)), 24)
    heads = ("in", "out", "acked", "failed", "late", "twice", "never", "trees")
    yield f"{'component':{wide}} {'task':>5} " + " ".join(f"{head:>8}" for head in heads)
    for (component, task, _), sums in order[:MOST_TASKS]:
        figures = [*sums, held.get(task, 0)]
        yield f"{_shown(component)[:wide]:{wide}} {task:>5} " + " ".join(f"{each:>8,}" for each in figures)
    if len(order) > MOST_TASKS:
        yield f"{len(order) - MOST_TASKS} more tasks: table rates"


def _worst(known: StoredTables) -> Iterator[tuple[str, str]]:
    """The first by what happened to them, then those that are certain, then the largest."""
    bad = starmap(_BadTree, known.rows(ROOTS, *_BadTree._fields, of={"verdict": BAD}))
    wanted = heapq.nsmallest(WORST, bad, key=_BadTree.order)
    found = {(at.run, at.root): at for at in places_of(wanted, known)}
    for row in wanted:
        at = found.get((row.run, row.root))
        what = f"{row.verdict} ({row.confidence}): message {_shown(row.message_id or '?')} of task {row.task}"
        if at is None:
            yield what, ""
            continue
        if row.open_id is not None:
            what += f"; tuple {_shown(row.open_id)} was with {_shown(at.component)}, task {row.open_task}"
        command = f"mlcheck report -o tree.html {shlex.quote(_shown(at.file))}"
        yield f"{what}; event {at.seq} of {_shown(at.conv)}", command


def _shown(text: str) -> str:
    return decode(text.encode("utf-8", "replace"))[:200]
