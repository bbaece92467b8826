"""Implementation of ``mlcheck run``: each component in turn, on each Storm version; results are printed and written."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.cli.check.dry_run import ACKS, show_plan
from multilang_cli.cli.shared import checked_reports, console_of, played_storms, required_storms, write_reports
from multilang_cli.driver.launch import LaunchError
from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.console import render_pretty, render_together, render_versions, summary_of
from multilang_cli.reports.formats.registry import STDOUT, Report
from multilang_cli.reports.formats.screen import fits_one_screen, render_screen
from multilang_cli.reports.lives import with_sentences
from multilang_cli.reports.verdict import Circumstances, word_of
from multilang_cli.subject import config as config_file
from multilang_cli.subject.config import Config, ConfigError
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.settings import Flags, check_gate, components, run_options
from multilang_cli.subject.testee import prepare, read_testee
from multilang_cli.suite.cases.case import CaseError, load_cases
from multilang_cli.suite.cases.selection import SelectionError, fitting, matching
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.runner.suite_run import RecordError, available_for, for_part, not_run
from multilang_cli.suite.runner.versions import run_versions
from multilang_cli.suite.verdict import known_failures
from multilang_cli.terminal.exits import CommandError, ExitCode, worst
from multilang_cli.terminal.output import complain, progress_line, remark, stdout_may_close

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult
    from multilang_cli.subject.options import Component, RunOptions
    from multilang_cli.suite.probe import Probe
    from multilang_cli.suite.runner.playing import Progress

TRIED = (3, 10, 20)
"""Cases after which it may be known how long all take."""
LONG = 120.0
"""Seconds from which on that is told."""
SLOW = 2.0
"""Seconds that a tuple takes, from which on all cases are slow because of that."""
_BEFELL: dict[ExitCode, Circumstances] = {
    ExitCode.INTERRUPTED: Circumstances(interrupted=True),
    ExitCode.MISUSE: Circumstances(misuse=True),
    ExitCode.NO_FIRST_MESSAGE: Circumstances(no_first_message=True),
    ExitCode.NOTHING_SELECTED: Circumstances(),
    ExitCode.NOT_CONFORMANT: Circumstances(own_fault=True),
}
"""What befell a component with which no case was played."""


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """Options of showing results: reports as ``FORMAT=PATH``, colour, how much; `dry_run`: only what would be done."""

    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False
    verbose: bool = False
    dry_run: bool = False


def run_given(given: dict[str, Any]) -> int:
    """Run what the command line says: values by the names of `Flags` and `Showing`. Raises CommandError."""
    for name in ("tuples", "conf", "env", "streams", "storm", "storm_required"):
        values = given.get(name) or ()
        for value in (values,) if isinstance(values, str) else values:
            if not value.isprintable() and value != value.encode("utf-8", "replace").decode():
                flag = name.removesuffix("s").replace("_", "-")
                raise CommandError(f"--{flag} {value!a}: this is not UTF-8, so it can't be said in JSON")
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
        _prepare(flags, dry_run=showing.dry_run)
        played = _that_have_cases(chosen, options) if flags.testees else [(each, options) for each in chosen]
        storms = played_storms(options.storm)
        rulebook = load_rulebook(storms[0] if len(storms) == 1 else "")
        required = required_storms(options.storm_required, [storm or rulebook.newest.id for storm in storms])
        # What is required is known now; a command line that repeats one version must not say it again.
        own = config.settings.get("storm_required", "")
        played = [(each, msgspec.structs.replace(how, storm_required=own)) for each, how in played]
        todo = [(each, _its_own(each, how, rulebook, storms, alone=len(played) == 1)) for each, how in played]
    except (ConfigError, CaseError) as error:
        raise CommandError(str(error)) from None
    door = _Door(flags, config, showing, console, rulebook, reports, required)
    if showing.dry_run:
        return worst([door.plan(component, versions) for component, versions in todo])
    alone = len(played) == len(storms) == 1
    results: list[RunResult] = []
    for component, versions in todo:
        results += door.check(component, versions, alone=alone)
        if results[-1].exit_code == ExitCode.INTERRUPTED:
            break
    code = results[0].exit_code if alone else door.sum_up(results)
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


def _that_have_cases(chosen: tuple[Component, ...], options: RunOptions) -> list[tuple[Component, RunOptions]]:
    """The parts of testees for which something is selected, each with the patterns that fit it.

    Raises CommandError if a pattern fits no part, or no case is left.
    """
    ids = {case.id for each in chosen for case in fitting(available_for(each, options.suites), each.kind)}
    try:
        matching(sorted(ids), options.include, options.exclude, "case", "cases")
    except SelectionError as error:
        raise CommandError(str(error), ExitCode.NOTHING_SELECTED) from None
    return [(each, own) for each in chosen if (own := for_part(each, options)) is not None]


def _its_own(
    component: Component, options: RunOptions, rulebook: Rulebook, storms: tuple[str, ...], *, alone: bool
) -> list[RunOptions]:
    """The options of one component for each Storm version, each with a directory of its own where there are several.

    Raises ConfigError for bad known failures.
    """
    if options.write_known_failures:
        known_failures.check(options.write_known_failures, rulebook)
    elif component.known_failures:
        known_failures.read(component.known_failures, rulebook)
    record = Path(options.record) if alone else Path(options.record) / component.name
    folders = [record / storm if len(storms) > 1 else record for storm in storms]
    return [
        msgspec.structs.replace(options, storm=storm, record=str(folder))
        for storm, folder in zip(storms, folders, strict=True)
    ]


class ProbeError(CommandError):
    """It can't be said whether a component is a bolt or a spout. `met`: what was seen."""

    def __init__(self, probe: Probe) -> None:
        why, code = f"can't tell whether it is a bolt or a spout: {probe.how}", ExitCode.MISUSE
        if probe.silent:
            hint = "say --kind bolt or --kind spout to see what it does instead"
            why, code = f"no first message: {probe.seen}; {hint}", ExitCode.NO_FIRST_MESSAGE
        elif probe.fault:
            why, code = f"not conformant, be it a bolt or a spout: {probe.seen}", ExitCode.NOT_CONFORMANT
        super().__init__(why, code)
        self.met = probe.met


