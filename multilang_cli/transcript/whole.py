"""Files that are written whole or not at all: of one that is not done, a SIGKILL at any moment leaves nothing."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from multilang_cli.transcript.private import OWN_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UNKNOWN = frozenset({errno.EOPNOTSUPP, errno.EISDIR})
"""Errors of a system that knows no files without a name."""
_OPENED = "/proc/self/fd"


@contextmanager
def whole_file(path: Path, mode: str = "wb", *, permissions: int = OWN_FILE, **options: Any) -> Iterator[Any]:
    """Open a file that takes the place of `path` when the block is through. Raises OSError.

    Until then it has no name; where the system knows no such files it stands beside `path`, and goes with the block.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    number, nameless = _made(beside, permissions)
    try:
        with os.fdopen(number, mode, **options) as file:
            yield file
            file.flush()
            if nameless:
                beside.unlink(missing_ok=True)
                _name(number, beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _made(beside: Path, permissions: int) -> tuple[int, bool]:
    """A new file as a number, and whether it has no name. What has its name beside goes, and is not written to."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir(_OPENED):  # noqa: PTH112 (cheaper)
        try:
            return os.open(beside.parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, permissions), True
        except OSError as error:
            if error.errno not in _UNKNOWN:
                raise
    beside.unlink(missing_ok=True)
    return os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, permissions), False


def _name(number: int, path: Path) -> None:
    """Give a file its name. Only with a folder's number the link in /proc is followed."""
    folder = os.open(_OPENED, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(str(number), path, src_dir_fd=folder)
    finally:
        os.close(folder)
