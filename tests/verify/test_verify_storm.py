"""``mlcheck verify-storm``: what differs is found, sorted and told; and real Storm does what is recorded of it."""

from __future__ import annotations

import io
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.oracle import VERDICT_FILES, oracle_cases, oracle_verdicts
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.reports.page import make_console
from multilang_cli.verify import verification
from multilang_cli.verify.comparing import VerdictDifference, difference, groups, stable
from multilang_cli.verify.oracle_program import parsed
from multilang_cli.verify.page import render_verification
from multilang_cli.verify.records import render
from multilang_cli.verify.verification import Verification, compare, nearest, record, recorded_versions, sample
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.catalogue.oracle import Case, Verdict

PROGRESS = re.compile(r"^\d+/\d+ \S+  \(\d+ s\)\n", re.MULTILINE)
"""A line each 30 s, where nobody looks."""
VERSIONS = ["0.9.7", "0.10.2", "1.2.4", "2.5.0", "2.8.3"]
ACCEPTED: dict[str, Any] = {"verdict": "accepted", "events": [], "received": ["tuple"]}
DEAD: dict[str, Any] = {**ACCEPTED, "verdict": "rejected", "how": "System.exit(11)", "error": ["boom"]}
CASE: dict[str, Any] = {"case": "a", "kind": "bolt", "steps": []}
RETURNED = {"t": "returned", "call": "next"}
OVER = {"t": "log", "level": "INFO", "msg": "over"}
LATE = ["java.lang.RuntimeException: subprocess heartbeat timeout"]


def with_events(*events: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**ACCEPTED, "events": list(events), **more}


def recorded(cases: list[Case], version: str) -> dict[str, Verdict]:
    return {case["case"]: oracle_verdicts()[case["case"]][version] for case in cases}


def shown(found: Verification, *, verbose: bool = False) -> str:
    stream = io.StringIO()
    render_verification(found, make_console(stream, "never", 100), verbose=verbose)
    return stream.getvalue()


# what differs


@pytest.mark.parametrize(
    ("now", "before"),
    [
        (with_events({"t": "emit", "to": [4]}), with_events({"t": "emit", "to": [5]})),
        (with_events({"t": "stderr", "text": "x"}), with_events()),
        (with_events(received=["heartbeat"]), with_events(received=["heartbeat", "heartbeat"])),
        (with_events(received=[[4, 5]]), with_events(received=[[5, 4]])),
        (with_events(OVER, RETURNED), with_events(OVER)),
        (with_events(OVER, received=["next"]), with_events(OVER, received=["next", [4]])),
        ({**DEAD, "received": []}, DEAD),
        ({**DEAD, "error": ["x exitCode:-1, errorString: a"]}, {**DEAD, "error": ["x exitCode:1, errorString: b"]}),
        (
            {**DEAD, "error": LATE, "events": [OVER, OVER, {"t": "error", "error": LATE}]},
            {**DEAD, "error": LATE, "events": [OVER, {"t": "error", "error": LATE}]},
        ),
        (
            {**DEAD, "error": LATE, "events": [RETURNED, {"t": "error", "error": LATE}]},
            {**DEAD, "error": LATE, "events": [{"t": "error", "error": LATE}]},
        ),
    ],
    ids=str,
)
def test_what_chance_decides_is_no_difference(now: Verdict, before: Verdict) -> None:
    assert now != before
    assert difference({**CASE, "until_log": "over"}, list, now, before) is None


