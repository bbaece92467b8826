"""Conversations as a whole: whose life ended, and where an event may stand twice."""

from __future__ import annotations

import pytest

from multilang_cli.audit.stages.facts import AuditFacts, HeardPart, Span
from multilang_cli.audit.stages.people import Person, doubled, heard_until, lives, people, run_ends


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


@pytest.mark.parametrize(
    ("number", "least", "gap", "closed", "over", "behind"),
    [
        (9, 0, None, True, None, None),
        (9, 0, 3, True, None, 3),
        # One is missing, and nobody knows which.
        (8, 0, None, True, None, 8),
        (8, 0, 3, True, None, 8),
        # What came before the recording hides nothing that came later.
        (4, 5, None, True, None, None),
        # It has no end: its last lines may be missing, but not where its process ended.
        (9, 0, None, False, None, None),
        (9, 0, None, False, 1.0, None),
    ],
)
def test_a_recording_that_lacks_something_has_a_gap(
    number: int, least: int, gap: int | None, *, closed: bool, over: float | None, behind: int | None
) -> None:
    span = Span(number, 1.0, 0.0, 1.0, over is not None, over, None, gap, least, 8, None, 0)
    part = HeardPart("c", 1, "f", "2.8.3", "bolt", "b", 3, "w", "h", "t", 0.0, 30.0, closed)
    [known] = people(AuditFacts({"c": [part]}, {"c": span}, {}))
    assert span.gap_at == behind
    assert known.gap is (behind is not None or (not closed and over is None))


def test_only_a_recording_that_was_cut_is_heard_until_its_end() -> None:
    found = [person(0, 4, first=1, last=5)._replace(cut=True), person(1, 5, first=1, last=9)]
    assert heard_until(found, lives(found, {"c0": 2.0})) == [("t", 4, 3.0)]
