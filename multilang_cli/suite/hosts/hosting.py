"""Implementation of ``mlcheck host``: the host cases over one host; what comes of it is printed and written."""

from __future__ import annotations

from pathlib import Path

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.environment import caller_environment
from multilang_cli.driver.launch import LaunchError, resolve
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.outputs import checked_reports, console_of, tell_result
from multilang_cli.subject.patterns import patterns
from multilang_cli.subject.recordings import RecordError
from multilang_cli.subject.storms import known_storm
from multilang_cli.suite.cases.selection import SelectionError
from multilang_cli.suite.hosts.run import HostPlan
from multilang_cli.suite.hosts.suite import HostOptions, judge_host
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import progress_line
from multilang_cli.transcript.secrets import declare


class HostFlags(HostOptions, frozen=True, kw_only=True):
    """Options of ``mlcheck host``. `reports`: as ``FORMAT=PATH``; `patience`: what limits are multiplied by."""

    command: tuple[str, ...]
    record: Path
    patience: float
    storm: str = ""
    record_all: bool = False
    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False
    verbose: bool = False


def host_given(flags: HostFlags) -> int:
    """Judge a host and show what comes of it; the exit code. Raises CommandError."""
    reports, console = checked_reports(flags.reports), console_of(flags.color)
    known = known_storm(flags.storm)
    rulebook = load_rulebook(known)
    cwd, env = Path.cwd(), caller_environment()
    declare([env], flags.command)
    try:
        plan = HostPlan(
            command=flags.command,
            launch=resolve(flags.command, cwd, env),
            cwd=cwd,
            env=env,
            version=rulebook.version(known),
            rulebook=rulebook,
            record=flags.record,
            record_all=flags.record_all,
            patience=flags.patience,
        )
        include, exclude = patterns("-k", flags.include), patterns("--exclude", flags.exclude)
        with progress_line(verbose=flags.verbose, quiet=flags.quiet) as progress:
            result = judge_host(plan, msgspec.structs.replace(flags, include=include, exclude=exclude), progress)
    except LaunchError as error:
        hint = f" To help: {error.hint}." if error.hint else ""
        raise CommandError(f"host: {error.message}{hint}", ExitCode.NO_FIRST_MESSAGE) from None
    except (ConfigError, RecordError, SelectionError) as error:
        raise CommandError(f"host: {error}", error.code) from None
    return tell_result(result, rulebook, reports, console, quiet=flags.quiet)
