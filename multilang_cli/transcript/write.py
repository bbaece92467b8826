"""Writes a conversation as it happens: append only, nothing encoded twice, readable after a kill at any byte."""

from __future__ import annotations

from base64 import b64encode
from itertools import compress, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, Self

import msgspec

from multilang_cli.protocol.wire.batches import Batch, EmptyTurns, RecordedEvents
from multilang_cli.protocol.wire.encoding import BARE_NAN
from multilang_cli.protocol.wire.framing import TERMINATOR
from multilang_cli.protocol.words.large import check_utf8
from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.transcript.format import FRAMES, Counts, EndLine, Header, encode, header_line
from multilang_cli.transcript.private import open_private
from multilang_cli.transcript.redact import TOLD, USUAL, Names, Redactor, mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.protocol.words.events import Event

FLUSH_AT = 256 * 1024
"""Bytes that are kept before they are written."""

_FAULTS = {"message-cut": b"cut", "frame-too-long": b"too-long"}
_NAMES = {name: name.encode() for name in ("in", "out", "err", "process", "control")}
_PAIR = b'%b%d,"t":%.6f,"ch":"in","msg":%b}\n%b%d,"t":%.6f,"ch":"out","msg":%b}\n'
_LINE = b'%b%d,"t":%.6f,"ch":"%b","msg":%b}\n'
# As numbers: looking for one in bytes is several times faster than looking for bytes.
_LINE_FEED, _CARRIAGE = b"\n\r"
_skip = msgspec.json.Decoder(msgspec.Raw).decode


class Sink(Protocol):
    """A destination of lines, written as to a binary file. Its methods raise OSError."""

    @property
    def closed(self) -> bool:
        """True after `close`."""

    def write(self, data: bytes | memoryview, /) -> int:
        """Write; how many bytes of it."""

    def flush(self) -> None:
        """Write what is kept."""

    def close(self) -> None:
        """Take no more lines."""


