"""Conversations as a whole: whose life ended, and where an event may stand twice."""

from __future__ import annotations

import pytest

from multilang_cli.audit.clocks import Passage, compared
from multilang_cli.audit.result import _missing
from multilang_cli.audit.stages.facts import AuditFacts, HeardPart, Span, told_facts
from multilang_cli.audit.stages.people import Person, doubled, lives, people, run_ends, torn_tasks


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


@pytest.mark.parametrize(
    ("counted", "number", "most", "parts", "closed"),
    [
        (9, 9, 8, 1, True),
        (9, 7, 6, 1, False),
        # The numbers tell what is missing amid the others.
        (9, 7, 8, 1, True),
        (None, 7, 6, 1, True),
        # Another part is not there: nobody knows how many events it had.
        (9, 7, 6, 2, True),
    ],
)
def test_a_part_that_has_fewer_events_than_its_end_tells_is_not_closed(
    counted: int | None, number: int, most: int, parts: int, *, closed: bool
) -> None:
    part = ("c", parts, "f", "2.8.3", "bolt", "b", 3, "w", "h", "t", 0.0, 30.0, True, counted)
    span = ("f", "c", number, 1.0, 0.0, 1.0, False, None, None, None, 0, most, None, 0)
    assert told_facts([part], [span]).parts["c"][-1].closed is closed


@pytest.mark.parametrize(
    ("parts", "number", "gap", "told"),
    [
        ([1], 9, None, []),
        ([1], 8, None, ["1 event is missing by number, of c: what became of a tuple there may not be known"]),
        ([1], 5, None, ["4 events are missing by number, of c: what became of a tuple there may not be known"]),
        # What a part that is not there had is no event amid others.
        ([2], 5, None, ["1 conversation lacks a part: c"]),
        ([1, 3], 5, None, ["1 conversation lacks a part: c"]),
        ([1], 9, 3, ["the recorder says that something is missing of c"]),
    ],
)
def test_a_result_says_what_recordings_lack(parts: list[int], number: int, gap: int | None, told: list[str]) -> None:
    heard = [HeardPart("c", part, "f", "2.8.3", "bolt", "b", 3, "w", "h", "t", 0.0, 30.0, True) for part in parts]
    span = Span(number, 1.0, 0.0, 1.0, False, None, None, gap, 0, 8, None, 0)
    assert [*_missing(AuditFacts({"c": heard}, {"c": span}, {}))] == told


def test_a_task_is_torn_where_any_of_its_lives_lacks_something() -> None:
    found = [
        person(0, 4, first=1, last=5)._replace(cut=True, gap=True),
        person(1, 5, first=1, last=9),
        person(2, 6, first=1, last=3)._replace(gap=True),
        person(3, 6, first=4, last=9),
        person(4, 7, first=4, last=9)._replace(unordered=True),
    ]
    known = lives(found, {"c0": 2.0})
    assert [life.torn for life in known] == [True, False, True, True, True]
    assert torn_tasks(found, known) == [("t", 4, 3.0), ("t", 6, None), ("t", 7, None)]


def _heard(conv: str, task: int, started: float, t: float = 10.0) -> tuple[str, HeardPart, Span]:
    part = HeardPart(conv, 1, conv, "2.8.3", "bolt", "b", task, "w", "h", "t", started, 30.0, False)
    return conv, part, Span(9, t, 0.0, t, False, None, None, None, 0, 8, None, 0)


def _people(*heard: tuple[str, HeardPart, Span], passed: list[Passage]) -> list[Person]:
    facts = AuditFacts({conv: [part] for conv, part, _ in heard}, {conv: span for conv, _, span in heard}, {})
    return people(facts, compared(passed))


SPOUT = _heard("spout", 1, 1000.0, 40.0)
STEPPED = [_heard("first", 2, 1000.0), _heard("second", 2, 900.0), _heard("third", 2, 5000.0)]
"""Lives of a task one after another, from 1000, 1015 and 1030 on, on a machine whose clock is set between them."""


@pytest.mark.parametrize(
    "passed",
    [
        [("spout", "first", 0.1, 50), ("spout", "second", -114.9, 3), ("spout", "third", 3970.1, 1)],
        # What the task sent tells as much.
        [("first", "spout", 0.1, 50), ("second", "spout", 115.1, 3), ("third", "spout", -3969.9, 1)],
        # What passed most often counts: of few tuples all may be matched wrongly.
        [("spout", "first", 0.1, 50), ("spout", "second", -114.9, 3), ("spout", "third", 3970.1, 9),
         ("second", "third", -50.0, 1), ("third", "first", -9000.0, 2)],
    ],
)  # fmt: skip
def test_lives_stand_as_they_came_whatever_their_clocks_say(passed: list[tuple[str, str, float, int]]) -> None:
    found = _people(SPOUT, *STEPPED, passed=[Passage(*each) for each in passed])
    mine = [each for each in found if each.me == 2]
    assert [(each.conv, each.cut, each.unordered) for each in mine] == [
        ("first", False, False), ("second", False, False), ("third", True, False),
    ]  # fmt: skip
    assert [life.over for life in lives(mine, {})] == [True, True, False]


@pytest.mark.parametrize(
    ("passed", "unordered"),
    [
        ([], {"first", "second", "third"}),
        ([("spout", "first", 0.1, 50), ("spout", "third", 3970.1, 9)], {"second"}),
        # Both are known by others, but not by the same.
        ([("spout", "first", 0.1, 50), ("other", "second", -114.9, 50)], {"first", "second", "third"}),
    ],
)
def test_lives_that_nobody_tells_apart_have_no_certain_order(
    passed: list[tuple[str, str, float, int]], unordered: set[str]
) -> None:
    found = _people(SPOUT, *STEPPED, passed=[Passage(*each) for each in passed])
    assert {each.conv for each in found if each.unordered} == unordered
