"""Rules of a spout: one command at a time, and for each exactly one sync, after everything else."""

from __future__ import annotations

import json
import zlib
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge import emit_rules, life_rules
from multilang_cli.protocol.judge.bolt_rules import TIMER
from multilang_cli.protocol.judge.state import REMEMBERED, Later, Pending, PendingEmit
from multilang_cli.protocol.words.events import Activation, End, Event
from multilang_cli.protocol.words.large import LargeValues
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Json,
    Log,
    Metrics,
    SpoutCommand,
    Sync,
    TaskIds,
)
from multilang_cli.protocol.words.rulebook import covers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.wire.batches import Batch, EmptyTurns
    from multilang_cli.protocol.words.verdicts import Level

_ACKS_NOWHERE = ">=0.10,<2.0"
"""Storm versions that ack inside emit what reaches no task (STORM-746)."""
_SORTED = msgspec.json.Encoder(order="sorted", enc_hook=str)
"""Numbers that only Java's parsers make, such as BigInteger, as text."""
_SYNC = Sync()
_PLAIN = frozenset({"next", "ack", "fail"})
"""Commands that move nothing but what is pending."""
_IDS = frozenset({TaskIds})
_UNSET = "<1.0.3"
"""Storm versions in which a command does not set the clock of silence, only a message or activate (STORM-2213)."""
BURST = 8_000
"""Emits in one command from which unread task ids fill both pipes: some 8,200 were measured on 2.8.3."""


EMPTY_CALLS = 500
"""Calls of next in a row without an emit, after which a spout should have begun to sleep."""
TIMED_TOGETHER = 100
"""Calls that are timed together."""
SHORT_SLEEP = 0.0003
"""Seconds a call, below which it can't have slept. A busy machine only makes calls longer, so that nobody is accused by
its load."""


def _command(judge: RuleContext, event: Event, message: SpoutCommand) -> None:
    state = judge.state
    state.may_be_dismissed = False
    state.commands.append(Pending(event.seq, event.t, message.command))
    state.commanded += 1
    state.emits = 0
    state.stderr = 0
    state.emitted = False
    state.reading += 1
    if state.later or state.unread or state.unread_logs:
        judge.catch_up()
    if not state.quiet_calls:
        state.quiet_since = event.t
    if message.command in {"ack", "fail"}:
        state.message_ids.pop(key_of(message.id), None)
    elif message.command in {"activate", "deactivate"}:
        _activation(judge, event, Activation(message.command == "activate"))


def _activation(judge: RuleContext, event: Event, fact: Activation) -> None:
    state = judge.state
    again = fact.active and state.deactivated
    if fact.active:
        state.heard = max(state.heard, event.t)
    state.deactivated = not fact.active
    if again and judge.rulebook.effects("reactivation")[judge.version.id].fate == "dies":
        judge.breach("reactivation", event, "this Storm can't activate a shell spout a second time")


def _answering(judge: RuleContext, event: Event, what: str) -> None:
    """Note a message that is no sync: is there a command that it can belong to.

    Before the first command output is harmless: Storm reads it as part of the first answer.
    """
    state = judge.state
    state.heard = event.t
    _unread(judge, event, state.unread if what == "emit" else state.unread_logs)
    if state.commands or not state.commanded or state.phase != "running" or state.gap:
        return
    rule = "output-after-sync" if what == "emit" else "log-after-sync"
    text = f"{what} after the sync: Storm reads it only as part of the answer to its next command"
    judge.breach(rule, event, text, subject=what, stable=what, related=(state.last_sync,))


def _unread(judge: RuleContext, event: Event, unread: list[int]) -> None:
    state = judge.state
    if not state.reading and state.commanded and state.phase == "running" and len(unread) < REMEMBERED:
        unread.append(event.seq)


