"""The ack framework by its parts: ids, the rotating map, the acker, what a spout waits for."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from multilang_cli.acking import collectors
from multilang_cli.acking.acker import Acker, AckRecord
from multilang_cli.acking.collectors import Anchored
from multilang_cli.acking.ids import generate_id, tuple_id, tuple_ids
from multilang_cli.acking.messages import AckAck, AckerMessage, AckFail, AckInit, AckResetTimeout, Reply
from multilang_cli.acking.pending import SpoutPending, WaitingTuple
from multilang_cli.acking.rotating import RotatingMap

ROOT, SPOUT = 7, 3
RECORDED = Path(__file__).parents[1] / "data" / "acker-2.8.3.txt"
MESSAGES = {
    "__ack_init": AckInit,
    "__ack_ack": AckAck,
    "__ack_fail": AckFail,
    "__ack_reset_timeout": AckResetTimeout,
}
ACKED, FAILED = "__ack_ack", "__ack_fail"


class Given:
    """A source that gives these numbers."""

    def __init__(self, *bits: int) -> None:
        self.bits = list(bits)

    def getrandbits(self, k: int, /) -> int:
        assert k == 64
        return self.bits.pop(0)


def replies(*messages: AckerMessage, acker: Acker | None = None) -> list[tuple[int, str]]:
    """The message, by its place, after which each answer came, and the answer's stream."""
    acker = acker or Acker()
    told = ((at, acker.execute(message, float(at))) for at, message in enumerate(messages))
    return [(at, reply.stream) for at, reply in told if reply]


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ([4], 4),
        ([0, 0, 5], 5),
        ([2**63 - 1], 2**63 - 1),
        ([2**63], -(2**63)),
        ([2**64 - 1], -1),
    ],
)
def test_an_id_is_signed_and_never_0(bits: list[int], expected: int) -> None:
    source = Given(*bits)
    assert generate_id(source) == expected
    assert not source.bits


def test_ids_take_both_signs_and_stay_signed_under_xor() -> None:
    source = Random(1)  # noqa: S311
    ids = [generate_id(source) for _ in range(100)]
    assert len(set(ids)) == 100
    assert min(ids) < 0 < max(ids)
    assert all(-(2**63) <= one ^ other < 2**63 for one in ids for other in ids)


@pytest.mark.parametrize("count", [0, 1, 100])
def test_ids_drawn_together_are_those_drawn_one_by_one(count: int) -> None:
    together, alone = Random(7), Random(7)  # noqa: S311
    assert tuple_ids(together, count) == [tuple_id(alone) for _ in range(count)]
    assert tuple_id(together) == tuple_id(alone)


def test_the_worked_example_step_by_step() -> None:
    """Storm's own example: a spout, bolt 1 that emits one tuple, bolt 2 that emits none."""
    source = Given(0b0100, 0b0010)
    acker, pending = Acker(), SpoutPending()
    (to_bolt1,), init = collectors.spout_emit(ROOT, SPOUT, 1, source)
    pending.emit(ROOT, WaitingTuple("message", SPOUT, 0.0))
    assert (to_bolt1.edges, init) == ({ROOT: 0b0100}, AckInit(ROOT, 0b0100, SPOUT))
    assert acker.execute(init, 0.0) is None
    assert acker.val(ROOT) == 0b0100

    (to_bolt2,) = collectors.bolt_emit([to_bolt1], 1, source)
    assert to_bolt2.edges == {ROOT: 0b0010}
    (from_bolt1,) = collectors.ack(to_bolt1)
    assert from_bolt1 == AckAck(ROOT, 0b0100 ^ 0b0010)
    assert acker.execute(from_bolt1, 1.0) is None
    assert acker.val(ROOT) == 0b0010

    (from_bolt2,) = collectors.ack(to_bolt2)
    assert from_bolt2 == AckAck(ROOT, 0b0010)
    reply = acker.execute(from_bolt2, 2.0)
    assert reply == Reply(SPOUT, "__ack_ack", ROOT, 2.0)
    assert acker == Acker()

    outcome = pending.take(reply, 2.5)
    assert outcome is not None
    assert (outcome.kind, outcome.message_id, outcome.latency) == ("acked", "message", 2.5)
    assert len(pending.waiting) == 0


