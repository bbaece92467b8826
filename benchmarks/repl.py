"""What ``mlcheck repl`` costs until hands are shaken, and until its prompt stands, against a Python doing nothing."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from functools import partial
from statistics import median
from typing import NamedTuple

from benchmarks import sides
from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved

ROUNDS = 7
PATIENCE = 60.0
"""Seconds until the prompt has to stand."""
_NOTHING = "python -c pass"
_SHAKEN = "repl, started, hands shaken and ended, from a pipe"
_PROMPT = "repl, until its first prompt at a terminal"


class Spent(NamedTuple):
    """Seconds of CPU time, the component's included, and of wall time."""

    cpu: float
    wall: float


def run() -> Result:
    """Measure how the REPL begins."""
    folder = str(sides.folder())
    bolt = sides.compiled("echo_bolt")
    argv = [sys.executable, "-m", "multilang_cli", "repl", "--kind", "bolt", "--record", folder, bolt]
    measures = {
        _NOTHING: partial(_until_end, [sys.executable, "-c", "pass"], folder),
        _SHAKEN: partial(_until_end, argv, folder),
        _PROMPT: partial(_until_prompt, argv, folder),
    }
    taken = interleaved(ROUNDS, measures)
    figures = tuple(
        Figure.of_rounds(
            what,
            [spent.cpu * 1000 for spent in taken[what]],
            _NOTHING,
            [spent.cpu * 1000 for spent in taken[_NOTHING]],
            unit="ms",
            better="lower",
        )
        for what in (_SHAKEN, _PROMPT)
    )
    wall = ", ".join(f"{what} {median(spent.wall for spent in taken[what]) * 1000:.0f} ms" for what in taken)
    notes = (f"CPU time, median of {ROUNDS} interleaved rounds, modules compiled before", f"wall time: {wall}")
    return Result("repl", "not placed: CPU time is compared", figures, notes)


def _environment(folder: str) -> dict[str, str]:
    """Ours, with compiled modules kept as where mlcheck is installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder, "XDG_STATE_HOME": folder, "TERM": "xterm"}


def _until_end(argv: list[str], folder: str) -> Spent:
    began = time.perf_counter()
    child = subprocess.Popen(
        argv, env=_environment(folder), cwd=sides.HERE.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    return _reaped(child, began)


def _until_prompt(argv: list[str], folder: str) -> Spent:
    """The end costs some CPU time as well."""
    ours, theirs = pty.openpty()
    began = time.perf_counter()
    try:
        child = subprocess.Popen(
            argv, env=_environment(folder), cwd=sides.HERE.parent, stdin=theirs, stdout=theirs, stderr=theirs
        )
        stood = _stands(ours, began + PATIENCE)
        wall = time.perf_counter() - began
        child.send_signal(signal.SIGTERM)
        spent = _reaped(child, began)
    finally:
        os.close(ours)
        os.close(theirs)
    if not stood:
        raise UnmeasuredError(f"the REPL showed no prompt within {PATIENCE:g} s.")
    return Spent(spent.cpu, wall)


def _stands(terminal: int, until: float) -> bool:
    shown = b""
    while b"\x1b[?2004h" not in shown:  # prompt_toolkit asks for pastes in brackets: its prompt stands
        if not select.select([terminal], [], [], max(0.0, until - time.perf_counter()))[0]:
            return False
        shown += os.read(terminal, 65536)
    return True


def _reaped(child: subprocess.Popen[bytes], began: float) -> Spent:
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Spent(used.ru_utime + used.ru_stime, time.perf_counter() - began)
