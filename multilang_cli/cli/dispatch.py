"""From the words of the command line to a command, and from whatever happens there to an exit code."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from multilang_cli.cli.commands import COMMANDS, GROUPS, group_help, top_help
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.interrupts import have_usual_signals, interruptible
from multilang_cli.terminal.output import abandon_stdout, complain, write
from multilang_cli.transcript.given import GIVEN

if TYPE_CHECKING:
    from collections.abc import Sequence

_HELP = frozenset({"-h", "--help"})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NOT_THERE = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ELOOP, errno.ENAMETOOLONG),
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENXIO, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE),
    }
)
"""Errors of the system that are of the machine, or of the path that was named."""
_SIZES = ("COLUMNS", "LINES")
_MOST_DIGITS = 5
_LOOP = "Symlink loop from"
"""What pathlib says of links that lead to each other, before Python 3.13."""


def dispatch(arguments: Sequence[str]) -> int:
    """Do what `arguments` say. Never raises: what goes wrong is a paragraph on stderr and an exit code."""
    if sys.platform == "win32":
        complain("it runs on Linux and macOS; on Windows, run it inside WSL.")
        return ExitCode.MISUSE
    with GIVEN.while_open():
        return _done(arguments)


def _done(arguments: Sequence[str]) -> int:
    try:
        with interruptible():
            return _guarded(arguments)
    except CommandError as error:
        _hide_secrets_in(arguments)
        complain(error.message)
        return error.code
    except KeyboardInterrupt:
        complain("interrupted.")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last resort: no traceback in front of a user)
        if why := _why_not(error):
            complain(why)
            return ExitCode.MISUSE
        from multilang_cli.terminal.fault import report_fault  # noqa: PLC0415

        complain(report_fault(error, arguments))
        return ExitCode.HARNESS_FAULT


def _why_not(error: Exception) -> str:
    """The sentence of what the system refuses, where that is no fault of ours; else ""."""
    if isinstance(error, RuntimeError) and str(error).startswith(_LOOP):
        return f"{error}; choose another path."
    if not isinstance(error, OSError):
        return ""
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) and error.filename else ""
    if error.errno in _FULL:
        abandon_stdout()
        return f"{where}can't write: {error.strerror}. Make room, or write elsewhere."
    if not where and _stdout_refuses(error):
        abandon_stdout()
        return f"stdout can't be written: {error.strerror}."
    return f"{where}{error.strerror}; choose another, or mend it." if where and error.errno in _NOT_THERE else ""


def _stdout_refuses(error: OSError) -> bool:
    """True if it comes from stdout: one that is open for reading only, or a terminal that is gone."""
    try:
        os.write(sys.stdout.fileno(), b"")
    except OSError as again:
        return again.errno is not None and again.errno == error.errno
    return False


def _hide_secrets_in(arguments: Sequence[str]) -> None:
    """Know the secrets of the command line itself, which a complaint may quote."""
    from multilang_cli.transcript.secrets import declare  # noqa: PLC0415 (slow to import, and only for a mistake)

    declare((), arguments)


def _guarded(arguments: Sequence[str]) -> int:
    if not arguments:
        sys.stderr.write(top_help())
        return ExitCode.MISUSE
    name, *rest = arguments
    if name in _HELP:
        write(top_help())
        return ExitCode.CONFORMANT
    if name in GROUPS:
        if rest[:1] and rest[0] in _HELP:
            write(group_help(name))
            return ExitCode.CONFORMANT
        if not rest:
            raise CommandError(f"{name}: which? {_words_of(name)}.")
        name, rest = f"{name} {rest[0]}", rest[1:]
    if name not in COMMANDS:
        raise CommandError(_unknown(name))
    return _call(name, rest)


def _call(name: str, arguments: Sequence[str]) -> int:
    from importlib import import_module  # noqa: PLC0415 (not needed for help)

    from multilang_cli.cli.app import call  # noqa: PLC0415
    from multilang_cli.driver.reaper import REAPER  # noqa: PLC0415

    if name != "tap":
        # Behind a tap a component has what it would have without: no working directory, ignored signals.
        _check_working_directory()
        have_usual_signals()
        _have_usual_size()
    REAPER.adopts = True
    entry = COMMANDS[name]
    return call(getattr(import_module(f"multilang_cli.cli.{entry.module}"), entry.function), name, arguments)


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


def _unknown(name: str) -> str:
    from multilang_cli.terminal.nearest import did_you_mean  # noqa: PLC0415 (only for a mistake)

    group, _, last = name.partition(" ")
    if last:
        known = [words.split()[1] for words in COMMANDS if words.startswith(f"{group} ")]
        return f"{group}: there is no command {last!r}{did_you_mean(last, known)} `mlcheck {group} --help` shows all."
    if name.startswith("-"):
        known = ["--version", "--help"]
        return f"there is no option {name!r} before a command{did_you_mean(name, known)} `mlcheck --help` shows all."
    known = list(dict.fromkeys(words.split()[0] for words in COMMANDS))
    return f"there is no command {name!r}{did_you_mean(name, known)} `mlcheck --help` shows all."


def _words_of(group: str) -> str:
    return ", ".join(f"mlcheck {words}" for words in COMMANDS if words.startswith(f"{group} "))