INIT, ACK_4, ACK_6, ACK_2 = AckInit(ROOT, 4, SPOUT), AckAck(ROOT, 4), AckAck(ROOT, 6), AckAck(ROOT, 2)
FAIL, RESET = AckFail(ROOT), AckResetTimeout(ROOT)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([AckInit(ROOT, 0, SPOUT)], [(0, ACKED)]),  # to nobody
        ([INIT, ACK_4], [(1, ACKED)]),
        ([ACK_4, INIT], [(1, ACKED)]),
        ([ACK_2, INIT, ACK_6], [(2, ACKED)]),
        ([ACK_2, ACK_2], []),  # zero, and no spout to tell
        ([ACK_2, ACK_2, INIT], []),
        ([INIT, FAIL], [(1, FAILED)]),
        ([FAIL, INIT], [(1, FAILED)]),
        ([INIT, FAIL, ACK_4], [(1, FAILED)]),
        ([FAIL, ACK_4, INIT], [(2, ACKED)]),  # failed and acked: zero wins
        ([INIT, ACK_6, ACK_6], []),  # acked twice: no longer zero
        ([INIT, ACK_6, ACK_6, ACK_2], []),
        ([INIT, ACK_4, ACK_4], [(1, ACKED)]),
        ([INIT, ACK_4, ACK_4, ACK_4], [(1, ACKED)]),
        ([INIT, ACK_4, FAIL], [(1, ACKED)]),
        ([INIT, FAIL, FAIL], [(1, FAILED)]),
        ([INIT, RESET], [(1, "__ack_reset_timeout")]),
        ([RESET, INIT, ACK_4], [(2, ACKED)]),
        ([ACK_2, RESET, INIT, ACK_6], [(3, ACKED)]),
    ],
)
def test_what_the_acker_answers(messages: list[AckerMessage], expected: list[tuple[int, str]]) -> None:
    assert replies(*messages) == expected


def test_the_acker_answers_with_the_time_since_it_first_heard_of_the_root() -> None:
    acker = Acker()
    acker.execute(ACK_4, 2.0)
    assert acker.execute(AckInit(ROOT, 6, SPOUT), 3.0) is None
    assert acker.val(ROOT) == 2
    assert acker.execute(ACK_2, 4.5) == Reply(SPOUT, "__ack_ack", ROOT, 2.5)


@pytest.mark.parametrize(
    ("late", "left"),
    [(ACK_4, AckRecord(9.0, val=4)), (FAIL, AckRecord(9.0, failed=True))],
)
def test_a_message_after_completion_leaves_a_record_until_it_expires(late: AckerMessage, left: AckRecord) -> None:
    acker = Acker()
    assert replies(INIT, ACK_4, acker=acker) == [(1, ACKED)]
    assert acker.execute(late, 9.0) is None
    assert acker.pending.get(ROOT) == left
    assert [acker.tick() for _ in range(3)] == [{}, {}, {ROOT: left}]
    assert acker.pending.get(ROOT) is None


def test_a_reset_of_an_unknown_root_makes_a_record_too() -> None:
    acker = Acker()
    assert acker.execute(RESET, 1.0) is None
    assert acker.pending.get(ROOT) == AckRecord(1.0)


def test_the_acker_answers_as_storms_own_did() -> None:
    """Random messages, right and wrong, with what ``Acker`` of Storm 2.8.3 answered, and its records after each."""
    acker = Acker()
    for number, line in enumerate(RECORDED.read_text(encoding="ascii").splitlines(), start=1):
        message, _, then = line.partition(" -> ")
        assert told(acker, *message.split()) == then, f"line {number}: {line}"


def told(acker: Acker, stream: str, *values: str) -> str:
    reply = None
    if stream == "__tick":
        acker.tick()
    else:
        reply = acker.execute(MESSAGES[stream](*map(int, values)), 0.0)
    answer = f"{reply.stream} {reply.root} {reply.task}" if reply else "-"
    return f"{answer} ; {len(acker.pending)}"


