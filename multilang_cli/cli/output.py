"""What commands write to: stdout, which may be closed early, and a line of progress on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Progress = Callable[[str, int, int], None]

_ERASE = "\r\x1b[K"


@contextmanager
def stdout_may_close() -> Iterator[None]:
    """Go on quietly if nobody reads stdout any more: the exit code is still the verdict's."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # rich makes a SystemExit of a broken pipe; nothing that only prints has another reason for one.
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


def remark(text: str) -> None:
    """A line on stderr; quietly not if nobody reads it."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


@contextmanager
def progress_line(*, verbose: bool, quiet: bool) -> Iterator[Progress | None]:
    """Says on stderr which case runs: each on a line of its own if `verbose`, else on one line of a terminal only."""
    terminal = sys.stderr.isatty()
    if verbose:
        yield _name
    elif quiet or not terminal:
        yield None
    else:
        try:
            yield _show
        finally:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


def _name(case: str, done: int, total: int) -> None:
    sys.stderr.write(f"{done + 1}/{total} {case}\n")
    sys.stderr.flush()


def _show(case: str, done: int, total: int) -> None:
    sys.stderr.write(f"{_ERASE}{done + 1}/{total} {case}")
    sys.stderr.flush()
