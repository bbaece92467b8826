"""Rules of a testee: it says what it was asked to say, nothing less, nothing more, in that order.

These rules stand beside those of bolts and spouts, for components of which the profile says that they are testees.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.judge.context import Role
from multilang_cli.protocol.words import asked
from multilang_cli.protocol.words.asked import Asked, Memory
from multilang_cli.protocol.words.events import Deadline
from multilang_cli.protocol.words.large import plain
from multilang_cli.protocol.words.messages import (
    SYSTEM_TASK,
    Ack,
    Emit,
    Error,
    Fail,
    Handshake,
    Log,
    SpoutCommand,
    Sync,
    TaskIds,
    TupleMsg,
)
from multilang_cli.protocol.words.shortening import shown

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import Handler, RuleContext
    from multilang_cli.protocol.words.events import Event

ACTIVATION = "activation"
"""What a library can do that hands activate and deactivate on to its user's code."""
ONE_NUMBER = "one-number-type"
"""The feature of a library whose language has one type of numbers."""
HIDES = "hides-"
"""Features that name what a library does not show to its user's code: hides-id, hides-task..."""
ASKED_FOR = frozenset({"nested-value", "decimal-value", "direct-emit", "message-id-type", "never-an-id"})
"""Rules that a testee breaks only because it is asked to: that is not its library's affair."""
BY_ITSELF = frozenset({"basic", "batch"})
"""Parts whose library anchors and settles by itself."""
SETTLES = frozenset({"ack", "fail"})


def with_plans(handlers: dict[type, Handler]) -> dict[type, Handler]:
    """The handlers of a judge, each followed by what is asked of testees."""
    return handlers | {kind: _both(handlers.get(kind), handler) for kind, handler in HANDLERS.items()}


def _both(first: Handler | None, then: Handler) -> Handler:
    if first is None:
        return then

    def handle(judge: RuleContext, event: Event, body: Any) -> None:
        """Judge by the protocol first, then by what was asked."""
        first(judge, event, body)
        then(judge, event, body)

    return handle


def _memory(judge: RuleContext) -> Memory:
    if judge.state.asked is None:
        judge.state.asked = Memory()
    return judge.state.asked


# --- what is asked


def _handshake(judge: RuleContext, event: Event, message: Handshake) -> None:
    memory = _memory(judge)
    memory.conf, memory.context = message.conf, message.context
    memory.plan = asked.spout_plan_of(message.conf)
    if memory.plan is not None:
        _ask(judge, event, memory.plan.get("initialize", []))


def _ask(judge: RuleContext, event: Event, actions: list[dict[str, Any]]) -> None:
    _memory(judge).queue += asked.of_call(actions, event.seq)
    if asked.ends(actions):
        judge.state.dismissed = True


def _tuple(judge: RuleContext, event: Event, message: TupleMsg) -> None:
    if message.task == SYSTEM_TASK and message.is_heartbeat:
        return
    memory = _memory(judge)
    memory.queue += asked.of_tuple(message, event.seq, memory.names, basic=judge.profile.testee in BY_ITSELF)
    if asked.ends(asked.plan_of(plain(message.values)) or []):
        memory.free.add(message.id)
        judge.state.dismissed = True


def _command(judge: RuleContext, event: Event, message: SpoutCommand) -> None:
    memory = _memory(judge)
    memory.calls.append([message.command, *([message.id] if message.command in {"ack", "fail"} else [])])
    if memory.plan is None:
        return
    actions = memory.plan.get(message.command, [])
    if message.command == "next":
        actions = actions[memory.nexts] if memory.nexts < len(actions) else []
        memory.nexts += 1
    _ask(judge, event, actions)


def _task_ids(judge: RuleContext, _: Event, message: TaskIds) -> None:
    memory = _memory(judge)
    memory.task_ids = message.tasks
    memory.unanswered = max(0, memory.unanswered - 1)


# --- what is said


def _emit(judge: RuleContext, event: Event, emit: Emit) -> None:
    _said(judge, event, emit)
    _memory(judge).unanswered += emit.wants_task_ids


def _settle(judge: RuleContext, event: Event, message: Ack | Fail) -> None:
    memory = _memory(judge)
    for_it = [wanted for wanted in memory.queue if wanted.id == message.id and wanted.what in SETTLES]
    if message.id in memory.free and not for_it:
        if isinstance(message, Ack):
            text = "acked although its code raised an exception, or emitted what can't be sent: the failure is lost"
            judge.breach("asked-settle", event, text, subject=message.id, stable="raise")
    elif memory.free and for_it and isinstance(message, Fail) and _batches(judge):
        memory.queue.remove(for_it[0])
    else:
        _said(judge, event, message)


