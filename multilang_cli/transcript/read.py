"""Reads conversations back, with the exact bytes: from files that were closed, cut by a kill, shared or in parts."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.wire.framing import count_byte
from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.protocol.words.shortening import SHOWN_OF_VALUE, ends
from multilang_cli.transcript.format import (
    BAD,
    EndLine,
    EventLine,
    Header,
    TranscriptError,
    check_version,
    decode_header,
    decode_line,
    decode_plain_lines,
)
from multilang_cli.transcript.line_order import Contradiction, LineOrder, PlacedLine, Shipped, ShippedLines
from multilang_cli.transcript.reader import ConversationReader, reader_of
from multilang_cli.transcript.unpacking import LineBlocks, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from multilang_cli.transcript.format import PlainLine

    _Place = tuple[int, float]

_MISPLACED = "part {} of {!r} stands behind part {}: give each part as a file of its own, and they are put in order"
LINES_TOGETHER = 4
"""Lines from which on reading them together pays."""
_OPENING = b'{"transcript":'
_HEADER_BYTES = 16 * 1024
"""Bytes that most headers are shorter than."""
LINES_ALONE = 6
"""Lines that are read one by one: a header, a start, a handshake, a pid and what is known of it are no plain frames."""
LAST_LINES = 4
"""Lines that are read one by one at the end of a file, where the end of the process and of the recording stand."""


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
    `conv`: the conversation of which it is, "" if that is not known.
    """

    path: str
    line: int
    why: str
    byte: int = 0
    conv: str = ""

    @property
    def told(self) -> str:
        """A sentence on where it is and why."""
        return f"{TranscriptError(self.path, self.line, self.why)} (from byte {self.byte} on)"


class Unclosed(msgspec.Struct, frozen=True):
    """A file that holds no end line behind the events of `conv`: where it ends, in bytes that were unpacked."""

    conv: str
    byte: int


Entry = Header | Happened | EndLine | Cut | Damaged | Shipped | Unclosed
"""What one line of a transcript says, or several."""


def read(*paths: Path | str) -> Transcript:
    """The one conversation in `paths`, which may be its parts in any order.

    What can't be read is a gap. Raises OSError; TranscriptError if there is none, or, while it is read, a second one.
    """
    return Transcript(*paths)


class Transcript:
    """One conversation: its first `header`, and its events, once: by iterating, or as they were read by `spans`.

    Afterwards `ends` has the end line of each part that was closed, and `cut` what was cut, None if nothing was.
    `closed`: the last part has its end line; if not, its file ends at `stop`. `damage`: the first loss that no writer
    declared, "" if there is none.
    `shipped`: its lines that stand twice, or came out of order.
    """

    def __init__(self, *paths: Path | str) -> None:
        self.path = str(paths[0])
        self.ends: list[EndLine] = []
        self.cut: Cut | None = None
        self.closed = False
        self.stop = 0
        self.damage = ""
        self._cut_part = ""
        self.shipped = ShippedLines()
        self._entries = entries(*paths)
        first = next(self._entries, None)
        if not isinstance(first, Header):
            raise TranscriptError(self.path, 0, "no conversation: the file stops before the end of its first line")
        self.header: Header = first

    def __iter__(self) -> Iterator[Event]:
        return chain.from_iterable(self.spans())

    def spans(self) -> Iterator[Sequence[Event]]:
        """Its events, those together that were read together. Raises TranscriptError."""
        part, last = self.header.part, (0, 0.0)
        for entry in self._entries:
            if isinstance(entry, Happened):
                yield from self._undeclared(entry.events, last)
                last = _end_of(entry.events)
                yield entry.events
            elif isinstance(entry, EndLine):
                self.ends.append(entry)
                self.closed = True
            elif isinstance(entry, Cut):
                self.cut = entry
                self.damage = self.damage or f"{entry.path}:{entry.line}: cut from byte {entry.byte} on"
            elif isinstance(entry, Damaged):
                self.damage = self.damage or entry.told
                yield (Event(*last, "control", Gap(entry.told)),)
            elif isinstance(entry, Shipped):
                self.shipped.count(entry)
            elif isinstance(entry, Unclosed):
                self.stop = entry.byte
            elif entry.conv != self.header.conv or entry.part == 1:
                raise TranscriptError(self.path, 0, f"a second conversation, {entry.conv!r}, where one was expected")
            else:
                yield from self._missing_before(entry, part, last)
                part, self.closed = entry.part, False

    def _missing_before(self, header: Header, part: int, last: _Place) -> Iterator[Sequence[Event]]:
        """Tell of parts that are missing behind a `part`; its own missing end its writer may declare yet."""
        if header.part > part + 1:
            yield (self._lost(f"part {part + 1} is missing", last),)
        elif header.part > part and not self.closed:
            self._cut_part = f"part {part} was not closed: its end is missing"

    def _undeclared(self, events: Sequence[Event], last: _Place) -> Iterator[Sequence[Event]]:
        """Tell of the end that the part before lacks, unless these first events of the next declare it by a gap."""
        why, self._cut_part = self._cut_part, ""
        if why and not isinstance(events[0].body, Gap):
            yield (self._lost(why, last),)

    def _lost(self, why: str, last: _Place) -> Event:
        self.damage = self.damage or why
        return Event(*last, "control", Gap(why))