@pytest.mark.parametrize(
    ("now", "before", "title"),
    [
        (ACCEPTED, DEAD, "dies -> survives"),
        (DEAD, ACCEPTED, "survives -> dies"),
        ({**ACCEPTED, "verdict": "hung", "limit_reached": "in next"}, DEAD, "dies -> hangs"),
        (with_events({"t": "emit", "refused": "x"}), with_events({"t": "emit"}), "survives -> loses-data"),
        ({**DEAD, "error": ["bang"]}, DEAD, "the worker dies with another error"),
        ({**DEAD, "how": "thrown from next", "error": ["bang"]}, DEAD, "the worker dies in another way"),
        (with_events({"t": "ack", "tuple": 0}), ACCEPTED, "other calls of the collector"),
        (with_events({"t": "emit", "to": [4]}), with_events({"t": "emit", "to": []}), "other calls of the collector"),
        (with_events(RETURNED), ACCEPTED, "other calls of the collector"),
        (with_events(received=[]), ACCEPTED, "the component is sent something else"),
        (with_events(received=["tuple", [4]]), with_events(received=["tuple", [4, 5]]), "the component is sent"),
    ],
    ids=str,
)
def test_what_storm_decides_is_a_difference(now: Verdict, before: Verdict, title: str) -> None:
    found = difference(CASE, list, now, before)
    assert found is not None
    assert found.title.startswith(title)
    assert {part.key for part in found.parts} <= {"verdict", "how", "error", "events", "received", "limit_reached"}


@pytest.mark.parametrize(("text", "differs"), [('{"id":"$ID0"}{}', False), ('{"id":"$ID0"}', True), ("{}{}", True)])
def test_where_a_message_with_an_id_breaks_is_chance(text: str, differs: bool) -> None:
    now, before = (with_events({"t": "error", "error": [f"Unexpected token at position {at}."]}) for at in (44, 45))
    case = {**CASE, "steps": [{"raw": f"{text}\nend\n"}]}
    assert (difference(case, list, now, before) is not None) == differs


def test_comparing_leaves_verdicts_as_they_are() -> None:
    now = with_events(OVER, {"t": "emit", "to": [4]}, received=["heartbeat", "heartbeat", [4]])
    before = json.loads(json.dumps(now))
    stable(now, "over")
    difference(CASE, list, now, before)
    assert now == before


def test_a_meant_call_that_is_gone_is_lost_data() -> None:
    ack = {"t": "ack", "tuple": 0}
    found = difference(CASE, lambda: [ack], ACCEPTED, with_events(ack))
    assert found is not None
    assert (found.before, found.now) == ("survives", "loses-data")


def test_groups_show_fates_first_and_the_worst_of_them() -> None:
    each: list[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
        (with_events(received=[]), ACCEPTED, ()),
        (ACCEPTED, DEAD, ("r1",)),
        (DEAD, ACCEPTED, ("r2",)),
        ({**DEAD, "error": ["bang\n at x"]}, ACCEPTED, ("r3", "r2")),
        ({**DEAD, "error": ["other"]}, DEAD, ()),
    ]
    found = [difference({**CASE, "case": str(n)}, list, now, was, rules) for n, (now, was, rules) in enumerate(each)]
    sorted_out = groups(each for each in found if each is not None)
    assert [(group.title, [each.case for each in group.differences]) for group in sorted_out] == [
        ("survives -> dies", ["2", "3"]),
        ("dies -> survives", ["1"]),
        ("the worker dies with another error", ["4"]),
        ("the component is sent something else", ["0"]),
    ]
    assert sorted_out[0].rules == ("r2", "r3")
    assert sorted_out[0].errors == (("boom", 1), ("bang", 1))


# which versions and scripts


@pytest.mark.parametrize(
    ("version", "base"),
    [
        ("2.8.3", "2.8.3"),
        ("2.6.4", "2.8.3"),
        ("2.8.0", "2.8.3"),
        ("2.5.1", "2.5.0"),
        ("3.0.0", "2.8.3"),
        ("2.0.0", "2.5.0"),
        ("1.0.0", "0.10.2"),
        ("0.9.3", "0.9.7"),
    ],
)
def test_the_nearest_version_is_below_or_else_above(version: str, base: str) -> None:
    assert nearest(version, VERSIONS) == base


def test_all_verified_versions_are_recorded() -> None:
    assert set(VERSIONS) <= set(recorded_versions())
    assert recorded_versions() == sorted(recorded_versions(), key=parsed)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sample_has_what_differs_and_some_more(version: str) -> None:
    names = {case["case"] for case in sample(version)}
    assert len(oracle_cases()) // 10 <= len(names) < len(oracle_cases()) * 2 // 5
    assert ("bolt-direct-ok" in names) == (version in {"2.5.0", "2.8.3"})


