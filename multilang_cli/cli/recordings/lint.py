"""``mlcheck lint``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Strict
from multilang_cli.cli.options.handled import handled_by


@handled_by("recordings.lint:lint_given")
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
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show each finding of each conversation, not the cause alone.")
    ] = False,
    open_ended: Annotated[
        bool, typer.Option("--open-ended", help="Take a missing end, as of a tap that still runs.")
    ] = False,
    report: Reports = None,
    color: Color = None,
) -> None:
    """Judge recorded conversations.

    TRANSCRIPT: files that `mlcheck run` recorded, directories of them, or - for stdin. Several files may be the parts
    of one conversation; gzip is read as well. The findings are those that the recording run gave; --storm judges for
    another version.
    """
