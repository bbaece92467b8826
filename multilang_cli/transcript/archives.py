"""Zip archives that people hand over: jars and bundles. Whatever is wrong with one is an error of its reader."""

from __future__ import annotations

import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_BYTES = 8 * 1024**3
"""Bytes that an archive may unpack to."""
MOST_TIMES, LEAST_BYTES = 100, 64 * 1024**2
"""How many times its own size an archive may unpack to, and what any may."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""All that Java and mlcheck write; the errors of the others' libraries are of no common kind."""
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    # Names that are no UTF-8, and fields that are cut.
    *(UnicodeDecodeError, struct.error),
)
"""What zipfile raises for what is no archive."""


class ArchiveError(ValueError):
    """An archive that can't be read: the message says why."""


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive to read from, also where its damage shows only then. Raises ArchiveError, OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if any(entry.header_offset < 0 for entry in entries):
                raise ArchiveError("its list of files points before its beginning")
            if strange := [entry for entry in entries if entry.compress_type not in _METHODS]:
                name, method = strange[0].filename[:80], strange[0].compress_type
                raise ArchiveError(f"{name!a} is packed by method {method}; only deflate is read")
            yield archive
    except _DAMAGED as error:
        raise ArchiveError(str(error)) from None


def most_bytes(size: int) -> int:
    """Bytes that an archive of this size may unpack to."""
    return min(MOST_BYTES, max(LEAST_BYTES, MOST_TIMES * size))


def unpack_chosen(path: Path, folder: Path, chosen: Callable[[str], bool]) -> Sequence[Path]:
    """Unpack the members with a name that is `chosen` into `folder`: where they are. Raises ArchiveError."""
    try:
        with opened(path) as archive:
            entries = [entry for entry in archive.infolist() if chosen(entry.filename)]
            if sum(entry.file_size for entry in entries) > (most := most_bytes(path.stat().st_size)):
                raise ArchiveError(f"it unpacks to more than {most} bytes")
            return [Path(archive.extract(entry, folder)) for entry in entries]
    except OSError as error:
        raise ArchiveError(f"it can't be unpacked: {error.strerror or error}") from None
