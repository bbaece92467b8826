"""The whole framework in one place: a spout's pending tuples, one acker, and every tree, with no message lost.

For those who see everything, such as a debugger that plays Storm. Where messages are really sent, use `Acker`,
`SpoutPending` and `collectors` on their own, and this one to compare them with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from multilang_cli.acking import collectors
from multilang_cli.acking.acker import Acker
from multilang_cli.acking.collectors import Anchored
from multilang_cli.acking.ids import generate_id
from multilang_cli.acking.messages import AckAck, AckFail, AckInit, AckResetTimeout
from multilang_cli.acking.pending import Outcome, SpoutPending, WaitingTuple
from multilang_cli.acking.tree import Node, Settled, Step, Task, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.acking.ids import RandomSource
    from multilang_cli.acking.messages import AckerMessage

_WHAT: dict[type[AckerMessage], Literal["init", "ack", "fail", "reset timeout"]] = {
    AckInit: "init",
    AckAck: "ack",
    AckFail: "fail",
    AckResetTimeout: "reset timeout",
}


class Tracker(msgspec.Struct):
    """Follows tuples from the spout's emit to the outcome. Times `t` in seconds.

    The tuples themselves are the caller's to keep: they are what it acks, fails and anchors to. So are `trees`, by root
    id, until it drops them. Wrong calls are carried out as Storm's collectors would, and stand in the tree's steps.
    """

    acker: Acker = msgspec.field(default_factory=Acker)
    pending: SpoutPending = msgspec.field(default_factory=SpoutPending)
    trees: dict[int, Tree] = {}

    def spout_emit(
        self, spout: Task, message_id: Any, targets: Sequence[Task], t: float, source: RandomSource
    ) -> tuple[int, list[Anchored]]:
        """The root id, 0 without a message id, and the tuples for `targets`. Without targets it is acked at once."""
        if message_id is None:
            return 0, [Anchored() for _ in targets]
        root = generate_id(source)
        tuples, init = collectors.spout_emit(root, spout.id, len(targets), source)
        self.pending.emit(root, WaitingTuple(message_id, spout.id, t))
        tree = self.trees[root] = Tree(root, spout, message_id, t)
        for tuple_, target in zip(tuples, targets, strict=True):
            self._grow(tree, Node(tuple_.edges[root], target, (), t))
        self._tell(init, t)
        return root, tuples

    def bolt_emit(
        self, anchors: Sequence[Anchored], targets: Sequence[Task], t: float, source: RandomSource
    ) -> list[Anchored]:
        """The tuples for `targets`, in every tree of every anchor."""
        tuples = collectors.bolt_emit(anchors, len(targets), source)
        for tuple_, target in zip(tuples, targets, strict=True):
            for root, edge in tuple_.edges.items():
                if tree := self.trees.get(root):
                    within = tuple(dict.fromkeys(a.edges[root] for a in anchors if root in a.edges))
                    self._grow(tree, Node(edge, target, within, t))
        return tuples

    def ack(self, tuple_: Anchored, t: float) -> list[Outcome]:
        """A bolt acks a tuple; gives the spout tuples that this completed."""
        return self._settle(tuple_, "acked", collectors.ack(tuple_), t)

    def fail(self, tuple_: Anchored, t: float) -> list[Outcome]:
        """A bolt fails a tuple; gives the spout tuples that failed by it."""
        return self._settle(tuple_, "failed", collectors.fail(tuple_), t)

    def reset_timeout(self, tuple_: Anchored, t: float) -> None:
        """A bolt asks for more time; shell components can't."""
        for message in collectors.reset_timeout(tuple_):
            self._tell(message, t, tuple_.edges[message.root])

    def tick(self, t: float) -> list[Outcome]:
        """One message timeout has passed; gives the spout tuples that timed out, 1 to 2 timeouts after their emit.

        The acker forgets them later, and tells nobody.
        """
        outcomes = self.pending.tick(t)
        self.acker.tick()
        for outcome in outcomes:
            if tree := self.trees.get(outcome.root):
                tree.outcome = outcome
                tree.steps.append(Step(t, "time out", 0, 0, self.acker.val(tree.root), tree.open_val))
        return outcomes

    def _settle(
        self, tuple_: Anchored, state: Literal["acked", "failed"], messages: Sequence[AckAck | AckFail], t: float
    ) -> list[Outcome]:
        outcomes = []
        for message in messages:
            edge = tuple_.edges[message.root]
            tree = self.trees.get(message.root)
            before = tree.settle(edge, state, t) if tree else "open"
            if outcome := self._tell(message, t, edge, before):
                outcomes.append(outcome)
        return outcomes

    def _grow(self, tree: Tree, node: Node) -> None:
        before, late = tree.grow(node), tree.outcome is not None
        acker_val = self.acker.val(tree.root)
        tree.steps.append(Step(node.emitted, "emit", node.edge, 0, acker_val, tree.open_val, before, late))

    def _tell(self, message: AckerMessage, t: float, edge: int = 0, before: Settled = "open") -> Outcome | None:
        """Hand a message to the acker and its answer to the spout; the tree takes note of both."""
        root = message.root
        reply = self.acker.execute(message, t)
        outcome = self.pending.take(reply, t) if reply else None
        if tree := self.trees.get(root):
            late = tree.outcome is not None
            sent = message.val if isinstance(message, AckInit | AckAck) else 0
            val = self.acker.val(root)
            tree.steps.append(Step(t, _WHAT[type(message)], edge, sent, val, tree.open_val, before, late))
            tree.outcome = outcome or tree.outcome
        return outcome
