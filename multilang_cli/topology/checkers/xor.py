"""The ackers' arithmetic, done again from what was emitted and settled."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.acking.ids import acker_index
from multilang_cli.topology.checkers.checker import Checker, RunFacts

if TYPE_CHECKING:
    from multilang_cli.topology.history import AckerTold, Delivered, Died, Emitted, Launched, Lost, TupleSettled


class _QueuedMessage(msgspec.Struct):
    """A message on its way to an acker. `shared`: the deliveries that it tells of only in part; see `_Group`."""

    what: str
    val: int = 0
    shared: tuple[int, ...] = ()


class _Group(msgspec.Struct):
    """A tuple with several anchors in one tree: each of them has a random share of its edge, which nobody is told.

    `left`: the anchors that are not acked. When all are, the shares make the edge.
    """

    edge: int
    left: set[int]
    begun: bool = False


class _Root(msgspec.Struct):
    """An acker's expected record of a root. `doubt`: XOR of the shares that were learnt from the acker itself.

    `blind`: shares came whose tuples were told to an acker that is dead, so that nobody knows what they make.
    """

    queued: deque[_QueuedMessage] = msgspec.field(default_factory=deque)
    val: int = 0
    began: float = 0.0
    spout: bool = False
    failed: bool = False
    there: bool = False
    doubt: int = 0
    blind: bool = False
    groups: dict[int, _Group] = {}


class SameXor(Checker):
    """The ack vals of the ackers are what the history makes of them."""

    id = "same-xor"
    title = "The ackers' ack vals are those that the history gives"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._roots: dict[int, _Root] = {}
        self._down: set[int] = set()
        self._edges: dict[int, dict[int, int]] = {}
        self._told: dict[int, dict[int, int]] = {}
        self._shared: dict[int, dict[int, list[int]]] = {}
        self._emission: Emitted | None = None
        self._fresh: set[int] = set()

    def launched(self, event: Launched) -> None:
        """An acker is there again, and knows nothing."""
        self._down.discard(event.task)

    def died(self, event: Died) -> None:
        """An acker's records and its queue are gone."""
        gone = self.facts.gone(event) & set(self.facts.ackers)
        self._down |= gone
        for root in [root for root in self._roots if self._acker(root) in gone]:
            del self._roots[root]

    def emitted(self, event: Emitted) -> None:
        """A spout's emission is told to the acker when its deliveries are made: what they are comes now."""
        self._emission, self._fresh = event, set()
        if event.root is not None:
            self._send(event.root, _QueuedMessage("init"))

    def delivered(self, event: Delivered) -> None:
        """New edges; the same tuple delivered again makes none."""
        emission = self._emission
        if event.edges:
            self._edges[event.n] = event.edges
        if emission is None or event.emit != emission.n or self._fresh & set(event.edges.values()):
            return
        self._fresh.update(event.edges.values())
        for root, edge in event.edges.items():
            if root == emission.root:
                if root in self._roots and self._roots[root].queued:
                    self._roots[root].queued[-1].val ^= edge
                continue
            # An anchor that is named twice has two shares, which nobody else knows: their sum is the edge.
            anchors = [each for each in dict.fromkeys(emission.anchors) if root in self._edges.get(each, {})]
            if len(anchors) == 1:
                told = self._told.setdefault(anchors[0], {})
                told[root] = told.get(root, 0) ^ edge
            elif anchors:
                if root in self._roots:  # else its acker is dead or new, and nobody knows what the shares make
                    self._roots[root].groups[event.n] = _Group(edge, set(anchors))
                for each in anchors:
                    self._shared.setdefault(each, {}).setdefault(root, []).append(event.n)

    def settled(self, event: TupleSettled) -> None:
        """Each acker of its trees is told."""
        told, shared = self._told.pop(event.delivery, {}), self._shared.pop(event.delivery, {})
        for root, edge in self._edges.pop(event.delivery, {}).items():
            if event.how == "fail":
                self._send(root, _QueuedMessage("fail"))
            else:
                self._send(root, _QueuedMessage("ack", edge ^ told.get(root, 0), tuple(shared.get(root, ()))))
                self._of_group(root, event.delivery, shared.get(root, ()))

    def lost(self, event: Lost) -> None:
        """Nobody will be told of it."""
        for known in (self._edges, self._told, self._shared):
            known.pop(event.delivery, None)

    def told(self, event: AckerTold) -> None:
        """An acker took a message: the next one that was sent to it about that root."""
        root = self._roots.get(event.root)
        queued = root.queued.popleft() if root is not None and root.queued else None
        if root is None or queued is None or queued.what != event.what:
            self.wrong(f"acker {event.task} was told {event.what} of root {event.root}, which nobody had said")
            return
        if not root.there:
            root.val, root.began, root.spout, root.failed, root.there = 0, event.t, False, False, True
        self._count_in(root, queued, event)
        answered = root.spout and (not root.val or root.failed)
        if event.val != (0 if answered else root.val) and not self._forgotten(root, queued, event):
            told = f"acker {event.task} has {_hex(event.val)} for root {event.root} after {event.what}"
            self.wrong(f"{told}, and the history gives {_hex(0 if answered else root.val)}")
            root.val = event.val
        if answered:
            root.there = False
            if not root.queued:
                del self._roots[event.root]

    def _count_in(self, root: _Root, queued: _QueuedMessage, event: AckerTold) -> None:
        root.spout |= queued.what == "init"
        root.failed |= queued.what == "fail"
        if queued.shared and not (root.failed and root.spout):
            root.doubt ^= root.val ^ queued.val ^ event.val
            root.val = event.val
            root.blind |= not root.groups.keys() >= set(queued.shared)
            whole = all(not each.left or not each.begun for each in root.groups.values())
            if root.doubt and whole and not root.queued and not root.blind:
                self.wrong(f"the shares of the tuples with several anchors do not make their edges, root {event.root}")
        else:
            root.val ^= queued.val

    def _of_group(self, number: int, delivery: int, shared: tuple[int, ...] | list[int]) -> None:
        """An anchor of tuples with several is acked: when it was the last, its tuples' edges are known."""
        root = self._roots.get(number)
        for each in shared:
            if root is not None and (group := root.groups.get(each)) is not None:
                group.begun = True
                group.left.discard(delivery)
                if not group.left:
                    root.doubt ^= group.edge

    def _forgotten(self, root: _Root, queued: _QueuedMessage, event: AckerTold) -> bool:
        """True if the record had expired: acker's records live for a message timeout at least."""
        timeout = self.facts.timeout
        if not timeout or event.t - root.began < timeout or event.val != queued.val:
            return False
        root.val, root.began, root.spout, root.failed = (
            queued.val,
            event.t,
            queued.what == "init",
            queued.what == "fail",
        )
        return True

    def _send(self, number: int, queued: _QueuedMessage) -> None:
        if self._acker(number) not in self._down:
            self._roots.setdefault(number, _Root()).queued.append(queued)

    def _acker(self, root: int) -> int:
        ackers = self.facts.ackers
        return ackers[acker_index(root, len(ackers))] if ackers else 0


def _hex(value: int) -> str:
    return f"0x{value & 0xFFFFFFFFFFFFFFFF:016x}"
