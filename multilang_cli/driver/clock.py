"""The clock of one conversation: it stands still for all time in which the component could not have acted."""

from __future__ import annotations

import math
import time

STANDSTILL = 1.0
"""A look at the clock that is later than this, in seconds, tells that the machine did not run mlcheck."""


class Clock:
    """Seconds since a conversation began. `start`: the machine's monotonic clock when this one stood at 0.

    Whoever drives the conversation looks at it again and again, and says before that how long it means to wait. Where
    it looks much later, it was not run, and the clock stood still: a machine that is paused, or too busy, must not use
    up the component's time, nor make it seem that Storm said nothing. `runs_on`: between two waits nobody looks.
    """

    __slots__ = ("_debt", "_due", "_grace", "_moved", "start")

    def __init__(self, *, runs_on: bool = False) -> None:
        self.start = time.monotonic()
        self._grace = math.inf if runs_on else STANDSTILL
        self._due = self.start + self._grace
        self._moved = (0, 0.0)
        self._debt = 0.0

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        machine = time.monotonic()
        if machine > self._due:
            self.start += machine - self._due + STANDSTILL
        self._due = machine + self._grace
        return machine - self.start

    def will_wait(self, seconds: float) -> None:
        """Expect the next look within so many seconds."""
        self._due = self.now + self.start + seconds + STANDSTILL

    def caught_up(self, latest: float) -> float:
        """The time after a round that was to end by `latest`, for one whose next look may come at any time."""
        self._due = math.inf
        now = time.monotonic() - self.start
        if now - latest <= STANDSTILL:
            return now
        self.start += now - latest
        return latest

    def stand_still(self, seconds: float, events: int) -> None:
        """Take back `seconds` that are over; what is more than the time since the last event, later.

        `events`: how many there were: the clock never stands at less than at an event.
        """
        now = self.now
        if events != self._moved[0]:
            self._moved = (events, now)
        self._debt += seconds
        stands = min(self._debt, now - self._moved[1])
        self._debt -= stands
        self.start += stands
        self._moved = (events, now - stands)
