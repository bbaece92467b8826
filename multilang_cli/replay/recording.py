"""A recorded conversation in memory, as far as it can be played or compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.words.events import Event, Gap, Redacted
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Finding, Profile
from multilang_cli.replay.midway import playable
from multilang_cli.transcript.format import Header, TranscriptError
from multilang_cli.transcript.read import Transcript, read
from multilang_cli.transcript.reader import known_before

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def load(*paths: Path | str, name: str = "") -> JudgedRecording:
    """Read the one conversation in `paths`, which may be its parts. Raises OSError, TranscriptError.

    Parts beside a file that is one of several, as `mlcheck tap --record-all` writes them, are read as well. `name`:
    what the recording is called, the first path if nothing else.
    """
    files = list(dict.fromkeys(str(each) for path in paths for each in _with_its_parts(Path(path))))
    transcript = read(*files)
    header = transcript.header
    path = name or str(paths[0])
    events, missing = _before_a_gap(transcript)
    notes = [f"read from its {len(files)} parts"] if len(files) > 1 else []
    damage = transcript.damage
    if not transcript.closed:
        damage = damage or f"it was not closed: it has no end line from byte {transcript.stop} on"
        notes.append(f"the recording was not closed at byte {transcript.stop}; what came last may be missing")
    if transcript.cut is not None:
        notes.append(f"the recording was cut at line {transcript.cut.line} (from byte {transcript.cut.byte} on)")
    notes += transcript.shipped.notes()
    if missing:
        notes.append(missing)
    storm = header.profile.storm or header.storm
    try:
        rulebook = load_rulebook(storm)
        version = rulebook.version(storm)
    except KeyError as known:
        raise TranscriptError(path, 0, f"Storm {storm!r} is not known here; known are {known.args[0]}") from None
    recording = JudgedRecording(
        path=path,
        header=header,
        profile=msgspec.structs.replace(header.profile, storm=version.id),
        rulebook=rulebook,
        events=tuple(events),
        notes=tuple(notes),
        files=tuple(files),
        damage=damage,
        part_only=bool(missing or damage),
    )
    whole = header.part == 1 or (events and not events[0].seq)
    return recording if whole else _from_the_middle(recording)


def _before_a_gap(transcript: Transcript) -> tuple[list[Event], str]:
    """The events before the first gap, and a note on it. What comes after is read, for its damage, and not kept."""
    events: list[Event] = []
    missing = ""
    for event in transcript:
        if not missing and isinstance(event.body, Gap):
            missing = f"events are missing at {event.seq} ({event.body.why}); what comes after is left out"
        elif not missing:
            events.append(event)
    return events, missing


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
