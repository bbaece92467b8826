"""Conversations as a whole: whose life ended, and where an event may stand twice."""

from __future__ import annotations

import pytest

from multilang_cli.audit.stages.people import Person, doubled, lives, run_ends


def person(n: int, me: int, *, first: float, last: float, exited: bool = False) -> Person:
    return Person(f"c{n}", n, "t", "bolt", "b", me, 0.0, 30.0, False, False, exited, first, last)


@pytest.mark.parametrize(
    ("seqs", "twice"),
    [
        ([0, 1, 2, 3], False),
        ([5, 6, 7], False),
        ([0], False),
        ([0, 1, 1, 2], True),
        # One stands twice, and another is missing: as many as there should be.
        ([0, 1, 1, 3], True),
        # As many, with the same sum.
        ([0, 1, 2, 2, 2, 5, 6, 10, 8, 9, 10], True),
    ],
)
def test_numbers_that_are_all_there_have_a_known_sum_and_a_known_xor(seqs: list[int], *, twice: bool) -> None:
    xor = 0
    for seq in seqs:
        xor ^= seq
    assert doubled(len(seqs), (min(seqs), max(seqs)), sum(seqs), xor) is twice


def test_a_life_is_over_when_its_process_ends_or_another_begins() -> None:
    found = [
        person(0, 3, first=0, last=5),
        person(1, 3, first=6, last=9),
        person(2, 4, first=1, last=8, exited=True),
        person(3, 5, first=2, last=30),
    ]
    known = lives(found, {"c3": 20.0})
    told = [(each.n, each.last, each.over) for each in known]
    assert told == [(0, 5, True), (1, 9, False), (2, 8, True), (3, 10, False)]
    assert run_ends(found, known) == [("t", 10, 30.0)]
