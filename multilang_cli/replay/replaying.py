"""A recording played to a fresh process, and what came of it: the edge between ``player`` and who wants to know."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.driver.launch import readable
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.driver.session import Session
from multilang_cli.protocol.storm.reading import read
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.verdicts import Finding, Outlook, Profile
from multilang_cli.replay.player import RecordingPlayer
from multilang_cli.replay.said import ComparisonOptions
from multilang_cli.transcript.format import FRAMES
from multilang_cli.transcript.redact import Redactor
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.driver.speaker import EventSink
    from multilang_cli.replay.recording import JudgedRecording

STDERR_KEPT = 4096
"""Bytes of a component's last stderr that are kept."""


class ReplayTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Component that a recording is played to, and its start.

    `surroundings`: what is other in `env` than here. `settings`: the variables of the environment that were
    given. `conf`: values for the handshake's conf. `limits`: seconds or bytes by name, in place of those of the
    recording.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    why: str = ""
    surroundings: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    conf: dict[str, Any] = {}
    limits: dict[str, float] = {}

    def profile(self, recording: JudgedRecording) -> Profile:
        """Profile for the judge now: the recorded one, with what was given."""
        before = recording.profile
        return msgspec.structs.replace(
            before, conf={**before.conf, **self.conf}, limits={**before.limits, **self.limits}
        )


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
    exit: tuple[int | None, int | None] | None
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
        self.events += events if self._redactor.idle else map(self._hidden, events)

    def _hidden(self, event: Event) -> Event:
        changed, keys = self._redactor.event(event)
        if not keys or changed.channel not in FRAMES:
            return changed
        text = frame_text(changed.raw)
        body = wire.decode(text) if changed.channel == "in" else read(text, raw=changed.raw)
        return msgspec.structs.replace(changed, body=body)


def replay(recording: JudgedRecording, target: ReplayTarget, how: ReplayOptions) -> Replayed:
    """Play `recording` to a fresh process of `target`, to its end. Raises LaunchError, OSError.

    Ctrl-C ends it: what had come until then is returned.
    """
    redactor = Redactor({"": [target.settings, target.conf]}, words=target.argv)
    collector = _EventCollector(redactor)
    profile = target.profile(recording)
    interrupted = False
    with ExitStack() as stack:
        sinks: tuple[EventSink, ...] = (collector,)
        if how.record is not None:
            how.record.unlink(missing_ok=True)
            sinks = (*sinks, stack.enter_context(_writer(how.record, recording, target, profile)))
        process = ComponentProcess.start(target.argv, cwd=target.cwd, env=target.env, pid_dir=private_pid_dir())
        session = stack.enter_context(Session(process, judge_of(profile, recording.rulebook), sinks))
        session.keep_emits = False
        player = RecordingPlayer(session, recording, how.wanted, conf=target.conf, real_time=how.real_time)
        try:
            stops = how.until_finding or how.until
            player.play((lambda: player.found(how.until)) if stops else None)
        except KeyboardInterrupt:
            interrupted = True
        session.end()
    ended = session.exit if not session.ended_by_us else None
    return Replayed(
        events=collector.events,
        findings=[redactor.struct(finding) for finding in session.findings],
        outlook=session.judge.outlook(),
        left_out=player.left_out,
        in_vain=player.awaited_in_vain,
        said_pid=not session.judge.expecting_pid,
        exit=(ended.code, ended.signal) if ended is not None else None,
        stderr_tail=redactor.text(process.stderr_tail[-STDERR_KEPT:]),
        duration=session.now,
        stopped_at=player.stopped_at,
        interrupted=interrupted,
    )


def _writer(path: Path, recording: JudgedRecording, target: ReplayTarget, profile: Profile) -> TranscriptWriter:
    header = msgspec.structs.replace(
        recording.header,
        profile=profile,
        argv=tuple(map(readable, target.argv)),
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        host="",
        worker="",
        part=1,
        snapshot=None,
        redacted=(),
    )
    return TranscriptWriter(path, header, more_settings=target.settings)
