"""Gzip members, and frames of other compressions, as the bytes that can be had of them, however damaged they are."""

from __future__ import annotations

import io
import zlib
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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
