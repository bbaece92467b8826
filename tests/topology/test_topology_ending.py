"""When a run is taken for exhausted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from multilang_cli.topology.engine.ending import AT_FIRST, Ending
from multilang_cli.topology.engine.setup import Goal
from multilang_cli.topology.engine.spout_executor import SpoutExecutor, SpoutTaskCommand

IDLE = 2.0


def ending_of(spout: Any, emissions: int) -> tuple[Any, Ending]:
    flow: Any = SimpleNamespace(
        t=0.0, spoken=0.0, spout_emissions=emissions, dirty=False, vain_since=None, unsettled=0, waiting=0
    )
    ending = Ending(
        Goal(idle=IDLE), 0.0, flow, [spout], busy=(), everybody=lambda: True, tell=lambda happening: happening
    )
    ending.go()
    return flow, ending


@pytest.mark.parametrize(("emissions", "patience"), [(1, IDLE), (0, AT_FIRST * IDLE)])
def test_a_spout_is_given_longer_until_its_first_tuple(emissions: int, patience: float) -> None:
    """It may have to reach a broker first."""
    pending = SimpleNamespace(waiting=0)
    spout: Any = SimpleNamespace(active=False, idle_since=0.0, pending=pending, quiet=True, inactive=True)
    flow, ending = ending_of(spout, emissions)
    for flow.t, phase in ((patience - 0.1, "run"), (patience, "drain")):
        ending.look()
        assert ending.phase == phase


def test_a_spout_that_is_told_of_a_fail_is_asked_once_more_however_slow_it_is() -> None:
    """It may emit the tuple again: the end must not come between the fail and the next that follows."""
    spout = SpoutExecutor([2], sleep=0.0)
    spout.ready = {2}
    flow, ending = ending_of(spout, 1)

    def answers(what: str) -> str:
        """The phase once it has answered, in vain, what it is told next."""
        told = spout.next_command(flow.t)
        assert told is not None
        assert told.what == what
        spout.synced(flow.t)
        ending.look()
        return ending.phase

    assert [answers(what) for what in ("activate", "next")] == ["run", "run"]
    flow.t = 5 * IDLE
    told = spout.next_command(flow.t)
    spout.tell(SpoutTaskCommand(2, "fail", 1))
    spout.synced(flow.t)
    ending.look()
    assert (told and told.what, ending.phase) == ("next", "run")
    assert [answers(what) for what in ("fail", "next")] == ["run", "run"]
    flow.t += IDLE
    ending.look()
    assert ending.phase == "drain"
