"""Heartbeats: Storm gives a bolt up that it has heard nothing of for too long."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec.structs import replace

from multilang_cli.topology.checkers.checker import TIMER_LATE, Excusing, RunFacts

if TYPE_CHECKING:
    from multilang_cli.topology.checkers.checker import CheckResult
    from multilang_cli.topology.history import Beat, Died


class HeartbeatsInTime(Excusing):
    """Every heartbeat is answered before Storm would give the bolt up for it.

    A late answer is a warning only, where the bolt said something else meanwhile and so was not given up.
    """

    id = "heartbeats-in-time"
    title = "Heartbeats are answered within topology.subprocess.timeout.secs"
    about = "limit"
    worst = "warn"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._waiting: dict[int, deque[float]] = {task: deque() for task in facts.silences}
        self._given_up = False

    def died(self, event: Died) -> None:
        """Nobody answers any more for the tasks of that worker."""
        super().died(event)
        for task, waiting in self._waiting.items():
            if self.facts.workers.get(task) == event.worker and event.task is None:
                waiting.clear()

    def beat(self, event: Beat) -> None:
        """One more to be answered, the answer to the oldest, or no answer."""
        waiting = self._waiting.setdefault(event.task, deque())
        if event.what == "sent":
            waiting.append(event.t)
        elif event.what == "missed":
            limit = self.facts.silences.get(event.task, 0.0)
            if not self.excused(waiting[0] if waiting else event.t - limit):
                self._given_up = True
                self.wrong(f"{self.facts.name(event.task)} was given up: not a word from it for {limit:g} s")
        elif waiting:
            self._took(event.task, waiting.popleft(), event.t, "answered a heartbeat")

    def finish(self) -> None:
        """Report what is still unanswered."""
        for task, waiting in self._waiting.items():
            if waiting:
                self._took(task, waiting[0], self.t, "had not answered a heartbeat")

    def holds(self) -> CheckResult:
        """A fail if Storm gave anybody up."""
        found = super().holds()
        return replace(found, verdict="fail") if self._given_up else found

    def _took(self, task: int, sent: float, t: float, what: str) -> None:
        limit = self.facts.silences.get(task, 0.0)
        if limit and t - sent > limit + TIMER_LATE and not self.excused(sent):
            self.wrong(f"{self.facts.name(task)} {what} after {t - sent:.1f} s, of {limit:g}")
