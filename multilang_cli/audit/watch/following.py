"""Follows one run of a watch: what was heard of it, in order, becomes alerts, rows of roots, and late marks. Pure.

Time is the recording's own: its latest mark. Before a mark moves that clock on, everything is judged that was due until
then. So what is found depends on the marks and their order alone, and not on how they were cut into batches. Wall time
counts only where a recording has stopped, and what it decides says so.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.audit.marks import LOST, Mark
from multilang_cli.audit.watch.alerts import (
    PROCESS_EXITED,
    RECORDING_STOPPED,
    RECORDING_UNREAD,
    WORKER_DIED,
    Alert,
    DecidedBy,
    RunEnd,
    RunNames,
    SpeakerNames,
    alert_of,
    alert_of_end,
)
from multilang_cli.audit.watch.ledger import DOUBLE_ACK, RootRow, RootState, row_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping

TIMEOUT = 30.0
"""Seconds: ``topology.message.timeout.secs`` as Storm has it."""
MARKS_LATE = 10.0
"""Seconds that a mark may be late by, usually."""
_decode_names = msgspec.json.Decoder(SpeakerNames).decode


class Rules(NamedTuple):
    """When what is over, in seconds. `alerts`: the verdicts on roots that are told.

    `stopped`: after so long without a line, by wall time, a recording has stopped.
    """

    timeout: float = TIMEOUT
    delay: float = MARKS_LATE
    stopped: float = inf
    alerts: tuple[str, ...] = ("failed", "timed out", "late ack", "double ack", "never acked", "lost")

    @property
    def silence(self) -> float:
        """After so long, nothing more is expected of a root: a spout waits for two timeouts at most."""
        return 2 * self.timeout + self.delay


class RunState(msgspec.Struct):
    """State of a run beside its roots. `due`: by root, when it is judged next, by the recording's clock.

    `latest`: the recording's clock; `heard`: the wall time of its last line; `closed`: it ended as it should.
    """

    latest: float | None = None
    heard: float = 0.0
    closed: bool = False
    stopped: bool = False
    names: RunNames = msgspec.field(default_factory=RunNames)
    due: dict[int, float] = {}


class LateMark(NamedTuple):
    """A mark that changes no verdict."""

    run: str
    mark: Mark


Found = Alert | RootRow | LateMark


class RunFollower:
    """One run for the length of a batch. `state` and `roots` are changed in place."""

    def __init__(self, run: str, state: RunState, roots: MutableMapping[int, RootState], rules: Rules) -> None:
        self._run = run
        self._state = state
        self._roots = roots
        self._rules = rules
        self._heap = [(due, root) for root, due in state.due.items()]
        heapify(self._heap)

    def hear(self, marks: Iterable[Mark], wall: float) -> Iterator[Found]:
        """Take what was heard, in the order of the recording. `wall`: seconds, when it came."""
        state = self._state
        state.heard, state.stopped = wall, False
        for mark in marks:
            if mark.what != "alive":
                # Of lines that say no more than that they came, only the first of a batch is heard.
                state.closed = mark.what in {"closed", "exited"}
            match mark.what:
                case "names":
                    state.names.learn(_decode_names(mark.id or ""))
                case "alive" | "closed":
                    pass
                case "clock":
                    yield from self._go_on(mark.t)
                case "died":
                    yield from self._go_on(mark.t)
                    yield self._about(RunEnd(WORKER_DIED, mark.t, mark.id or ""))
                case "unread":
                    yield self._about(RunEnd(RECORDING_UNREAD, state.latest or 0.0, mark.id or ""))
                case "exited":
                    yield from self._go_on(mark.t)
                    yield from self._exit(mark)
                case _:
                    yield from self._go_on(mark.t)
                    yield from self._take(mark)

    def next_look(self) -> float | None:
        """The wall time at which there may be something to tell if no line comes; None if there is nothing."""
        state = self._state
        stops = state.heard + self._rules.stopped
        if stops == inf or state.closed or (state.stopped and (state.latest is None or not state.due)):
            return None
        if not state.stopped or state.latest is None:
            return stops
        return max(stops, state.heard + min(state.due.values()) - state.latest)

    def run_on(self, wall: float) -> Iterator[Found]:
        """Let wall time run on where the recording has stopped."""
        state = self._state
        if state.closed or wall < state.heard + self._rules.stopped:
            return
        if not state.stopped:
            state.stopped = True
            why = f"no line came for {self._rules.stopped:g} s, and the recording has no end"
            yield self._about(RunEnd(RECORDING_STOPPED, state.latest or 0.0, why, "wall time"))
        if state.latest is not None:
            yield from self._judge_until(state.latest + wall - state.heard, "wall time")

    def _about(self, end: RunEnd) -> Alert:
        return alert_of_end(self._run, end, self._state.names)

    def _go_on(self, t: float) -> Iterator[Found]:
        latest = self._state.latest
        if latest is None or t > latest:
            yield from self._judge_until(t, "recording")
            self._state.latest = t

    def _judge_until(self, now: float, decided_by: DecidedBy) -> Iterator[Found]:
        while self._heap and self._heap[0][0] < now:
            due, root = heappop(self._heap)
            if self._state.due.get(root) == due:
                yield from self._judge(due, root, decided_by)

    def _take(self, mark: Mark) -> Iterator[Found]:
        latest = self._state.latest
        if latest is not None and mark.t < latest - self._rules.delay:
            yield LateMark(self._run, mark)
            return
        root = self._roots.get(mark.root) or RootState(mark.t)
        root.take(mark)
        if mark.edge is not None and root.edges[mark.edge].settled > 1:
            yield from self._tell(mark.root, root, mark.t, "recording", only=DOUBLE_ACK)
        self._plan(mark.root, root)

    def _plan(self, name: int, root: RootState) -> None:
        """Note when the root is judged next."""
        rules, over = self._rules, self._over(root)
        due = over
        if root.emitted is not None and root.end != "acked":
            early = (root.last if root.is_decided else root.emitted + 2 * rules.timeout) + rules.delay
            if root.looked is None or early > root.looked:
                due = min(early, over)
        self._roots[name] = root
        self._due(name, due)

    def _over(self, root: RootState) -> float:
        return root.last + self._rules.silence + self._rules.delay

    def _due(self, name: int, due: float) -> None:
        if self._state.due.get(name) != due:
            self._state.due[name] = due
            heappush(self._heap, (due, name))

    def _judge(self, due: float, name: int, decided_by: DecidedBy) -> Iterator[Found]:
        root = self._roots[name]
        if due >= self._over(root):
            del self._state.due[name], self._roots[name]
            if root.emitted is None:
                yield from (LateMark(self._run, mark) for mark in root.unknown)
                return
            yield row_of(self._run, name, root, root.verdict(due, self._rules.timeout))
            yield from self._tell(name, root, due, decided_by)
            return
        held = root.open_edge()
        root.looked = due
        if held is not None and held[1].made is not None and held[1].gone is None and not root.fails:
            # Only when its holder has had a whole timeout it is known which of two verdicts will stay.
            until = held[1].made + self._rules.timeout + self._rules.delay
            if until > due:
                self._roots[name] = root
                self._due(name, min(until, self._over(root)))
                return
        yield from self._tell(name, root, due, decided_by)
        self._plan(name, root)

    def _tell(self, name: int, root: RootState, now: float, decided_by: DecidedBy, only: str = "") -> Iterator[Alert]:
        verdict = root.verdict(now, self._rules.timeout)
        if root.emitted is None or verdict not in self._rules.alerts or verdict in root.told:
            return
        if not only or verdict == only:
            root.told = [*root.told, verdict]
            yield alert_of(row_of(self._run, name, root, verdict), self._state.names, decided_by)

    def _exit(self, mark: Mark) -> Iterator[Found]:
        """The process of a conversation is gone: what it held is lost, for nobody else can settle it."""
        held = [name for name in sorted(self._state.due) if self._is_open(name)]
        if held:
            yield self._about(RunEnd(PROCESS_EXITED, mark.t, mark.id or ""))
        for name in held:
            root = self._roots[name]
            for edge in [edge for edge, state in root.edges.items() if not state.settled]:
                root.take(Mark(name, LOST, mark.t, edge))
            yield from self._tell(name, root, mark.t, "recording")
            self._plan(name, root)

    def _is_open(self, name: int) -> bool:
        root = self._roots[name]
        return root.emitted is not None and not root.end