# the comparison


def test_what_is_recorded_agrees_with_itself() -> None:
    cases = list(oracle_cases().values())
    for version in VERSIONS:
        found = compare(version, cases, lambda some, version=version: recorded(some, version))  # type: ignore[misc]
        assert (found.base, found.differences, found.wavering) == (version, (), ())
    assert shown(found) == (
        f"SAME  Storm {version} does the same in {len(cases)} cases, compared with what is recorded.\n"
    )


def test_another_version_is_compared_with_the_nearest() -> None:
    cases = [oracle_cases()[name] for name in ("bolt-ack", "bolt-direct-ok")]
    found = compare("2.5.1", cases, lambda some: recorded(some, "2.8.3"))
    assert found.base == "2.5.0"
    text = shown(found)
    assert "survives -> dies: 1 case (rules direct-emit" in text
    assert "1 now with java.lang.ClassCastException" in text
    assert "compared with Storm 2.5.0, the nearest that is recorded" in " ".join(text.split())
    assert "direct_" not in text
    assert "was" not in text
    assert "was nothing" in shown(found, verbose=True)


def test_what_wavers_is_named_and_is_no_difference() -> None:
    cases = [oracle_cases()[name] for name in ("bolt-ack", "bolt-fail")]
    answers = [{**recorded(cases, "2.8.3"), "bolt-fail": DEAD}, recorded(cases, "2.8.3")]
    asked: list[list[str]] = []

    def asking(some: list[Case]) -> dict[str, Verdict]:
        asked.append([case["case"] for case in some])
        return {case["case"]: answers[len(asked) - 1][case["case"]] for case in some}

    found = compare("2.8.3", cases, asking)
    assert asked == [["bolt-ack", "bolt-fail"], ["bolt-fail"]]
    assert (found.differences, found.wavering) == ((), ("bolt-fail",))
    assert "Note:  1 case differed once and not when asked again: bolt-fail" in shown(found)


def test_a_script_that_names_no_rule_is_shown_all_the_same() -> None:
    part = difference(CASE, list, DEAD, ACCEPTED)
    assert part is not None
    assert isinstance(part, VerdictDifference)
    text = shown(Verification("2.8.3", "2.8.3", {"a": DEAD}, (part,), ()))
    assert "survives -> dies: 1 case\n" in text
    assert "rules" not in text


def test_what_storm_did_as_before_is_shown_by_verbose() -> None:
    found = Verification("2.8.3", "2.8.3", {"a": {**DEAD, "error": ["x: no"]}}, (), ())
    assert "a: rejected" in shown(found, verbose=True)
    assert "  x: no\n" in shown(found, verbose=True)
    assert "rejected" not in shown(found)


