"""Lines of a file as Python reads them, unpacked too: pip's PySpark has no zstd and fears damaged gzip."""

from __future__ import annotations

import gzip
import io
import zlib
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import zstandard

from multilang_cli.audit.parsing import FAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKED = (".gz", ".zst")
"""How the names of packed files end."""
LONGEST_KEPT_LINE = 256 * 1024 * 1024
"""Bytes of a line that are kept."""
_UNPACKED_BYTES = 16 * 1024
"""Bytes that are unpacked at a time: zstd makes thousands of one."""
_BLOCK = 512 * 1024
"""Bytes of a plain file that are read at a time."""
_SKIPPED = 1024 * 1024
"""Bytes that are read at a time of a line that another has."""
_FAULTS = (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError)


def packed(path: str, content: bytes | None = None) -> Iterator[bytes]:
    """The lines of a packed file, or of its `content`, that can be had; of others, one says why."""
    try:
        with (
            Path(path).open("rb") if content is None else io.BytesIO(content) as file,
            _unpacked(path, file) as unpacked,
        ):
            for line in iter(partial(unpacked.readline, LONGEST_KEPT_LINE), b""):
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


def _fault(done: str, error: Exception) -> bytes:
    return FAULT + f"from here on the file can't be {done}: {error}".encode("utf-8", "replace")


def _unpacked(path: str, file: IO[bytes]) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(file) if path.endswith(".gz") else io.BufferedReader(_Zstd(file), 1 << 20)


class _Zstd(io.RawIOBase):
    """Reader of a file of zstd frames. The library's own says nothing where the file was cut."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack into `buffer`; how many bytes, 0 at the end. Raises EOFError where the file was cut."""
        while not self._ready:
            self._packed = self._packed or self._file.read(_UNPACKED_BYTES)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends amid a frame")
                return 0
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            self._ready = self._frame.decompress(self._packed)
            self._packed = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
