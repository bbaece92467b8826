"""A recorded conversation in memory, as far as it can be played or compared."""

from __future__ import annotations

import re
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Event, Gap, Redacted
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Finding, Profile
from multilang_cli.replay.midway import playable
from multilang_cli.transcript.format import Header, TranscriptError
from multilang_cli.transcript.read import read
from multilang_cli.transcript.reader import known_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.verdicts import StormVersion

_PART = re.compile(r"(.*)\.\d{5}\.ndjson(?:\.gz)?")
"""One of the files in which ``tap --record-all`` keeps a conversation."""


class JudgedRecording(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation: its `header`, its `events` up to the first gap, and the judge's view of it.

    `profile`: that of the header, with its Storm version; `notes`: sentences on what is missing in it. `path`: as it
    was named, `files`: all it was read from. `past`: what the judge found, where the recording begins in the middle:
    its events alone would not show it. `damage`: a loss that its writer did not declare, in a sentence. `part_only`:
    something stands behind a gap, or may, which is not among the events.
    """

    path: str
    header: Header
    profile: Profile
    rulebook: Rulebook
    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    past: tuple[Finding, ...] | None = None
    damage: str = ""
    part_only: bool = False

    @property
    def version(self) -> StormVersion:
        """The Storm that was recorded."""
        return self.rulebook.version(self.profile.storm)

    @property
    def redacted(self) -> tuple[str, ...]:
        """The keys of conf whose values were hidden in the handshake."""
        if self.past is not None:
            return self.header.redacted
        handshakes = {event.seq for event in self.events if isinstance(event.body, Handshake)}
        marks = [event.body for event in self.events if isinstance(event.body, Redacted)]
        keys = [key for mark in marks if mark.seq_redacted in handshakes for key in mark.keys]
        return tuple(dict.fromkeys(keys))

    def until(self, seq: int) -> JudgedRecording:
        """The same up to the event `seq`."""
        return msgspec.structs.replace(self, events=tuple(event for event in self.events if event.seq <= seq))

    def findings(self) -> list[Finding]:
        """Findings of the judge in it."""
        if self.past is not None:
            last = self.events[-1].seq if self.events else -1
            return [finding for finding in self.past if finding.seq <= last]
        return judge_of(self.profile, self.rulebook, Bound()).feed_all(self.events)


class RecordingReader:
    """The one conversation in `paths`, which may be its parts, as it is read: its events once, up to the first gap.

    Raises OSError, TranscriptError. Parts beside a file that is one of several, as `mlcheck tap --record-all` writes
    them, are read as well. `name`: what the recording is called, the first path if nothing else. `findings`: of the
    judge, in what was read by `spans`.
    """

    def __init__(self, *paths: Path | str, name: str = "") -> None:
        self.path = name or str(paths[0])
        self.files = tuple(dict.fromkeys(str(each) for path in paths for each in _with_its_parts(Path(path))))
        self._transcript = read(*self.files)
        self._missing = ""
        self.header = header = self._transcript.header
        storm = header.profile.storm or header.storm
        try:
            self.rulebook = load_rulebook(storm)
            version = self.rulebook.version(storm)
        except KeyError as known:
            why = f"Storm {storm!r} is not known here; known are {known.args[0]}"
            raise TranscriptError(self.path, 0, why) from None
        self.profile = msgspec.structs.replace(header.profile, storm=version.id)
        self.findings: list[Finding] = []

    def spans(self) -> Iterator[Sequence[Event]]:
        """The events, those together that were read together, and judged."""
        judge = judge_of(self.profile, self.rulebook, Bound())
        for events in self._before_a_gap():
            self.findings += judge.feed_all(events)
            yield events

    def _before_a_gap(self) -> Iterator[Sequence[Event]]:
        """The events before the first gap. What comes after is read, for its damage, and not kept."""
        for events in self._transcript.spans():
            if self._missing:
                continue
            if isinstance(events, RecordedEvents):
                yield events
                continue
            kept = list(takewhile(lambda event: not isinstance(event.body, Gap), events))
            if kept:
                yield kept
            if len(kept) < len(events) and isinstance(gap := events[len(kept)].body, Gap):
                at = events[len(kept)].seq
                self._missing = f"events are missing at {at} ({gap.why}); what comes after is left out"

    def recording(self, events: Sequence[Event]) -> JudgedRecording:
        """The recording as it was read, with these of its events."""
        damage, notes = self._losses()
        return JudgedRecording(
            path=self.path,
            header=self.header,
            profile=self.profile,
            rulebook=self.rulebook,
            events=tuple(events),
            notes=tuple(notes),
            files=self.files,
            damage=damage,
            part_only=bool(self._missing or damage),
        )

    def loaded(self) -> JudgedRecording:
        """The whole of it, in memory."""
        events = tuple(chain.from_iterable(self._before_a_gap()))
        recording = self.recording(events)
        whole = self.header.part == 1 or (events and not events[0].seq)
        return recording if whole else _from_the_middle(recording)

    def _losses(self) -> tuple[str, list[str]]:
        """The loss that nobody declared, and sentences on what is missing, once all is read."""
        transcript = self._transcript
        notes = [f"read from its {len(self.files)} parts"] if len(self.files) > 1 else []
        damage = transcript.damage
        if not transcript.closed:
            damage = damage or f"it was not closed: it has no end line from byte {transcript.stop} on"
            notes.append(f"the recording was not closed at byte {transcript.stop}; what came last may be missing")
        if transcript.cut is not None:
            notes.append(f"the recording was cut at line {transcript.cut.line} (from byte {transcript.cut.byte} on)")
        notes += transcript.shipped.notes()
        if self._missing:
            notes.append(self._missing)
        return damage, notes


def load(*paths: Path | str, name: str = "") -> JudgedRecording:
    """Read the one conversation in `paths` into memory, see `RecordingReader`. Raises OSError, TranscriptError."""
    return RecordingReader(*paths, name=name).loaded()


def _with_its_parts(path: Path) -> list[Path]:
    """A file, or all parts of the conversation of which it is one."""
    if (numbered := _PART.fullmatch(path.name)) is None or not path.exists():
        return [path]
    beside = (
        each
        for each in path.parent.iterdir()
        if (other := _PART.fullmatch(each.name)) and other[1] == numbered[1] and each.is_file()
    )
    return sorted(beside)


def _from_the_middle(recording: JudgedRecording) -> JudgedRecording:
    """The playable part of a ring, or of a recording without its first parts. Raises TranscriptError."""
    header, before = recording.header, recording.events
    snapshot = header.snapshot
    if snapshot is not None and before and (known_before(snapshot) or 0) >= before[0].seq:
        # It is the state of another place.
        snapshot = None
    judge = judge_of(recording.profile, recording.rulebook, Bound())
    try:
        if snapshot is None:
            judge.feed_all([Event(0, 0.0, "control", Gap("what came before is missing"))])
        else:
            judge.restore(snapshot)
    except (msgspec.ValidationError, KeyError, TypeError, ValueError) as error:
        raise TranscriptError(recording.path, 0, f"the snapshot of {header.conv!r} is none: {error}") from None
    note = (
        "it begins in the middle: the handshake is made from what is known of the component, and what is about tuples "
        "and commands of before is neither played nor compared; a component that remembers them may differ"
    )
    return msgspec.structs.replace(
        recording,
        events=playable(before, recording.profile, recording.version, snapshot),
        notes=(*recording.notes, note),
        past=tuple(judge.feed_all(before)),
    )


def without_secrets_note(recording: JudgedRecording, filled: Sequence[str] = ()) -> str:
    """Sentence about keys of conf that are sent without their values; "" if none is."""
    left = [key for key in recording.redacted if key not in filled]
    if not left:
        return ""
    return f"recorded without their values, and sent as ***: {', '.join(left)} (--conf KEY=VALUE gives one)"
