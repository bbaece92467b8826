"""Lists in columns: a line a row where they are piped, and no line wider than a terminal."""

from __future__ import annotations

import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from typing import TYPE_CHECKING

import pytest

from multilang_cli.terminal.table import in_columns
from tests.command import ROOT
from tests.processes import shown_on

if TYPE_CHECKING:
    from pathlib import Path

SHORT = [("ack-twice", "must", "acks a tuple that is settled already, " * 3), ("bom", "note", "")]
LONG = [("a-name-" * 5, "0.9.7", "must", "what it says and what comes of it, " * 3)]


@pytest.mark.parametrize("rows", [SHORT, LONG, [], [("one", "word" * 40)]], ids=["beside", "below", "none", "no blank"])
def test_a_list_is_no_wider_than_the_screen_and_loses_no_word(rows: list[tuple[str, ...]]) -> None:
    shown = in_columns(rows, 80)
    assert max(map(len, shown.splitlines()), default=0) <= 80
    assert "".join(shown.split()) == "".join("".join(cell.split()) for row in rows for cell in row)


def test_the_last_column_hangs_below_itself_or_below_the_others() -> None:
    assert in_columns(SHORT, 80).splitlines()[1].startswith(" " * 17 + "settled")
    assert in_columns(LONG, 80).splitlines()[1].startswith("    what")


def test_a_piped_list_has_a_line_for_each_row() -> None:
    assert [len(in_columns(rows, None).splitlines()) for rows in (SHORT, LONG, [])] == [2, 1, 0]


@pytest.mark.component
@pytest.mark.parametrize(
    "command", ["list rules", "list cases", "list host-cases", "list protocol", "list versions", "list --kills", "docs"]
)
def test_lists_of_commands_fit_a_terminal(command: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "multilang_cli", *command.split()]
    with subprocess.Popen(argv, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        said = shown_on(ours)
    lines = said.replace("\r\n", "\n").splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80
