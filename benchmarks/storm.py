"""The other side of a measured conversation: the real ShellBolt or ShellSpout, in a JVM that waits for its turn.

The Java program is Bench of the oracle: Storm's own classes in a worker that is stood in for, without a cluster.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, Literal

from benchmarks import sides
from benchmarks.measure import UnmeasuredError
from multilang_cli.verify.oracle_program import OracleError, build, java

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = "2.8.3"
LIMIT = 120.0
"""Seconds that the start, or a run, may take."""
_FRAME = ("\tat ", "\t... ")
_SHOWN_LINES = 5


@contextmanager
def real_storm(kind: Literal["bolt", "spout"], program: str) -> Iterator[RealStorm]:
    """Real Storm with `program` as its component.

    Raises UnmeasuredError when Java or Maven is missing, or Storm does not start.
    """
    command = _command()
    with tempfile.TemporaryDirectory(prefix="mlcheck-benchmarks-") as folder:
        said, files = Path(folder, "stderr"), Path(folder, "storm")
        files.mkdir()
        pipe = subprocess.PIPE
        with (
            said.open("wb") as stderr,
            subprocess.Popen(
                [*command, kind, files, program], stdin=pipe, stdout=pipe, stderr=stderr, bufsize=0
            ) as jvm,
        ):
            try:
                yield RealStorm(jvm, said)
            finally:
                jvm.kill()


def _command() -> list[str]:
    """The command that starts the program, less its arguments; builds it on first use."""
    try:
        return [*java(VERSION, build(VERSION)), "mlcheck.oracle.Bench"]
    except OracleError as error:
        raise UnmeasuredError(str(error)) from None


class RealStorm:
    """A JVM with a component that has shaken hands; cold at first, so the first runs are to warm it up.

    Every method raises UnmeasuredError when no answer comes.
    """

    def __init__(self, jvm: subprocess.Popen[bytes], said: Path) -> None:
        self._jvm, self._said = jvm, said
        self._component: int = self._answer()["component"]

    def tuples(self, number: int, where: sides.Place) -> tuple[float, float]:
        """Feed a bolt `number` tuples, a multiple of 100, with at most 1000 unacked.

        Returns the seconds until the last ack, and the CPU seconds that the JVM used in them.
        """
        answer = self._asked(number, where)
        return answer["seconds"], answer["cpu_seconds"]

    def calls(self, number: int, where: sides.Place) -> list[int]:
        """Ask a spout for the next tuple `number` times; the nanoseconds that each call took."""
        return list(self._asked(number, where)["nanoseconds"])

    def _asked(self, number: int, where: sides.Place) -> dict[str, Any]:
        sides.place(self._component, where, driver=self._jvm.pid)
        assert self._jvm.stdin is not None
        # A dead JVM is told by its silence, with what it said last.
        with suppress(BrokenPipeError):
            self._jvm.stdin.write(b"%d\n" % number)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._jvm.stdout is not None
        guard = Timer(LIMIT, self._jvm.kill)
        guard.start()
        line = self._jvm.stdout.readline()
        guard.cancel()
        if not line:
            said = self._said.read_text(encoding="utf-8", errors="replace").splitlines()
            last = [each for each in said if each and not each.startswith(_FRAME)][-_SHOWN_LINES:]
            raise UnmeasuredError("\n".join(["real Storm did not answer; the JVM said last:", *last]))
        answer: dict[str, Any] = json.loads(line)
        return answer
