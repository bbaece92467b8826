"""What commands say beside their reports: nothing in it moves the cursor, or is obeyed by the runner of a workflow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.subject.outputs import write_json
from multilang_cli.terminal.output import complain, remark, remark_note, write

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE = "\x1b[31ma\x9b2J\x07\u202eb\r"
OBEYED = (
    *("::error::x", "  ::set-output name=a::b", "a ##[error]x", "a\n::error::x"),
    *("a ##vso[task.complete result=Succeeded;]", "##VSO[x]", "a ##teamcity[buildStatus status='SUCCESS']"),
)
RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


@pytest.mark.parametrize("say", [write, remark, complain])
def test_nothing_that_is_said_moves_the_cursor(say: Callable[[str], object], capsys: Any) -> None:
    say(f"{HOSTILE}\tc\nd")
    said = "".join(capsys.readouterr())
    assert all(line.isprintable() for line in said.replace("\t", "").split("\n"))
    assert "\\x1b[31ma\\x9b2J\\x07\\u202eb" in said


def test_lines_and_tabs_stay(capsys: Any) -> None:
    write("a\tb\nc\n")
    assert capsys.readouterr().out == "a\tb\nc\n"


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("text", OBEYED)
@pytest.mark.parametrize("say", [write, remark, complain, lambda text: write_json([text])])
def test_nothing_that_is_said_is_a_command_of_a_workflow(
    say: Callable[[str], object], text: str, runner: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in RUNNERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(runner, "true")
    say(text)
    said = "".join(capsys.readouterr())
    obeyed = re.compile(r"^\s*::|##(vso|teamcity)?\[", re.IGNORECASE)
    assert not [line for line in said.splitlines() if obeyed.search(line)]


def test_elsewhere_it_stays_what_it_is(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in RUNNERS:
        monkeypatch.delenv(name, raising=False)
    write("::a ##[b]\n")
    assert capsys.readouterr().out == "::a ##[b]\n"


def test_a_complaint_is_bounded(capsys: Any) -> None:
    complain(f"{'a' * 1_000_000} is no name")
    said = capsys.readouterr().err
    assert len(said) < 4100
    assert said.endswith("is no name.\n")


def test_a_note_on_stderr_is_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    path = f"/{'long/' * 20}"
    remark_note(
        f"taken out of its environment, for no Storm worker has it: PYTHONUNBUFFERED (--env NAME keeps it), {path}"
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Note: taken out of its environment")
    assert {line[:2] for line in lines[1:]} == {"  "}
    assert [line for line in lines if len(line) > 80] == [f"  {path}"]
