"""Files and folders that only who made them may read: recordings hold what went through a topology.

`whole_file`: of one that is not done, a SIGKILL leaves nothing, but for the moment in which it takes its place.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN_FILE, OWN_FOLDER = 0o600, 0o700
"""Modes of what is made; what is there already keeps its own."""
USUAL_FILE = 0o666
"""The mode of what is made to be handed on, before the umask takes its part."""
OURS = ".mlcheck"
"""The folder that all of ours stands in, where no other is named: the names below it tell of a topology too."""

_UNKNOWN = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS})
"""Errors of a system that knows no files without a name."""
_OPENED = "/proc/self/fd"
_OWN_NAME = 60
"""Characters of a name that stand in that of the file beside it: with all of them it might be too long."""
_COPIED = 1 << 20
"""Bytes that are copied in one go."""


def make_private(folder: Path) -> None:
    """Make a folder, and those above it, which are as others are but for `OURS`. Raises OSError."""
    if ours := next((each for each in folder.parents if each.name == OURS), None):
        with suppress(FileExistsError):  # a file: what is to be made below says so
            ours.mkdir(OWN_FOLDER, parents=True, exist_ok=True)
    folder.mkdir(OWN_FOLDER, parents=True, exist_ok=True)


def open_private(path: Path, mode: str, **options: Any) -> Any:
    """Open a file as `Path.open` does, but for a link, which leads anywhere. Raises OSError."""
    return open(path, mode, opener=_opener, **options)


def open_afresh(path: Path, mode: str = "wb", **options: Any) -> Any:
    """Open a file of one's own that is made anew. Raises OSError.

    What has its name goes, and is not written to: others may have put a link there in a folder that they share.
    """
    path.unlink(missing_ok=True)
    return open_private(path, mode.replace("w", "x"), **options)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, OWN_FILE)


@contextmanager
def whole_file(path: Path, mode: str = "wb", *, permissions: int = OWN_FILE, **options: Any) -> Iterator[Any]:
    """Open a file that takes the place of `path` when the block is through. Raises OSError.

    Until then it has no name; where the system knows no such files it stands beside `path`, and goes with the block.
    """
    beside = path.with_name(f".{path.name[-_OWN_NAME:]}.{os.getpid()}.tmp")
    number, nameless = _made(beside, permissions)
    try:
        with os.fdopen(number, mode, **options) as file:
            yield file
            file.flush()
            if nameless:
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
    return _named(beside, permissions), False


def _named(path: Path, permissions: int) -> int:
    path.unlink(missing_ok=True)
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, permissions)


def _name(number: int, path: Path) -> None:
    """Give a file its name, or all that is in it to one that has it, where none may be named so (AppArmor, FUSE)."""
    path.unlink(missing_ok=True)
    # Only with a folder's number the link in /proc is followed.
    folder = os.open(_OPENED, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(str(number), path, src_dir_fd=folder)
    except OSError:
        with os.fdopen(_named(path, OWN_FILE), "wb") as file:
            os.lseek(number, 0, os.SEEK_SET)
            while part := os.read(number, _COPIED):
                file.write(part)
            os.fchmod(file.fileno(), stat.S_IMODE(os.fstat(number).st_mode))
    finally:
        os.close(folder)
