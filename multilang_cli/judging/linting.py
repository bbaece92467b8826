"""Judges recorded conversations: the same findings as whoever recorded them was given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from multilang_cli import __version__
from multilang_cli.judging.hearing import Hearing
from multilang_cli.judging.unread import Unread, why_of
from multilang_cli.protocol.judge.coverage import covered
from multilang_cli.reports.coverage import coverage_of
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.model import ComponentReport, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.model import CoverageReport as Exercised
from multilang_cli.reports.verdict import conclude
from multilang_cli.transcript.format import EndLine, Header, TranscriptError
from multilang_cli.transcript.read import Happened
from multilang_cli.transcript.sharing import Broken, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from multilang_cli.protocol.words.rulebook import Rulebook

NOT_CLOSED = "the recording was not closed: it has no end line behind event {seq}; what came last may be missing"
LIVELY = 32
"""Conversations of which events are kept to be quoted: those that were heard last."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """Findings in transcripts. `notes`: sentences on what is missing in them; `complete`: all could be read.

    `coverage`: what they exercised, if that was asked.
    """

    subjects: tuple[SubjectResult, ...]
    notes: tuple[str, ...]
    coverage: tuple[Exercised, ...] = ()
    argv: tuple[str, ...] = ()
    storm: str = ""
    complete: bool = True


def judge_transcripts(
    paths: Sequence[Path | str],
    rulebook: Rulebook,
    storm: str = "",
    *,
    coverage: bool = False,
    open_ended: bool = False,
) -> Judged:
    """Judge every conversation in `paths`, in the order in which they begin; several files may be parts of one.

    `storm`: the version to judge for instead of the recorded one. `coverage`: say what they exercised, too.
    `open_ended`: the end may be missing, as of a tap that still runs. What can't be read is noted, and the rest judged.
    Raises OSError, TranscriptError where there is nothing that can be read, and for a Storm version that is not known.
    """
    heard, unread = _heard(
        paths, lambda header, path: Hearing(header, path, rulebook, storm, coverage=coverage), open_ended
    )
    if not heard:
        raise unread.broken[0] if unread.broken else TranscriptError(str(paths[0]), 0, "there is no conversation in it")
    first = heard[0]
    return Judged(
        subjects=(*(hearing.result() for hearing in heard), *_unheard(heard, unread)),
        notes=(*unread.notes(), *_notes(heard)),
        coverage=_coverage(heard) if coverage else (),
        argv=first.header.argv,
        storm=first.version,
        complete=unread.whole and not any(hearing.damage for hearing in heard),
    )


def _heard(
    paths: Sequence[Path | str], hearing_of: Callable[[Header, str], Hearing], open_ended: bool
) -> tuple[list[Hearing], Unread]:
    """Every conversation in `paths`, judged to its end, and what could not be read."""
    heard: list[Hearing] = []
    unread = Unread(open_ended=open_ended)
    lively = _Lively(heard)
    for number, path, entry in lines_of(paths):
        if isinstance(entry, Happened):
            if number != lively.last:
                lively.turn_to(number)
            heard[number].feed(entry.events)
        elif isinstance(entry, Header):
            if number == len(heard):
                heard.append(hearing_of(entry, path))
            lively.turn_to(number)
            heard[number].begin(entry, path)
        elif isinstance(entry, EndLine):
            heard[number].closed = True
        elif isinstance(entry, Broken):
            unread.broken.append(entry.error)
        elif number < 0:
            unread.note(entry)
        else:
            heard[number].lose(why_of(entry))
    for hearing in heard:
        hearing.catch_up()
        # Whose the bytes were that were cut is not known.
        cut = (why for path, why in unread.lost if path in {hearing.path, *hearing.further})
        unclosed = "" if hearing.closed or open_ended else NOT_CLOSED.format(seq=hearing.last)
        hearing.damage = hearing.damage or next(cut, unclosed)
    return heard, unread


def _unheard(heard: Sequence[Hearing], unread: Unread) -> list[SubjectResult]:
    """The results of files in which no conversation could be read."""
    known = {path for hearing in heard for path in (hearing.path, *hearing.further)}
    return [
        SubjectResult(
            id=error.path, title="no conversation", kind="conversation", verdict="untestable", reason=str(error)
        )
        for error in unread.broken
        if error.path not in known
    ]


def _notes(heard: Sequence[Hearing]) -> list[str]:
    """Notes on the recordings for a reader."""
    cut = [hearing.header.conv for hearing in heard if not hearing.closed]
    lost = [f"{some_of(cut)}: the recording was not closed; what came last may be missing"] if cut else []
    late = [hearing.header.conv for hearing in heard if hearing.late]
    if late:
        lost.append(f"{some_of(late)}: it begins in the middle; what was found before is not told here")
    return [*lost, *filter(None, (hearing.unlisted for hearing in heard))]


class _Lively:
    """Those of the conversations in `heard` that keep what they may quote; the others rest. `last`: heard just now."""

    def __init__(self, heard: Sequence[Hearing]) -> None:
        self._heard = heard
        self._lively: dict[int, None] = {}
        self.last = -1

    def turn_to(self, number: int) -> None:
        """Know that this one is heard now; the one that was heard longest ago keeps as little as it can."""
        self.last = number
        self._lively.pop(number, None)
        self._lively[number] = None
        self._heard[number].wake()
        if len(self._lively) > LIVELY:
            oldest = next(iter(self._lively))
            del self._lively[oldest]
            self._heard[oldest].rest()


def _coverage(heard: Sequence[Hearing]) -> tuple[Exercised, ...]:
    """The coverage of each recording, then that of all of one kind together."""
    found = []
    for kind in ("bolt", "spout"):
        same = [hearing for hearing in heard if hearing.profile.kind == kind]
        for name, some in [*((hearing.header.conv, [hearing]) for hearing in same), ("", same)]:
            if some:
                seen = frozenset[str]().union(*(hearing.seen for hearing in some))
                broken = frozenset[str]().union(*(hearing.broken for hearing in some))
                rules = covered(seen, broken, some[-1].profile, some[-1].rulebook)
                found.append(coverage_of(name, kind, rules))
    return tuple(found)


def lint_result(judged: Judged, *, strict: bool) -> RunResult:
    """Findings as a report."""
    result = RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name="lint"),
        component=ComponentReport(command=judged.argv, why="recorded"),
        storm=judged.storm,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        strict=strict,
        subjects=judged.subjects,
        coverage=judged.coverage,
        notes=judged.notes,
        complete=judged.complete,
    )
    return conclude(result)
