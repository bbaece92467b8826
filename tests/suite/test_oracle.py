"""The judge against real Storm: recorded scripts, on every version, through our own host.

All scripts on the newest version, on the others those where Storm differs and a sample; all on all is a soak, by
command: ``python -m tests.agreement``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import oracle_cases, oracle_verdicts
from tests.agreement.comparing import KNOWN, differences, play_all, sample, table, unseen
from tests.agreement.playing import same_events

if TYPE_CHECKING:
    from tests.agreement.playing import PlayedScript

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def played() -> list[PlayedScript]:
    return play_all(sample())


def test_every_script_was_played_and_every_version(played: list[PlayedScript]) -> None:
    assert {row.case for row in played} == set(oracle_cases())
    assert {row.version for row in played} == {
        version for verdicts in oracle_verdicts().values() for version in verdicts
    }
    assert len({row.case for row in played if row.version == "2.8.3"}) == len(oracle_cases())


def test_fates_and_events_are_those_of_storm(played: list[PlayedScript], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write("\n" + table(played) + "\n")
    assert differences(played) == ""
    assert not any(row.predicted == "unknown" for row in played)


def test_what_is_known_to_differ_still_does(played: list[PlayedScript]) -> None:
    assert {row.case for row in played if not row.agrees} == KNOWN.keys()


def test_each_script_that_shows_a_rule_makes_the_judge_find_it(played: list[PlayedScript]) -> None:
    assert unseen(played) == []
    rules = load_rulebook().rules.values()
    shown = {case for rule in rules for effect in rule.effects for case in effect.confirmed_by}
    assert shown <= {row.case for row in played}
    (row,) = [row for row in played if (row.case, row.version) == ("bolt-json-nul", "2.8.3")]
    blind = msgspec.structs.replace(row, rules=frozenset())
    assert unseen([blind]) == [("json-control-character", "bolt-json-nul", "2.8.3")]


def test_no_neighbour_breaks_the_rule_it_comes_close_to(played: list[PlayedScript]) -> None:
    wrong = [(row.case, row.version, rule) for row in played for rule in row.rules & _beside(row.case)]
    assert wrong == []


def _beside(case: str) -> set[str]:
    return set(oracle_cases()[case].get("beside", []))


def test_the_comparison_can_fail() -> None:
    ack = {"t": "ack", "tuple": 0}
    error = {"t": "error", "error": "Unknown stream ID: x"}
    assert same_events([ack], [ack])
    assert not same_events([ack], [])
    assert not same_events([ack], [{"t": "ack", "tuple": 1}])
    assert not same_events([error], [{"t": "error", "error": ["java.lang.RuntimeException: boom"]}])
    assert not same_events([{"t": "error", "error": ""}], [{"t": "error", "error": ["boom"]}])
