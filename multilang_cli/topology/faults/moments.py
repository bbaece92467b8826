"""Moments of the tasks of a run: how often each did what a fault may come behind, counted over all its lives. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.topology.history import AckerTold, Delivered, EmissionEnded, Emitted, Lost, TupleSettled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.topology.history import Happening


class Moment(NamedTuple):
    """A task did something, by its name in ``kinds.MOMENTS``, for the `nth` time."""

    task: int
    what: str
    nth: int


class Moments:
    """Counts as it is told a history; see ``kinds.MOMENTS``. Remembers whose each delivery is until it is over."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, str]] = Counter()
        self._task_of: dict[int, int] = {}

    def take(self, event: Happening) -> Iterator[Moment]:
        """The moments that this event is."""
        match event:
            case Delivered(n=n, task=task):
                self._task_of[n] = task
                yield self._count(task, "got")
            case Emitted(task=task):
                yield self._count(task, "emit")
            case TupleSettled(delivery=delivery, how=how):
                if task := self._task_of.pop(delivery, 0):
                    yield self._count(task, how)
            case Lost(delivery=delivery):
                self._task_of.pop(delivery, None)
            case AckerTold(task=task, what=what):
                yield self._count(task, what)
            case EmissionEnded(task=task):
                yield self._count(task, "end")

    def _count(self, task: int, what: str) -> Moment:
        self._counts[task, what] += 1
        return Moment(task, what, self._counts[task, what])
