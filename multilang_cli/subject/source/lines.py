"""Lines of a file of source that a component's folder holds."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 20
"""Bytes of one file that are read."""
_HEAD = 1024
"""Bytes that tell a program's binary by a NUL."""


def source_lines(path: Path) -> list[str]:
    """The lines of a source; none of a binary, nor of a pipe or device that a component put there. Raises OSError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return []
        head = file.read(_HEAD)
        # Decoding a whole binary, such as the interpreter of a command, takes a twentieth of a second.
        return (
            []
            if b"\0" in head
            else (head + file.read(MOST_BYTES - _HEAD)).decode("utf-8", "backslashreplace").splitlines()
        )