def _emit(judge: RuleContext, event: Event, emit: Emit) -> None:
    state = judge.state
    _answering(judge, event, "emit")
    if emit.anchors:
        judge.breach("ids-ignored", event, "a spout's emit carries anchors: Storm ignores them", stable="spout")
    emit_rules.check_task(judge, event, emit)
    emit_rules.check(judge, event, emit)
    state.emitted = True
    if emit.id is not None:
        state.with_id += 1
        _message_id(judge, event, emit)
    else:
        state.without_id += 1
    if emit.wants_task_ids:
        state.task_ids += 1
        state.emits += 1
        if state.emits == BURST:
            text = f"{BURST:,} emits in one command: unless it reads its task ids meanwhile, both pipes fill"
            judge.breach("emit-burst", event, text)


def acked_inside(judge: RuleContext, emit: Emit) -> bool:
    """True if Storm acks a tuple with an id before its emit returns, and so before the task ids.

    With no ackers, and in some versions if it reaches no task.
    """
    if judge.profile.without_ackers:
        return True
    if not covers(_ACKS_NOWHERE, judge.version.id):
        return False
    if judge.streams is None:
        return judge.profile.unconsumed
    spec = judge.streams.get(emit.stream)
    tasks = [task for tasks in spec.consumers.values() for task in tasks] if spec is not None else []
    reached = emit.task in tasks if emit.task else bool(tasks)
    return not reached


def _message_id(judge: RuleContext, event: Event, emit: Emit) -> None:
    state = judge.state
    key = key_of(emit.id)
    said = PendingEmit(event.seq, state.commanded, emit.stream, _checksum(emit.values))
    first = state.message_ids.get(key)
    if first is not None:
        subject = emit.id if isinstance(emit.id, str) else key
        # One message on several streams, or in several tuples of one call, is one to the spout; so is one sent again.
        other = first.command != said.command and first.stream == said.stream and first.values != said.values
        of = " of another tuple" if other else ""
        text = f"a message id that is still pending{of}: an ack will not say which tuple it means"
        level: Level | None = "should" if other else None
        judge.breach("message-id-reused", event, text, subject=subject, related=(first.seq,), level=level)
    state.message_ids[key] = said
    if len(state.message_ids) > REMEMBERED:
        state.message_ids.pop(next(iter(state.message_ids)))
    if emit.wants_task_ids and acked_inside(judge, emit):
        state.reentered = event.seq


def _checksum(values: Json) -> int:
    """The same for values that are the same, whatever the order of their keys; for all that are large."""
    # Not `isinstance`: an abstract class is slow to ask for its instances.
    if values.__class__ is LargeValues:
        return 0
    try:
        return zlib.crc32(_SORTED.encode(values))
    except (RecursionError, ValueError, OverflowError):
        return 0


def key_of(id_: Json) -> str:
    """An id as JSON text: a string and a number are two ids."""
    if id_.__class__ is str:
        return encode_basestring_ascii(id_)
    try:
        return str(id_) if id_.__class__ is int else json.dumps(id_, sort_keys=True, default=str)
    except RecursionError:
        return "(nested too deep)"


def _sync(judge: RuleContext, event: Event, _: Sync) -> None:
    state = judge.state
    state.heard = event.t
    state.reentered = -1
    if state.reading:
        state.reading -= 1
    elif len(state.later) < REMEMBERED:
        state.later.append(Later(event.seq))
    if state.commands:
        _answered(judge, event, state.commands.pop(0))
    elif not state.gap and state.phase == "running":
        text = "a sync that no command asked for: every later answer is taken for the one before"
        related = (state.last_sync,) if state.last_sync >= 0 else ()
        judge.breach("sync-extra", event, text, related=related)
    state.last_sync = event.seq


def _answered(judge: RuleContext, event: Event, pending: Pending) -> None:
    """Count the calls of next that brought nothing: after each of them a spout should sleep a little."""
    state = judge.state
    if pending.what != "next" or state.emitted:
        state.quiet_calls = 0
        return
    state.quiet_calls += 1
    if state.quiet_calls % TIMED_TOGETHER:
        return
    took, state.quiet_since = event.t - state.quiet_since, event.t
    if (
        state.quiet_calls >= EMPTY_CALLS
        and took < TIMED_TOGETHER * SHORT_SLEEP
        and not state.sleepless
        and not state.gap
    ):
        state.sleepless = True
        text = (
            f"{state.quiet_calls} calls of next in a row brought nothing, the last {TIMED_TOGETHER} within {took:.3f} s"
        )
        judge.breach("next-never-sleeps", event, f"{text}: it does not sleep")


