"""The bar of progress at a terminal: it has the time that is left, lines stand above it, and nothing of it stays."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pexpect  # type: ignore[import-untyped]
import pytest

from tests.command import BOLT, ROOT
from tests.pages import ACKED, recorded

if TYPE_CHECKING:
    from pathlib import Path

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
TESTEE = str(ROOT / "conformance" / "testees" / "component")
SCRIPTS = ("bolt-ack", "bolt-ack-twice", "bolt-direct-ok")


def at_terminal(folder: Path, *words: str, term: str = "xterm") -> Any:
    """A Python at a terminal of 60 columns."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MLCHECK_", "COLUMNS"))}
    env |= {"TERM": term, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    return pexpect.spawn(
        sys.executable, list(words), cwd=str(folder), env=env, encoding="utf-8", dimensions=(24, 60), timeout=60
    )


@pytest.mark.component
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


def _bar(name: str, *words: str, stage: pytest.MarkDecorator = pytest.mark.component) -> Any:
    return pytest.param(words, id=name, marks=stage)


@pytest.mark.sample(0)
@pytest.mark.parametrize(
    "words",
    [
        _bar("run", "run", "--kind", "bolt", "-k", "bolt.heartbeat", "-k", "bolt.settle", BOLT),
        _bar(
            "matrix", "matrix", TESTEE, "-o", "out", "--brief", "-k", "library.bolt.settle", "-k", "library.bolt.emit"
        ),
        _bar("fuzz", "fuzz", "--conversations", "60", "--kind", "bolt", BOLT),
        _bar("host", "host", "-k", "host.bolt", "--", sys.executable, "-m", "multilang_cli.driver"),
        _bar("bench", "bench", "--seconds", "0.2", "--rounds", "3", "--windows", "1,10", BOLT),
        _bar("kafka", "kafka", "demo", "--messages", "12000", stage=pytest.mark.kafka),
        _bar("audit", "audit", "run", "recordings", "-o", "audit", "--master", "local[1]", stage=pytest.mark.spark),
        _bar("verify-storm", "verify-storm", "2.8.3", *SCRIPTS, stage=pytest.mark.storm),
    ],
)
def test_a_command_that_takes_long_has_one_that_is_gone_when_its_result_is_shown(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "recordings").mkdir()
    recorded(tmp_path / "recordings" / "a.ndjson", ACKED)
    child = at_terminal(tmp_path, "-m", "multilang_cli", *words)
    child.expect(rf"\d+/\d+ [{PIECES}]+")
    child.expect(pexpect.EOF, timeout=150)
    child.close()
    _, erased, result = child.before.rpartition(ERASED)
    assert erased
    assert result.strip()
    assert not set(PIECES) & set(result)
    assert child.exitstatus == 0


@pytest.mark.component
def test_a_terminal_that_can_not_draw_has_none(tmp_path: Path) -> None:
    child = at_terminal(tmp_path, "-c", PARTS, term="dumb")
    for done in range(5):
        child.expect_exact(f"a line {done}\r\n")
        child.send("\r")
    child.expect(pexpect.EOF)
    assert not set(PIECES) & set(child.before)
