"""Is it a bolt or a spout? Asked of the component itself, in fresh processes; what it answers is not judged.

Only bolts ack, fail and anchor; only spouts answer `next` with a sync, or emit for it. What dies or hangs before
it was asked anything of a role is at fault whatever it is, and so is what dies of a heartbeat and leaves `next`
without an answer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager
from itertools import cycle, islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.driver.memory import TooMuchMemoryError, ceiling
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.driver.waits import describing
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.storm.diagnosis import bare_pid
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.messages import Ack, Emit, Error, Fail, Malformed, TupleMsg
from multilang_cli.protocol.words.shortening import head
from multilang_cli.protocol.words.verdicts import together
from multilang_cli.reports.escape import decode
from multilang_cli.subject.declared import Probe
from multilang_cli.subject.profiles import profile_of
from multilang_cli.subject.samples import samples_of
from multilang_cli.subject.sources import source_of
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.runner.watch import Watch
from multilang_cli.suite.steps.ticks import PLAYED, declared_ticks
from multilang_cli.suite.verdict.causes import LAST_CHANCE, LastWords, hear_out, met_by_the_probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.subject.options import Component, RunOptions

    _Question = Callable[[Subject, ShellBolt | ShellSpout, "_Replies"], Callable[[], bool]]
    """Asks a session something, and gives back what tells whether it is answered."""
    Met = tuple[SubjectResult, ...]
    """What went wrong in one role."""

_ANSWER_LOOKS_EVERY = 0.2
"""Seconds between two looks at whether the answer has come."""
_TALK, _MANY = 6.0, 20
"""Seconds in which who talks all the time, so many messages at least, has to come to an answer."""
_PATIENCE = 2.0
"""Seconds of waiting that count as no answer, where a timer may still bring one: a spout sleeps for less."""
_FIRST_BYTES = 64
"""Bytes of the first message that are kept."""
_TUPLES = 10
"""Samples that are fed at most where no number is declared."""
_SPOUT = "it answers `next` with a sync: a spout"
_BOLT = "it answers a heartbeat with a sync, and no `next`: a bolt"
_IRREGULAR = "irregular message"
_SHOWN_OF_REPLY = 40
"""Characters of such a one that are shown."""
_OF_A_COMMAND = re.compile(r"['\"`]command['\"`]|\.command\b")
_OF_A_TUPLE = re.compile(r"['\"`](?:id|tuple|stream|comp|task)['\"`]|\.(?:tuple|comp)\b")
"""Fields of a message by name, as exceptions quote them."""
_OF_A_TUPLE_ALONE = re.compile(r"['\"`](?:tuple|stream|comp|task)['\"`]|\.(?:tuple|comp)\b")
"""Those that no command has."""
_COMPLAINT = 4000
"""Characters that are kept of what it tells Storm of an error."""
_USUAL_LETTERS = 3
"""Letters of a text that anybody may say."""
_SAY = "say --kind bolt or --kind spout"


class _Replies:
    """Keeps what a component said in one conversation: how often which message, how many bytes, the `first` ones.

    `told`: how many messages Storm sent it, the handshake among them; `tuples`: how many of them were tuples or
    heartbeats. `repeats`: it said one of `values`, texts of the tuples that it was fed. `complaint`: the errors that it
    told Storm of.
    """

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self.told = self.tuples = self.size = 0
        self.first = b""
        self.irregular = self.complaint = ""
        self.settles = self.anchors = self.repeats = False
        self.values: tuple[bytes, ...] = ()

    def take(self, events: Iterable[Event], _: object) -> None:
        """Note what the component says; of an irregular message what was meant."""
        for event in events:
            self.told += event.channel == "in"
            self.tuples += isinstance(event.body, TupleMsg)
            if event.channel != "out":
                continue
            self.size += len(event.raw)
            self.first = self.first or event.raw[:_FIRST_BYTES]
            body = event.body
            if isinstance(body, Malformed):
                self.irregular = self.irregular or head(body.excerpt.strip(), _SHOWN_OF_REPLY)
            self.said[_word_of(body)] += 1
            if not isinstance(body, Malformed):
                self.repeats = self.repeats or any(value in event.raw for value in self.values)
            for message in body.salvage if isinstance(body, Malformed) else (body,):
                if isinstance(message, Error):
                    self.complaint = f"{self.complaint}{message.msg}\n"[-_COMPLAINT:]
                self.settles = self.settles or isinstance(message, Ack | Fail)
                self.anchors = self.anchors or (isinstance(message, Emit) and bool(message.anchors))

    @property
    def acts_as_a_bolt(self) -> bool:
        """True if it did what only a bolt does."""
        return self.settles or self.anchors

    def __str__(self) -> str:
        """Name the messages after the pid, in the order in which they came first."""
        words = [f"{count} x {word}" if count > 1 else word for word, count in self.said.items() if word != "pid"]
        if self.irregular:
            words.append(f"which begin{'s' if self.said[_IRREGULAR] == 1 else ''} {self.irregular!r}")
        where = "after its pid" if self.said["pid"] else "and no pid"
        return f"{', '.join(words) or 'nothing'} {where}, {self.size} bytes in all"


def _word_of(body: object) -> str:
    return _IRREGULAR if isinstance(body, Malformed) else type(body).__name__.lower()


class _Answer(NamedTuple):
    """The answer to a question. `sure`: more would not have come. `silent`: there was no first message.

    `end`: a few words on how the process ended, "" if it did not; `died`: it ended. `elsewhere`: it waits, and not for
    its stdin. `fault`: what it did by itself that no component may. `met`: what went wrong. `misread`: it took what it
    was asked for a tuple, told Storm of an error by that, and ended.
    """

    replies: _Replies
    answered: bool = False
    sure: bool = True
    silent: bool = False
    end: str = ""
    fault: str = ""
    died: bool = False
    elsewhere: bool = False
    met: Met = ()
    misread: bool = False


def kind_of(component: Component, options: RunOptions) -> Probe:
    """Ask it as a bolt (a heartbeat, a tuple) and as a spout (a `next`). Raises LaunchError if it can't be started."""
    checked = Subject.of(component, options)
    as_bolt = _asked(checked, "bolt", _beat if checked.version.heartbeats else _feed)
    as_spout = as_bolt if as_bolt.silent else _asked(checked, "spout", _next)
    if as_spout.silent:
        return Probe(None, f"it did not answer the handshake{as_spout.end}", silent=True, met=as_spout.met)
    if as_bolt.fault and as_spout.fault:
        return Probe(None, f"{as_bolt.fault}{as_bolt.end}", fault=True, met=as_bolt.met)
    if as_bolt.replies.acts_as_a_bolt:
        return Probe("bolt", f"it {_action_of(as_bolt.replies)} a tuple: a bolt")
    if as_spout.misread:
        return Probe("bolt", "it takes `next` for a tuple, and ends: a bolt")
    if as_spout.answered and not as_bolt.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered and not as_spout.answered and as_spout.sure and not _may_know_next(as_spout):
        return Probe("bolt", _BOLT)
    feed = _feed_and_beat if as_bolt.answered else _feed
    fed = _asked(checked, "bolt", feed) if checked.version.heartbeats else as_bolt
    return _by_a_tuple(fed, as_bolt, as_spout) or _by_waiting(checked, fed, as_bolt, as_spout)


