"""What whoever starts mlcheck leaves to it, and to components: ignored and blocked signals, odd sizes and streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, ROOT, mlcheck

if TYPE_CHECKING:
    from pathlib import Path

STARTED = """
import os, signal, sys
how, numbers, *words = sys.argv[1:]
for number in map(int, numbers.split(",")):
    if how == "ignored":
        signal.signal(number, signal.SIG_IGN)
    else:
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
os.execv(sys.executable, [sys.executable, "-m", "multilang_cli", *words])
"""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM)


@pytest.mark.component
@pytest.mark.parametrize("how", ["ignored", "blocked"])
def test_signals_that_our_parent_ignores_or_blocks_are_none_of_a_components(how: str, tmp_path: Path) -> None:
    words = ("run", "--strict", "--kind", "bolt", "-k", "end.sigterm", BOLT)
    numbers = ",".join(str(int(number)) for number in SIGNALS)
    ran = subprocess.run(
        [sys.executable, "-c", STARTED, how, numbers, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert "1 passed" in ran.stdout


@pytest.mark.component
@pytest.mark.parametrize("size", ["9" * 5000, "9" * 12, "\u00b2", "\u0663", "-1", "0", "x"], ids=range(7))
def test_no_size_of_a_terminal_is_a_fault(size: str, tmp_path: Path) -> None:
    ran = mlcheck("explain", "ack-twice", cwd=tmp_path, COLUMNS=size, LINES=size)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert max(map(len, ran.stdout.splitlines())) < 120


@pytest.mark.component
@pytest.mark.parametrize("command", [("list", "rules"), ("explain", "ack-twice"), ("explain", "ack-twice", "--json")])
def test_a_stdout_that_cant_be_written_is_told(command: tuple[str, ...], tmp_path: Path) -> None:
    ran = subprocess.run(
        ["bash", "-c", 'exec "$@" 1</dev/null', "bash", sys.executable, "-m", "multilang_cli", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (2, "mlcheck: stdout can't be written: Bad file descriptor.\n")
