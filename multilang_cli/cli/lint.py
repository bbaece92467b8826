"""``mlcheck lint``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.cli.app import Color, Reports, Strict
from multilang_cli.cli.exits import CommandError
from multilang_cli.cli.output import stdout_may_close
from multilang_cli.cli.shared import STDIN, checked_reports, console_of, known_storm, write_reports
from multilang_cli.reports.explain import render_findings
from multilang_cli.reports.formats import STDOUT
from multilang_cli.reports.page import Page
from multilang_cli.suite.linting import judge_transcripts, lint_result
from multilang_cli.transcript.format import TranscriptError


def lint(
    transcripts: Annotated[list[str], typer.Argument(metavar="TRANSCRIPT", hidden=True)],
    storm: Annotated[
        str | None,
        typer.Option("--storm", metavar="VERSION", help="Judge for this version. Default: the recorded one."),
    ] = None,
    strict: Strict = None,
    report: Reports = None,
    color: Color = None,
) -> int:
    """Judge recorded conversations.

    TRANSCRIPT: files that `mlcheck run` recorded, directories of them, or - for stdin. Several files may be the parts
    of one conversation. The findings are those that the recording run gave; --storm judges for another version.
    """
    if "-" in transcripts and len(transcripts) > 1:
        raise CommandError("lint: - stands for stdin and must be the only transcript.")
    reports = checked_reports(report)
    console = console_of(color)
    version = known_storm(storm or "")
    rulebook = load_rulebook(version)
    paths = [path for name in transcripts for path in _files_of(name)]
    try:
        judged = judge_transcripts(paths, rulebook, version)
    except TranscriptError as error:
        raise CommandError(f"lint: {error}") from None
    except OSError as error:
        raise CommandError(f"lint: {error.filename}: can't be read: {error.strerror}.") from None
    result = lint_result(judged, strict=bool(strict))
    write_reports(reports, result, rulebook)
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            render_findings(result, rulebook, console)
            for note in result.notes:
                Page(console).para(note, label="Note:")
    return result.exit_code


def _files_of(name: str) -> list[str]:
    """A file, stdin for "-", or the transcripts in a directory. Raises CommandError if it has none."""
    if name == "-":
        return [STDIN]
    if not Path(name).is_dir():
        return [name]
    found = sorted(map(str, Path(name).glob("*.ndjson")))
    if not found:
        raise CommandError(f"lint: {name}: there are no transcripts (*.ndjson) in this directory.")
    return found
