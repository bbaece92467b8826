"""The answer of an audit on a screen: what became of the trees, by whom, the worst of them, what changed since."""

from __future__ import annotations

import heapq
import shlex
from collections import Counter
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.audit.tables import RATES, ROOTS
from multilang_cli.audit.worst_trees import places_of
from multilang_cli.reports.escape import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from multilang_cli.audit.store.stored import StoredTables

LOST = ("lost", "never acked")
"""Verdicts on trees of which a tuple is gone."""
BAD = (*LOST, "double ack", "late ack", "failed", "timed out", "uncertain")
"""Verdicts that somebody should look at, the worst first."""
MEANINGS = {
    "completed": "every tuple was acked",
    "open": "under way when the recording ended",
    "lost": "a tuple never reached its task, or died with it",
    "never acked": "a task has had a tuple for longer than the timeout, and said nothing",
    "double ack": "a tuple was settled twice",
    "late ack": "every tuple was acked, the last after the spout had given up",
    "failed": "a bolt failed a tuple in time",
    "timed out": "the spout was told so, and no tuple is open",
    "uncertain": "what was guessed of it can't be right, or what is missing may tell its end",
}
"""Verdicts in a few words, in the order in which they are told."""
ORDER = tuple(MEANINGS)
MOST_TASKS = 12
"""Tasks that are listed; the table rates has all."""
WORST = 3
MOST_NAME = 24
"""Characters of a name in the list of tasks."""
_SUMS = ("tuples", "emits", "acks", "fails", "late", "twice", "never")
_TWICE, _NEVER = _SUMS.index("twice"), _SUMS.index("never")
_HEADS = ("component", "task", "in", "out", "acked", "failed", "late", "twice", "never", "bad trees")


class _Task(NamedTuple):
    topology: str
    component: str
    task: int
    kind: str


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
        return worst_first(self.verdict, self.confidence, self.edges, self.run, self.root)


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
    held: Counter[tuple[str, int | None]] = Counter()
    for each in known.trees:
        trees[each.verdict] = trees.get(each.verdict, 0) + each.trees
        if each.verdict in BAD:
            held[each.run, each.held] += each.trees
    certain = sum(each.trees for each in known.trees if each.verdict in LOST and each.confidence == "certain")
    return AuditAnswer(trees, certain, tuple(_tasks(known, held)), tuple(_worst(known) if held else ()))


def worst_first(verdict: str, confidence: str, edges: int, run: str, root: int) -> tuple[Any, ...]:
    """Key of a sort of bad trees: first by what happened to them, then those that are certain, then the largest."""
    return BAD.index(verdict), confidence != "certain", -edges, run, root


def _tasks(known: StoredTables, held: Mapping[tuple[str, int | None], int]) -> Iterator[str]:
    """The tasks that most went wrong with. Ids of tasks are their topology's own."""
    sums: dict[_Task, list[int]] = {}
    topologies: dict[str, str] = {}
    for run, topology, component, task, kind, *numbers in known.few(RATES, "run", *_Task._fields, *_SUMS):
        topologies[run] = topology
        key = _Task(topology, component, task, kind)
        before = sums.get(key, (0,) * len(_SUMS))
        sums[key] = [one + (more or 0) for one, more in zip(before, numbers, strict=True)]
    bad: Counter[tuple[str, int | None]] = Counter()
    for (run, holder), number in held.items():
        bad[topologies.get(run, ""), holder] += number
    rows = [(key, [*numbers, bad[key.topology, key.task]]) for key, numbers in sums.items()]
    rows.sort(key=lambda row: (-row[1][-1], -row[1][_NEVER], -row[1][_TWICE], row[0].task, row[0]))
    several = len({key.topology for key in sums}) > 1
    cells = [
        (*((_shown(key.topology)[:MOST_NAME],) if several else ()), _shown(key.component)[:MOST_NAME], str(key.task),
         *(f"{each:,}" for each in numbers))
        for key, numbers in rows[:MOST_TASKS]
    ]  # fmt: skip
    yield from _in_columns((*(("topology",) if several else ()), *_HEADS), cells, names=1 + several)
    if len(rows) > MOST_TASKS:
        yield f"{len(rows) - MOST_TASKS} more tasks: table rates"


def _in_columns(heads: Sequence[str], rows: Sequence[Sequence[str]], names: int) -> Iterator[str]:
    """Lines of a table as wide as it has to be. `names`: of columns that begin at their left."""
    if not rows:
        return
    wide = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        yield "  ".join(f"{cell:{'<' if at < names else '>'}{wide[at]}}" for at, cell in enumerate(row)).rstrip()


def _worst(known: StoredTables) -> Iterator[tuple[str, str]]:
    bad = starmap(_BadTree, known.rows(ROOTS, *_BadTree._fields, of={"verdict": BAD}))
    wanted = heapq.nsmallest(WORST, bad, key=_BadTree.order)
    found = {(at.run, at.root): at for at in places_of(wanted, known)}
    for row in wanted:
        at = found.get((row.run, row.root))
        what = f"{row.verdict} ({row.confidence}): message {_shown(row.message_id or '?')} of task {row.task}"
        if at is None:
            yield what, ""
            continue
        parts = known.facts.parts
        topology = parts[at.conv][0].topology
        if at.kind == "tuple":
            what += f"; tuple {_shown(at.id)} was with {_shown(at.component)}, task {row.open_task}"
        elif row.open_task is not None:
            theirs = (each[0] for each in parts.values())
            to = (one.component for one in theirs if (one.topology, one.task) == (topology, row.open_task))
            what += f"; its tuple for {_shown(next(to, 'nobody recorded'))}, task {row.open_task}, "
            what += "never came there" if row.open_id is None else "is in no recording"
        command = f"mlcheck report -o tree.html {shlex.quote(_shown(at.file))}"
        yield f"{what}; event {at.seq} of {_shown(at.conv)}", command


def _shown(text: str) -> str:
    return decode(text.encode("utf-8", "replace"))[:200]
