"""What ``mlcheck run`` does: each component in turn, its results printed and written, the exit codes put together."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.cli.dispatch import complain
from multilang_cli.cli.dry_run import ACKS, show_plan
from multilang_cli.cli.exits import CommandError, ExitCode, worst
from multilang_cli.cli.output import progress_line, remark, stdout_may_close
from multilang_cli.cli.shared import checked_reports, console_of, known_storm, write_reports
from multilang_cli.host.launch import LaunchError
from multilang_cli.reports.combined import combine
from multilang_cli.reports.console import render_pretty, render_together, summary_of
from multilang_cli.reports.formats import STDOUT, Report
from multilang_cli.reports.verdict import Circumstances, word_of
from multilang_cli.suite import config as config_file
from multilang_cli.suite import known_failures
from multilang_cli.suite.case import CaseError, load_cases
from multilang_cli.suite.config import Config, ConfigError
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.reproduce import words_of
from multilang_cli.suite.runner import RecordError, not_run, run_suite
from multilang_cli.suite.selection import SelectionError
from multilang_cli.suite.settings import Flags, check_gate, components, run_options

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.protocol.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult
    from multilang_cli.suite.options import Component, RunOptions
    from multilang_cli.suite.playing import Progress

_BEFELL: dict[ExitCode, Circumstances] = {
    ExitCode.INTERRUPTED: Circumstances(interrupted=True),
    ExitCode.MISUSE: Circumstances(misuse=True),
    ExitCode.NO_FIRST_MESSAGE: Circumstances(no_first_message=True),
    ExitCode.NOTHING_SELECTED: Circumstances(),
}
"""What befell a component with which no case was played."""


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """How results are shown: reports as ``FORMAT=PATH``, colour, how much; `dry_run`: only what would be done."""

    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False
    verbose: bool = False
    dry_run: bool = False


def run_given(given: dict[str, Any]) -> int:
    """Run what the command line says: values by the names of `Flags` and `Showing`. Raises CommandError."""
    for name in ("tuples", "conf", "env", "streams", "storm"):
        values = given.get(name) or ()
        for value in (values,) if isinstance(values, str) else values:
            if not value.isprintable() and value != value.encode("utf-8", "replace").decode():
                raise CommandError(
                    f"--{name.removesuffix('s')} {value!a}: this is not UTF-8, so it can't be said in JSON"
                )
    return run_components(msgspec.convert(given, Flags), msgspec.convert(given, Showing))


def run_components(flags: Flags, showing: Showing) -> int:
    """Run the component of the flags, or all of the configuration file; the exit code. Raises CommandError."""
    console = console_of(showing.color)
    reports = checked_reports(showing.reports)
    try:
        config = config_file.load(config_file.find(Path.cwd()))
        options = run_options(flags, os.environ, config)
        chosen = components(flags, config)
        check_gate(flags, chosen)
        if options.suites:
            load_cases("component", options.suites)
        options = msgspec.structs.replace(options, storm=known_storm(options.storm))
        rulebook = load_rulebook(options.storm)
        todo = [(each, _its_own(each, options, rulebook, alone=len(chosen) == 1)) for each in chosen]
    except (ConfigError, CaseError) as error:
        raise CommandError(str(error)) from None
    door = _Door(flags, config, showing, console, rulebook, reports)
    if showing.dry_run:
        return worst([door.plan(component, own) for component, own in todo])
    results: list[RunResult] = []
    for component, own in todo:
        results.append(door.check(component, own, alone=len(todo) == 1))
        if results[-1].exit_code == ExitCode.INTERRUPTED:
            break
    return results[0].exit_code if len(todo) == 1 else door.sum_up(results)


def _its_own(component: Component, options: RunOptions, rulebook: Rulebook, *, alone: bool) -> RunOptions:
    """The options of one of several components: a directory of its own. Raises ConfigError for bad known failures."""
    if options.write_known_failures:
        known_failures.check(options.write_known_failures, rulebook)
    elif component.known_failures:
        known_failures.read(component.known_failures, rulebook)
    record = options.record if alone else str(Path(options.record) / component.name)
    return msgspec.structs.replace(options, record=record)


class _Door(NamedTuple):
    """What is the same for every component of a run."""

    flags: Flags
    config: Config
    showing: Showing
    console: Console
    rulebook: Rulebook
    reports: tuple[Report, ...]

    def check(self, component: Component, options: RunOptions, *, alone: bool) -> RunResult:
        """Run one component and show the result; if it is `alone`, it is all there is to report."""
        try:
            result = self._run(component, options)
        except (LaunchError, SelectionError, RecordError, ConfigError, CommandError, KeyboardInterrupt) as error:
            why, code = _why_not(error)
            complain(f"{component.name}: {why}" if component.name else why)
            result = not_run(component, options, _BEFELL[code], why)
            if alone:
                write_reports(self.reports, result, self.rulebook)
            return result
        if alone:
            write_reports(self.reports, result, self.rulebook)
        self._show(component.name, result)
        return result

    def plan(self, component: Component, options: RunOptions) -> int:
        """Show what would be done with one component; its exit code."""
        try:
            show_plan(component, options, self.console)
        except (LaunchError, SelectionError) as error:
            why, code = _why_not(error)
            complain(f"{component.name}: {why}" if component.name else why)
            return code
        return ExitCode.CONFORMANT

    def sum_up(self, results: list[RunResult]) -> int:
        """Report several components as one result; its exit code."""
        result = combine(results)
        write_reports(self.reports, result, self.rulebook)
        if not self._to_stdout():
            with stdout_may_close():
                if self.showing.quiet:
                    sys.stdout.write(f"{word_of(result)}  {summary_of(result)}\n")
                else:
                    self.console.print()
                    render_together(result, self.console)
        return result.exit_code

    def _run(self, component: Component, options: RunOptions) -> RunResult:
        how = ""
        if component.kind == "auto":
            component, how = _decided(component, options)
        words = words_of(self.flags, component, options, self.config)
        options = msgspec.structs.replace(options, reproduce=words)
        with progress_line(verbose=self.showing.verbose, quiet=self.showing.quiet) as progress:
            told = progress if self.showing.quiet else _telling(component, options, progress)
            result = run_suite(component, options, told)
        why = "; ".join(filter(None, (result.component.why, how)))
        return msgspec.structs.replace(result, component=msgspec.structs.replace(result.component, why=why))

    def _to_stdout(self) -> bool:
        return any(report.path == STDOUT for report in self.reports)

    def _show(self, name: str, result: RunResult) -> None:
        if self._to_stdout():
            return
        with stdout_may_close():
            if self.showing.quiet:
                sys.stdout.write(f"{name}{': ' if name else ''}{word_of(result)}  {summary_of(result)}\n")
            else:
                render_pretty(result, self.rulebook, self.console)


def _why_not(error: BaseException) -> tuple[str, ExitCode]:
    """Why no case was played, and the exit code of that."""
    if isinstance(error, LaunchError):
        hint = f" ({error.hint})" if error.hint else ""
        code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
        return f"{error.message}{hint}", code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; there is no case to report", ExitCode.INTERRUPTED
    if isinstance(error, CommandError):
        return error.message, error.code
    return str(error), ExitCode.NOTHING_SELECTED if isinstance(error, SelectionError) else ExitCode.MISUSE


def _telling(component: Component, options: RunOptions, progress: Progress | None) -> Progress:
    """Tells on stderr, before the first case, what the suite is about to do to the component."""

    def tell(case: str, begun: int, total: int) -> None:
        if begun == 0 and (total > 1 or component.kind == "spout"):
            starts = f"{total} cases, a start of the component for each" if total > 1 else "1 case"
            pace = f", {options.jobs} at once" if options.jobs > 1 else ", one after another (-j N: N at once)"
            lead = f"{component.name}: " if component.name else ""
            acks = f"; {ACKS}" if component.kind == "spout" else ""
            remark(f"{lead}{starts}{pace if total > 1 else ''}{acks}")
        if progress is not None:
            progress(case, begun, total)

    return tell


def _decided(component: Component, options: RunOptions) -> tuple[Component, str]:
    probe = kind_of(component, options)
    if probe.kind is None:
        if probe.silent:
            hint = "say --kind bolt or --kind spout to see what it does instead"
            raise CommandError(f"no first message: {probe.how}; {hint}", ExitCode.NO_FIRST_MESSAGE)
        raise CommandError(f"can't tell whether it is a bolt or a spout: {probe.how}")
    return msgspec.structs.replace(component, kind=probe.kind), probe.how
