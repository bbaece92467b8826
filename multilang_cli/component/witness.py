"""The scripted player that writes down what passes through its pipes: what a host is judged by.

``python -I -S witness.py CASE.json FOLDER``. Into the file ``PID.ndjson`` of FOLDER it writes a line of JSON for each
thing that happens, with its time on the system's monotonic clock: bytes read and written (``in``, ``out``, ``err``, in
hexadecimal), its pid file, the end of its steps, the end of its stdin, SIGTERM. Bytes that stood in its stdin before it
wrote something are noted before that. Whatever a host says, it goes on: what that is worth is judged elsewhere. Where
it can't write, it says why in the file ``unnoted``, which has room for that already, and ends.

A script may have steps beside those of the player: ``{"listen": S}`` reads for S seconds and answers nothing;
``{"deaf": true}``, the last one, is over at once and reads nothing any more: only a signal ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time

sys.path.insert(0, __file__.rpartition("/")[0])

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from multilang_cli.component import player
else:
    import player  # a plain file beside this one

UNREADABLE = {"command": "unreadable"}
"""What stands for a message that is none."""
UNNOTED = "unnoted"
CHANNELS = {1: "out", 2: "err"}
CANT_NOTE = 74
"""Its exit code then: EX_IOERR of sysexits.h."""
ENDED_BY_SIGTERM = 128 + signal.SIGTERM


class Witness(player.Player):
    """Plays `case`, and notes what happens in a file of its own in `folder`."""

    def __init__(self, case: dict[str, Any], folder: str) -> None:
        super().__init__(case)
        path = os.path.join(folder, f"{os.getpid()}.ndjson")  # noqa: PTH118 - pathlib would double the start-up time
        self._unnoted = os.path.join(folder, UNNOTED)  # noqa: PTH118
        try:
            self._notes = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        except OSError as error:
            self._give_up(error)
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)
        self._over = False
        self._note(pid=os.getpid(), argv=sys.argv)
        signal.signal(signal.SIGTERM, self._told_to_end)

    def _note(self, **what: Any) -> None:
        unwritten = memoryview(json.dumps({"t": time.monotonic(), **what}).encode() + b"\n")
        try:
            while unwritten:
                unwritten = unwritten[os.write(self._notes, unwritten) :]
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> NoReturn:
        with contextlib.suppress(OSError):
            os.write(os.open(self._unnoted, os.O_WRONLY), str(error.strerror).encode())
        os._exit(CANT_NOTE)

    def _told_to_end(self, number: int, frame: object) -> None:
        del frame
        self._note(signal=number)
        os._exit(ENDED_BY_SIGTERM)

    def _take(self) -> bytes:
        data = b"" if self._over else super()._take()
        if data:
            self._note(**{"in": data.hex()})
        elif not self._over:
            self._over = True
            self._note(eof=True)
        return data

    def _put(self, descriptor: int, data: bytes) -> None:
        self._listen(0.0)
        self._note(**{CHANNELS[descriptor]: data.hex()})
        super()._put(descriptor, data)

    def _listen(self, seconds: float) -> None:
        """Read what comes within `seconds`, and at least what is there; it is looked at when it is asked for."""
        until = time.monotonic() + seconds
        while not self._over and self._poll.poll(max(0.0, until - time.monotonic()) * 1000):
            self._unread += self._take()

    def _step(self, step: dict[str, Any]) -> None:
        if "listen" in step:
            self._listen(step["listen"])
        elif "deaf" in step:
            self._note(done=True)
            while True:
                signal.pause()
        elif "pidfile" in step:
            self._make_pid_file(step)
        else:
            if "exit" in step:
                self._note(exit=step["exit"])
            super()._step(step)

    def _make_pid_file(self, step: dict[str, Any]) -> None:
        try:
            super()._step(step)
        except (OSError, ValueError):
            self._note(pidfile="missing")
        else:
            self._note(pidfile="missing" if self._pid_dir is None else "empty")

    def _greeted(self) -> str | None:
        message = self._receive()
        found = message.get("pidDir") if isinstance(message, dict) else None
        return found if isinstance(found, str) else None

    def _receive(self) -> Any:
        try:
            message = super()._receive()
        except ValueError:
            return UNREADABLE
        return message if isinstance(message, dict | list) else UNREADABLE

    def _remember(self, kind: str, message: Any) -> None:
        if kind in ("tuple", "heartbeat"):
            identity = message.get("id", "")
            message = {**message, "id": identity if isinstance(identity, str) else json.dumps(identity)}
        super()._remember(kind, message)

    def _rest(self) -> None:
        self._note(done=True)
        super()._rest()


if __name__ == "__main__":
    Witness(player.load_case(sys.argv[1], None), sys.argv[2]).play()
