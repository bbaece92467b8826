"""Files as lines, and what gzip and others have compressed as the bytes that can be had, however damaged it is."""

from __future__ import annotations

import io
import os
import stat
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from multilang_cli.transcript.format import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST_LINE = 256 * 1024 * 1024
"""Bytes of the longest line that is read: a message of 64 MiB, the usual limit, takes a third of that."""
PIECE_OF_LINE = 1024 * 1024
"""Bytes of a long line that are read at a time."""
READ_BLOCK = 48 * 1024
"""Bytes that are read at a time, and lines of them together: what is made of more does not stay in the caches."""
_BEGINS_GZIP = b"\x1f\x8b"
_BEGINS_ZSTD = b"\x28\xb5\x2f\xfd"
_UNPACKABLE = (EOFError, zlib.error)
MOST_ZEROS = 512
"""Zeros that may stand behind a member: what fills a block of a tape. More are none that anyone has written there."""
_PACKED_BYTES = 16 * 1024
"""Bytes that are unpacked at a time: zstd makes thousands of one."""
_GZIP = 31
"""How zlib is told that what it unpacks has gzip's header and checksum."""


def unpacked(
    file: IO[bytes], frame: Callable[[], Any] | None = None, faults: tuple[type[Exception], ...] = ()
) -> io.BufferedReader:
    """The bytes compressed in a file, by gzip unless `frame` begins to unpack something else, which raises `faults`.

    Reading raises EOFError, zlib.error or one of `faults` behind all that can be had.
    """
    return io.BufferedReader(_Unpacked(file, frame, (zlib.error, *faults)), 1 << 20)


class _Unpacked(io.RawIOBase):
    """Reader of gzip members, or frames.

    The library of zstd says nothing where the file was cut; that of gzip gives nothing of what it unpacked before it
    came to what is damaged, and takes a minute for 600 MB of zeros.
    """

    def __init__(self, file: IO[bytes], frame: Callable[[], Any] | None, faults: tuple[type[Exception], ...]) -> None:
        self._file = file
        self._new_frame = frame
        self._faults = faults
        self._begun = False
        self._zeros = 0
        self._frame: Any = None
        self._packed = self._ready = b""
        self._fault: Exception | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack into `buffer`; how many bytes, 0 at the end. Raises what is wrong behind all that can be had."""
        while not self._ready:
            if self._fault is not None:
                raise self._fault
            self._packed = self._packed or self._file.read(_PACKED_BYTES)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends amid a frame")
                return 0
            self._unpack()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _unpack(self) -> None:
        gzipped = self._new_frame is None
        if self._frame is None:
            if gzipped and self._begun and not self._passed_zeros():
                return
            self._begun, self._zeros = True, 0
            self._frame = zlib.decompressobj(_GZIP) if self._new_frame is None else self._new_frame()
        before = self._frame.copy() if gzipped else self._frame
        try:
            self._ready = self._frame.decompress(self._packed)
        except self._faults as error:
            self._fault = error
            self._ready = self._until_fault(before)
            return
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = None

    def _passed_zeros(self) -> bool:
        """Pass over what fills a block; True if another member begins here."""
        left = self._packed.lstrip(b"\0")
        self._zeros += len(self._packed) - len(left)
        self._packed = left
        if self._zeros > MOST_ZEROS:
            self._fault = zlib.error(f"more than {MOST_ZEROS} zeros stand behind what was compressed")
        return bool(left) and self._fault is None

    def _until_fault(self, unpacker: Any) -> bytes:
        """All that can be had of packed bytes of which some are wrong; of a zstd frame nobody knows any more."""
        found = bytearray()
        with suppress(*self._faults):
            for at in range(len(self._packed)):
                found += unpacker.decompress(self._packed[at : at + 1])
        return bytes(found)


@contextmanager
def opened(path: Path | str) -> Iterator[io.BufferedReader]:
    """The file, or what was compressed there. Raises TranscriptError for what is no file and has no end, or zstd's."""
    with Path(path).open("rb") as file:
        # A terminal ends where its user says so.
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty() and file.peek(1):
            raise TranscriptError(str(path), 0, "a device, which has no end: give a recording")
        begin = file.peek(len(_BEGINS_ZSTD))
        if begin.startswith(_BEGINS_ZSTD):
            raise TranscriptError(str(path), 0, "compressed by zstd, which only `mlcheck audit` reads: unpack it first")
        if begin.startswith(_BEGINS_GZIP):
            with unpacked(file) as content:
                yield content
        else:
            yield file


class LineBlocks:
    """Lines of a file, as bytes: many at a time where they are short. `torn`: what was compressed there is damaged."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._rest = b""
        self.torn: Exception | None = None

    def block(self) -> bytes:
        """Whole lines that stand together; empty at the end of the file, and where a long line begins."""
        data = self._rest + self._read(lambda: self._file.read1(READ_BLOCK))
        stop = data.rfind(b"\n") + 1
        self._rest = data[stop:]
        return data[:stop]

    def line(self) -> bytes:
        """The next line, or the first LONGEST_LINE bytes of it; empty at the end of the file."""
        begin, self._rest = b"" if self.torn else self._rest, b""
        text = begin + self._read(lambda: self._file.readline(PIECE_OF_LINE))
        return text if text.endswith(b"\n") or len(text) < PIECE_OF_LINE else self._long_line(text)

    def _long_line(self, begin: bytes) -> bytes:
        """A line that begins so, in one place as it grows: the pieces of a long one, beside it, are as long again."""
        text = io.BytesIO()
        text.write(begin)
        while text.tell() < LONGEST_LINE and (
            more := self._read(lambda: self._file.readline(min(PIECE_OF_LINE, LONGEST_LINE - text.tell())))
        ):
            text.write(more)
            if more.endswith(b"\n"):
                break
        return text.getvalue()

    def skip_line(self) -> int:
        """Pass over what is left of a line that was begun, without keeping it: how many bytes that was."""
        size = 0
        while text := self._read(lambda: self._file.readline(PIECE_OF_LINE)):
            size += len(text)
            if text.endswith(b"\n"):
                break
        return size

    def _read(self, read: Callable[[], bytes]) -> bytes:
        try:
            return b"" if self.torn else read()
        except _UNPACKABLE as error:
            self.torn = error
            return b""
