"""What a measure gives back, and how several are taken at the same time: interleaved rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured thing, and what it is compared with.

    `value` and `reference` in `unit`; `reference` was measured in the same run unless `elsewhere`, then the ratio is
    only a note. `goal`: the ratio to reach; `better`: which side of it is good.
    """

    what: str
    value: float
    unit: str
    than: str
    reference: float
    better: Literal["higher", "lower"]
    goal: float | None = None
    elsewhere: bool = False

    @property
    def ratio(self) -> float:
        """How many times the reference."""
        return self.value / self.reference

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.better == "higher" else self.ratio <= self.goal


class Result(msgspec.Struct, frozen=True):
    """What one benchmark found, how it placed both sides, and what else must be known to read it."""

    name: str
    placed: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()


def interleaved(rounds: int, measures: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
    """What each of `measures` gave in each of `rounds`, taken in turn after one round to warm up."""
    taken: dict[str, list[T]] = {name: [] for name in measures}
    for number in range(rounds + 1):
        for name, measure in measures.items():
            value = measure()
            if number:
                taken[name].append(value)
    return taken
