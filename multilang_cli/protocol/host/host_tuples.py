"""Rules of what a host hands to a bolt: tuples as they were fed, heartbeats in time, task ids for whoever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.host.hosting import is_free, memory_of
from multilang_cli.protocol.words.asked import same
from multilang_cli.protocol.words.messages import HEARTBEAT_STREAM, SYSTEM_TASK, TaskIds, TupleMsg
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.protocol.words.shortening import shown

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.feeds import FedTuple
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.verdicts import StreamSpec

HEARTBEAT = 5.0
"""Seconds that may pass between two heartbeats. Storm means to send one a second, and at worst needs two."""
TAKEN_AT_ONCE = 4096
"""Bytes that a pipe takes at once whose reader has read all before."""
TICK_EARLY = 1.0
"""Seconds by which a tick may be early: a timer begins before the component is heard."""
_CHECKED_ARITY = "<2.0"
"""Storm versions that check the arity of each tuple where it is made (``TupleImpl``); later ones in local mode only."""
_LONGS = range(-(2**63), 2**63)
_DIRECT = "DIRECT"
_ALL = "ALL"


def given(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    """A tuple: a heartbeat, a tick, or the next one of the feed."""
    memory = memory_of(judge)
    if judge.profile.kind == "spout":
        judge.breach("host-tuple-extra", event, "a spout was sent a tuple", stable="spout")
        return
    if (first := memory.ids.get(message.id)) is not None:
        text = f"the id {message.id} was given to another tuple before"
        judge.breach("host-tuple-id", event, text, subject=message.id, stable="again", related=(first,))
    memory.ids[message.id] = event.seq
    if is_free(judge) and not _is_long(message.id):
        text = f"the id {message.id} is none that Storm draws: expected a signed integer of 64 bits, as a string"
        judge.breach("host-tuple-id", event, text, subject=message.id, stable="drawn")
    if message.stream == HEARTBEAT_STREAM:
        _heartbeat(judge, event, message)
    elif message.is_tick:
        _tick(judge, event, message)
    else:
        _check_source(judge, event, message)
        if not is_free(judge):
            _fed(judge, event, message)


def _is_long(id_: str) -> bool:
    """True for what Java's Long.toString gives."""
    try:
        return str(int(id_)) == id_ and int(id_) in _LONGS
    except ValueError:
        return False


