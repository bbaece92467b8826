"""Reports by format and path, as ``--report FORMAT=PATH`` names them. A new format is a line in `FORMATS`."""

from __future__ import annotations

import difflib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

import msgspec

from multilang_cli.transcript.private import OWN_FILE, USUAL_FILE, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.html.document import AnySection
    from multilang_cli.reports.model import RunResult

    Writer = Callable[..., str]

STDOUT = "-"

FORMATS: dict[str, tuple[str, str]] = {
    "pretty": ("multilang_cli.reports.formats.console", "pretty_text"),
    "json": ("multilang_cli.reports.formats.json_report", "to_json"),
    "junit": ("multilang_cli.reports.formats.junit", "to_junit"),
    "github": ("multilang_cli.reports.formats.github", "to_github"),
    "markdown": ("multilang_cli.reports.formats.markdown", "to_markdown"),
    "sarif": ("multilang_cli.reports.formats.sarif", "to_sarif"),
    "html": ("multilang_cli.reports.html.page", "to_html"),
}
"""The module and the function of each format; modules are loaded when they are asked for."""
_READ_RECORDINGS = frozenset({"html"})
"""Formats that have the recordings in them: they need paths as seen from here."""


class ReportError(Exception):
    """A report can't be made: one sentence says which and why. A mistake of usage, exit code 2."""


class Report(NamedTuple):
    """A report that was asked for: a format and where it goes, "-" for stdout."""

    format: str
    path: str


def parse_reports(specs: Iterable[str]) -> tuple[Report, ...]:
    """The reports asked for, checked before anything runs.

    Raises ReportError for an unknown format, a path that can't be written, or two reports to one place.
    """
    reports = tuple(_parse(spec) for spec in specs)
    for number, report in enumerate(reports):
        if report.path in {earlier.path for earlier in reports[:number]}:
            place = "stdout" if report.path == STDOUT else report.path
            raise ReportError(f"--report: two reports go to {place}; give each its own path")
    return reports


def write_report(
    report: Report, result: RunResult, rulebook: Rulebook, stdout: TextIO, sections: Sequence[AnySection] = ()
) -> None:
    """Write a report, whole or not at all; paths in it become relative to it. Raises ReportError.

    `sections`: what a page has besides.
    """
    module, function = FORMATS[report.format]
    writer = cast("Writer", getattr(importlib.import_module(module), function))
    base = Path() if report.path == STDOUT else Path(report.path).parent
    shown = result if report.format in _READ_RECORDINGS else relative_to(result, base)
    try:
        more = (sections,) if report.format in _READ_RECORDINGS else ()
        put(report.path, writer(shown, rulebook, *more), stdout)
    except OSError as error:
        place = "stdout" if report.path == STDOUT else report.path
        raise ReportError(f"--report {report.format}: can't write {place}: {error.strerror}") from None


def put(path: str, text: str, stdout: TextIO) -> None:
    """Put a text at `path`, whole or not at all; "-" is `stdout`. Raises OSError."""
    content = text.encode("utf-8", "backslashreplace")
    if path == STDOUT:
        _write_stdout(stdout, content)
    else:
        write_whole(Path(path), content)


def write_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Put content at `path` whole or not at all. Raises OSError.

    `private`: its owner alone may read it, as what stands beside recordings, and whatever has its name is replaced.

    Else nobody but the user named it: what is no regular file (a pipe, /dev/null) is written to as it is, and a link
    is followed.
    """
    if not private:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                device.write(content)
            return
        path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, permissions=OWN_FILE if private else USUAL_FILE) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def relative_to(result: RunResult, base: Path) -> RunResult:
    """The result with the paths of transcripts relative to the directory `base` instead of the working directory."""
    subjects = tuple(
        msgspec.structs.replace(
            subject,
            transcript=os.path.relpath(subject.transcript, base),
            further_parts=tuple(os.path.relpath(path, base) for path in subject.further_parts),
        )
        if subject.transcript is not None
        else subject
        for subject in result.subjects
    )
    parts = tuple(relative_to(part, base) for part in result.parts)
    return msgspec.structs.replace(result, subjects=subjects, parts=parts)


def _parse(spec: str) -> Report:
    name, separator, path = spec.partition("=")
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(FORMATS)}"
        raise ReportError(f"--report: there is no format {name!r}; {hint}")
    if not separator or not path:
        raise ReportError(f"--report {name}: a path is missing; write {name}=PATH, or {name}=- for stdout")
    if why := why_not_writable(path):
        raise ReportError(f"--report {name}: {why}")
    return Report(name, path)


def why_not_writable(name: str) -> str:
    """The reason why nothing can be put at the path `name`, "" if it can, as far as one sees beforehand."""
    path = Path(name)
    if name == STDOUT:
        return ""
    if path.is_dir():
        return f"{path} is a directory"
    if path.exists() and not path.is_file():
        return ""
    parent = path.resolve().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        return f"can't write {path}: {parent} is no directory that can be written to"
    return ""


def _write_stdout(stdout: TextIO, text: bytes) -> None:
    buffer = getattr(stdout, "buffer", None)
    if buffer is None:
        stdout.write(text.decode())
    else:
        stdout.flush()
        buffer.write(text)
    stdout.flush()
