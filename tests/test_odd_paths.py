"""Paths that are not what they should be, such as a file for a folder, or a loop: told in a sentence, exit code 2."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.inputs import _local
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.scaffold.streamparse import components_in
from multilang_cli.subject.recordings import paths_of
from multilang_cli.suite.cases.case import CaseError, load_cases
from multilang_cli.terminal.exits import CommandError, ExitCode
from tests.pages import TWICE, recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMANDS = (
    ("audit", "watch", ".", "-o", "{}"),
    ("audit", "replay", "r.ndjson", "-o", "{}", "--", "cat"),
    ("audit", "run", "r.ndjson", "-o", "{}"),
    ("lint", "r.ndjson", "--report", "json={}"),
    ("report", "r.ndjson", "-o", "{}"),
    ("report", "r.ndjson", "--bundle", "{}"),
    ("tap", "--write-wrapper", "{}", "--", "cat"),
)
PATHS = {"file": "file/below", "loop": "loop", "long": "n" * 300, "empty": ""}
TAKEN = {("audit", "empty"), ("tap", "loop")}
"""The working directory is a folder as good as others; a stand-in takes the place of a link, which is not followed."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    recorded(tmp_path / "r.ndjson", TWICE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "path"),
    [(words, path) for words in COMMANDS for path in PATHS if (words[0], path) not in TAKEN],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_what_cant_be_written_is_no_fault(
    words: tuple[str, ...], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = dispatch([word.format(PATHS[path]) for word in words])
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (ExitCode.MISUSE, 1), said
    assert said.startswith("mlcheck: ")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.ndjson", lambda folder: paths_of("lint", [str(folder)])),
        ("a.ndjson", lambda folder: list(_local(str(folder), []))),
        ("a.yaml", lambda folder: load_cases(extra=(str(folder),))),
        ("topologies/a.py", components_in),
    ],
    ids=["recordings", "audit", "cases", "streamparse"],
)
def test_a_pipe_in_a_folder_is_not_opened(name: str, found: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    with suppress(CommandError, CaseError):
        assert not found(tmp_path)
