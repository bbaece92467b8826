"""``mlcheck report``."""

from typing import Annotated

import typer

from multilang_cli.cli.options.handled import handled_by

_PAGE_EVENTS = 200_000


@handled_by("recordings.report:report_given")
def report(
    transcripts: Annotated[list[str] | None, typer.Argument(metavar="TRANSCRIPT", hidden=True)] = None,
    *,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="PATH", help="The page; - is stdout. With --open, a directory."),
    ] = None,
    bundle: Annotated[
        str | None,
        typer.Option("--bundle", metavar="ZIP", help="Pack transcripts, findings, page and environment for an issue."),
    ] = None,
    opened: Annotated[
        str | None, typer.Option("--open", metavar="ZIP", help="Restore a bundle, and say what was found in it.")
    ] = None,
    storm: Annotated[
        str | None,
        typer.Option("--storm", metavar="VERSION", help="Judge for this version. Default: the recorded one."),
    ] = None,
    events: Annotated[
        int, typer.Option("--events", metavar="N", min=1, help="Events on the page, at most.")
    ] = _PAGE_EVENTS,
) -> None:
    """Make one HTML page of recorded conversations, to scroll, filter and pass on.

    TRANSCRIPT: files that `run`, `tap` or `repl` recorded, directories of them, or - for stdin. Several files may be
    the parts of one conversation. The findings are those of `mlcheck lint`. The page needs nothing but a browser.

    Of more than N events, the first, those around findings, and the last are on the page.
    """
