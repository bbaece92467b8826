"""``mlcheck matrix``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Storm
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by


@handled_by("suite.matrix_run:matrix_given")
def matrix(
    folders: Annotated[list[str] | None, typer.Argument(metavar="FOLDER", hidden=True)] = None,
    *,
    output: Annotated[str | None, typer.Option("-o", "--output", metavar="DIR", help="Where everything goes.")] = None,
    prepare: option.Prepare = False,
    brief: Annotated[
        bool,
        typer.Option("--brief", help="Only the table in markdown, the badges and the data: to keep beside sources."),
    ] = False,
    add: Annotated[
        bool, typer.Option("--add", help="Keep what DIR has of other libraries, and of other versions as a trend.")
    ] = False,
    storm: Storm = None,
    include: option.Include = None,
    exclude: option.Exclude = None,
    jobs: option.Jobs = None,
    timeout: option.Timeout = None,
    as_json: Json = False,
) -> None:
    """Play every case against libraries: both suites with each testee, and the results side by side.

    FOLDER: testees, or folders of testees. Default: those that come with mlcheck.

    DIR gets index.html, a page and a transcript for each cell that is no pass, matrix.md, matrix.json, and a badge
    for each library. A failure that a testee's file of known failures explains is a failure here too, with its reason;
    but only a new one, or one that is gone, makes the exit code 1.
    """