def _end_of(events: Sequence[Event]) -> _Place:
    """The seq and the time of the last of some events."""
    if isinstance(events, RecordedEvents):
        return events.seq + len(events) - 1, events.times[-1]
    return events[-1].seq, events[-1].t


def entries(*paths: Path | str, before: dict[str, ConversationReader] | None = None) -> Iterator[Entry]:
    """Every line of `paths`, as it is read: files in the order of the parts they begin with, else as given.

    Conversations that share a file come interleaved, as they stand there; a header of part 1 begins one anew. Files may
    be compressed with gzip. Raises OSError, and TranscriptError with the line for what is no transcript or of a newer
    major version. A damaged line behind a header is an entry and no error; so is a cut last one, or one that a later
    part in the same file follows. `before`: conversations that were read before, for further parts; these are added.
    """
    conversations: dict[str, ConversationReader] = {} if before is None else before
    for path in by_part(paths):
        yield from _File(str(path), conversations).entries()


def by_part(paths: Sequence[Path | str]) -> Sequence[Path | str]:
    """The same files, those that begin with a later part behind the others. Raises OSError for what is none."""
    return sorted(paths, key=_part) if len(paths) > 1 else paths


def _part(path: Path | str) -> int:
    # What is no regular file can be read once.
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 (as quick as it can be)
        return 1
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (the same)
        begin = file.read(_HEADER_BYTES)
    first, ended, _ = begin.partition(b"\n")
    if ended and first.startswith(_OPENING) and b'"part"' not in first:
        return 1
    try:
        with opened(path) as file:
            return decode_header(LineBlocks(file).line()).part
    except (TranscriptError, *BAD):
        return 1


