"""The bar of progress at a terminal: it has the time that is left, lines stand above it, and nothing of it stays."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pexpect  # type: ignore[import-untyped]
import pytest

from tests.command import BOLT, ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

PARTS = """
from multilang_cli.terminal.output import progress_line, remark
with progress_line(verbose=False, quiet=False) as progress:
    for done in range(5):
        progress(f"part {done} of a name that is longer than a line of this terminal has place for", done, 4)
        remark(f"a line {done}")
        input()
"""
ERASED = "\x1b[1A\x1b[2K"
"""What rich ends a bar with."""
PIECES = "━╸╺"


def at_terminal(folder: Path, *words: str, term: str = "xterm") -> Any:
    """A Python at a terminal of 60 columns."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MLCHECK_", "COLUMNS"))}
    env |= {"TERM": term, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    return pexpect.spawn(
        sys.executable, list(words), cwd=str(folder), env=env, encoding="utf-8", dimensions=(24, 60), timeout=60
    )


def test_lines_stand_above_it_and_nothing_of_it_stays(tmp_path: Path) -> None:
    child = at_terminal(tmp_path, "-c", PARTS)
    for done in range(5):  # the last part is one more than was promised
        child.expect_exact(f"a line {done}\r\n")
        child.expect_exact(f"{min(done + 1, 4)}/4 ")
        child.expect(rf"(\d+ s left )?part {done} of a name[^\r\n]*…")
        assert bool(child.match[1]) == (done in {2, 3})
        child.send("\r")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert child.before.rpartition(ERASED)[1:] == (ERASED, "")
    assert "5/4" not in child.before


def test_a_run_has_one_that_is_gone_when_its_result_is_shown(tmp_path: Path) -> None:
    child = at_terminal(tmp_path, "-m", "multilang_cli", "run", "--kind", "bolt", "-k", "bolt.heartbeat", BOLT)
    child.expect(r"[1-4]/4 [━╸╺]+")
    child.expect_exact(ERASED)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "PASS" in child.before
    assert not set(PIECES) & set(child.before)


def test_a_terminal_that_can_not_draw_has_none(tmp_path: Path) -> None:
    child = at_terminal(tmp_path, "-c", PARTS, term="dumb")
    for done in range(5):
        child.expect_exact(f"a line {done}\r\n")
        child.send("\r")
    child.expect(pexpect.EOF)
    assert not set(PIECES) & set(child.before)
