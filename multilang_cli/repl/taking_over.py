"""A replay that ends at a keyboard: what was played is the past of a session by hand."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from multilang_cli.judging.culprit import went_wrong_at
from multilang_cli.protocol.words.large import plain
from multilang_cli.protocol.words.messages import SpoutCommand, TupleMsg
from multilang_cli.repl.session_config import SessionConfig
from multilang_cli.repl.starting import play_setup, script_of
from multilang_cli.replay.player import RecordingPlayer
from multilang_cli.replay.recording import without_secrets_note
from multilang_cli.replay.replaying import profile_now
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.settings import color
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import remark, remark_note

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.repl.component_run import ComponentRun
    from multilang_cli.replay.recording import JudgedRecording
    from multilang_cli.replay.replaying import ReplayOptions
    from multilang_cli.replay.starting import ReplayFlags
    from multilang_cli.subject.subject import Subject


def _next(stop: Event | None) -> str:
    """The message that comes next, as a person types it; "" where it can't be typed."""
    body = stop.body if stop is not None else None
    if isinstance(body, TupleMsg) and body.is_heartbeat:
        return ": heartbeat"
    if isinstance(body, TupleMsg):
        return f": tuple {json.dumps(plain(body.values), ensure_ascii=False)}"
    if isinstance(body, SpoutCommand):
        return f": {body.command}{f' {body.id}' if body.id is not None else ''}"
    return ""


def take_over(recording: JudgedRecording, subject: Subject, how: ReplayOptions, flags: ReplayFlags) -> int:
    """Play `recording` as far as it goes, then let a person or a script go on; the exit code. Raises CommandError."""
    try:
        colored = color(flags.color, os.environ)
    except ConfigError as error:
        raise CommandError(f"replay: {error}") from None
    script = script_of("replay", flags.source, no_input=flags.no_input)
    conf = subject.component.conf
    if note := without_secrets_note(recording, tuple(conf)):
        remark_note(note)
    for each in subject.surroundings:
        remark_note(each)
    stop = went_wrong_at(recording.events, recording.findings()) if how.until_finding else None
    played = recording if stop is None else recording.until(stop.seq - 1)
    setup = SessionConfig(
        subject=subject,
        rulebook=recording.rulebook,
        profile=profile_now(recording, subject),
        # Not the ids that were recorded.
        seed=subject.options.seed + 1,
    )

    def play(life: ComponentRun) -> bool:
        """Play the recording to a fresh process, as far as was wished; False if it never said its pid."""
        session = life.session
        player = RecordingPlayer(session, played, how.wanted, conf=conf, real_time=how.real_time)
        player.play(player.found if how.until_finding else None, end=False)
        player.release()
        life.left_out.append(f"what {recording.path} holds, which was played first")
        last = recording.events[-1].seq if how.until_event else None
        stopped = player.stopped_at if player.stopped_at is not None else last
        where = "to its end" if stopped is None else f"up to event {stopped}"
        if stop is not None and stopped is None:
            where = f"up to the message that went wrong, event {stop.seq}"
        remark(f"{recording.path} was played {where}; go on by hand{_next(stop)}")
        return life.said_pid

    return play_setup(setup, subject.record, colored, script, play)
