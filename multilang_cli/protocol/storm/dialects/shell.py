"""From a value to the message that Storm acts on: ``JsonSerializer.readShellMsg`` and ``connect``, casts and all."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from multilang_cli.protocol.storm.dialects.java import (
    BOOLEAN,
    LIST,
    LONG,
    NUMBER,
    STRING,
    Dialect,
    JavaError,
    cast,
    int_value,
    json_object,
    null_pointer,
    value_text,
    whole,
    wrap,
)
from multilang_cli.protocol.words.messages import (
    DEFAULT_STREAM,
    Ack,
    Command,
    Emit,
    Error,
    Fail,
    Json,
    Log,
    Metrics,
    Sync,
)

_INT_BITS = 32
_INFO, _LEVELS = 2, 5


class ShellMsg(msgspec.Struct, frozen=True):
    """The fields of Storm's class of this name, each read whatever the command.

    `task` is a 64-bit integer, 0 for none; `level` 0 trace to 4 error, 2 (info) unless a log says otherwise; `values`
    (``tuple`` in JSON) is None if absent, which is not noticed before the emit; an anchor may be None.
    """

    command: str
    id: Json = None
    msg: str | None = None
    stream: str = DEFAULT_STREAM
    task: int = 0
    need_task_ids: bool = True
    anchors: tuple[str | None, ...] = ()
    name: str | None = None
    params: Json = None
    level: int = _INFO
    values: list[Json] | None = None


def shell_msg(value: Json, dialect: Dialect) -> ShellMsg:
    """Read a message after the first, in Storm's order of fields (``JsonSerializer.readShellMsg``).

    Levels are those of 0.9.3 to 2.5 and of 2.8.1 and later; 2.6.0 to 2.8.0 log everything at info.
    Raises JavaError: ClassCastException or NullPointerException.
    """
    if cast(value, json_object(dialect), dialect) is None:
        raise null_pointer(f"{json_object(dialect)}.get(Object)", '"msg"')
    command = cast(value.get("command"), STRING, dialect)
    msg = cast(value.get("msg"), STRING, dialect)
    stream = cast(value.get("stream"), STRING, dialect)
    task = cast(value.get("task"), LONG, dialect)
    need_task_ids = cast(value.get("need_task_ids"), BOOLEAN, dialect)
    values = cast(value.get("tuple"), LIST, dialect)
    anchors = _anchors(value.get("anchors"), dialect)
    if command is None:
        raise null_pointer("String.equals(Object)", '"command"')
    name = value.get("name")
    return ShellMsg(
        command=command,
        id=value.get("id"),
        msg=msg,
        stream=DEFAULT_STREAM if stream is None else stream,
        task=task or 0,
        need_task_ids=need_task_ids is not False,
        values=values,
        anchors=anchors,
        name=name if isinstance(name, str) else None,
        params=value.get("params"),
        level=_level(value.get("level"), dialect) if command == "log" else _INFO,
    )


def _anchors(value: Json, dialect: Dialect) -> tuple[str | None, ...]:
    if value is None or isinstance(value, str):
        return () if value is None else (value,)
    return tuple(cast(anchor, STRING, dialect) for anchor in cast(value, LIST, dialect))


def _level(value: Json, dialect: Dialect) -> int:
    if value is None or isinstance(value, (bool, str, list, dict)) or (dialect != "smart" and isinstance(value, float)):
        return _INFO
    number = int_value(value)
    return number if 0 <= number < _LEVELS else _INFO


def to_command(msg: ShellMsg) -> Command | None:
    """Make it the message that a component meant; None if Storm knows no such command, or if no tuple can arrive.

    A direct task is cut to 32 bits, as ``emitDirect`` gets it. What a bolt surely dies of raises JavaError here: an ack
    or fail whose id is no string (all ids that Storm gave are), a null anchor, metrics without a name.
    """
    match msg.command:
        case "emit":
            return _emit(msg)
        case "ack":
            return Ack(id=_settled(msg, "Acked"))
        case "fail":
            return Fail(id=_settled(msg, "Failed"))
        case "log":
            return Log(msg=msg.msg, level=msg.level)
        case "error":
            return Error(msg=msg.msg)
        case "sync":
            return Sync()
        case "metrics":
            return _metrics(msg)
    return None


def unanchored(msg: ShellMsg) -> Emit | None:
    """The emit that a spout makes of a message that kills a bolt for its null anchor: a spout looks at no anchors."""
    if msg.command != "emit" or None not in msg.anchors:
        return None
    return _emit(msgspec.structs.replace(msg, anchors=tuple(anchor for anchor in msg.anchors if anchor is not None)))


def _emit(msg: ShellMsg) -> Emit | None:
    if None in msg.anchors:
        raise null_pointer("Object.hashCode()", '"key"')
    if msg.values is None:
        return None
    return Emit(
        values=msg.values,
        stream=msg.stream,
        task=wrap(msg.task, _INT_BITS) if msg.task else None,
        anchors=tuple(anchor for anchor in msg.anchors if anchor is not None),
        id=msg.id,
        need_task_ids=msg.need_task_ids,
        hazards=_hazards(msg.values),
    )


def _hazards(values: list[Json]) -> tuple[str, ...]:
    found = {"nested"} if any(isinstance(value, (list, dict)) for value in values) else set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, dict)):
            waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, Decimal):
            found.add("decimal")
    return tuple(sorted(found, reverse=True))


def _settled(msg: ShellMsg, how: str) -> str:
    if msg.id is None:
        raise null_pointer("Object.hashCode()", '"key"')
    if isinstance(msg.id, str):
        return msg.id
    shown = "" if isinstance(msg.id, (list, dict)) else value_text(msg.id)
    raise JavaError("java.lang.RuntimeException", f"{how} a non-existent or already acked/failed id: {shown}")


def _metrics(msg: ShellMsg) -> Metrics:
    if msg.name is None:
        raise null_pointer("String.isEmpty()", '"name"')
    return Metrics(name=msg.name, params=msg.params)


def pid_of(value: Json, dialect: Dialect) -> int | None:
    """Read the first message (``JsonSerializer.connect``): any number is a pid, its fraction cut off; none is None.

    Raises JavaError: ClassCastException or NullPointerException.
    """
    if cast(value, json_object(dialect), dialect) is None:
        reader = '"org.apache.storm.multilang.JsonSerializer.readMessage()"'
        raise null_pointer(f"{json_object(dialect)}.get(Object)", f"the return value of {reader}")
    pid: float | Decimal | None = cast(value.get("pid"), NUMBER, dialect)
    return None if pid is None else whole(pid)
