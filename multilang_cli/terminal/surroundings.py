"""Surroundings that commands, and the components which they start, rely on."""

from __future__ import annotations

import os

from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.interrupts import have_usual_signals

_SIZES = ("COLUMNS", "LINES")
_MOST_DIGITS = 5


def have_usual_surroundings() -> None:
    """Have a working directory, signals and a size of the terminal as others have them. Raises CommandError."""
    _check_working_directory()
    have_usual_signals()
    _have_usual_size()


def _have_usual_size() -> None:
    """Forget sizes of a terminal that are no numbers of a few digits: rich reads whatever it finds."""
    for name in _SIZES:
        given = os.environ.get(name, "0")
        if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS):
            del os.environ[name]


def _check_working_directory() -> None:
    try:
        os.getcwd()  # noqa: PTH109 (it is only asked)
    except OSError as error:
        raise CommandError(f"the working directory is gone ({error.strerror}); change to another.") from None
