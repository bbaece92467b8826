"""What a measure gives back, and how several are taken at the same time: interleaved rounds."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Literal, Self, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")


class UnmeasuredError(Exception):
    """What kept a measure from being taken, as a sentence."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured thing, and what it is compared with, measured in the same run.

    `value` and `reference` in `unit`. `paired`: the ratio of each round, when both were measured in each. `goal`: the
    ratio to reach; `stretch`: the one to hope for; `better`: which side of them is good.
    """

    what: str
    value: float
    unit: str
    than: str
    reference: float
    better: Literal["higher", "lower"]
    goal: float | None = None
    stretch: float | None = None
    paired: tuple[float, ...] = ()

    @classmethod
    def of_rounds(
        cls,
        what: str,
        values: Sequence[float],
        than: str,
        references: Sequence[float],
        *,
        unit: str,
        better: Literal["higher", "lower"],
        goal: float | None = None,
        stretch: float | None = None,
    ) -> Self:
        """The medians of what was measured in the same rounds, and the median of the ratios."""
        return cls(
            what=what,
            value=median(values),
            unit=unit,
            than=than,
            reference=median(references),
            better=better,
            goal=goal,
            stretch=stretch,
            paired=tuple(value / reference for value, reference in zip(values, references, strict=True)),
        )

    @property
    def ratio(self) -> float:
        """How many times the reference; the median of the rounds if there are any."""
        return median(self.paired) if self.paired else self.value / self.reference

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
