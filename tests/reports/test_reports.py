from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from multilang_cli.protocol.words.verdicts import Finding
from multilang_cli.reports import model
from multilang_cli.reports.escape import decode, decode_at, escape, escape_html, escape_lines, fit, width
from multilang_cli.reports.explaining.explain import render_findings, render_rule
from multilang_cli.reports.formats.console import pretty_text, render_pretty
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.junit import TAGS, to_junit
from multilang_cli.reports.formats.registry import FORMATS, Report, ReportError, parse_reports, write_report
from multilang_cli.reports.model import RunResult, SubjectResult, Verdict
from multilang_cli.reports.page import make_console
from tests.results import ACK_TWICE, GREEN, HOSTILE, RESULTS, RULEBOOK, TWICE, WARNED, from_json, passed, result

HERE = Path(__file__).parents[1]
SNAPSHOTS = HERE / "data" / "reports"
SCHEMA: dict[str, Any] = json.loads((HERE.parent / "schemas" / "report.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def same_as_snapshot(name: str, text: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def ascii_stream() -> tuple[io.BytesIO, io.TextIOWrapper]:
    raw = io.BytesIO()
    return raw, io.TextIOWrapper(raw, encoding="ascii", errors="strict")


@pytest.mark.parametrize("name", RESULTS)
def test_pretty_at_80_columns(name: str) -> None:
    text = pretty_text(RESULTS[name], RULEBOOK)
    same_as_snapshot(name, text)
    assert text == pretty_text(RESULTS[name], RULEBOOK)
    for line in text.splitlines():
        assert width(line) <= 80 or line.lstrip().startswith(("Again:", "Next:", "Record:")), line


@pytest.mark.parametrize("name", ["pretty", "markdown", "github"])
def test_no_storm_version_is_named_where_none_was_asked_for(name: str, tmp_path: Path) -> None:
    """The recordings of an audit have each their own."""
    texts = []
    for storm in ("2.8.3", ""):
        path = tmp_path / f"report{storm}"
        [report] = parse_reports([f"{name}={path}"])
        write_report(report, msgspec.structs.replace(RESULTS["pass"], storm=storm), RULEBOOK, io.StringIO())
        texts.append(path.read_text("utf-8"))
    assert ", Storm 2.8.3" in texts[0]
    assert texts[1] == texts[0].replace(", Storm 2.8.3", "")


def test_a_long_command_line_is_wrapped() -> None:
    long = msgspec.structs.replace(
        RESULTS["fail"].component, command=("python3", *["--flag=value"] * 9), kind="bolt", why="it says so " * 9
    )
    text = pretty_text(msgspec.structs.replace(RESULTS["fail"], component=long), RULEBOOK)
    assert max(width(line) for line in text.splitlines() if "--flag" in line or "it says" in line) <= 80


@pytest.mark.parametrize("name", RESULTS)
def test_pretty_in_ascii(name: str) -> None:
    raw, stream = ascii_stream()
    render_pretty(RESULTS[name], RULEBOOK, make_console(stream, "auto", 80))
    stream.flush()
    assert raw.getvalue().decode("ascii").replace("\n", "").isprintable()


def test_explain_and_lint_at_80_columns() -> None:
    stream = io.StringIO()
    render_rule(ACK_TWICE, RULEBOOK, make_console(stream, "never", 80))
    same_as_snapshot("explain", stream.getvalue())
    stream = io.StringIO()
    conversation = msgspec.structs.replace(TWICE, kind="conversation", id="conv-1")
    render_findings(result(conversation, *passed("conv-2")), RULEBOOK, make_console(stream, "never", 80))
    same_as_snapshot("lint", stream.getvalue())


@pytest.mark.parametrize(
    ("choice", "environment", "colored"),
    [
        ("auto", {}, False),
        ("never", {}, False),
        ("always", {}, True),
        ("always", {"NO_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_only_where_it_is_wanted(
    choice: Any, environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    render_pretty(RESULTS["hostile"], RULEBOOK, make_console(stream, choice, 80))
    assert ("\x1b[" in stream.getvalue()) is colored
    assert "\x1b]" not in stream.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_all_that_was_seen_has_what_was_emitted() -> None:
    emits = msgspec.structs.replace(RESULTS["pass"], emits=('["a", 1] to "default"',))
    assert 'Emits       ["a", 1] to "default"' in pretty_text(emits, RULEBOOK)
    assert "Emits" not in pretty_text(RESULTS["pass"], RULEBOOK)


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_is_coloured_unless_told_not_to(
    environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TERM": "xterm", "NO_COLOR": "", **environment}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    render_pretty(RESULTS["fail"], RULEBOOK, make_console(stream, columns=80))
    assert ("\x1b[" in stream.getvalue()) is colored


@pytest.mark.parametrize("length", [10, 70, 140, 400])
def test_the_pointer_is_under_the_wrong_byte_of_a_message_of_any_length(length: int) -> None:
    text = "a" * length + "!" + "b" * length
    row = model.ExcerptLine(seq=1, t=0.0, channel="out", text=text, mark=True, note="here", at=length)
    lines = pretty_text(result(msgspec.structs.replace(HOSTILE, excerpt=(row,))), RULEBOOK).splitlines()
    (pointer,) = [number for number, line in enumerate(lines) if line.strip() in {"^ here", "^"}]
    assert lines[pointer - 1][lines[pointer].index("^")] == "!"


def test_equal_failures_are_shown_once() -> None:
    text = pretty_text(RESULTS["fail"], RULEBOOK)
    assert text.count("FAIL  bolt.settle") == 1
    assert "the same in 2 cases: also bolt.settle.unicode" in text


def test_many_different_failures_get_a_line_each() -> None:
    subjects = [msgspec.structs.replace(TWICE, id=f"c.{n}", findings=(), reason=f"because {n}") for n in range(9)]
    text = pretty_text(result(*subjects), RULEBOOK)
    assert text.count("Again:") == 5
    assert "  fail   because 8: c.8" in text


@pytest.mark.parametrize("name", RESULTS)
def test_json_is_valid_and_can_be_read_back(name: str) -> None:
    text = to_json(RESULTS[name])
    VALIDATOR.validate(json.loads(text))
    assert text == to_json(RESULTS[name])
    assert text.replace("\n", "").isprintable()
    assert from_json(text).subjects == RESULTS[name].subjects


def test_no_secret_of_conf_reaches_a_report() -> None:
    for name in FORMATS:
        stream = io.StringIO()
        write_report(Report(name, "-"), RESULTS["fail"], RULEBOOK, stream)
        assert "hunter2" not in stream.getvalue()
    assert json.loads(to_json(RESULTS["fail"]))["profile"]["conf"]["topology.message.timeout.secs"] == 30


def test_the_schema_names_and_describes_every_field() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    definitions = SCHEMA["$defs"]
    for struct, shape in [
        (model.RunResult, SCHEMA),
        (model.SubjectResult, definitions["subject"]),
        (model.ExcerptLine, definitions["line"]),
        (model.Exit, definitions["exit"]),
        (Finding, definitions["finding"]),
        (model.ComponentReport, SCHEMA["properties"]["component"]),
        (model.Selection, SCHEMA["properties"]["selection"]),
        (model.Observation, SCHEMA["properties"]["observations"]["items"]),
    ]:
        assert list(shape["properties"]) == list(struct.__struct_fields__)
        assert all("description" in field or "$ref" in field for field in shape["properties"].values())
    assert definitions["verdict"]["enum"] == list(model.VERDICTS)


def test_the_schema_refuses_what_is_no_report() -> None:
    report = json.loads(to_json(RESULTS["pass"]))
    changes: list[dict[str, Any]] = [
        {"exit_code": 7},
        {"verdict": "fine"},
        {"subjects": [{}]},
        {"schema_version": "2.0"},
    ]
    for change in changes:
        assert not VALIDATOR.is_valid(report | change)


def junit(run: RunResult) -> ET.Element:
    text = to_junit(run, RULEBOOK)
    assert text == to_junit(run, RULEBOOK)
    suite = ET.fromstring(text).find("testsuite")  # noqa: S314  # made here
    assert suite is not None
    return suite


@pytest.mark.parametrize("verdict", model.VERDICTS)
def test_junit_says_each_verdict_by_its_element(verdict: Verdict) -> None:
    subject = SubjectResult(id="a.b", title="t", verdict=verdict, reason="because \x00 \x1b<&")
    case = junit(result(*GREEN, subject)).findall("testcase")[len(GREEN)]
    wanted = TAGS[verdict]
    found = {child.tag for child in case}
    assert found == ({wanted} if wanted else {"system-out"} if verdict == "warn" else set())
    assert (case.get("classname"), case.get("name")) == ("a", "a.b")
    if wanted:
        assert case[0].get("message") == "because \\x00 \\x1b<&"


@pytest.mark.parametrize("name", RESULTS)
def test_junit_is_red_exactly_when_the_run_is(name: str) -> None:
    suite = junit(RESULTS[name])
    red = len(suite.findall("testcase/failure")) + len(suite.findall("testcase/error"))
    assert bool(red) is bool(RESULTS[name].exit_code)
    cases = suite.findall("testcase")
    assert int(suite.get("tests", "")) == len(cases)
    assert int(suite.get("failures", "")) + int(suite.get("errors", "")) == red
    assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped"))
    assert suite.get("timestamp") == RESULTS[name].started_at


def test_junit_is_red_for_warnings_that_count() -> None:
    element = junit(result(*GREEN, WARNED, strict=True)).find("testcase/failure")
    assert element is not None
    assert element.get("message", "").startswith("FAIL: 3 passed, 1 warning")


def test_junit_tells_rule_messages_and_stderr() -> None:
    suite = junit(result(HOSTILE))
    failure, err = suite.find("testcase/failure"), suite.find("testcase/system-err")
    assert failure is not None
    assert err is not None
    assert failure.get("type") == "stray-text"
    assert "\\x1b[2J" in (failure.text or "")
    assert (err.text or "").startswith("\\x1b[31mred\\x1b[0m\n")


def test_reports_are_written_whole_with_paths_relative_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reports = parse_reports(["json=out/deep/r.json", "junit=out/r.xml", "pretty=r.txt"])
    for report in reports:
        write_report(report, RESULTS["fail"], RULEBOOK, io.StringIO())
    written = from_json(Path("out/deep/r.json").read_bytes())
    assert written.subjects[4].transcript == "../../.mlcheck/last/bolt.settle.once.ndjson"
    assert sorted(str(path) for path in Path().rglob("*") if path.is_file()) == [
        "out/deep/r.json",
        "out/r.xml",
        "r.txt",
    ]


def test_a_report_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReportError, match="No space left on device"):
        write_report(Report("json", str(path)), RESULTS["pass"], RULEBOOK, io.StringIO())
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]
    assert path.read_text() == "old"


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        (report,) = parse_reports([f"json={pipe}"])
        write_report(report, RESULTS["nothing"], RULEBOOK, io.StringIO())
        assert from_json(os.read(reader, 65536)).exit_code == 4
        assert pipe.is_fifo()
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("specs", "sentence"),
    [
        (["jsn=x"], "--report: there is no format 'jsn'; did you mean json?"),
        (["qqq=x"], "--report: there is no format 'qqq'; known are pretty, json, junit"),
        (["json"], "--report json: a path is missing; write json=PATH, or json=- for stdout"),
        (["json=-", "junit=-"], "--report: two reports go to stdout; give each its own path"),
        (["json=/"], "--report json: / is a directory"),
        ([f"json={__file__}/x"], f"--report json: can't write {__file__}/x: {__file__} is no directory"),
    ],
)
def test_a_report_that_cannot_be_is_refused_in_a_sentence(specs: list[str], sentence: str) -> None:
    with pytest.raises(ReportError) as refused:
        parse_reports(specs)
    assert str(refused.value).startswith(sentence)


@given(st.text(st.characters()), st.integers(80, 200), st.booleans())
def test_nothing_unprintable_passes_and_nothing_is_too_long(text: str, limit: int, ascii_only: bool) -> None:
    shown = fit(text * 20, limit, ascii_only=ascii_only).text
    assert shown.isprintable()
    assert width(shown) <= limit
    assert escape_lines(text).replace("\n", "").isprintable()
    assert not ascii_only or shown.isascii()


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.data())
def test_the_pointer_stays_under_its_character(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    text = text[:at] + "¤" + text[at + 1 :]
    shown, column = fit(text * 1 + "x" * data.draw(st.integers(0, 300)), 90, at=at)
    assert column is not None
    assert any(shown[index] == "¤" and width(shown[:index]) == column for index in range(len(shown)))


def test_what_is_cut_is_counted_in_bytes() -> None:
    shown = fit("世" * 100, 80).text
    assert shown.count("世") * 3 + int(shown.partition("(")[2].split()[0]) == 300


def test_escapes() -> None:
    assert escape('\x1b[2J\x07\x00\r\n\t\x7f\x9b\u202e\xa0\u200b\U000e0041"\\') == (
        '\\x1b[2J\\x07\\x00\\r\\n\\t\\x7f\\u009b\\u202e\\u00a0\\u200b\\U000e0041"\\'
    )
    assert decode(b"\xff\xe4\xb8\x96") == "\\xff世"
    assert decode_at(b"\xff\xe4\xb8\x96x", 4) == ("\\xff世x", 5)
    assert escape_html('<a href="x">\x1b\n&') == "&lt;a href=&quot;x&quot;&gt;\\x1b\n&amp;"
