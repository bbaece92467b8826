"""When a run is taken for exhausted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from multilang_cli.topology.engine.ending import AT_FIRST, Ending
from multilang_cli.topology.engine.setup import Goal

IDLE = 2.0


@pytest.mark.parametrize(("emissions", "patience"), [(1, IDLE), (0, AT_FIRST * IDLE)])
def test_a_spout_is_given_longer_until_its_first_tuple(emissions: int, patience: float) -> None:
    """It may have to reach a broker first."""
    pending = SimpleNamespace(waiting=0)
    spout: Any = SimpleNamespace(active=False, idle_since=0.0, pending=pending, quiet=True, inactive=True)
    flow: Any = SimpleNamespace(
        t=0.0, spoken=0.0, spout_emissions=emissions, dirty=False, vain_since=None, unsettled=0, waiting=0
    )
    ending = Ending(
        Goal(idle=IDLE), 0.0, flow, [spout], busy=(), everybody=lambda: True, tell=lambda happening: happening
    )
    ending.go()
    for flow.t, phase in ((patience - 0.1, "run"), (patience, "drain")):
        ending.look()
        assert ending.phase == phase
