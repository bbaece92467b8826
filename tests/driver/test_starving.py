"""Time that a component is given: what the machine took of it is none."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from multilang_cli.driver.waits import starving
from multilang_cli.driver.waits.starving import OwnTime, Starved

if TYPE_CHECKING:
    from multilang_cli.driver.process import ComponentProcess


@pytest.fixture
def process() -> ComponentProcess:
    return SimpleNamespace(pid=os.getpid())  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("lost", "over_at"),
    [((0.0,), 2.0), ((1.5, 0.0), 3.5), ((1.5, 0.5, 0.0), 4.0), ((100.0, 100.0), 10.0)],
    ids=["none", "once", "again", "for ever"],
)
def test_what_the_machine_took_is_added_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, process: ComponentProcess, lost: tuple[float, ...], over_at: float
) -> None:
    now, taken = [0.0], iter((0.0, *lost))
    monkeypatch.setattr(starving, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(starving, "_delay", lambda _: 0)
    monkeypatch.setattr(Starved, "lost", lambda _: next(taken))
    own = OwnTime(process, 2.0)
    while not own.is_over:
        now[0] += 0.5
    assert now == [over_at]


def test_time_in_which_mlcheck_was_not_run_is_added(monkeypatch: pytest.MonkeyPatch, process: ComponentProcess) -> None:
    now, ours = [0.0], iter((1e9, 4e9, 4e9))
    monkeypatch.setattr(starving, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(starving, "_delay", lambda _: next(ours))
    monkeypatch.setattr(Starved, "lost", lambda _: 0.0)
    own = OwnTime(process, 2.0)
    while not own.is_over:
        now[0] += 0.5
    assert now == [5.0]
