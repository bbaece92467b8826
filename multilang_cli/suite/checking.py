"""``mlcheck run``: each component in turn, on each Storm version; results are printed and written."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.launch import LaunchError
from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.console import render_pretty, show_run, show_together, summary_of
from multilang_cli.reports.formats.registry import STDOUT, Report
from multilang_cli.reports.formats.screen import fits_one_screen, render_screen
from multilang_cli.reports.page import Page
from multilang_cli.reports.storm_sentences import with_sentences
from multilang_cli.reports.verdict import Circumstances, word_of
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.declared import UnknownKindError, all_declared, not_started, subjects_of
from multilang_cli.subject.outputs import checked_reports, console_of, write_json, write_reports
from multilang_cli.subject.settings import Flags, check_gate
from multilang_cli.subject.storms import played_storms, required_storms
from multilang_cli.subject.testee import prepare, read_testee
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.cases.selection import SelectionError, fitting, matching
from multilang_cli.suite.dry_run import dry_run_of, show_plan
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.progress import Pace, telling
from multilang_cli.suite.runner.retaking import with_near_samples, with_taken
from multilang_cli.suite.runner.suite_run import available_for, for_part, not_run
from multilang_cli.suite.runner.versions import run_versions
from multilang_cli.suite.verdict import known_failures
from multilang_cli.terminal.exits import CommandError, ExitCode, worst
from multilang_cli.terminal.output import complain, progress_line, remark, stdout_may_close

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.declared import Declared

_CIRCUMSTANCES: dict[ExitCode, Circumstances] = {
    ExitCode.INTERRUPTED: Circumstances(interrupted=True),
    ExitCode.MISUSE: Circumstances(misuse=True),
    ExitCode.NO_FIRST_MESSAGE: Circumstances(no_first_message=True),
    ExitCode.NOTHING_SELECTED: Circumstances(),
    ExitCode.NOT_CONFORMANT: Circumstances(own_fault=True),
}
"""The circumstances of a component with which no case was played."""


class RunFlags(Flags, frozen=True, kw_only=True):
    """Options of ``mlcheck run``: those of a component, and how results are shown.

    `reports`: as ``FORMAT=PATH``. `dry_run`: show only what would be done.
    """

    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False
    verbose: bool = False
    dry_run: bool = False


def run_given(flags: RunFlags) -> int:
    """Run the component of the flags, or all of the configuration file; the exit code. Raises CommandError."""
    for name in ("tuples", "conf", "env", "streams", "storm", "storm_required"):
        values = getattr(flags, name) or ()
        for value in (values,) if isinstance(values, str) else values:
            if not value.isprintable() and value != value.encode("utf-8", "replace").decode():
                flag = name.removesuffix("s").replace("_", "-")
                raise CommandError(f"--{flag} {value!a}: this is not UTF-8, so it can't be said in JSON")
    console = console_of(flags.color)
    reports = checked_reports(flags.reports)
    chosen = all_declared(flags)
    options = chosen[0].options
    check_gate(flags, tuple(each.component for each in chosen))
    if options.suites:
        load_cases("component", options.suites)
    _prepare(flags, dry_run=flags.dry_run)
    played = _that_have_cases(chosen) if flags.testees else chosen
    storms = played_storms(options.storm)
    rulebook = load_rulebook(storms[0] if len(storms) == 1 else "")
    required = required_storms(options.storm_required, [storm or rulebook.newest.id for storm in storms])
    todo = [_versions_of(each, rulebook, storms, alone=len(played) == 1) for each in played]
    checks = _Checks(flags, console, rulebook, reports, required)
    if flags.dry_run:
        return checks.plan(todo)
    alone = len(played) == len(storms) == 1
    results: list[RunResult] = []
    for versions in todo:
        results += checks.check(versions, alone=alone)
        if results[-1].exit_code == ExitCode.INTERRUPTED:
            break
    code = results[0].exit_code if alone else checks.sum_up(results)
    if any(result.exit_code == ExitCode.NO_FIRST_MESSAGE for result in results):
        _advise(flags)
    return code


def _prepare(flags: Flags, *, dry_run: bool) -> None:
    """Install or build the testees, if that is wanted. Raises ConfigError."""
    if flags.prepare and not flags.testees:
        raise ConfigError("--prepare: only a testee says how it is prepared; add --testee DIR.")
    for folder in flags.testees if flags.prepare and not dry_run else ():
        remark(f"{folder}: preparing")
        prepare(read_testee(folder))


def _advise(flags: Flags) -> None:
    """Tell how testees that did not start are made ready, unless that was done."""
    for folder in () if flags.prepare else flags.testees:
        if commands := read_testee(folder).prepare:
            lines = "; ".join(map(shlex.join, commands))
            remark(f"{folder}: was it prepared? --prepare runs there what its testee.yaml names for that: {lines}")


def _that_have_cases(chosen: list[Declared]) -> list[Declared]:
    """The parts of testees for which something is selected, each with the patterns that fit it.

    Raises CommandError if a pattern fits no part, or no case is left.
    """
    options = chosen[0].options
    parts = [(each, each.component) for each in chosen]
    ids = {case.id for _, part in parts for case in fitting(available_for(part, options.suites), part.kind)}
    matching(sorted(ids), options.include, options.exclude, "case", "cases")
    return [
        msgspec.structs.replace(each, options=own)
        for each, part in parts
        if (own := for_part(part, options)) is not None
    ]


def _versions_of(declared: Declared, rulebook: Rulebook, storms: tuple[str, ...], *, alone: bool) -> list[Declared]:
    """One component on each Storm version, with a directory of its own where there are several.

    Raises ConfigError for bad known failures.
    """
    component, options = declared.component, declared.options
    if options.write_known_failures:
        known_failures.check(options.write_known_failures, rulebook)
    elif component.known_failures:
        known_failures.read(component.known_failures, rulebook)
    record = Path(options.record) if alone else Path(options.record) / component.name
    # What is required is known now; a command line that repeats one version must not say it again.
    required = declared.config.settings.get("storm_required", "")
    folders = {storm: str(record / storm if len(storms) > 1 else record) for storm in storms}
    return [declared.on(storm, record=folder, storm_required=required) for storm, folder in folders.items()]


class _Checks(NamedTuple):
    """Context that is the same for every component of a run. `required`: the versions whose verdicts count."""

    flags: RunFlags
    console: Console
    rulebook: Rulebook
    reports: tuple[Report, ...]
    required: tuple[str, ...]

    def check(self, versions: list[Declared], *, alone: bool) -> list[RunResult]:
        """Run one component and show the results, one a version; if it is `alone`, there is no other result."""
        component = versions[0].component
        try:
            results, shown = self._run(versions), True
        except (LaunchError, CommandError, KeyboardInterrupt) as error:
            why, code = _why_not(error)
            met = error.met if isinstance(error, UnknownKindError) else ()
            stopped = versions[:1] if code == ExitCode.INTERRUPTED else versions
            results = [not_run(component, each.options, _CIRCUMSTANCES[code], why, met) for each in stopped]
            shown = len(results) == 1 and fits_one_screen(results[0]) and not self._to_stdout()
            if not (shown and sys.stdout.isatty() and sys.stderr.isatty()) or code == ExitCode.MISUSE:
                complain(f"{component.name}: {why}" if component.name else why)
        results = [msgspec.structs.replace(each, gates=each.storm in self.required) for each in results]
        if alone:
            write_reports(self.reports, results[0], self.rulebook)
        if shown:
            self._show(component.name, results)
        return results

    def plan(self, todo: list[list[Declared]]) -> int:
        """Show what would be done with each component, or print it as JSON; the exit code."""
        codes, plans = [int(ExitCode.CONFORMANT)], []
        for versions in todo:
            try:
                plans.append(dry_run_of(versions))
            except (LaunchError, SelectionError) as error:
                name = versions[0].component.name
                why, code = _why_not(error)
                complain(f"{name}: {why}" if name else why)
                codes.append(code)
        if any(report.format == "json" and report.path == "-" for report in self.reports):
            write_json([plan._asdict() for plan in plans])
        else:
            for plan in plans:
                show_plan(plan, self.console)
        return worst(codes)

    def sum_up(self, results: list[RunResult]) -> int:
        """Report several components and versions as one result; its exit code."""
        result = with_sentences(combine(results), self.rulebook)
        write_reports(self.reports, result, self.rulebook)
        if not self._to_stdout():
            with stdout_may_close():
                if self.flags.quiet:
                    sys.stdout.write(f"{word_of(result)}  {summary_of(result)}\n")
                    sys.stdout.writelines(f"Storm: {sentence}\n" for sentence in result.sentences)
                else:
                    self.console.print()
                    show_together(Page(self.console), result)
        return result.exit_code

    def _run(self, versions: list[Declared]) -> list[RunResult]:
        subjects = subjects_of(versions, kind_of)
        with progress_line(verbose=self.flags.verbose, quiet=self.flags.quiet) as progress:
            pace = Pace()
            tell = [progress] * len(subjects) if self.flags.quiet else telling(subjects, progress, pace)
            results = run_versions(subjects, tell, None if self.flags.quiet else pace.slow)
            retaken = [with_taken(*each) for each in zip(subjects, results, tell, strict=False)]
            return [with_near_samples(*each) for each in zip(subjects, retaken, strict=False)]

    def _to_stdout(self) -> bool:
        return any(report.path == STDOUT for report in self.reports)

    def _show(self, name: str, results: list[RunResult]) -> None:
        if self._to_stdout():
            return
        with stdout_may_close():
            if self.flags.quiet:
                for result in results:
                    where = filter(None, (name, f"Storm {result.storm}" if len(results) > 1 else ""))
                    lead = "".join(f"{word}: " for word in where)
                    sys.stdout.write(f"{lead}{word_of(result)}  {summary_of(result)}\n")
            elif len(results) > 1:
                show_run(Page(self.console), results, self.rulebook)
            elif fits_one_screen(results[0]) and not self.flags.verbose:
                render_screen(results[0], self.console)
            else:
                render_pretty(results[0], self.rulebook, self.console)


def _why_not(error: LaunchError | CommandError | KeyboardInterrupt) -> tuple[str, ExitCode]:
    """The reason why no case was played, and its exit code."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; there is no case to report", ExitCode.INTERRUPTED
    told = not_started(error) if isinstance(error, LaunchError) else error
    return told.message, told.code
