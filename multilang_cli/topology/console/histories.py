"""The history of a run that the command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.terminal.exits import CommandError
from multilang_cli.topology.history_file import read_history
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from multilang_cli.topology.history import Happening


def history_in(folder: Path, given: str) -> Iterator[Happening]:
    """The history of a run in a folder; `given`: the words that named it. Raises CommandError."""
    path = folder / HISTORY
    try:
        yield from read_history(path)
    except OSError as error:
        raise CommandError(
            f"{given}: {path} can't be read: {error.strerror}. Give the folder of a run, as it says at its end: "
            ".mlcheck/topology/NAME by default."
        ) from None
    except msgspec.MsgspecError as error:
        raise CommandError(f"{given}: {path} is no history of a run: {error}.") from None
