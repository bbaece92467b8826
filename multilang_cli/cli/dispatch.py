"""From the words of the command line to a command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from multilang_cli.cli.commands import COMMANDS, GROUPS, group_help, top_help
from multilang_cli.terminal.ending import exit_code_of
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.interrupts import have_usual_signals, ignore_again
from multilang_cli.terminal.output import complain, write
from multilang_cli.transcript.given import GIVEN

if TYPE_CHECKING:
    from collections.abc import Sequence

_HELP = frozenset({"-h", "--help"})
_SIZES = ("COLUMNS", "LINES")
_MOST_DIGITS = 5


def dispatch(arguments: Sequence[str]) -> int:
    """Do what `arguments` say. Never raises: what goes wrong is a paragraph on stderr and an exit code."""
    if sys.platform == "win32":
        complain("it runs on Linux and macOS; on Windows, run it inside WSL.")
        return ExitCode.MISUSE
    try:
        with GIVEN.while_open():
            return exit_code_of(lambda: _guarded(arguments), arguments)
    finally:
        ignore_again()


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
            members = ", ".join(f"mlcheck {words}" for words in COMMANDS if words.startswith(f"{name} "))
            raise CommandError(f"{name}: which? {members}.")
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
        _forget_bad_sizes()
    REAPER.adopts = True
    entry = COMMANDS[name]
    return call(getattr(import_module(f"multilang_cli.cli.{entry.module}"), entry.function), name, arguments)


def _check_working_directory() -> None:
    try:
        os.getcwd()  # noqa: PTH109 (it is only asked)
    except OSError as error:
        raise CommandError(f"the working directory is gone ({error.strerror}); change to another.") from None


def _forget_bad_sizes() -> None:
    """Forget sizes of a terminal that are no numbers of a few digits: rich reads whatever it finds."""
    for name in _SIZES:
        given = os.environ.get(name, "0")
        if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS):
            del os.environ[name]


def _unknown(name: str) -> str:
    from multilang_cli.terminal.nearest import did_you_mean  # noqa: PLC0415 (only for a mistake)

    group, _, last = name.partition(" ")
    if last:
        known = [words.split()[1] for words in COMMANDS if words.startswith(f"{group} ")]
        if last.startswith("-") and last not in known:
            example = f"mlcheck {group} {next(each for each in known if each[0] != '-')} {last}"
            return f"{group}: options stand behind its command, as in `{example}`; commands are {', '.join(known)}."
        return f"{group}: there is no command {last!r}{did_you_mean(last, known)} `mlcheck {group} --help` shows all."
    if name.startswith("-"):
        known = ["--version", "--help"]
        return f"there is no option {name!r} before a command{did_you_mean(name, known)} `mlcheck --help` shows all."
    known = list(dict.fromkeys(words.split()[0] for words in COMMANDS))
    return f"there is no command {name!r}{did_you_mean(name, known)} `mlcheck --help` shows all."
