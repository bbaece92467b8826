"""The notation of the examples in rules: a conversation as people write it down, one event a line.

==================  ====================================================================================
``> JSON``          Storm writes: a tuple, task ids, a command, or a handshake
``< text``          the component writes that line, then a line ``end``
``<raw "text"``     the component writes exactly the bytes of the JSON string, in UTF-8
``<hex 7b22``       the component writes these bytes
``2> N``            N bytes of stderr
``2>text "text"``   the text of the JSON string, on stderr
``! JSON``          a fact, as ``protocol.words.events`` has it: ``{"event": "exited", "code": 1}``
``@ 31.5``          the clock, in seconds, for what follows
``* 8000 < text``   the event that follows, as often as the number says; ``* 9 > a ; < b``: several in turn
==================  ====================================================================================

Unless the text begins with a handshake (or with the fact that the process started), a sound one is put in front. What
is written without a line ``end`` stays in the pipe, until stdout is closed.
"""

from __future__ import annotations

import json
from itertools import repeat
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT, TERMINATOR, Frame, Framer
from multilang_cli.protocol.words.events import (
    Activation,
    Barrier,
    Channel,
    Chunk,
    Deadline,
    End,
    Event,
    Exited,
    Fact,
    Gap,
    Redacted,
    StdoutClosed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.messages import Message

PROLOGUE = """\
! {"event": "started", "argv": ["component"], "pid": 1}
> {"conf": {}, "pidDir": "/pids", "context": {}}
< {"pid": 1}
! {"event": "pid-checked", "pid": 1, "relation": "self", "file": "empty"}
"""
"""The handshake of a component that does it right."""

_KNOWN_BY_THE_DRIVER = (Activation, Barrier, Deadline, End, Gap, Redacted)
_decode_fact: Any = msgspec.json.Decoder(Fact).decode


class NotationError(ValueError):
    """A line that is no event: the message names its number and says why."""


def parse(text: str, limit: int = DEFAULT_LIMIT) -> list[Event]:
    """The events of a conversation in this notation. `limit`: bytes that a message may have. Raises NotationError."""
    starts_with_handshake = text.startswith(('> {"conf"', '! {"event": "started"'))
    writer = _Writer(limit)
    if not starts_with_handshake:
        for line in PROLOGUE.splitlines():
            writer.line(line)
    for number, line in enumerate(text.splitlines(), 1):
        try:
            for each in _repeated(line):
                writer.line(each)
        except (ValueError, msgspec.MsgspecError) as error:
            raise NotationError(f"line {number}: {error}: {line[:80]}") from None
    return writer.events


def _repeated(line: str) -> Iterator[str]:
    mark, _, rest = line.partition(" ")
    times, _, repeated = rest.partition(" ")
    for part in repeat(repeated.split(" ; "), int(times)) if mark == "*" else ([line],):
        yield from part


class _Writer:
    def __init__(self, limit: int) -> None:
        self.events: list[Event] = []
        self._clock = 0.0
        self._framer = Framer(limit)
        self._read = 0
        self._written = 0
        self._said = False

    def line(self, line: str) -> None:
        """Take one line: its mark says whose it is. Raises ValueError for what can't be read."""
        mark, _, rest = line.partition(" ")
        match mark:
            case "":
                return
            case ">":
                self._storm(rest)
            case "<":
                self._component(rest.encode() + b"\nend\n")
            case "<raw":
                self._component(_string(rest).encode())
            case "<hex":
                self._component(bytes.fromhex(rest))
            case "2>":
                self._complain(b"." * int(rest))
            case "2>text":
                self._complain(_string(rest).encode())
            case "!":
                self._fact(_decode_fact(rest.encode()))
            case "@":
                self._clock = float(rest)
            case _:
                raise ValueError("no such mark")

    def _add(self, channel: Channel, body: Message | Fact, raw: bytes = b"", offset: int = 0) -> None:
        self.events.append(Event(len(self.events), self._clock, channel, body, raw, offset))

    def _complain(self, data: bytes) -> None:
        self._add("err", Chunk(len(data)), data, self._read)
        self._read += len(data)

    def _storm(self, rest: str) -> None:
        raw = rest.encode() + TERMINATOR
        self._add("in", wire.decode(rest.encode()), raw, self._written)
        self._written += len(raw)

    def _component(self, data: bytes) -> None:
        for frame in self._framer.feed(data):
            self._frame(frame)

    def _frame(self, frame: Frame) -> None:
        body = read_frame(frame, expecting_pid=not self._said)
        self._said = True
        self._add("out", body, frame.raw, frame.offset)

    def _fact(self, fact: Fact) -> None:
        rest = self._framer.close() if isinstance(fact, Exited | StdoutClosed) else None
        if rest is not None:
            self._frame(rest)
        channel: Channel = "control" if isinstance(fact, _KNOWN_BY_THE_DRIVER) else "process"
        self._add(channel, fact)


def _string(text: str) -> str:
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError("not a JSON string")  # noqa: TRY004 (what is wrong is the text)
    return value
