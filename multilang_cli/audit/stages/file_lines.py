"""Lines of a file as Python reads them, unpacked too: pip's PySpark has no zstd and fears damaged gzip."""

from __future__ import annotations

import io
import stat
import zlib
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import zstandard

from multilang_cli.audit.parsing import FAULT
from multilang_cli.transcript.unpacking import unpacked

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
            _unpacked(path, file) as content_file,
        ):
            left = max(LEAST_UNPACKED, TIMES_UNPACKED * file.seek(0, io.SEEK_END))
            file.seek(0)
            for line in iter(partial(content_file.readline, LONGEST_KEPT_LINE), b""):
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
    if path.endswith(".gz"):
        return unpacked(file)
    return unpacked(file, lambda: zstandard.ZstdDecompressor().decompressobj(), _FAULTS)
