r"""Bytes to frames, as Storm's ``JsonSerializer.readString`` cuts them, and frames back to the text Storm parses.

A frame is every byte up to and with a line that is exactly ``end``. Lines end as in Java's ``BufferedReader``: LF, CR
or CRLF; after a CR the frame is complete at once, and an LF that follows belongs to the next frame's bytes, where it
counts for nothing. So the raw bytes of all frames, in order, are the stream, byte for byte.
"""

from __future__ import annotations

from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.protocol.wire.lazy import LazySequence

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_LIMIT = 64 * 1024 * 1024
"""Bytes that an unfinished frame may have. Storm has no bound; ours is only to protect us."""

KEPT_OF_TOO_LONG = 64 * 1024
"""Bytes that are kept of a frame that passed the limit."""

LENGTHY = 512
"""Bytes that are likely to hold so many frames that reading them together pays."""

TERMINATOR = b"\nend\n"
_EMPTY = b"end\n"
_JOINT = b"}\nend\n{"

FrameFault = Literal["", "cut", "too-long"]


class Frame(msgspec.Struct, frozen=True, gc=False):
    r"""One message's bytes.

    `offset` in the stream, in bytes; `raw` every byte, terminator included; `newline` the byte that ended its last line
    (``\n`` or ``\r``, empty at end of file); `fault`: "cut" if the stream ended in it, "too-long" if it passed the
    limit (then `raw` is its beginning, `size` the limit, and the framer reads no more).
    """

    offset: int
    raw: bytes
    newline: str = "\n"
    fault: FrameFault = ""
    size: int = 0

    @property
    def text(self) -> bytes:
        r"""The lines before ``end``, as Storm joins them: leading blank lines dropped, others joined by LF."""
        return frame_text(self.raw)


def frame_text(raw: bytes) -> bytes:
    r"""The message inside the bytes of a frame (``JsonSerializer.readString``).

    >>> frame_text(b'{"command":"sync"}\nend\n')
    b'{"command":"sync"}'
    """
    if raw.endswith(TERMINATOR) and b"\r" not in raw and not raw.startswith(b"\n"):
        return raw[: -len(TERMINATOR)]
    lines = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    if b"end" in lines:
        lines = lines[: lines.index(b"end")]
    elif lines[-1] == b"":
        lines.pop()
    start = next((i for i, line in enumerate(lines) if line), len(lines))
    return b"\n".join(lines[start:])


def plain_run(data: bytes) -> int:
    r"""The number of frames in `data`, if each is an object on one line and ``\nend\n``; 0 if any is anything else.

    So none of them is empty, and nothing else in them ends a line: the line feeds are those of the terminators.

    >>> plain_run(b'{"command":"sync"}\nend\n' * 3)
    3
    """
    return len(plain_texts(data))


def plain_texts(data: bytes) -> list[bytes]:
    """The frames in `data`, each without its terminator, if they are a `plain_run`; none else."""
    if not data.startswith(b"{") or not data.endswith(b"}" + TERMINATOR) or b"\r" in data:
        return []
    if data.find(b"\n") == len(data) - len(TERMINATOR):
        return [data[: -len(TERMINATOR)]]
    texts = texts_of(data)
    # Looking for a byte in what is joined again is several times faster than counting it in all.
    return [] if data.count(_JOINT) + 1 != len(texts) or b"\n" in b"".join(texts) else texts


def count_byte(data: bytes, byte: bytes) -> int:
    """The number of times that `byte` stands in `data`, for one that is rare: ``bytes.count`` looks at each in turn.

    >>> count_byte(b'{"command":"ack","id":"1"}', b":")
    2
    """
    return len(data) - len(data.replace(byte, b""))


def texts_of(run: bytes) -> list[bytes]:
    """The frames in `run`, each without its terminator; none of them may be empty."""
    texts = run.split(TERMINATOR)
    texts.pop()
    return texts


class Frames(LazySequence[Frame]):
    """Frames that came together and of which each is plain, as `plain_run` says; they are made when looked at.

    `data`: the bytes of all; `offset`: where they begin in the stream; `texts`: each without its terminator.
    """

    __slots__ = ("data", "offset", "texts")

    def __init__(self, data: bytes, offset: int, texts: list[bytes]) -> None:
        self.data = data
        self.offset = offset
        self.texts = texts

    def _made(self) -> list[Frame]:
        raws = [text + TERMINATOR for text in self.texts]
        return list(map(Frame, accumulate(map(len, raws), initial=self.offset), raws))

    def __len__(self) -> int:
        return len(self.texts)


