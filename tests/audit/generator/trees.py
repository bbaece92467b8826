"""One root of a made topology with a known fate: its tuple tree, each tuple's life, and what the audit must say of it.

The topology: a spout ``source``, a bolt ``split``, which makes some tuples of each, a bolt ``count``. Every root is
made from the seed and its number alone, so that any piece of a recording of any size can be made anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.acking.ids import generate_id

if TYPE_CHECKING:
    from collections.abc import Callable

TAPPED_AFTER = 0.002
"""Seconds from an emit to the tap of the task that gets it. Always the same, so that nothing overtakes."""
MOST_WORDS = 4
_WORDS = ("the", "cow", "jumped", "over", "the", "moon", "人", "naïve")
_DEEP = 0x9E3779B97F4A7C15
"""Spreads neighbouring numbers: generators with neighbouring seeds begin alike."""


class TreesPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Generator settings. `weights`: how often each verdict is to be, by its name; `gap`: seconds between roots.

    `restarts`: when a worker of bolts died, and its number; all it held is lost. `timeout`: in seconds.
    `words`: tuples that ``split`` makes of one, at most, and one more; histories take 12. A task may be of both bolts.
    """

    seed: int = 1
    roots: int = 1000
    weights: Mapping[str, float] = msgspec.field(default_factory=lambda: {"completed": 1.0})
    gap: float = 0.01
    timeout: float = 30.0
    spouts: tuple[int, ...] = (1, 2)
    splits: tuple[int, ...] = (3, 4, 5)
    counts: tuple[int, ...] = (6, 7, 8, 9)
    words: int = MOST_WORDS
    workers: int = 3
    restarts: tuple[tuple[float, int], ...] = ()

    def component(self, task: int) -> str:
        """The component of a task."""
        return "source" if task in self.spouts else "split" if task in self.splits else "count"

    def worker(self, task: int) -> int:
        """The worker of a task; spouts have one of their own, which never dies."""
        return self.workers if task in self.spouts else task % self.workers

    @property
    def span(self) -> float:
        """Seconds after which all that has an outcome has it."""
        return self.roots * self.gap + 3 * self.timeout


class TreeNode(msgspec.Struct):
    """A tuple on its way. `parent`: its place in the tree, None from the spout. `lost`: when it was, if it was.

    `settles`: when it was acked or failed, in order; `id`: its tuple id.
    """

    edge: int
    parent: int | None
    source: int
    target: int
    values: list[str]
    made: float
    id: str
    settles: list[tuple[float, str]] = []
    lost: float | None = None

    @property
    def arrived(self) -> float | None:
        """When its task got it; None if that never came to be."""
        got = self.made + TAPPED_AFTER
        return got if self.lost is None or self.lost >= got else None


class Made(msgspec.Struct):
    """A root with what became of it. `outcome`: when the spout was told, and what. `verdict`: the truth."""

    number: int
    root: int
    task: int
    emitted: float
    nodes: list[TreeNode]
    outcome: tuple[float, str] | None
    verdict: str

    @property
    def open(self) -> TreeNode | None:
        """The first tuple that nobody settled."""
        return min((node for node in self.nodes if not node.settles), key=lambda n: (n.made, n.edge), default=None)


class _Draft(NamedTuple):
    plan: TreesPlan
    made: Made
    random: Random

    def timed_out(self) -> float:
        """The spout is told that the root timed out; gives when."""
        timeout = self.plan.timeout
        t = self.made.emitted + timeout + 1.0 + self.random.random() * (timeout - 2.0)
        self.made.outcome = (t, "timed out")
        return t

    def anyone(self) -> int:
        """The place of any tuple."""
        return self.random.randrange(len(self.made.nodes))

    def leaf(self) -> TreeNode:
        """A tuple of which nothing was made."""
        return self.made.nodes[self.random.randrange(1, len(self.made.nodes))]

    def prune(self, place: int) -> None:
        """Take back all that would have been made of a tuple."""
        if place == 0:
            del self.made.nodes[1:]


def make(plan: TreesPlan, number: int) -> Made:
    """The root of this number, from 0 on."""
    random = Random(plan.seed * _DEEP + number * 2 + 1)  # noqa: S311 (no secrets)
    verdict = random.choices(list(plan.weights), list(plan.weights.values()))[0]
    made = _make(plan, number, verdict, random.getrandbits(64))
    if not any(_hit(plan, node) for node in made.nodes):
        return made
    made = _make(plan, number, "completed", random.getrandbits(64))
    return _lose(plan, made, random)


def _make(plan: TreesPlan, number: int, verdict: str, seed: int) -> Made:
    random = Random(seed)  # noqa: S311 (no secrets)
    late = plan.span + random.random() if verdict == "open" else number * plan.gap
    draft = _Draft(plan, _healthy(plan, number, late, random), random)
    draft.made.verdict = verdict
    _FATES[verdict](draft)
    return draft.made


