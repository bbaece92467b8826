"""What ``mlcheck run`` does: each component in turn, its results printed and written, the exit codes put together."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.cli.dispatch import complain
from multilang_cli.cli.exits import CommandError, ExitCode, worst
from multilang_cli.cli.output import progress_line, stdout_may_close
from multilang_cli.cli.shared import checked_reports, console_of, known_storm, write_reports
from multilang_cli.host.launch import LaunchError
from multilang_cli.reports.console import render_pretty, summary_of
from multilang_cli.reports.formats import STDOUT, Report
from multilang_cli.reports.verdict import word_of
from multilang_cli.suite import config as config_file
from multilang_cli.suite.case import CaseError, SelectionError, load_cases
from multilang_cli.suite.config import Config, ConfigError
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.reproduce import words_of
from multilang_cli.suite.runner import RecordError, run_suite
from multilang_cli.suite.settings import Flags, components, run_options

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.protocol.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult
    from multilang_cli.suite.options import Component, RunOptions


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """How results are shown: reports as ``FORMAT=PATH``, colour, how much."""

    reports: tuple[str, ...] = ()
    color: str | None = None
    quiet: bool = False
    verbose: bool = False


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
    rulebook = load_rulebook()
    try:
        config = config_file.load(config_file.find(Path.cwd()))
        options = run_options(flags, os.environ, config)
        chosen = components(flags, config)
        if options.suites:
            load_cases("component", options.suites)
    except (ConfigError, CaseError) as error:
        raise CommandError(str(error)) from None
    options = msgspec.structs.replace(options, storm=known_storm(rulebook, options.storm))
    door = _Door(flags, config, showing, console, rulebook)
    codes: list[int] = []
    for component in chosen:
        several = component.name if len(chosen) > 1 else ""
        codes.append(door.check(component, _apart(options, several), _named(reports, several)))
        if codes[-1] == ExitCode.INTERRUPTED:
            break
    return worst(codes)


class _Door(NamedTuple):
    """What is the same for every component of a run."""

    flags: Flags
    config: Config
    showing: Showing
    console: Console
    rulebook: Rulebook

    def check(self, component: Component, options: RunOptions, reports: tuple[Report, ...]) -> int:
        """Run one component and show the result; its exit code."""
        try:
            result = self._run(component, options)
        except LaunchError as error:
            hint = f" ({error.hint})" if error.hint else ""
            code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
            return self._give_up(component, f"{error.message}{hint}", code)
        except SelectionError as error:
            return self._give_up(component, str(error), ExitCode.NOTHING_SELECTED)
        except RecordError as error:
            return self._give_up(component, str(error), ExitCode.MISUSE)
        except CommandError as error:
            return self._give_up(component, error.message, error.code)
        self._show(component.name, result, reports)
        return result.exit_code

    def _run(self, component: Component, options: RunOptions) -> RunResult:
        how = ""
        if component.kind == "auto":
            component, how = _decided(component, options)
        words = words_of(self.flags, component, options, self.config)
        options = msgspec.structs.replace(options, reproduce=words)
        with progress_line(verbose=self.showing.verbose, quiet=self.showing.quiet) as progress:
            result = run_suite(component, options, progress)
        why = "; ".join(filter(None, (result.component.why, how)))
        return msgspec.structs.replace(result, component=msgspec.structs.replace(result.component, why=why))

    def _give_up(self, component: Component, message: str, code: ExitCode) -> int:
        complain(f"{component.name}: {message}" if component.name else message)
        return code

    def _show(self, name: str, result: RunResult, reports: tuple[Report, ...]) -> None:
        write_reports(reports, result, self.rulebook)
        if any(report.path == STDOUT for report in reports):
            return
        with stdout_may_close():
            if self.showing.quiet:
                sys.stdout.write(f"{name}{': ' if name else ''}{word_of(result)}  {summary_of(result)}\n")
            else:
                render_pretty(result, self.rulebook, self.console)


def _decided(component: Component, options: RunOptions) -> tuple[Component, str]:
    probe = kind_of(component, options)
    if probe.kind is None:
        if probe.silent:
            hint = "say --kind bolt or --kind spout to see what it does instead"
            raise CommandError(f"no first message: {probe.how}; {hint}", ExitCode.NO_FIRST_MESSAGE)
        raise CommandError(f"can't tell whether it is a bolt or a spout: {probe.how}")
    return msgspec.structs.replace(component, kind=probe.kind), probe.how


def _apart(options: RunOptions, name: str) -> RunOptions:
    """The options of one of several components: its transcripts in a directory of their own."""
    return msgspec.structs.replace(options, record=str(Path(options.record) / name)) if name else options


def _named(reports: tuple[Report, ...], name: str) -> tuple[Report, ...]:
    """The reports of one of several components: ``report.json`` becomes ``report-NAME.json``."""
    if not name:
        return reports
    return tuple(
        report if report.path == STDOUT else Report(report.format, str(_with_name(Path(report.path), name)))
        for report in reports
    )


def _with_name(path: Path, name: str) -> Path:
    return path.with_name(f"{path.stem}-{name}{path.suffix}")