def _by_a_tuple(fed: _Answer, as_bolt: _Answer, as_spout: _Answer) -> Probe | None:
    """Some spouts answer all that they do not know with a sync, some bolts say it by themselves; only bolts settle."""
    if fed.replies.acts_as_a_bolt:
        return Probe("bolt", f"it {_action_of(fed.replies)} a tuple: a bolt")
    if as_bolt.answered and fed.replies.said["sync"] >= fed.replies.told:
        return Probe(None, f"it says sync without being asked, so it can't be told: {_SAY}")
    if as_spout.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered and fed.replies.said["sync"] == fed.replies.tuples and _may_know_next(as_spout):
        return Probe("spout", "it answers a tuple with a sync too, as Storm's own spouts in Ruby do: a spout")
    if fed.replies.said["emit"] and not as_spout.replies.said["emit"]:
        return Probe("bolt", "it emits in answer to a tuple, and not to `next`: a bolt")
    if fed.replies.repeats:
        return Probe("bolt", "it says again what a tuple told it: a bolt")
    return None


def _may_know_next(as_spout: _Answer) -> bool:
    """True if a `next` that it does not answer may have led it into code of its own: a bolt does little about it."""
    if as_spout.died:
        return not any(_OF_A_TUPLE.search(each.reason) for each in as_spout.met)
    return as_spout.elsewhere or bool(as_spout.replies.said["emit"])


