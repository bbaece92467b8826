"""Is it a bolt or a spout? Asked of the component itself, in fresh processes; what it answers is not judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.host.process import ComponentProcess, private_pid_dir
from multilang_cli.host.shell_bolt import ShellBolt
from multilang_cli.host.shell_spout import ShellSpout
from multilang_cli.protocol import context
from multilang_cli.protocol.conversation import Conversation
from multilang_cli.reports.escape import decode
from multilang_cli.suite.profiles import profile_of
from multilang_cli.suite.runner import Plan, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.host.session import Session
    from multilang_cli.protocol.verdicts import Kind
    from multilang_cli.suite.options import Component, RunOptions

_LOOK = 0.2
"""Seconds between two looks at whether the answer has come."""


class Probe(NamedTuple):
    """What the probe found. `kind` None: undecided. `how`: one sentence for people. `silent`: it never said a pid."""

    kind: Literal["bolt", "spout"] | None
    how: str
    silent: bool = False


def kind_of(component: Component, options: RunOptions) -> Probe:
    """Ask it as a bolt (a heartbeat) and as a spout (a `next`). Raises LaunchError if it can't be started."""
    plan = plan_of(component, options)
    as_bolt, as_spout = _answers(plan, "bolt"), _answers(plan, "spout")
    for silence in (as_bolt, as_spout):
        if isinstance(silence, str):
            return Probe(None, f"it did not answer the handshake{silence}", silent=True)
    if as_spout:
        # Some spouts answer whatever they do not know with a sync, so a heartbeat as well; no bolt answers `next`.
        return Probe("spout", "it answers `next` with a sync: a spout")
    if as_bolt:
        return Probe("bolt", "it answers a heartbeat with a sync, and no `next`: a bolt")
    return Probe(None, "it answers neither a heartbeat nor `next`: say --kind bolt or --kind spout")


def _answers(plan: Plan, kind: Kind) -> bool | str:
    """True if it answers as a `kind` would; a few words on its end if there was no first message."""
    component = msgspec.structs.replace(plan.component, kind=kind)
    profile = profile_of(component, plan.version, plan.options.timeout)
    pid_dir = private_pid_dir()
    process = ComponentProcess.start(plan.launch.argv, cwd=plan.cwd, env=plan.env, pid_dir=pid_dir)
    judge = Conversation(profile, plan.rulebook)
    conf = context.realistic_conf(base_conf(plan.version.id), profile, component.conf)
    handshake = context.handshake(profile, plan.version, conf, str(pid_dir))
    with (ShellBolt if kind == "bolt" else ShellSpout)(process, judge) as session:
        session.say(handshake)
        if not session.wait(lambda: not judge.expecting_pid, profile.limits["pid"], "pid"):
            return _last_words(session)
        if isinstance(session, ShellBolt):
            session.heartbeat()
            return _settles(session, lambda: session.syncs > 0)
        # A bolt may send a sync that nobody asked for; and what settles tuples is no spout.
        session.wait_quiet(_LOOK)
        session.forget_syncs()
        session.ask("next")
        return _settles(session, lambda: session.answered)


def _last_words(session: Session) -> str:
    ended = session.exit
    how = ""
    if ended is not None:
        how = f"; it was killed by signal {ended.signal}" if ended.signal else f"; it exited with code {ended.code}"
    said = decode(session.process.stderr_tail).strip().splitlines()
    return how + (f', and its last line of stderr is "{said[-1][:200]}"' if said else "")


def _settles(session: Session, done: Callable[[], bool]) -> bool:
    """Wait for the answer, or until it waits for us without having given one; a slow one is given the whole limit."""
    limit = session.profile.limits["sync"]
    session.wait(lambda: done() or session.wait_quiet(_LOOK, silence=limit), limit, "output")
    return done()
