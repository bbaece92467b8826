"""Start and end of ``mlcheck repl``: what is played, at which edge, and the exit code."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import load_versions
from multilang_cli.cli.one_component import decided, not_started
from multilang_cli.cli.shared import known_storm
from multilang_cli.driver.launch import LaunchError
from multilang_cli.repl.driver import Driver
from multilang_cli.repl.interrupts import interruptible
from multilang_cli.repl.parsing import text_of
from multilang_cli.repl.plain import run_commands
from multilang_cli.repl.screen import Screen, ScreenError
from multilang_cli.repl.table import Misuse
from multilang_cli.subject import config as config_file
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.profiles import profile_of
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.samples import samples_of
from multilang_cli.subject.settings import Flags, color, components, run_options
from multilang_cli.subject.setup import SessionSetup
from multilang_cli.suite.runner.suite_run import plan_of
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import abandon_stdout, remark
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.repl.component_run import ComponentRun
    from multilang_cli.subject.config import Config
    from multilang_cli.subject.options import Component, RunOptions

WIDE = 160
"""Columns of a line where there is no terminal, and no COLUMNS."""


class ReplFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options that only this command has."""

    no_limits: bool = False
    source: str | None = None
    color: str | None = None


def play_by_hand(given: dict[str, Any]) -> int:
    """Play what the command line says: values by the names of `Flags` and `ReplFlags`. Raises CommandError."""
    flags, asked = msgspec.convert(given, Flags), msgspec.convert(given, ReplFlags)
    try:
        config = config_file.load(config_file.find(Path.cwd()))
        options = run_options(flags, os.environ, config)
        options = msgspec.structs.replace(options, storm=known_storm(options.storm))
        chosen = components(flags, config)
        when = color(asked.color, os.environ)
        script = "" if asked.source is None else text_of(Path(asked.source))
    except (ConfigError, Misuse) as error:
        raise CommandError(f"repl: {error}") from None
    if len(chosen) > 1:
        names = ", ".join(component.name for component in chosen)
        raise CommandError(f"repl: which component? --component NAME chooses one of {names}.")
    setup = setup_of(chosen[0], options, limited=not asked.no_limits)
    setup = msgspec.structs.replace(setup, **_again(flags, chosen[0], options, config, setup.profile.kind))
    return play_setup(setup, Path(options.record), when, script=script, name=asked.source)


def play_setup(
    setup: SessionSetup,
    record: Path,
    when: str,
    *,
    script: str = "",
    name: str | None = None,
    play: Callable[[ComponentRun], bool] | None = None,
) -> int:
    """Play a session by hand, at a terminal or without one; the exit code. Raises CommandError.

    `when` to colour; `script`: commands to do first, called `name`; `play`: how the conversation begins, by default
    with a handshake.
    """
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    screen = Screen(_columns, color=when == "always" or (when == "auto" and sys.stdout.isatty() and not plain))
    try:
        make_private(record)
    except OSError as error:
        raise CommandError(f"transcripts can't be written to {record}: {error.strerror} (--record DIR)") from None
    driver = Driver(setup, screen, record, waits=not terminal)
    with interruptible(driver) if terminal else nullcontext():
        return _played(driver, script, name, play, terminal=terminal)


def _played(
    driver: Driver, script: str, name: str | None, play: Callable[[ComponentRun], bool] | None, *, terminal: bool
) -> int:
    """Start the component, do the script, ask for more; the exit code. Raises KeyboardInterrupt if it was to end."""
    try:
        shaken = _begin(driver, play)
        if name is not None and (shaken or terminal) and not driver.run_script(script, name) and not terminal:
            driver.misused()
        if terminal and not driver.quitting:
            # Nothing else needs it, and it is slow to import.
            from multilang_cli.repl.terminal import run_terminal  # noqa: PLC0415

            run_terminal(driver, os.environ)
        elif shaken and name is None:
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


def setup_of(component: Component, options: RunOptions, *, limited: bool) -> SessionSetup:
    """The set-up that is to be started. Raises CommandError if it can't be, or if nobody can tell what it is."""
    try:
        if component.kind == "auto":
            component, _ = decided(component, options, "look at it")
        plan = plan_of(component, options)
    except LaunchError as error:
        raise not_started(error) from None
    for note in plan.surroundings:
        remark(f"Note: {note}")
    return SessionSetup(
        argv=plan.launch.argv,
        command=component.command,
        cwd=plan.cwd,
        env=plan.env,
        rulebook=plan.rulebook,
        profile=profile_of(component, plan.version, options.timeout),
        settings=component.env,
        samples=samples_of(component),
        limited=limited,
        seed=options.seed,
    )


def _again(flags: Flags, component: Component, options: RunOptions, config: Config, kind: Kind) -> dict[str, Any]:
    """Flags by which `run` plays a case of the session: it has the conf, a file beside it the tuples that were fed."""
    usual = config.settings.get("storm", "")
    flags = msgspec.structs.replace(flags, tuples=(), tuple_files=(), conf=(), conf_files=())
    options = msgspec.structs.replace(options, storm=usual)
    component = msgspec.structs.replace(component, kind=kind)
    return {"again": words_of(flags, component, options, config), "usual": usual or load_versions()[-1].id}


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    if sys.stdin.isatty() or given.isdecimal():
        return shutil.get_terminal_size((WIDE, 24)).columns
    return WIDE
