"""The judge: takes events and returns findings. Only this room decides what is right.

Pure: time and silence arrive as events. Roles are a parameter: rules shared by bolts and spouts are here, the others
in ``bolt_rules`` and ``spout_rules``; the transitions between phases are a table in ``state``.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge import bolt_rules, life_rules, spout_rules, tuple_rules
from multilang_cli.protocol.judge.context import Handler, Role, RuleContext, ValuesCheck
from multilang_cli.protocol.judge.state import (
    MOVERS,
    TRANSITIONS,
    Outstanding,
    from_plain,
    to_plain,
)
from multilang_cli.protocol.storm.outlooks import effects_of_malformed, refused
from multilang_cli.protocol.storm.taking import fields_of, taken
from multilang_cli.protocol.wire.batches import Batch, EmptyTurns, RecordedEvents
from multilang_cli.protocol.words.events import (
    Chunk,
    Deadline,
    End,
    Event,
    Exited,
    Gap,
    Holdings,
    PidChecked,
    Signalled,
    StdinClosed,
    StdoutClosed,
    WriteFailed,
)
from multilang_cli.protocol.words.messages import FromComponent, Handshake, Malformed, Pid, TaskIds
from multilang_cli.protocol.words.verdicts import (
    Fate,
    Finding,
    Outlook,
    Profile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook, VersionEffect
    from multilang_cli.protocol.words.verdicts import Level

_UNFINISHED = frozenset({"message-cut", "frame-too-long"})
"""Frames that are no message yet: the handshake still waits for its answer."""


class Conversation(RuleContext):
    """One conversation between Storm and a component, judged as it happens.

    `profile`: what is known of the component; `rulebook`: the rules and versions; `check_values`: holds values to the
    schemas of the profile's streams (``catalogue.judging``); `roles`: those that the profile asks for
    (``protocol.roles``). The state can be saved with `snapshot` and taken up again
    with `restore`, so that a conversation can be judged in ordered pieces.
    """

    def __init__(
        self,
        profile: Profile,
        rulebook: Rulebook,
        check_values: ValuesCheck | None = None,
        roles: Sequence[Role] = (),
    ) -> None:
        super().__init__(profile, rulebook, check_values, roles)
        role = bolt_rules if profile.kind == "bolt" else spout_rules
        self._watched = bool(profile.testee) or profile.feed is not None
        handlers: dict[type, Handler] = {**_COMMON, **role.HANDLERS}
        for each in roles:
            handlers = each.around(handlers)
        self._handlers = handlers
        self._check_silence: Callable[[Conversation, Event], None] = role.check_silence
        self._silence: Callable[[Conversation, float], float] = role.own_silence

    def feed(self, event: Event) -> list[Finding]:
        """Judge the next event, in order of seq, and return its findings."""
        return self.feed_all((event,))

    def feed_all(self, events: Sequence[Event]) -> list[Finding]:
        """Judge events, oldest first, as `feed` would one by one, and return all their findings."""
        found = self._found = []
        if self.profile.kind == "bolt" and not self._watched:
            if events.__class__ is RecordedEvents:
                self._judge_span(events)
                return found
            if events.__class__ is Batch:
                events = self._without_right(events)
        for event in events:
            self._judge(event)
        return found

    def _judge(self, event: Event) -> None:
        body, state = event.body, self.state
        kind = body.__class__
        if kind in MOVERS and not (kind is Malformed and event.channel == "in"):
            state.phase = TRANSITIONS[state.phase].get(kind, state.phase)
        if state.commands or state.heartbeats:
            self._check_silence(self, event)
        if (handler := self._handlers.get(kind)) is not None:
            handler(self, event, body)
        state.last_seq = event.seq

    def _judge_span(self, span: RecordedEvents) -> None:
        at = 0
        while at < len(span):
            passed = bolt_rules.pass_span(self, span, at)
            if passed > at:
                self.state.last_seq = span.seq + passed - 1
            if passed < len(span):
                self._judge(span[passed])
            at = passed + 1

    def pass_empty_next(self, seq: int, asked: float, answered: float) -> list[Finding] | None:
        """Judge a spout's next and the sync that answers it: two events that begin at `seq`.

        `asked`, `answered`: their times. Returns None, having judged nothing, if the events themselves are needed.
        """
        if self._watched:
            return None
        found = self._found = []
        return found if spout_rules.pass_empty_next(self, seq, asked, answered) else None

    def pass_turn(self, told: Batch, said: Batch) -> bool:
        """Judge a command to a spout, with what precedes it, and its complete answer, if both are plainly right.

        Returns False, having judged nothing, if the events themselves are needed.
        """
        return not self._watched and spout_rules.pass_turn(self, told, said)

    def pass_empty_turns(self, turns: EmptyTurns) -> bool:
        """Judge acks and fails to a spout, each with the sync that follows it, if all are plainly right.

        Returns False, having judged nothing, if the events themselves are needed.
        """
        return not self._watched and spout_rules.pass_empty_turns(self, turns)

    def _without_right(self, batch: Batch) -> Sequence[Event]:
        """The rest of `batch` for the handlers, without what is plainly right at its beginning."""
        right = bolt_rules.pass_right(self, batch)
        if right < len(batch):
            return batch[right:]
        self.state.last_seq = batch.seq + right - 1
        return ()

    def silence(self, now: float) -> float:
        """Seconds of silence by the clock of the Storm class that is played; 0 while that clock does not run."""
        return self._silence(self, now)

    def handle(self, event: Event, message: FromComponent) -> None:
        """Judge a message that was saved from an irregular frame as if it had been sent alone."""
        handler = self._handlers.get(message.__class__)
        if handler is not None:
            handler(self, event, message)

    def take(self, event: Event, malformed: Malformed, *, first: bool) -> None:
        """Judge what this Storm takes an irregular frame for; `first`: it stands in the place of the pid."""
        lives = self.version.id in self._forgiving and not first
        found = taken(malformed, self.profile.kind, self.version, lives=lives)
        self._only = found.dialects
        for message in found.messages:
            # In the place of the pid no message is acted on: a sync there answers nothing.
            if not first or isinstance(message, Pid):
                self.handle(event, message)
        if found.fields is not None and not first:
            tuple_rules.read_without(self, event, found.fields)
        self._only = None

    def outstanding(self) -> Outstanding:
        """Answers that are pending now, of both sides."""
        state = self.state
        return Outstanding(
            handshake=state.phase == "handshake",
            tuples=dict(state.open),
            task_ids=state.task_ids,
            commands=tuple(state.commands),
            heartbeats=tuple(state.heartbeats),
        )

    def next_deadline(self) -> tuple[str, float] | None:
        """The next limit to run out if nothing happens: what is waited for, and when, in seconds of the conversation.

        The limits are the profile's, by the names of `Deadline.waiting_for`; what has no limit is waited for without
        end, as Storm does.
        """
        state, limits = self.state, self.profile.limits
        waits = [("pid", state.began)] if state.phase == "handshake" else []
        waits += [("sync", pending.t) for pending in state.commands[:1]]
        waits += [("heartbeat", pending.t) for pending in state.heartbeats[:1]]
        waits += [("settle", t) for _, t in islice(state.open.values(), 1)]
        due = [(t + limits[what], what) for what, t in waits if what in limits]
        return (min(due)[1], min(due)[0]) if due else None

    def snapshot(self) -> dict[str, Any]:
        """Everything the judge remembers, as JSON values."""
        outlooks = [[o.version, o.fate, o.seq, o.rule] for o in self.outlook()]
        return {"state": to_plain(self.state), "outlooks": outlooks}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on where `snapshot` was taken. Raises msgspec.ValidationError or KeyError if it is no snapshot."""
        self.state = from_plain(snapshot["state"])
        outlooks = msgspec.convert(snapshot["outlooks"], list[tuple[str, Fate, int | None, str | None]])
        self._outlooks.restore(tuple(Outlook(*fields) for fields in outlooks))


