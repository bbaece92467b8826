from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multilang_cli.protocol.words.verdicts import Clause
from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.console import pretty_text
from multilang_cli.reports.formats.github import MOST_ANNOTATIONS, file_of, to_github
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.junit import to_junit
from multilang_cli.reports.formats.markdown import to_markdown
from multilang_cli.reports.formats.sarif import to_sarif
from multilang_cli.reports.html.page import to_html
from multilang_cli.reports.model import ComponentReport, ExcerptLine, RunResult, SubjectResult, Untested
from tests.reports.test_reports import same_as_snapshot
from tests.results import (
    ACK_TWICE,
    AGAIN,
    GREEN,
    HOSTILE,
    RESULTS,
    RULEBOOK,
    SKIPPED,
    TWICE,
    WARNED,
    finding,
    result,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.protocol.words.rulebook import Rulebook


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    data: str


def unescaped(text: str, *more: tuple[str, str]) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        text = text.replace(code, character)
    return text


def command_in(line: str) -> Command | None:
    """The command that the runner reads in a line (actions/runner, ActionCommand.cs: the new form, then the old)."""
    new = line.strip()
    end = new.find("::", 2) if new.startswith("::") else -1
    old = line.find("##[")
    if end >= 0:
        head, data = new[2:end], new[end + 2 :]
    elif old >= 0 and "]" in line[old:]:
        head, _, data = line[old + 3 :].partition("]")
    else:
        return None
    name, _, rest = head.partition(" ")
    pairs = (pair.partition("=") for pair in rest.split(",") if pair.strip())
    return Command(name, {k.strip(): unescaped(v, ("%3A", ":"), ("%2C", ",")) for k, _, v in pairs}, unescaped(data))


def commands(run: RunResult) -> list[Command]:
    text = to_github(run, RULEBOOK)
    # The runner's reader ends a line at CR, at LF and at both.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [found for line in lines if (found := command_in(line))]


def annotated(run: RunResult) -> list[Command]:
    return [each for each in commands(run) if each.name in {"error", "warning", "notice"}]


def hostile(text: str) -> RunResult:
    """A result in which everything that a component or a suite may say is `text`."""
    broken = msgspec.structs.replace(finding(ACK_TWICE, text), errors={"2.8.3": text})
    subject = SubjectResult(
        id=text,
        title=text,
        verdict="fail",
        reason=text,
        expected=text,
        clause=Clause(text, text),
        findings=(broken,),
        excerpt=(ExcerptLine(seq=1, t=0.1, channel="out", text=text, mark=True, note=text, at=0),),
        stderr_tail=text,
        transcript=text,
        reproduce=text,
    )
    plain = msgspec.structs.replace(subject, findings=())
    return result(
        subject,
        plain,
        msgspec.structs.replace(plain, verdict="xfail"),
        notes=(text,),
        component=ComponentReport(name=text, command=(text, text), why=text, stderr_tail=text),
        untested=(Untested(reason=text, ids=(text,)),),
        next_command=text,
    )


def test_the_log_of_a_failure() -> None:
    same_as_snapshot("github", to_github(RESULTS["fail"], RULEBOOK))


def test_cases_with_one_cause_are_one_annotation() -> None:
    found = annotated(RESULTS["fail"])
    assert [(each.name, each.properties["title"]) for each in found] == [
        ("error", "FAIL ack-twice (bolt.settle.once and 1 more)"),
        ("warning", "WARN direct-emit (bolt.emit.direct)"),
        ("notice", "1 not tested"),
    ]
    assert found[0].data.splitlines()[0] == "tuple 5 was acked twice"
    assert "Again: mlcheck run bolt.py -k bolt.settle.once" in found[0].data.splitlines()


def test_what_was_not_tested_is_one_annotation_however_many_reasons_there_are() -> None:
    run = result(*GREEN)
    reasons = (Untested(reason="no ticks", ids=("a", "b")), Untested(reason="no samples", ids=("c",)))
    (notice,) = annotated(msgspec.structs.replace(run, untested=reasons))
    assert (notice.name, notice.properties["title"]) == ("notice", "3 not tested")
    assert notice.data.splitlines() == ["no ticks: a, b", "no samples: c"]


@pytest.mark.parametrize(("strict", "level"), [(False, "warning"), (True, "error")])
def test_warnings_that_count_are_errors(strict: bool, level: str) -> None:
    assert [each.name for each in annotated(result(WARNED, strict=strict))] == [level]


def test_stale_and_flaky_are_errors_and_known_failures_a_notice() -> None:
    subjects = [
        SubjectResult(id=f"a.{verdict}", title="t", verdict=verdict, reason=verdict)
        for verdict in ("stale", "flaky", "xfail", "error", "pass")
    ]
    found = annotated(result(*subjects))
    assert sorted(each.name for each in found) == ["error", "error", "error", "notice"]
    assert found[-1].data == "a.xfail"


@pytest.mark.parametrize("name", RESULTS)
def test_a_red_run_has_an_error_and_a_green_one_none(name: str) -> None:
    errors = [each for each in annotated(RESULTS[name]) if each.name == "error"]
    assert bool(errors) is bool(RESULTS[name].exit_code)


def test_a_run_without_a_first_message_says_what_was_said_last() -> None:
    (error,) = [each for each in annotated(RESULTS["silent"]) if each.name == "error"]
    assert error.properties["title"] == "NO FIRST MESSAGE"
    assert "./bolt: not found" in error.data


@pytest.mark.parametrize(("failures", "errors", "more"), [(10, 10, ""), (11, 10, "2 more like these"), (99, 10, "90")])
def test_no_more_than_github_shows(failures: int, errors: int, more: str) -> None:
    subjects = [msgspec.structs.replace(HOSTILE, id=f"c.{n}", findings=(), reason=f"r{n}") for n in range(failures)]
    run = result(*subjects)
    found = annotated(combine([run, result(*GREEN)]))
    assert len(found) == errors == MOST_ANNOTATIONS
    assert found[-1].properties["title"].startswith(more)
    assert [each.name for each in commands(run)].count("group") == failures


def test_every_group_is_closed_before_the_next_opens() -> None:
    names = [each.name for each in commands(RESULTS["fail"]) if "group" in each.name]
    assert names == ["group", "endgroup"] * 2


HOSTILE_TEXTS = [
    "::set-env name=PATH::/evil",
    "  ::stop-commands::x",
    "a\n::add-mask::e\r::endgroup::\u2028::error::x\x85::error::y",
    "##[add-mask]e",
    "##vso[task.complete result=Succeeded;]f",
    "##teamcity[buildStatus status='SUCCESS']",
    "###[set-output name=a]b ##[endgroup]",
    "%0A::error::x%0D%25",
    "\ufeff::error::x\u3000::error::y",
    "a::b,file=/etc/passwd::c",
    "x " * 30 + "::set-env name=a::b",
    "\x1b[31m::error::x",
]


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_component_can_not_give_a_command(text: str) -> None:
    check_harmless(text)


@pytest.mark.long
@settings(max_examples=30)
@given(st.lists(st.sampled_from([*HOSTILE_TEXTS, *"\r\n\u2028 :#[]%,=", "::", "##[", "\x0b\x0c"])).map("".join))
def test_no_text_of_a_component_is_a_command(text: str) -> None:
    check_harmless(text)


def check_harmless(text: str) -> None:
    run = hostile(text)
    found = commands(combine([run, run]))
    plain = commands(combine([hostile("x"), hostile("x")]))
    assert [each.name for each in found] == [each.name for each in plain]
    assert [list(each.properties) for each in found] == [list(each.properties) for each in plain]
    assert not any("##[" in each.data for each in found)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_the_screen_of_a_step_gives_no_command_either(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert not [line for line in pretty_text(hostile(text), RULEBOOK).splitlines() if obeyed(line)]


@pytest.mark.parametrize("form", [to_json, to_junit, to_sarif, to_markdown, to_html])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_other_reports_that_go_to_the_log_give_none(
    form: Callable[[RunResult, Rulebook], str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--report json=-`` in a step: the runner reads each line of it."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert not [line for line in form(hostile(text), RULEBOOK).splitlines() if obeyed(line)]


def obeyed(line: str) -> bool:
    return line.lstrip().startswith("::") or any(f"##{runner}[" in line for runner in ("", "vso", "teamcity"))


def test_percent_signs_and_colons_arrive_as_they_were() -> None:
    subject = SubjectResult(id="a.b", title="50%: a::b, c", verdict="fail", reason="100%25 :,::")
    (error,) = annotated(result(subject))
    assert error.properties["title"] == "FAIL 50%: a::b, c (a.b)"
    assert error.data == "100%25 :,::"


@pytest.mark.parametrize(
    ("command", "cwd", "file"),
    [
        (("python3", "bolt.py"), ".", "bolt.py"),
        (("python3", "sub/bolt.py", "bolt.py"), ".", "sub/bolt.py"),
        (("python3", "own.py"), "sub", "sub/own.py"),
        (("python3", "sub/own.py"), "sub", "sub/own.py"),
        (("python3", "bolt.py"), "sub", ""),
        ((".venv/bin/python", "bolt.py"), ".", "bolt.py"),
        (("node_modules/.bin/tsx", "bolt.py"), ".", "bolt.py"),
        (("python3", "-c", "x" * 5000, "a\0b"), ".", ""),
        (("python3", "../outside.py"), ".", ""),
        (("sub",), ".", ""),
        (("python3", "\x1b[2J.py", "bolt.py"), ".", "bolt.py"),
        ((), ".", ""),
    ],
)
def test_the_file_is_the_users_own(
    command: tuple[str, ...], cwd: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    own = ("bolt.py", "sub/bolt.py", "sub/own.py", "\x1b[2J.py")
    for name in (*own, ".venv/bin/python", "node_modules/.bin/tsx", "../outside.py"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).touch()
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert file_of(ComponentReport(command=command, cwd=cwd), here) == file
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert file_of(ComponentReport(command=command, cwd=cwd), here) == (f"here/{file}" if file else "")


def test_the_file_stands_in_the_annotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert "file" not in annotated(result(TWICE, AGAIN))[0].properties
    (tmp_path / "bolt.py").touch()
    assert annotated(result(TWICE, AGAIN))[0].properties["file"] == "bolt.py"
    assert "file" not in annotated(result(*GREEN, SKIPPED))[0].properties