class _Door(NamedTuple):
    """Context that is the same for every component of a run. `required`: the versions whose verdicts count."""

    flags: Flags
    config: Config
    showing: Showing
    console: Console
    rulebook: Rulebook
    reports: tuple[Report, ...]
    required: tuple[str, ...]

    def check(self, component: Component, versions: list[RunOptions], *, alone: bool) -> list[RunResult]:
        """Run one component and show the results, one a version; if it is `alone`, there is no other result."""
        try:
            results, shown = self._run(component, versions), True
        except (LaunchError, SelectionError, RecordError, ConfigError, CommandError, KeyboardInterrupt) as error:
            why, code = _why_not(error)
            met = error.met if isinstance(error, ProbeError) else ()
            befell = versions[:1] if code == ExitCode.INTERRUPTED else versions
            results = [not_run(component, options, _BEFELL[code], why, met) for options in befell]
            shown = len(results) == 1 and fits_one_screen(results[0]) and not self._to_stdout()
            if not (shown and sys.stdout.isatty() and sys.stderr.isatty()) or code == ExitCode.MISUSE:
                complain(f"{component.name}: {why}" if component.name else why)
        results = [msgspec.structs.replace(each, gates=each.storm in self.required) for each in results]
        if alone:
            write_reports(self.reports, results[0], self.rulebook)
        if shown:
            self._show(component.name, results)
        return results

    def plan(self, component: Component, versions: list[RunOptions]) -> int:
        """Show what would be done with one component; its exit code."""
        try:
            show_plan(component, versions, self.console)
        except (LaunchError, SelectionError) as error:
            why, code = _why_not(error)
            complain(f"{component.name}: {why}" if component.name else why)
            return code
        return ExitCode.CONFORMANT

    def sum_up(self, results: list[RunResult]) -> int:
        """Report several components and versions as one result; its exit code."""
        result = with_sentences(combine(results), self.rulebook)
        write_reports(self.reports, result, self.rulebook)
        if not self._to_stdout():
            with stdout_may_close():
                if self.showing.quiet:
                    sys.stdout.write(f"{word_of(result)}  {summary_of(result)}\n")
                    sys.stdout.writelines(f"Storm: {sentence}\n" for sentence in result.sentences)
                else:
                    self.console.print()
                    render_together(result, self.console)
        return result.exit_code

    def _run(self, component: Component, versions: list[RunOptions]) -> list[RunResult]:
        how = ""
        if component.kind == "auto":
            component, how = _decided(component, versions)
        told = [
            msgspec.structs.replace(options, reproduce=words_of(self.flags, component, options, self.config))
            for options in versions
        ]
        with progress_line(verbose=self.showing.verbose, quiet=self.showing.quiet) as progress:
            pace = _Pace()
            tell = [progress] * len(told) if self.showing.quiet else _telling(component, told, progress, pace)
            results = run_versions(component, told, tell, None if self.showing.quiet else pace.slow)
        return [_with_why(result, how) for result in results]

    def _to_stdout(self) -> bool:
        return any(report.path == STDOUT for report in self.reports)

    def _show(self, name: str, results: list[RunResult]) -> None:
        if self._to_stdout():
            return
        with stdout_may_close():
            if self.showing.quiet:
                for result in results:
                    where = filter(None, (name, f"Storm {result.storm}" if len(results) > 1 else ""))
                    lead = "".join(f"{word}: " for word in where)
                    sys.stdout.write(f"{lead}{word_of(result)}  {summary_of(result)}\n")
            elif len(results) > 1:
                render_versions(results, self.rulebook, self.console)
            elif fits_one_screen(results[0]) and not self.showing.verbose:
                render_screen(results[0], self.console)
            else:
                render_pretty(results[0], self.rulebook, self.console)


