"""A session with a component of a few lines, for tests."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.component import player
from multilang_cli.driver.environment import worker_environment
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.either import shell_of
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.events import Deadline
from multilang_cli.protocol.words.verdicts import Kind, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.session import Session
    from multilang_cli.driver.shell.either import Shell
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Handshake

PID = r"""
import sys, os, json, time
def say(text): os.write(1, text if isinstance(text, bytes) else text.encode())
def message():
    lines = []
    while True:
        line = sys.stdin.readline()
        if not line: sys.exit(0)
        if line == "end\n": return json.loads("".join(lines))
        lines.append(line)
def shake():
    hand = message()
    open(os.path.join(hand["pidDir"], str(os.getpid())), "w").close()
    say('{"pid":%d}\nend\n' % os.getpid())
    return hand
"""
ACK_ALL = """
shake()
while True:
    tup = message()
    if isinstance(tup, list): continue
    if tup["stream"] == "__heartbeat": say('{"command":"sync"}\\nend\\n')
    else: say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
"""
SYNC_ONCE = """
shake()
message()
say('{"command":"sync"}\\nend\\n')
message()
"""
LIMIT = 20.0


class Seen:
    """A sink that keeps every event but stderr."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def take(self, events: Iterable[Event], _: object) -> None:
        self.events += [event for event in events if event.channel != "err"]


def seen(session: Session) -> list[Event]:
    """All events of a session that is `playing`, as long as it goes on those so far."""
    (sink,) = session.pump.events.sinks
    assert isinstance(sink, Seen)
    return sink.events


def bolt_of(session: Session) -> ShellBolt:
    """Storm's side of a bolt that is `playing`."""
    assert isinstance(session.pump.script, ShellBolt)
    return session.pump.script


def spout_of(session: Session) -> ShellSpout:
    """Storm's side of a spout that is `playing`."""
    assert isinstance(session.pump.script, ShellSpout)
    return session.pump.script


def deadline(session: Session) -> Deadline:
    """The one limit that ran out."""
    (fact,) = [event.body for event in seen(session) if isinstance(event.body, Deadline)]
    return fact


@contextmanager
def playing(
    tmp_path: Path, code: str, kind: Kind = "bolt", storm: str = "2.8.3", profile: Profile | None = None
) -> Iterator[tuple[Session, Handshake]]:
    script = tmp_path / "component.py"
    script.write_text(PID + code)
    version = load_rulebook().version(storm)
    limits = {"frame": 4 * 1024 * 1024, "grace": 2.0}
    profile = msgspec.structs.replace(profile or Profile(kind=kind), storm=version.id, limits=limits)
    pid_dir = private_pid_dir()
    argv = [sys.executable, "-I", "-S", str(script)]
    process = ComponentProcess.start(argv, cwd=tmp_path, env=worker_environment({}).variables, pid_dir=pid_dir)
    judge = Conversation(profile, load_rulebook())
    conf = context.realistic_conf(base_conf(version.id), profile, {})
    with shell_of(process, judge, [Seen()]).session as session:
        yield session, context.handshake(profile, version, conf, str(pid_dir))


def with_player(judge: Conversation, follower: EventSink, script: Sequence[str], folder: Path) -> Shell:
    """Storm's side of a conversation with the scripted player, which plays `script`; bolts get a heartbeat a second."""
    process = ComponentProcess.start(
        [sys.executable, "-I", "-S", player.__file__, *script],
        cwd=folder,
        env=worker_environment({}).variables,
        pid_dir=private_pid_dir(),
    )
    return shell_of(process, judge, [follower], timer=1.0)
