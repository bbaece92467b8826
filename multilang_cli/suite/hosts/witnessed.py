"""From the notes of a scripted component to the events of its conversation with a host (``component.witness``)."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING, Any

from multilang_cli.driver.reaper import start_time
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT, Framer
from multilang_cli.protocol.words.events import Chunk, Event, Exited, PidChecked, Signalled, Started, StdinClosed

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.events import Channel, Fact
    from multilang_cli.protocol.words.messages import Message


UNNOTED = "unnoted"
"""The file in which the component says why it can't note anything more: room for that is made before it starts."""
_ROOM = 256


class Witnessed:
    """Notes that the first component of a host has made in `folder`, as events; times count from `began`, on the clock.

    `done`: its script is over. `let_go`: its stdin or it itself has ended. `pid`: None if there is none yet.
    """

    def __init__(self, folder: Path, began: float) -> None:
        self.pid: int | None = None
        self.done = False
        self.let_go = False
        self._folder = folder
        self._began = began
        self._file: Path | None = None
        self._read_to = 0
        self._seq = 0
        self._said = False
        self._framers = {"in": Framer(DEFAULT_LIMIT), "out": Framer(DEFAULT_LIMIT)}
        self._offset = 0
        self._deaf = False

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    @property
    def alive(self) -> bool:
        """True while the component's process is there."""
        return self.pid is not None and bool(start_time(self.pid))

    def update(self) -> list[Event]:
        """The events that were noted since the last time, oldest first."""
        found: list[Event] = []
        for line in self._new_lines():
            note = json.loads(line)
            at = max(0.0, note.pop("t") - self._began)
            for name, value in note.items():
                found += self._events_of(name, value, note, at)
        return found

    @staticmethod
    def make_room(folder: Path) -> None:
        """Make the file in which a component says that it can't note anything. Raises OSError."""
        (folder / UNNOTED).write_bytes(b" " * _ROOM)

    def why_unnoted(self) -> str:
        """The reason that the component could not note what happened, "" if it could."""
        try:
            return (self._folder / UNNOTED).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def event(self, channel: Channel, body: Message | Fact, t: float, raw: bytes = b"", offset: int = 0) -> Event:
        """The next event of the conversation."""
        self._seq += 1
        return Event(self._seq - 1, t, channel, body, raw, offset)

    def gone(self) -> list[Event]:
        """The component has ended: if it noted no reason, it was killed."""
        if self.let_go:
            return []
        self.let_go = True
        return [self.event("process", Signalled(signal.SIGKILL), self.now)]

    def rest(self) -> list[Event]:
        """A message of the host that is not whole by now; nothing it says later can be told apart from it."""
        frame = self._framers["in"].close()
        self._deaf = True
        if frame is None or not frame.raw.strip():
            return []
        return [self.event("in", wire.decode(frame.text), self.now, frame.raw, frame.offset)]

    def _new_lines(self) -> list[bytes]:
        if self._file is None:
            files = sorted(self._folder.glob("*.ndjson"), key=lambda file: file.stat().st_ctime_ns)
            if not files:
                return []
            self._file = files[0]
        with self._file.open("rb") as file:
            file.seek(self._read_to)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to += len(whole) + len(newline)
        return whole.splitlines()

    def _events_of(self, name: str, value: Any, note: dict[str, Any], t: float) -> list[Event]:
        match name:
            case "pid":
                self.pid = value
                return [self.event("process", Started(tuple(note["argv"]), value), t)]
            case "in" | "out":
                return [] if self._deaf and name == "in" else self._frames(name, bytes.fromhex(value), t)
            case "err":
                data = bytes.fromhex(value)
                self._offset += len(data)
                return [self.event("err", Chunk(len(data)), t, data, self._offset - len(data))]
            case "pidfile" if self.pid is not None:
                return [self.event("process", PidChecked(self.pid, "self", value), t)]
            case "eof" | "signal":
                self.let_go = True
                return [self.event("process", Signalled(value) if name == "signal" else StdinClosed(), t)]
            case "exit":
                self.let_go = True
                return [self.event("process", Exited(code=value), t)]
            case "done":
                self.done = True
        return []

    def _frames(self, channel: Channel, data: bytes, t: float) -> list[Event]:
        found = []
        for frame in self._framers[channel].feed(data):
            if channel == "in":
                body: Any = wire.decode(frame.text)
            else:
                body = read_frame(frame, expecting_pid=not self._said)
                self._said = True
            found.append(self.event(channel, body, t, frame.raw, frame.offset))
        return found
