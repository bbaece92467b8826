"""Judges recorded conversations: the same findings as whoever recorded them was given."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from multilang_cli import __version__
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.events import Event, Exited, Gap
from multilang_cli.reports.model import Component, Exit, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.verdict import conclude, verdict_of
from multilang_cli.suite.excerpts import excerpt_of
from multilang_cli.transcript.format import EndLine, Header, TranscriptError
from multilang_cli.transcript.read import Cut, Happened, entries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from multilang_cli.protocol.rulebook import Rulebook
    from multilang_cli.protocol.verdicts import Finding
    from multilang_cli.reports.model import ExcerptLine

KEPT = 512
"""Events of a conversation that are kept in memory to be quoted."""
TOGETHER = 128
"""Events of a conversation that are judged at a time: few of those that are kept."""
MOST_FINDINGS = 10_000
"""Findings of one conversation that are kept; of more, the number is given."""
MOST_QUOTED = 50
"""Findings of one conversation whose messages are quoted."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in transcripts. `notes`: sentences on what is missing in them."""

    subjects: tuple[SubjectResult, ...]
    notes: tuple[str, ...]
    argv: tuple[str, ...] = ()
    storm: str = ""


def judge_transcripts(paths: Sequence[Path | str], rulebook: Rulebook, storm: str = "") -> Judged:
    """Judge every conversation in `paths`, in the order in which they begin; several files may be parts of one.

    `storm`: the version to judge for instead of the recorded one. Raises OSError, TranscriptError for what can't be
    read, and for a Storm version that is not known.
    """
    here: dict[str, _Hearing] = {}
    heard: list[_Hearing] = []
    notes: list[str] = []
    for path in paths:
        for entry in entries(path):
            if isinstance(entry, Happened):
                here[entry.conv].feed(entry.event)
            elif isinstance(entry, Header):
                if entry.part == 1 or entry.conv not in here:
                    here[entry.conv] = _Hearing(entry, str(path), rulebook, storm)
                    heard.append(here[entry.conv])
                here[entry.conv].closed = False
            elif isinstance(entry, EndLine):
                here[entry.conv].closed = True
            elif isinstance(entry, Cut):
                lost = f"its last {entry.size} bytes are lost"
                notes.append(f"{entry.path}:{entry.line}: the recording was cut here: {lost}")
    for hearing in heard:
        hearing.catch_up()
    notes += [note for hearing in heard for note in hearing.notes()]
    first = heard[0] if heard else None
    return Judged(
        subjects=tuple(hearing.result() for hearing in heard),
        notes=tuple(notes),
        argv=first.header.argv if first else (),
        storm=first.judge.version.id if first else storm,
    )


def lint_result(judged: Judged, *, strict: bool) -> RunResult:
    """What was found, as a report."""
    result = RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name="lint"),
        component=Component(command=judged.argv, why="recorded"),
        storm=judged.storm,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        strict=strict,
        subjects=judged.subjects,
        notes=judged.notes,
    )
    return conclude(result)


class _Hearing:
    """One conversation as it is read."""

    def __init__(self, header: Header, path: str, rulebook: Rulebook, storm: str) -> None:
        self.header = header
        self.path = path
        self.closed = False
        profile = msgspec.structs.replace(header.profile, storm=storm or header.profile.storm)
        try:
            self.judge = judge_of(profile, rulebook if not profile.storm else load_rulebook(profile.storm))
        except KeyError as known:
            why = f"Storm {profile.storm!r} is not known here; choose one of {known.args[0]} with --storm"
            raise TranscriptError(path, 0, why) from None
        self._findings: list[Finding] = []
        self._more = 0
        self._unjudged: list[Event] = []
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._excerpt: dict[int, ExcerptLine] = {}
        self._exit: Exit | None = None
        self._t = 0.0
        self._said = False
        if header.part > 1:
            self._take_up(header)

    def _take_up(self, header: Header) -> None:
        """Begin in the middle: with the state that was recorded, else knowing that the past is missing."""
        if header.snapshot is None:
            self.feed(Event(0, 0.0, "control", Gap(f"the parts before part {header.part} are missing")))
            return
        try:
            self.judge.restore(header.snapshot)
        except (msgspec.ValidationError, KeyError, TypeError, ValueError) as error:
            raise TranscriptError(self.path, 0, f"the snapshot of {header.conv!r} is none: {error}") from None

    def feed(self, event: Event) -> None:
        """Take the next event. Many are judged together, which is faster."""
        self._unjudged.append(event)
        if len(self._unjudged) >= TOGETHER:
            self.catch_up()

    def catch_up(self) -> None:
        """Judge what was taken so far."""
        events, self._unjudged = self._unjudged, []
        self._events += events
        if events:
            self._t = events[-1].t
        for event in events:
            if event.channel == "out":
                self._said = True
            elif event.channel == "process" and isinstance(event.body, Exited):
                self._exit = Exit(code=event.body.code, signal=event.body.signal)
        for finding in self.judge.feed_all(events):
            if len(self._findings) == MOST_FINDINGS:
                self._more += 1
                continue
            self._findings.append(finding)
            if len(self._findings) <= MOST_QUOTED:
                self._quote(finding)

    def _quote(self, finding: Finding) -> None:
        for line in excerpt_of([finding], {event.seq: event for event in self._events}):
            if line.mark or line.seq not in self._excerpt:
                self._excerpt[line.seq] = line

    def notes(self) -> list[str]:
        """What a reader should know of the recording."""
        conv = self.header.conv
        notes = [] if self.closed else [f"{conv}: the recording was not closed; what came last may be missing"]
        if self._more:
            notes.append(f"{conv}: {self._more} more findings are not listed")
        return notes

    def result(self) -> SubjectResult:
        """What became of it."""
        verdict, reason = verdict_of(self._findings, self.judge.version.id)
        if verdict == "pass" and not self._said:
            verdict, reason = "untestable", "the recording holds nothing that the component said"
        profile = self.judge.profile
        return SubjectResult(
            id=self.header.conv,
            title=f"{profile.kind} {profile.component}, Storm {self.judge.version.id}",
            kind="conversation",
            verdict=verdict,
            reason=reason,
            duration=self._t,
            findings=tuple(self._findings),
            outlook=self.judge.outlook(),
            excerpt=tuple(self._excerpt[seq] for seq in sorted(self._excerpt)),
            exit=self._exit,
            transcript=self.path,
        )
