"""Explanation of roots that were not acked: the tree step by step, who holds what since when. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.acking.pending import Outcome
from multilang_cli.acking.tree import Node, Step, Task, Tree
from multilang_cli.protocol.wire.encoding import encoded
from multilang_cli.topology.history import (
    AckerTold,
    Delivered,
    Died,
    EmissionEnded,
    Emitted,
    Faulted,
    Lost,
    TupleSettled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.topology.history import Happening

LAST_MESSAGES = 5
"""Messages of a task that are told."""
MOST_TUPLES = 200
"""Tuples of one tree that are followed."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A tuple that was not acked when its root ended. `how`: what became of it. `last`: of that task, in sentences."""

    task: Task
    delivery: int
    edge: int
    since: float
    how: str
    last: tuple[str, ...] = ()


class Story(msgspec.Struct, kw_only=True):
    """The tree of one emission up to its end. `deliveries`: their numbers by edge; `held`: who did not ack.

    `values`: of the emission; `ended`: how, with when; "" if it never did. `faults`: what struck in its time. What
    is anchored to nothing has no root and no edges: its `tree` has root 0, and the numbers of deliveries for edges.
    """

    emission: int
    values: str
    tree: Tree
    deliveries: dict[int, int] = {}
    held: list[Held] = []
    ended: str = ""
    faults: list[str] = []

    @property
    def loose(self) -> bool:
        """True if it stands in no tree of Storm's."""
        return not self.tree.root


class _Followed:
    """A story that is still told."""

    def __init__(self, story: Story) -> None:
        self.story, self.tree = story, story.tree
        self.lost: dict[int, str] = {}
        self.last: dict[int, tuple[str, ...]] = {}
        self.settling: deque[int] = deque()
        self.val = 0
        self.emissions = {story.emission}


def stories(events: Iterable[Happening], emissions: Iterable[int], components: dict[int, str]) -> list[Story]:
    """The stories of these emissions of spouts, in their order; one that is not in the history has none."""
    teller = _Teller(set(emissions), components)
    for event in events if teller.wanted else ():
        teller.take(event)
    return teller.finish()