def _by_waiting(checked: Subject, fed: _Answer, as_bolt: _Answer, as_spout: _Answer) -> Probe:
    """A slow spout is given its whole limit, once all else is tried."""
    if not as_spout.sure:
        as_spout = _asked(checked, "spout", _next, patient=True)
    if as_spout.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.answered:
        return Probe("bolt", _BOLT)
    if as_spout.replies.said["emit"] and not fed.replies.said["emit"]:
        return Probe("spout", "it emits in answer to `next`, and not to a tuple: a spout, although no sync came")
    if as_spout.fault:
        return Probe(None, f"{as_spout.fault}{as_spout.end}", fault=True, met=as_spout.met)
    activated = _asked(checked, "spout", _activated_next, patient=True)
    if activated.answered:
        return Probe("spout", _SPOUT)
    if as_bolt.died and _knows_activate(activated) and not as_bolt.replies.said["sync"]:
        return Probe("spout", "it answers `activate` with a sync, and no `next`: a spout")
    if checked.version.heartbeats and as_bolt.died:
        action = f"dies of `next`{activated.end}" if activated.died else "does not answer `next`"
        how = f"as a bolt it dies of a heartbeat{as_bolt.end}; as a spout it {action}"
        met = _of_its_role(as_bolt.met, activated.met)
        return Probe(None, f"{how} ({_SAY} to have the rest tested)", fault=True, met=met)
    return _undecided(checked, fed, as_bolt, as_spout)


def _undecided(checked: Subject, fed: _Answer, as_bolt: _Answer, as_spout: _Answer) -> Probe:
    """Ask once more by a second heartbeat, or say what was seen."""
    if checked.version.heartbeats and _asked(checked, "bolt", _beat_again).answered:
        return Probe("bolt", "it answers a heartbeat, if not the first: a bolt")
    unsure = _unsure(checked, fed, as_bolt, as_spout)
    if alike := _alike(as_bolt.met, as_spout.met):
        return Probe(None, unsure, fault=True, met=alike)
    if fed.replies.irregular and any(each.level == "must" for met in fed.met for each in met.findings):
        # What is no message is none of a bolt, nor of a spout.
        return Probe(None, unsure, fault=True, met=fed.met)
    return Probe(None, unsure, met=(*as_bolt.met, *as_spout.met))


def _alike(as_bolt: Met, as_spout: Met) -> Met:
    """Keep what went wrong in both roles for the same cause: that is its fault, whichever it is."""
    causes = {cause.id for each in as_spout for cause in each.causes}
    return tuple(each for each in as_bolt if any(cause.id in causes for cause in each.causes))


def _knows_activate(activated: _Answer) -> bool:
    """True if it answered `activate` and lived on: the sync of who tells Storm of an error as well answers nothing."""
    return bool(activated.replies.said["sync"]) and not activated.replies.complaint


def _of_its_role(as_bolt: Met, as_spout: Met) -> Met:
    """Keep what was met in the role that is its own, as its exceptions tell it; in both where they do not.

    Who looks for a command in a heartbeat is a spout, who looks for the parts of a tuple in a `next` a bolt.
    """
    if any(_OF_A_COMMAND.search(each.reason) for each in as_bolt):
        return as_spout
    if any(_OF_A_TUPLE.search(each.reason) for each in as_spout):
        return as_bolt
    return (*as_bolt, *as_spout)


