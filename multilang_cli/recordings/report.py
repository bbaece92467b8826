"""Recordings on one page, or packed into one file, and such a file restored."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.recordings.judged import judged
from multilang_cli.recordings.lint import LintFlags, lint_given
from multilang_cli.reports.evidence.bundle import PAGE, BundleError, pack, unpack
from multilang_cli.reports.formats.registry import ReportError, put, why_not_writable
from multilang_cli.reports.html.page import to_html
from multilang_cli.subject.recordings import paths_of, refuse_overwriting
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, stdout_may_close

if TYPE_CHECKING:
    from collections.abc import Sequence


_SELDOM = (20_000, 20, 100)
"""Containers that are made before Python looks for circles of them: of millions of messages none is in one."""


class ReportFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck report``. `events`: on the page, at most."""

    events: int
    transcripts: tuple[str, ...] = ()
    output: str | None = None
    bundle: str | None = None
    opened: str | None = None
    storm: str = ""


def report_given(flags: ReportFlags) -> int:
    """Make the page or the bundle that is asked for, or open one; returns the exit code. Raises CommandError."""
    transcripts, output, bundle = flags.transcripts, flags.output, flags.bundle
    if flags.opened is not None:
        _open(flags.opened, output, flags.events, given=bool(transcripts or bundle))
        return ExitCode.CONFORMANT
    if not transcripts:
        raise CommandError("report: which transcripts? Give files that were recorded, or directories of them.")
    if output is None and bundle is None:
        raise CommandError("report: where to? Give -o out.html for a page, --bundle out.zip for a bundle.")
    gc.set_threshold(*_SELDOM)
    _make(transcripts, output, bundle, flags.storm, flags.events)
    return ExitCode.CONFORMANT


def _make(transcripts: Sequence[str], output: str | None, bundle: str | None, storm: str, events: int) -> None:
    """Make the page, the bundle, or both."""
    outputs = [each for each in (output, bundle) if each is not None]
    for path in outputs:
        if why := why_not_writable(path):
            raise CommandError(f"report: {why}.")
    refuse_overwriting("report", outputs, paths_of("report", transcripts))
    result, rulebook = judged("report", transcripts, storm, twice=True)
    try:
        if output is not None:
            with stdout_may_close():
                put(output, to_html(result, rulebook, events=events), sys.stdout)
        if bundle is not None:
            try:
                pack(Path(bundle), paths_of("report", transcripts), result, rulebook, events)
            except BundleError as error:
                raise CommandError(f"report: {error}.") from None
    except ReportError as error:
        raise CommandError(f"report: {error}") from None
    except OSError as error:
        raise CommandError(f"report: can't write {bundle or output}: {error.strerror}.") from None
    # The page says it too, but who makes it looks here first.
    lost = next((each.reason for each in result.subjects if each.verdict == "untestable" and each.reason), "")
    lost = lost or next(iter(result.notes), "")
    why = f": {lost}" if lost and not result.complete else ""
    remark(f"{', '.join(outputs)}: {result.verdict}{why}")


def _open(opened: str, output: str | None, events: int, *, given: bool) -> None:
    """Restore a bundle, and judge what was recorded anew."""
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
    lint_given(LintFlags(transcripts=tuple(str(folder / name) for name in names)))
