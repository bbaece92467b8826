"""Pending tuples of a spout (``SpoutExecutor``), their timeouts, and how each of them ended."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from multilang_cli.acking.messages import ACK_STREAM, RESET_TIMEOUT_STREAM, Reply
from multilang_cli.acking.rotating import RotatingMap

PENDING_BUCKETS = 2
"""A tuple times out between 1 and 2 ticks after its emit."""


class WaitingTuple(msgspec.Struct, frozen=True, gc=False):
    """A tuple that a spout's `task` emitted at `t` seconds under its own message id, a JSON value."""

    message_id: Any
    task: int
    t: float


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The end of a spout's tuple, at `t` seconds; `latency`: seconds since its emit."""

    kind: Literal["acked", "failed", "timed out"]
    root: int
    message_id: Any
    task: int
    t: float
    latency: float


class SpoutPending(msgspec.Struct):
    """The pending tuples of one spout executor, by root id."""

    waiting: RotatingMap[int, WaitingTuple] = msgspec.field(default_factory=lambda: RotatingMap.of(PENDING_BUCKETS))

    def emit(self, root: int, waiting: WaitingTuple) -> None:
        """Wait for a new root."""
        self.waiting.put(root, waiting)

    def full(self, limit: int) -> bool:
        """True if next is not called: `limit` is max.spout.pending times the tasks of the executor, 0 for none.

        A call of next may emit several tuples, so there can be more than `limit`.
        """
        return 0 < limit <= len(self.waiting)

    def take(self, reply: Reply, t: float) -> Outcome | None:
        """Take an acker's answer; gives the end of the tuple, None if it goes on or has ended before."""
        if reply.stream == RESET_TIMEOUT_STREAM:
            again = self.waiting.get(reply.root)
            if again is not None:
                self.waiting.put(reply.root, again)
            return None
        waiting = self.waiting.remove(reply.root)
        if waiting is None:
            return None
        return _outcome("acked" if reply.stream == ACK_STREAM else "failed", reply.root, waiting, t)

    def tick(self, t: float) -> list[Outcome]:
        """One message timeout has passed; gives the tuples that timed out."""
        return [_outcome("timed out", root, waiting, t) for root, waiting in self.waiting.rotate().items()]


def _outcome(kind: Literal["acked", "failed", "timed out"], root: int, waiting: WaitingTuple, t: float) -> Outcome:
    return Outcome(kind, root, waiting.message_id, waiting.task, t, t - waiting.t)