class TranscriptWriter:
    """One part of one conversation, written to a file that others may share.

    `target`: a path, appended to and created if need be, or a binary file, which is given whole lines and left open.
    `secret_keys`: names of keys whose values are hidden, in place of the usual ones; None hides nothing.
    `more_settings`: what has secrets beside conf, such as the environment. Raises OSError as files do; after one
    nothing more is written, so that what stands in the file can be read.
    """

    def __init__(
        self,
        target: Path | str | Sink,
        header: Header,
        *,
        secret_keys: Names | None = USUAL,
        more_settings: Mapping[str, Any] | None = None,
        flush_at: int = FLUSH_AT,
    ) -> None:
        settings = {"": [more_settings or {}, header.profile.conf]}
        self._redactor = None if secret_keys is None else Redactor(settings, secret_keys, header.argv)
        self.header = header if self._redactor is None else self._redactor.header(header)
        self._own = isinstance(target, Path | str)
        self._file: Sink = _opened(target) if isinstance(target, Path | str) else target
        self._flush_at = flush_at
        self._conv = b'{"conv":%b,"seq":' % encode(header.conv)
        self._ends = dict.fromkeys(_NAMES, 0)
        self._events = dict.fromkeys(_NAMES, 0)
        self._bytes = dict.fromkeys(_NAMES, 0)
        self._time = -1.0
        self._time_text = b""
        self._stopped = False
        self._lines = [header_line(self.header)]
        self._size = 0
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, events: Sequence[Event], _: object = None, /) -> None:
        """Add events, oldest first, as `write` adds one."""
        if events.__class__ is Batch and self._take_batch(events):
            return
        if events.__class__ is EmptyTurns and self._take_turns(events):
            return
        if events.__class__ is RecordedEvents and self._take_recorded(events):
            return
        for event in events:
            self.write(event)

    def _take_batch(self, batch: Batch) -> bool:
        """Add all of `batch` at once; False if one of its frames may be none that can stand in a line."""
        data, channel, events = batch.data, batch.channel, len(batch.bodies)
        if batch.offset != self._ends[channel] or not self._can_stand(batch):
            return False
        middle = b',"t":%.6f,"ch":"%b","msg":' % (batch.t, _NAMES[channel])
        if events == 1:
            lines = b"%b%d%b%b}\n" % (self._conv, batch.seq, middle, data[: -len(TERMINATOR)])
        else:
            parts = [b"", middle, b"", b"}\n" + self._conv] * events
            parts[::4] = encode(list(range(batch.seq, batch.seq + events)))[1:-1].split(b",")
            parts[2::4] = batch.texts
            parts[-1] = b"}\n"
            lines = self._conv + b"".join(parts)
        self._events[channel] += events
        self._bytes[channel] += len(data)
        self._ends[channel] += len(data)
        self._add(lines)
        return True

    def _take_turns(self, turns: EmptyTurns) -> bool:
        """Add all of `turns` at once; False if one of the commands may be none that can stand in a line."""
        redactor, (told, said) = self._redactor, turns.offsets
        if (told, said) != (self._ends["in"], self._ends["out"]):
            return False
        if redactor is not None and not redactor.passes(b"".join(turns.told)):
            return False
        conv, cut, pairs = self._conv, -len(TERMINATOR), list[bytes]()
        columns = zip(count(turns.seq, 2), turns.told, turns.syncs, turns.times, strict=False)
        for seq, command, sync, (asked, answered) in columns:
            pairs.append(_PAIR % (conv, seq, asked, command[:cut], conv, seq + 1, answered, sync[:cut]))
        self._ends["in"], self._ends["out"] = ends = turns.ends
        for channel, begun, end in (("in", told, ends[0]), ("out", said, ends[1])):
            self._events[channel] += len(pairs)
            self._bytes[channel] += end - begun
        self._add(b"".join(pairs))
        return True

    def _take_recorded(self, events: RecordedEvents) -> bool:
        """Add all of `events` at once, as `_take_batch` does."""
        begun, raws = events.offsets, events.raws
        in_place = all(begun.get(name, -1) == self._ends[name] for name in ("in", "out"))
        if not in_place or not TOLD.isdisjoint(map(type, events.bodies)):
            return False
        if self._redactor is not None and not self._redactor.passes(b"".join(raws)):
            return False
        conv, columns = self._conv, zip(count(events.seq), events.times, events.sent, raws, strict=False)
        lines = [_LINE % (conv, seq, t, b"in" if sent else b"out", raw) for seq, t, sent, raw in columns]
        sizes = list(map(len, raws))
        told, told_size = sum(events.sent), sum(compress(sizes, events.sent))
        for name, number, size in (("in", told, told_size), ("out", len(lines) - told, sum(sizes) - told_size)):
            self._ends[name] += size + number * len(TERMINATOR)
            self._bytes[name] += size + number * len(TERMINATOR)
            self._events[name] += number
        self._add(b"".join(lines))
        return True

    def _add(self, lines: bytes) -> None:
        self._lines.append(lines)
        self._size += len(lines)
        if self._size >= self._flush_at:
            self.flush()

    def _can_stand(self, batch: Batch) -> bool:
        """True if each frame of `batch` can stand in a line as it is."""
        redactor = self._redactor
        if not TOLD.isdisjoint(batch.kinds) and (redactor or Malformed in batch.kinds):
            return False
        return redactor is None or redactor.passes(batch.data)

    def write(self, event: Event, plain: bool | None = None) -> None:
        """Add one event.

        `plain`: True if `event` is a frame known to be one line of strict UTF-8 JSON, an object or array with nothing
        around it, closed by LF, end, LF; False if known not to be; None to find out. Raises ValueError for a fact on
        `in` or `out`: those hold frames, facts go to `process` and `control`.
        """
        if self._redactor is not None and self._hidden(event, self._redactor):
            return
        self._put(event, plain)

    def _put(self, event: Event, plain: bool | None) -> None:
        channel, raw, time = event.channel, event.raw, event.t
        if time != self._time:
            self._time, self._time_text = time, b"%.6f" % time
        if plain is None:
            plain = is_plain(event)
        if plain and self._ends[channel] == event.offset:
            self._ends[channel] += len(raw)
            name = _NAMES[channel]
            line = b'%b%d,"t":%b,"ch":"%b","msg":%b}\n' % (self._conv, event.seq, self._time_text, name, raw[:-5])
        else:
            line = self._odd_line(event, plain=plain)
        self._lines.append(line)
        self._size += len(line)
        self._events[channel] += 1
        self._bytes[channel] += len(raw)
        if self._size >= self._flush_at:
            self.flush()

    def _hidden(self, event: Event, redactor: Redactor) -> bool:
        """True if `event` held a secret: then it was written without, and marked."""
        if redactor.leaves(event):
            return False
        changed, keys = redactor.event(event)
        if keys:
            self._put(changed, is_plain(changed) and is_json(changed.raw[:-5]))
            self._put(mark(changed, keys), plain=False)
        return bool(keys)

    def _odd_line(self, event: Event, *, plain: bool) -> bytes:
        """The line of what is no plain frame at the place where the last one ended."""
        head = b'%b%d,"t":%b,"ch":"%b"' % (self._conv, event.seq, self._time_text, _NAMES[event.channel])
        if event.channel not in FRAMES and event.channel != "err":
            return b'%b,"msg":%b}\n' % (head, encode(event.body))
        if not event.raw:
            raise ValueError(f"no bytes on channel {event.channel!r}: facts belong to 'process' and 'control'")
        if self._ends[event.channel] != event.offset:
            head += b',"off":%d' % event.offset
        self._ends[event.channel] = event.offset + len(event.raw)
        if plain:
            return b'%b,"msg":%b}\n' % (head, event.raw[:-5])
        fault = _FAULTS.get(event.body.kind) if isinstance(event.body, Malformed) else None
        # A message that is whole may be too long as well: it says so itself when it is read again.
        if fault and not event.raw.endswith(TERMINATOR):
            head += b',"fault":"%b"' % fault
        return b'%b,"raw64":"%b"}\n' % (head, b64encode(event.raw))

    def flush(self) -> None:
        """Write what is kept, whole lines only."""
        unsent = memoryview(b"" if self._stopped else b"".join(self._lines))
        self._lines.clear()
        self._size = 0
        try:
            while unsent:
                unsent = unsent[self._file.write(unsent) :]
            self._file.flush()
        except OSError:
            self._stopped = True
            raise

    def close(self) -> None:
        """Write the end line and close the file if it was opened here. A second call does nothing."""
        if self._file.closed:
            return
        try:
            self._lines.append(encode(EndLine(self.header.conv, Counts(self._events, self._bytes))) + b"\n")
            self.flush()
        finally:
            self._stopped = True
            if self._own:
                self._file.close()


def _opened(path: Path | str) -> BinaryIO:
    """`path` for appending, unbuffered: a line that was cut there, by a kill, is ended first."""
    file: BinaryIO = open_private(Path(path), "a+b", buffering=0)
    if file.tell():
        file.seek(-1, 2)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def is_plain(event: Event) -> bool:
    r"""True if `event` is a frame that can stand in a line: one line of strict UTF-8 JSON, closed by ``\nend\n``."""
    raw, body = event.raw, event.body
    if not raw.endswith(TERMINATOR) or raw.find(_LINE_FEED) != len(raw) - 5 or _CARRIAGE in raw:
        return False
    # Half a surrogate pair is strict JSON, too, but no reader's.
    if body.__class__ is Malformed and not (body.strict and is_json(raw[:-5])):
        return False
    if event.channel == "in" and BARE_NAN in raw and not is_json(raw[:-5]):
        return False
    return event.channel in FRAMES and raw[0] in b"{[" and raw[-6] in b"}]"


def is_json(text: bytes) -> bool:
    """True if `text` is strict JSON in UTF-8."""
    try:
        _skip(text)
        # What is skipped is not looked at as text.
        check_utf8(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True
