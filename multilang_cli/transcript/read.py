"""Reads conversations back, with the exact bytes: from files that were closed, cut by a kill, shared or in parts."""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from multilang_cli.protocol.storm.reading import MANY
from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.transcript.format import (
    BAD,
    FRAMES,
    EndLine,
    EventLine,
    Header,
    TranscriptError,
    check_version,
    decode_header,
    decode_line,
)
from multilang_cli.transcript.reader import ConversationReader, reader_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_OPENING = b'{"transcript":'
_GZIP = b"\x1f\x8b"
_UNPACKABLE = (EOFError, zlib.error, gzip.BadGzipFile)
LONGEST = 256 * 1024 * 1024
"""Bytes of the longest line that is read: a message of 64 MiB, the usual limit, takes a third of that."""
TOGETHER = 256
"""Frames that are read together, at most."""
RECENT = 1024
"""Lines among which one that stands twice is found."""
SHORT = 4096
"""Bytes of their lines, at most."""


class Happened(msgspec.Struct, frozen=True, gc=False):
    """The next of the conversation `conv`: one event, or frames that went through one pipe together."""

    conv: str
    events: Sequence[Event]


class Cut(msgspec.Struct, frozen=True):
    """The last line of a writer that was killed: what it held is lost. `line` from 1, `size` in bytes.

    `byte`: where it begins.
    """

    path: str
    line: int
    size: int
    byte: int = 0


class Damaged(msgspec.Struct, frozen=True):
    """A line that can't be read, amid others, or before which some are missing: what they held is lost.

    `line` from 1, 0 if it is the rest of the file. `byte`: where that begins, in what was unpacked if it was gzip.
    """

    path: str
    line: int
    why: str
    byte: int = 0

    @property
    def told(self) -> str:
        """A sentence on where it is and why."""
        return f"{TranscriptError(self.path, self.line, self.why)} (from byte {self.byte} on)"


Entry = Header | Happened | EndLine | Cut | Damaged
"""What one line of a transcript says, or several."""


def read(*paths: Path | str) -> Transcript:
    """The one conversation in `paths`, which may be its parts in any order.

    What can't be read is a gap. Raises OSError; TranscriptError if there is none, or, while it is read, a second one.
    """
    return Transcript(*paths)


class Transcript:
    """One conversation: its first `header`, and its events by iterating, once.

    Afterwards `ends` has the end line of each part that was closed, and `cut` what was cut, None if nothing was.
    `closed`: the last part has its end line. `damage`: the first loss that no writer declared, "" if there is none.
    """

    def __init__(self, *paths: Path | str) -> None:
        self.path = str(paths[0])
        self.ends: list[EndLine] = []
        self.cut: Cut | None = None
        self.closed = False
        self.damage = ""
        self._entries = entries(*paths)
        first = next(self._entries, None)
        if not isinstance(first, Header):
            raise TranscriptError(self.path, 0, "no conversation: the file stops before the end of its first line")
        self.header: Header = first

    def __iter__(self) -> Iterator[Event]:
        part, last = self.header.part, Event(0, 0.0, "control", Gap(""))
        for entry in self._entries:
            if isinstance(entry, Happened):
                last = entry.events[-1]
                yield from entry.events
            elif isinstance(entry, EndLine):
                self.ends.append(entry)
                self.closed = True
            elif isinstance(entry, Cut):
                self.cut = entry
                self.damage = self.damage or f"{entry.path}:{entry.line}: cut from byte {entry.byte} on"
            elif isinstance(entry, Damaged):
                self.damage = self.damage or entry.told
                yield Event(last.seq, last.t, "control", Gap(entry.told))
            elif entry.conv != self.header.conv or entry.part == 1:
                raise TranscriptError(self.path, 0, f"a second conversation, {entry.conv!r}, where one was expected")
            else:
                if entry.part > part + 1:
                    yield Event(last.seq, last.t, "control", Gap(f"part {part + 1} is missing"))
                part, self.closed = entry.part, False


