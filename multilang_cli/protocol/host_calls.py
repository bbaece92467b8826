"""What a host asks of a spout: one command at a time, the calls that it was told to make, acks of ids as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.asked import same
from multilang_cli.protocol.feeds import FedCall, Wanted
from multilang_cli.protocol.hosting import memory_of
from multilang_cli.protocol.shortening import shown

if TYPE_CHECKING:
    from multilang_cli.protocol.conversation import Conversation
    from multilang_cli.protocol.events import Event
    from multilang_cli.protocol.feeds import HostMemory
    from multilang_cli.protocol.messages import Emit, Json, SpoutCommand, Sync

_SETTLES = frozenset({"ack", "fail"})


def command(judge: Conversation, event: Event, message: SpoutCommand) -> None:
    """A command: it waits for the sync of the one before, and is the next one of the feed."""
    memory = memory_of(judge)
    if memory.command >= 0:
        text = f"{message.command} was sent before the sync of the command before it"
        judge.breach("host-unsynced", event, text, subject=message.command, related=(memory.command,))
    memory.command = event.seq
    if memory.wanted:
        _unanswered(judge, event, memory)
    if message.command == "next":
        if memory.calls and memory.calls[0].call == "next":
            del memory.calls[0]
        return
    _called(judge, event, message)


def _unanswered(judge: Conversation, event: Event, memory: HostMemory) -> None:
    for emit in memory.wanted:
        text = f"the task ids of an emit on the stream {emit.stream!r} did not come before the next command"
        judge.breach("host-task-ids-missing", event, text, subject=emit.stream, related=(emit.seq,))
    memory.wanted = []


def _called(judge: Conversation, event: Event, message: SpoutCommand) -> None:
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


def sync(judge: Conversation, _: Event, __: Sync) -> None:
    """The spout is done with a command."""
    memory_of(judge).command = -1


def emit(judge: Conversation, event: Event, message: Emit) -> None:
    """An emit may want its task ids; a spout's has an id by which it is acked or failed."""
    memory = memory_of(judge)
    if judge.profile.kind == "spout" and message.id is not None:
        memory.message_ids.append(message.id)
    if message.wants_task_ids:
        memory.wanted.append(Wanted(event.seq, message.stream))


def check_owed(judge: Conversation, event: Event) -> None:
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
