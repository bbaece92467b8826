"""Recordings judged, and what was found in them on the screen and in reports."""

from __future__ import annotations

import shlex

import msgspec

from multilang_cli.recordings.judged import judged
from multilang_cli.reports.coverage import render_coverage
from multilang_cli.reports.explaining.explain import render_findings
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.reports.formats.screen import render_recordings
from multilang_cli.reports.grouping import troubles_of
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.recordings import paths_of, refuse_overwriting
from multilang_cli.terminal.output import stdout_may_close


class LintFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck lint``."""

    transcripts: tuple[str, ...]
    storm: str = ""
    strict: bool = False
    coverage: bool = False
    open_ended: bool = False
    verbose: bool = False
    report: tuple[str, ...] = ()
    color: str | None = None


def lint_given(flags: LintFlags) -> int:
    """Judge the transcripts; returns the exit code. Raises CommandError."""
    reports = checked_reports(flags.report)
    console = console_of(flags.color)
    refuse_overwriting("lint", (each.path for each in reports), paths_of("lint", flags.transcripts))
    result, rulebook = judged(
        "lint",
        flags.transcripts,
        flags.storm,
        strict=flags.strict,
        twice=any(each.format == "html" for each in reports),
        coverage=flags.coverage,
        open_ended=flags.open_ended,
    )
    write_reports(reports, result, rulebook)
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            if troubles_of(result) and not flags.verbose:
                render_recordings(result, console, f"mlcheck lint -v {shlex.join(flags.transcripts)}")
            else:
                render_findings(result, rulebook, console)
            for note in result.notes:
                Page(console).para(note, label="Note:")
            if flags.coverage:
                Page(console).para("Coverage", "bold")
                render_coverage(Page(console), result.coverage)
    return result.exit_code