@pytest.mark.parametrize(("refresh", "ticks"), [(None, 1), (ACK_6, 1), (RESET, 3), (AckFail(ROOT), 3)])
def test_which_messages_keep_a_record_alive(refresh: AckerMessage | None, ticks: int) -> None:
    acker = Acker()
    acker.execute(ACK_2, 0.0)
    assert not acker.tick()
    assert not acker.tick()
    if refresh:
        acker.execute(refresh, 1.0)
    counted = 1
    while not acker.tick():
        counted += 1
    assert counted == ticks


def test_a_bolts_tuple_stands_in_every_tree_of_its_anchors() -> None:
    one, other, nobodys = Anchored({1: 16}), Anchored({1: 32, 2: 64}), Anchored()
    first, second = collectors.bolt_emit([one, other, nobodys], 2, Given(1, 2, 4, 8))
    assert (first.edges, second.edges) == ({1: 1 ^ 2, 2: 2}, {1: 4 ^ 8, 2: 8})
    assert (one.ack_val, other.ack_val, nobodys.ack_val) == (1 ^ 4, 2 ^ 8, 0)
    assert collectors.ack(other) == [AckAck(1, 32 ^ 2 ^ 8), AckAck(2, 64 ^ 2 ^ 8)]
    assert collectors.fail(other) == [AckFail(1), AckFail(2)]
    assert collectors.reset_timeout(one) == [AckResetTimeout(1)]


def test_an_unanchored_tuple_tells_nobody_and_takes_no_id() -> None:
    (tuple_,) = collectors.bolt_emit([Anchored()], 1, Given())
    assert tuple_ == Anchored()
    assert not collectors.ack(tuple_)
    assert not collectors.fail(tuple_)


@pytest.mark.parametrize("count", [2, 3])
def test_a_rotating_map_keeps_a_key_for_its_buckets(count: int) -> None:
    kept: RotatingMap[str, int] = RotatingMap.of(count)
    kept.put("a", 1)
    kept.rotate()
    kept.put("b", 2)
    kept.put("a", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c"), len(kept)) == (3, 2, None, 2)
    assert kept.remove("b") == 2
    assert kept.remove("b") is None
    assert [kept.rotate() for _ in range(count)] == [{}] * (count - 1) + [{"a": 3}]
    assert len(kept) == 0


def test_a_rotating_map_has_two_buckets_at_least() -> None:
    with pytest.raises(ValueError, match="2 buckets or more, not 1"):
        RotatingMap.of(1)


def test_a_spout_waits_for_one_to_two_ticks() -> None:
    pending = SpoutPending()
    pending.emit(1, WaitingTuple("a", SPOUT, 0.0))
    assert not pending.tick(30.0)
    pending.emit(2, WaitingTuple("b", SPOUT, 31.0))
    (outcome,) = pending.tick(60.0)
    assert (outcome.kind, outcome.message_id, outcome.latency) == ("timed out", "a", 60.0)
    assert pending.take(Reply(SPOUT, "__ack_ack", 1, 61.0), 61.0) is None
    failed = pending.take(Reply(SPOUT, "__ack_fail", 2, 1.0), 61.0)
    assert failed is not None
    assert (failed.kind, failed.message_id, failed.task) == ("failed", "b", SPOUT)


def test_a_reset_gives_a_spouts_tuple_its_time_again() -> None:
    pending = SpoutPending()
    pending.emit(1, WaitingTuple("a", SPOUT, 0.0))
    pending.tick(30.0)
    assert pending.take(Reply(SPOUT, "__ack_reset_timeout", 1, 31.0), 31.0) is None
    assert pending.take(Reply(SPOUT, "__ack_reset_timeout", 9, 31.0), 31.0) is None
    assert not pending.tick(60.0)
    assert [outcome.message_id for outcome in pending.tick(90.0)] == ["a"]


@pytest.mark.parametrize(("limit", "full"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_spout_that_waits_for_enough_is_not_called(limit: int, full: bool) -> None:
    pending = SpoutPending()
    for root in (1, 2):
        pending.emit(root, WaitingTuple(None, SPOUT, 0.0))
    assert pending.full(limit) is full
