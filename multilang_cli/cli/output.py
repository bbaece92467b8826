"""What commands write to: stdout, which may be closed early, and a line of progress on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]

_ERASE = "\r\x1b[K"


@contextmanager
def stdout_may_close() -> Iterator[None]:
    """Go on quietly if nobody reads stdout any more: the exit code is still the verdict's."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_stdout()


def abandon_stdout() -> None:
    """Write to nowhere from now on, so that Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def write(text: str) -> None:
    """Write to stdout; quietly not if nobody reads it."""
    with stdout_may_close():
        sys.stdout.write(text)


@contextmanager
def progress_line(*, wanted: bool) -> Iterator[Progress | None]:
    """A line on stderr that says which case runs, erased at the end; None unless stderr is a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    try:
        yield _show
    finally:
        sys.stderr.write(_ERASE)
        sys.stderr.flush()


def _show(case: str, done: int, total: int) -> None:
    sys.stderr.write(f"{_ERASE}{done + 1}/{total} {case}")
    sys.stderr.flush()
