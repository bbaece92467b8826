"""A conversation in which a component is asked one question, in a process of its own, and its answer."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.driver.memory import TooMuchMemoryError, ceiling
from multilang_cli.driver.shell.either import shell_of
from multilang_cli.driver.waits import describing
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.storm.diagnosis import bare_pid
from multilang_cli.reports.escape import decode
from multilang_cli.subject.source.sources import source_of
from multilang_cli.suite.probing.replies import Replies
from multilang_cli.suite.runner.watch import Watch
from multilang_cli.suite.verdict.causes import LAST_CHANCE, LastWords, hear_out, met_by_the_probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.session import Session
    from multilang_cli.driver.shell.either import Shell
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.probing.questions import Question

    Met = tuple[SubjectResult, ...]
    """What went wrong in one role."""

_ANSWER_LOOKS_EVERY = 0.2
"""Seconds between two looks at whether the answer has come."""
_TALK, _MANY = 6.0, 20
"""Seconds that one which talks all the time, so many messages at least, has for an answer."""
_PATIENCE = 2.0
"""Seconds of waiting that count as no answer, where a timer may still bring one: a spout sleeps for less."""
_OF_A_TUPLE_ALONE = re.compile(r"['\"`](?:tuple|stream|comp|task)['\"`]|\.(?:tuple|comp)\b")
"""Fields of a message that no command has, as exceptions quote them."""


_WAITING_FOR_US = frozenset({"reading-stdin", "idle", "unknown"})


class ProbeAnswer(NamedTuple):
    """The answer to a question. `sure`: more would not have come. `silent`: there was no first message.

    `end`: a few words on how the process ended, "" if it did not; `died`: it ended. `elsewhere`: it waits, and not for
    its stdin. `fault`: what it did by itself that no component may. `met`: what went wrong. `misread`: it took what it
    was asked for a tuple, told Storm of an error by that, and ended.
    """

    replies: Replies
    answered: bool = False
    sure: bool = True
    silent: bool = False
    end: str = ""
    fault: str = ""
    died: bool = False
    elsewhere: bool = False
    met: Met = ()
    misread: bool = False


def asked(checked: Subject, kind: Kind, ask: Question, *, patient: bool = False) -> ProbeAnswer:
    """Ask it as a `kind` is asked; `patient`: within the whole limit, whatever it looks like meanwhile."""
    replies, watch = Replies(), Watch()

    def met() -> tuple[SubjectResult, ...]:
        """The faults so far."""
        return (met_by_the_probe(checked, session, watch, LastWords()),) if session.findings else ()

    with started(checked, kind, (replies, watch)) as (shell, said_pid):
        session = shell.session
        if not said_pid:
            old = bare_pid(replies.first or session.rest)
            end = (f"; {old}" if old else "") + _last_words(session)
            last = hear_out(session, source_of(checked.launch.argv, checked.cwd, kind))
            return ProbeAnswer(replies, silent=True, end=end, met=(met_by_the_probe(checked, session, watch, last),))
        # What it says by itself is no answer, and what it does by itself is its own fault.
        session.wait_quiet(_PATIENCE)
        if fault := _fault_of(session):
            return ProbeAnswer(
                replies, fault=f"{fault} before it was asked anything", end=_last_words(session), met=met()
            )
        done = ask(checked, shell, replies)
        session.pump.memory = ceiling(checked.options.memory)
        try:
            answered = _settles(session, lambda: done() or replies.acts_as_a_bolt, patient=patient)
        except TooMuchMemoryError as error:
            return ProbeAnswer(replies, end=f"; {error}, and was killed (--memory SIZE allows more)")
        if answered and replies.complaint:
            # Adapters say a sync behind an error, and end: that answers nothing.
            session.wait_quiet(_PATIENCE)
        sure = answered or patient or session.exit is not None or session.stuck()
        fault = _unread(session) if patient and not answered else ""
        died = session.exit is not None
        answer = ProbeAnswer(replies, answered and done(), sure=sure, end=_last_words(session), fault=fault, died=died)
        misread = died and kind == "spout" and _OF_A_TUPLE_ALONE.search(replies.complaint) is not None
        answer = answer._replace(misread=misread)
        answer = answer._replace(elsewhere=not (answered or died) and _state(session) not in _WAITING_FOR_US)
        return answer if answered else answer._replace(met=met() or _held_back(checked, session, watch))


def _held_back(checked: Subject, session: Session, watch: Watch) -> Met:
    """Close the stdin of one that waits for more of it, and take what it says then for what went wrong."""
    if not session.running or _state(session) != "reading-stdin":
        return ()
    session.hear_out(LAST_CHANCE)
    met = met_by_the_probe(checked, session, watch, LastWords())
    return (met,) if met.causes else ()


@contextmanager
def started(checked: Subject, kind: Kind, sinks: Sequence[EventSink]) -> Iterator[tuple[Shell, bool]]:
    """The component as a `kind`, and whether its handshake is done."""
    subject = msgspec.structs.replace(checked, component=msgspec.structs.replace(checked.component, kind=kind))
    profile, process = subject.profile, subject.start()
    judge = Conversation(profile, checked.rulebook, roles=roles_of(profile))
    shell = shell_of(process, judge, sinks)
    with shell.session as session:
        session.say(subject.handshake(process))
        said_pid = session.wait(lambda: not judge.expecting_pid, profile.limits["pid"], "pid")
        yield shell, said_pid


def _last_words(session: Session) -> str:
    ended = session.exit
    how = ""
    if ended is not None:
        how = f"; it was killed by signal {ended.signal}" if ended.signal else f"; it exited with code {ended.code}"
    said = decode(session.process.stderr_tail).strip().splitlines()
    return how + (f', and its last line of stderr is "{said[-1][:200]}"' if said else "")


def _fault_of(session: Session) -> str:
    """The fault that a component has made by itself after its pid that ends it for Storm, "" if nothing."""
    if session.exit is not None:
        return "its process ended"
    if not session.running:
        return "it closed its stdout"
    return "it stopped itself" if _state(session) == "stopped" else ""


def _unread(session: Session) -> str:
    """The fault of one that was asked and gave no answer within the whole limit, "" if it has at least read it."""
    if fault := _fault_of(session):
        return "" if session.exit is not None else fault
    return "it does not read its stdin" if describing.describe(session.process).stdin else ""


def _state(session: Session) -> str:
    return describing.describe(session.process).state


def _settles(session: Session, done: Callable[[], bool], *, patient: bool = False) -> bool:
    """Wait for the answer, or until it waits for us without having given one; a slow one is given the whole limit.

    One that talks all the time, and not of this, is given no more than `_TALK`.
    """
    limit = session.judge.profile.limits["sync"]
    said, calm_since, began = (-1, -1), 0.0, session.now
    first = session.pump.spoken

    def calm() -> bool:
        """True if it waits for us, and no timer of it can be what it waits for, or is a long one."""
        nonlocal said, calm_since
        if not session.wait_quiet(_ANSWER_LOOKS_EVERY, silence=limit) or said != session.pump.spoken:
            said, calm_since = session.pump.spoken, session.now
        talks = session.now - began >= _TALK and said[0] - first[0] >= _MANY
        return session.stuck() or (not patient and (talks or session.now - calm_since >= _PATIENCE))

    session.wait(lambda: done() or calm(), limit, "output")
    return done()
