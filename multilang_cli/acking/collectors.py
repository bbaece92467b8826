"""Effects of emits, acks and fails on ids (``SpoutOutputCollectorImpl``, ``BoltOutputCollectorImpl``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.acking.ids import generate_id
from multilang_cli.acking.messages import AckAck, AckFail, AckInit, AckResetTimeout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.acking.ids import RandomSource


class Anchored(msgspec.Struct, gc=False):
    """The part of a delivered tuple that acking needs (``TupleImpl`` with its ``MessageId``).

    `edges`: root id to edge id, one for each tree that the tuple stands in (``MessageId.anchorsToIds``); empty for an
    unanchored tuple, which nobody waits for. `ack_val`: XOR of the edges made from it so far.
    """

    edges: dict[int, int] = {}
    ack_val: int = 0


def spout_emit(root: int, task: int, targets: int, source: RandomSource) -> tuple[list[Anchored], AckInit]:
    """The tuples that a spout's `task` sends to so many target tasks under a new `root`, and the acker's message."""
    val = 0
    tuples = []
    for _ in range(targets):
        edge = generate_id(source)
        val ^= edge
        tuples.append(Anchored({root: edge}))
    return tuples, AckInit(root, val, task)


def bolt_emit(anchors: Sequence[Anchored], targets: int, source: RandomSource) -> list[Anchored]:
    """The tuples that a bolt sends to so many target tasks: in every tree of every anchor.

    One edge for each anchor and target; in a tree in which several anchors stand, the tuple has the XOR of theirs.
    The acker hears of an anchor's edges when the anchor is acked.
    """
    return list(map(Anchored, edges_of(anchors, targets, source)))


def edges_of(anchors: Sequence[Anchored], targets: int, source: RandomSource) -> list[dict[int, int]]:
    """The edges of each of the tuples of a `bolt_emit`."""
    made = []
    for _ in range(targets):
        edges: dict[int, int] = {}
        for anchor in anchors:
            if anchor.edges:
                edge = generate_id(source)
                anchor.ack_val ^= edge
                if edges:
                    edges |= {root: edges.get(root, 0) ^ edge for root in anchor.edges}
                else:
                    edges = dict.fromkeys(anchor.edges, edge)
        made.append(edges)
    return made


def ack(tuple_: Anchored) -> list[AckAck]:
    """Messages to the ackers of a bolt's ack: one message a tree. A second ack says it again, as Storm would."""
    return ack_all((tuple_,))


def ack_all(tuples: Iterable[Anchored]) -> list[AckAck]:
    """Messages of the acks of many tuples, as `ack` gives for each."""
    return [AckAck(root, edge ^ each.ack_val) for each in tuples for root, edge in each.edges.items()]


def fail(tuple_: Anchored) -> list[AckFail]:
    """Messages to the ackers of a bolt's fail: every tree of the tuple fails."""
    return [AckFail(root) for root in tuple_.edges]


def reset_timeout(tuple_: Anchored) -> list[AckResetTimeout]:
    """Messages to the ackers of a bolt's resetTimeout."""
    return [AckResetTimeout(root) for root in tuple_.edges]
