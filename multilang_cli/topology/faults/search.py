"""Search for a plan of faults that breaks a topology: which plan is tried next, and how one is made smaller. Pure.

First come the points of an undisturbed run, the likeliest first and of each kind those that lie far apart. What a fault
brought forth that no run had shown before, such as a replay, is struck next, behind the same fault. When all that is
done, pairs are drawn.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from multilang_cli.topology.faults.plan import Fault
    from multilang_cli.topology.faults.points import FaultPoint

    Plan = tuple[Fault, ...]

MOST_FAULTS = 3
"""Faults of a plan."""


class FaultSearch:
    """Gives plans to try, and is told what their runs showed. `tried`: how many it gave; `kinds`: of points, so far."""

    def __init__(self, points: Sequence[FaultPoint], random: Random) -> None:
        self.tried = 0
        self.kinds: set[str] = set()
        self._points = list(points)
        self._random = random
        self._number = count()
        self._waiting: list[tuple[int, int, Plan]] = []
        self._given: set[str] = set()
        self._add((), points)

    def next(self) -> Plan | None:
        """The next plan; None if there is no other."""
        while self._waiting:
            plan = heapq.heappop(self._waiting)[2]
            if self._is_new(plan):
                return plan
        for _ in range(len(self._points) ** 2):
            one, other = (self._random.choice(self._points).fault for _ in range(2))
            if one != other and self._is_new((one, other)):
                return one, other
        return None

    def saw(self, plan: Plan, points: Sequence[FaultPoint]) -> None:
        """A run with a plan broke nothing: try what is new in its history on top of the plan."""
        if len(plan) < MOST_FAULTS:
            self._add(plan, [each for each in points if each.about not in self.kinds])

    def _add(self, plan: Plan, points: Sequence[FaultPoint]) -> None:
        alike: dict[str, list[FaultPoint]] = defaultdict(list)
        for point in points:
            alike[point.about].append(point)
        self.kinds |= alike.keys()
        for several in alike.values():
            for turn, point in enumerate(spread(several)):
                heapq.heappush(self._waiting, (point.rank + turn, next(self._number), (*plan, point.fault)))

    def _is_new(self, plan: Plan) -> bool:
        key = " ".join(sorted(map(str, plan)))
        if key in self._given:
            return False
        self._given.add(key)
        self.tried += 1
        return True


def spread(points: Sequence[FaultPoint]) -> Iterator[FaultPoint]:
    """All of them: the first, the last, the one in the middle, those in the middle of the halves, and so on."""
    if not points:
        return
    yield points[0]
    if len(points) > 1:
        yield points[-1]
    gaps = [(0, len(points) - 1)]
    while gaps:
        low, high = gaps.pop(0)
        middle = (low + high) // 2
        if middle > low:
            yield points[middle]
            gaps += [(low, middle), (middle, high)]


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans that are a step smaller than a plan, the smallest first: one fault less, or a simpler one."""
    if len(plan) > 1:
        for at in range(len(plan)):
            yield plan[:at] + plan[at + 1 :]
    for at, fault in enumerate(plan):
        if fault.kind == "mute":
            yield (*plan[:at], replace(fault, kind="kill", parameter=0.0), *plan[at + 1 :])
        if fault.moment and fault.at > 1:
            yield (*plan[:at], replace(fault, at=1), *plan[at + 1 :])
