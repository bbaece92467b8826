"""Reports by format and path, as ``--report FORMAT=PATH`` names them. A new format is a line in `FORMATS`."""

from __future__ import annotations

import difflib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.protocol.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult

    Writer = Callable[[RunResult, Rulebook], str]

STDOUT = "-"

FORMATS: dict[str, tuple[str, str]] = {
    "pretty": ("multilang_cli.reports.console", "pretty_text"),
    "json": ("multilang_cli.reports.json_report", "to_json"),
    "junit": ("multilang_cli.reports.junit", "to_junit"),
    "github": ("multilang_cli.reports.github", "to_github"),
    "markdown": ("multilang_cli.reports.markdown", "to_markdown"),
}
"""The module and the function of each format; modules are loaded when they are asked for."""


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


def write_report(report: Report, result: RunResult, rulebook: Rulebook, stdout: TextIO) -> None:
    """Write a report, whole or not at all; paths in it become relative to it. Raises ReportError."""
    module, function = FORMATS[report.format]
    writer = cast("Writer", getattr(importlib.import_module(module), function))
    to_stdout = report.path == STDOUT
    base = Path() if to_stdout else Path(report.path).parent
    text = writer(relative_to(result, base), rulebook).encode("utf-8", "backslashreplace")
    try:
        if to_stdout:
            _write_stdout(stdout, text)
        else:
            write_whole(Path(report.path), text)
    except OSError as error:
        place = "stdout" if to_stdout else report.path
        raise ReportError(f"--report {report.format}: can't write {place}: {error.strerror}") from None


def write_whole(path: Path, content: bytes) -> None:
    """Put content at `path` whole or not at all: a temporary file beside it takes its place. Raises OSError.

    What is no regular file (a pipe, /dev/null) is written to as it is.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            device.write(content)
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def relative_to(result: RunResult, base: Path) -> RunResult:
    """The result with the paths of transcripts relative to the directory `base` instead of the working directory."""
    subjects = tuple(
        msgspec.structs.replace(subject, transcript=os.path.relpath(subject.transcript, base))
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
    if path != STDOUT:
        _check_writable(name, Path(path))
    return Report(name, path)


def _check_writable(name: str, path: Path) -> None:
    if path.is_dir():
        raise ReportError(f"--report {name}: {path} is a directory")
    if path.exists() and not path.is_file():
        return
    parent = path.resolve().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ReportError(f"--report {name}: can't write {path}: {parent} is no directory that can be written to")


def _write_stdout(stdout: TextIO, text: bytes) -> None:
    buffer = getattr(stdout, "buffer", None)
    if buffer is None:
        stdout.write(text.decode())
    else:
        stdout.flush()
        buffer.write(text)
    stdout.flush()