_NUMBER = re.compile(r"\d+")


def _malformed(judge: Conversation, event: Event, malformed: Malformed) -> None:
    if event.channel == "in":
        if malformed.kind == "frame-too-long":
            _forget_pending(judge)
        elif malformed.kind != "message-cut":
            judge.breach("host-message", event, malformed.detail, stable=malformed.kind)
            # It may have been a command, or a tuple that a more lenient reader acks.
            judge.state.gap = True
            judge.state.garbled = event.seq
        return
    judge.state.heard = event.t
    kind = judge.profile.kind
    first = not judge.state.said and not judge.state.gap
    when = life_rules.variant_of(malformed, judge)
    effects = effects_of_malformed(malformed, judge.profile, judge.rulebook, when, first=first)
    reading = malformed.by_dialect.get(judge.version.dialect)
    if malformed.kind == "tuple-missing" and reading is not None and not refused(reading, kind):
        tuple_rules.check_rest(judge, event, fields_of(reading))
    if judge.state.unheard and malformed.kind == "frame-too-long" and malformed.strict:
        # A whole message, which nobody reads, and of which nothing is known to be wrong.
        return
    if judge.state.unheard:
        told = f"after the end, where nobody reads any more: {malformed.detail}"
        judge.breach("output-at-end", event, told, stable=malformed.kind)
        judge.state.cut = judge.state.cut or malformed.kind == "message-cut"
        return
    judge.breach(
        malformed.kind,
        event,
        malformed.detail,
        when=when,
        subject=_command_of(malformed) if malformed.kind == "command-unknown" else "",
        # Pids, ids and places are others in each run.
        stable=_NUMBER.sub("#", malformed.detail),
        effects=effects,
        level=_level_of(judge, malformed.kind, effects),
    )
    judge.state.said = judge.state.said or malformed.kind not in _UNFINISHED
    judge.state.cut = judge.state.cut or malformed.kind == "message-cut"
    if malformed.kind == "frame-too-long" and malformed.strict:
        # A whole message, which may have settled any of them; behind a frame without an end nothing is heard.
        _forget_pending(judge)
    judge.take(event, malformed, first=first)


