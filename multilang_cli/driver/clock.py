"""The clock of one conversation: it stands still for all time in which the component could not have acted."""

from __future__ import annotations

import time

STANDSTILL = 1.0
"""A round that is later than this, in seconds, tells that the machine did not run mlcheck."""


class Clock:
    """Seconds since a conversation began. `start`: the machine's monotonic clock when this one stood at 0."""

    __slots__ = ("_debt", "_moved", "start")

    def __init__(self) -> None:
        self.start = time.monotonic()
        self._moved = (0, 0.0)
        self._debt = 0.0

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return time.monotonic() - self.start

    def caught_up(self, latest: float) -> float:
        """The time after a round that was to end by `latest`. Where we stood still ourselves, the clock did as well.

        A machine that is paused, or too busy to run us, must not use up the component's time.
        """
        now = time.monotonic() - self.start
        late = now - latest
        if late <= STANDSTILL:
            return now
        self.start += late
        return latest

    def stand_still(self, seconds: float, events: int) -> None:
        """Take back `seconds` that are over; what is more than the time since the last event, later.

        `events`: how many there were: the clock never stands at less than at an event.
        """
        now = time.monotonic()
        if events != self._moved[0]:
            self._moved = (events, now)
        self._debt += seconds
        stands = min(self._debt, now - self._moved[1])
        self._debt -= stands
        self.start += stands
        self._moved = (events, now)
