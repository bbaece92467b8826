"""Delta debugging: what is left fails, none of it can be left out, and nothing is asked twice."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.replay.shrink.ddmin import Shrinking

SIZES = st.integers(1, 60)


@given(SIZES, st.sets(st.integers(0, 59), min_size=1, max_size=4))
def test_exactly_what_is_needed_is_left(size: int, culprits: set[int]) -> None:
    needed = {culprit % size for culprit in culprits}
    asked: list[tuple[int, ...]] = []

    def fails(part: tuple[int, ...]) -> bool:
        asked.append(part)
        return needed <= set(part)

    shrinking = Shrinking(size, fails)
    assert set(shrinking.run()) == needed
    assert len(asked) == len(set(asked)) == shrinking.tried
    assert all(list(part) == sorted(part) for part in asked)


@given(SIZES, st.lists(st.sets(st.integers(0, 59), min_size=1, max_size=3), min_size=1, max_size=3))
def test_none_of_what_is_left_can_be_left_out(size: int, ways: list[set[int]]) -> None:
    """There may be several ways to fail; the one that is found is as small as itself."""
    needed = [{number % size for number in way} for way in ways]

    def fails(part: tuple[int, ...]) -> bool:
        return any(way <= set(part) for way in needed)

    best = Shrinking(size, fails).run()
    assert fails(best)
    assert not any(fails(best[:n] + best[n + 1 :]) for n in range(len(best)))


def test_one_culprit_among_many_is_found_by_halving() -> None:
    shrinking = Shrinking(10_000, lambda part: 7_777 in part)
    assert shrinking.run() == (7_777,)
    assert shrinking.tried <= 2 * math.ceil(math.log2(10_000)) + 2


def test_the_best_so_far_survives_an_interrupt() -> None:
    asked = 0

    def fails(part: tuple[int, ...]) -> bool:
        nonlocal asked
        asked += 1
        if asked > 5:
            raise KeyboardInterrupt
        return 3 in part

    shrinking = Shrinking(64, fails)
    with pytest.raises(KeyboardInterrupt):
        shrinking.run()
    assert 3 in shrinking.best
    assert len(shrinking.best) < 64


def test_what_fails_by_itself_needs_nothing() -> None:
    assert Shrinking(8, lambda _: True).run() == ()