# records


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of conformance/oracle that is recorded in."""
    folder = tmp_path / "oracle"
    shutil.copytree(locate.data_path("conformance", "oracle"), folder)
    monkeypatch.setattr(verification, "data_path", lambda *parts: tmp_path.joinpath(*parts[1:]))
    return folder


@pytest.mark.long
def test_only_what_differs_or_is_new_is_recorded(copied: Path) -> None:
    before = {path.name: path.read_bytes() for path in copied.iterdir()}
    cases = [oracle_cases()[name] for name in ("bolt-ack", "bolt-fail")]
    assert record(compare("2.8.3", cases, lambda some: recorded(some, "2.8.3"))) == []
    assert {path.name: path.read_bytes() for path in copied.iterdir()} == before
    changed = compare("2.8.3", cases, lambda some: {**recorded(some, "2.8.3"), "bolt-fail": DEAD})
    assert record(changed) == ["verdicts.json"]
    new, old = json.loads((copied / "verdicts.json").read_bytes()), json.loads(before["verdicts.json"])
    assert new["bolt-fail"] == {**old["bolt-fail"], "2.8.3": DEAD}
    assert {**new, "bolt-fail": None} == {**old, "bolt-fail": None}
    assert record(compare("2.6.4", cases, lambda some: recorded(some, "2.8.3"))) == ["verdicts.json"]
    new = json.loads((copied / "verdicts.json").read_bytes())
    assert list(new["bolt-ack"]) == ["2.8.3", "2.6.4", "2.5.0", "1.2.4", "0.10.2", "0.9.7"]


def test_the_records_stand_as_they_are_written() -> None:
    for name in VERDICT_FILES:
        text = locate.data_path("conformance", "oracle", name).read_text(encoding="utf-8")
        assert render(json.loads(text)) == text, name


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("2.8.3 bolt-akc", "there is no script 'bolt-akc'; did you mean bolt-ack?"),
        ("2.8.3 bolt-ack --sample", "--sample chooses cases itself"),
        ("2.8.3 --jobs 0", "'--jobs'"),
        ("", "Missing argument 'VERSION'"),
    ],
)
def test_misuse(capsys: pytest.CaptureFixture[str], words: str, reason: str) -> None:
    assert dispatch(["verify-storm", *words.split()]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert reason in said.err


# real Storm

real = [pytest.mark.storm, pytest.mark.timeout(600)]


def verdict_of(said: str) -> str:
    return re.sub(r"\s+", " ", said).strip()


class TestRealStorm:
    pytestmark = real

    @pytest.mark.soak
    def test_the_newest_does_in_every_script_what_is_recorded(self, tmp_path: Path) -> None:
        ran = mlcheck("verify-storm", "2.8.3", "--jobs", "2", "--verbose", cwd=tmp_path)
        assert PROGRESS.sub("", ran.stderr) == ""
        assert ran.returncode == 0, ran.stdout
        assert f"Storm 2.8.3 does the same in {len(oracle_cases())} cases" in verdict_of(ran.stdout)

    @pytest.mark.sample(1)
    @pytest.mark.parametrize("version", VERSIONS[::-1])
    def test_a_version_does_in_a_sample_what_is_recorded(self, tmp_path: Path, version: str) -> None:
        ran = mlcheck("verify-storm", version, "--jobs", "2", "--sample", "--verbose", cwd=tmp_path)
        assert PROGRESS.sub("", ran.stderr) == ""
        assert ran.returncode == 0, ran.stdout
        assert f"Storm {version} does the same in {len(sample(version))} cases" in verdict_of(ran.stdout)

    def test_a_wrong_record_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cases = [oracle_cases()[name] for name in ("bolt-ack", "bolt-direct-ok")]
        wrong = oracle_verdicts() | {"bolt-direct-ok": {"2.8.3": oracle_verdicts()["bolt-direct-ok"]["2.5.0"]}}
        monkeypatch.setattr(verification, "oracle_verdicts", lambda: wrong)
        monkeypatch.setattr(verification, "recorded_versions", lambda: ["2.8.3"])
        found = verification.verify("2.8.3", cases, jobs=1)
        assert [(each.case, each.before, each.now) for each in found.differences] == [
            ("bolt-direct-ok", "survives", "dies")
        ]
        assert "survives -> dies: 1 case (rules direct-emit" in shown(found)

    def test_a_version_that_was_never_recorded(self, tmp_path: Path) -> None:
        names = ("bolt-ack", "bolt-direct-ok")
        ran = mlcheck("verify-storm", "2.6.4", *names, "--out", "made.json", cwd=tmp_path)
        assert ran.returncode == 0
        assert "compared with Storm 2.8.3, the nearest that is recorded." in verdict_of(ran.stdout)
        made = json.loads((tmp_path / "made.json").read_bytes())
        assert {name: list(verdicts) for name, verdicts in made.items()} == {name: ["2.6.4"] for name in names}

    def test_a_version_that_does_not_exist(self, tmp_path: Path) -> None:
        ran = mlcheck("verify-storm", "2.99.99", "bolt-ack", cwd=tmp_path)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "there is no Storm 2.99.99 in the repositories that Maven asks" in ran.stderr
