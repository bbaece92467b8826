"""Outputs that the user asked for: the console on stdout, and reports written to files."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.reports.escape import escape_json
from multilang_cli.reports.formats.registry import STDOUT, ReportError, parse_reports, write_report
from multilang_cli.reports.page import make_console
from multilang_cli.reports.verdict import word_of
from multilang_cli.subject.settings import color
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import stdout_may_close, write
from multilang_cli.transcript.redact import everywhere

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.formats.registry import Report
    from multilang_cli.reports.html.document import AnySection
    from multilang_cli.reports.model import RunResult


def console_of(flag: str | None) -> Console:
    """The console on stdout, coloured as the flag, the environment or the terminal says. Raises CommandError."""
    return make_console(sys.stdout, color(flag, os.environ))


def write_json(value: Any) -> None:
    """Write structs and plain values to stdout as one JSON document, all of it visible (``--json``)."""
    plain = json.dumps(msgspec.to_builtins(value, str_keys=True), ensure_ascii=False, indent=2)
    write(escape_json(plain) + "\n")


def checked_reports(specs: Iterable[str] | None) -> tuple[Report, ...]:
    """The reports that are asked for. Raises CommandError before anything runs."""
    try:
        return parse_reports(specs or ())
    except ReportError as error:
        raise CommandError(str(error)) from None


def tell_result(
    result: RunResult, rulebook: Rulebook, reports: Sequence[Report], console: Console, *, quiet: bool
) -> int:
    """Write the reports, show the result unless one of them takes stdout; the exit code. Raises CommandError."""
    from multilang_cli.reports.formats.console import render_pretty, summary_of  # noqa: PLC0415 (slow to import)

    write_reports(reports, result, rulebook)
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            if quiet:
                sys.stdout.write(f"{word_of(result)}  {summary_of(result)}\n")
            else:
                render_pretty(result, rulebook, console)
    return result.exit_code


def write_reports(
    reports: Iterable[Report], result: RunResult, rulebook: Rulebook, sections: Sequence[AnySection] = ()
) -> None:
    """Write them all; `sections`: what pages have besides. Raises CommandError."""
    shown = everywhere().struct(result)
    for report in reports:
        try:
            with stdout_may_close():
                write_report(report, shown, rulebook, sys.stdout, sections)
        except ReportError as error:
            raise CommandError(str(error)) from None
