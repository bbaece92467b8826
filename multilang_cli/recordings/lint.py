"""Recordings judged, and what was found in them on the screen and in reports."""

from __future__ import annotations

import shlex
from typing import Any

from multilang_cli.recordings.judged import judged
from multilang_cli.reports.coverage import render_coverage
from multilang_cli.reports.explaining.explain import render_findings
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.reports.formats.screen import render_recordings
from multilang_cli.reports.grouping import troubles_of
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.recordings import paths_of, spare
from multilang_cli.terminal.output import stdout_may_close


def lint_given(given: dict[str, Any]) -> int:
    """Judge the transcripts; returns the exit code. Raises CommandError."""
    transcripts, coverage = given["transcripts"], given.get("coverage", False)
    reports = checked_reports(given.get("report"))
    console = console_of(given.get("color"))
    spare("lint", (each.path for each in reports), paths_of("lint", transcripts))
    result, rulebook = judged(
        "lint",
        transcripts,
        given.get("storm", ""),
        strict=given.get("strict", False),
        twice=any(each.format == "html" for each in reports),
        coverage=coverage,
        open_ended=given.get("open_ended", False),
    )
    write_reports(reports, result, rulebook)
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            if troubles_of(result) and not given.get("verbose"):
                render_recordings(result, console, f"mlcheck lint -v {shlex.join(transcripts)}")
            else:
                render_findings(result, rulebook, console)
            for note in result.notes:
                Page(console).para(note, label="Note:")
            if coverage:
                Page(console).para("Coverage", "bold")
                render_coverage(Page(console), result.coverage, whole=True)
    return result.exit_code
