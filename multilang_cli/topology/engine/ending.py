"""When a run goes from phase to phase: all are there, the goal is reached, all is settled. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.topology.history import PhaseBegun

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from multilang_cli.topology.engine.flow import Flow
    from multilang_cli.topology.engine.setup import Goal
    from multilang_cli.topology.engine.spout_executor import SpoutExecutor
    from multilang_cli.topology.history import Happening

DRAIN_SLACK = 2.0
"""Seconds beyond two message timeouts that a run is drained for: a tick of an aggregation, a slow machine."""

NO_PROGRESS = 3
"""Message timeouts without one ack: all that was waited for has timed out by then, and been replayed."""

AT_FIRST = 5
"""Times the idle seconds until the first tuple: a spout may have to reach its source, and a client takes its time."""

MOST_HOLDERS = 5
"""Tasks that are named where not all is settled."""

PhaseName = Literal["start", "run", "drain", "end"]


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """End of a run. `why`: a sentence about it if it did not end as it was to.

    `silent`: a task that said no complete first message. `gave_up`: a worker died too often. `drained`: nothing was
    left under way. `interrupted`: by the user. `seconds`: from the spouts' activation to the last that went on.
    `first`: from the activation to the first ack.
    """

    why: str = ""
    silent: str = ""
    gave_up: bool = False
    drained: bool = False
    interrupted: bool = False
    seconds: float = 0.0
    first: float | None = None


class Ending:
    """The phases of one run. `busy`: reasons not to end it yet, though the sources are exhausted. `why`: see Outcome.

    `everybody`: tells whether all workers are there. `timeout`: the message timeout, in seconds.
    """

    def __init__(
        self,
        goal: Goal,
        timeout: float,
        flow: Flow,
        executors: Sequence[SpoutExecutor],
        *,
        busy: Collection[str],
        everybody: Callable[[], bool],
        tell: Callable[[Happening], object],
    ) -> None:
        self.phase: PhaseName = "start"
        self.why = ""
        self.drained = False
        self._goal = goal
        self._timeout = timeout
        self._no_progress_after = NO_PROGRESS * timeout + DRAIN_SLACK
        self._patience = goal.drain if goal.drain is not None else 2 * timeout + DRAIN_SLACK
        self._flow = flow
        self._executors = executors
        self._busy = busy
        self._everybody = everybody
        self._tell = tell
        self._began = self._active_at = 0.0

    def go(self) -> None:
        """All tasks are there: spouts are activated."""
        self._enter("run")
        self._active_at = self._flow.t
        for executor in self._executors:
            executor.active = True

    def drain(self) -> None:
        """Spouts are deactivated; what is under way is to be settled."""
        self._enter("drain")
        for executor in self._executors:
            executor.active = False

    def end(self, why: str = "") -> None:
        """It is over, and the first reason counts."""
        self.why = self.why or why
        if self.phase != "end":
            self._enter("end")

    def check_messages(self) -> None:
        """End the run if enough was emitted; called after every round."""
        if 0 < self._goal.messages <= self._flow.spout_emissions and self.phase == "run":
            self.drain()

    def look(self) -> None:
        """End the run if it is over; called now and then."""
        goal, t = self._goal, self._flow.t
        if self.phase == "run" and not self._busy:
            late = 0 < goal.seconds <= t - self._began
            if late or (self._still() and self._exhausted()):
                self.drain()
            elif self._no_progress():
                self.why = self._of_holders(f"no tuple was acked in {self._no_progress_after:g} s of waiting for some")
                self.drain()
        elif self.phase == "drain":
            calm = all(each.quiet and each.inactive for each in self._executors)
            self.drained = calm and (not self._flow.unsettled or self._still())
            if self.drained:
                self.end()
            elif t - self._began > self._patience:
                self.end(
                    self._of_holders(f"not all was settled {self._patience:g} s after the spouts were deactivated")
                )

    def outcome(self, silent: str, *, gave_up: bool, interrupted: bool) -> RunOutcome:
        """The outcome; `why` and the times are known here."""
        first, began = self._flow.first_ack, self._active_at
        return RunOutcome(
            why=self.why,
            silent=silent,
            gave_up=gave_up,
            drained=self.drained,
            interrupted=interrupted,
            seconds=round(max(0.0, self._flow.spoken - began), 6),
            first=None if first is None else round(first - began, 6),
        )

    def _enter(self, name: Literal["run", "drain", "end"]) -> None:
        self.phase = name
        self._began = self._flow.t
        self._tell(PhaseBegun(t=self._flow.t, name=name))

    def _still(self) -> bool:
        """True if nothing went on for so long, though everybody is there."""
        return self._flow.t - self._flow.spoken >= self._idle and self._everybody()

    @property
    def _idle(self) -> float:
        return self._goal.idle * (1 if self._flow.spout_emissions else AT_FIRST)

    def _no_progress(self) -> bool:
        """True if the run would go on for ever: a spout replays what nobody acks. Nobody said how long it is to run."""
        since = self._flow.vain_since
        if since is None or self._goal.seconds or not self._timeout or not self._flow.waiting:
            return False
        return self._flow.t - since >= self._no_progress_after

    def _of_holders(self, told: str) -> str:
        return told + "".join(f"; {each}" for each in self._flow.holders()[:MOST_HOLDERS])

    def _exhausted(self) -> bool:
        t, idle = self._flow.t, self._idle
        return not self._flow.dirty and all(
            not each.pending.waiting and each.idle_since is not None and t - each.idle_since >= idle
            for each in self._executors
        )