class _File:
    """One file as it is read. `byte`: where the line that is read now begins, `number` which it is, from 1.

    Most lines are plain frames that follow each other in one conversation: a block of them is decoded at once. A block
    that is not so is halved until what is odd in it stands alone, and only that is read line by line. `all` has the
    conversations of all files, for further parts, `here` those of this one.
    """

    def __init__(self, path: str, conversations: dict[str, ConversationReader]) -> None:
        self.path = path
        self.all = conversations
        self.here: dict[str, ConversationReader] = {}
        self.byte = 0
        self.number = 0
        # A line that can't be read, kept back until the next one tells whether it was cut or is damaged: why, and
        # whether it can't be the beginning of one.
        self._cut: Cut | None = None
        self._why = ""
        self._whole = False
        self._order = LineOrder()
        self._headers: dict[str, Header] = {}
        self._open: dict[str, None] = {}

    def entries(self) -> Iterator[Entry]:
        """The lines of the file."""
        with opened(self.path) as file:
            source = LineBlocks(file)
            try:
                yield from self._lines(source)
            except TranscriptError:
                yield from self._late()
                raise
            yield from self._ended(source.torn)

    def _lines(self, source: LineBlocks) -> Iterator[Entry]:
        for text in islice(iter(source.line, b""), LINES_ALONE):
            yield from self._line(text, source)
        while (block := source.block()) or (text := source.line()):
            if block:
                block, odd = _without_odd_end(block)
                yield from self._block(block)
                for text in odd:
                    yield from self._line(text)
            else:
                yield from self._line(text, source)

    def _block(self, block: bytes, known: list[PlainLine] | None = None) -> Iterator[Entry]:
        """Whole lines: those of plain frames are read together. `known`: all of them, if they are known to be plain."""
        if not block:
            return
        size = count_byte(block, b"\n")
        lines = _plain_lines(block, size) if known is None and size >= LINES_TOGETHER else known
        if lines is not None and (events := self._span(lines, block)) is not None:
            self.number += size
            self.byte += len(block)
            yield Happened(lines[0].conv, events)
            return
        middle = block.index(b"\n", len(block) // 2) + 1
        if size > LINES_TOGETHER and middle < len(block):
            half = block.count(b"\n", 0, middle)
            yield from self._block(block[:middle], lines and lines[:half])
            yield from self._block(block[middle:], lines and lines[half:])
        else:
            for text in block.split(b"\n")[:-1]:
                yield from self._line(text + b"\n")

    def _span(self, lines: list[PlainLine], block: bytes) -> RecordedEvents | None:
        """The events of plain lines; None unless they are the next ones of one conversation, with nothing odd."""
        conv, seq, size = lines[0].conv, lines[0].seq, len(lines)
        if size < LINES_TOGETHER or self._cut is not None:
            return None
        conversation = self.here.get(conv)
        # The first event of a part tells, alone, whether it follows what its header knows of.
        if conversation is None or not conversation.lines or not self._order.is_next(conv, seq):
            return None
        if [line.seq for line in lines if line.conv == conv] != list(range(seq, seq + size)):
            return None
        events = conversation.span(lines)
        if events is not None:
            self._order.take(conv, seq, size, block)
        return events

    def _line(self, text: bytes, source: LineBlocks | None = None) -> Iterator[Entry]:
        """Read one line; before that, tell of the one before it whether it was cut or is damaged.

        A line that can't be read is only damaged if it ends, or a line other than a header follows. `source`: has the
        rest of a line that is longer than what is read of one.
        """
        self.number += 1
        size = len(text)
        if self._cut is not None:
            yield self._cut if text.startswith(_OPENING) else self._damaged(self._cut.line, self._why, self._cut.byte)
            self._cut = None
        try:
            line = decode_line(text)
        except BAD as error:
            self._why = f"no line of a transcript: {'nested too deep' if isinstance(error, RecursionError) else error}"
            if isinstance(error, msgspec.ValidationError):
                yield self._damaged(self.number, self._why)
            else:
                ended = text.endswith(b"\n")
                size += source.skip_line() if source is not None and not ended else 0
                self._whole = ended or not _is_begun(text)
                self._cut = Cut(self.path, self.number, size, self.byte)
                if not self.here and not _begins_header(text):
                    raise TranscriptError(self.path, self.number, self._why) from None
        else:
            text = text.removesuffix(b"\n")
            if self._order.take_next(line, text):
                yield from self._one(line, text, self.number, self.byte)
            else:
                yield from self._sorted(PlacedLine(line, text, self.number, self.byte))
        self.byte += size

    def _sorted(self, placed: PlacedLine) -> Iterator[Entry]:
        """A line that is no event, or may not be the next."""
        for each in self._order.sort(placed):
            if isinstance(each, PlacedLine):
                yield from self._one(*each)
            else:
                yield self._odd(each)

    def _odd(self, found: Shipped | Contradiction) -> Shipped | Damaged:
        """A line that is not the one event with its number."""
        if isinstance(found, Shipped):
            return found
        line, _, number, byte = found.placed
        why = f"another line of event {line.seq} says something else: this one is left out"
        return self._damaged(number, why, byte, line.conv)

    def _late(self) -> Iterator[Entry]:
        """Lines that wait for others, which don't come."""
        for placed in self._order.rest():
            yield from self._one(*placed)

    def _ended(self, torn: Exception | None) -> Iterator[Entry]:
        """Tell of a loss at the end of the file: `torn` where what was compressed is damaged."""
        yield from self._late()
        if self._cut is not None:
            yield self._damaged(self._cut.line, self._why, self._cut.byte) if self._whole else self._cut
        if torn is not None:
            yield self._damaged(0, f"what was compressed there is damaged: {torn}")
        yield from (Unclosed(conv, self.byte) for conv in self._open)

    def _one(self, line: EventLine, text: bytes, number: int, byte: int) -> Iterator[Entry]:
        """The event of a line, and before that what is missing there."""
        if (hole := self._hole(line, number, byte)) is not None:
            yield hole
        if (entry := self._entry(line, text, number, byte)) is not None:
            yield entry

    def _hole(self, line: EventLine, number: int, byte: int) -> Damaged | None:
        """The gap before a line, where no other line tells of it: None if nothing is."""
        conversation = self.here.get(line.conv)
        if conversation is None or line.transcript is not None:
            return None
        if line.end is None:
            missed, last = conversation.missed(line), line.seq - 1
            lost = f"event {last} is" if missed == 1 else f"events {line.seq - missed} to {last} are"
            why = f"{lost} missing before it" if missed else ""
            if not conversation.lines and conversation.misplaced(line):
                why = f"event {line.seq} stands behind later ones, by the header of its part"
        else:
            counted, read = sum(line.end.events.values()), conversation.lines
            differ = conversation.whole and counted != read
            why = f"its end tells of {counted} events, and there are {read}" if differ else ""
        return self._damaged(number, why, byte, line.conv) if why else None

    def _damaged(self, number: int, why: str, byte: int | None = None, conv: str = "") -> Damaged:
        """A damaged line; `conv`: of which it is, if that is known. Raises TranscriptError before any header."""
        if not self.here:
            raise TranscriptError(self.path, number, why)
        for conversation in (self.here[conv],) if conv else self.here.values():
            conversation.miss()
        return Damaged(self.path, number, why, self.byte if byte is None else byte, conv)

    def _entry(self, line: EventLine, text: bytes, number: int, byte: int) -> Entry | None:
        try:
            if line.transcript is not None:
                return self._header(line.transcript, text)
        except (ValueError, *BAD) as error:
            raise TranscriptError(self.path, number, str(error)) from None
        conversation = self.here.get(line.conv)
        if not line.conv:
            return self._damaged(number, "no line of a transcript: it names no conversation (conv)", byte)
        if conversation is None:
            return self._damaged(number, f"no header of a conversation {line.conv!r} before this line", byte)
        if line.end is not None:
            self._open.pop(line.conv, None)
            conversation.closed = True
            return EndLine(line.conv, line.end)
        try:
            event = conversation.event(line)
        except (ValueError, *BAD) as error:
            return self._damaged(number, str(error), byte)
        return None if event is None else Happened(line.conv, (event,))

    def _header(self, version: str, text: bytes) -> Header:
        why = check_version(version)
        if why:
            raise ValueError(why)
        header = decode_header(text)
        begun = self._headers.get(header.conv)
        if begun is not None and header.part < begun.part and header.started_at == begun.started_at:
            raise ValueError(_MISPLACED.format(header.part, ends(header.conv, SHOWN_OF_VALUE), begun.part))
        self._headers[header.conv] = header
        before = self.all.get(header.conv) if header.part > 1 else None
        conversation = reader_of(header, version, before)
        self.all[header.conv] = self.here[header.conv] = conversation
        self._open[header.conv] = None
        self._order.begin(header.conv, header.part, text)
        return header


def _without_odd_end(block: bytes) -> tuple[bytes, list[bytes]]:
    """The lines up to the last that is of a plain frame, and those behind it: an end of a file has some."""
    odd: list[bytes] = []
    while block and len(odd) < LAST_LINES and _plain_lines(text := block[block.rfind(b"\n", 0, -1) + 1 :], 1) is None:
        odd.insert(0, text)
        block = block[: -len(text)]
    return block, odd


def _plain_lines(block: bytes, size: int) -> list[PlainLine] | None:
    """The lines of a block, if all are of plain frames; None if not."""
    try:
        lines = decode_plain_lines(block)
    except BAD:
        return None
    return lines if len(lines) == size else None


def _is_begun(text: bytes) -> bool:
    """True if a writer may have begun a line so: zeros, which a machine that stopped leaves behind, stand in none."""
    return text.startswith(b"{") and b"\0" not in text


def _begins_header(text: bytes) -> bool:
    return _OPENING.startswith(text[: len(_OPENING)]) and not text.endswith(b"\n")