def ended(judge: RuleContext, event: Event, fact: End) -> None:
    """Judge what shows only when all is over."""
    life_rules.ended(judge, event, fact)
    state = judge.state
    if state.without_id and not state.with_id and not state.gap:
        text = f"none of its {state.without_id} tuples has an id" if state.without_id > 1 else "its tuple has no id"
        judge.breach("never-an-id", event, f"{text}: no ack or fail will come, and nothing is replayed")


def pass_empty_next(judge: RuleContext, seq: int, asked: float, answered: float) -> bool:
    """Judge a next, at `seq` and `asked`, and the sync behind it, as the handlers would; False if they have to.

    What a handler asks of the two is asked here too, or they are not passed.
    """
    state = judge.state
    # Not by `_is_between`: one call more is a fortieth of what a next and its sync cost.
    if state.commands or state.reading or state.later or state.unread or state.unread_logs:
        return False
    if state.phase != "running" or state.unheard or state.may_be_dismissed or answered - state.heard > judge.timeout:
        return False
    state.commanded += 1
    # To see that nothing has to be forgotten takes a tenth of the time of forgetting it.
    if state.emitted or state.emits or state.stderr or state.reentered >= 0:
        state.emits = state.stderr = 0
        state.emitted = False
        state.reentered = -1
    state.heard = answered
    state.last_seq = state.last_sync = seq + 1
    if not state.quiet_calls:
        state.quiet_since = asked
    if (state.quiet_calls + 1) % TIMED_TOGETHER:
        state.quiet_calls += 1
    else:
        _answered(judge, Event(seq + 1, answered, "out", _SYNC), Pending(seq, asked, "next"))
    return True


def _is_between(judge: RuleContext, answered: float) -> bool:
    """True if nothing is left of earlier commands, and no silence until `answered` can be too long."""
    state = judge.state
    if state.commands or state.reading or state.later or state.unread or state.unread_logs or state.may_be_dismissed:
        return False
    return state.phase == "running" and not state.unheard and answered - state.heard <= judge.timeout


def pass_turn(judge: RuleContext, told: Batch, said: Batch) -> bool:
    """Judge a command, with task ids before it, and its answer up to the sync, as the handlers would.

    False if they have to, and nothing is judged. What a handler asks of a message is asked here too.
    """
    state, command, emits = judge.state, told.bodies[-1], said.bodies[:-1]
    passed = command.__class__ is SpoutCommand and command.command in _PLAIN and said.bodies[-1].__class__ is Sync
    if not passed or not _is_between(judge, said.t):
        return False
    ids = len(told.bodies) - 1
    if ids and not _IDS.issuperset(map(type, told.bodies[:ids])):
        return False
    quiet = 0 if emits or command.command != "next" else state.quiet_calls + 1
    if quiet and not quiet % TIMED_TOGETHER:
        return False
    if emits and (command.command != "next" or not _take_emits(judge, emits, said.seq)):
        return False
    if command.command != "next":
        state.message_ids.pop(key_of(command.id), None)
    if not state.quiet_calls:
        state.quiet_since = told.t
    state.commanded += 1
    if not emits:
        state.emits = 0
    state.emitted = bool(emits)
    state.task_ids = max(0, state.task_ids - ids) + state.emits
    state.stderr = 0
    state.quiet_calls, state.reentered = quiet, -1
    state.heard = said.t
    state.last_seq = state.last_sync = said.seq + len(emits)
    return True


