"""The ledger of one root: its marks, taken one by one, and the verdict on what is known of it. Pure.

It says of a root what ``stages.roots`` says of a table of marks; a test holds the two together.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from multilang_cli.audit.marks import ACKED, CONFIDENCE, EMIT, FAILED, LOST, LOW, TIMED_OUT, TOLD_FAIL, Mark

COMPLETED, DOUBLE_ACK, LATE_ACK, NEVER_ACKED = "completed", "double ack", "late ack", "never acked"
OPEN, UNCERTAIN = "open", "uncertain"
_LOW_HALF = 0xFFFFFFFF
T = TypeVar("T", int, float, str)


class EdgeState(msgspec.Struct, array_like=True, omit_defaults=True):
    """State of one edge. `settled`: how often it was acked or failed; `gone`: when it was lost."""

    made: float | None = None
    holder: int | None = None
    tuple_id: str | None = None
    settled: int = 0
    gone: float | None = None


class RootState(msgspec.Struct, array_like=True, omit_defaults=True):
    """State of one root. `told`: the verdicts that alerts have told; `looked`: when it was judged last.

    `unknown`: its marks as they came, while its emit is not among them.
    """

    last: float
    emitted: float | None = None
    task: int | None = None
    message_id: str | None = None
    ended: float | None = None
    end: str = ""
    made: int = 0
    acks: int = 0
    fails: int = 0
    losses: int = 0
    ack_val: int = 0
    balance: tuple[int, int] = (0, 0)
    first_fail: float | None = None
    last_ack: float | None = None
    doubt: int = 0
    edges: dict[int, EdgeState] = {}
    told: list[str] = []
    looked: float | None = None
    unknown: list[Mark] = []

    def take(self, mark: Mark) -> None:
        """Take the next mark."""
        t = mark.t
        self.last = max(self.last, t)
        self.doubt = max(self.doubt, mark.doubt)
        if mark.what == EMIT:
            self.emitted = _first(self.emitted, t)
            self.task = _last(self.task, mark.task)
            self.message_id = _last(self.message_id, mark.id)
        elif mark.edge is not None:
            self._take_edge(mark, mark.edge)
        elif self.ended is None or t < self.ended:
            self.ended, self.end = t, mark.what
        self.unknown = [] if self.emitted is not None else [*self.unknown, mark]

    def _take_edge(self, mark: Mark, edge: int) -> None:
        t, state = mark.t, self.edges.setdefault(edge, EdgeState())
        match mark.what:
            case "made":
                self.made += 1
                self._weigh(edge, 1)
                state.made = _first(state.made, t)
                state.holder = _last(state.holder, mark.task)
                state.tuple_id = _last(state.tuple_id, mark.id)
            case "ack":
                self.acks += 1
                self._weigh(edge, -1)
                self.last_ack = _last(self.last_ack, t)
                state.settled += 1
            case "fail":
                self.fails += 1
                self.first_fail = _first(self.first_fail, t)
                state.settled += 1
            case "lost":
                self.losses += 1
                state.gone = _first(state.gone, t)

    def _weigh(self, edge: int, sign: int) -> None:
        low, high = self.balance
        self.ack_val ^= edge
        self.balance = low + sign * (edge & _LOW_HALF), high + sign * (edge >> 32)

    @property
    def balanced(self) -> bool:
        """True if every edge that was made was acked, and none failed or lost."""
        return (
            self.ack_val == 0
            and self.balance == (0, 0)
            and self.made == self.acks
            and not self.fails
            and not self.losses
        )

    @property
    def outcome(self) -> str | None:
        """The end as the spout was told. A tap sees a fail, not why: it timed out, if nothing had failed by then."""
        if self.ended is None:
            return None
        if self.end != TOLD_FAIL:
            return self.end
        return FAILED if self.first_fail is not None and self.first_fail <= self.ended else TIMED_OUT

    @property
    def clean(self) -> bool:
        """True if it completed, and there is nothing to ask further."""
        return self.balanced and (self.outcome == ACKED if self.ended is not None else self.made > 0)

    @property
    def is_decided(self) -> bool:
        """True if something went wrong already, so that a verdict need not wait for the timeout."""
        return self.end not in {"", ACKED} or (not self.end and (self.fails > 0 or self.losses > 0))

    @property
    def is_settled_twice(self) -> bool:
        """True if one of its edges was."""
        return any(edge.settled > 1 for edge in self.edges.values())

    def open_edge(self) -> tuple[int, EdgeState] | None:
        """The first edge that nobody settled."""
        edges = [(edge, state) for edge, state in self.edges.items() if not state.settled]
        return min(edges, key=lambda each: (each[1].made is not None, each[1].made or 0.0, each[0]), default=None)

    def verdict(self, now: float, timeout: float) -> str:
        """The first that holds at `now`. What Storm told the spout wins over the edges; a second ack over both."""
        outcome, ended = self.outcome, self.ended
        if self.clean:
            return COMPLETED
        if self.is_settled_twice:
            return DOUBLE_ACK
        if outcome == ACKED:
            return COMPLETED
        if outcome == FAILED or (self.first_fail is not None and (ended is None or self.first_fail <= ended)):
            return FAILED
        return self._open_verdict(now, timeout)

    def _open_verdict(self, now: float, timeout: float) -> str:
        ended, found = self.ended, self.open_edge()
        if self.balanced and self.last_ack is not None and ended is not None and self.last_ack > ended:
            return LATE_ACK
        if found is not None:
            edge = found[1]
            # Who holds a tuple until the spout has heard its end, and dies then, has not lost it.
            if edge.gone is not None and (ended is None or edge.gone <= ended):
                return LOST
            if edge.made is not None and now - edge.made >= timeout:
                return NEVER_ACKED
        if self.outcome == TIMED_OUT:
            return UNCERTAIN if self.balanced and self.doubt == LOW else TIMED_OUT
        return OPEN


class RootRow(msgspec.Struct, frozen=True, array_like=True):
    """A row of the table roots."""

    run: str
    root: int
    task: int | None
    message_id: str | None
    emitted: float | None
    verdict: str
    outcome: str | None
    ended: float | None
    latency: float | None
    edges: int
    acks: int
    fails: int
    ack_val: int
    open_edge: int | None
    open_task: int | None
    open_id: str | None
    open_since: float | None
    confidence: str


def row_of(run: str, root: int, state: RootState, verdict: str) -> RootRow:
    """The row of a root with this verdict."""
    found = None if state.clean else state.open_edge()
    edge, holds = found or (None, EdgeState())
    latency = state.ended - state.emitted if state.ended is not None and state.emitted is not None else None
    return RootRow(
        run, root, state.task, state.message_id, state.emitted, verdict, state.outcome, state.ended, latency,
        state.made, state.acks, state.fails, state.ack_val, edge, holds.holder, holds.tuple_id, holds.made,
        CONFIDENCE[state.doubt],
    )  # fmt: skip


def _first(one: T | None, other: T | None) -> T | None:
    return other if one is None else one if other is None else min(one, other)


def _last(one: T | None, other: T | None) -> T | None:
    return other if one is None else one if other is None else max(one, other)
