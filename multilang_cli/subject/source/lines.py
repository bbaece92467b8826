"""Lines of a file of source that a component's folder holds."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 20
"""Bytes of one file that are read."""


def source_lines(path: Path) -> list[str]:
    """The lines of a source. A component may have put a pipe or a device in its place: that is none. Raises OSError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return []
        return file.read(MOST_BYTES).decode("utf-8", "backslashreplace").splitlines()
