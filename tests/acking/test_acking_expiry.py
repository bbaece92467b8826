"""When an acker's records expire, on each Storm, what becomes of what comes later, and how little a record is."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.acking.acker import Acker
from multilang_cli.acking.ids import generate_id
from multilang_cli.acking.messages import AckAck, AckFail, AckInit, Reply
from multilang_cli.topology.ackers import acker_of
from tests.groupings import dice

ROOT, SPOUT = 7, 3
INIT = AckInit(ROOT, 4, SPOUT)
TIMEOUTS_OFF = {"topology.enable.message.timeouts": False}


def lifetime(acker: Acker, *, busy: bool = False) -> int:
    """The ticks until the record of a root is dropped; 0 if it is there for ever. `busy`: a message after each."""
    acker.execute(INIT, 0.0)
    for ticks in range(1, 10):
        if acker.tick():
            return ticks
        if busy:
            acker.execute(AckAck(ROOT, 1), float(ticks))
    return 0


@pytest.mark.parametrize(
    ("storm", "conf", "idle", "busy"),
    [
        ("0.9.7", {}, 0, 0),
        ("0.10.2", {}, 0, 0),
        ("1.0.5", {}, 0, 0),
        ("1.0.6", {}, 2, 0),
        ("1.1.0", {}, 0, 0),
        ("1.1.1", {}, 0, 0),
        ("1.1.2", {}, 2, 0),
        ("1.2.4", {}, 2, 0),
        ("1.2.4", TIMEOUTS_OFF, 2, 0),
        ("2.0.0", {}, 3, 3),
        ("2.8.3", {}, 3, 3),
        ("2.8.3", TIMEOUTS_OFF, 0, 0),
    ],
)
def test_how_many_ticks_a_record_lives(storm: str, conf: dict[str, Any], idle: int, busy: int) -> None:
    assert lifetime(acker_of(storm, conf)) == idle
    assert lifetime(acker_of(storm, conf), busy=busy == 0) == busy


@pytest.mark.parametrize("late", [AckAck(ROOT, 4), AckFail(ROOT)])
@pytest.mark.parametrize("storm", ["1.2.4", "2.8.3"])
def test_real_storm_ignores_what_comes_late(storm: str, late: AckAck | AckFail) -> None:
    acker = acker_of(storm, {})
    lifetime(acker)
    assert acker.execute(late, 9.0) is None
    assert acker.pending.get(ROOT) is not None


@pytest.mark.parametrize("late", [AckAck(ROOT, 4), AckFail(ROOT)])
@pytest.mark.parametrize("storm", ["1.2.4", "2.8.3"])
def test_by_the_other_policy_it_fails_the_root_once(storm: str, late: AckAck | AckFail) -> None:
    acker = acker_of(storm, {}, "fail")
    lifetime(acker)
    assert acker.execute(late, 9.0) == Reply(SPOUT, "__ack_fail", ROOT, 9.0)
    assert acker.execute(late, 9.0) is None


def test_what_expired_is_forgotten_after_two_more_ticks() -> None:
    acker = acker_of("2.8.3", {}, "fail")
    lifetime(acker)
    acker.tick()
    acker.tick()
    assert acker.execute(AckAck(ROOT, 4), 9.0) is None


def test_a_root_of_which_the_spout_is_unknown_fails_nobody() -> None:
    acker = acker_of("2.8.3", {}, "fail")
    acker.execute(AckAck(ROOT, 4), 0.0)
    for _ in range(3):
        acker.tick()
    assert acker.execute(AckAck(ROOT, 4), 9.0) is None


@given(st.lists(st.sampled_from([INIT, AckAck(ROOT, 4), AckAck(ROOT, 6), AckAck(ROOT, 2), AckFail(ROOT)]), max_size=6))
def test_the_policy_is_no_matter_while_nothing_expires(messages: list[Any]) -> None:
    ignoring, failing = acker_of("2.8.3", {}), acker_of("2.8.3", {}, "fail")
    assert [ignoring.execute(each, 1.0) for each in messages] == [failing.execute(each, 1.0) for each in messages]


def test_a_record_is_as_large_for_a_tree_of_any_size() -> None:
    random, acker = dice(), Acker()
    acker.execute(INIT, 0.0)
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(3):
            for _ in range(5000):
                acker.execute(AckAck(ROOT, generate_id(random)), 1.0)
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert max(sizes) - min(sizes) < 500
    assert len(acker.pending) == 1
