"""Reads conversations back, with the exact bytes: from files that were closed, cut by a kill, shared or in parts."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol import wire
from multilang_cli.protocol.events import Chunk, Event, Gap
from multilang_cli.protocol.framing import Frame, frame_text
from multilang_cli.protocol.reading import read as read_text
from multilang_cli.protocol.reading import read_frame
from multilang_cli.transcript.format import (
    CHANNELS,
    FRAMES,
    EndLine,
    EventLine,
    Header,
    TranscriptError,
    check_version,
    decode_fact,
    decode_header,
    decode_line,
    is_newer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.events import Channel
    from multilang_cli.protocol.messages import FromComponent, FromStorm, Malformed

_OPENING = b'{"transcript":'
_BAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Happened(msgspec.Struct, frozen=True, gc=False):
    """One event of the conversation `conv`."""

    conv: str
    event: Event


class Cut(msgspec.Struct, frozen=True):
    """The last line of a writer that was killed: what it held is lost. `line` from 1, `size` in bytes."""

    path: str
    line: int
    size: int


Entry = Header | Happened | EndLine | Cut
"""What one line of a transcript says."""


def read(*paths: Path | str) -> Transcript:
    """The one conversation in `paths`, which may be its parts in any order.

    Raises OSError; TranscriptError if there is none, or, while it is read, if there is a second one.
    """
    return Transcript(*paths)


class Transcript:
    """One conversation: its first `header`, and its events by iterating, once.

    Afterwards `ends` has the end line of each part that was closed, and `cut` what was cut, None if nothing was.
    """

    def __init__(self, *paths: Path | str) -> None:
        self.path = str(paths[0])
        self.ends: list[EndLine] = []
        self.cut: Cut | None = None
        self._entries = entries(*paths)
        first = next(self._entries, None)
        if not isinstance(first, Header):
            raise TranscriptError(self.path, 0, "no conversation: the file stops before the end of its first line")
        self.header: Header = first

    def __iter__(self) -> Iterator[Event]:
        for entry in self._entries:
            if isinstance(entry, Happened):
                yield entry.event
            elif isinstance(entry, EndLine):
                self.ends.append(entry)
            elif isinstance(entry, Cut):
                self.cut = entry
            elif entry.conv != self.header.conv or entry.part == 1:
                raise TranscriptError(self.path, 0, f"a second conversation, {entry.conv!r}, where one was expected")


def entries(*paths: Path | str) -> Iterator[Entry]:
    """Every line of `paths`, as it is read: files in the order of the parts they begin with, else as given.

    Conversations that share a file come interleaved, as they stand there; a header of part 1 begins one anew. Raises
    OSError, and TranscriptError with the line for what is no transcript or of a newer major version. A cut last line is
    an entry and no error; so is one that a later part in the same file follows.
    """
    conversations: dict[str, _Conversation] = {}
    for path in sorted(paths, key=_part) if len(paths) > 1 else paths:
        yield from _File(str(path), conversations).entries()


def _part(path: Path | str) -> int:
    with Path(path).open("rb") as file:
        try:
            return decode_header(file.readline()).part
        except _BAD:
            return 1


class _Conversation:
    """What reading an event needs of those before it."""

    def __init__(self, *, newer: bool, expecting_pid: bool) -> None:
        self.newer = newer
        self.expecting_pid = expecting_pid
        self.ends = dict.fromkeys(CHANNELS, 0)

    def event(self, line: EventLine) -> Event | None:
        """The event that a line tells; None for what only a newer format has. Raises ValueError for what is none."""
        channel = line.ch
        if channel not in CHANNELS:
            if self.newer:
                return None
            raise ValueError(f"there is no channel {channel!r}")
        if line.seq < 0 or line.t < 0:
            raise ValueError("an event needs a seq and a t")
        if channel in FRAMES or channel == "err":
            text = b"" if line.raw64 is not None else bytes(line.msg)
            return self._plain(line, text) if text and channel != "err" else self._bytes(line, text)
        try:
            fact = decode_fact(line.msg)
        except _BAD as error:
            if self.newer:
                return None
            raise ValueError(f"no fact: {error}") from None
        if isinstance(fact, Gap):
            self.expecting_pid = False
        return Event(line.seq, line.t, channel, fact)  # type: ignore[arg-type]

    def _plain(self, line: EventLine, text: bytes) -> Event:
        """A frame that stands in the line as it was: most of them are such."""
        channel: Channel = line.ch  # type: ignore[assignment]
        raw = text + wire.TERMINATOR
        offset = self.ends[channel] if line.off is None else line.off
        self.ends[channel] = offset + len(raw)
        if channel == "in":
            return Event(line.seq, line.t, channel, wire.decode(text), raw, offset)
        expecting_pid, self.expecting_pid = self.expecting_pid, False
        return Event(line.seq, line.t, channel, read_text(text, expecting_pid=expecting_pid, raw=raw), raw, offset)

    def _bytes(self, line: EventLine, text: bytes) -> Event:
        channel: Channel = line.ch  # type: ignore[assignment]
        raw = text + wire.TERMINATOR if text else b64decode(line.raw64 or "", validate=True)
        if not raw:
            raise ValueError("an event on in, out or err needs msg or raw64")
        offset = self.ends[channel] if line.off is None else line.off
        self.ends[channel] = offset + len(raw)
        body: FromStorm | FromComponent | Malformed | Chunk
        if channel == "err":
            body = Chunk(len(raw))
        elif channel == "in":
            body = wire.decode(frame_text(raw))
        else:
            newline = chr(raw[-1]) if raw[-1] in b"\r\n" and not line.fault else ""
            body = read_frame(Frame(0, raw, newline, line.fault), expecting_pid=self.expecting_pid)
            self.expecting_pid = False
        return Event(line.seq, line.t, channel, body, raw, offset)


class _File:
    def __init__(self, path: str, conversations: dict[str, _Conversation]) -> None:
        self.path = path
        self.all = conversations
        self.here: dict[str, _Conversation] = {}

    def entries(self) -> Iterator[Entry]:
        """The lines of the file. A line that cannot be read is only a fault if a line other than a header follows."""
        cut: Cut | None = None
        why = ""
        with Path(self.path).open("rb") as file:
            for number, text in enumerate(file, 1):
                if cut is not None and not text.startswith(_OPENING):
                    raise TranscriptError(self.path, cut.line, why)
                if cut is not None:
                    yield cut
                    cut = None
                try:
                    line = decode_line(text)
                except msgspec.ValidationError as error:
                    raise TranscriptError(self.path, number, f"no line of a transcript: {error}") from None
                except _BAD as error:
                    cut, why = Cut(self.path, number, len(text)), f"no line of a transcript: {error}"
                    if not self.here and not _begins_header(text):
                        raise TranscriptError(self.path, number, why) from None
                    continue
                entry = self._entry(line, text, number)
                if entry is not None:
                    yield entry
        if cut is not None:
            yield cut

    def _entry(self, line: EventLine, text: bytes, number: int) -> Entry | None:
        try:
            if line.transcript is not None:
                return self._header(line.transcript, text)
            conversation = self.here.get(line.conv)
            if conversation is None:
                raise ValueError(f"no header of a conversation {line.conv!r} before this line")  # noqa: TRY301
            if line.end is not None:
                return EndLine(line.conv, line.end)
            event = conversation.event(line)
        except (ValueError, *_BAD) as error:
            raise TranscriptError(self.path, number, str(error)) from None
        return None if event is None else Happened(line.conv, event)

    def _header(self, version: str, text: bytes) -> Header:
        why = check_version(version)
        if why:
            raise ValueError(why)
        header = decode_header(text)
        before = self.all.get(header.conv) if header.part > 1 else None
        expecting = before.expecting_pid if before is not None else header.part == 1
        conversation = _Conversation(newer=is_newer(version), expecting_pid=expecting)
        self.all[header.conv] = self.here[header.conv] = conversation
        return header


def _begins_header(text: bytes) -> bool:
    return _OPENING.startswith(text[: len(_OPENING)]) and not text.endswith(b"\n")