def _level_of(judge: Conversation, kind: str, effects: dict[str, VersionEffect]) -> Level:
    """The rule's level; what is only bad manners by the protocol fails where the Storm that is played dies of it."""
    level = judge.rulebook.rules[kind].level
    return "must" if level == "should" and effects[judge.version.id].fate == "dies" else level


def _command_of(malformed: Malformed) -> str:
    reading = next(iter(malformed.by_dialect.values()), None)
    return "" if reading is None else str(fields_of(reading).get("command", ""))


def _gap(judge: Conversation, _: Event, __: Gap) -> None:
    _forget_pending(judge)
    judge.state.may_be_dismissed = True


def _forget_pending(judge: Conversation) -> None:
    """Forget what was pending: it may have been given in what was not read. What was settled stays settled."""
    state = judge.state
    state.gap = True
    state.task_ids = state.emits = state.stderr = state.unasked = 0
    for pending in (state.open, state.message_ids):
        pending.clear()
    for waiting in (state.heartbeats, state.commands, state.unread, state.unread_logs, state.later):
        waiting.clear()
    state.reading = 1


def _handshake(judge: Conversation, event: Event, _: Handshake) -> None:
    judge.state.began = event.t


def _task_ids(judge: Conversation, _: Event, __: TaskIds) -> None:
    judge.state.may_be_dismissed = False
    if judge.state.task_ids:
        judge.state.task_ids -= 1


def _pid(judge: Conversation, event: Event, _: Pid) -> None:
    judge.state.heard = judge.state.synced = event.t
    judge.state.said = True


_COMMON: dict[type, Handler] = {
    Handshake: _handshake,
    TaskIds: _task_ids,
    Pid: _pid,
    Malformed: _malformed,
    Gap: _gap,
    PidChecked: life_rules.pid_checked,
    Holdings: life_rules.holdings,
    StdinClosed: life_rules.dismissed,
    Signalled: life_rules.dismissed,
    Exited: life_rules.exited,
    StdoutClosed: life_rules.stdout_closed,
    WriteFailed: life_rules.write_failed,
    Deadline: life_rules.deadline,
    Chunk: life_rules.stderr,
    End: life_rules.ended,
}
"""What is done with messages and facts of bolts and spouts alike."""