class _Teller:
    """Follows the trees of the emissions that are wanted, event by event."""

    def __init__(self, wanted: set[int], components: dict[int, str]) -> None:
        self.wanted = wanted
        self._components = components
        self._following: dict[int, _Followed] = {}
        self._loose: dict[int, _Followed] = {}
        self._loose_of: dict[int, _Followed] = {}
        self._told: list[Story] = []
        self._edges: dict[int, dict[int, int]] = {}
        self._anchors: tuple[int, ...] = ()
        self._emission = 0
        self._died = ""
        self._last: dict[int, deque[str]] = {}
        self._task_of: dict[int, int] = {}

    def take(self, event: Happening) -> None:
        """Follow the next event."""
        match event:
            case Emitted():
                self._emitted(event)
            case Delivered():
                self._delivered(event)
            case TupleSettled():
                self._settled(event)
            case AckerTold(root=root) if root in self._following:
                self._acker(event, self._following[root])
            case Lost():
                self._lost(event)
            case EmissionEnded():
                self._ended(event)
            case Died(why=why):
                self._died = why
            case Faulted(phase="strikes", fault=fault, t=t):
                for each in (*self._following.values(), *self._loose.values()):
                    each.story.faults.append(f"{t:.3f} s: {fault} strikes")

    def finish(self) -> list[Story]:
        """All that was asked for, those that never ended too."""
        for each in (*self._following.values(), *self._loose.values()):
            self._conclude(each)
        return sorted(self._told, key=lambda story: story.emission)

    def _task(self, number: int) -> Task:
        return Task(self._components.get(number, "task"), number)

    def _say(self, task: int, t: float, what: str) -> None:
        self._last.setdefault(task, deque(maxlen=LAST_MESSAGES)).append(f"{t:.3f} s: {what}")

    def _emitted(self, event: Emitted) -> None:
        self._emission, self._anchors = event.n, event.anchors
        anchored = f", anchored to {', '.join(map(str, event.anchors))}" if event.anchors else ""
        self._say(event.task, event.t, f"emitted {event.values} on {event.stream}{anchored}")
        if event.n in self.wanted:
            tree = Tree(event.root or 0, self._task(event.task), event.message_id, event.t)
            followed = _Followed(Story(emission=event.n, values=event.values, tree=tree))
            if event.root is None:
                self._loose[event.n] = followed
            else:
                self._following[event.root] = followed

    def _delivered(self, event: Delivered) -> None:
        self._task_of[event.n] = event.task
        self._say(event.task, event.t, f"delivery {event.n} was queued for it")
        if self._loose and event.emit == self._emission:
            self._deliver_loose(event)
        mine = {root: edge for root, edge in event.edges.items() if root in self._following}
        if not mine or event.emit != self._emission:
            return
        self._edges[event.n] = mine
        for root, edge in mine.items():
            followed = self._following[root]
            tree = followed.tree
            if len(tree.nodes) < MOST_TUPLES:
                anchors = [self._edges[each][root] for each in self._anchors if root in self._edges.get(each, {})]
                within = tuple(anchor for anchor in anchors if anchor in tree.nodes)
                before = tree.grow(Node(edge, self._task(event.task), within, event.t))
                followed.story.deliveries[edge] = event.n
                tree.steps.append(Step(event.t, "emit", edge, 0, followed.val, tree.open_val, before))

    def _deliver_loose(self, event: Delivered) -> None:
        """A tuple of an emission that is anchored to nothing, or one that is anchored to such a tuple."""
        within = tuple(each for each in self._anchors if each in self._loose_of)
        followed = self._loose.get(event.emit) or (self._loose_of[within[0]] if within else None)
        if followed is not None and len(followed.tree.nodes) < MOST_TUPLES:
            within = tuple(each for each in within if self._loose_of[each] is followed)
            followed.tree.grow(Node(event.n, self._task(event.task), within, event.t))
            followed.story.deliveries[event.n] = event.n
            self._loose_of[event.n] = followed

    def _settled(self, event: TupleSettled) -> None:
        task = self._task_of.pop(event.delivery, 0)
        self._say(task, event.t, f"{event.how}ed delivery {event.delivery}")
        if (loose := self._loose_of.get(event.delivery)) is not None:
            loose.tree.settle(event.delivery, "acked" if event.how == "ack" else "failed", event.t)
            loose.last[event.delivery] = tuple(self._last.get(task, ()))
        for root, edge in self._edges.pop(event.delivery, {}).items():
            if (followed := self._following.get(root)) is not None and edge in followed.tree.nodes:
                followed.tree.settle(edge, "acked" if event.how == "ack" else "failed", event.t)
                followed.settling.append(edge)

    def _acker(self, event: AckerTold, followed: _Followed) -> None:
        edge = followed.settling.popleft() if event.what != "init" and followed.settling else 0
        tree = followed.tree
        sent = followed.val ^ event.val if event.what != "fail" else 0
        followed.val = event.val
        tree.steps.append(Step(event.t, event.what, edge, sent, event.val, tree.open_val))

    def _lost(self, event: Lost) -> None:
        task = self._task_of.pop(event.delivery, 0)
        how = f"lost at {event.t:.3f} s" + (f": {self._died}" if self._died else "")
        for root, edge in self._edges.get(event.delivery, {}).items():
            if (followed := self._following.get(root)) is not None:
                followed.lost[edge] = how
                # What a later life of the task does has nothing to do with it.
                followed.last[edge] = tuple(self._last.get(task, ()))
        if (loose := self._loose_of.get(event.delivery)) is not None:
            loose.lost[event.delivery] = how
            loose.last[event.delivery] = tuple(self._last.get(task, ()))

    def _ended(self, event: EmissionEnded) -> None:
        followed = next((each for each in self._following.values() if each.story.emission == event.emit), None)
        if followed is None:
            return
        tree, how = followed.tree, event.how
        tree.outcome = Outcome(how, tree.root, tree.message_id, event.task, event.t, event.latency)
        followed.story.ended = f"{how} after {event.latency:.3f} s"
        if how == "timed out":
            tree.steps.append(Step(event.t, "time out", 0, 0, followed.val, tree.open_val))
        self._conclude(followed)

    def _conclude(self, followed: _Followed) -> None:
        story, tree = followed.story, followed.tree
        for node in tree.nodes.values():
            if node.state != "acked":
                how = "failed" if node.state == "failed" else followed.lost.get(node.edge, "open")
                story.held.append(
                    Held(
                        task=node.holder,
                        delivery=story.deliveries[node.edge],
                        edge=node.edge,
                        since=node.emitted,
                        how=how,
                        last=followed.last.get(node.edge) or tuple(self._last.get(node.holder.id, ())),
                    )
                )
        self._told.append(story)
        self._following.pop(tree.root, None)


def told(story: Story) -> Iterator[tuple[int, str]]:
    """A story in lines, each with how deep it is indented."""
    tree = story.tree
    known = f"(message id {encoded(msgspec.json.encode, tree.message_id).decode()}): {story.ended or 'never ended'}"
    told = "(in no tree): nobody waits for its end" if story.loose else known
    yield 0, f"Emission {story.emission} of {_name(tree.spout)} {told}"
    yield 1, f"{_name(tree.spout)} emitted {story.values} at {tree.emitted:.3f} s"
    lost = {each.edge: each.how for each in story.held}
    children: dict[int, list[Node]] = {}
    for node in tree.nodes.values():
        children.setdefault(node.anchors[0] if node.anchors else 0, []).append(node)
    stack = [(2, node) for node in reversed(children.get(0, ()))]
    while stack:
        depth, node = stack.pop()
        state = f"acked at {node.settled:.3f} s" if node.state == "acked" else lost.get(node.edge, node.state)
        several = f", with {len(node.anchors)} anchors" if len(node.anchors) > 1 else ""
        yield depth, f"-> {_name(node.holder)}: {state}{several}"
        stack += [(depth + 1, child) for child in reversed(children.get(node.edge, ()))]
    for fault in story.faults:
        yield 1, f"In its time, at {fault}"
    if not story.held and not story.loose and "acked" not in story.ended:
        yield 1, "Every tuple of it was acked: its acker did not hear of all, or lost its record"
    for held in story.held[:1]:
        verb = {"failed": "failed it", "open": "holds it"}.get(held.how, "had it")
        yield (
            1,
            f"{_name(held.task)} {verb}: delivery {held.delivery}, since {held.since:.3f} s. The last of that task:",
        )
        for each in held.last:
            yield 2, each


def _name(task: Task) -> str:
    return f"{task.component}, task {task.id}"
