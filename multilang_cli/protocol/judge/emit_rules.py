"""Rules of an emit, and of a metric, whoever sends it: streams, arity, direct tasks, values."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from multilang_cli.protocol.words.large import plain
from multilang_cli.protocol.words.verdicts import StreamSpec

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Emit, Json, Metrics

SYSTEM_PREFIX = "__"
_OWN_STREAMS = {
    "bolt": frozenset({"__ack_ack", "__ack_fail", "__ack_reset_timeout", "__metrics", "__system"}),
    "spout": frozenset({"__ack_init", "__metrics", "__system"}),
}
"""Streams that Storm itself declares for every component of a kind (``StormCommon.systemTopology``)."""
_ACKER = "__acker"
_ACKED = {"__ack_init": 3, "__ack_ack": 2, "__ack_fail": 1, "__ack_reset_timeout": 1}
"""Of these, what the ackers consume, and how many fields each has."""


def is_plain(judge: RuleContext, emit: Emit) -> bool:
    """True if `check` and `check_task` have nothing to say of an emit."""
    if emit.task is not None or emit.hazards:
        return False
    if judge.arities.get(emit.stream) == len(emit.values):
        return True
    named = emit.stream and not emit.stream.startswith(SYSTEM_PREFIX)
    return bool(named) and judge.streams is None and judge.check_values is None


def check(judge: RuleContext, event: Event, emit: Emit, *, without_tuple: bool = False) -> None:
    """Judge an emit against the declared streams; where nobody declared them, only what needs no declaration.

    `without_tuple`: it has no values that could be right or wrong.
    """
    streams, declared = judge.streams, _of_declared(judge, emit)
    spec = streams.get(emit.stream) if streams is not None else None
    if spec is not None:
        if spec.direct and not emit.task:
            _plain_to_direct(judge, event, emit, spec)
    elif emit.stream.startswith(SYSTEM_PREFIX):
        text = f"emit on Storm's own stream {emit.stream!r}"
        own = emit.stream in _OWN_STREAMS[judge.profile.kind]
        when = "unknown" if not own else "" if without_tuple else _variant_of_own(judge, emit)
        judge.breach("stream-system", event, text, when=when, subject=emit.stream)
        spec = own_spec(judge, emit.stream)
    elif not emit.stream or (streams is not None and declared):
        # Nobody declares an empty one, and no tuple makes it: a library writes it where it should leave the member out.
        what = "declared" if emit.stream else "the default one"
        text = f"emit on the stream {emit.stream!r}, which is not {what}"
        when = "direct" if emit.task else ""
        judge.breach("stream-undeclared", event, text, when=when, subject=emit.stream, stable=emit.stream)
    if spec is not None and emit.task:
        _direct(judge, event, emit, spec, emit.task, without_tuple=without_tuple)
    if spec is not None and declared and not without_tuple:
        _arity(judge, event, emit, spec)
    refuses = judge.check_values if declared and not without_tuple else None
    if refuses is not None and (why := refuses(emit.stream, plain(emit.values))):
        text = f"values on the stream {emit.stream!r} that its declared schema refuses: {why}"
        judge.breach("values-unlike-schema", event, text, subject=emit.stream, stable=emit.stream)
    for hazard in emit.hazards:
        _hazard(judge, event, hazard, emit, travels=travels(judge, emit, spec))


def _of_declared(judge: RuleContext, emit: Emit) -> bool:
    """True if an emit can only come of declared tuples; what a component makes of others is not judged."""
    undeclared = judge.state.undeclared
    if judge.profile.samples is None or not (undeclared.young or undeclared.packed):
        return True
    return bool(emit.anchors) and all(undeclared.get(anchor) is None for anchor in emit.anchors)


def _variant_of_own(judge: RuleContext, emit: Emit) -> str:
    """The variant of an emit on one of Storm's own streams: the acker consumes some of them, by the first field."""
    fields = _ACKED.get(emit.stream)
    if fields is None or emit.task:
        return ""
    if judge.profile.without_ackers:
        return "no-ackers" if emit.values else "no-ackers-empty"
    if len(emit.values) == fields:
        return ""
    if not emit.values or not judge.profile.local:
        return "arity" if emit.values else "empty"
    return "arity-local" if judge.profile.kind == "bolt" else "arity-local-spout"


def is_for_no_acker(judge: RuleContext, emit: Emit) -> bool:
    """True if an emit goes to the ackers where there are none: by a fields grouping over no tasks."""
    acked = emit.stream in _ACKED and emit.stream in _OWN_STREAMS[judge.profile.kind]
    return acked and not emit.task and judge.profile.without_ackers


def own_spec(judge: RuleContext, stream: str) -> StreamSpec | None:
    """One of Storm's own streams, as if somebody had declared it; None if it is none."""
    if stream not in _OWN_STREAMS[judge.profile.kind]:
        return None
    ackers = tuple(task for task, component in judge.profile.tasks.items() if component == _ACKER)
    is_acked = stream in _ACKED and not judge.profile.without_ackers
    if not is_acked or not ackers:
        return StreamSpec()
    return StreamSpec(consumers={_ACKER: ackers}, groupings={_ACKER: {"type": "FIELDS", "fields": ["id"]}})


def travels(judge: RuleContext, emit: Emit, spec: StreamSpec | None) -> bool:
    """True if the tuple reaches a task, as far as that is known: only then it is serialized."""
    if spec is None:
        spec = own_spec(judge, emit.stream)
    if spec is None:
        return not emit.stream.startswith(SYSTEM_PREFIX)
    return target_of(emit.task) in _tasks(spec) if emit.task else _consumed(spec)


