"""``mlcheck host``: hosts that are right pass, each planted bug breaks the rule that is about it."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue import feed_file, locate, schemas
from multilang_cli.catalogue.loader import load_rulebook, load_rules, problems
from multilang_cli.cli.commands import COMMANDS
from multilang_cli.driver.launch import resolve
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.suite.hosts.case import load_host_cases
from multilang_cli.suite.hosts.run import HostPlan
from multilang_cli.suite.hosts.suite import HostOptions, judge_host
from tests.command import ROOT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import RunResult

OURS = (sys.executable, "-m", "multilang_cli.driver")
SMALL = (sys.executable, str(ROOT / "tests" / "mutants" / "host.py"))
CASES = {case.id: case for case in load_host_cases()}
RULES = {rule.id for rule in load_rules().values() if "feed" in rule.profile}
VERIFIED = [version.id for version in load_rulebook().versions if version.verified]

# By mutant: the rule that it breaks, and a case that shows it.
MUTANTS = {
    "no-end": ("host-end", "host.bolt.handshake"),
    "no-handshake": ("host-handshake", "host.spout.handshake"),
    "config": ("host-handshake", "host.bolt.handshake"),
    "empty-conf": ("host-conf", "host.bolt.handshake"),
    "latin": ("host-conf", "host.spout.handshake"),
    "task-text": ("host-context", "host.spout.handshake"),
    "no-pid-dir": ("host-pid-dir", "host.bolt.handshake"),
    "impatient": ("host-early", "host.bolt.values"),
    "strange-task": ("host-task-ids", "host.bolt.task-ids.off"),
    "always-ids": ("host-task-ids-extra", "host.bolt.task-ids.off"),
    "no-ids": ("host-task-ids-missing", "host.spout.task-ids"),
    "survives-direct": ("host-goes-on", "host.bolt.direct"),
    "forgiving": ("host-goes-on", "host.bolt.dies.ack-twice"),
    "endless": ("host-goes-on", "host.bolt.dies.no-json"),
    "dies-of-errors": ("host-gives-up", "host.bolt.goes-on"),
    "ids-as-text": ("host-settle-id", "host.spout.ids"),
    "unsynced": ("host-unsynced", "host.spout.next"),
    "other-words": ("host-unreadable", "host.spout.next"),
    "calls-twice": ("host-call-extra", "host.spout.ids"),
    "no-activate": ("host-call-missing", "host.spout.next"),
    "no-acks": ("host-call-order", "host.spout.ids"),
    "same-id": ("host-tuple-id", "host.bolt.tuples"),
    "id-number": ("host-tuple-id", "host.bolt.values"),
    "values-as-text": ("host-tuple", "host.bolt.values"),
    "reversed": ("host-tuple-order", "host.bolt.tuples"),
    "twice": ("host-tuple-extra", "host.bolt.values"),
    "drops-last": ("host-tuple-missing", "host.bolt.values"),
    "beat-task": ("host-heartbeat", "host.bolt.heartbeats"),
    "no-beat": ("host-heartbeat-missing", "host.bolt.heartbeats"),
    "orphans": ("host-leaves", "host.bolt.stop"),
    "acks-anything": ("host-settle-extra", "host.spout.ids"),
    "asks-while-inactive": ("host-inactive", "host.spout.activation"),
    "ticks-unasked": ("host-tick", "host.bolt.tuples"),
    "stranger": ("host-source", "host.bolt.tuples"),
    "patient": ("host-goes-on", "host.spout.timeout"),
    "punishes-idle": ("host-gives-up", "host.spout.idle"),
    "only-syncs": ("host-gives-up", "host.bolt.busy"),
}
SHORT = 0.3
"""Limits for a host that is known to let them run out: six seconds."""


def judged(command: tuple[str, ...], record: Path, *cases: str, storm: str = "", **more: Any) -> RunResult:
    rulebook = load_rulebook(storm)
    env = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
    plan = HostPlan(
        command=command,
        launch=resolve(command, record, env),
        cwd=record,
        env=env,
        version=rulebook.version(storm),
        rulebook=rulebook,
        record=record / "record",
        **more,
    )
    return judge_host(plan, HostOptions(include=cases, jobs=2))


def broken(result: RunResult) -> set[str]:
    return {finding.rule for subject in result.subjects for finding in subject.findings}


# the files


@pytest.mark.parametrize("name", CASES)
def test_a_host_case_holds_to_its_schema_and_makes_a_feed_that_does(name: str) -> None:
    assert problems(locate.data_path("conformance", "cases", "host", f"{name}.yaml"), "host-case") == []
    for storm in VERIFIED:
        profile = CASES[name].profile_for(load_rulebook().version(storm), 1.0)
        written = feed_file.written(name, profile)
        assert schemas.explain(json.loads(written), "feed") == []


def test_a_feed_is_read_as_it_was_written(tmp_path: Path) -> None:
    for case in CASES.values():
        profile = case.profile_for(load_rulebook().newest, 1.0)
        file = tmp_path / "feed.json"
        file.write_bytes(feed_file.written(case.id, profile))
        read = feed_file.read(file)
        assert read.feed == profile.feed
        assert feed_file.written(case.id, read) == file.read_bytes()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No such file"),
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"{}", "is missing"),
        (b"[]", "an array, not object"),
        (b'{"version":"1.0","kind":"sink"}', "none of|is missing"),
    ],
)
def test_what_is_no_feed_is_a_sentence(tmp_path: Path, text: bytes | None, why: str) -> None:
    if text is not None:
        (tmp_path / "feed.json").write_bytes(text)
    with pytest.raises(feed_file.FeedError, match=why):
        feed_file.read(tmp_path / "feed.json")


def test_every_rule_of_hosts_is_broken_by_a_mutant() -> None:
    assert {rule for rule, _ in MUTANTS.values()} == RULES


# hosts that are right


@pytest.mark.component
def test_our_own_shell_classes_pass(tmp_path: Path) -> None:
    result = judged(OURS, tmp_path, record_all=True)
    assert [(each.id, each.verdict, each.reason) for each in result.subjects if each.verdict != "pass"] == []
    assert len(result.subjects) == len(CASES)
    assert result.exit_code == 0


@pytest.mark.component
@pytest.mark.parametrize("storm", [version for version in VERIFIED if version != "2.8.3"])
def test_our_own_shell_classes_pass_as_other_versions(tmp_path: Path, storm: str) -> None:
    chosen = ("host.bolt.handshake", "host.bolt.direct", "host.bolt.goes-on", "host.spout.activation", "host.spout.ids")
    result = judged(OURS, tmp_path, *chosen, storm=storm)
    bad = [(each.id, each.reason) for each in result.subjects if each.verdict not in {"pass", "skip"}]
    assert bad == []
    skipped = [each.id for each in result.subjects if each.verdict == "skip"]
    assert skipped == ([] if storm in {"2.5.0", "1.2.4"} else ["host.spout.activation"])


@pytest.mark.component
def test_a_small_host_that_knows_nothing_of_mlcheck_passes(tmp_path: Path) -> None:
    result = judged(SMALL, tmp_path)
    assert [(each.id, each.verdict, each.reason) for each in result.subjects if each.verdict != "pass"] == []


# hosts that are wrong


@pytest.mark.component
@pytest.mark.sample(6)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_breaks_its_rule(tmp_path: Path, mutant: str) -> None:
    rule, case = MUTANTS[mutant]
    result = judged(SMALL, tmp_path, case, env={"MLCHECK_MUTANT": mutant}, patience=SHORT)
    assert rule in broken(result)
    assert result.exit_code == 1
    (subject,) = result.subjects
    assert subject.verdict == "fail"
    assert subject.transcript is not None
    again = judge_transcripts([subject.transcript], load_rulebook())
    assert [msgspec.to_builtins(each) for each in again.subjects[0].findings] == [
        msgspec.to_builtins(each) for each in subject.findings
    ]


@pytest.mark.component
def test_a_command_that_starts_no_component_is_no_host(tmp_path: Path) -> None:
    ran = mlcheck("host", "-k", "host.bolt.stop", "--patience", "0.1", "--", "true", cwd=tmp_path)
    assert ran.returncode == 3
    assert "the host started no component" in ran.stdout
    assert "ended without a handshake" in ran.stdout
    assert "nothing for" not in ran.stdout
    ran = mlcheck("host", "--", "./nowhere", cwd=tmp_path)
    assert ran.returncode == 3
    assert "nowhere" in refusal(ran)


@pytest.mark.component
def test_the_command_line_says_what_is_wrong(tmp_path: Path) -> None:
    for arguments, code, text in [
        (("-k", "host.bolt.nothing", "--", "true"), 4, "no host case matches 'host.bolt.nothing'"),
        (("--storm", "9.9", "--", "true"), 2, "there is no Storm version '9.9'"),
        (("--report", "xml=-", "--", "true"), 2, "xml"),
        (("--patience", "0", "--", "true"), 2, "patience"),
        ((), 2, "COMMAND"),
    ]:
        ran = mlcheck("host", *arguments, cwd=tmp_path)
        assert ran.returncode == code, ran.stderr
        assert text in refusal(ran)


@pytest.mark.component
def test_the_report_has_a_schema_and_names_the_suite(tmp_path: Path) -> None:
    ran = mlcheck("host", "-k", "host.spout.next", "--report", "json=-", "--", *SMALL, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert schemas.explain(result, "report") == []
    assert result["suite"]["name"] == "host"
    assert not (tmp_path / ".mlcheck" / "last" / "host.spout.next.ndjson").exists()


def test_the_page_names_every_rule_and_what_a_host_is_given() -> None:
    page = (ROOT / "docs" / "host.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(host-[a-z-]+)`", page)) == RULES
    assert "MLCHECK_FEED" in page
    assert "host" in COMMANDS
