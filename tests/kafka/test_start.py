"""Where a partition begins: every strategy, what is stored, and what the broker still has."""

from __future__ import annotations

import pytest

from multilang_cli.kafka.start import (
    BrokerOffsets,
    Committed,
    Range,
    Start,
    Strategy,
    decide,
    decide_as_0_9_3,
    out_of_range_as_0_9_3,
)

SEEN = BrokerOffsets(earliest=100, latest=200, at_time=150)
OURS = Committed(120, ours=True)
THEIRS = Committed(120, ours=False)


@pytest.mark.parametrize(
    ("strategy", "stored", "offset"),
    [
        ("earliest", None, 100),
        ("earliest", THEIRS, 100),
        ("earliest", OURS, 120),
        ("latest", None, 200),
        ("latest", THEIRS, 200),
        ("latest", OURS, 120),
        ("uncommitted-earliest", None, 100),
        ("uncommitted-earliest", THEIRS, 120),
        ("uncommitted-latest", None, 200),
        ("uncommitted-latest", THEIRS, 120),
        ("timestamp", None, 150),
        ("timestamp", THEIRS, 150),
        ("timestamp", OURS, 120),
    ],
)
def test_each_strategy_begins_where_it_says(strategy: Strategy, stored: Committed | None, offset: int) -> None:
    begin = decide(strategy, stored, SEEN)
    assert (begin.offset, begin.lost) == (offset, None)
    assert str(offset) in begin.why


def test_a_time_after_the_last_message_is_the_end() -> None:
    begin = decide("timestamp", None, BrokerOffsets(earliest=0, latest=9))
    assert (begin.offset, begin.why) == (
        9,
        "nothing is stored, and no message is as late as that time: from the end, 9",
    )


def test_what_was_deleted_unread_is_counted() -> None:
    begin = decide("uncommitted-earliest", Committed(40, ours=True), SEEN)
    assert begin == Start(
        100, "stored offset 40 is gone: 60 offsets (40-99) were deleted unread; from the earliest, 100", Range(40, 100)
    )


def test_a_stored_offset_past_the_end_is_a_new_topic() -> None:
    begin = decide("uncommitted-latest", Committed(201, ours=True), SEEN)
    assert (begin.offset, begin.lost) == (100, None)
    assert "made anew" in begin.why


@pytest.mark.parametrize(("stored", "offset"), [("a", 120), ("", 120), ("b", 100)])
def test_a_stored_offset_of_another_topic_of_that_name_counts_for_nothing(stored: str, offset: int) -> None:
    seen = BrokerOffsets(earliest=100, latest=200, topic_id="a")
    begin = decide("uncommitted-earliest", Committed(120, ours=True, topic_id=stored), seen)
    assert (begin.offset, "made anew" in begin.why) == (offset, stored == "b")


def test_the_end_itself_is_no_new_topic() -> None:
    assert decide("uncommitted-earliest", Committed(200, ours=True), SEEN).offset == 200


@pytest.mark.parametrize(("allowed", "offset"), [(80, 120), (79, 121), (10, 190)])
def test_too_far_behind_skips_to_the_limit_and_says_what(allowed: int, offset: int) -> None:
    begin = decide("uncommitted-earliest", OURS, SEEN, allowed)
    assert begin.offset == offset
    assert begin.lost == (Range(120, offset) if offset > 120 else None)


def test_an_offset_of_zero_is_an_offset() -> None:
    assert decide("uncommitted-earliest", Committed(0, ours=True), BrokerOffsets(earliest=0, latest=5)).offset == 0


@pytest.mark.parametrize(
    ("stored", "force", "behind", "offset", "lost"),
    [
        (None, False, None, 200, None),
        (None, True, None, 100, None),
        (OURS, False, None, 120, None),
        (OURS, True, None, 120, None),
        (THEIRS, True, None, 100, None),
        (THEIRS, False, None, 120, None),
        (OURS, False, 79, 200, Range(120, 200)),
        (Committed(0, ours=True), False, None, 200, Range(100, 200)),
        (Committed(40, ours=True), False, None, 40, None),
    ],
    ids=[
        "fresh",
        "fresh-forced",
        "ours",
        "ours-forced",
        "theirs-forced",
        "theirs",
        "too-far-behind",
        "zero-counts-as-none",
        "deleted-is-found-later",
    ],
)
def test_storm_0_9_3_begins_as_its_partition_manager_did(
    stored: Committed | None, force: bool, behind: int | None, offset: int, lost: Range | None
) -> None:
    begin = decide_as_0_9_3(stored, SEEN, force_from_start=force, max_behind=behind)
    assert (begin.offset, begin.lost) == (offset, lost)


@pytest.mark.parametrize(("force", "offset", "lost"), [(False, 200, Range(40, 200)), (True, 100, Range(40, 100))])
def test_in_storm_0_9_3_what_is_out_of_range_goes_on_at_the_current_end(force: bool, offset: int, lost: Range) -> None:
    begin = out_of_range_as_0_9_3(40, SEEN, force_from_start=force)
    assert (begin.offset, begin.lost) == (offset, lost)
