"""Recordings that the command line names, to be read or written: files, directories, or stdin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.terminal.exits import CommandError
from multilang_cli.transcript.naming import HISTORY
from multilang_cli.transcript.private import make_private, open_afresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STDIN = "/dev/stdin"
"""Where stdin is found by those who open paths."""


class RecordError(CommandError):
    """The directory for transcripts can't be used: the message says why."""


def prepare_record(record: Path) -> None:
    """Make the directory for transcripts. Raises RecordError if nothing can be written there."""
    try:
        make_private(record)
        probe = record / ".writable"
        open_afresh(probe).close()
        probe.unlink()
    except OSError as error:
        raise RecordError(unwritable(record, error.strerror or str(error))) from None


def unwritable(record: Path, why: str) -> str:
    """The sentence on a directory to which transcripts can't be written."""
    return f"transcripts can't be written to {record}: {why} (--record DIR)"


def paths_of(command: str, transcripts: Sequence[str]) -> list[str]:
    """The files that the command line names: those of directories as well. Raises CommandError."""
    return [STDIN] if "-" in transcripts else [path for name in transcripts for path in _files_of(command, name)]


def refuse_overwriting(command: str, outputs: Iterable[str | Path], recorded: Iterable[str | Path]) -> None:
    """Refuse to write over a recording that is read. Raises CommandError."""
    # What can't be looked at, such as too long a name, is for whoever opens it to tell.
    files = [each for each in recorded if os.path.exists(each)]  # noqa: PTH110
    for output in outputs:
        if os.path.exists(output) and any(Path(output).samefile(each) for each in files):  # noqa: PTH110
            raise CommandError(f"{command}: {output}: that is the recording itself; choose another file.")


def _files_of(command: str, name: str) -> list[str]:
    """A file, or the transcripts in a directory, else in those below it. Raises CommandError if there are none.

    A run of a topology or of several components has them in directories below its own.
    """
    if not os.path.isdir(name):  # noqa: PTH112 (a name that is too long is none)
        return [name]
    found = _transcripts_in(name, "*") or _transcripts_in(name, "**/*")
    if not found:
        raise CommandError(f"{command}: {name}: there are no transcripts (*.ndjson, *.ndjson.gz) in this directory.")
    return found


def _transcripts_in(directory: str, anything: str) -> list[str]:
    named = {path for end in (".ndjson", ".ndjson.gz") for path in Path(directory).glob(anything + end)}
    # To open a pipe that somebody has put there would wait for a writer.
    return sorted(str(path) for path in named if path.name != HISTORY and path.is_file())
