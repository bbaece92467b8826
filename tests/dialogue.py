"""Storm's side of a conversation, by hand: for tests of components that speak over real pipes."""

from __future__ import annotations

import json
import subprocess
import tempfile
from typing import IO, TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEARTBEAT: dict[str, Any] = {"id": "-1", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []}
SYNC = {"command": "sync"}


def frame(*messages: Any) -> bytes:
    """Messages as Storm writes them."""
    return b"".join(
        json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\nend\n" for message in messages
    )


def tuple_message(identity: str, *values: Any) -> dict[str, Any]:
    """A tuple for a bolt."""
    return {"id": identity, "comp": "src", "stream": "default", "task": 2, "tuple": list(values)}


class Dialogue:
    """A component as a child process. As a context manager it leaves no process behind."""

    def __init__(self, argv: Sequence[str], pid_dir: Path, env: dict[str, str] | None = None) -> None:
        self.pid_dir = pid_dir
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, env=env, bufsize=0
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin = self.process.stdin
        self.stdout = open(self.process.stdout.fileno(), "rb", closefd=False)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.stdin, self.stdout, self.process.stdout, self._stderr):
            assert stream
            stream.close()

    def write(self, data: bytes) -> None:
        """Write bytes to the component's stdin, whole."""
        unsent = memoryview(data)
        while unsent:
            unsent = unsent[self.stdin.write(unsent) or 0 :]

    def send(self, *messages: Any) -> None:
        """Send messages in one write."""
        self.write(frame(*messages))

    def read(self) -> Any:
        """Return the component's next message; fails the test at its end."""
        lines = []
        while (line := self.stdout.readline()) != b"end\n":
            assert line.endswith(b"\n"), f"stdout ended after {line!r}; stderr: {self.stderr}"
            lines.append(line)
        return json.loads(b"".join(lines).decode())

    def read_some(self, count: int) -> list[Any]:
        """Return the next `count` messages."""
        return [self.read() for _ in range(count)]

    def hello(self) -> dict[str, Any]:
        """Storm's first message."""
        return {"conf": {"topology.workers": 1}, "context": {"taskid": 3}, "pidDir": str(self.pid_dir)}

    def shake_hands(self) -> int:
        """Play the handshake; return the pid that the component says it has."""
        self.send(self.hello())
        pid: int = self.read()["pid"]
        return pid

    def finish(self) -> list[Any]:
        """Close stdin; return what the component still says, and check that it exits with status 0."""
        self.stdin.close()
        rest = self.stdout.read()
        assert self.process.wait() == 0, self.stderr
        return [json.loads(part) for part in rest.decode().split("\nend\n")[:-1]]

    @property
    def stderr(self) -> str:
        """All that the component wrote to stderr so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode()
