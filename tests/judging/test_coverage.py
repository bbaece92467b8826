"""What recordings exercised: every rule says what gives a component the chance to break it, and means it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.catalogue.schemas import load
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.judge.coverage import OCCASIONS, Coverage, covered
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT
from multilang_cli.protocol.words.events import Exited
from tests import notation
from tests.command import mlcheck
from tests.recording import HEADER, sample, written

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind, Rule

RULES = load_rulebook().rules

LIMITED = {"frame-too-long": 40}
"""Bytes of a message beyond which it is too long, where that is what it is about."""

# What the smallest right conversation of a rule leaves out: it does the right thing by not doing what could go wrong.
MISSING: dict[str, set[str]] = {
    "ackers-zero": {"emit-id"},
    "direct-task-unknown": {"direct"},
    "direct-to-plain-stream": {"direct"},
    "message-cut": {"ended"},
    "next-never-sleeps": {"many-nexts"},
    "pid-wrong": {"pid-checked"},
    "reactivation": {"activated-again"},
    "stdin-not-read": {"asked"},
}


def _coverage_of(rule: Rule, transcript: str) -> Coverage:
    kind: Kind = "spout" if rule.kind == "spout" else "bolt"
    profile = example_profile(kind, rule.profile)
    coverage = Coverage(profile)
    events = notation.parse(transcript, LIMITED.get(rule.id, DEFAULT_LIMIT))
    coverage.take(events, judge_of(profile, load_rulebook()).feed_all(events))
    return coverage


@pytest.mark.parametrize("name", RULES)
def test_whoever_breaks_a_rule_has_exercised_it(name: str) -> None:
    rule = RULES[name]
    coverage = _coverage_of(rule, rule.bad)
    assert name in covered(coverage.seen, coverage.broken, coverage.profile, load_rulebook()).exercised


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_is_kept_was_exercised_too(name: str) -> None:
    rule = RULES[name]
    assert rule.occasions
    missing = set(rule.occasions) - _coverage_of(rule, rule.good).seen
    assert missing == MISSING.get(name, set())


def test_every_occasion_is_one_of_a_rule_and_of_the_schema() -> None:
    used = {occasion for rule in RULES.values() for occasion in rule.occasions}
    assert used <= set(OCCASIONS)
    words = load("rule")["properties"]["occasions"]["items"]["enum"]
    assert words == list(OCCASIONS)


def test_a_silent_conversation_exercises_little() -> None:
    profile = example_profile("bolt")
    found = covered((), (), profile, load_rulebook())
    assert found.exercised == ()
    assert found.never["it was sent no heartbeat"] == ("heartbeat-acked", "heartbeat-unanswered")
    assert found.never["it never asked for task ids"] == ()
    assert not any(RULES[name].kind == "spout" for rules in found.never.values() for name in rules)


def test_a_rule_holds_since_its_version() -> None:
    found = covered(("heartbeat",), (), example_profile("bolt", {"storm": "0.8.2"}), load_rulebook())
    assert "heartbeat-acked" not in found.exercised


def test_recordings_are_counted_each_and_together(tmp_path: Path) -> None:
    events = sample()
    (tmp_path / "one.ndjson").write_bytes(written(events))
    short = [event for event in events if not isinstance(event.body, Exited) and event.channel != "err"][:3]
    (tmp_path / "two.ndjson").write_bytes(written(short, HEADER.__class__(conv="c2", profile=HEADER.profile)))
    judged = judge_transcripts([tmp_path / "one.ndjson", tmp_path / "two.ndjson"], load_rulebook(), coverage=True)
    one, two, both = judged.coverage
    assert (one.name, two.name, both.name) == ("c1", "c2", "")
    assert set(one.exercised) | set(two.exercised) == set(both.exercised)
    assert len(two.exercised) < len(one.exercised)
    assert judge_transcripts([tmp_path / "one.ndjson"], load_rulebook()).coverage == ()


@pytest.mark.component
def test_lint_says_what_was_never_exercised(tmp_path: Path) -> None:
    (tmp_path / "one.ndjson").write_bytes(written(sample()))
    ran = mlcheck("lint", "--coverage", "one.ndjson", "--report", "json=it.json", cwd=tmp_path, COLUMNS="200")
    assert re.search(r"c1  \d+ of \d+ rules; ", ran.stdout)
    assert "it was sent no heartbeat  heartbeat-acked, heartbeat-unanswered" in ran.stdout
    assert "Clause" in ran.stdout
    assert mlcheck("schema", "validate", "report", "it.json", cwd=tmp_path).returncode == 0
