"""A run that nobody bounded is told of, once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from multilang_cli.topology.console.showing import UNBOUNDED, progress_of
from multilang_cli.topology.engine.agenda import Agenda
from multilang_cli.topology.engine.setup import Goal

SENTENCE = (
    "Still running after 60 s, 1,234 tuples emitted by spouts. It ends when they have nothing more to emit, by "
    "--messages or --seconds, or by Ctrl-C.\n"
)


@pytest.mark.parametrize(
    ("goal", "quiet", "told"),
    [
        (Goal(), False, SENTENCE),
        (Goal(), True, ""),
        (Goal(messages=1), False, ""),
        (Goal(seconds=1), False, ""),
    ],
)
def test_a_run_without_an_end_is_told_of(
    goal: Goal, quiet: bool, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    agenda = Agenda()
    engine: Any = SimpleNamespace(agenda=agenda, flow=SimpleNamespace(spout_emissions=1234))
    with progress_of(goal, quiet=quiet) as watch:
        watch(engine)
        for t in (UNBOUNDED - 1, UNBOUNDED, 2 * UNBOUNDED):
            agenda.run(t)
    assert capsys.readouterr().err == told
