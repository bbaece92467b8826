"""A recording played to a fresh process, and what came of it: the edge between ``player`` and who wants to know."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.driver.launch import readable
from multilang_cli.driver.pump import Pump
from multilang_cli.driver.session import Session
from multilang_cli.protocol.words.events import Event, Exited
from multilang_cli.protocol.words.verdicts import Finding, Outlook
from multilang_cli.replay.player import RecordingPlayer
from multilang_cli.replay.said import ComparisonOptions
from multilang_cli.subject.options import Component
from multilang_cli.subject.settings import with_flags
from multilang_cli.subject.subject import Subject
from multilang_cli.transcript.reader import without_secrets_in
from multilang_cli.transcript.redact import Redactor
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.protocol.words.verdicts import Profile
    from multilang_cli.replay.recording import JudgedRecording
    from multilang_cli.subject.declared import Declared

STDERR_KEPT = 4096
"""Bytes of a component's last stderr that are kept."""


class ReplayOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of playing. `record`: the transcript of now, None for none. `until_finding`: up to the first breach now.

    `until`: up to the finding with this fingerprint. `until_event`: the recording is no more than its beginning.
    """

    wanted: ComparisonOptions = ComparisonOptions()
    real_time: bool = False
    until_finding: bool = False
    until_event: bool = False
    until: str = ""
    record: Path | None = None


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """Result of playing. `left_out`: what could not be sent, and how often; `in_vain`: answers that never came.

    `stopped_at`: the recorded event before which it was stopped, None if it was not. `said_pid`: it said its first
    message. `exit` None if it lived until it was ended; `duration` in seconds.
    """

    events: list[Event]
    findings: list[Finding]
    outlook: tuple[Outlook, ...]
    left_out: dict[str, int]
    in_vain: int
    said_pid: bool
    exit: Exited | None
    stderr_tail: bytes
    duration: float
    stopped_at: int | None = None
    interrupted: bool = False


class _EventCollector:
    """Keeps every event, the secrets of conf and environment hidden as in the recording that it is compared with."""

    def __init__(self, redactor: Redactor) -> None:
        self.events: list[Event] = []
        self._redactor = redactor

    def take(self, events: Sequence[Event], _: object, /) -> None:
        """Keep all events."""
        hides = self._redactor
        self.events += (each if hides.leaves(each) else without_secrets_in(each, hides) for each in events)


def replayed_to(declared: Declared, recording: JudgedRecording) -> Subject:
    """The component that `recording` is played to: of its kind, on its Storm version. Raises LaunchError.

    Of a component's own conf only what was recorded without its value counts, and what the command line has. Limits
    are those of the recording, but for what was given.
    """
    component, options = declared.component, declared.options
    given = with_flags(Component(command=component.command), declared.flags).conf
    secrets = {key: value for key, value in component.conf.items() if key in recording.redacted}
    played = msgspec.structs.replace(component, kind=recording.profile.kind, conf={**secrets, **given})
    if options.timeout is None:
        played = msgspec.structs.replace(played, limits={**recording.profile.limits, **component.limits})
    options = msgspec.structs.replace(options, storm=recording.version.id)
    return Subject.of(played, options, worker_conf={**recording.profile.conf, **given})


def profile_now(recording: JudgedRecording, subject: Subject) -> Profile:
    """Profile for the judge now: the recorded one, with what was given."""
    before, limits = recording.profile, subject.component.limits
    if subject.options.timeout is not None:
        limits = subject.profile.limits
    return msgspec.structs.replace(
        before, conf={**before.conf, **subject.component.conf}, limits={**before.limits, **limits}
    )


def replay(recording: JudgedRecording, subject: Subject, how: ReplayOptions) -> Replayed:
    """Play `recording` to a fresh process of `subject`, to its end. Raises LaunchError, OSError.

    Ctrl-C ends it: what had come until then is returned.
    """
    redactor = Redactor({"": [subject.component.env, subject.component.conf]}, words=subject.launch.argv)
    collector = _EventCollector(redactor)
    profile = profile_now(recording, subject)
    interrupted = False
    with ExitStack() as stack:
        sinks: tuple[EventSink, ...] = (collector,)
        if how.record is not None:
            how.record.unlink(missing_ok=True)
            sinks = (*sinks, stack.enter_context(_writer(how.record, recording, subject, profile)))
        process = subject.start()
        session = stack.enter_context(Session(Pump(process, judge_of(profile, recording.rulebook, Bound()), sinks)))
        player = RecordingPlayer(session, recording, how.wanted, conf=subject.component.conf, real_time=how.real_time)
        try:
            stops = how.until_finding or how.until
            player.play((lambda: player.found(how.until)) if stops else None)
        except KeyboardInterrupt:
            interrupted = True
        session.end()
    return Replayed(
        events=collector.events,
        findings=[redactor.struct(finding) for finding in session.findings],
        outlook=session.judge.outlook(),
        left_out=player.left_out,
        in_vain=player.awaited_in_vain,
        said_pid=not session.judge.expecting_pid,
        exit=session.own_end,
        stderr_tail=redactor.text(process.stderr_tail[-STDERR_KEPT:]),
        duration=session.now,
        stopped_at=player.stopped_at,
        interrupted=interrupted,
    )


def _writer(path: Path, recording: JudgedRecording, subject: Subject, profile: Profile) -> TranscriptWriter:
    header = msgspec.structs.replace(
        recording.header,
        profile=profile,
        argv=tuple(map(readable, subject.launch.argv)),
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        host="",
        worker="",
        part=1,
        snapshot=None,
        redacted=(),
    )
    return TranscriptWriter(path, header, more_settings=subject.component.env)
