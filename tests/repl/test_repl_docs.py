"""docs/repl.md: its session goes as it is told, its tables are those of the code."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from multilang_cli.repl.commands.every import COMMANDS
from tests.command import BOLT, ROOT, mlcheck
from tests.test_docs import INLINE, blocks

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "repl.md").read_text(encoding="utf-8")
CODE = re.compile(r"^\| (\d+) \|", re.MULTILINE)


def plain(line: str) -> str:
    """A line without what is never the same: times, how many bytes a pid makes, and which of two ends came first.

    Whoever is ended may read the end of its stdin before the signal comes.
    """
    line = line.replace("was killed by SIGTERM", "exited with code 0")
    line = re.sub(r"after [\d.]+ m?s\b", "after 0 s", line)
    return re.sub(r" +\d+\.\d{3}", " 0.000", re.sub(r"\d+ bytes", "bytes", line))


@pytest.mark.component
def test_the_session_goes_as_it_is_told(tmp_path: Path) -> None:
    [steps, *_] = blocks(PAGE, "text")
    [screen] = blocks(PAGE, "console")
    command, _, told = screen.partition("\n")
    (tmp_path / "steps.repl").write_text(steps, encoding="utf-8")
    ack = '    send({"command": "ack", "id": message["id"]})\n'
    bolt = tmp_path / "my_bolt.py"
    shutil.copy(BOLT, bolt)
    bolt.write_text(bolt.read_text(encoding="utf-8").replace(ack, ack * 2), encoding="utf-8")
    done = mlcheck(*shlex.split(command)[2:], cwd=tmp_path, COLUMNS="100")
    assert done.returncode == 1
    said = "\n".join(map(plain, done.stdout.splitlines()))
    first, *rest = told.splitlines()
    assert first == "..."
    assert "\n".join(map(plain, rest)) in said
    assert (tmp_path / "bolt.snow-white.yaml").exists()


def test_every_command_is_in_the_table() -> None:
    table = PAGE.partition("| to do what |")[2].partition("\n\n")[0]
    assert set(INLINE.findall(table)) == set(COMMANDS)


def test_the_exit_codes_are_those_of_the_other_page() -> None:
    other = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    section = other.partition("## mlcheck repl\n")[2].partition("\n## ")[0]
    assert CODE.findall(PAGE.partition("## In scripts")[2]) == CODE.findall(section)
