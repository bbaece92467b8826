"""Rules of a host: it speaks to a component as Storm does, and says what it was told to say.

A conversation with a host is judged like any other. What the component does wrong in it, it does on purpose: that tells
only what becomes of Storm, and so what the host has to do. These rules stand beside those of bolts and spouts, where
the profile has a feed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.host import host_calls, host_tuples
from multilang_cli.protocol.host.hosting import death_of, holds_several, is_free, is_whole, memory_of, value_of
from multilang_cli.protocol.judge.context import Role
from multilang_cli.protocol.wire.context import topology_context
from multilang_cli.protocol.words.asked import same
from multilang_cli.protocol.words.events import (
    Activation,
    Barrier,
    Deadline,
    Exited,
    PidChecked,
    Signalled,
    StdinClosed,
)
from multilang_cli.protocol.words.messages import (
    TICK_FREQUENCY,
    Emit,
    Handshake,
    Malformed,
    Pid,
    SpoutCommand,
    Sync,
    TaskIds,
    TupleMsg,
)
from multilang_cli.protocol.words.shortening import shown

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import Handler, RuleContext
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Json

STOP = "stop"
"""The name of the barrier at which a host is told to end."""
_PREFIX = "host-"
_OF_COMPONENTS = frozenset({"host-message"})
_LISTS = frozenset({"streams"})
"""Keys of the context whose values have no order."""


def judges(rule: str) -> bool:
    """True if `rule` is one of a host's: the others are about the component, which breaks them on purpose."""
    return rule.startswith(_PREFIX) and rule not in _OF_COMPONENTS


def with_feed(handlers: dict[type, Handler]) -> dict[type, Handler]:
    """The handlers of a judge, each after what is asked of hosts: that is about what was pending before the event."""
    return {kind: _both(handlers.get(kind), HANDLERS.get(kind)) for kind in handlers.keys() | HANDLERS.keys()}


def _both(usual: Handler | None, hosts: Handler | None) -> Handler:
    def handle(judge: RuleContext, event: Event, body: Any) -> None:
        """Judge a host, and what a component says as far as a host has to heed it."""
        if death_of(judge) is not None:
            _after_death(judge, event, body)
        elif event.channel == "in" and not _is_in_place(judge, event, body):
            return
        elif hosts is not None:
            hosts(judge, event, body)
        if usual is not None:
            usual(judge, event, body)

    return handle


def _is_in_place(judge: RuleContext, event: Event, body: Any) -> bool:
    """True for a whole message that comes when such may come: the handshake, and after the pid all others."""
    memory = memory_of(judge)
    memory.sent += len(event.raw)
    if not is_whole(event.raw) or (not is_free(judge) and holds_several(event.raw)):
        if not memory.stopping:
            judge.breach("host-end", event, "a message is not closed by a line that is just end")
        return False
    first, memory.greeted = not memory.greeted, True
    if isinstance(body, Handshake) != first:
        text = f"the first message is no handshake: {_why_none(body, event)}" if first else "a second handshake"
        judge.breach("host-handshake", event, text, stable="first" if first else "second")
        return False
    if not first and judge.expecting_pid:
        judge.breach("host-early", event, "spoke before the component had answered the handshake")
    return True


def _why_none(body: Any, event: Event) -> str:
    fields = value_of(event.raw)
    if not isinstance(body, Malformed) or not isinstance(fields, dict):
        return shown(event.raw[:60].decode("utf-8", "backslashreplace"))
    missing = [key for key in ("conf", "pidDir", "context") if key not in fields]
    return f"it has no {' and no '.join(missing)}, but {', '.join(map(shown, fields))}" if missing else body.detail


def _handshake(judge: RuleContext, event: Event, message: Handshake) -> None:
    _remember(judge, message)
    if is_free(judge):
        _check_keys(judge, event, message)
        _check_itself(judge, event, message)
        return
    for key, value in judge.profile.conf.items():
        if key not in message.conf or not same(value, message.conf[key]):
            text = f"conf says {shown(message.conf.get(key))} for {key!r}; it was told {shown(value)}"
            judge.breach("host-conf", event, text, subject=key, stable=key)
    for key, value in topology_context(judge.profile, judge.version).items():
        if not _has(message.context, key, value):
            text = f"the context says {shown(message.context.get(key))} for {key!r}; it was told {shown(value)}"
            judge.breach("host-context", event, text, subject=key, stable=key)


def _remember(judge: RuleContext, message: Handshake) -> None:
    """Remember the context that the component was shown: tuples come from there, and ticks as conf says."""
    memory, period = memory_of(judge), message.conf.get(TICK_FREQUENCY)
    tasks, sources = message.context.get("task->component"), message.context.get("source->stream->fields")
    memory.shown_tasks = tasks if isinstance(tasks, dict) else {}
    memory.shown_sources = sources if isinstance(sources, dict) else None
    if isinstance(period, int | float) and not isinstance(period, bool) and period > 0:
        memory.tick_period = float(period)


def _check_keys(judge: RuleContext, event: Event, message: Handshake) -> None:
    """A Storm's context has the keys of its version, no more and no fewer, and nothing stands beside it."""
    told = topology_context(judge.profile, judge.version).keys()
    for key in sorted((told ^ message.context.keys()) | message.more.keys()):
        text = f"Storm {judge.version.id} {'has' if key in told else 'sends no'} {key!r} in its handshake"
        judge.breach("host-context", event, text, subject=key, stable=key)


