"""Reads the event lines of one conversation: what each says depends on those before it."""

from __future__ import annotations

from array import array
from base64 import b64decode
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.storm.reading import read as read_text
from multilang_cli.protocol.storm.reading import read_frame, read_lines
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.batches import RecordedEvents, Usual
from multilang_cli.protocol.wire.framing import TERMINATOR, Frame, frame_text
from multilang_cli.protocol.words.events import Chunk, Event, Gap
from multilang_cli.protocol.words.messages import Malformed, Pid
from multilang_cli.transcript.format import (
    BAD,
    CHANNELS,
    FRAMES,
    EventLine,
    Header,
    PlainLine,
    decode_fact,
    is_newer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.events import Channel
    from multilang_cli.protocol.words.messages import FromComponent, FromStorm, Message
    from multilang_cli.transcript.redact import Redactor

# As a number: looking for one in bytes is several times faster than looking for bytes.
_RETURN = ord("\r")


class ConversationReader:
    """Reads the events of one conversation, line by line: it keeps what that needs of those before.

    `last`: the `seq` of the last one, -1 before the first, None where it is not known which comes next. `lines`: how
    many it has read; `whole`: none was missing among them. `expecting_pid`: the component has said nothing yet, which
    is not certain if something is missing that was said so early (`pid_missed`). `closed`: its `part` has its end.
    `follows`: a part before it was read.
    """

    def __init__(
        self, *, newer: bool, expecting_pid: bool, last: int | None = None, pid_missed: bool = False, part: int = 1
    ) -> None:
        self.part = part
        self.follows = False
        self.newer = newer
        self.expecting_pid = expecting_pid
        self.pid_missed = pid_missed
        self.last = last
        self.lines = 0
        self.whole = True
        self.closed = False
        self.ends = dict.fromkeys(CHANNELS, 0)

    def miss(self) -> None:
        """Know that something is missing here."""
        self.last, self.whole, self.pid_missed = None, False, True

    def missed(self, line: EventLine) -> int:
        """The number of events that are missing before that of a line; 0 if it is a gap, which tells of them."""
        if self.last is None or line.seq <= self.last + 1 or _is_gap(line):
            return 0
        return line.seq - self.last - 1

    def misplaced(self, line: EventLine) -> bool:
        """True if a line is the first of a part that, by its number, does not come behind the part before."""
        early = not self.lines and self.follows and self.last is not None and line.seq <= self.last
        return early and not _is_gap(line)

    def event(self, line: EventLine) -> Event | None:
        """The event that a line tells; None for what only a newer format has. Raises ValueError for what is none."""
        channel = line.ch
        self.lines += 1
        last = self.last
        if last is None or (line.seq <= last and self.lines == 1):
            self._begin_at(line.seq)
        elif line.seq > last:
            self.last = line.seq
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
        except BAD as error:
            if self.newer:
                return None
            raise ValueError(f"no fact: {error}") from None
        if isinstance(fact, Gap):
            self.pid_missed, self.last = True, None
        return Event(line.seq, line.t, channel, fact)  # type: ignore[arg-type]

    def _begin_at(self, seq: int) -> None:
        """Go on with an event that does not come behind the last one, or behind none that is known."""
        if self.lines == 1 and (seq == 0 or self.last is not None):
            # The first of all, whatever its part is called; or of a place that the header does not tell of.
            self.expecting_pid, self.pid_missed = True, seq > 0
        self.last = seq

    def span(self, lines: Sequence[PlainLine]) -> RecordedEvents | None:
        """The events of plain lines that follow each other and the last one; None if they must be read one by one."""
        sent = [line.ch == "in" for line in lines]
        raws = [line.msg for line in lines]
        told = b"\n".join(compress(raws, sent))
        said = b"\n".join(compress(raws, map(not_, sent)))
        if _RETURN in told or _RETURN in said or (said and self.expecting_pid):
            return None
        received: Sequence[Message]
        received, is_simple = wire.decode_told(told)
        answered: Sequence[Message] = read_lines(said) if said else ()
        if len(received) + len(answered) != len(lines) or Malformed in {*map(type, received), *map(type, answered)}:
            return None
        next_received, next_answered = iter(received), iter(answered)
        bodies = [next(next_received) if by_storm else next(next_answered) for by_storm in sent]
        offsets: dict[Channel, int] = {"in": self.ends["in"], "out": self.ends["out"]}
        self.ends["in"] += _size(told, len(received))
        self.ends["out"] += _size(said, len(answered))
        self.lines += len(lines)
        self.last = lines[-1].seq
        times = [line.t for line in lines]
        return RecordedEvents(
            lines[0].seq,
            bodies,
            times,
            sent=sent,
            raws=raws,
            offsets=offsets,
            is_simple=is_simple,
            is_usual=type(answered) is Usual,
        )

    def _plain(self, line: EventLine, text: bytes) -> Event:
        """A frame that stands in the line as it was: most of them are such."""
        channel: Channel = line.ch  # type: ignore[assignment]
        raw = text + TERMINATOR
        offset = self.ends[channel] if line.off is None else line.off
        self.ends[channel] = offset + len(raw)
        if channel == "in":
            return Event(line.seq, line.t, channel, wire.decode(text), raw, offset)
        body = read_text(text, expecting_pid=self.expecting_pid, raw=raw)
        if self._is_later(body):
            body = read_text(text, raw=raw)
        return Event(line.seq, line.t, channel, body, raw, offset)

    def _is_later(self, said: FromComponent | Malformed) -> bool:
        """True if a message of the component, read as its first, may as well be a later one: it is no pid."""
        expecting, self.expecting_pid = self.expecting_pid, False
        return expecting and self.pid_missed and not isinstance(said, Pid)

    def _bytes(self, line: EventLine, text: bytes) -> Event:
        channel: Channel = line.ch  # type: ignore[assignment]
        raw = text + TERMINATOR if text else b64decode(line.raw64 or "", validate=True)
        if not raw:
            raise ValueError("an event on in, out or err needs msg or raw64")
        offset = self.ends[channel] if line.off is None else line.off
        self.ends[channel] = offset + len(raw)
        body: FromStorm | FromComponent | Malformed | Chunk
        if channel == "err":
            body = Chunk(len(raw))
        elif channel == "in":
            body = wire.cut(raw) if line.fault else wire.decode(frame_text(raw))
        else:
            newline = chr(raw[-1]) if raw[-1] in b"\r\n" and not line.fault else ""
            frame = Frame(offset, raw, newline, line.fault)
            body = read_frame(frame, expecting_pid=self.expecting_pid)
            if self._is_later(body):
                body = read_frame(frame)
        return Event(line.seq, line.t, channel, body, raw, offset)


class PackedEvents:
    """Plain frames that were read together, kept as they were written: they are read again when they are looked at.

    Their messages take ten times the room, as many small objects: to let go of them late costs more than to read them.
    """

    __slots__ = ("_offsets", "_sent", "_seq", "_texts", "_times")

    def __init__(self, events: RecordedEvents) -> None:
        self._seq = events.seq
        self._texts = b"\n".join(events.raws)
        self._times = array("d", events.times)
        self._sent = bytes(events.sent)
        self._offsets = events.offsets

    def __len__(self) -> int:
        return len(self._sent)

    def events(self) -> RecordedEvents:
        """The events."""
        reader = ConversationReader(newer=False, expecting_pid=False)
        reader.ends.update(self._offsets.items())
        columns = zip(self._times, self._sent, self._texts.split(b"\n"), strict=True)
        read = reader.span(
            [
                PlainLine("", seq, t, "in" if sent else "out", msgspec.Raw(text))
                for seq, (t, sent, text) in enumerate(columns, self._seq)
            ]
        )
        if read is None:
            raise RuntimeError("what was read together can't be read together again")
        return read


def _is_gap(line: EventLine) -> bool:
    """True if a line tells of events that are missing before it."""
    try:
        return line.ch == "control" and isinstance(decode_fact(line.msg), Gap)
    except BAD:
        return False


def _size(lines: bytes, count: int) -> int:
    """The size of the frames whose texts are `lines`."""
    return len(lines) + count * len(TERMINATOR) - (count - 1) if count else 0


def without_secrets_in(event: Event, redactor: Redactor) -> Event:
    """An event without secrets, in its bytes and in what is read of them."""
    clean, keys = redactor.event(event)
    if not keys or clean.channel not in FRAMES:
        return clean
    text = frame_text(clean.raw)
    is_pid = isinstance(event.body, Pid)
    said = wire.decode(text) if clean.channel == "in" else read_text(text, expecting_pid=is_pid, raw=clean.raw)
    return msgspec.structs.replace(clean, body=said)


def known_before(snapshot: dict[str, Any]) -> int | None:
    """The number of the last event that the writer of a header had seen, -1 if none; None if it does not tell."""
    state = snapshot.get("state")
    seq = state.get("last_seq") if isinstance(state, dict) else None
    return seq if isinstance(seq, int) and seq >= -1 else None


def _last_before(header: Header, before: ConversationReader | None) -> int | None:
    """The number of the last event before a part, by the part `before` and what its writer knew."""
    if header.part == 1:
        return -1
    behind = known_before(header.snapshot or {})
    if before is None or header.part > before.part + 1 or not (before.whole and before.closed):
        return behind
    return before.last if before.last is None or behind is None else max(before.last, behind)


def reader_of(header: Header, version: str, before: ConversationReader | None) -> ConversationReader:
    """The reader of the events behind `header`, in the format `version`. `before`: of the part before, if any."""
    state = (header.snapshot or {}).get("state")
    known = state if isinstance(state, dict) else {}
    if before is not None:
        unsaid = known.get("said") is False and not before.expecting_pid
        expecting = unsaid or (before.expecting_pid and known.get("said") is not True)
        missed = unsaid or before.pid_missed or header.part > before.part + 1
    else:
        expecting, missed = header.part == 1 or known.get("said") is not True, known.get("gap") is True
        missed = missed or (header.part > 1 and known.get("said") is not False)
    last = _last_before(header, before)
    newer, part = is_newer(version), header.part
    reader = ConversationReader(newer=newer, expecting_pid=expecting, last=last, pid_missed=missed, part=part)
    reader.follows = before is not None
    return reader
