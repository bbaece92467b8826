"""The clock of a conversation, on a machine whose own clock is set by hand."""

from __future__ import annotations

import pytest

from multilang_cli.driver import clock


class Machine:
    """A machine whose clock is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(clock, "time", made)
    return made


def test_a_round_that_is_a_little_late_takes_its_time(machine: Machine) -> None:
    ours = clock.Clock()
    machine.now += 3.0
    assert ours.caught_up(2.5) == 3.0 == ours.now


def test_a_round_that_is_very_late_ended_when_it_was_to_end(machine: Machine) -> None:
    ours = clock.Clock()
    machine.now += 60.0
    assert ours.caught_up(2.5) == 2.5 == ours.now
    machine.now += 1.0
    assert ours.now == 3.5


def test_no_time_of_before_the_last_event_is_taken_back(machine: Machine) -> None:
    ours = clock.Clock(runs_on=True)
    machine.now += 5.0
    ours.stand_still(2.0, 1)
    assert ours.now == 5.0, "an event came: the clock stands at it"
    machine.now += 1.0
    ours.stand_still(0.0, 1)
    assert ours.now == 5.0
    machine.now += 4.0
    ours.stand_still(0.0, 1)
    assert ours.now == 8.0, "two seconds in all"


@pytest.mark.parametrize(("runs_on", "told", "passed"), [(False, None, 0.0), (False, 5.0, 5.0), (True, None, 6.5)])
def test_a_look_that_is_late_finds_the_clock_where_it_stood(
    machine: Machine, told: float | None, passed: float, *, runs_on: bool
) -> None:
    ours = clock.Clock(runs_on=runs_on)
    if told is not None:
        ours.will_wait(told)
    machine.now += 6.5
    assert ours.now == passed
    machine.now += 0.5
    assert ours.now == passed + 0.5