def _action_of(replies: _Replies) -> str:
    return "settles" if replies.settles else "anchors an emit to"


def _unsure(checked: Subject, fed: _Answer, as_bolt: _Answer, as_spout: _Answer) -> str:
    """A sentence on what was seen, for people who have to say it themselves."""
    beats = checked.version.heartbeats
    asked = "a heartbeat nor a tuple nor `next`" if beats else "a tuple nor `next`"
    seen = [("to a heartbeat", as_bolt)] if beats else []
    seen += [("to a tuple", fed), ("to `next`", as_spout)]
    told = "; ".join(f"{to} it said {each.replies}{each.end}" for to, each in seen)
    more = "" if checked.component.samples else ", or give a tuple that it takes (--tuple JSON)"
    return f"it answers neither {asked}: {told}: {_SAY}{more}"


def _asked(checked: Subject, kind: Kind, ask: _Question, *, patient: bool = False) -> _Answer:
    """Ask it as a `kind` is asked; `patient`: within the whole limit, whatever it looks like meanwhile."""
    replies, watch = _Replies(), Watch()

    def met() -> tuple[SubjectResult, ...]:
        """The faults so far."""
        return (met_by_the_probe(checked, session, watch, LastWords()),) if session.findings else ()

    with _started(checked, kind, (replies, watch)) as (shell, said_pid):
        session = shell.session
        if not said_pid:
            end = _before_its_pid(session, replies)
            last = hear_out(session, source_of(checked.launch.argv, checked.cwd, kind))
            return _Answer(replies, silent=True, end=end, met=(met_by_the_probe(checked, session, watch, last),))
        # What it says by itself is no answer, and what it does by itself is its own fault.
        session.wait_quiet(_PATIENCE)
        if fault := _fault_of(session):
            return _Answer(replies, fault=f"{fault} before it was asked anything", end=_last_words(session), met=met())
        done = ask(checked, shell, replies)
        session.pump.memory = ceiling(checked.options.memory)
        try:
            answered = _settles(session, lambda: done() or replies.acts_as_a_bolt, patient=patient)
        except TooMuchMemoryError as error:
            return _Answer(replies, end=f"; {error}, and was killed (--memory SIZE allows more)")
        if answered and replies.complaint:
            # Adapters say a sync behind an error, and end: that answers nothing.
            session.wait_quiet(_PATIENCE)
        sure = answered or patient or session.exit is not None or session.stuck()
        fault = _unread(session) if patient and not answered else ""
        died = session.exit is not None
        answer = _Answer(replies, answered and done(), sure=sure, end=_last_words(session), fault=fault, died=died)
        misread = died and kind == "spout" and _OF_A_TUPLE_ALONE.search(replies.complaint) is not None
        answer = answer._replace(misread=misread)
        answer = answer._replace(elsewhere=not (answered or died) and _waits_elsewhere(session))
        return answer if answered else answer._replace(met=met() or _held_back(checked, session, watch))


def _held_back(checked: Subject, session: Session, watch: Watch) -> Met:
    """Close the stdin of who waits for more of it, and take what it says then for what went wrong."""
    if not session.running or describing.describe(session.process).state != "reading-stdin":
        return ()
    session.hear_out(LAST_CHANCE)
    met = met_by_the_probe(checked, session, watch, LastWords())
    return (met,) if met.causes else ()


def _beat(_: Subject, shell: ShellBolt | ShellSpout, __: _Replies) -> Callable[[], bool]:
    assert isinstance(shell, ShellBolt)  # noqa: S101 (what a bolt is started with)
    bolt = shell
    bolt.heartbeat()
    return lambda: bolt.syncs > 0


def _beat_again(checked: Subject, shell: ShellBolt | ShellSpout, replies: _Replies) -> Callable[[], bool]:
    """A heartbeat, and a second later the next, as Storm goes on: who loses what comes at its start answers that."""
    answered = _beat(checked, shell, replies)
    shell.session.wait(answered, 1.0, "output")
    return _beat(checked, shell, replies)


