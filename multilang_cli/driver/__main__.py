"""``python -m multilang_cli.driver PLAYER...``: our own ShellBolt and ShellSpout as a host, told what to say.

What it is told stands in the file that MLCHECK_FEED names (``schemas/feed.schema.json``). It goes on until SIGTERM,
until its component ends, or until the Storm that it plays would end the worker; then it ends its component, and itself.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.feed_file import VARIABLE, FeedError, read
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.driver.environment import worker_environment
from multilang_cli.driver.launch import LaunchError
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.either import Shell, shell_of
from multilang_cli.protocol.judge.bolt_rules import TIMER
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.feeds import Feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.verdicts import Profile

WORKER_DIED = 11
"""The exit code of a worker whose shell component Storm can't go on with (``ShellBolt.die``)."""
CALL_LIMIT = 30.0
"""Seconds that a spout may take for one call, where conf does not say: Storm's own default."""
_LOOKS_AFTER = 0.25


def main(command: Sequence[str]) -> int:
    """Host `command` as the feed says; 0 when told to end, 11 when a worker would die, 2 for what is no feed."""
    signal.signal(signal.SIGTERM, _told_to_end)
    try:
        profile = read(Path(os.environ.get(VARIABLE, "")))
        env = worker_environment({}, conf=profile.conf, storm=profile.storm).variables
        process = ComponentProcess.start(command, cwd=Path.cwd(), env=env, pid_dir=private_pid_dir())
    except (FeedError, LaunchError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return _host(profile, process)


def _told_to_end(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)


def _host(profile: Profile, process: ComponentProcess) -> int:
    judge = judge_of(msgspec.structs.replace(profile, feed=None), load_rulebook(profile.storm))
    shell = shell_of(process, judge, timer=TIMER if judge.version.heartbeats else 0.0)
    session = shell.session
    session.as_storm = True
    with session:
        _converse(shell, profile)
        while _lives(session):
            session.pump.move(_LOOKS_AFTER)
    return WORKER_DIED


def _converse(shell: Shell, profile: Profile) -> None:
    session = shell.session
    conf = context.realistic_conf(base_conf(session.judge.version.id), profile, {})
    greeting = context.handshake(profile, session.judge.version, conf, str(session.process.pid_dir))
    feed = profile.feed or Feed()
    if not session.handshake(greeting, CALL_LIMIT):
        return
    if isinstance(shell, ShellBolt):
        for fed in feed.tuples:
            shell.send(fed.values, fed.comp, fed.stream, fed.task)
        return
    for call in feed.calls:
        ids = [emit.id for emit in shell.kept.emits if emit.id is not None]
        id_ = ids[call.emit] if call.call in {"ack", "fail"} and call.emit < len(ids) else ""
        # Storm looks once a second: by then it has seen that the timeout is over.
        if not shell.call(call.call, id_, session.judge.timeout + 2 * TIMER) or not _lives(session):
            return


def _lives(session: Session) -> bool:
    """True while the component does, and the Storm that is played would."""
    return session.running and not session.worker_is_dead


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
