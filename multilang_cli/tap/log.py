"""The tap's own log: a line for each finding, gap and failure. stdout and stderr belong to the component."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from multilang_cli.reports.escape import fit
from multilang_cli.transcript.private import make_private, open_private
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOG_LINE = 2000
"""Characters of a line, whose middle is left out if it is longer."""


class TapLog:
    """Lines with their wall-clock time, without secrets of conf and harmless to look at. Never raises.

    What comes before `open` is kept until then. `verbose`: stderr is told too.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._redactor = Redactor({})
        self._file: IO[str] | None = None
        self._early: list[str] = []
        self._opened = False

    def open(self, path: Path, conf: dict[str, Any], words: Sequence[str] = ()) -> None:
        """Write to `path` from now on. `conf`, and `words` of the command: where the secrets are."""
        self._redactor = Redactor(conf, words=words)
        self._opened = True
        with suppress(OSError):
            make_private(path.parent)
            self._file = open_private(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)
        for line in self._early:
            self._write(line)
        self._early.clear()

    def line(self, text: str) -> None:
        """Add a line."""
        stamped = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {text}"
        if self._opened:
            self._write(stamped)
        else:
            self._early.append(stamped)

    def clean(self, text: str) -> str:
        """`text` without the secrets of conf."""
        return self._redactor.line(text.encode("utf-8", "backslashreplace").decode())

    def words(self, words: Sequence[str]) -> list[str]:
        """A command without secrets."""
        return list(self._redactor.words(words))

    def close(self) -> None:
        """No more lines."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _write(self, line: str) -> None:
        shown = fit(self.clean(line), LOG_LINE).text
        if self._verbose:
            with suppress(OSError):
                sys.stderr.write(f"mlcheck tap: {shown}\n")
                sys.stderr.flush()
        if self._file is not None:
            with suppress(OSError):
                self._file.write(f"{shown}\n")


def say_on_stderr_of(pid: int, text: str) -> None:
    """Write one line to the stderr of another process, if that takes it at once. Never raises.

    It is opened for that line only: who held it would keep Storm waiting for its end. Linux has it in /proc.
    """
    with suppress(OSError):
        fd = os.open(f"/proc/{pid}/fd/2", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            os.write(fd, f"{fit(text, LOG_LINE).text}\n".encode("utf-8", "backslashreplace"))
        finally:
            os.close(fd)