def entries(*paths: Path | str) -> Iterator[Entry]:
    """Every line of `paths`, as it is read: files in the order of the parts they begin with, else as given.

    Conversations that share a file come interleaved, as they stand there; a header of part 1 begins one anew. Files may
    be compressed with gzip. Raises OSError, and TranscriptError with the line for what is no transcript or of a newer
    major version. A damaged line behind a header is an entry and no error; so is a cut last one, or one that a later
    part in the same file follows.
    """
    conversations: dict[str, ConversationReader] = {}
    for path in sorted(paths, key=_part) if len(paths) > 1 else paths:
        yield from _File(str(path), conversations).entries()


def _part(path: Path | str) -> int:
    with _opened(path) as file:
        try:
            return decode_header(file.readline(LONGEST)).part
        except (*BAD, *_UNPACKABLE):
            return 1


@contextmanager
def _opened(path: Path | str) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """The file, or what was compressed there."""
    with Path(path).open("rb") as file:
        if file.peek(len(_GZIP)).startswith(_GZIP):
            with gzip.open(file) as unpacked:
                yield unpacked
        else:
            yield file


class _File:
    def __init__(self, path: str, conversations: dict[str, ConversationReader]) -> None:
        self.path = path
        self.all = conversations
        self.here: dict[str, ConversationReader] = {}
        self.byte = 0
        self.torn: Exception | None = None
        self._latest: dict[str, int] = {}
        self._recent: deque[tuple[str, int, int]] = deque(maxlen=RECENT)

    def entries(self) -> Iterator[Entry]:
        """The lines of the file."""
        with _opened(self.path) as file:
            try:
                yield from self._lines(file)
            except _UNPACKABLE as error:
                self.torn = error
            if self.torn is not None:
                yield self._damaged(0, f"what was compressed there is damaged: {self.torn}")

    def _texts(self, file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
        """The lines as bytes, up to where what was compressed is damaged."""
        try:
            yield from iter(partial(file.readline, LONGEST), b"")
        except _UNPACKABLE as error:
            self.torn = error

    def _lines(self, file: IO[bytes] | gzip.GzipFile) -> Iterator[Entry]:
        """A line that cannot be read is only damaged if it ends, or a line other than a header follows."""
        cut: Cut | None = None
        last: EventLine | None = None
        run: list[EventLine] = []
        places: list[tuple[int, int]] = []
        why, number, whole = "", 0, False
        size = 0
        for number, text in enumerate(self._texts(file), 1):
            self.byte, size = self.byte + size, len(text)
            if cut is not None:
                yield cut if text.startswith(_OPENING) else self._damaged(cut.line, why, cut.byte)
                cut = None
            try:
                line = decode_line(text)
            except BAD as error:
                yield from self._told(run, places)
                run, places = [], []
                why = f"no line of a transcript: {'nested too deep' if isinstance(error, RecursionError) else error}"
                if isinstance(error, msgspec.ValidationError):
                    yield self._damaged(number, why)
                    continue
                cut = Cut(self.path, number, len(text) + _skip_line(file, text), self.byte)
                size, whole = cut.size, text.endswith(b"\n")
                if not self.here and not _begins_header(text):
                    raise TranscriptError(self.path, number, why) from None
                continue
            if self._stands_twice(line, text):
                continue
            if last is not None and line.t == last.t and len(run) < TOGETHER and self._goes_on(last, line, text):
                run.append(line)
                places.append((number, self.byte))
            else:
                if run:
                    yield from self._told(run, places)
                    run, places = [], []
                yield from self._one(line, text, number)
            last = line
        yield from self._told(run, places)
        self.byte += size
        if cut is not None:
            yield self._damaged(cut.line, why, cut.byte) if whole else cut

    def _stands_twice(self, line: EventLine, text: bytes) -> bool:
        """True if this line of an event stood shortly before: who delivers at least once may write it again."""
        if line.transcript is not None:
            self._latest.pop(line.conv, None)
            return False
        if line.conv not in self.here:
            return False
        mark = (line.conv, line.seq, hash(text))
        twice = line.end is None and line.seq <= self._latest.get(line.conv, -1) and mark in self._recent
        if not twice and line.end is None:
            self._latest[line.conv] = line.seq
            self._recent.append(mark)
        return twice

    def _goes_on(self, last: EventLine, line: EventLine, text: bytes) -> bool:
        """True if `line`, whose bytes are `text`, is a plain frame that went through the same pipe behind `last`."""
        behind = line.seq == last.seq + 1 and line.ch == last.ch and line.conv == last.conv
        plain = line.ch in FRAMES and line.raw64 is None and line.off is None
        event = line.end is None and line.transcript is None and line.conv in self.here
        return behind and plain and event and len(text) <= SHORT

    def _told(self, run: list[EventLine], places: list[tuple[int, int]]) -> Iterator[Entry]:
        """Events of the lines of `run`. `places`: the number of each, and the byte at which it begins."""
        if len(run) >= MANY and (batch := self.here[run[0].conv].together(run)) is not None:
            yield Happened(run[0].conv, batch)
            return
        here = self.byte
        for line, (number, self.byte) in zip(run, places, strict=True):
            if (entry := self._entry(line, b"", number)) is not None:
                yield entry
        self.byte = here

    def _one(self, line: EventLine, text: bytes, number: int) -> Iterator[Entry]:
        """The event of a line, and before that what is missing there."""
        if (hole := self._hole(line, number)) is not None:
            yield hole
        if (entry := self._entry(line, text, number)) is not None:
            yield entry

    def _hole(self, line: EventLine, number: int) -> Damaged | None:
        """The gap before a line, where no other line tells of it: None if nothing is."""
        conversation = self.here.get(line.conv)
        if conversation is None or line.transcript is not None:
            return None
        if line.end is None:
            missed, last = conversation.missed(line), line.seq - 1
            lost = f"event {last} is" if missed == 1 else f"events {line.seq - missed} to {last} are"
            return self._damaged(number, f"{lost} missing before it") if missed else None
        counted, read = sum(line.end.events.values()), conversation.lines
        if not conversation.whole or counted == read:
            return None
        return self._damaged(number, f"its end tells of {counted} events, and there are {read}")

    def _damaged(self, number: int, why: str, byte: int | None = None) -> Damaged:
        """A damaged line. Raises TranscriptError if it comes before any header."""
        if not self.here:
            raise TranscriptError(self.path, number, why)
        for conversation in self.here.values():
            conversation.miss()
        return Damaged(self.path, number, why, self.byte if byte is None else byte)

    def _entry(self, line: EventLine, text: bytes, number: int) -> Entry | None:
        try:
            if line.transcript is not None:
                return self._header(line.transcript, text)
        except (ValueError, *BAD) as error:
            raise TranscriptError(self.path, number, str(error)) from None
        conversation = self.here.get(line.conv)
        if not line.conv:
            return self._damaged(number, "no line of a transcript: it names no conversation (conv)")
        if conversation is None:
            return self._damaged(number, f"no header of a conversation {line.conv!r} before this line")
        if line.end is not None:
            return EndLine(line.conv, line.end)
        try:
            event = conversation.event(line)
        except (ValueError, *BAD) as error:
            return self._damaged(number, str(error))
        return None if event is None else Happened(line.conv, (event,))

    def _header(self, version: str, text: bytes) -> Header:
        why = check_version(version)
        if why:
            raise ValueError(why)
        header = decode_header(text)
        before = self.all.get(header.conv) if header.part > 1 else None
        conversation = reader_of(header, version, before)
        self.all[header.conv] = self.here[header.conv] = conversation
        return header


def _begins_header(text: bytes) -> bool:
    return _OPENING.startswith(text[: len(_OPENING)]) and not text.endswith(b"\n")


def _skip_line(file: IO[bytes] | gzip.GzipFile, text: bytes) -> int:
    """Pass over what is left of a line that begins with `text`, without keeping it: how many bytes that was."""
    size = 0
    while not text.endswith(b"\n") and (text := file.readline(1 << 20)):
        size += len(text)
    return size
