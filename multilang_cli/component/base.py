"""Common parts of bolts and spouts: the handshake, and the commands that both may send."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from multilang_cli.component.wire import Json, Wire, encode, open_stdio

TRACE, DEBUG, INFO, WARN, ERROR = range(5)
"""The levels of `Component.log`, as Storm numbers them."""
_SYNC = encode({"command": "sync"})


class ShellComponent:
    """A shell component. Subclass `Bolt`, `BasicBolt` or `Spout`, then call `run`."""

    _wire: Wire

    def initialize(self, conf: dict[str, Json], context: dict[str, Json]) -> None:
        """Prepare the work: called once, after the handshake and before anything else.

        `conf` is the configuration of topology and cluster merged; `context` tells which task this is, and its streams.
        """

    def run(self) -> None:
        """Talk to Storm until it closes the pipe; then exit with status 0, as the end of a worker asks."""
        self._wire = open_stdio()
        self._handshake()
        while True:
            self._turn()

    def log(self, msg: str, level: int = INFO) -> None:
        """Write a line to the worker's log. `level` is one of TRACE, DEBUG, INFO, WARN, ERROR."""
        self._write({"command": "log", "msg": _sendable(msg), "level": level})

    def report_error(self, msg: str) -> None:
        """Show an error in Storm's UI and log. It fails no tuple and stops nothing."""
        self._write({"command": "error", "msg": _sendable(msg)})

    def metric(self, name: str, params: Json) -> None:
        """Update a metric that the topology's Java code registered under `name`; an unknown name kills the worker."""
        self._write({"command": "metrics", "name": name, "params": params})

    def _turn(self) -> None:
        raise NotImplementedError

    def _handshake(self) -> None:
        hello = self._read()
        pid = os.getpid()
        # The file comes first, so that whoever reads the answer finds it.
        Path(hello["pidDir"], str(pid)).touch()
        self._write({"pid": pid})
        try:
            self.initialize(hello["conf"], hello["context"])
        except Exception:
            self.report_error(traceback.format_exc())
            raise

    def _read(self) -> Json:
        # SystemExit passes through a user's ``except Exception``; EOFError would be caught there, and the loop go on.
        try:
            return self._wire.read()
        except EOFError:
            raise SystemExit(0) from None

    def _write(self, message: Json, *, more: bool = False) -> None:
        self._send(encode(message), more=more)

    def _sync(self) -> None:
        self._send(_SYNC)

    def _send(self, message: bytes, *, more: bool = False) -> None:
        try:
            self._wire.write(message, more=more)
        except BrokenPipeError:
            raise SystemExit(0) from None


def _sendable(text: str) -> str:
    # A message about bad data often quotes it: lone surrogates, which UTF-8 cannot carry, must not be a second error.
    return text.encode(errors="backslashreplace").decode()
