"""Transcripts that the command line names, found and judged: the beginning of `lint` and `report`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts, lint_result
from multilang_cli.subject.recordings import STDIN, paths_of
from multilang_cli.subject.storms import known_storm
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import remark
from multilang_cli.transcript.format import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult

LARGE_RECORDINGS = 200_000_000
"""Bytes of transcripts from which on a user is told to be patient."""


def judged(
    command: str,
    transcripts: Sequence[str],
    storm: str,
    *,
    strict: bool = False,
    twice: bool = False,
    coverage: bool = False,
    open_ended: bool = False,
) -> tuple[RunResult, Rulebook]:
    """The result of judging `transcripts`, as the command line names them, for the version `storm`, "" as recorded.

    `twice`: they will be read once more, stdin too. `coverage`: what they exercised is told as well.
    `open_ended`: the end may be missing. Raises CommandError, which names the `command`.
    """
    if "-" in transcripts and len(transcripts) > 1:
        raise CommandError(f"{command}: - stands for stdin and must be the only transcript.")
    version = known_storm(storm)
    rulebook = load_rulebook(version)
    if "-" in transcripts and twice:
        _keep_stdin()
    paths = paths_of(command, transcripts)
    size = sum(Path(path).stat().st_size for path in paths if os.path.isfile(path))  # noqa: PTH113
    if size >= LARGE_RECORDINGS:
        remark(f"{command}: {size / 1e6:,.0f} MB are read; this may take minutes")
    try:
        found = judge_transcripts(paths, rulebook, version, coverage=coverage, open_ended=open_ended)
        return lint_result(found, strict=strict), rulebook
    except TranscriptError as error:
        hint = "Transcripts are what `mlcheck run`, `tap` and `repl` record."
        raise CommandError(f"{command}: {error}. {hint}") from None
    except OSError as error:
        raise CommandError(f"{command}: {error.filename}: can't be read: {error.strerror}.") from None


def _keep_stdin() -> None:
    """Put a file in the place of stdin, with all that comes through it: a pipe can be read only once."""
    if Path(STDIN).is_file():
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        os.dup2(file.fileno(), sys.stdin.fileno())
