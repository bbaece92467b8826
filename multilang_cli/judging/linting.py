"""Judges recorded conversations: the same findings as whoever recorded them was given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from multilang_cli import __version__
from multilang_cli.judging.judged_conversation import JudgedConversation
from multilang_cli.protocol.judge.coverage import covered
from multilang_cli.reports.coverage import coverage_of
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.model import ComponentReport, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.model import CoverageReport as Exercised
from multilang_cli.reports.verdict import conclude
from multilang_cli.transcript.format import EndLine, Header, TranscriptError
from multilang_cli.transcript.line_order import Shipped, ShippedLines
from multilang_cli.transcript.read import Cut, Damaged, Happened, Unclosed
from multilang_cli.transcript.sharing import Broken, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from multilang_cli.protocol.words.rulebook import Rulebook

NOT_CLOSED = "the recording was not closed: it has no end line behind event {seq} (from byte {byte} on)"
MOST_IN_MEMORY = 32
"""Conversations of which events are kept to be quoted: those that were read last."""
MOST_NOTES = 100
"""Places that can't be read that are named; of more, the number is given."""


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
    conversations, unread = _judged(
        paths, lambda header, path: JudgedConversation(header, path, rulebook, storm, coverage=coverage), open_ended
    )
    if not conversations:
        raise unread.broken[0] if unread.broken else TranscriptError(str(paths[0]), 0, "there is no conversation in it")
    first = conversations[0]
    return Judged(
        subjects=(*(each.result() for each in conversations), *_unreadable(conversations, unread)),
        notes=(*unread.notes(), *unread.shipped.notes(), *_notes(conversations)),
        coverage=_coverage(conversations) if coverage else (),
        argv=first.header.argv,
        storm=first.version,
        complete=unread.whole and not any(each.damage for each in conversations),
    )


def _judged(
    paths: Sequence[Path | str], begun: Callable[[Header, str], JudgedConversation], open_ended: bool
) -> tuple[list[JudgedConversation], Unread]:
    """Every conversation in `paths`, judged to its end, and what could not be read."""
    conversations: list[JudgedConversation] = []
    unread = Unread(open_ended=open_ended)
    recent = _Recent(conversations)
    for number, path, entry in lines_of(paths):
        if isinstance(entry, Happened):
            if number != recent.last:
                recent.turn_to(number)
            conversations[number].feed(entry.events)
        elif isinstance(entry, Header):
            if number == len(conversations):
                conversations.append(begun(entry, path))
            recent.turn_to(number)
            conversations[number].begin(entry, path)
        elif isinstance(entry, EndLine):
            conversations[number].close()
        elif isinstance(entry, Unclosed):
            conversations[number].stop = entry.byte
        elif number < 0 or isinstance(entry, Shipped | Broken):
            unread.note(entry)
        else:
            conversations[number].note_damage(why_of(entry))
    for each in conversations:
        each.catch_up()
        # Whose the bytes were that were cut is not known.
        cut = (why for path, why in unread.lost if path in {each.path, *each.further})
        unclosed = "" if each.closed or open_ended else NOT_CLOSED.format(seq=each.last, byte=each.stop)
        each.damage = each.damage or next(cut, unclosed)
    return conversations, unread


def _unreadable(conversations: Sequence[JudgedConversation], unread: Unread) -> list[SubjectResult]:
    """The results of files in which no conversation could be read."""
    known = {path for each in conversations for path in (each.path, *each.further)}
    return [
        SubjectResult(
            id=error.path, title="no conversation", kind="conversation", verdict="untestable", reason=str(error)
        )
        for error in unread.broken
        if error.path not in known
    ]


def _notes(conversations: Sequence[JudgedConversation]) -> list[str]:
    """Notes on the recordings for a reader."""
    cut = [each.header.conv for each in conversations if not each.closed]
    lost = [f"{some_of(cut)}: the recording was not closed; what came last may be missing"] if cut else []
    late = [each.header.conv for each in conversations if each.late]
    if late:
        lost.append(f"{some_of(late)}: it begins in the middle; what was found before is not told here")
    told = [note for each in conversations for note in (each.declared, each.unlisted) if note]
    return [*lost, *told]


class _Recent:
    """Those of `conversations` that were read last: they alone keep what they may quote. `last`: the very last."""

    def __init__(self, conversations: Sequence[JudgedConversation]) -> None:
        self._conversations = conversations
        self._recent: dict[int, None] = {}
        self.last = -1

    def turn_to(self, number: int) -> None:
        """Have this one be read now; the one that was read longest ago keeps as little as it can."""
        self.last = number
        self._recent.pop(number, None)
        self._recent[number] = None
        self._conversations[number].resume()
        if len(self._recent) > MOST_IN_MEMORY:
            oldest = next(iter(self._recent))
            del self._recent[oldest]
            self._conversations[oldest].suspend()


def _coverage(conversations: Sequence[JudgedConversation]) -> tuple[Exercised, ...]:
    """The coverage of each recording, then that of all of one kind together."""
    found = []
    for kind in ("bolt", "spout"):
        same = [each for each in conversations if each.profile.kind == kind]
        for name, some in [*((each.header.conv, [each]) for each in same), ("", same)]:
            if some:
                seen = frozenset[str]().union(*(each.seen for each in some))
                broken = frozenset[str]().union(*(each.broken for each in some))
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


class Unread:
    """Files and lines that could not be read. `broken`: files from some place on. `open_ended`: a cut end is taken.

    `shipped`: lines that stand twice, or came out of order.
    """

    def __init__(self, *, open_ended: bool = False) -> None:
        self.open_ended = open_ended
        self.broken: list[TranscriptError] = []
        self.shipped = ShippedLines()
        self._places: list[str] = []
        self._more = 0
        self._damaged = False
        self._cut: dict[str, str] = {}

    @property
    def lost(self) -> list[tuple[str, str]]:
        """Files of which the rest is lost, and why."""
        return [*self._cut.items(), *((error.path, str(error)) for error in self.broken)]

    def note(self, entry: Cut | Damaged | Shipped | Broken) -> None:
        """Remember a line, or that a file breaks off."""
        if isinstance(entry, Broken):
            self.broken.append(entry.error)
        elif isinstance(entry, Shipped):
            self.shipped.count(entry)
        else:
            self._note_place(entry)

    def _note_place(self, entry: Cut | Damaged) -> None:
        if isinstance(entry, Damaged) or not self.open_ended:
            self._damaged = True
            if isinstance(entry, Cut):
                self._cut.setdefault(entry.path, why_of(entry))
        if len(self._places) < MOST_NOTES:
            self._places.append(why_of(entry))
        else:
            self._more += 1

    @property
    def whole(self) -> bool:
        """True if nothing is missing but what a writer that is still at work has not written yet."""
        return not (self.broken or self._damaged)

    def notes(self) -> list[str]:
        """Sentences on what could not be read."""
        more = [f"{self._more} more lines can't be read"] if self._more else []
        return [*self._places, *more, *(f"{error}: from here on the file is not used" for error in self.broken)]


def why_of(entry: Cut | Damaged) -> str:
    """The reason why a line could not be read, and its place."""
    if isinstance(entry, Damaged):
        return entry.told
    where = f"its last {entry.size} bytes, from byte {entry.byte} on, are lost"
    return f"{entry.path}:{entry.line}: the recording was cut here: {where}"
