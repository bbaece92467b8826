"""Rules of a host's calls to a spout: one command at a time, those that it was told, acks of ids as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.host.hosting import is_free, memory_of
from multilang_cli.protocol.judge.spout_rules import acked_inside, key_of
from multilang_cli.protocol.words.asked import same
from multilang_cli.protocol.words.feeds import FedCall, Wanted
from multilang_cli.protocol.words.shortening import shown

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.words.events import Activation, Event
    from multilang_cli.protocol.words.feeds import HostMemory
    from multilang_cli.protocol.words.messages import Emit, Json, SpoutCommand, Sync

_SETTLES = frozenset({"ack", "fail"})
_ACTIVITY = frozenset({"activate", "deactivate"})


def command(judge: RuleContext, event: Event, message: SpoutCommand) -> None:
    """A command: it waits for the sync of the one before, fits what the spout said, and is the next one of the feed."""
    memory = memory_of(judge)
    inside = message.command == "ack" and key_of(message.id) in memory.inside
    if not inside:
        _in_turn(judge, event, message)
    memory.commands.append(event.seq)
    _read_ahead(memory)
    if message.command in _SETTLES:
        _settled(judge, event, message)
    elif message.command in _ACTIVITY:
        _active(judge, event, active=message.command == "activate")
    elif message.command == "next" and not _is_active(judge):
        text = "next was sent to a spout that is not active: ack and fail may come then, next does not"
        judge.breach("host-inactive", event, text, stable="next")
    if is_free(judge):
        return
    if message.command == "next":
        if memory.calls and memory.calls[0].call == "next":
            del memory.calls[0]
    elif not inside:
        _called(judge, event, message)


def _in_turn(judge: RuleContext, event: Event, message: SpoutCommand) -> None:
    """Nothing is pending by now: neither the sync of the command before, nor task ids."""
    memory = memory_of(judge)
    if memory.commands:
        text = f"{message.command} was sent before the sync of the command before it"
        judge.breach("host-unsynced", event, text, subject=message.command, related=(memory.commands[-1],))
        memory.commands.clear()
    for emit in memory.wanted:
        text = f"the task ids of an emit on the stream {emit.stream!r} did not come before the next command"
        judge.breach("host-task-ids-missing", event, text, subject=emit.stream, related=(emit.seq,))
    memory.wanted.clear()


def _read_ahead(memory: HostMemory) -> None:
    """Take what the spout said behind a sync as the answer to the command that was just sent, as Storm reads it."""
    while memory.commands and memory.unread:
        said = memory.unread.pop(0)
        if isinstance(said, Wanted):
            memory.wanted.append(said)
            continue
        memory.commands.pop()
        if said > 1:
            memory.unread.insert(0, said - 1)


def _settled(judge: RuleContext, event: Event, message: SpoutCommand) -> None:
    """An ack or fail: one for each emit with an id, and none for any other id."""
    memory, key = memory_of(judge), key_of(message.id)
    if left := memory.pending.get(key, 0):
        memory.pending[key] = left - 1
        if left == 1:
            del memory.pending[key]
        if key in memory.inside:
            memory.inside.remove(key)
        return
    how = (
        "of another type" if any(str(message.id) == other.strip('"') for other in memory.pending) else "that is pending"
    )
    text = f"{_name(message)}: no emit has this id {how}, or each has had its ack or fail"
    judge.breach("host-settle-extra", event, text, subject=shown(message.id), stable=message.command)


def activation(judge: RuleContext, event: Event, fact: Activation) -> None:
    """The topology was activated or deactivated, of which no spout of this Storm is told."""
    _active(judge, event, active=fact.active)


def _active(judge: RuleContext, event: Event, *, active: bool) -> None:
    memory = memory_of(judge)
    if memory.active is active:
        text = f"{'activate' if active else 'deactivate'} was sent a second time"
        judge.breach("host-inactive", event, text, stable="again")
    memory.active = active


def _is_active(judge: RuleContext) -> bool:
    """A spout is activated before anything else; a Storm that tells none of it may have done so unseen."""
    active = memory_of(judge).active
    return not judge.version.activate if active is None else active


def _called(judge: RuleContext, event: Event, message: SpoutCommand) -> None:
    memory = memory_of(judge)
    same_call = [place for place, call in enumerate(memory.calls) if call.call == message.command]
    fitting = [place for place in same_call if _is_meant(memory, memory.calls[place], message.id)]
    if fitting:
        if fitting[0]:
            text = f"{_name(message)} comes before {memory.calls[0].call}, which it was told to call first"
            judge.breach("host-call-order", event, text, subject=message.command)
        memory.calls = memory.calls[fitting[0] + 1 :]
    elif same_call and message.command in _SETTLES:
        call = memory.calls.pop(same_call[0])
        text = f"{_name(message)}: the spout's emit has the id {shown(_id_of(memory, call))}"
        judge.breach("host-settle-id", event, text, subject=shown(message.id), stable=message.command)
    else:
        text = f"{_name(message)} was not to be called, or was called before"
        judge.breach("host-call-extra", event, text, subject=message.command, stable=message.command)


def _is_meant(memory: HostMemory, call: FedCall, id_: Json) -> bool:
    return call.call not in _SETTLES or (call.emit < len(memory.message_ids) and same(_id_of(memory, call), id_))


def _id_of(memory: HostMemory, call: FedCall) -> Json:
    return memory.message_ids[call.emit] if call.emit < len(memory.message_ids) else None


def _name(message: SpoutCommand) -> str:
    return f"{message.command} of {shown(message.id)}" if message.command in _SETTLES else message.command


def sync(judge: RuleContext, _: Event, __: Sync) -> None:
    """The spout is done with a command; a sync that none waits for ends the next one, when Storm comes to it."""
    memory = memory_of(judge)
    if judge.profile.kind == "bolt":
        memory.beats = max(0, memory.beats - 1)
    elif memory.commands:
        memory.commands.pop()
    elif memory.unread and isinstance(memory.unread[-1], int):
        memory.unread[-1] += 1
    else:
        memory.unread.append(1)


def emit(judge: RuleContext, event: Event, message: Emit) -> None:
    """An emit may want its task ids; a spout's has an id by which it is acked or failed."""
    memory, spout = memory_of(judge), judge.profile.kind == "spout"
    if spout and message.id is not None:
        key = key_of(message.id)
        memory.pending[key] = memory.pending.get(key, 0) + 1
        if acked_inside(judge, message):
            memory.inside.append(key)
        if not is_free(judge):
            memory.message_ids.append(message.id)
    if message.wants_task_ids:
        wanted = Wanted(event.seq, message.stream, event.t, memory.sent)
        if spout and not memory.commands:
            memory.unread.append(wanted)
        else:
            memory.wanted.append(wanted)


def check_pending(judge: RuleContext, event: Event) -> None:
    """By now all calls have been made."""
    memory = memory_of(judge)
    for call in memory.calls:
        text = f"{call.call}{_told(memory, call)} was never called"
        judge.breach("host-call-missing", event, text, subject=call.call, stable=call.call)
    memory.calls = []


def _told(memory: HostMemory, call: FedCall) -> str:
    """Of which id, as far as it is known."""
    if call.call not in _SETTLES:
        return ""
    return f" of {shown(_id_of(memory, call))}" if call.emit < len(memory.message_ids) else f" of emit {call.emit}"
