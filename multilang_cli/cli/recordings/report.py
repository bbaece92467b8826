"""``mlcheck report``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, stdout_may_close

_PAGE_EVENTS = 200_000


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
) -> int:
    """Make one HTML page of recorded conversations, to scroll, filter and pass on.

    TRANSCRIPT: files that `run`, `tap` or `repl` recorded, directories of them, or - for stdin. Several files may be
    the parts of one conversation. The findings are those of `mlcheck lint`. The page needs nothing but a browser.

    Of more than N events, the first, those around findings, and the last are on the page.
    """
    if opened is not None:
        return _open(opened, output, events, given=bool(transcripts or bundle))
    if not transcripts:
        raise CommandError("report: which transcripts? Give files that were recorded, or directories of them.")
    if output is None and bundle is None:
        raise CommandError("report: where to? Give -o out.html for a page, --bundle out.zip for a bundle.")
    return _make(transcripts, output, bundle, storm or "", events)


def _make(transcripts: list[str], output: str | None, bundle: str | None, storm: str, events: int) -> int:
    """Make the page, the bundle, or both."""
    from multilang_cli.cli.recordings.recorded import judged  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.reports.formats.registry import ReportError, put, why_not_writable  # noqa: PLC0415
    from multilang_cli.reports.html.page import page_of  # noqa: PLC0415
    from multilang_cli.subject.recordings import paths_of, spare  # noqa: PLC0415 (slow to import, and not needed for --help)

    outputs = [each for each in (output, bundle) if each is not None]
    for path in outputs:
        if why := why_not_writable(path):
            raise CommandError(f"report: {why}.")
    spare("report", outputs, paths_of("report", transcripts))
    result, rulebook = judged("report", transcripts, storm, twice=True)
    try:
        if output is not None:
            with stdout_may_close():
                put(output, page_of(result, rulebook, events), sys.stdout)
        if bundle is not None:
            from multilang_cli.reports.evidence.bundle import BundleError, pack  # noqa: PLC0415

            try:
                pack(Path(bundle), paths_of("report", transcripts), result, rulebook, events)
            except BundleError as error:
                raise CommandError(f"report: {error}.") from None
    except ReportError as error:
        raise CommandError(f"report: {error}") from None
    except OSError as error:
        raise CommandError(f"report: can't write {bundle or output}: {error.strerror}.") from None
    remark(f"{', '.join(outputs)}: {result.verdict}")
    return ExitCode.CONFORMANT


def _open(opened: str, output: str | None, events: int, *, given: bool) -> int:
    """Restore a bundle, and judge what was recorded anew."""
    from multilang_cli.cli.recordings.lint import lint  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.reports.evidence.bundle import PAGE, BundleError, unpack  # noqa: PLC0415

    if given:
        raise CommandError("report: --open restores a bundle; it takes no transcripts, and no --bundle.")
    folder = Path(output) if output is not None else Path(Path(opened).name.removesuffix(".zip") + ".opened")
    try:
        names = unpack(Path(opened), folder)
    except BundleError as error:
        raise CommandError(f"report: {error}.") from None
    except OSError as error:
        raise CommandError(f"report: {error.filename or folder}: {error.strerror}.") from None
    _make([str(folder / name) for name in names], str(folder / PAGE), None, "", events)
    held = "1 transcript" if len(names) == 1 else f"{len(names)} transcripts"
    remark(f"{folder}: about.md, page.html, report.json, environment.json, stderr.txt and {held}")
    lint([str(folder / name) for name in names])
    return ExitCode.CONFORMANT
