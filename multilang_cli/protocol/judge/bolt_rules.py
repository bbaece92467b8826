"""Rules of a bolt: tuples settled once, anchors on open tuples, a sync for every heartbeat."""

from __future__ import annotations

import re
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge import emit_rules, number_rules, text_rules
from multilang_cli.protocol.judge.state import Pending
from multilang_cli.protocol.wire.batches import Usual
from multilang_cli.protocol.wire.encoding import is_simple
from multilang_cli.protocol.words.messages import (
    DEFAULT_STREAM,
    SYSTEM_COMPONENT,
    SYSTEM_TASK,
    Ack,
    Emit,
    Error,
    Fail,
    Log,
    Metrics,
    Sync,
    TaskIds,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import msgspec

    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.judge.state import State
    from multilang_cli.protocol.wire.batches import Batch, RecordedEvents
    from multilang_cli.protocol.words.events import Event

LEAST_UNASKED = 3
"""Syncs for which no heartbeat waited, each behind one more tuple, by which it is told how a bolt syncs."""
TIMER = 1.0
"""Seconds between two heartbeats, and between two looks at the clock (``ShellBolt.BoltHeartbeatTimerTask``)."""

_REPLACEMENT = text_rules.REPLACEMENT.encode()
_MOST_ANCHORS = 1000
"""Anchors of one emit that are told where they are not open: of what is wrong more says nothing new."""
_LOOKED_AT = 100
"""Open tuples among which one is looked for whose id was damaged."""
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_LEAST_OF_AN_ID = 8
"""Characters of what may be a part of an id."""
_IDS = frozenset({TaskIds})
_OF_32_BITS = range(-(1 << 31), 1 << 32)


def _tuple(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    state = judge.state
    state.may_be_dismissed = False
    if message.task == SYSTEM_TASK and message.is_heartbeat:
        state.heartbeats.append(Pending(event.seq, event.t, message.id))
        state.heartbeat_ids.add(message.id, event.seq)
    else:
        if state.later:
            judge.catch_up()
        state.open[message.id] = (event.seq, event.t)
        samples = judge.profile.samples
        if samples is not None and message.comp != SYSTEM_COMPONENT and message.values not in samples:
            state.undeclared.add(message.id, event.seq)
        number_rules.remember(state, message.values)
        if not event.raw.isascii():
            _remember_text(state, message, event.raw)


def _remember_text(state: State, message: TupleMsg, raw: bytes) -> None:
    """Keep what a tuple holds beyond ASCII; `raw`: its bytes."""
    state.foreign = True
    state.replaced = state.replaced or _REPLACEMENT in raw
    text_rules.remember(state, message)


def _ack(judge: RuleContext, event: Event, message: Ack) -> None:
    state = judge.state
    state.heard = event.t
    if state.open.pop(message.id, None) is not None:
        state.settled.add(message.id, event.seq)
    else:
        _not_open(judge, event, message.id, "ack")


def _fail(judge: RuleContext, event: Event, message: Fail) -> None:
    state = judge.state
    state.heard = event.t
    if state.open.pop(message.id, None) is not None:
        state.settled.add(message.id, event.seq)
    else:
        _not_open(judge, event, message.id, "fail")


def _not_open(judge: RuleContext, event: Event, id_: str, command: str) -> None:
    state = judge.state
    if (beat := state.heartbeat_ids.get(id_)) is not None:
        text = f"{command} of a heartbeat: its answer is a sync, it has no tuple to settle"
        when = "failed" if command == "fail" else ""
        judge.breach("heartbeat-acked", event, text, when=when, subject=id_, stable=command, related=(beat,))
    elif (first := state.settled.get(id_)) is not None:
        text = f"{command} of a tuple that is settled already"
        judge.breach(f"{command}-twice", event, text, subject=id_, related=(first,))
    elif not state.gap:
        text = f"{command} of an id that Storm never sent{_as_it_was(judge, id_)}"
        judge.breach(f"{command}-unknown", event, text, subject=id_)


def _emit(judge: RuleContext, event: Event, emit: Emit) -> None:
    state = judge.state
    state.heard = event.t
    plain = emit_rules.is_plain(judge, emit)
    if emit.task is not None:
        emit_rules.check_task(judge, event, emit)
    if state.foreign:
        text_rules.check(judge, event, emit)
        number_rules.check(judge, event, emit)
    check_anchors(judge, event, emit.anchors)
    if emit.id is not None:
        judge.breach("ids-ignored", event, "a bolt's emit carries an id: Storm ignores it", stable="bolt")
    if not plain:
        emit_rules.check(judge, event, emit)
    if emit.need_task_ids and not emit.task:
        state.task_ids += 1


def check_anchors(judge: RuleContext, event: Event, anchors: Sequence[str]) -> None:
    """Judge the anchors of an emit that are not open, the first of many: Storm looks them up before anything else."""
    pending = judge.state.open
    for anchor in islice((each for each in anchors if each not in pending), _MOST_ANCHORS):
        _check_anchor(judge, event, anchor)


def _check_anchor(judge: RuleContext, event: Event, anchor: str) -> None:
    state = judge.state
    first = state.settled.get(anchor)
    if first is not None:
        open_too = isinstance(event.body, Emit) and any(
            map(state.open.__contains__, islice(event.body.anchors, _MOST_ANCHORS))
        )
        settled = "anchored to a tuple that is settled already"
        text = f"{settled}, beside one that is open" if open_too else f"{settled}: emit first, then ack"
        judge.breach("anchor-settled", event, text, subject=anchor, related=(first,))
        return
    beat = state.heartbeat_ids.get(anchor)
    if beat is None and state.gap:
        return
    unknown = f"anchored to an id that Storm never sent{_as_it_was(judge, anchor)}"
    text = unknown if beat is None else "anchored to a heartbeat"
    judge.breach("anchor-unknown", event, text, subject=anchor, related=() if beat is None else (beat,))


def _as_it_was(judge: RuleContext, id_: str) -> str:
    """The id that was sent where this one is a part of it, or what a number keeps of it, in words; "" mostly."""
    if len(id_) >= _LEAST_OF_AN_ID:
        for known in islice(judge.state.open, _LOOKED_AT):
            if known.startswith(id_) or known.endswith(id_):
                return f"; Storm sent {known}, of which a part is missing"
    number, whole = _number(id_), _whole(id_)
    for known in islice(judge.state.open, _LOOKED_AT) if number is not None else ():
        if _number(known) == number:
            return f"; Storm sent {known}, which a number does not keep"
        sent = _whole(known)
        if whole is not None and sent is not None and whole in _OF_32_BITS and (sent - whole) % (1 << 32) == 0:
            return f"; Storm sent {known}, which a number of 32 bits does not keep"
    return ""


def _whole(id_: str) -> int | None:
    return int(id_) if _INTEGER.fullmatch(id_) else None


def _number(id_: str) -> float | None:
    try:
        return float(id_)
    except ValueError:
        return None


def _sync(judge: RuleContext, event: Event, _: Sync) -> None:
    state = judge.state
    state.heard = state.synced = event.t
    if state.heartbeats:
        state.heartbeats.pop(0)
    elif state.unasked < LEAST_UNASKED:
        _unasked(judge, event)
    state.synced_seq = event.seq


def _unasked(judge: RuleContext, event: Event) -> None:
    """Count syncs in a row for which no heartbeat waits, each behind one more settled tuple: others are a clock's."""
    state = judge.state
    # A message that cannot be read may have been a heartbeat; before 0.9.3 there are none.
    if state.garbled >= 0 or not judge.version.heartbeats:
        return
    behind = [seq for seq in state.settled.latest() if seq > state.synced_seq]
    state.unasked = state.unasked + 1 if len(behind) == 1 else 0
    if state.unasked == LEAST_UNASKED:
        text = f"a sync behind what it settled, the {LEAST_UNASKED}rd for which no heartbeat waits"
        judge.breach("sync-unasked", event, text, related=(behind[0],))


def _said(judge: RuleContext, event: Event, _: Log | Error) -> None:
    judge.state.heard = event.t


def _metrics(judge: RuleContext, event: Event, message: Metrics) -> None:
    judge.state.heard = event.t
    emit_rules.check_metrics(judge, event, message)


def pass_right(judge: RuleContext, batch: Batch) -> int:
    """Judge what is plainly right at the beginning of `batch`, as the handlers would one by one; how many events.

    The first for which this is not enough, and all after it, are left to the handlers: what a handler asks of a message
    is asked here too, or the message is not passed.
    """
    state = judge.state
    if state.heartbeats or state.may_be_dismissed:
        return 0
    if batch.channel == "in":
        return _pass_sent(judge, batch)
    right = 0 if state.foreign else _pass_said(judge, batch)
    if right:
        state.heard = batch.t
    return right


def _pass_sent(judge: RuleContext, batch: Batch) -> int:
    state, pending, t = judge.state, judge.state.open, batch.t
    if batch.kinds == _IDS:
        state.task_ids = max(0, state.task_ids - len(batch))
        return len(batch)
    if state.later or judge.profile.samples is not None or not is_simple(batch.data):
        return 0
    for seq, message in enumerate(batch.bodies, batch.seq):
        kind = type(message)
        if kind is TupleMsg and message.task != SYSTEM_TASK:
            pending[message.id] = (seq, t)
        elif kind is TaskIds:
            state.task_ids -= state.task_ids > 0
        else:
            return seq - batch.seq
    return len(batch)


def _pass_said(judge: RuleContext, batch: Batch) -> int:
    state, pending, settled = judge.state, judge.state.open, judge.state.settled.young
    is_usual, usual, wanted = type(batch.bodies) is Usual, judge.arities.get(DEFAULT_STREAM), 0
    try:
        for seq, message in enumerate(batch.bodies, batch.seq):
            kind = type(message)
            if kind is Emit:
                if not (is_usual and len(message.values) == usual) and (
                    message.id is not None or not emit_rules.is_plain(judge, message)
                ):
                    return seq - batch.seq
                for anchor in message.anchors:
                    if anchor not in pending:
                        return seq - batch.seq
                wanted += message.need_task_ids
            elif kind is Ack or kind is Fail:
                if pending.pop(message.id, None) is None:
                    return seq - batch.seq
                settled[message.id] = seq
            elif kind is not Log:
                return seq - batch.seq
    finally:
        state.task_ids += wanted
        state.settled.pack()
    return len(batch)


def pass_span(judge: RuleContext, span: RecordedEvents, begin: int) -> int:
    """Judge what is plainly right in `span` from the event `begin` on, as the handlers would; the first that is not.

    As with `pass_right`, what a handler asks of a message is asked here too, or the message is not passed.
    """
    state = judge.state
    # A silence that may be too long before this span is over is looked for event by event.
    slow = state.heartbeats and max(span.times) - state.heartbeats[0].t + TIMER > judge.timeout
    if slow or state.later or state.may_be_dismissed or judge.profile.samples is not None:
        return begin
    passed = _right_until(judge, span, begin)
    state.settled.pack()
    return passed


def _right_until(judge: RuleContext, span: RecordedEvents, begin: int) -> int:
    state, pending, settled = judge.state, judge.state.open, judge.state.settled.young
    simple, first, heard, unanswered = span.is_simple, span.seq, state.heard, state.task_ids
    usual = judge.arities.get(DEFAULT_STREAM) if span.is_usual and simple and not state.foreign else None
    try:
        for seq, message, t in zip(count(first + begin), span.bodies[begin:], span.times[begin:], strict=False):
            kind = type(message)
            if kind is TupleMsg and simple and message.task != SYSTEM_TASK:
                pending[message.id] = (seq, t)
                continue
            if kind is TaskIds:
                unanswered -= unanswered > 0
                continue
            if kind is Emit and (len(message.values) == usual or _is_right(judge, message, span.raws[seq - first])):
                for anchor in message.anchors:
                    if anchor not in pending:
                        return seq - first
                unanswered += message.need_task_ids
            elif (kind is Ack or kind is Fail) and pending.pop(message.id, None) is not None:
                settled[message.id] = seq
            elif span.sent[seq - first] and _takes_tuple(state, span, seq - first):
                continue
            elif kind is not Log:
                return seq - first
            heard = t
    finally:
        state.heard, state.task_ids = heard, unanswered
    return len(span)


def _takes_tuple(state: State, span: RecordedEvents, at: int) -> bool:
    """Take a tuple of Storm's; False for anything else."""
    message = span.bodies[at]
    if message.__class__ is not TupleMsg or message.task == SYSTEM_TASK:
        return False
    number_rules.remember(state, message.values)
    if not span.is_simple and not (raw := bytes(span.raws[at])).isascii():
        _remember_text(state, message, raw)
    state.open[message.id] = (span.seq + at, span.times[at])
    return True


def _is_right(judge: RuleContext, emit: Emit, raw: msgspec.Raw) -> bool:
    """True if an emit, of which `raw` are the bytes, is plainly right but for its anchors."""
    state = judge.state
    if emit.id is not None or emit.task is not None or emit.hazards:
        return False
    if judge.arities.get(emit.stream) != len(emit.values) and not emit_rules.is_plain(judge, emit):
        return False
    if not state.foreign:
        return True
    return text_rules.is_right(state, emit, bytes(raw)) and number_rules.is_right(state, emit.values)


def silence(judge: RuleContext, now: float, *, any_message: bool) -> float:
    """Seconds without a sign of life by Storm's clock (``ShellBolt.BoltHeartbeatTimerTask``); 0 while it asks nothing.

    Storm asks once a second, so an unanswered heartbeat means that it has been asking since. `any_message` is a sign of
    life, or a sync alone.
    """
    state = judge.state
    if not state.heartbeats:
        return 0.0
    return now - max(state.heartbeats[0].t - TIMER, state.heard if any_message else state.synced)


def own_silence(judge: RuleContext, now: float) -> float:
    """The `silence` that the Storm version played counts; 0 where it counts none."""
    counts = judge.version.refreshed_by
    return 0.0 if counts == "nothing" else silence(judge, now, any_message=counts == "command")


def check_silence(judge: RuleContext, event: Event) -> None:
    """Find a silence that is longer than Storm waits.

    What counts as a sign of life differs by version: any message, from 0.9.3 to 0.9.7 only a sync. What another version
    alone punishes is in its outlook, and no finding.
    """
    state, limit = judge.state, judge.timeout
    if not state.heartbeats or state.unheard or event.t - state.silent_reported <= limit:
        return
    seqs = (state.heartbeats[0].seq,)
    for when, any_message in (("", True), ("sync-only", False)):
        silent = silence(judge, event.t, any_message=any_message)
        if silent <= limit:
            continue
        counts = judge.version.refreshed_by == "sync" or (any_message and judge.version.refreshed_by == "command")
        if silent > limit + TIMER:
            text = f"no sign of life for {silent:.1f} s: Storm's limit is {limit:g} s"
            state.silent_reported = event.t
            if counts:
                judge.breach("heartbeat-timeout", event, text, when=when, stable=when, related=seqs)
            else:
                judge.foresee("heartbeat-timeout", event, when)
            return
        if counts and event.channel == "out":
            text = f"no sign of life for {silent:.1f} s: Storm's limit is {limit:g} s, and it looks once a second"
            judge.breach("silence-near-timeout", event, text, stable=when, related=seqs)
            return


HANDLERS: dict[type, Any] = {
    TupleMsg: _tuple,
    Ack: _ack,
    Fail: _fail,
    Emit: _emit,
    Sync: _sync,
    Log: _said,
    Error: _said,
    Metrics: _metrics,
}
"""What a bolt's judge does with each kind of message."""
