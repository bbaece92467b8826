"""The scripted player: a component that says what a script tells it to, right or wrong.

``python -m multilang_cli.component.player CASE.json [NAME]``, or ``python -I -S player.py CASE.json [NAME]``. The file
holds one case, or a list of cases of which NAME is chosen by its key ``case``. The format is that of the oracle's
scripts: see ``conformance/oracle``. It imports next to nothing, so that it starts fast, and nothing from this package,
so that it runs as a plain file.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would take longer than all the rest
    from typing import Any

    Json = Any

READ_AT_ONCE = 1 << 16
DESCRIPTORS = {"stdin": 0, "stdout": 1}
COMMANDS = ("next", "ack", "fail", "activate", "deactivate")


def load_case(path: str, name: str | None) -> dict[str, Json]:
    """Return the case in the file at `path`, or the one called `name` in its list. Raises KeyError if there is none."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib would double the start-up time
        found: Json = json.load(file)
    if isinstance(found, list):
        found = {case["case"]: case for case in found}[name]
    return dict(found)


def kind_of(message: Json) -> str:
    """Name what Storm sent: taskids, heartbeat, tuple, next, ack, fail, activate or deactivate."""
    if isinstance(message, list):
        return "taskids"
    if "command" in message:
        return str(message["command"])
    heartbeat = message.get("stream") == "__heartbeat" and message.get("task") == -1
    return "heartbeat" if heartbeat else "tuple"


class Player:
    """Plays one case to its end, then goes on reading until Storm closes the pipe."""

    def __init__(self, case: dict[str, Json]) -> None:
        self._case = case
        self._auto = case.get("auto", True)
        self._unread = bytearray()
        self._pid_dir: str | None = None
        self._names = {"PID": str(os.getpid())}
        self._tuples = 0

    def play(self) -> None:
        """Play handshake and steps. Ends the process when Storm closes the pipe (SystemExit)."""
        if not self._case.get("noread"):
            self._pid_dir = self._greeted()
        for step in self._case.get("handshake", [{"pidfile": True}, {"msg": {"pid": os.getpid()}}]):
            self._step(step)
        for step in self._case["steps"]:
            self._step(step)
        self._rest()

    def _greeted(self) -> str | None:
        """Read the handshake; the pid directory that it names."""
        return str(self._receive()["pidDir"])

    def _rest(self) -> None:
        """Read on after the last step. Ends the process when Storm closes the pipe (SystemExit)."""
        if self._case.get("noread"):
            _wait_for_hangup()
        while True:
            self._read_until(None)

    def _step(self, step: dict[str, Json]) -> None:
        match step:
            case {"read": kind}:
                self._read_until(kind)
            case {"sleep": seconds}:
                time.sleep(seconds)
            case {"exit": code}:
                os._exit(code)
            case {"kill": signal}:
                os.kill(os.getpid(), signal)
            case {"close": stream}:
                _close(DESCRIPTORS[stream])
            case {"stderr": text}:
                self._put(2, text.encode() * step.get("times", 1))
            case {"pidfile": True} if self._pid_dir is not None:
                os.close(os.open(os.path.join(self._pid_dir, str(os.getpid())), os.O_CREAT | os.O_WRONLY, 0o644))  # noqa: PTH118
            case {"pidfile": _}:
                pass
            case _:
                self._put(1, self._bytes(step))

    def _bytes(self, step: dict[str, Json]) -> bytes:
        match step:
            case {"msg": message}:
                return self._fill(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\nend\n")
            case {"raw": text}:
                return self._fill(text) * int(step.get("times", 1))
            case {"cat": parts}:
                pairs = [(part, 1) if isinstance(part, str) else part for part in parts]
                return b"".join(self._fill(text) * times for text, times in pairs)
            case {"hex": digits}:
                return bytes.fromhex(digits)
            case _:
                raise ValueError(f"unknown step: {step}")

    def _fill(self, text: str) -> bytes:
        # The longest names first: $ID1 is the beginning of $ID10.
        for name in sorted(self._names, key=len, reverse=True) if "$" in text else ():
            text = text.replace("$" + name, self._names[name])
        return text.encode("utf-8", "surrogatepass")

    def _read_until(self, wanted: str | None) -> None:
        """Read until a message of the wanted kind (None: for ever), answering the others as a good component does."""
        while True:
            message = self._receive()
            kind = kind_of(message)
            self._remember(kind, message)
            if wanted in (kind, "any"):
                return
            if self._auto and kind in ("heartbeat", *COMMANDS):
                self._put(1, b'{"command":"sync"}\nend\n')

    def _remember(self, kind: str, message: Json) -> None:
        if kind == "tuple":
            self._names[f"ID{self._tuples}"] = message["id"]
            self._tuples += 1
        elif kind == "heartbeat":
            self._names["HBID"] = message["id"]
        elif kind in COMMANDS:
            identity = message.get("id", "")
            self._names["CMDID"] = identity if isinstance(identity, str) else json.dumps(identity)

    def _receive(self) -> Json:
        lines: list[bytes] = []
        while (line := self._line()) != b"end":
            lines.append(line)
        return json.loads(b"\n".join(lines))

    def _line(self) -> bytes:
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            piece = self._take()
            if not piece:
                raise SystemExit(0)
            self._unread += piece
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line.rstrip(b"\r")

    def _take(self) -> bytes:
        """Read what stands in stdin, waiting for it; empty at its end."""
        return os.read(0, READ_AT_ONCE)

    def _put(self, descriptor: int, data: bytes) -> None:
        """Write all of `data`; once nobody reads it any more, nothing."""
        _write(descriptor, data)


def _write(descriptor: int, data: bytes) -> None:
    unsent = memoryview(data)
    try:
        while unsent:
            unsent = unsent[os.write(descriptor, unsent) :]
    except BrokenPipeError:
        pass  # Storm no longer listens; the script goes on, and the end of stdin ends it


def _close(descriptor: int) -> None:
    # The number stays taken, or the next file opened would become stdin or stdout.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, descriptor)
    os.close(nothing)


def _wait_for_hangup() -> None:
    import select  # noqa: PLC0415 - needed by next to no script

    poll = select.poll()
    poll.register(0, 0)
    poll.poll()
    raise SystemExit(0)


def main(arguments: list[str]) -> None:
    """Play the case that the arguments name; exit with 0 when Storm closes the pipe, whatever was played."""
    path, name = [*arguments, None][:2]
    if path is None:
        sys.exit("usage: player.py CASE.json [NAME]")
    try:
        case = load_case(path, name)
    except KeyError as missing:
        sys.exit(f"player.py: there is no case {missing} in {path}")
    Player(case).play()


if __name__ == "__main__":
    main(sys.argv[1:])
