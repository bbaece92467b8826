"""Emissions and the tuples they became: right as long as it says high, never wrong when it says certain."""

from __future__ import annotations

from random import Random

import pytest

from multilang_cli.audit.aligning import Pair, align
from multilang_cli.audit.clocks import offsets
from multilang_cli.audit.marks import CERTAIN, HIGH, LOW

A, B, C, D, X = range(5)


@pytest.mark.parametrize(
    ("sent", "got", "pairs"),
    [
        ([], [], []),
        ([A, A, B], [A, A, B], [(0, 0, CERTAIN), (1, 1, CERTAIN), (2, 2, CERTAIN)]),
        ([A, B, C], [A, C], [(0, 0, CERTAIN), (2, 1, CERTAIN)]),
        ([A, A, B, A], [A, B, A], [(0, 0, LOW), (2, 1, CERTAIN), (3, 2, CERTAIN)]),
        ([A, B, A, B], [A, B], [(0, 0, LOW), (1, 1, LOW)]),
        ([B, C], [A, B, C], [(0, 1, CERTAIN), (1, 2, CERTAIN)]),
        ([A], [], []),
    ],
)
def test_by_hand(sent: list[int], got: list[int], pairs: list[tuple[int, int, int]]) -> None:
    # fmt: off
    assert align(sent, got).pairs == [Pair(*pair) for pair in pairs]
    # fmt: on


def test_what_was_lost_is_sure_unless_its_neighbour_may_have_been() -> None:
    assert align([A, B, C], [A, C]).lost == {1: CERTAIN}
    assert align([A, A, B], [A, B]).lost == {1: LOW}
    assert align([A, B, C], [A, C], whole=False).lost == {1: HIGH}
    assert align([A, B], [C]).lost == {0: LOW, 1: LOW}


@pytest.mark.parametrize(
    ("sent", "got", "equals"),
    [
        ([A, A, B], [A, B], {0: 1, 1: 1}),
        ([A, B, A], [A, B], {}),
        ([A, A, B, A, A], [A, B, A], {0: 1, 1: 1, 3: 4, 4: 4}),
        ([A, B, A, B], [A, B], {0: 2, 2: 2, 1: 3, 3: 3}),
        ([A, A], [], {}),
        ([A, A], [B, A], {}),
        ([A] * 65, [A] * 64, {}),
    ],
    ids=["neighbours", "in its place", "twice", "crossed", "all", "a stranger", "too many"],
)
def test_equals_are_those_that_may_have_been_lost_in_place_of_each_other(
    sent: list[int], got: list[int], equals: dict[int, int]
) -> None:
    assert align(sent, got).equals == equals


def test_a_recording_with_gaps_is_never_certain() -> None:
    assert {pair.doubt for pair in align([A, B], [A, B], whole=False).pairs} == {HIGH}


@pytest.mark.parametrize("words", [3, 30, 1000])
def test_whatever_is_lost_what_it_says_is_right(words: int) -> None:
    random = Random(words)  # noqa: S311 (no secrets)
    right = {CERTAIN: 0, HIGH: 0, LOW: 0}
    wrong = dict(right)
    for _ in range(100):
        sent = [random.randrange(words) for _ in range(400)]
        lost = random.choice((0.0, 0.01, 0.05))
        kept = [place for place in range(len(sent)) if random.random() >= lost]
        if random.random() < 0.5:
            begin = random.randrange(300)
            kept = [place for place in kept if not begin <= place < begin + 50]
        aligned = align(sent, [sent[place] for place in kept])
        assert len(aligned.pairs) + len(aligned.lost) == len(sent)
        for pair in aligned.pairs:
            (right if kept[pair.got] == pair.sent else wrong)[pair.doubt] += 1
        for place, doubt in aligned.lost.items():
            (wrong if place in kept else right)[doubt] += 1
    assert wrong[CERTAIN] == 0
    assert wrong[HIGH] <= 0.001 * right[HIGH]
    assert right[CERTAIN] > 100 * 400 / 2


def test_clocks_are_told_by_the_fastest_tuple() -> None:
    fastest = {("spout", "a"): 5.001, ("spout", "b"): 0.002, ("a", "c"): -5.0, ("alone", "d"): 1.0}
    assert offsets(fastest, ["spout"]) == pytest.approx({"spout": 0.0, "a": 5.001, "b": 0.002, "c": 0.001})
