"""Rules of numbers in a bolt's emits: integers that were made doubles on the way.

What a component makes of a number is its own affair; the very one that a double makes of it, where a double can't hold
it, comes of reading it as one alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.words.large import LargeValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.judge.state import State
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Emit, Json, Values

EXACT = 2**53
"""Up to here a double holds every integer."""
_DEEP = frozenset({list, dict})
_KEPT_INTEGERS = 64
"""Integers that are remembered, the latest."""


def remember(state: State, values: Values) -> None:
    """Keep what a tuple holds of integers that no double holds."""
    large = values.__class__ is LargeValues
    for value in () if large else values:
        kind = value.__class__
        if kind is not str and (kind in _DEEP or (kind is int and not -EXACT < value < EXACT)):
            break
    else:
        if not large:
            return
    found = [number for number in _large(values) if isinstance(number, int) and float(number) != number]
    state.integers += found
    del state.integers[:-_KEPT_INTEGERS]
    state.foreign = state.foreign or bool(found)


def check(judge: RuleContext, event: Event, emit: Emit) -> None:
    """Judge the numbers of an emit by those of the tuples before it."""
    damaged = _damaged(judge.state, emit.values)
    if damaged is None or judge.profile.testee:
        return
    said, sent = damaged
    why = f"a value is {said:.0f} where {sent} was sent: the integer was read as a double, which can't hold it"
    judge.breach("integer-damaged", event, why, subject=emit.stream, stable=emit.stream)


def is_right(state: State, values: Values) -> bool:
    """True if `check` has nothing to say of an emit."""
    return _damaged(state, values) is None


def _damaged(state: State, values: Values) -> tuple[float, int] | None:
    if not state.integers:
        return None
    for said in _large(values):
        if said not in state.integers:
            sent = next((each for each in state.integers if float(each) == said), None)
            if sent is not None:
                return said, sent
    return None


def _large(value: Json) -> Iterator[int | float]:
    """Every number in a value, nested however deep, from which on a double does not hold each integer."""
    left = [value]
    while left:
        item = left.pop()
        if item.__class__ is int or item.__class__ is float:
            if not -EXACT < item < EXACT and abs(item) < 2**64:
                yield item
        elif isinstance(item, list):
            left += reversed(item)
        elif isinstance(item, dict):
            left += reversed(item.values())
        elif isinstance(item, LargeValues):
            yield from (number for each in item.numbers() for number in _large(each))