def target_of(task: int) -> int:
    """The task of a direct emit as Storm hands it on: cut to 32 bits."""
    return task if _narrow(task) else (task + 2**31) % 2**32 - 2**31


def _tasks(spec: StreamSpec) -> set[int]:
    return {task for tasks in spec.consumers.values() for task in tasks}


def _consumed(spec: StreamSpec | None) -> bool:
    return spec is None or bool(spec.consumers)


def _arity(judge: RuleContext, event: Event, emit: Emit, spec: StreamSpec) -> None:
    """Compare the number of values with the fields; Storm chooses the tasks first, and counts when a tuple is made."""
    fields = spec.fields
    if fields is None or len(emit.values) == len(fields):
        return
    given = f"{len(emit.values)} value{'' if len(emit.values) == 1 else 's'}"
    text = f"{given} on the stream {emit.stream!r}, which declares {len(fields)}: {', '.join(fields)}"
    reached = target_of(emit.task) in _tasks(spec) if emit.task else _consumed(spec)
    when = "" if reached else "unconsumed"
    if reached and not emit.task and len(emit.values) <= _last_grouped(spec):
        when = "grouping"
    elif reached and judge.profile.local:
        when = "local" if judge.profile.kind == "bolt" else "local-spout"
    judge.breach("arity", event, text, when=when, subject=emit.stream, stable=emit.stream)


def _last_grouped(spec: StreamSpec) -> int:
    """The highest index of a field that a consumer groups by, -1 if none does."""
    fields = spec.fields or ()
    grouped = [name for grouping in spec.groupings.values() for name in grouping.get("fields", ())]
    return max((fields.index(name) for name in grouped if name in fields), default=-1)


def _plain_to_direct(judge: RuleContext, event: Event, emit: Emit, spec: StreamSpec) -> None:
    text = f"a plain emit on the direct stream {emit.stream!r}: it needs a task"
    when = "" if _consumed(spec) else "unconsumed"
    judge.breach("plain-to-direct-stream", event, text, when=when, subject=emit.stream, stable=emit.stream)


def check_task(judge: RuleContext, event: Event, emit: Emit) -> None:
    """Report a task that Storm 2.6 and later can't read: it casts an integer of 32 bits, an Integer, to Long."""
    if emit.task is not None and _narrow(emit.task):
        when = "" if emit.task else "zero"
        what = "a direct emit" if emit.task else '"task": 0 in an emit'
        judge.breach("direct-emit", event, f"{what}, which Storm 2.6 and later can't read", when=when, stable=when)


def _narrow(task: int) -> bool:
    return -(2**31) <= task < 2**31


def _direct(judge: RuleContext, event: Event, emit: Emit, spec: StreamSpec, task: int, *, without_tuple: bool) -> None:
    target = target_of(task)
    consumers = _tasks(spec)
    when = "" if _narrow(task) else "wide"
    if target not in consumers:
        if without_tuple and consumers:
            return
        text = f"a direct emit to task {target}, which does not consume the stream {emit.stream!r}"
        when = when if consumers else f"{when}-unconsumed".removeprefix("-")
        judge.breach("direct-task-unknown", event, text, when=when, subject=str(target), stable=emit.stream)
    elif not spec.direct:
        text = f"a direct emit on the stream {emit.stream!r}, which is not declared direct"
        judge.breach("direct-to-plain-stream", event, text, when=when, subject=emit.stream, stable=emit.stream)


_HAZARDS = {
    "scale": ("decimal-value", "a number whose exponent is beyond 32 bits: Storm 2.6 and later can't read it"),
    "nested": ("nested-value", "an object or array among the values"),
    "decimal": ("decimal-value", "a number with so many digits that Storm makes it a BigDecimal (since 2.6)"),
}


def _hazard(judge: RuleContext, event: Event, hazard: str, emit: Emit, *, travels: bool) -> None:
    rule, text = _HAZARDS[hazard]
    when = hazard if hazard == "scale" else "" if travels else "unconsumed"
    effects = judge.rulebook.effects(rule, when)
    if travels and (with_conf := judge.effects_by_conf(hazard, emit.values, effects)) is not effects:
        if all(effect.fate == "survives" for effect in with_conf.values()):
            return
        effects = with_conf
    judge.breach(rule, event, text, when=when, stable=hazard, effects=effects)


def _is_whole(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_metrics(judge: RuleContext, event: Event, message: Metrics) -> None:
    """Judge a metric: only Java code can register one, each kind takes certain values (``ShellBolt.handleMetrics``)."""
    if not message.name:
        judge.breach("metric-name", event, "the metric's name is empty")
        return
    if judge.profile.metrics is None:
        return
    kind = judge.profile.metrics.get(message.name)
    if kind is None or kind == "plain":
        text = f"the metric {message.name!r} must be registered by Java code as an IShellMetric"
        when = "plain" if kind == "plain" else ""
        judge.breach("metric-unregistered", event, text, when=when, subject=message.name, stable=message.name)
    elif kind == "count" and not (message.params is None or _is_whole(message.params)):
        when = "float" if isinstance(message.params, float | Decimal) else ""
        text = f"the count metric {message.name!r} takes null or an integer"
        judge.breach("metric-params", event, text, when=when, subject=message.name, stable=message.name)
