"""Lines of a file as Python reads them, unpacked too: pip's PySpark has no zstd and fears damaged gzip."""

from __future__ import annotations

import io
import stat
import zlib
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import zstandard

from multilang_cli.audit.parsing import FAULT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKED = (".gz", ".zst")
"""How the names of packed files end."""
LINES_OF_A_BATCH = 4096
"""Lines of a batch, at most."""
MOST_BYTES = 8 * 1024 * 1024
"""Bytes of the lines of a batch, about."""
LONGEST_KEPT_LINE = 256 * 1024 * 1024
"""Bytes of a line that are kept."""
_UNPACKED_BYTES = 16 * 1024
"""Bytes that are unpacked at a time: zstd makes thousands of one."""
_GZIP = 31
"""How zlib is told that what it unpacks has gzip's header and checksum."""
_BLOCK = 512 * 1024
"""Bytes of a plain file that are read at a time."""
TIMES_UNPACKED, LEAST_UNPACKED = 200, 8 * 1024 * 1024
"""How many times its own size a file may unpack to, and what any may: recordings stay below fifty times."""
_SKIPPED = 1024 * 1024
"""Bytes that are read at a time of a line that another has."""
_FAULTS = (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError)


class LineFault(bytes):
    """A reason in the place of lines that can't be had. No line of a file is one, whatever it holds."""

    __slots__ = ()

    @property
    def why(self) -> str:
        """The reason as a sentence."""
        return self[len(FAULT) :].decode("utf-8", "replace")


def packed(path: str, content: bytes | None = None) -> Iterator[bytes]:
    """The lines of a packed file, or of its `content`, that can be had; of others, one says why."""
    try:
        with (
            Path(path).open("rb") if content is None else io.BytesIO(content) as file,
            _unpacked(path, file) as unpacked,
        ):
            left = max(LEAST_UNPACKED, TIMES_UNPACKED * file.seek(0, io.SEEK_END))
            file.seek(0)
            for line in iter(partial(unpacked.readline, LONGEST_KEPT_LINE), b""):
                left -= len(line)
                if left < 0:
                    raise ValueError(f"it is more than {TIMES_UNPACKED} times its size")
                yield line.removesuffix(b"\n")
    except _FAULTS as error:
        yield _fault("unpacked", error)


def blocks(path: str, start: int, end: int) -> Iterator[bytes]:
    """Whole lines that begin between two bytes of a file, many together; the last says why if some can't be had.

    A block may lack the newline of its last line.
    """
    try:
        with Path(path).open("rb") as file:
            at = _seek(file, start)
            while at < end and (block := file.read(min(_BLOCK, end - at))):
                if not block.endswith(b"\n"):
                    block += file.readline(LONGEST_KEPT_LINE)
                at += len(block)
                yield block
    except _FAULTS as error:
        yield _fault("read", error)


def whole_file(path: str) -> Iterator[bytes]:
    """Every line of a file that can be had; a `LineFault` says why others can't.

    What is no regular file is not opened: a pipe would be waited for.
    """
    try:
        state = Path(path).stat()
    except (OSError, ValueError) as error:
        yield _fault("read", error)
        return
    if not stat.S_ISREG(state.st_mode):
        yield _fault("read", ValueError("it is no regular file"))
    elif path.endswith(PACKED):
        yield from packed(path)
    else:
        for block in blocks(path, 0, state.st_size):
            yield from [block] if isinstance(block, LineFault) else block.removesuffix(b"\n").split(b"\n")


def together(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The same lines in batches."""
    kept: list[bytes] = []
    size = 0
    for text in texts:
        kept.append(text)
        size += len(text)
        if len(kept) >= LINES_OF_A_BATCH or size >= MOST_BYTES:
            yield kept
            kept, size = [], 0
    if kept:
        yield kept


def _seek(file: IO[bytes], start: int) -> int:
    """Go to the first line that begins there or later; the place."""
    if not start:
        return 0
    at = file.seek(start - 1)
    while skipped := file.readline(_SKIPPED):
        at += len(skipped)
        if skipped.endswith(b"\n"):
            break
    return at


def _fault(done: str, error: Exception) -> LineFault:
    return LineFault(FAULT + f"from here on the file can't be {done}: {error}".encode("utf-8", "replace"))


def _unpacked(path: str, file: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Unpacked(file, gzipped=path.endswith(".gz")), 1 << 20)


class _Unpacked(io.RawIOBase):
    """Reader of a file of gzip members or zstd frames.

    The library of zstd says nothing where the file was cut; that of gzip gives nothing of what it unpacked before it
    came to what is damaged.
    """

    def __init__(self, file: IO[bytes], *, gzipped: bool) -> None:
        self._file = file
        self._gzipped = gzipped
        self._begun = False
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
            self._packed = self._packed or self._file.read(_UNPACKED_BYTES)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends amid a frame")
                return 0
            self._unpack()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _unpack(self) -> None:
        if self._frame is None:
            if self._gzipped and self._begun:
                # Zeros may stand behind a member: what fills blocks of a tape.
                self._packed = self._packed.lstrip(b"\0")
                if not self._packed:
                    return
            self._begun = True
            self._frame = zlib.decompressobj(_GZIP) if self._gzipped else zstandard.ZstdDecompressor().decompressobj()
        before = self._frame.copy() if self._gzipped else self._frame
        try:
            self._ready = self._frame.decompress(self._packed)
        except _FAULTS as error:
            self._fault = error
            self._ready = _until_fault(before, self._packed)
            return
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = None


def _until_fault(unpacker: Any, packed: bytes) -> bytes:
    """All that can be had of packed bytes of which some are wrong; of a zstd frame nobody knows any more."""
    found = bytearray()
    with suppress(*_FAULTS):
        for at in range(len(packed)):
            found += unpacker.decompress(packed[at : at + 1])
    return bytes(found)