def _with_why(result: RunResult, how: str) -> RunResult:
    why = "; ".join(filter(None, (result.component.why, how)))
    return msgspec.structs.replace(result, component=msgspec.structs.replace(result.component, why=why))


def _why_not(error: BaseException) -> tuple[str, ExitCode]:
    """The reason why no case was played, and its exit code."""
    if isinstance(error, LaunchError):
        hint = f" ({error.hint})" if error.hint else ""
        code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
        return f"{error.message}{hint}", code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; there is no case to report", ExitCode.INTERRUPTED
    if isinstance(error, CommandError):
        return error.message, error.code
    return str(error), ExitCode.NOTHING_SELECTED if isinstance(error, SelectionError) else ExitCode.MISUSE


def _telling(
    component: Component, versions: list[RunOptions], progress: Progress | None, pace: _Pace
) -> list[Progress | None]:
    """Tell on stderr, before the first case, what the suite is about to do to the component; one a version."""

    def of_version(options: RunOptions) -> Progress:
        """The function that is called before each case on one Storm version, and while one waits."""

        def tell(case: str, begun: int, total: int) -> None:
            """A case begins, or waits: the first one of all announces the suite."""
            if not pace.told:
                _announce(component, options, total, len(versions))
            if remarked := pace.tell(begun, total * len(versions)):
                remark(remarked)
            if progress is not None:
                progress(f"{case} on Storm {options.storm}" if len(versions) > 1 else case, begun, total)

        return tell

    return [of_version(options) for options in versions]


class _Pace:
    """Estimate of the time of a slow component's cases, once some of them were played."""

    def __init__(self) -> None:
        self.told: set[int] = set()
        self._began = self._latest = time.monotonic()
        self._longest = 0.0
        self._said = False
        self._total = 0

    def tell(self, begun: int, total: int) -> str:
        """A sentence when so many cases were begun, "" mostly; `total`: how many there are.

        Where the first few were quick it is looked at again. One long case, as of a hang, tells nothing.
        """
        now = time.monotonic()
        self._total = total
        if begun in self.told:
            return ""
        self.told.add(begun)
        self._longest, self._latest = max(self._longest, now - self._latest), now
        each = (now - self._began - self._longest) / max(1, begun - 1)
        if self._said or begun not in TRIED or each * total < LONG:
            return ""
        self._said = True
        minutes = each * total / 60
        return (
            f"a case takes {each:.1f} s, to start and to answer: all {total} may take some {minutes:.0f} min"
            " (-j N: N at once; -k PATTERN: some of them)"
        )

    def slow(self, tuple_takes: float) -> None:
        """Tell on stderr of a component that is slow, once."""
        if said := self.told_slow(tuple_takes):
            remark(said)

    def told_slow(self, tuple_takes: float) -> str:
        """The sentence for a component that works for so many seconds on each tuple: as soon as that is known."""
        seconds = tuple_takes * self._total
        if self._said or tuple_takes < SLOW or seconds < LONG:
            return ""
        self._said = True
        return (
            f"a tuple takes it {tuple_takes:.1f} s, and most of the {self._total} cases wait for one or more:"
            f" all may take some {seconds / 60:.0f} min (-j N: N at once; -k PATTERN: some of them)"
        )


def _announce(component: Component, options: RunOptions, total: int, versions: int) -> None:
    many = total * versions > 1
    if not many and component.kind != "spout":
        return
    cases = f"{total} case{'s' if total > 1 else ''}" + (
        f" on each of {versions} Storm versions" if versions > 1 else ""
    )
    pace = f", {options.jobs} at once" if options.jobs > 1 else ", one after another (-j N: N at once)"
    lead = f"{component.name}: " if component.name else ""
    acks = f"; {ACKS}" if component.kind == "spout" else ""
    remark(f"{lead}{cases}{f', a start of the component for each{pace}' if many else ''}{acks}")


def _decided(component: Component, versions: list[RunOptions]) -> tuple[Component, str]:
    """The component with its kind, as the newest version finds it that can tell. Raises CommandError if none can."""
    for options in reversed(versions):
        probe = kind_of(component, options)
        if probe.kind is not None:
            return msgspec.structs.replace(component, kind=probe.kind), probe.how
    raise ProbeError(probe)