def pass_empty_turns(judge: RuleContext, turns: EmptyTurns) -> bool:
    """Judge acks and fails, and the sync behind each, as the handlers would; False if they have to."""
    state, (asked, answered) = judge.state, turns.times[-1]
    if not _is_between(judge, answered):
        return False
    for command in turns.commands:
        state.message_ids.pop(key_of(command.id), None)
    if len(turns.commands) > 1 or not state.quiet_calls:
        state.quiet_since = asked
    state.commanded += len(turns.commands)
    state.emits = state.stderr = state.quiet_calls = 0
    state.emitted = False
    state.reentered = -1
    state.heard = answered
    state.last_seq = state.last_sync = turns.seq + len(turns) - 1
    return True


def _take_emits(judge: RuleContext, emits: Sequence[Any], seq: int) -> bool:
    """Take the emits that answer a next; False, and none is taken, if one of them is not plainly right."""
    state, wanted = judge.state, 0
    known, pending, ids = state.message_ids, dict[str, PendingEmit](), 0
    for at, emit in enumerate(emits, seq):
        if emit.__class__ is not Emit or emit.anchors or not emit_rules.is_plain(judge, emit):
            return False
        wanted += emit.need_task_ids
        if emit.id is not None:
            ids += 1
            key = key_of(emit.id)
            if key in known or acked_inside(judge, emit):
                return False
            pending[key] = PendingEmit(at, state.commanded + 1, emit.stream, _checksum(emit.values))
    if len(pending) < ids or wanted >= BURST:
        return False
    state.emits = wanted
    state.with_id += ids
    state.without_id += len(emits) - ids
    known |= pending
    while len(known) > REMEMBERED:
        known.pop(next(iter(known)))
    return True


def _settle(judge: RuleContext, event: Event, message: Ack | Fail) -> None:
    judge.state.heard = event.t
    _unread(judge, event, judge.state.unread)
    command = type(message).__name__.lower()
    text = f"a spout sends {command!r}: only bolts settle tuples"
    judge.breach("spout-settles", event, text, subject=command, stable=command)


def _said(judge: RuleContext, event: Event, message: Log | Error) -> None:
    _answering(judge, event, type(message).__name__.lower())


def _metrics(judge: RuleContext, event: Event, message: Metrics) -> None:
    _answering(judge, event, "metrics")
    emit_rules.check_metrics(judge, event, message)


def own_silence(judge: RuleContext, now: float) -> float:
    """Seconds of silence by the clock of the Storm version played (``ShellSpout.SpoutHeartbeatTimerTask``).

    It runs only while a command is unanswered: since that command or a later message. Before 1.0.3 a command did not
    set it, so a silence before the command counts too, up to the timeout: more than that the command itself ends.
    """
    state = judge.state
    if not state.commands or judge.version.refreshed_by == "nothing":
        return 0.0
    asked = state.commands[0].t
    since = max(state.heard, asked - judge.timeout) if covers(_UNSET, judge.version.id) else max(state.heard, asked)
    return now - since


def check_silence(judge: RuleContext, event: Event) -> None:
    """Find a silence that is longer than Storm waits for an answer."""
    state, limit = judge.state, judge.timeout
    silent = own_silence(judge, event.t)
    if silent <= limit or state.unheard or event.t - state.silent_reported <= limit:
        return
    pending = state.commands[0]
    told = f"silent for {silent:.1f} s, the sync of {pending.what!r} is pending: Storm's limit is {limit:g} s"
    if silent > limit + TIMER:
        # A Storm that does not ask it awaits no answer.
        effects = judge.rulebook.effects("sync-missing", "activation") if pending.what in life_rules.SINCE_1_1 else None
        related = (pending.seq,)
        judge.breach("heartbeat-timeout", event, told, stable=pending.what, related=related, effects=effects)
        state.silent_reported = event.t
    elif event.t - max(pending.t, state.heard) > limit and event.channel == "out":
        text = f"{told}, and it looks once a second"
        judge.breach("silence-near-timeout", event, text, stable=pending.what, related=(pending.seq,))


HANDLERS: dict[type, Any] = {
    Activation: _activation,
    SpoutCommand: _command,
    Emit: _emit,
    Sync: _sync,
    Ack: _settle,
    Fail: _settle,
    Log: _said,
    Error: _said,
    Metrics: _metrics,
    End: ended,
}
"""What a spout's judge does with each kind of message."""
