"""Files and folders of recordings, which only who recorded may read: they hold what went through a topology."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

OWN_FILE, OWN_FOLDER = 0o600, 0o700
"""Modes of what is made; what is there already keeps its own."""
USUAL_FILE = 0o666
"""The mode of what is made to be handed on, before the umask takes its part."""
OURS = ".mlcheck"
"""The folder that all of ours stands in, where no other is named: the names below it tell of a topology too."""


def make_private(folder: Path) -> None:
    """Make a folder, and those above it, which are as others are but for `OURS`. Raises OSError."""
    if ours := next((each for each in folder.parents if each.name == OURS), None):
        with suppress(FileExistsError):  # a file: what is to be made below says so
            ours.mkdir(OWN_FOLDER, parents=True, exist_ok=True)
    folder.mkdir(OWN_FOLDER, parents=True, exist_ok=True)


def open_private(path: Path, mode: str, **options: Any) -> Any:
    """Open a file as `Path.open` does. Raises OSError."""
    return open(path, mode, opener=_opener, **options)


def open_afresh(path: Path, mode: str = "wb", **options: Any) -> Any:
    """Open a file of one's own that is made anew. Raises OSError.

    What has its name goes, and is not written to: others may have put a link there in a folder that they share.
    """
    path.unlink(missing_ok=True)
    return open_private(path, mode.replace("w", "x"), **options)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, OWN_FILE)