def _check_itself(judge: RuleContext, event: Event, message: Handshake) -> None:
    """A Storm tells a component its own task and id, and all tasks with it among them; its conf is never empty."""
    profile, context = judge.profile, message.context
    tasks = context.get("task->component")
    told = {"taskid": profile.task, "componentid": profile.component}
    for key, value in told.items():
        if key in context and context[key] != value:
            text = f"the context says {shown(context[key])} for {key!r}; it is {shown(value)}"
            judge.breach("host-context", event, text, subject=key, stable=key)
    if isinstance(tasks, dict) and tasks.get(str(profile.task)) != profile.component:
        text = f"the context does not say that task {profile.task} is of {profile.component!r}"
        judge.breach("host-context", event, text, subject="task->component", stable="task->component")
    if not message.conf:
        judge.breach("host-conf", event, "the conf is empty", stable="empty")


def _has(context: dict[str, Json], key: str, value: Json) -> bool:
    """True if the context says `value`, and of Storm's own components and streams whatever it likes."""
    found = context.get(key)
    if key in _LISTS and isinstance(found, list):
        return all(item in found for item in value)
    if isinstance(value, dict) and isinstance(found, dict):
        return all(name in found and same(item, found[name]) for name, item in value.items())
    return key in context and same(value, found)


def _pid(judge: RuleContext, event: Event, _: Pid) -> None:
    memory = memory_of(judge)
    memory.beat = memory.tick = event.t
    memory.sent_at_beat = memory.sent_at_tick = memory.sent


def _pid_checked(judge: RuleContext, event: Event, fact: PidChecked) -> None:
    if fact.file == "missing" and not is_free(judge):
        judge.breach("host-pid-dir", event, "pidDir is no directory in which the component can make a file")


def _malformed(judge: RuleContext, event: Event, body: Malformed) -> None:
    if event.channel != "in":
        return
    fields = value_of(event.raw)
    if isinstance(fields, dict) and "tuple" in fields:
        host_tuples.odd_tuple(judge, event, fields, body.detail)
    else:
        judge.breach("host-unreadable", event, body.detail, stable=body.detail.partition(":")[0])


# --- the end


def _ended(judge: RuleContext, event: Event, fact: StdinClosed | Signalled | Exited) -> None:
    """Only what ends a worker of this Storm ends a component before its time."""
    memory = memory_of(judge)
    timed_out = judge.version.heartbeats and _silence(judge, event) >= judge.timeout
    if not (memory.stopping or memory.over or timed_out or isinstance(fact, Exited) or is_free(judge)):
        judge.breach("host-gives-up", event, "ended the component, which had done nothing that this Storm dies of")
    memory.over = True


def _silence(judge: RuleContext, event: Event) -> float:
    """Seconds for which this Storm has waited for a sign of life; a spout need give none between two commands."""
    state = judge.state
    if judge.profile.kind == "spout":
        return event.t - max(state.commands[0].t, state.heard) if state.commands else 0.0
    return event.t - (state.heard if judge.version.refreshed_by == "command" else max(state.began, state.synced))


def _barrier(judge: RuleContext, event: Event, fact: Barrier) -> None:
    """All that was told has been said when a host is told to end."""
    if fact.name == STOP:
        _check_pending(judge, event)
        memory_of(judge).stopping = True


def _deadline(judge: RuleContext, event: Event, fact: Deadline) -> None:
    memory = memory_of(judge)
    if fact.waiting_for != "host":
        if is_free(judge) and not memory.over:
            host_tuples.check_time(judge, event)
        return
    if memory.stopping:
        _check_left(judge, event, fact)
    elif not memory.greeted:
        text = "ended without a handshake" if fact.proven else f"sent no handshake within {fact.limit:g} s"
        judge.breach("host-handshake", event, text, stable="none")
    else:
        _check_pending(judge, event)


def _check_pending(judge: RuleContext, event: Event) -> None:
    if not memory_of(judge).over and not judge.expecting_pid:
        host_tuples.check_pending(judge, event)
        host_calls.check_pending(judge, event)


def _check_left(judge: RuleContext, event: Event, fact: Deadline) -> None:
    if not memory_of(judge).over:
        text = f"the component was still there {fact.limit:g} s after its host was told to end"
        judge.breach("host-leaves", event, text)


def _after_death(judge: RuleContext, event: Event, body: Any) -> None:
    """Judge what is said after Storm's death: it has only to let the component go."""
    memory, death = memory_of(judge), death_of(judge)
    if isinstance(body, StdinClosed | Signalled | Exited):
        memory.over = True
    elif isinstance(body, Barrier) and body.name == STOP:
        memory.stopping = True
    elif isinstance(body, Deadline) and body.waiting_for == "host" and memory.stopping:
        _check_left(judge, event, body)
    elif isinstance(body, Deadline) and body.waiting_for == "host" and death is not None and not memory.over:
        rule = death.rule or ""
        text = f"goes on {body.limit:g} s after what ends a worker of Storm {judge.version.id} ({rule})"
        related = () if death.seq is None else (death.seq,)
        judge.breach("host-goes-on", event, text, subject=rule, stable=rule, related=related)


HANDLERS: dict[type, Any] = {
    Handshake: _handshake,
    Pid: _pid,
    PidChecked: _pid_checked,
    Malformed: _malformed,
    TupleMsg: host_tuples.given,
    TaskIds: host_tuples.task_ids,
    SpoutCommand: host_calls.command,
    Emit: host_calls.emit,
    Sync: host_calls.sync,
    StdinClosed: _ended,
    Signalled: _ended,
    Exited: _ended,
    Activation: host_calls.activation,
    Barrier: _barrier,
    Deadline: _deadline,
}
"""What is asked of hosts, by kind of message or fact."""

HOST = Role(with_feed, shows=judges)
"""A host with a feed: what the component does wrong in front of it is on purpose."""
