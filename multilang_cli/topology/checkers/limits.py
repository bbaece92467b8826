"""Limits: how much may be pending, where keys go, heartbeats answered in time, and the faults of the plan striking."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from multilang_cli.topology.checkers.checker import TIMER_LATE, Checker, Excusing, RunFacts
from multilang_cli.topology.checkers.pending import PendingEmissions

if TYPE_CHECKING:
    from multilang_cli.topology.checkers.checker import CheckResult
    from multilang_cli.topology.history import Beat, Delivered, Died, EmissionEnded, Emitted, Faulted

MOST_KEYS = 200_000
"""Keys whose task is remembered; of more, the later ones are not checked."""


class PendingLimit(Checker):
    """No more is pending than Storm would let: a call of next may go over it by what it emits at once."""

    id = "pending-limit"
    title = "No more is pending than topology.max.spout.pending"
    about = "limit"
    worst = "warn"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._pending = PendingEmissions(facts.limits)

    def emitted(self, event: Emitted) -> None:
        """Count an emission as pending, and compare with the limit."""
        tasks = self._pending.emitted(event)
        if tasks is None:
            return
        pending, limit = self._pending.count[tasks], self.facts.limits[tasks]
        if pending > limit:
            told = f"{pending} emissions of {self.facts.name(event.task)} were pending, and the limit is {limit}"
            self.wrong(f"{told}: a call of next emitted several", event.n)

    def ended(self, event: EmissionEnded) -> None:
        """Count an emission as no longer pending."""
        self._pending.ended(event)

    def died(self, event: Died) -> None:
        """With a spout's worker, all that was pending is gone."""
        self._pending.died(self.facts.gone(event))


class KeysKeepTheirTask(Checker):
    """With a fields grouping, a key always goes to the same task."""

    id = "keys-keep-their-task"
    title = "By a fields grouping, the same key goes to the same task"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._emission: dict[str, str] = {}
        self._number = 0
        self._task_of: dict[tuple[str, str], int] = {}

    def emitted(self, event: Emitted) -> None:
        """The keys of an emission, by who consumes it."""
        self._number = event.n
        self._emission = {}
        source = self.facts.components.get(event.task, "")
        wishes = self.facts.keys.get((source, event.stream), ())
        values = _values(event.values) if wishes else None
        if values is None:
            return
        for target, places in wishes:
            if all(place < len(values) for place in places):
                self._emission[target] = json.dumps([source, event.stream, [values[place] for place in places]])

    def delivered(self, event: Delivered) -> None:
        """Check that the task is the one of the key."""
        target = self.facts.components.get(event.task, "")
        key = self._emission.get(target) if event.emit == self._number else None
        if key is None or (len(self._task_of) >= MOST_KEYS and (target, key) not in self._task_of):
            return
        first = self._task_of.setdefault((target, key), event.task)
        if first != event.task:
            told = f"key {key} went to {self.facts.name(first)}, and then to {self.facts.name(event.task)}"
            self.wrong(told, event.emit)


class FaultsStruck(Checker):
    """Every fault of the plan struck: else the run says nothing of it."""

    id = "faults-struck"
    title = "Every fault of the plan strikes"
    about = "limit"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._left = dict(enumerate(facts.faults))
        self._deliveries = 0

    def delivered(self, event: Delivered) -> None:
        """Count deliveries, by whose number faults strike."""
        self._deliveries = event.n

    def faulted(self, event: Faulted) -> None:
        """Take a fault that strikes from those that are left."""
        if event.phase == "strikes":
            self._left.pop(event.plan, None)

    def finish(self) -> None:
        """Report the faults that never struck."""
        for fault in self._left.values():
            made = f"{self._deliveries:,} {'delivery' if self._deliveries == 1 else 'deliveries'}"
            self.unknown(f"the fault {fault} never struck: the run was over before, after {made}")


def _values(text: str) -> list[Any] | None:
    """The values of an emission; None where they were too long for the history."""
    try:
        values = json.loads(text)
    except ValueError:
        return None
    return values if isinstance(values, list) else None


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
        for task in self.facts.gone(event) & self._waiting.keys():
            self._waiting[task].clear()

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
