"""``mlcheck bench``: measures taken in turn, and what they say, as text and as JSON."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table

from multilang_cli import __version__
from multilang_cli.bench.measuring import NoFirstMessageError, measure, told
from multilang_cli.bench.paging import page_of
from multilang_cli.bench.summing import WindowFigures, cell_of, document, ratios_of, sentences_of, three_digits
from multilang_cli.driver.launch import LaunchError, readable
from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.reports.page import Page
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.declared import not_started, one_subject
from multilang_cli.subject.flag_values import choice, whole
from multilang_cli.subject.outputs import console_of
from multilang_cli.subject.samples import has_samples
from multilang_cli.subject.settings import Flags
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import progress_line, remark_note, stdout_may_close

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from multilang_cli.bench.measuring import CpuPlacement, Measured
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.subject.declared import AskKind
    from multilang_cli.subject.subject import Subject

NAME = "bench"
BAR = 30
"""Columns of the longest bar."""
WITHOUT_BAR = 80
"""Columns of the table without it."""
WIDEST = 1_000_000
"""The largest window."""


class BenchFlags(Flags, frozen=True, kw_only=True):
    """Options of the command, besides those of a component."""

    windows: str
    seconds: float
    rounds: int
    cpus: str
    compare: str | None = None
    reports: tuple[str, ...] = ()
    color: str | None = None


class Candidate:
    """A component that is measured: its `rounds` of measures by window, in the order in which they were taken."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.rounds: dict[int, list[Measured]] = {}

    @property
    def name(self) -> str:
        """Its command line."""
        return readable(shlex.join(self.subject.component.command))

    @property
    def cells(self) -> list[WindowFigures]:
        """Measures, a cell a window."""
        return [cell_of(rounds) for rounds in self.rounds.values()]

    @property
    def wrong(self) -> list[Finding]:
        """Findings that must not be: the first of each rule."""
        found = (f for rounds in self.rounds.values() for each in rounds for f in each.findings)
        rules = {f.rule: f for f in found if f.level == "must" or f.rule == "tuple-unsettled"}
        return list(rules.values())

    @property
    def guilty(self) -> bool:
        """True if it broke a must with what it was promised: who settles later than we wait can't be measured."""
        return not self.refuses and any(each.level == "must" for each in self.wrong)

    @property
    def refuses(self) -> bool:
        """True if it fails the tuple that we made up: then its figures say nothing."""
        failed = any(each.failed for rounds in self.rounds.values() for each in rounds)
        return failed and self.subject.component.kind == "bolt" and not has_samples(self.subject.component)


def bench_given(flags: BenchFlags, ask: AskKind) -> int:
    """Measure what the command line says. Raises CommandError.

    `ask`: asks a component for its kind.
    """
    console, paths = console_of(flags.color), [_report(spec) for spec in flags.reports]
    windows, place = _places(flags)
    subjects = [one_subject(NAME, flags, ask)]
    if flags.compare is not None:
        words = _words(flags.compare)
        other = msgspec.structs.replace(flags, command=words, component=None, kind=subjects[0].component.kind)
        subjects.append(one_subject(NAME, other, ask))
    for note in subjects[0].surroundings:
        remark_note(note)
    for subject in subjects:
        if (settles := subject.component.settling) != "by-limit":
            why = f"it settles {settles}; only a bolt that settles each tuple by itself can be measured"
            raise CommandError(f"bench: {why}", ExitCode.INCONCLUSIVE)
    candidates = list(map(Candidate, subjects))
    code = _measured(candidates, windows, flags, place)  # type: ignore[arg-type]
    report = _document(candidates, flags, code)
    for form, path in paths:
        _write(path, json.dumps(report, indent=1) + "\n" if form == "json" else page_of(report))
    if all(path != "-" for _, path in paths):
        with stdout_may_close():
            _show(candidates, report, console)
    return code


def _words(line: str) -> tuple[str, ...]:
    """The words of a command line. Raises CommandError."""
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise CommandError(f"bench: --compare {line[:60]!r}: {error}.") from None


def _measured(
    candidates: Sequence[Candidate], windows: Sequence[int], flags: BenchFlags, place: CpuPlacement
) -> ExitCode:
    """Take the measures in turn; the exit code. Raises CommandError."""
    total, done = len(candidates) * len(windows) * flags.rounds, 0
    try:
        with progress_line(verbose=False, quiet=False) as progress:
            for _ in range(flags.rounds):
                for window in windows:
                    for candidate in candidates:
                        if progress is not None:
                            progress(f"window {window}: {candidate.name}", done, total)
                        done += 1
                        taken = measure(candidate.subject, window, flags.seconds, place)
                        candidate.rounds.setdefault(window, []).append(taken)
                        if candidate.wrong:
                            return ExitCode.NOT_CONFORMANT if candidate.guilty else ExitCode.INCONCLUSIVE
    except LaunchError as error:
        raise not_started(error) from None
    except NoFirstMessageError as silent:
        raise CommandError(f"bench: no first message: {silent}", ExitCode.NO_FIRST_MESSAGE) from None
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return ExitCode.INCONCLUSIVE if any(each.refuses for each in candidates) else ExitCode.CONFORMANT


