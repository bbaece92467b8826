"""The feature table: each command in it runs, in a folder as the page says."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, ROOT, mlcheck

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| [^|]+ \| (?:`mlcheck ([^`]+)` )?\|$", PAGE, re.MULTILINE)
COMMANDS = sorted({command for _, command in ROWS if command and not command.startswith("matrix")})
"""Not the matrix, which plays a whole library: it has tests of its own."""
ONE_CASE = ["-k", "bolt.settle.once"]
"""What a row shows of a run is there in one case as in all."""
AT_ONCE = ["--jobs", "4"]
"""A list of known failures is written of all cases alone, most of which wait."""


def test_every_row_has_a_command() -> None:
    assert len(ROWS) > 50
    assert [feature for feature, command in ROWS if not command] == []
    assert "| no: " not in PAGE


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the bolt, made once for all rows that read one."""
    folder = tmp_path_factory.mktemp("recorded")
    shutil.copy(BOLT, folder / "bolt.py")
    recording = ["run", "--record-all", "--record", "talks", *ONE_CASE, "bolt.py"]
    assert mlcheck(*recording, cwd=folder).returncode == 0
    return folder / "talks"


@pytest.mark.component
@pytest.mark.sample(0)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_runs(command: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    shutil.copy(BOLT, tmp_path / "bolt.py")
    if "talks" in command:
        shutil.copytree(request.getfixturevalue("talks"), tmp_path / "talks")
    (tmp_path / "known-failures.txt").touch()
    (tmp_path / "cases.txt").write_text("bolt.settle.once\n", encoding="utf-8")
    flux = ROOT / "examples" / "topologies" / "split-count.yaml"
    replaced = {"topology.yaml": str(flux), "WORD": "heartbeat", "python3": sys.executable}
    words = [replaced.get(word, word) for word in shlex.split(command)]
    if words[0] == "run" and not {"-k", "--write-known-failures"} & {*words}:
        words[1:1] = ONE_CASE
    if "--write-known-failures" in words:
        words[1:1] = AT_ONCE
    ran = mlcheck(*words, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
