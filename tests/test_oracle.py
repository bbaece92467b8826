"""The judge against real Storm: every recorded script, on every version, through our own host."""

from __future__ import annotations

import sys

import pytest

from multilang_cli.suite.agreement import differences, play_all, table
from multilang_cli.suite.oracle import Played, oracle_cases, oracle_verdicts, same_events

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def played() -> list[Played]:
    return play_all()


def test_every_script_was_played_on_every_recorded_version(played: list[Played]) -> None:
    expected = {(name, version) for name in oracle_cases() for version in oracle_verdicts()[name]}
    assert {(row.case, row.version) for row in played} == expected
    assert len(expected) == 191 * 5


def test_fates_and_events_are_those_of_storm(played: list[Played], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write("\n" + table(played) + "\n")
    assert differences(played) == ""
    assert not any(row.predicted == "unknown" for row in played)


def test_the_comparison_can_fail() -> None:
    ack = {"t": "ack", "tuple": 0}
    error = {"t": "error", "error": "Unknown stream ID: x"}
    assert same_events([ack], [ack])
    assert not same_events([ack], [])
    assert not same_events([ack], [{"t": "ack", "tuple": 1}])
    assert not same_events([error], [{"t": "error", "error": ["java.lang.RuntimeException: boom"]}])
    assert not same_events([{"t": "error", "error": ""}], [{"t": "error", "error": ["boom"]}])
