"""Paths that are not what they should be, such as a file for a folder, or a loop: told in a sentence, exit code 2."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.inputs import find
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.reports.explaining.worker_log import MOST_LINE, bounded_lines
from multilang_cli.scaffold.streamparse import components_in
from multilang_cli.subject.recordings import paths_of
from multilang_cli.suite.cases.case import CaseError, load_cases
from multilang_cli.terminal.exits import CommandError, ExitCode
from tests.command import ROOT
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
    "words",
    [("report", "r.ndjson", "--bundle", "pipe"), ("shrink", "r.ndjson", "-o", "pipe", "--", "cat")],
    ids=" ".join,
)
def test_what_is_no_file_is_not_replaced_by_one(
    words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even by root: a device is lost for the whole machine then."""
    os.mkfifo(folder / "pipe")
    code = dispatch(words)
    assert (code, "is no file" in capsys.readouterr().err) == (ExitCode.MISUSE, True)
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


@pytest.mark.parametrize("words", [("lint", "r.ndjson"), ("config", "show"), ("init",), ("run", "bolt.py")])
def test_a_working_directory_that_is_gone_is_named(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert dispatch(words) == ExitCode.MISUSE
    assert "the working directory is gone" in capsys.readouterr().err


def test_an_endless_device_is_no_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", "--log", "/dev/zero"]) == ExitCode.MISUSE
    assert "a device, which may have no end" in capsys.readouterr().err


def test_of_a_line_without_an_end_no_more_is_held_than_is_looked_at() -> None:
    file = StringIO(f"a\n{'b' * (3 * MOST_LINE)}\n{'c' * MOST_LINE}")
    lines = list(bounded_lines(file))
    assert [(line[:1], len(line)) for line in lines] == [("a", 2), ("b", MOST_LINE), ("c", MOST_LINE)]


@pytest.mark.component
def test_a_tap_needs_no_working_directory_where_its_component_needs_none(tmp_path: Path) -> None:
    tap = [sys.executable, "-m", "multilang_cli", "tap", "--record", str(tmp_path), "--kind", "bolt", "--", "cat"]
    ran = subprocess.run(
        ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", *tap],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input="hello\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "hello\n"), ran.stderr


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.ndjson", lambda folder: paths_of("lint", [str(folder)])),
        ("a.ndjson", lambda folder: find([str(folder)]).transcripts),
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
