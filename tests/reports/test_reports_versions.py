"""Reports of several Storm versions: each trouble once and where, one model in every format."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import msgspec
import pytest

from multilang_cli.protocol.words.verdicts import Outlook
from multilang_cli.reports.bundles import bundles, groups_in, labelled, notes_in, rows_of, untested_in_all
from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.console import next_command, pretty_text, show_run, show_together
from multilang_cli.reports.formats.github import to_github
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.junit import NOT_REQUIRED, to_junit
from multilang_cli.reports.formats.markdown import to_markdown
from multilang_cli.reports.formats.registry import FORMATS, Report, write_report
from multilang_cli.reports.model import ComponentReport, Untested
from multilang_cli.reports.page import Page, make_console
from multilang_cli.reports.storm_sentences import with_sentences
from multilang_cli.reports.verdict import Circumstances, conclude
from multilang_cli.reports.versions import show_table
from tests.reports.test_reports import VALIDATOR, same_as_snapshot
from tests.results import GREEN, RULEBOOK, SKIPPED, TWICE, WARNED, from_json, passed, result

if TYPE_CHECKING:
    from multilang_cli.reports.model import RunResult, SubjectResult

SENTENCE = "runs on 1.2.4 to 2.5.0; dies on 2.6 and later: A direct emit kills workers since 2.6 (rule direct-emit)"


def played(storm: str, *subjects: SubjectResult, name: str = "", gates: bool = True) -> RunResult:
    """A run on one version; a direct emit gives a warning only where it does harm."""
    late = storm > "2.6"
    harmless = {WARNED.id: "pass"}
    own = [
        each if late or each.id not in harmless else msgspec.structs.replace(each, verdict="pass", reason="")
        for each in subjects
    ]
    component = ComponentReport(name=name, command=("python3", "bolt.py"), kind="bolt")
    return msgspec.structs.replace(result(*own, storm=storm, component=component), gates=gates)


DIRECT = [played(storm, *GREEN, WARNED, SKIPPED) for storm in ("1.2.4", "2.5.0", "2.8.3")]
WHOLE = with_sentences(combine(DIRECT), RULEBOOK)


def test_the_screen_has_a_column_for_each_version_and_the_sentence_last() -> None:
    text = pretty_text(WHOLE, RULEBOOK)
    same_as_snapshot("versions", text)
    assert text.count("WARN  bolt.emit.direct") == 1
    assert WHOLE.sentences == (SENTENCE,)
    stream = io.StringIO()
    show_run(Page(make_console(stream, "never", 80)), DIRECT, RULEBOOK)
    assert text.startswith(stream.getvalue())
    stream = io.StringIO()
    show_together(Page(make_console(stream, "never", 80)), WHOLE)
    assert text.endswith(stream.getvalue())


def test_rows_are_what_differs_or_is_no_pass() -> None:
    late = [*GREEN[:1], *passed("new.case")]
    rows = rows_of([played("2.5.0", *GREEN, TWICE, SKIPPED), played("2.8.3", *late, TWICE, SKIPPED)])
    ids = {row.id: row.verdicts for row in rows}
    assert ids[TWICE.id] == ("fail", "fail")
    assert ids["new.case"] == (None, "pass")
    assert ids[GREEN[1].id] == ("pass", None)
    assert GREEN[0].id not in ids
    assert SKIPPED.id not in ids


def table(parts: list[RunResult], columns: int) -> list[str]:
    stream = io.StringIO()
    show_table(Page(make_console(stream, "never", columns)), parts)
    return stream.getvalue().splitlines()


def test_a_table_that_is_too_wide_goes_on_below() -> None:
    storms = [f"2.{minor}.0" for minor in range(12)]
    lines = table([played(storm, TWICE) for storm in storms], 60)
    assert max(map(len, lines)) <= 60
    assert [word for line in lines for word in line.split() if word[0] == "2"] == storms
    assert sum(line.count("FAIL") for line in lines) == 12
    assert sum(line.startswith(TWICE.id) for line in lines) == 2


def test_what_is_alike_everywhere_needs_no_table() -> None:
    assert table([played("2.5.0", *GREEN, SKIPPED), played("2.8.3", *GREEN, SKIPPED)], 80)[1:] == [
        "Every case that was tested passed, on all these versions alike."
    ]


def test_equal_troubles_are_one_and_say_where_they_were_met() -> None:
    parts = [played("1.2.4", *GREEN), played("2.5.0", TWICE), played("2.8.3", TWICE, WARNED)]
    fail, warn = groups_in(parts)
    assert (fail.verdict, fail.storms, warn.storms) == ("fail", ("2.5.0", "2.8.3"), ("2.8.3",))
    assert groups_in(parts[1:])[0].storms == ()


def untested(reason: str, *ids: str) -> Untested:
    return Untested(reason=reason, ids=ids)


def test_what_was_not_tested_is_told_by_reason_with_its_versions() -> None:
    parts = [
        msgspec.structs.replace(played(storm), untested=reasons, notes=(f"Storm {storm} was never run", "same"))
        for storm, reasons in {
            "1.2.4": (
                untested("Storm 1.2.4 does not ask", "a", "b"),
                untested("undeclared", "c"),
            ),
            "2.5.0": (
                untested("Storm 2.5.0 does not ask", "a"),
                untested("undeclared", "c", "d"),
            ),
        }.items()
    ]
    assert untested_in_all(parts) == (
        untested("Storm 1.2.4, 2.5.0 does not ask", "a"),
        untested("Storm 1.2.4 does not ask", "b"),
        untested("undeclared", "c"),
        untested("undeclared (Storm 2.5.0)", "d"),
    )
    assert notes_in(parts) == ("Storm 1.2.4, 2.5.0 was never run", "same")
    assert notes_in(parts[:1]) == parts[0].notes


TWO = [
    played(storm, *subjects, name=name)
    for name, subjects in (("good", GREEN), ("bad", (*GREEN, TWICE)))
    for storm in ("2.5.0", "2.8.3")
]
BOTH = with_sentences(combine(TWO), RULEBOOK)


def test_several_components_on_several_versions() -> None:
    assert [(bundle.label, bundle.storms) for bundle in bundles(BOTH)] == [
        ("good", ("2.5.0", "2.8.3")),
        ("bad", ("2.5.0", "2.8.3")),
    ]
    assert [label for label, _ in labelled(BOTH)] == [
        f"{name}, Storm {storm}" for name in ("good", "bad") for storm in ("2.5.0", "2.8.3")
    ]
    assert [sentence.partition(": ")[0] for sentence in BOTH.sentences] == ["good", "bad"]
    assert (BOTH.exit_code, BOTH.storm) == (1, "2.5.0, 2.8.3")
    text = pretty_text(BOTH, RULEBOOK)
    assert "Together, 2 components, 2 Storm versions" in text
    assert text.count("FAIL  bolt.settle.once") == 1


def test_the_same_version_twice_is_two_components() -> None:
    assert [bundle.storms for bundle in bundles(combine([DIRECT[0], DIRECT[0]]))] == [("1.2.4",), ("1.2.4",)]


@pytest.mark.parametrize("whole", [WHOLE, BOTH], ids=["one", "two"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_it_and_hides_secrets(name: str, whole: RunResult) -> None:
    stream = io.StringIO()
    write_report(Report(name, "-"), whole, RULEBOOK, stream)
    assert "hunter2" not in stream.getvalue()
    assert "2.5.0" in stream.getvalue()
    if name != "junit":
        assert "runs on" in stream.getvalue()


@pytest.mark.parametrize("whole", [WHOLE, BOTH], ids=["one", "two"])
def test_json_holds_to_its_schema_and_is_read_back(whole: RunResult) -> None:
    text = to_json(whole)
    VALIDATOR.validate(json.loads(text))
    again = from_json(text)
    assert (again.sentences, [part.storm for part in again.parts]) == (
        whole.sentences,
        [part.storm for part in whole.parts],
    )
    assert not VALIDATOR.is_valid(json.loads(text) | {"sentences": [1]})
    assert not VALIDATOR.is_valid(json.loads(text) | {"gates": "no"})


def test_junit_has_a_suite_a_version_and_no_two_tests_alike() -> None:
    root = ET.fromstring(to_junit(BOTH, RULEBOOK))  # noqa: S314  # made here
    assert [suite.get("name") for suite in root] == [label for label, _ in labelled(BOTH)]
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == int(root.get("tests", ""))


OPTIONAL = combine([played("2.5.0", *GREEN), played("2.8.3", *GREEN, TWICE, gates=False)])


def test_what_is_not_required_is_shown_and_does_not_count() -> None:
    assert (OPTIONAL.exit_code, OPTIONAL.verdict, OPTIONAL.counts["fail"]) == (0, "conformant", 1)
    root = ET.fromstring(to_junit(OPTIONAL, RULEBOOK))  # noqa: S314  # made here
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    (skipped,) = root.iter("skipped")
    assert (skipped.get("message") or "").startswith(f"{NOT_REQUIRED}: tuple 5 was acked twice")
    github = to_github(OPTIONAL, RULEBOOK)
    assert "::error" not in github
    assert "::warning title=FAIL ack-twice" in github
    assert "FAIL  Storm 2.8.3: 3 passed, 1 failed  in 3.1s (it does not count)" in github
    assert "(does not count)" in to_markdown(OPTIONAL, RULEBOOK)
    assert "(it does not count)" in pretty_text(OPTIONAL, RULEBOOK)


def test_what_is_required_counts_and_comes_next() -> None:
    warned = played("2.8.3", msgspec.structs.replace(WARNED, reproduce="look here"))
    parts = [msgspec.structs.replace(played("2.5.0", TWICE), gates=False), warned]
    assert combine(parts).exit_code == 0
    assert next_command(combine(parts)) == "look here"
    assert next_command(combine([played("2.5.0", TWICE), warned])) == TWICE.reproduce


def test_an_interrupt_counts_wherever_it_was() -> None:
    cut = conclude(played("2.5.0", *GREEN, gates=False), Circumstances(interrupted=True))
    assert combine([cut, played("2.8.3", *GREEN)]).exit_code == 130


def test_the_outlook_of_the_whole_is_the_worst_of_all_versions() -> None:
    assert BOTH.outlook == (Outlook("2.8.3", "dies", 3, "ack-twice"),)