def _healthy(plan: TreesPlan, number: int, t: float, random: Random) -> Made:
    spout, split = random.choice(plan.spouts), random.choice(plan.splits)
    words = [random.choice(_WORDS) for _ in range(random.randint(1, plan.words))]
    # A quarter of the sentences comes again and again, so that equal values must be told apart by their order.
    words += [str(number)] if random.random() >= 0.25 else []
    root = generate_id(random)
    nodes = [_node(None, (spout, split), " ".join(words), t, random)]
    work = t + TAPPED_AFTER + 0.001 * random.random()
    for place, word in enumerate(words):
        nodes.append(_node(0, (split, random.choice(plan.counts)), word, work + place * 1e-5, random))
    acked = work + 1e-4
    nodes[0].settles = [(acked, "ack")]
    for node in nodes[1:]:
        node.settles = [(node.made + TAPPED_AFTER + 0.01 * random.random(), "ack")]
    last = max(node.settles[0][0] for node in nodes)
    return Made(number, root, spout, t, nodes, (last + 0.001, "acked"), "completed")


def _node(parent: int | None, tasks: tuple[int, int], text: str, t: float, random: Random) -> TreeNode:
    return TreeNode(generate_id(random), parent, *tasks, [text], t, str(generate_id(random)))


def _completed(_: _Draft) -> None:
    pass


def _failed(draft: _Draft) -> None:
    place = draft.anyone()
    draft.prune(place)
    node = draft.made.nodes[place]
    t = node.settles[0][0]
    node.settles = [(t, "fail")]
    draft.made.outcome = (t + 0.001, "failed")


def _timed_out(draft: _Draft) -> None:
    t = draft.timed_out()
    if draft.random.random() < 0.5:
        draft.leaf().settles = [(t + 1.0 + draft.random.random(), "fail")]


def _late_ack(draft: _Draft) -> None:
    t = draft.timed_out()
    draft.leaf().settles = [(t + 1.0 + draft.random.random(), "ack")]


def _double_ack(draft: _Draft) -> None:
    node, made = draft.leaf(), draft.made
    t = node.settles[0][0]
    match draft.random.randrange(5):
        case 0:  # before the others: its edge is in the ack val again, and stays there
            node.settles.append((t, "ack"))
            draft.timed_out()
        case 1:  # after completion: Storm had completed it
            node.settles.append((t + 1.0, "ack"))
        case 2:  # three times: XOR can't see it, and Storm completes it
            node.settles += [(t, "ack"), (t, "ack")]
        case 3:  # one twice, another never: the counts are right
            node.settles.append((t, "ack"))
            made.nodes.append(_node(0, (node.source, node.target), "swapped", made.nodes[-1].made, draft.random))
            draft.timed_out()
        case _:
            node.settles.append((t + 1.0, "fail"))


def _never_acked(draft: _Draft) -> None:
    place = draft.anyone()
    if draft.random.random() < 0.5:
        draft.prune(place)
    draft.made.nodes[place].settles = []
    draft.timed_out()


def _lost(draft: _Draft) -> None:
    place = draft.anyone()
    draft.prune(place)
    node = draft.made.nodes[place]
    node.settles = []
    node.lost = node.made  # on the way: what dies with a worker comes by restarts
    draft.timed_out()


def _open(draft: _Draft) -> None:
    place = draft.anyone()
    draft.prune(place)
    draft.made.nodes[place].settles = []
    draft.made.outcome = None


_FATES: dict[str, Callable[[_Draft], None]] = {
    "completed": _completed,
    "failed": _failed,
    "timed out": _timed_out,
    "late ack": _late_ack,
    "double ack": _double_ack,
    "never acked": _never_acked,
    "lost": _lost,
    "open": _open,
}
VERDICTS = tuple(_FATES)
"""Every verdict that a root may get."""
EVERYTHING: dict[str, float] = {"completed": 6.0, **dict.fromkeys(VERDICTS[1:], 1.0)}
"""Weights for a recording in which there is much of each."""
HEALTHY: dict[str, float] = {"completed": 990.0, **dict.fromkeys(VERDICTS[1:], 1.0)}
"""Weights for one such as a good day leaves."""


def _death(plan: TreesPlan, node: TreeNode) -> float | None:
    """When the worker that holds it died under it."""
    worker, until = plan.worker(node.target), max((t for t, _ in node.settles), default=float("inf"))
    return next((t for t, dead in sorted(plan.restarts) if dead == worker and node.made <= t <= until), None)


def _hit(plan: TreesPlan, node: TreeNode) -> bool:
    return node.lost is None and _death(plan, node) is not None


def _lose(plan: TreesPlan, made: Made, random: Random) -> Made:
    """Take away all that a dying worker held of a healthy root."""
    first = made.nodes[0]
    if (t := _death(plan, first)) is not None:
        first.lost, first.settles = t, []
        made.nodes = [node for node in made.nodes if node.parent is None or node.made < t]
    for node in made.nodes[1:]:
        if (t := _death(plan, node)) is not None:
            node.lost, node.settles = t, []
    if any(node.lost is not None for node in made.nodes):
        made.verdict = "lost"
        _Draft(plan, made, random).timed_out()
    return made
