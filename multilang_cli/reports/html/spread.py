"""Many durations in little memory: how they are spread, and the points to be drawn of them."""

from __future__ import annotations

from collections import Counter
from itertools import islice, starmap
from math import ceil, floor, log10
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    _Measured = tuple[float, float, int]

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


_duration = itemgetter(1)


class Spread:
    """Durations in seconds. Of neighbours in time, the slowest stays: what is thinned out is never a peak."""

    def __init__(self) -> None:
        self.count = 0
        self.most = 0.0
        self.thinned = 1
        self._points: list[_Measured] = []
        self._last: list[_Measured] = []
        self._steps: Counter[int] = Counter()

    def add(self, measured: Sequence[_Measured]) -> None:
        """Take some more, in the order of time: `Point`, or plain tuples of the same, which cost less."""
        self.count += len(measured)
        durations = [max(each[1], _LEAST_SECONDS) for each in measured]
        self.most = max(self.most, *map(_duration, measured)) if measured else self.most
        self._steps.update([floor(log10(duration) * _STEPS_OF_TEN) for duration in durations])
        coming = iter(measured)
        while some := list(islice(coming, self.thinned - len(self._last))):
            self._last += some
            if len(self._last) == self.thinned:
                self._points.append(max(self._last, key=_duration))
                self._last.clear()
            if len(self._points) == 2 * MOST_POINTS:
                pairs = zip(self._points[::2], self._points[1::2], strict=True)
                self._points = [max(pair, key=_duration) for pair in pairs]
                self.thinned *= 2

    def drawn(self) -> list[Point]:
        """The points to be drawn, in the order of time."""
        last = [max(self._last, key=_duration)] if self._last else []
        return list(starmap(Point, [*self._points, *last]))

    def quantile(self, share: float) -> float:
        """The duration that `share` of them (0 to 1) do not exceed, about; 0 if there are none."""
        wanted = ceil(share * self.count)
        for step in sorted(self._steps):
            wanted -= self._steps[step]
            if wanted <= 0:
                return float(min(self.most, 10 ** ((step + 0.5) / _STEPS_OF_TEN)))
        return 0.0
