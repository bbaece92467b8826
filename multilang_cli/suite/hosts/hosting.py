"""Implementation of ``mlcheck host``: the host cases over one host; what comes of it is printed and written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.environment import caller_environment
from multilang_cli.driver.launch import LaunchError, resolve
from multilang_cli.reports.formats.console import render_pretty, summary_of
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.reports.verdict import word_of
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.patterns import patterns
from multilang_cli.subject.storms import known_storm
from multilang_cli.suite.cases.selection import SelectionError
from multilang_cli.suite.hosts.run import HostPlan
from multilang_cli.suite.hosts.suite import HostOptions, judge_host
from multilang_cli.suite.runner.suite_run import RecordError
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import progress_line, stdout_may_close
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from multilang_cli.reports.model import RunResult


class HostShowing(NamedTuple):
    """Options on how the result is shown: reports as ``FORMAT=PATH``, colour, how much."""

    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False
    verbose: bool = False


def judge(
    command: tuple[str, ...],
    storm: str,
    options: HostOptions,
    showing: HostShowing,
    record: Path,
    *,
    patience: float,
    record_all: bool,
) -> int:
    """Judge a host and show what comes of it; the exit code. Raises CommandError."""
    reports, console = checked_reports(showing.reports), console_of(showing.color)
    known = known_storm(storm)
    rulebook = load_rulebook(known)
    cwd, env = Path.cwd(), caller_environment()
    declare([env], command)
    try:
        plan = HostPlan(
            command=command,
            launch=resolve(command, cwd, env),
            cwd=cwd,
            env=env,
            version=rulebook.version(known) if known else rulebook.newest,
            rulebook=rulebook,
            record=record,
            record_all=record_all,
            patience=patience,
        )
        result = _judged(plan, options, showing)
    except LaunchError as error:
        hint = f" To help: {error.hint}." if error.hint else ""
        raise CommandError(f"host: {error.message}{hint}", ExitCode.NO_FIRST_MESSAGE) from None
    except SelectionError as error:
        raise CommandError(f"host: {error}", ExitCode.NOTHING_SELECTED) from None
    except (ConfigError, RecordError) as error:
        raise CommandError(f"host: {error}") from None
    write_reports(reports, result, rulebook)
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            if showing.quiet:
                sys.stdout.write(f"{word_of(result)}  {summary_of(result)}\n")
            else:
                render_pretty(result, rulebook, console)
    return result.exit_code


def _judged(plan: HostPlan, options: HostOptions, showing: HostShowing) -> RunResult:
    include, exclude = patterns("-k", options.include), patterns("--exclude", options.exclude)
    options = msgspec.structs.replace(options, include=include, exclude=exclude)
    with progress_line(verbose=showing.verbose, quiet=showing.quiet) as progress:
        return judge_host(plan, options, progress)
