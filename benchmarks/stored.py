"""A component process whose answers are stored bytes: what Storm's side does is measured, without a component."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from multilang_cli.driver.pipes import READY, Ready

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.protocol.words.events import Exited

_STDIN, _STDOUT = READY[1], READY[2]


class StoredProcess:
    """The part of `ComponentProcess` that a session uses while nothing goes wrong; `calls` counts calls of the system.

    `answers`: what each read gives. One can be read only after something was written since the last, as a component
    answers what it was sent.
    """

    argv = ("stored",)
    pid = 1
    pid_dir = Path("/nowhere")
    listening = True

    def __init__(self, answers: Iterable[bytes]) -> None:
        self._answers = iter(answers)
        self._asked = False
        self.calls = 0

    @classmethod
    def of(cls, answers: Iterable[bytes]) -> ComponentProcess:
        """A stored process where a real one is asked for."""
        return cast("ComponentProcess", cls(answers))

    def poll(self, _: float | None, *, want_write: bool) -> Ready:
        """Say that stdin can be written if that is asked, else that stdout can be read."""
        self.calls += 1
        return _STDIN if want_write else _STDOUT

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Take all of `data`."""
        self.calls += 1
        self._asked = True
        return len(data)

    def read_stdout(self, _: int = 0) -> bytes:
        """The next answer, if anything was written since the last; b"" else."""
        self.calls += 1
        if not self._asked:
            return b""
        self._asked = False
        return next(self._answers)

    def exchange(self, data: bytes, _: float) -> bytes:  # noqa: ARG002
        """The next answer, for three calls of the system: write, poll, read."""
        self.calls += 3
        return next(self._answers)

    def stdout_unread(self) -> int:
        """Nothing waits that was not read."""
        return 0

    stdin_unread = stdout_unread

    def exited(self) -> Exited | None:
        """It never ends by itself."""
        return None
