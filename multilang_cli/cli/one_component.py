"""The one component that a command works on: which, how it is started, and what it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.cli.shared import known_storm
from multilang_cli.driver.launch import LaunchError
from multilang_cli.subject import config as config_file
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.settings import Flags, components, run_options
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.runner.suite_run import SuitePlan, plan_of
from multilang_cli.terminal.exits import CommandError, ExitCode

if TYPE_CHECKING:
    from multilang_cli.subject.options import Component, RunOptions


class One(NamedTuple):
    """A component whose kind is known, and how it is started. `how`: how its kind was found out, "" if it was said."""

    plan: SuitePlan
    how: str


def one_component(command: str, flags: Flags) -> One:
    """The component that the command line or the configuration file names, for the `command` of mlcheck.

    Raises CommandError: for misuse, if there are several, if it can't be started or nobody can tell what it is.
    """
    try:
        config = config_file.load(config_file.find(Path.cwd()))
        options = run_options(flags, os.environ, config)
        options = msgspec.structs.replace(options, storm=known_storm(options.storm))
        chosen = components(flags, config)
    except ConfigError as error:
        raise CommandError(f"{command}: {error}") from None
    if len(chosen) > 1:
        names = ", ".join(component.name for component in chosen)
        raise CommandError(f"{command}: which component? --component NAME chooses one of {names}.")
    component, how = chosen[0], ""
    try:
        if component.kind == "auto":
            component, how = decided(component, options, "see what it does instead")
        options = msgspec.structs.replace(options, reproduce=words_of(flags, component, options, config))
        return One(plan_of(component, options), how)
    except LaunchError as error:
        raise not_started(error) from None


def decided(component: Component, options: RunOptions, why: str) -> tuple[Component, str]:
    """The component with its kind, and how that was found out; `why` one would say the kind of a silent one.

    Raises LaunchError; CommandError if it can't be told.
    """
    probe = kind_of(component, options)
    if probe.kind is not None:
        return msgspec.structs.replace(component, kind=probe.kind), probe.how
    if probe.silent:
        hint = f"say --kind bolt or --kind spout to {why}"
        raise CommandError(f"no first message: {probe.seen}; {hint}", ExitCode.NO_FIRST_MESSAGE)
    if probe.fault:
        raise CommandError(f"not conformant, be it a bolt or a spout: {probe.seen}", ExitCode.NOT_CONFORMANT)
    raise CommandError(f"can't tell whether it is a bolt or a spout: {probe.how}")


def not_started(error: LaunchError) -> CommandError:
    """The error of a component that can't be started."""
    code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
    return CommandError(f"{error.message}{f' ({error.hint})' if error.hint else ''}", code)
