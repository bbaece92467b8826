"""The answer of an audit on a screen: what became of the trees, by whom, the worst of them, what changed since."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.audit.worst_trees import places_of
from multilang_cli.reports.escape import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import Row

    from multilang_cli.audit.pipeline import Known

LOST = ("lost", "never acked")
"""Verdicts on trees of which a tuple is gone."""
BAD = (*LOST, "double ack", "late ack", "failed", "timed out", "uncertain")
"""Verdicts that somebody should look at, the worst first."""
ORDER = ("completed", "open", *BAD)
MOST_TASKS = 12
"""Tasks that are listed; the table rates has all."""
WORST = 3
_SUMS = ("tuples", "emits", "acks", "fails", "late", "twice", "never")


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


def answer_of(known: Known) -> AuditAnswer:
    """The answer, from the tables of an audit."""
    counted = known["roots"].selectExpr(
        "verdict", f"verdict in {LOST} and confidence = 'certain' as sure", f"verdict in {BAD} as bad",
        "run", "coalesce(open_task, task) as held",
    ).groupBy("verdict", "sure", "bad", "run", "held").count().collect()  # fmt: skip
    trees: dict[str, int] = {}
    held: dict[int, int] = {}
    for row in counted:
        trees[row.verdict] = trees.get(row.verdict, 0) + row["count"]
        if row.bad:
            held[row.held] = held.get(row.held, 0) + row["count"]
    certain = sum(row["count"] for row in counted if row.sure)
    return AuditAnswer(trees, certain, tuple(_tasks(known, held)), tuple(_worst(known) if held else ()))


def _tasks(known: Known, held: Mapping[int, int]) -> Iterator[str]:
    rates: Any = known["rates"].groupBy("component", "task", "kind")
    rows = rates.agg(dict.fromkeys(_SUMS, "sum")).collect()
    if not rows:
        return
    rows.sort(key=lambda row: (-held.get(row.task, 0), -_of(row, "never"), -_of(row, "twice"), row.task))
    wide = min(max(9, *(len(_shown(row.component)) for row in rows)), 24)
    heads = ("in", "out", "acked", "failed", "late", "twice", "never", "trees")
    yield f"{'component':{wide}} {'task':>5} " + " ".join(f"{head:>8}" for head in heads)
    for row in rows[:MOST_TASKS]:
        figures = [_of(row, name) for name in _SUMS] + [held.get(row.task, 0)]
        yield f"{_shown(row.component)[:wide]:{wide}} {row.task:>5} " + " ".join(f"{each:>8,}" for each in figures)
    if len(rows) > MOST_TASKS:
        yield f"{len(rows) - MOST_TASKS} more tasks: table rates"


def _of(row: Row, name: str) -> int:
    return int(row[f"sum({name})"] or 0)


def _worst(known: Known) -> Iterator[tuple[str, str]]:
    """The first by what happened to them, then those that are certain, then the largest."""
    order = f"array_position(array{BAD}, verdict), confidence != 'certain', -edges, run, root"
    bad = known["roots"].where(f"verdict in {BAD}").selectExpr("*", f"struct({order}) as worst")
    wanted = bad.orderBy("worst").limit(WORST).collect()
    found = {(at.run, at.root): at for at in places_of(wanted, known["conversations"], known["events"])}
    for row in wanted:
        at = found.get((row.run, row.root))
        what = f"{row.verdict} ({row.confidence}): message {_shown(row.message_id or '?')} of task {row.task}"
        if at is None:
            yield what, ""
            continue
        if row.open_id is not None:
            what += f"; tuple {_shown(row.open_id)} was with {_shown(at.component)}, task {row.open_task}"
        yield f"{what}; event {at.seq} of {_shown(at.conv)}", f"mlcheck report {shlex.quote(_shown(at.file))}"


def _shown(text: str) -> str:
    return decode(text.encode("utf-8", "replace"))[:200]
