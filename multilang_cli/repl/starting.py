"""Start and end of ``mlcheck repl``: what is played, at which edge, and the exit code."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_versions
from multilang_cli.driver.launch import LaunchError
from multilang_cli.repl.commands.every import COMMANDS
from multilang_cli.repl.commands.table import Misuse
from multilang_cli.repl.driver import Driver
from multilang_cli.repl.parsing import text_of
from multilang_cli.repl.plain import run_commands
from multilang_cli.repl.screen import Screen, ScreenError
from multilang_cli.repl.session_config import SessionConfig
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.declared import not_started, one_declared
from multilang_cli.subject.recordings import prepare_record
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.settings import Flags, color
from multilang_cli.suite.probe import kind_of
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import abandon_stdout, remark_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.repl.component_run import ComponentRun
    from multilang_cli.subject.declared import Declared
    from multilang_cli.subject.subject import Subject

WIDE = 160
"""Columns of a line where there is no terminal, and no COLUMNS."""


class ReplFlags(Flags, frozen=True, kw_only=True):
    """Options of the command, besides those of a component."""

    no_limits: bool = False
    source: str | None = None
    no_input: bool = False
    color: str | None = None


class ReplScript(NamedTuple):
    """Commands that come first, `name`: their file. `asks`: whether there is a prompt where there is a terminal."""

    text: str = ""
    name: str | None = None
    asks: bool = True


def script_of(command: str, source: str | None, *, no_input: bool) -> ReplScript:
    """The script of a command line. Raises CommandError."""
    try:
        text = "" if source is None else text_of(Path(source))
    except Misuse as error:
        raise CommandError(f"{command}: {error}") from None
    if no_input and source is None and sys.stdin.isatty():
        raise CommandError(f"{command}: --no-input asks for nothing: give --source FILE, or commands on stdin.")
    return ReplScript(text, source, not no_input)


def play_by_hand(flags: ReplFlags) -> int:
    """Play what the command line says. Raises CommandError."""
    try:
        when = color(flags.color, os.environ)
    except ConfigError as error:
        raise CommandError(f"repl: {error}") from None
    script = script_of("repl", flags.source, no_input=flags.no_input)
    declared = one_declared("repl", flags)
    setup = config_of(declared, limited=not flags.no_limits)
    return play_setup(setup, setup.subject.record, when, script)


def play_setup(
    setup: SessionConfig,
    record: Path,
    when: str,
    script: ReplScript,
    play: Callable[[ComponentRun], bool] | None = None,
) -> int:
    """Play a session by hand, at a terminal or without one; the exit code. Raises CommandError.

    `when` to colour; `play`: how the conversation begins, by default with a handshake.
    """
    terminal = script.asks and sys.stdin.isatty() and sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    screen = Screen(_columns, color=when == "always" or (when == "auto" and sys.stdout.isatty() and not plain))
    prepare_record(record)
    driver = Driver(setup, COMMANDS, screen, record, waits=not terminal)
    with _interruptible(driver) if terminal else nullcontext():
        return _played(driver, script, play, terminal=terminal)


@contextmanager
def _interruptible(driver: Driver) -> Iterator[None]:
    """Ctrl-C ends what is waited for, never the session; SIGTERM ends both, and is KeyboardInterrupt in the end."""
    terminated: list[int] = []

    def end(number: int, _: object) -> None:
        """Handle SIGTERM: what is waited for ends, then the REPL."""
        terminated.append(number)
        driver.quitting = True
        driver.interrupt()

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: driver.interrupt()),
        signal.SIGTERM: signal.signal(signal.SIGTERM, end),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if terminated:
        raise KeyboardInterrupt


def _played(driver: Driver, script: ReplScript, play: Callable[[ComponentRun], bool] | None, *, terminal: bool) -> int:
    """Start the component, do the script, ask for more; the exit code. Raises KeyboardInterrupt if it was to end."""
    try:
        said_pid = _begin(driver, play)
        name = script.name
        if name is not None and (said_pid or terminal) and not driver.run_script(script.text, name) and not terminal:
            driver.misused()
        if terminal and not driver.quitting:
            # Nothing else needs it, and it is slow to import.
            from multilang_cli.repl.terminal import run_terminal  # noqa: PLC0415

            run_terminal(driver, os.environ)
        elif said_pid and name is None:
            run_commands(driver, sys.stdin.fileno())
        driver.end_life()
        return driver.code
    finally:
        driver.end_life()
        if driver.screen.closed:
            abandon_stdout()


def _begin(driver: Driver, play: Callable[[ComponentRun], bool] | None) -> bool:
    """Start the component. Raises CommandError if that can't be done."""
    try:
        return driver.begin(play)
    except LaunchError as error:
        raise not_started(error) from None
    except ScreenError:
        raise
    except OSError as error:
        where = f" to {error.filename}" if error.filename else ""
        raise CommandError(f"the transcript can't be written{where}: {error.strerror} (--record DIR).") from None


def config_of(declared: Declared, *, limited: bool) -> SessionConfig:
    """The settings with which a session begins. Raises CommandError if nothing can be started, or has no kind."""
    try:
        subject = declared.subject(kind_of, "look at it")
    except LaunchError as error:
        raise not_started(error) from None
    for note in subject.surroundings:
        remark_note(note)
    usual = declared.config.settings.get("storm", "")
    return SessionConfig(
        subject=subject,
        rulebook=subject.rulebook,
        profile=subject.profile,
        limited=limited,
        seed=subject.options.seed,
        again=_again(declared, subject, usual),
        usual=usual or load_versions()[-1].id,
    )


def _again(declared: Declared, subject: Subject, usual: str) -> tuple[str, ...]:
    """Words by which `run` plays a case of the session: it has the conf, a file beside it the tuples that were fed."""
    flags = msgspec.structs.replace(declared.flags, tuples=(), tuple_files=(), conf=(), conf_files=())
    options = msgspec.structs.replace(declared.options, storm=usual)
    return words_of(flags, subject.component, options, declared.config)


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    if sys.stdin.isatty() or given.isdecimal():
        return shutil.get_terminal_size((WIDE, 24)).columns
    return WIDE
