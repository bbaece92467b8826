"""Is it a bolt or a spout? Asked of the component itself, in fresh processes; what it answers is not judged."""

from __future__ import annotations

from contextlib import contextmanager
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
from multilang_cli.suite.samples import samples_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.host.session import Session
    from multilang_cli.protocol.verdicts import Kind
    from multilang_cli.suite.options import Component, RunOptions

_LOOK = 0.2
"""Seconds between two looks at whether the answer has come."""
_PATIENCE = 2.0
"""Seconds of waiting that count as no answer, where a timer may still bring one: a spout sleeps for less."""
_SPOUT = "it answers `next` with a sync: a spout"


class Probe(NamedTuple):
    """What the probe found. `kind` None: undecided. `how`: one sentence for people. `silent`: it never said a pid."""

    kind: Literal["bolt", "spout"] | None
    how: str
    silent: bool = False


def kind_of(component: Component, options: RunOptions) -> Probe:
    """Ask it as a bolt (a heartbeat) and as a spout (a `next`). Raises LaunchError if it can't be started."""
    plan = plan_of(component, options)
    as_bolt, as_spout = _asked(plan, "bolt"), _asked(plan, "spout")
    for each in (as_bolt, as_spout):
        if each.silent:
            return Probe(None, f"it did not answer the handshake{each.end}", silent=True)
    if as_bolt.answered and as_spout.answered:
        return _by_a_tuple(plan) or Probe("spout", _SPOUT)
    if as_bolt.answered and not as_spout.sure and (found := _by_a_tuple(plan)) is not None:
        return found
    if not as_spout.sure:
        as_spout = _asked(plan, "spout", patient=True)
    if as_spout.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered:
        return Probe("bolt", "it answers a heartbeat with a sync, and no `next`: a bolt")
    ended = as_bolt.end or as_spout.end
    return Probe(None, f"it answers neither a heartbeat nor `next`{ended}: say --kind bolt or --kind spout")


def _by_a_tuple(plan: Plan) -> Probe | None:
    """Some spouts answer all that they do not know with a sync, some bolts say it by themselves; only bolts settle."""
    with _started(plan, "bolt") as (session, _):
        assert isinstance(session, ShellBolt)  # noqa: S101 (what a bolt is started with)
        sample = samples_of(plan.component)[0]
        sent, settled = session.send(sample.values, sample.component, sample.stream), session.judge.state.settled
        if _settles(session, lambda: settled.get(sent) is not None):
            return Probe("bolt", "it settles a tuple: a bolt")
        if session.syncs > 1:
            return Probe(None, "it says sync without being asked, so it can't be told: say --kind bolt or --kind spout")
    return None


class _Answer(NamedTuple):
    """What came of a question. `sure`: more would not have come. `silent`: there was no first message.

    `end`: a few words on how the process ended, "" if it did not.
    """

    answered: bool
    sure: bool = True
    silent: bool = False
    end: str = ""


def _asked(plan: Plan, kind: Kind, *, patient: bool = False) -> _Answer:
    """Whether it answers as a `kind` would; `patient`: within the whole limit, whatever it looks like meanwhile."""
    with _started(plan, kind) as (session, silence):
        if silence is not None:
            return _Answer(answered=False, silent=True, end=silence)
        if isinstance(session, ShellBolt):
            session.heartbeat()
            answered = _settles(session, lambda: session.syncs > 0, patient=patient)
        else:
            assert isinstance(session, ShellSpout)  # noqa: S101 (there are two kinds)
            # A bolt may send a sync that nobody asked for.
            session.wait_quiet(_LOOK)
            session.forget_syncs()
            session.ask("next")
            answered = _settles(session, lambda: session.answered, patient=patient)
        return _Answer(
            answered, sure=answered or patient or session.exit is not None or session.stuck(), end=_last_words(session)
        )


@contextmanager
def _started(plan: Plan, kind: Kind) -> Iterator[tuple[Session, str | None]]:
    """The component as a `kind`, its handshake done; else a few words on its end."""
    component = msgspec.structs.replace(plan.component, kind=kind)
    profile = profile_of(component, plan.version, plan.options.timeout)
    pid_dir = private_pid_dir()
    process = ComponentProcess.start(plan.launch.argv, cwd=plan.cwd, env=plan.env, pid_dir=pid_dir)
    judge = Conversation(profile, plan.rulebook)
    conf = context.realistic_conf(base_conf(plan.version.id), profile, component.conf)
    handshake = context.handshake(profile, plan.version, conf, str(pid_dir))
    with (ShellBolt if kind == "bolt" else ShellSpout)(process, judge) as session:
        session.say(handshake)
        shaken = session.wait(lambda: not judge.expecting_pid, profile.limits["pid"], "pid")
        yield session, None if shaken else _last_words(session)


def _last_words(session: Session) -> str:
    ended = session.exit
    how = ""
    if ended is not None:
        how = f"; it was killed by signal {ended.signal}" if ended.signal else f"; it exited with code {ended.code}"
    said = decode(session.process.stderr_tail).strip().splitlines()
    return how + (f', and its last line of stderr is "{said[-1][:200]}"' if said else "")


def _settles(session: Session, done: Callable[[], bool], *, patient: bool = False) -> bool:
    """Wait for the answer, or until it waits for us without having given one; a slow one is given the whole limit."""
    limit = session.profile.limits["sync"]
    said, calm_since = (-1, -1), 0.0

    def calm() -> bool:
        """True if it waits for us, and no timer of it can be what it waits for, or is a long one."""
        nonlocal said, calm_since
        if not session.wait_quiet(_LOOK, silence=limit) or said != session.spoken:
            said, calm_since = session.spoken, session.now
        return session.stuck() or (not patient and session.now - calm_since >= _PATIENCE)

    session.wait(lambda: done() or calm(), limit, "output")
    return done()