def _tick(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    """A tick comes each interval that conf names, and says which."""
    memory = memory_of(judge)
    memory.ticks += 1
    memory.tick, memory.sent_at_tick = event.t, memory.sent
    period, elapsed = memory.tick_period, event.t - judge.state.began
    if not period:
        text = "a tick was sent, and topology.tick.tuple.freq.secs in conf asks for none"
        judge.breach("host-tick", event, text, stable="none")
    elif message.task != SYSTEM_TASK or not same(message.values, [int(period)]):
        text = f"a tick of task {message.task} with {shown(message.values)}; expected task -1 and [{period:g}]"
        judge.breach("host-tick", event, text, stable="shape")
    elif memory.ticks * period > elapsed + TICK_EARLY:
        text = f"{memory.ticks} ticks within {elapsed:.1f} s: conf asks for one every {period:g} s"
        judge.breach("host-tick", event, text, stable="often")


def _check_source(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    """A tuple is of a task of its component, and of a stream that the context shows as subscribed to."""
    memory = memory_of(judge)
    if memory.shown_tasks.get(str(message.task)) != message.comp:
        text = f"the context does not show task {message.task} as one of the component {message.comp!r}"
        judge.breach("host-source", event, text, subject=message.comp or "", stable="task")
        return
    if memory.shown_sources is None:
        return
    streams = memory.shown_sources.get(message.comp or "")
    fields = streams.get(message.stream) if isinstance(streams, dict) else None
    if not isinstance(fields, list):
        text = f"the context does not show {message.comp!r}, stream {message.stream!r}, as a source"
        judge.breach("host-source", event, text, subject=message.stream, stable="stream")
    elif len(message.values) != len(fields) and (covers(_CHECKED_ARITY, judge.version.id) or judge.profile.local):
        text = f"the tuple has {len(message.values)} values; the context shows {len(fields)} fields of its stream"
        judge.breach("host-source", event, text, subject=message.stream, stable="arity")


def _heartbeat(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    if not judge.version.heartbeats:
        text = f"a heartbeat was sent; Storm {judge.version.id} sends none"
        judge.breach("host-heartbeat", event, text, stable="version")
    if not message.is_heartbeat or message.values:
        text = f"a heartbeat of task {message.task} with the values {shown(message.values)}; expected task -1 and []"
        judge.breach("host-heartbeat", event, text)
    elif is_free(judge) and message.comp is not None:
        # The protocol page shows a name; no Storm was ever seen to send one.
        text = f"a heartbeat of the component {message.comp!r}: every Storm sends null"
        judge.breach("host-heartbeat", event, text, stable="comp")
    if is_free(judge):
        check_time(judge, event)
    else:
        _check_beat(judge, event)
    memory = memory_of(judge)
    memory.beat, memory.sent_at_beat = event.t, memory.sent
    memory.beats += 1


def _check_beat(judge: RuleContext, event: Event) -> None:
    silence = event.t - memory_of(judge).beat
    if judge.version.heartbeats and silence > HEARTBEAT:
        judge.breach("host-heartbeat-missing", event, f"no heartbeat for {silence:.1f} s", stable="late")


def check_time(judge: RuleContext, event: Event) -> None:
    """Check that what a Storm sends by its clock, or as an answer, has come to a bolt that answered each heartbeat.

    Behind more than a pipe takes at once, Storm has to wait as well.
    """
    memory = memory_of(judge)
    if judge.profile.kind != "bolt" or judge.expecting_pid or memory.beats or not judge.version.heartbeats:
        return
    if memory.sent - memory.sent_at_beat <= TAKEN_AT_ONCE:
        _check_beat(judge, event)
    silent = event.t - memory.tick
    if (
        memory.tick_period
        and silent > memory.tick_period + HEARTBEAT
        and memory.sent - memory.sent_at_tick <= TAKEN_AT_ONCE
    ):
        text = f"no tick for {silent:.1f} s: conf asks for one every {memory.tick_period:g} s"
        judge.breach("host-tick", event, text, stable="seldom")
    for emit in memory.wanted:
        if event.t - emit.t > HEARTBEAT and memory.sent - emit.sent <= TAKEN_AT_ONCE:
            text = f"the task ids of an emit on the stream {emit.stream!r} did not come for {event.t - emit.t:.1f} s"
            judge.breach("host-task-ids-missing", event, text, subject=emit.stream, related=(emit.seq,))


def _fed(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    memory = memory_of(judge)
    for place, wanted in enumerate(memory.tuples):
        if not _differences(wanted, message):
            memory.passed += memory.tuples[:place]
            del memory.tuples[: place + 1]
            return
    for place, wanted in enumerate(memory.passed):
        if not _differences(wanted, message):
            del memory.passed[place]
            text = f"the tuple {shown(message.values)} comes after one that it was told to send later"
            judge.breach("host-tuple-order", event, text)
            return
    like = [wanted for wanted in memory.tuples if len(_differences(wanted, message)) < _OTHER_TUPLE]
    if not like:
        text = f"the tuple {shown(message.values)} was not to be sent, or was sent before"
        judge.breach("host-tuple-extra", event, text, stable="unfed")
        return
    wanted = min(like, key=lambda each: len(_differences(each, message)))
    memory.tuples.remove(wanted)
    text = "; ".join(_differences(wanted, message).values())
    judge.breach("host-tuple", event, text, stable=",".join(_differences(wanted, message)))


_OTHER_TUPLE = 3
"""Differences that make it another tuple."""


def _differences(wanted: FedTuple, message: TupleMsg) -> dict[str, str]:
    pairs: dict[str, tuple[Json, Json]] = {
        "values": (wanted.values, message.values),
        "comp": (wanted.comp, message.comp),
        "stream": (wanted.stream, message.stream),
        "task": (wanted.task, message.task),
    }
    return {
        name: f"{name}: {shown(said)} came, {shown(told)} was told"
        for name, (told, said) in pairs.items()
        if not same(told, said)
    }


def odd_tuple(judge: RuleContext, event: Event, fields: dict[str, Any], why: str) -> None:
    """A tuple that is not shaped as one: say what is odd, and take it for the one that it seems to be."""
    id_, values = fields.get("id"), fields.get("tuple")
    if not isinstance(id_, str):
        text = f"the id of a tuple is {shown(id_)}; expected a string"
        judge.breach("host-tuple-id", event, text, subject=shown(id_), stable="type")
    else:
        judge.breach("host-tuple", event, f"a tuple is not shaped as one: {why}", stable="shape")
    if isinstance(values, list):
        memory = memory_of(judge)
        memory.tuples = [wanted for wanted in memory.tuples if not same(wanted.values, values)]


def check_pending(judge: RuleContext, event: Event) -> None:
    """By now all tuples have been sent, all task ids as well, and the last heartbeat is not long ago."""
    memory = memory_of(judge)
    for wanted in (*memory.passed, *memory.tuples):
        text = f"the tuple {shown(wanted.values)} was never sent"
        judge.breach("host-tuple-missing", event, text)
    for emit in memory.wanted:
        text = f"an emit on the stream {emit.stream!r} asked for its task ids and never got any"
        judge.breach("host-task-ids-missing", event, text, subject=emit.stream, related=(emit.seq,))
    memory.passed, memory.tuples, memory.wanted = [], [], []
    if judge.profile.kind == "bolt":
        _check_beat(judge, event)


def task_ids(judge: RuleContext, event: Event, message: TaskIds) -> None:
    """Task ids answer the emits that asked for them, in their order."""
    memory = memory_of(judge)
    if not memory.wanted:
        text = f"the task ids {shown(message.tasks)} were sent, and no emit asked for any"
        judge.breach("host-task-ids-extra", event, text)
        return
    wanted = memory.wanted.pop(0)
    spec = (judge.profile.streams or {}).get(wanted.stream)
    if spec is not None and not _are_targets(message.tasks, spec):
        text = f"the task ids {shown(message.tasks)} are not those of an emit on the stream {wanted.stream!r}"
        judge.breach("host-task-ids", event, text, subject=wanted.stream, related=(wanted.seq,))


def _are_targets(tasks: list[int], spec: StreamSpec) -> bool:
    """True if each consumer has as many of the tasks as its grouping chooses."""
    left = list(tasks)
    for component, its_own in spec.consumers.items():
        how = spec.groupings.get(component, {}).get("type", _DIRECT if spec.direct else "SHUFFLE")
        chosen = [task for task in left if task in its_own]
        wanted = len(its_own) if how == _ALL else 0 if how == _DIRECT else 1
        if len(chosen) != wanted or len(set(chosen)) != wanted:
            return False
        left = [task for task in left if task not in chosen]
    return not left