def _feed(checked: Subject, shell: ShellBolt | ShellSpout, replies: _Replies) -> Callable[[], bool]:
    assert isinstance(shell, ShellBolt)  # noqa: S101 (what a bolt is started with)
    samples = samples_of(checked.component)
    settles = checked.component.settles
    many = together(settles) if settles.startswith("after-") else min(len(samples), _TUPLES)
    texts = {
        value for sample in samples for value in sample.values if isinstance(value, str) and len(value) > _USUAL_LETTERS
    }
    replies.values = tuple(json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in texts)
    for sample in islice(cycle(samples), many):
        shell.send(sample.values, sample.component, sample.stream)
    period = declared_ticks(checked.component)
    if period or settles == "on-tick":
        shell.tick(period or PLAYED)
    return lambda: replies.acts_as_a_bolt


def _feed_and_beat(checked: Subject, shell: ShellBolt | ShellSpout, replies: _Replies) -> Callable[[], bool]:
    """Feed who answers heartbeats: what it holds back of a tuple comes with that."""
    done = _feed(checked, shell, replies)
    _beat(checked, shell, replies)
    return done


def _next(_: Subject, shell: ShellBolt | ShellSpout, __: _Replies) -> Callable[[], bool]:
    assert isinstance(shell, ShellSpout)  # noqa: S101 (what a spout is started with)
    spout = shell
    # A bolt may send a sync that nobody asked for.
    spout.forget_syncs()
    spout.ask("next")
    return lambda: spout.answered


def _activated_next(checked: Subject, shell: ShellBolt | ShellSpout, replies: _Replies) -> Callable[[], bool]:
    """Ask for a tuple as Storm does: who opens its source when it is activated can't know a `next` before."""
    assert isinstance(shell, ShellSpout)  # noqa: S101 (what a spout is started with)
    if checked.version.activate:
        shell.call("activate", limit=shell.profile.limits["sync"])
    return _next(checked, shell, replies) if shell.session.running else lambda: False


@contextmanager
def _started(checked: Subject, kind: Kind, sinks: Sequence[EventSink]) -> Iterator[tuple[ShellBolt | ShellSpout, bool]]:
    """The component as a `kind`, and whether its handshake is done."""
    component = msgspec.structs.replace(checked.component, kind=kind)
    profile = profile_of(component, checked.version, checked.options.timeout)
    pid_dir = private_pid_dir()
    process = ComponentProcess.start(checked.launch.argv, cwd=checked.cwd, env=checked.env, pid_dir=pid_dir)
    judge = Conversation(profile, checked.rulebook, roles=roles_of(profile))
    conf = context.realistic_conf(base_conf(checked.version.id), profile, component.conf)
    handshake = context.handshake(profile, checked.version, conf, str(pid_dir))
    shell = (ShellBolt if kind == "bolt" else ShellSpout)(process, judge, sinks)
    with shell.session as session:
        session.say(handshake)
        said_pid = session.wait(lambda: not judge.expecting_pid, profile.limits["pid"], "pid")
        yield shell, said_pid


def _before_its_pid(session: Session, replies: _Replies) -> str:
    old = bare_pid(replies.first or session.rest)
    return (f"; {old}" if old else "") + _last_words(session)


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
    return "it stopped itself" if describing.describe(session.process).state == "stopped" else ""


def _unread(session: Session) -> str:
    """The fault of who was asked and gave no answer within the whole limit, "" if it has at least read it."""
    if fault := _fault_of(session):
        return "" if session.exit is not None else fault
    return "it does not read its stdin" if describing.describe(session.process).stdin else ""


def _waits_elsewhere(session: Session) -> bool:
    return describing.describe(session.process).state not in ("reading-stdin", "idle", "unknown")


def _settles(session: Session, done: Callable[[], bool], *, patient: bool = False) -> bool:
    """Wait for the answer, or until it waits for us without having given one; a slow one is given the whole limit.

    Who talks all the time, and not of this, is given no more than `_TALK`.
    """
    limit = session.profile.limits["sync"]
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
