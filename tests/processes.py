"""Tiny real components for the tests of processes, and waiting for what they do without a sleep."""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.driver import reaper
from multilang_cli.driver.process import ComponentProcess, private_pid_dir

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 60.0
PYTHON = (sys.executable, "-I", "-S", "-u", "-c")


def start(*argv: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> ComponentProcess:
    return ComponentProcess.start(
        argv, cwd=cwd or Path.cwd(), env=dict(os.environ) if env is None else env, pid_dir=private_pid_dir()
    )


def until(true: Callable[[], bool]) -> bool:
    """Look again and again, in small pauses, until something is true; False if it never is."""
    deadline = time.monotonic() + LIMIT
    nothing = select.poll()
    while not true():
        if time.monotonic() > deadline:
            return False
        nothing.poll(2)
    return True


def read_line(process: ComponentProcess) -> bytes:
    """Read one line of stdout."""
    line = b""
    deadline = time.monotonic() + LIMIT
    while not line.endswith(b"\n") and time.monotonic() < deadline:
        process.poll(1, want_write=False)
        data = process.read_stdout()
        if data is None:
            break
        line += data
    return line


def read_all(process: ComponentProcess) -> bytes:
    """Read stdout to its end, stderr on the way."""
    parts: list[bytes] = []
    deadline = time.monotonic() + LIMIT
    open_pipes = {"out", "err"}
    while open_pipes and time.monotonic() < deadline:
        ready = process.poll(1, want_write=False)
        if ready.stdout:
            data = process.read_stdout()
            parts.append(data or b"")
            open_pipes -= {"out"} if data is None else set()
        if ready.stderr and process.read_stderr() is None:
            open_pipes.discard("err")
    assert not open_pipes, "a pipe stayed open"
    return b"".join(parts)


def gone(pid: int) -> bool:
    return until(lambda: not reaper.start_time(pid))


def shown_on(terminal: int) -> str:
    """All that is written to a pseudo terminal, of which this is our end, until nobody has it open; it is closed."""
    shown = b""
    try:
        while data := os.read(terminal, 65536):
            shown += data
    except OSError:  # Linux's end of file of a terminal that nobody has open any more
        os.close(terminal)
    return shown.decode()
