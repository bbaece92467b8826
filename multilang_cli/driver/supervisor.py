"""Supervision of a program of ours that is no component, such as a JVM: it never outlives mlcheck."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.driver.reaper import COOKIE_PREFIX, REAPER, remove_tree, sweep
from multilang_cli.driver.scratch import make_registered

if TYPE_CHECKING:
    from pathlib import Path

_SWEEP_SECONDS = 10.0
_MOST_SAID = 64 * 1024 * 1024
"""Bytes that are read of what a program says."""


class Supervisor:
    """Holds a program that works in a folder of its own. Nothing of both outlives mlcheck, however that ends.

    The folder, of this prefix, is made in `folder`, else among temporary files. Raises OSError.
    """

    def __init__(self, prefix: str, folder: Path | None = None) -> None:
        self._cookie, self.folder = make_registered(prefix, folder)

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        """Start it; `options`: where its output goes, as subprocess.Popen wants it."""
        with REAPER.starting:
            process = subprocess.Popen(
                command,
                env={**os.environ, COOKIE_PREFIX + self._cookie: "1"},
                start_new_session=True,
                encoding="utf-8",
                errors="replace",
                **{"stdin": subprocess.DEVNULL, **options},
            )
            REAPER.started(self._cookie, process.pid)
        return process

    def end(self, process: subprocess.Popen[str]) -> None:
        """End it and what it started, and remove the folder."""
        groups = {process.pid} if process.poll() is None else set()
        sweep(groups, (f"{COOKIE_PREFIX}{self._cookie}".encode(),), {}, _SWEEP_SECONDS)
        process.communicate()
        remove_tree(str(self.folder))
        REAPER.ended(self._cookie)


class Finished(NamedTuple):
    """A program that has ended: its exit code, and what it said on stdout and stderr."""

    code: int
    out: bytes
    err: bytes


def finish(command: list[str], seconds: float) -> Finished:
    """Run a program that runs code of strangers to its end, and end what it leaves. Raises OSError, TimeoutExpired.

    What it says goes to files: a pipe would be waited for as long as any descendant holds it, and fill our memory.
    """
    supervisor = Supervisor("mlcheck-run-")
    out, err = supervisor.folder / "out", supervisor.folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = supervisor.start(command, stdout=stdout, stderr=stderr)
    try:
        code = process.wait(seconds)
        return Finished(code, _said(out), _said(err))
    finally:
        supervisor.end(process)


def _said(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_SAID)