def _places(flags: BenchFlags) -> tuple[list[int], str]:
    try:
        return _windows(flags.windows), choice("--cpus", flags.cpus, ("any", "one", "two"))
    except ConfigError as error:
        raise CommandError(f"bench: {error}") from None


def _windows(text: str) -> list[int]:
    found = [whole("--windows", each) for each in text.split(",")]
    if any(not 1 <= each <= WIDEST for each in found):
        raise CommandError(f"bench: --windows: expected numbers from 1 to {WIDEST}, not {text[:60]!r}")
    return sorted(set(found))


def _report(spec: str) -> tuple[str, str]:
    form, _, path = spec.partition("=")
    if form not in {"json", "html"} or not path:
        raise CommandError(f"bench: --report {spec[:60]!r}: expected json=PATH or html=PATH, - for stdout")
    return form, path


def _document(candidates: Sequence[Candidate], flags: BenchFlags, code: ExitCode) -> dict[str, Any]:
    """Everything that was found, as plain values."""
    first = candidates[0]
    whole_rounds = all(len(each.cells) == len(first.cells) and len(each.cells) > 0 for each in candidates)
    comparable = len(candidates) > 1 and whole_rounds and code == ExitCode.CONFORMANT
    ratios = ratios_of(first.cells, candidates[1].cells) if comparable else []
    return {
        "bench": "1.0",
        "tool": {"name": "mlcheck", "version": __version__},
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "storm": first.subject.version.id,
        "kind": first.subject.component.kind,
        "placed": told(flags.cpus),  # type: ignore[arg-type]
        "seconds": flags.seconds,
        "rounds": flags.rounds,
        "candidates": [
            {
                "command": each.name,
                "cells": document(each.cells),
                "findings": [f"{finding.rule}: {finding.message}" for finding in each.wrong],
                "sentences": _sentences(each),
            }
            for each in candidates
        ],
        "ratios": [ratio._asdict() for ratio in ratios],
        "exit_code": int(code),
        "complete": code != ExitCode.INTERRUPTED,
    }


def _sentences(candidate: Candidate) -> list[str]:
    if candidate.refuses:
        return ["it fails the tuple that was made up: give a sample it understands (--tuple JSON, or samples)"]
    if not candidate.cells or candidate.wrong:
        return []
    profile, version = candidate.subject.profile, candidate.subject.version
    return sentences_of(candidate.cells, profile.kind, storm_timeout(profile.conf, version), version.id)


def _write(path: str, text: str) -> None:
    try:
        if path == "-":
            with stdout_may_close():
                sys.stdout.write(text)
        else:
            write_whole(Path(path), text.encode())
    except OSError as error:
        raise CommandError(f"bench: {path}: can't be written: {error.strerror}.") from None


def _show(candidates: Sequence[Candidate], report: dict[str, Any], console: Console) -> None:
    page = Page(console)
    page.para(f"mlcheck {__version__}, bench, Storm {report['storm']}; {report['placed']}", "bold")
    longest = max((cell.rate for each in candidates for cell in each.cells), default=1.0) or 1.0
    for candidate, said in zip(candidates, report["candidates"], strict=True):
        page.blank()
        page.line(candidate.name, "bold")
        console.print(_table(candidate, longest, page.columns))
        for sentence in said["sentences"]:
            page.para(sentence, indent=2)
        for finding in said["findings"]:
            page.para(finding, label="Wrong", label_style="bold red", indent=2, hang=8)
    for ratio in report["ratios"]:
        text = f"{ratio['middle']:.2f} times the first ({ratio['low']:.2f} to {ratio['high']:.2f})"
        page.para(text, label=f"window {ratio['window']}", hang=16)


def _table(candidate: Candidate, longest: float, room: int) -> Table:
    """A row a window. The bar has what is left of `room` columns."""
    spout = candidate.subject.component.kind == "spout"
    names = ["pending" if spout else "window", "next/s" if spout else "tuples/s"]
    names += ["p50", "p99", "p99.9", "max", *(["emits/s"] if spout else ["beat", "most"]), "CPU", "MiB"]
    bar = min(BAR, room - WITHOUT_BAR)
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 1), title=None)
    for name in [*names, *([""] if bar > 0 else [])]:
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for cell in candidate.cells:
        trips = [_time(cell.round_trip_us.get(name)) for name in ("p50", "p99", "p999", "max")]
        more = [three_digits(cell.emits)] if spout else [_time(cell.heartbeat_us.get(name)) for name in ("p50", "max")]
        row = [
            str(cell.window),
            three_digits(cell.rate),
            *trips,
            *more,
            f"{cell.cpu:.0%}",
            three_digits(cell.memory_mib),
        ]
        table.add_row(*row, *(["█" * max(1, round(bar * cell.rate / longest))] if bar > 0 else []))
    return table


def _time(micros: float | None) -> str:
    """A time for people, with three digits."""
    if micros is None:
        return "-"
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if micros >= size:
            return f"{micros / size:.3g} {unit}"
    return f"{micros:.3g} µs"
