"""One partition's work: order, retries, what may be stored, and a property of any order of acks and fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.kafka.partition_manager import (
    MOST_PASSED,
    EmitState,
    KafkaRecord,
    MessageId,
    PartitionManager,
    RefusedMessage,
    SchemeAwayError,
    SchemeError,
    TooManyFailuresError,
)
from multilang_cli.kafka.retry import Backoff


def words(record: KafkaRecord) -> list[list[Any]]:
    return [[word] for word in (record.value or b"").decode().split()]


def manager(texts: dict[int, str], backoff: Backoff | None = None, **options: Any) -> PartitionManager:
    limits: dict[str, Any] = {"max_uncommitted": 100, "max_bytes": 1000, **options}
    made = PartitionManager(7, min(texts, default=0), words, backoff or Backoff(), **limits)
    made.take(KafkaRecord(offset, text.encode()) for offset, text in texts.items())
    return made


def emitted(turn: Any) -> list[str]:
    return [values[0] for values, _ in turn.tuples]


def test_messages_come_in_order_and_the_last_says_so() -> None:
    made = manager({3: "a", 5: "b c"})
    first, second, third = made.next(0), made.next(0), made.next(0)
    assert (first.state, emitted(first)) == (EmitState.EMITTED_MORE_LEFT, ["a"])
    assert (second.state, emitted(second)) == (EmitState.EMITTED_END, ["b", "c"])
    assert third.state is EmitState.NO_EMITTED
    assert [str(id_) for _, id_ in second.tuples] == ["7:0:5:0:0", "7:0:5:0:1"]


def test_an_empty_message_is_done_and_passed_over() -> None:
    made = manager({3: "", 4: "a"})
    assert emitted(made.next(0)) == ["a"]
    made.ack(MessageId(7, 0, 4, 0, 0))
    assert made.last_completed == 5


def test_a_message_is_done_when_all_its_tuples_are() -> None:
    made = manager({3: "a b", 4: "c"})
    made.next(0)
    made.next(0)
    made.ack(MessageId(7, 0, 4, 0, 0))
    made.ack(MessageId(7, 0, 3, 0, 1))
    assert made.last_completed == 3
    made.ack(MessageId(7, 0, 3, 0, 0))
    assert made.last_completed == 5


def test_the_first_fail_fails_it_and_what_is_late_counts_no_more() -> None:
    made = manager({3: "a b"}, Backoff(initial=2))
    made.next(0)
    made.fail(MessageId(7, 0, 3, 0, 0), now=10)
    made.fail(MessageId(7, 0, 3, 0, 1), now=10)
    made.ack(MessageId(7, 0, 3, 0, 1))
    assert made.next(11.9).state is EmitState.NO_EMITTED
    assert [str(id_) for _, id_ in made.next(12).tuples] == ["7:0:3:1:0", "7:0:3:1:1"]
    made.ack(MessageId(7, 0, 3, 0, 0))
    made.ack(MessageId(7, 0, 3, 1, 0))
    assert made.last_completed == 3
    made.ack(MessageId(7, 0, 3, 1, 1))
    assert (made.last_completed, made.failed, made.acked) == (4, 1, 1)


def test_in_storm_0_9_3_the_first_ack_completes_it() -> None:
    made = manager({3: "a b"}, as_0_9_3=True)
    assert [str(id_) for _, id_ in made.next(0).tuples] == ["7:0:3:0:0", "7:0:3:0:0"]
    made.ack(MessageId(7, 0, 3, 0, 0))
    assert made.last_completed == 4


def test_failed_ones_come_first_the_lowest_offset_before_all() -> None:
    made = manager({3: "a", 4: "b", 5: "c"})
    made.next(0)
    made.next(0)
    made.fail(MessageId(7, 0, 4, 0, 0), 0)
    made.fail(MessageId(7, 0, 3, 0, 0), 1)
    assert [emitted(made.next(1)) for _ in range(3)] == [["a"], ["b"], ["c"]]


def test_delays_grow_up_to_the_longest() -> None:
    backoff = Backoff(initial=0.5, multiplier=3, longest=10)
    assert [backoff.delay(failures) for failures in (1, 2, 3, 4, 5000)] == [0.5, 1.5, 4.5, 10, 10]


def test_a_message_that_always_fails_is_given_up_and_handed_out() -> None:
    made = manager({3: "a"}, Backoff(limit=2))
    given = []
    for attempt in range(3):
        made.next(attempt)
        given.append(made.fail(MessageId(7, 0, 3, attempt, 0), attempt))
    assert given == [None, None, RefusedMessage(7, KafkaRecord(3, b"a"), "failed 3 times", (MessageId(7, 0, 3, 2, 0),))]
    assert (made.last_completed, made.given_up, made.next(9).state) == (3, 1, EmitState.NO_EMITTED)
    made.settle(3)
    assert made.last_completed == 4


def test_a_message_that_cannot_be_read_is_open_until_it_is_put_aside() -> None:
    def scheme(record: KafkaRecord) -> list[list[Any]]:
        raise SchemeError(f"{record.value!r} is nonsense")

    made = PartitionManager(7, 3, scheme, Backoff(), max_uncommitted=9, max_bytes=9)
    made.take([KafkaRecord(3, b"a"), KafkaRecord(4, b"b")])
    turn = made.next(0)
    assert (turn.state, turn.refused) == (
        EmitState.NO_EMITTED,
        RefusedMessage(7, KafkaRecord(3, b"a"), "b'a' is nonsense"),
    )
    assert made.last_completed == 3
    made.settle(3)
    assert made.last_completed == 4


def test_while_its_scheme_is_away_a_message_is_the_next_one_and_no_progress_is_made() -> None:
    away = True

    def scheme(record: KafkaRecord) -> list[list[str]]:
        if away:
            raise SchemeAwayError("the registry is away")
        return words(record)

    made = PartitionManager(7, 3, scheme, Backoff(initial=1), max_uncommitted=9, max_bytes=9)
    made.take([KafkaRecord(3, b"a"), KafkaRecord(4, b"b")])
    with pytest.raises(SchemeAwayError):
        made.next(0)
    assert (made.fetched, made.emitted_to, made.last_completed) == (2, 3, 3)
    away = False
    [(_, id_)] = made.next(0).tuples
    made.fail(id_, 0)
    away = True
    with pytest.raises(SchemeAwayError):
        made.next(1)
    away = False
    assert [values for values, _ in made.next(1).tuples] == [["a"]]
    assert [values for values, _ in made.next(1).tuples] == [["b"]]


def test_what_was_fetched_before_a_gap_is_still_emitted() -> None:
    made = manager({3: "a", 4: "b"})
    made.jump(9)
    made.take([KafkaRecord(9, b"c")])
    assert [emitted(made.next(0)) for _ in range(3)] == [["a"], ["b"], ["c"]]


def test_after_a_gap_with_nothing_left_progress_goes_on_behind_it() -> None:
    made = manager({3: "a"})
    made.next(0)
    made.ack(MessageId(7, 0, 3, 0, 0))
    made.jump(9)
    assert made.last_completed == 9


def test_one_call_passes_over_so_many_empty_messages_and_no_more() -> None:
    made = manager(dict.fromkeys(range(MOST_PASSED + 5), ""), max_uncommitted=10 * MOST_PASSED)
    assert made.next(0).state is EmitState.NO_EMITTED
    assert made.fetched == 5


def test_progress_never_goes_back_nor_beyond_what_was_fetched() -> None:
    made = manager({3: "a", 4: "b"})
    for offset in (4, 3, 99):
        made.stored(offset)
    assert made.committed_to == 4


class TestStorm093:
    """The traps of the old spout that the profile plays, one by one."""

    def test_an_ack_forgets_what_is_too_far_behind_it(self) -> None:
        made = manager(dict.fromkeys(range(10), "a"), as_0_9_3=True, max_behind=3)
        for _ in range(10):
            made.next(0)
        made.ack(MessageId(7, 0, 8, 0, 0))
        assert (made.last_completed, made.forgotten, made.pending) == (5, 5, 4)

    def test_what_fails_too_far_behind_is_not_emitted_again(self) -> None:
        made = manager(dict.fromkeys(range(10), "a"), as_0_9_3=True, max_behind=3)
        for _ in range(10):
            made.next(0)
        made.fail(MessageId(7, 0, 2, 0, 0), 0)
        assert made.next(1).state is EmitState.NO_EMITTED

    def test_nothing_acked_and_too_many_failed_ends_the_worker(self) -> None:
        made = manager(dict.fromkeys(range(3), "a"), as_0_9_3=True, max_behind=2)
        for offset in range(3):
            made.next(0)
            if offset < 2:
                made.fail(MessageId(7, 0, offset, 0, 0), 0)
                made.next(0)
        with pytest.raises(TooManyFailuresError, match="Too many tuple failures"):
            made.fail(MessageId(7, 0, 1, 0, 0), 0)

    def test_a_failed_message_comes_again_under_its_old_id(self) -> None:
        made = manager({3: "a"}, as_0_9_3=True)
        first = made.next(0).tuples
        made.fail(first[0][1], 0)
        assert made.next(0).tuples == first


@pytest.mark.parametrize(("option", "limit"), [("max_uncommitted", 2), ("max_bytes", 4)])
def test_at_a_limit_only_failed_ones_are_emitted(option: str, limit: int) -> None:
    limits: dict[str, Any] = {option: limit}
    made = manager(dict.fromkeys(range(5), "ab"), **limits)
    assert [emitted(made.next(0)) for _ in range(3)] == [["ab"], ["ab"], []]
    made.fail(MessageId(7, 0, 1, 0, 0), 0)
    assert emitted(made.next(0)) == ["ab"]
    made.ack(MessageId(7, 0, 0, 0, 0))
    made.stored(made.last_completed)
    assert [emitted(made.next(0)) for _ in range(2)] == [["ab"], []]


def test_what_was_fetched_before_is_not_taken_twice() -> None:
    made = manager({3: "a", 4: "b"})
    made.take([KafkaRecord(4, b"b"), KafkaRecord(9, b"c")])
    assert [emitted(made.next(0)) for _ in range(3)] == [["a"], ["b"], ["c"]]
    assert made.emitted_to == 10


@pytest.mark.parametrize("text", ["", "1:2:3:4", "1:2:3:4:x", "-1:2:3:4:5", "1:2:3:4:5:6", "٣:1:1:1:1", None, 7])
def test_an_id_of_somebody_else_is_none(text: object) -> None:
    assert MessageId.read(text) is None


@pytest.mark.long
@given(st.data())
def test_nothing_is_stored_before_it_is_acked_whatever_the_order(data: st.DataObject) -> None:
    """Whatever is acked and failed in whatever order: what may be stored is acked, and in the end all is."""
    offsets = data.draw(st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True).map(sorted))
    texts = {offset: " ".join("w" * data.draw(st.integers(1, 3))) for offset in offsets}
    made = manager(texts, Backoff(initial=1), max_uncommitted=data.draw(st.integers(1, 12)))
    out: list[MessageId] = []
    acked: dict[tuple[int, int], set[int]] = {}
    now = 0.0
    while made.fetched or made.pending:
        now += 1
        turn = made.next(now)
        out += (id_ for _, id_ in turn.tuples)
        for id_ in data.draw(st.permutations(out)) if out else []:
            if data.draw(st.integers(0, 3)) == 0 and id_.attempt < 2:
                made.fail(id_, now)
            else:
                made.ack(id_)
                acked.setdefault((id_.offset, id_.attempt), set()).add(id_.nth)
            out.remove(id_)
        stored = made.last_completed
        whole = {offset for (offset, _), acks in acked.items() if len(acks) == len(texts[offset].split())}
        assert {offset for offset in offsets if offset < stored} <= whole
        assert stored >= made.committed_to
        made.stored(stored)
    assert made.last_completed == offsets[-1] + 1
