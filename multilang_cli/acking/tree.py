"""A tuple tree as nobody in Storm sees it: every edge, who holds it, and the ack val after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from multilang_cli.acking.pending import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

Settled = Literal["open", "acked", "failed"]
"""What the holder of a tuple has said of it, first of all."""


class Task(msgspec.Struct, frozen=True):
    """A task and the component that it belongs to."""

    component: str
    id: int


class Node(msgspec.Struct):
    """A tuple in one tree. `edge`: its id there. `holder`: the task that it was sent to, and that has to settle it.

    `anchors`: edges, in this tree, of the tuples it is anchored to; none if it comes from the spout. Times in seconds.
    """

    edge: int
    holder: Task
    anchors: tuple[int, ...]
    emitted: float
    state: Settled = "open"
    settled: float | None = None


class Step(msgspec.Struct, frozen=True, gc=False):
    """Something that happened to a tree at `t` seconds.

    `edge`: the tuple it happened to, 0 if it was the whole tree. `sent`: what was XORed into the acker's record.
    `acker_val`: the acker's ack val after it. `open_val`: XOR of all edges that are not acked, after it. The two
    differ while edges exist that the acker was not told of, for their anchor is not acked; in the end, only after
    something wrong. `before`: what the tuple was before; of an emit, a settled anchor if there was one; anything but
    "open" is wrong, and Storm's ShellBolt would refuse it. `late`: the spout had been answered already.
    """

    t: float
    what: Literal["emit", "init", "ack", "fail", "reset timeout", "time out"]
    edge: int
    sent: int
    acker_val: int
    open_val: int
    before: Settled = "open"
    late: bool = False


class Tree(msgspec.Struct):
    """The tree of one spout tuple; it is a graph, if a tuple is anchored to several others."""

    root: int
    spout: Task
    message_id: Any
    emitted: float
    nodes: dict[int, Node] = {}
    steps: list[Step] = []
    open_val: int = 0
    outcome: Outcome | None = None

    def grow(self, node: Node) -> Settled:
        """Add a tuple; gives what its anchors were: open, or what the first settled one was."""
        self.nodes[node.edge] = node
        self.open_val ^= node.edge
        return next((state for state in self._states(node.anchors) if state != "open"), "open")

    def _states(self, edges: tuple[int, ...]) -> Iterator[Settled]:
        return (self.nodes[edge].state for edge in edges)

    def settle(self, edge: int, state: Literal["acked", "failed"], t: float) -> Settled:
        """Settle a tuple; gives what it was before. Only the first settling of a tuple counts."""
        node = self.nodes[edge]
        before = node.state
        if before == "open":
            node.state, node.settled = state, t
            self.open_val ^= edge if state == "acked" else 0
        return before

    def open(self) -> list[Node]:
        """The tuples that nobody has settled, the oldest first: who holds up the tree."""
        return [node for node in self.nodes.values() if node.state == "open"]

    def children(self, edge: int) -> list[Node]:
        """The tuples that are anchored to this one."""
        return [node for node in self.nodes.values() if edge in node.anchors]

    def story(self, edge: int) -> list[Step]:
        """The story of one tuple: its emit, what was anchored to it, how it was settled."""
        kin = {edge, *(child.edge for child in self.children(edge))}
        return [step for step in self.steps if step.edge == edge or (step.what == "emit" and step.edge in kin)]
