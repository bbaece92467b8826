"""``mlcheck lint``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Strict
from multilang_cli.cli.recordings.recorded import judged
from multilang_cli.reports.coverage import render_coverage
from multilang_cli.reports.explaining.explain import render_findings
from multilang_cli.reports.formats.registry import STDOUT
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.recordings import paths_of, spare
from multilang_cli.terminal.output import stdout_may_close


def lint(
    transcripts: Annotated[list[str], typer.Argument(metavar="TRANSCRIPT", hidden=True)],
    *,
    storm: Annotated[
        str | None,
        typer.Option("--storm", metavar="VERSION", help="Judge for this version. Default: the recorded one."),
    ] = None,
    strict: Strict = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say which rules and clauses the recordings exercised, and which never.")
    ] = False,
    open_ended: Annotated[
        bool, typer.Option("--open-ended", help="Take a missing end, as of a tap that still runs.")
    ] = False,
    report: Reports = None,
    color: Color = None,
) -> int:
    """Judge recorded conversations.

    TRANSCRIPT: files that `mlcheck run` recorded, directories of them, or - for stdin. Several files may be the parts
    of one conversation; gzip is read as well. The findings are those that the recording run gave; --storm judges for
    another version.
    """
    reports = checked_reports(report)
    console = console_of(color)
    spare("lint", (each.path for each in reports), paths_of("lint", transcripts))
    html = any(each.format == "html" for each in reports)
    result, rulebook = judged(
        "lint", transcripts, storm or "", strict=bool(strict), twice=html, coverage=coverage, open_ended=open_ended
    )
    write_reports(reports, result, rulebook)
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            render_findings(result, rulebook, console)
            for note in result.notes:
                Page(console).para(note, label="Note:")
            if coverage:
                Page(console).para("Coverage", "bold")
                render_coverage(Page(console), result.coverage, whole=True)
    return result.exit_code
