"""Recordings that the command line names: files, directories, or stdin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STDIN = "/dev/stdin"
"""Where stdin is found by those who open paths."""


def paths_of(command: str, transcripts: Sequence[str]) -> list[str]:
    """The files that the command line names: those of directories as well. Raises CommandError."""
    return [STDIN] if "-" in transcripts else [path for name in transcripts for path in _files_of(command, name)]


def spare(command: str, outputs: Iterable[str | Path], recorded: Iterable[str | Path]) -> None:
    """Refuse to write over a recording that is read. Raises CommandError."""
    # What can't be looked at, such as too long a name, is for whoever opens it to tell.
    files = [each for each in recorded if os.path.exists(each)]  # noqa: PTH110
    for output in outputs:
        if os.path.exists(output) and any(Path(output).samefile(each) for each in files):  # noqa: PTH110
            raise CommandError(f"{command}: {output}: that is the recording itself; choose another file.")


def _files_of(command: str, name: str) -> list[str]:
    """A file, or the transcripts in a directory. Raises CommandError if it has none."""
    if not os.path.isdir(name):  # noqa: PTH112 (a name that is too long is none)
        return [name]
    named = (path for pattern in ("*.ndjson", "*.ndjson.gz") for path in Path(name).glob(pattern))
    # To open a pipe that somebody has put there would wait for a writer.
    found = sorted(str(path) for path in named if path.is_file())
    if not found:
        raise CommandError(f"{command}: {name}: there are no transcripts (*.ndjson, *.ndjson.gz) in this directory.")
    return found
