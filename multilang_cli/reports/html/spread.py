"""Many durations in little memory: how they are spread, and the points to be drawn of them."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import NamedTuple

MOST_POINTS = 4_000
"""Points of one series that are kept at least, if there are so many; at most twice as many."""
_STEPS_OF_TEN = 50
"""Steps of the histogram in a power of ten: a quantile is right within 2.5 %."""
_LEAST_SECONDS = 1e-9


class Point(NamedTuple):
    """It took `y` seconds and was over at `x` seconds, with the event `seq`."""

    x: float
    y: float
    seq: int


_duration = attrgetter("y")


class Spread:
    """Durations in seconds. Of neighbours in time, the slowest stays: what is thinned out is never a peak."""

    def __init__(self) -> None:
        self.count = 0
        self.most = 0.0
        self.thinned = 1
        self.points: list[Point] = []
        self._last: list[Point] = []
        self._steps: dict[int, int] = {}

    def add(self, point: Point) -> None:
        """Take one more, in the order of time."""
        self.count += 1
        self.most = max(self.most, point.y)
        step = math.floor(math.log10(max(point.y, _LEAST_SECONDS)) * _STEPS_OF_TEN)
        self._steps[step] = self._steps.get(step, 0) + 1
        self._last.append(point)
        if len(self._last) >= self.thinned:
            self.points.append(max(self._last, key=_duration))
            self._last.clear()
        if len(self.points) >= 2 * MOST_POINTS:
            pairs = zip(self.points[::2], self.points[1::2], strict=True)
            self.points = [max(pair, key=_duration) for pair in pairs]
            self.thinned *= 2

    def drawn(self) -> list[Point]:
        """The points to be drawn, in the order of time."""
        return self.points + ([max(self._last, key=_duration)] if self._last else [])

    def quantile(self, share: float) -> float:
        """The duration that `share` of them (0 to 1) do not exceed, about; 0 if there are none."""
        wanted = math.ceil(share * self.count)
        for step in sorted(self._steps):
            wanted -= self._steps[step]
            if wanted <= 0:
                return float(min(self.most, 10 ** ((step + 0.5) / _STEPS_OF_TEN)))
        return 0.0