class Framer:
    """Cuts a byte stream into frames, whatever the pieces it arrives in.

    `limit` bounds an unfinished frame, in bytes. After a frame with fault "too-long" nothing more is produced.
    `lengthy`: bytes from which on `Frames` are looked for in them.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT, offset: int = 0, lengthy: int = LENGTHY) -> None:
        self.limit = limit
        self._lengthy = lengthy
        self.offset = offset
        self.overflowed = False
        self._buffer = bytearray()
        self._searched = 0
        self._line = 0
        self._carriage = False

    @property
    def pending(self) -> bytes:
        """The bytes of the unfinished frame."""
        return bytes(self._buffer)

    def is_between(self) -> bool:
        """True if it stands between two frames, and a frame may be added by moving `offset`: no CR was ever seen."""
        return not (self._buffer or self._carriage or self.overflowed)

    def feed(self, data: bytes) -> Sequence[Frame]:
        """Add bytes from the pipe; returns the frames that are now complete, oldest first, plain ones as `Frames`."""
        if self.overflowed or not data:
            return []
        if len(data) >= self._lengthy and (run := self._run(data)) is not None:
            return run
        if not (self._buffer or self._carriage) and len(data) <= self.limit and plain_run(data) == 1:
            frame = Frame(self.offset, data)
            self.offset += len(data)
            return [frame]
        if not self._carriage and b"\r" in data:
            self._carriage = True
            self._line = self._buffer.rfind(b"\n") + 1
            self._searched = len(self._buffer)
        may_pass = len(self._buffer) + len(data) > self.limit
        frames = self._cut_lines(data) if self._carriage else self._cut(data)
        return self._bounded(frames) if may_pass else frames

    def _run(self, data: bytes) -> Frames | None:
        """Take `data` in if all frames that are now complete are a `plain_run`; else nothing is taken."""
        if self._carriage or len(self._buffer) > len(data):
            return None
        whole = bytes(self._buffer) + data if self._buffer else data
        stop = whole.rfind(TERMINATOR) + len(TERMINATOR)
        found, rest = whole[:stop], whole[stop:]
        if len(whole) > self.limit or b"\r" in rest or not (texts := plain_texts(found)):
            return None
        run = Frames(found, self.offset, texts)
        if self._buffer or rest:
            self._buffer[:] = rest
            self._searched = 0
        self.offset += len(found)
        return run

    def _bounded(self, frames: list[Frame]) -> list[Frame]:
        """The frames up to the first that passes the limit, finished or not: whatever pieces the bytes came in."""
        within = list(takewhile(lambda frame: len(frame.raw) <= self.limit, frames))
        if len(within) < len(frames):
            long = frames[len(within)]
            offset, raw = long.offset, long.raw[:KEPT_OF_TOO_LONG]
        elif len(self._buffer) > self.limit:
            offset, raw = self.offset, bytes(self._buffer[:KEPT_OF_TOO_LONG])
        else:
            return frames
        self.overflowed = True
        self._buffer.clear()
        return [*within, Frame(offset, raw[: self.limit], "", "too-long", self.limit)]

    def close(self) -> Frame | None:
        """End of file: the rest as a frame, complete if its last line is ``end``, else cut. None if nothing is left.

        Line ends alone (the LF of a CRLF, blank lines) are no message that was begun.
        """
        raw = bytes(self._buffer)
        self._buffer.clear()
        if not raw.strip(b"\r\n") or self.overflowed:
            return None
        lines = raw.replace(b"\r", b"\n").split(b"\n")
        return Frame(self.offset, raw, "", "" if lines[-1] == b"end" else "cut")

    def _cut(self, data: bytes) -> list[Frame]:
        buffer = self._buffer
        if buffer:
            buffer += data
            if buffer.find(TERMINATOR, max(0, self._searched - len(TERMINATOR))) < 0 and not buffer.startswith(_EMPTY):
                self._searched = len(buffer)
                return []
            data = bytes(buffer)
            buffer.clear()
        self._searched = 0
        pieces = data.split(TERMINATOR)
        buffer += pieces.pop()
        if data.startswith(_EMPTY) or b"\nend\nend\n" in data:
            return self._cut_empty(pieces)
        if len(pieces) == 1:
            frame = Frame(self.offset, pieces[0] + TERMINATOR)
            self.offset += len(frame.raw)
            return [frame]
        raws = [piece + TERMINATOR for piece in pieces]
        *offsets, self.offset = accumulate(map(len, raws), initial=self.offset)
        return list(map(Frame, offsets, raws))

    def _cut_empty(self, pieces: list[bytes]) -> list[Frame]:
        """The frames of `pieces`, and of what is left in the buffer, where some frames are only ``end``."""
        buffer, frames, offset = self._buffer, [], self.offset
        for piece in pieces:
            raw = piece + TERMINATOR
            while raw.startswith(_EMPTY):
                frames.append(Frame(offset, _EMPTY))
                offset += len(_EMPTY)
                raw = raw.removeprefix(_EMPTY)
            if raw:
                frames.append(Frame(offset, raw))
                offset += len(raw)
        while buffer.startswith(_EMPTY):
            frames.append(Frame(offset, _EMPTY))
            offset += len(_EMPTY)
            del buffer[: len(_EMPTY)]
        self.offset = offset
        return frames

    def _cut_lines(self, data: bytes) -> list[Frame]:
        buffer = self._buffer
        buffer += data
        frames: list[Frame] = []
        start, line, position = 0, self._line, self._searched
        while (stop := _line_end(buffer, position)) >= 0:
            position = stop + 1
            if buffer[line:stop] == b"end":
                raw = bytes(buffer[start:position])
                frames.append(Frame(self.offset, raw, chr(buffer[stop])))
                self.offset += len(raw)
                start = position
            line = position
        del buffer[:start]
        self._line = line - start
        self._searched = len(buffer)
        return frames


def _line_end(buffer: bytearray, position: int) -> int:
    feed = buffer.find(b"\n", position)
    carriage = buffer.find(b"\r", position, feed if feed >= 0 else len(buffer))
    return carriage if carriage >= 0 else feed
