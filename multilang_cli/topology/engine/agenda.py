"""Agenda of what is done by the clock: each thing at its time, some again and again. Pure: the time is handed in."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Agenda:
    """Things to do, by the time at which they are due, in seconds from the start of the run."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._number = count()

    def at(self, t: float, do: Callable[[], object]) -> None:
        """Do something at `t`."""
        heapq.heappush(self._due, (t, next(self._number), do))

    def every(self, period: float, t: float, do: Callable[[], bool | None]) -> None:
        """Do something `period` seconds after `t` and again and again, until it gives False.

        It is put off, not made up for, where nobody looked for longer than a period.
        """

        def again(due: float) -> None:
            """Do it, and put it down for the next period unless it says that it is over."""
            if do() is not False:
                later = due + period
                self.at(later if later > self._now else self._now + period, lambda: again(later))

        self.at(t + period, lambda: again(t + period))

    _now = 0.0

    def left(self, t: float, most: float) -> float:
        """Seconds from `t` until something is due, at most `most`."""
        return min(most, max(0.0, self._due[0][0] - t)) if self._due else most

    def run(self, t: float) -> None:
        """Do what is due at `t`."""
        self._now = t
        while self._due and self._due[0][0] <= t:
            heapq.heappop(self._due)[2]()