def _batches(judge: RuleContext) -> bool:
    """True if its library does many tuples at once: in any order, with all of them as anchors, failed together."""
    return judge.profile.testee == "batch"


def _told_of(judge: RuleContext, event: Event, message: Log | Error) -> None:
    """Judge a log or error that nobody asked for: a library may write them as it likes, as to say why it ends."""
    memory = _memory(judge)
    if any(_is_about(message, wanted) for wanted in (*memory.passed, *memory.queue)):
        _said(judge, event, message)


def _is_about(message: Log | Error, wanted: Asked) -> bool:
    """True if it says what was to be logged or reported, or a part of it."""
    if not _comparable(wanted, message):
        return False
    said = message.msg or ""
    # A few characters stand in any text: a library's own log is not what was asked.
    return wanted.text in said or (len(said) > len(wanted.text) // 2 and said in wanted.text)


def _said(judge: RuleContext, event: Event, message: Emit | Ack | Fail | Log | Error) -> None:
    memory = _memory(judge)
    if judge.profile.kind == "spout" and memory.plan is None:
        return
    for place, wanted in enumerate(memory.queue):
        if not _differences(judge, wanted, message):
            _take(judge, place)
            if wanted.told == "calls":
                memory.calls.clear()
            return
    for place, wanted in enumerate(memory.passed):
        if not _differences(judge, wanted, message):
            del memory.passed[place]
            text = f"{_name(message)} comes after what it was asked to say later"
            judge.breach("asked-order", event, text, stable=wanted.what, related=(wanted.seq,))
            return
    _unlike(judge, event, message)


def _take(judge: RuleContext, place: int) -> None:
    """Mark the step at this place as said, and those before it as passed over, unless any order is right."""
    memory = _memory(judge)
    first = place if _batches(judge) else 0
    memory.passed += memory.queue[first:place]
    del memory.queue[first : place + 1]


def _unlike(judge: RuleContext, event: Event, message: Emit | Ack | Fail | Log | Error) -> None:
    """Nothing like this was asked for: name what differs from what it was to say next."""
    memory = _memory(judge)
    like = [wanted for wanted in memory.queue if _comparable(wanted, message)]
    if not like:
        what = type(message).__name__.lower()
        judge.breach("asked-extra", event, f"{_name(message)} was not asked for", subject=what, stable=what)
        return
    wanted = min(like, key=lambda each: len(_differences(judge, each, message)))
    differences = _differences(judge, wanted, message)
    _take(judge, memory.queue.index(wanted))
    for rule, text in differences.items():
        judge.breach(rule, event, text, subject=wanted.told, stable=wanted.told or wanted.what, related=(wanted.seq,))


def _comparable(wanted: Asked, message: Emit | Ack | Fail | Log | Error) -> bool:
    said = type(message).__name__.lower()
    if said in SETTLES and wanted.what in SETTLES:
        return getattr(message, "id", None) == wanted.id
    if said == "emit" and wanted.what == "emit":
        return isinstance(message, Emit) and (message.stream == asked.TOLD) == bool(wanted.told)
    return said == wanted.what


def _name(message: Emit | Ack | Fail | Log | Error) -> str:
    if isinstance(message, Emit):
        return f"an emit of {shown(message.values)}"
    if isinstance(message, Ack | Fail):
        return f"{'an ack' if isinstance(message, Ack) else 'a fail'} of {message.id}"
    return f"{'a log' if isinstance(message, Log) else 'an error'} that says {shown(message.msg)}"


def _differences(judge: RuleContext, wanted: Asked, message: Emit | Ack | Fail | Log | Error) -> dict[str, str]:
    """Differences from what was asked: sentences by rule; empty if it is just that."""
    if type(message).__name__.lower() != wanted.what:
        text = f"{wanted.what} was asked, and it said {type(message).__name__.lower()}"
        return {"asked-settle": text}
    if isinstance(message, Emit):
        return _told(judge, wanted, message) if wanted.told else _emitted(judge, wanted, message)
    if isinstance(message, Ack | Fail):
        return {} if message.id == wanted.id else {"asked-settle": f"{wanted.id} was to be settled, not {message.id}"}
    if wanted.text not in (message.msg or ""):
        return {"asked-log": f"it was to say {shown(wanted.text)}, and said {shown(message.msg)}"}
    if isinstance(message, Log) and wanted.level is not None and message.level != wanted.level:
        return {"asked-log": f"the level {wanted.level} was asked, and it sent {message.level}"}
    return {}


def _emitted(judge: RuleContext, wanted: Asked, emit: Emit) -> dict[str, str]:
    one_number = ONE_NUMBER in judge.profile.features
    found: dict[str, str] = {}
    if not asked.same(wanted.values, emit.values, one_number=one_number):
        found["asked-values"] = f"{shown(wanted.values)} was to be emitted, and it emitted {shown(emit.values)}"
    if emit.stream != wanted.stream:
        found["asked-stream"] = f"the stream {wanted.stream!r} was asked, and it emitted on {emit.stream!r}"
    if sorted(emit.anchors) != sorted(wanted.anchors) and not (
        _batches(judge) and {*wanted.anchors} <= {*emit.anchors}
    ):
        found["asked-anchors"] = f"the anchors {shown(wanted.anchors)} were asked, and it sent {shown(emit.anchors)}"
    if (emit.task or None) != wanted.task:
        found["asked-task"] = f"the task {wanted.task} was asked, and it emitted to {emit.task}"
    if judge.profile.kind == "spout" and not asked.same(wanted.message_id, emit.id, one_number=one_number):
        found["asked-id"] = f"the id {shown(wanted.message_id)} was asked, and it sent {shown(emit.id)}"
    if wanted.need_task_ids is not None and wanted.need_task_ids != emit.wants_task_ids and not wanted.task:
        wish = "task ids were" if wanted.need_task_ids else "no task ids were"
        found["asked-task-ids"] = f"{wish} wanted, and need_task_ids says {json.dumps(emit.need_task_ids)}"
    return found


def _told(judge: RuleContext, wanted: Asked, emit: Emit) -> dict[str, str]:
    """Compare what the user's code sees with what was sent."""
    if emit.stream != asked.TOLD or not emit.values or emit.values[0] != wanted.told:
        return {"asked-told": f"it was to tell its {wanted.told} on the stream {asked.TOLD!r}"}
    if wanted.told == "task_ids" and _memory(judge).unanswered and not judge.state.gap:
        return {"asked-told": "it told the task ids of an emit that were not sent yet: it has to wait for them"}
    truth, theirs = asked.answer(wanted, _memory(judge)), emit.values[1] if len(emit.values) > 1 else None
    features = judge.profile.features
    hidden = [name.removeprefix(HIDES) for name in features if name.startswith(HIDES)]
    one_number = ONE_NUMBER in features
    if wanted.told == "calls" and ACTIVATION not in features:
        truth, theirs = asked.without_activations(truth), asked.without_activations(theirs)
    if not isinstance(truth, dict):
        same = asked.same(truth, theirs, one_number=one_number)
        return {} if same else {"asked-told": f"{wanted.told}: {shown(truth)} was sent; it sees {shown(theirs)}"}
    keys = asked.differing(truth, theirs, hidden, one_number=one_number)
    if not keys:
        return {}
    seen = theirs.get(keys[0]) if isinstance(theirs, dict) else theirs
    return {"asked-told": f"{wanted.told}, {keys[0]}: {shown(truth[keys[0]])} was sent; it sees {shown(seen)}"}


# --- what was not said


def _sync(judge: RuleContext, event: Event, _: Sync) -> None:
    if judge.profile.kind == "spout" and not judge.state.commands:
        _missing(judge, event)


def _deadline(judge: RuleContext, event: Event, fact: Deadline) -> None:
    if fact.waiting_for == "plan":
        _missing(judge, event)


def _missing(judge: RuleContext, event: Event) -> None:
    memory = _memory(judge)
    for wanted in (*memory.passed, *memory.queue):
        judge.breach(
            "asked-missing",
            event,
            f"{_wish(wanted)} was asked for and did not come",
            subject=wanted.what,
            stable=wanted.what,
            related=(wanted.seq,),
        )
    memory.passed.clear()
    memory.queue.clear()


def _wish(wanted: Asked) -> str:
    if wanted.told:
        return f"its {wanted.told}, told,"
    if wanted.what == "emit":
        return f"an emit of {shown(wanted.values)}"
    return f"{wanted.what} of {wanted.id}" if wanted.id else f"{wanted.what} of {shown(wanted.text)}"


HANDLERS: dict[type, Any] = {
    Handshake: _handshake,
    TupleMsg: _tuple,
    SpoutCommand: _command,
    TaskIds: _task_ids,
    Emit: _emit,
    Ack: _settle,
    Fail: _settle,
    Log: _told_of,
    Error: _told_of,
    Sync: _sync,
    Deadline: _deadline,
}
"""What is asked of testees, by kind of message."""

TESTEE = Role(with_plans, ASKED_FOR)
"""A testee: what it breaks because it is asked to is no affair of its library."""
