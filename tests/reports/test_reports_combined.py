from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from multilang_cli.protocol.words.verdicts import Outlook
from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.console import next_command, pretty_text, show_together
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.junit import to_junit
from multilang_cli.reports.formats.registry import FORMATS, Report, write_report
from multilang_cli.reports.model import ComponentReport, RunResult
from multilang_cli.reports.page import Page, make_console
from multilang_cli.reports.verdict import OUTCOMES
from tests.reports.test_reports import VALIDATOR, same_as_snapshot
from tests.results import BASE, GREEN, RESULTS, RULEBOOK, SKIPPED, TWICE, WARNED, from_json, result


def named(name: str, run: RunResult) -> RunResult:
    return msgspec.structs.replace(run, component=msgspec.structs.replace(run.component, name=name))


SPLITTER = named("splitter", result(*GREEN, WARNED, TWICE, SKIPPED))
COUNTER = named("counter", result(*GREEN[:2], component=ComponentReport(command=("./counter.rb", "-v"), kind="bolt")))
BOTH = combine([COUNTER, SPLITTER])


def test_counts_and_durations_are_summed_and_what_was_asked_is_kept() -> None:
    assert BOTH.parts == (COUNTER, SPLITTER)
    assert (BOTH.subjects, BOTH.profile, BOTH.component.command) == ((), None, ())
    assert (BOTH.counts["pass"], BOTH.counts["fail"], BOTH.counts["warn"]) == (5, 1, 1)
    assert BOTH.duration == COUNTER.duration + SPLITTER.duration
    assert (BOTH.suite, BOTH.storm, BOTH.seed, BOTH.started_at) == (BASE.suite, BASE.storm, BASE.seed, BASE.started_at)


@pytest.mark.parametrize("first", OUTCOMES)
@pytest.mark.parametrize("second", OUTCOMES)
def test_the_gravest_part_decides(first: tuple[int, str], second: tuple[int, str]) -> None:
    parts = [msgspec.structs.replace(COUNTER, exit_code=code, verdict=word) for code, word, *_ in (first, second)]
    codes = [130, 5, 2, 3, 4, 1, 6, 0]
    assert combine(parts).exit_code == min(first[0], second[0], key=codes.index)
    assert combine(parts).verdict == min((first, second), key=lambda outcome: codes.index(outcome[0]))[1]


def test_it_is_complete_if_all_parts_are_and_its_outlook_is_the_worst() -> None:
    assert BOTH.complete
    assert not combine([COUNTER, msgspec.structs.replace(COUNTER, complete=False)]).complete
    assert BOTH.outlook == (Outlook("2.8.3", "dies", 3, "ack-twice"),)
    with pytest.raises(ValueError, match="no result"):
        combine([])


def test_json_nests_the_parts_without_their_secrets_and_with_paths_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_report(Report("json", "out/r.json"), BOTH, RULEBOOK, io.StringIO())
    text = Path("out/r.json").read_text("utf-8")
    VALIDATOR.validate(json.loads(text))
    parts = from_json(text).parts
    assert [part.component.name for part in parts] == ["counter", "splitter"]
    assert parts[1].subjects[4].transcript == "../.mlcheck/last/bolt.settle.once.ndjson"
    assert not VALIDATOR.is_valid(json.loads(text) | {"parts": [{}]})


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_it_and_hides_secrets(name: str) -> None:
    stream = io.StringIO()
    write_report(Report(name, "-"), BOTH, RULEBOOK, stream)
    assert "splitter" in stream.getvalue()
    assert "counter" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()
    assert "hunter2" in str(BOTH)


def test_junit_has_a_suite_for_each_part_and_no_two_tests_alike() -> None:
    root = ET.fromstring(to_junit(BOTH, RULEBOOK))  # noqa: S314  # made here
    assert [suite.get("name") for suite in root] == ["counter", "splitter"]
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == int(root.get("tests", "")) == 8
    assert ("splitter.bolt.settle", "bolt.settle.once") in names
    assert (root.get("failures"), root.get("errors"), len(list(root.iter("skipped")))) == ("1", "0", 1)


def test_junit_shows_each_part_that_is_red_for_itself() -> None:
    root = ET.fromstring(to_junit(combine([COUNTER, RESULTS["silent"]]), RULEBOOK))  # noqa: S314  # made here
    assert [suite.get("errors") for suite in root] == ["0", "1"]


def test_pretty_shows_each_part_then_all_together() -> None:
    text = pretty_text(BOTH, RULEBOOK)
    same_as_snapshot("combined", text)
    stream = io.StringIO()
    show_together(Page(make_console(stream, "never", 80)), BOTH)
    assert text.endswith(stream.getvalue())


def test_what_to_type_next_is_about_the_gravest_part() -> None:
    warned = result(WARNED, next_command="look at the warning")
    assert next_command(combine([warned, SPLITTER])) == TWICE.reproduce
    assert next_command(combine([warned, COUNTER])) == "look at the warning"
    assert next_command(combine([COUNTER, COUNTER])) == ""


def test_a_report_of_parts_is_read_back_as_it_was() -> None:
    assert from_json(to_json(BOTH)).parts[1].subjects == SPLITTER.subjects
