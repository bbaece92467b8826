"""From a JSON object to a message, field by field, in the order of ``JsonSerializer.readShellMsg``.

Storm reads every field of every message, whatever its command, so a `sync` whose "task" is a string kills the worker.
"""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.words.messages import (
    DEFAULT_STREAM,
    Ack,
    Emit,
    Error,
    Fail,
    FromComponent,
    Json,
    Log,
    Metrics,
    Pid,
    Sync,
)
from multilang_cli.protocol.words.shortening import head

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = {
    "emit": ("command", "tuple", "stream", "anchors", "id", "task", "need_task_ids"),
    "ack": ("command", "id"),
    "fail": ("command", "id"),
    "log": ("command", "msg", "level"),
    "sync": ("command",),
    "error": ("command", "msg"),
    "metrics": ("command", "name", "params"),
}
"""What Storm reads of each command (``JsonSerializer.readShellMsg``); any other key it does not look at."""
COMMANDS = tuple(KEYS)
_ALL_KEYS = frozenset({"pid"}.union(*KEYS.values()))
LOG_LEVELS = range(5)
_LONGEST_QUOTED = 200
_SHOWN_OF_NAME = 40
_MOST_DIGITS = 20
"""Digits of a text that is taken for the number that it says."""
_LETTERS_SHARED = 0.8
"""Part of the letters of a key that another shares in their order, where it may be that key misspelt."""
_MISSPELT = {
    "anchor": "anchors",
    "anchorid": "anchors",
    "anchorids": "anchors",
    "anchors": "anchors",
    "streamid": "stream",
    "stream": "stream",
    "needtaskid": "need_task_ids",
    "needtaskids": "need_task_ids",
}
"""Keys that are none of Storm's, without case and underscores, and what is meant; `tasks` may be somebody's own."""
_MOST_KEYS = 64
"""Keys of a message in which these are looked for."""
INT64 = range(-(2**63), 2**63)


class ShapeFault(NamedTuple):
    """A fault that makes an object no message: the rule, the field it is about, one sentence, and what was meant."""

    kind: str
    field: str
    detail: str
    salvage: tuple[FromComponent, ...] = ()


def is_integer(value: Json) -> bool:
    """True for a JSON integer as Storm sees one: 1.0 and true are none."""
    return type(value) is int


def pid_of(fields: dict[str, Any]) -> Pid | ShapeFault:
    """The first message of a component (``JsonSerializer.connect``)."""
    if "command" in fields and "pid" not in fields:
        meant = message_of(fields)
        salvage = meant.salvage if isinstance(meant, ShapeFault) else (meant,)
        detail = "the first message is a command; Storm takes it for the answer to its handshake"
        return ShapeFault("pid-not-first", "command", detail, salvage)
    if fields.get("pid") is None:
        return ShapeFault("pid-missing", "pid", 'the first message has no "pid"')
    pid = fields["pid"]
    if not is_integer(pid):
        digits = str(pid)
        salvage = (Pid(int(digits)),) if digits.isascii() and _is_number(digits) else ()
        return ShapeFault("pid-type", "pid", f"the pid is {_named(pid)}, not an integer", salvage)
    return Pid(pid)


def _is_number(text: str) -> bool:
    """True for the digits of a number that one could mean; Python makes none of thousands."""
    return len(text) <= _MOST_DIGITS and text.isdecimal()


def message_of(fields: dict[str, Any]) -> FromComponent | ShapeFault:
    """A message after the first."""
    command = fields.get("command")
    if command is None:
        return _without_command(fields)
    if not isinstance(command, str):
        return ShapeFault("command-type", "command", f"the command is {_named(command)}, not a string")
    fault = _common_fault(fields)
    if fault is None and command in COMMANDS:
        built = _with_no_stray_task(command, fields, _BUILDERS[command](fields))
        return built if isinstance(built, ShapeFault) else _with_no_misspelt_key(command, fields, built)
    if fault is None:
        return _unknown_command(command, fields)
    return fault._replace(salvage=_salvaged(command, fields))


def _without_command(fields: dict[str, Any]) -> ShapeFault:
    if is_integer(fields.get("pid")):
        detail = "a pid message, but Storm took an earlier message for the answer to its handshake"
        return ShapeFault("command-missing", "command", detail, (Pid(fields["pid"]),))
    near = next((key for key in fields if key.strip().lower() == "command" and isinstance(fields[key], str)), None)
    near = near or _misspelt(fields)
    if near is None:
        return ShapeFault("command-missing", "command", 'there is no "command"')
    return ShapeFault(
        "command-missing", "command", f'the key is {_quoted(near)}, not "command"', _salvaged(fields[near], fields)
    )


def _misspelt(fields: dict[str, Any]) -> str | None:
    """The key that names a command and is spelt much like "command"; None if there is none."""
    named = [key for key, value in fields.items() if isinstance(value, str) and value in COMMANDS]
    found = difflib.get_close_matches(
        "command", (key for key in named if len(key) < _SHOWN_OF_NAME), 1, _LETTERS_SHARED
    )
    return found[0] if found else None


def _with_no_stray_task(
    command: str, fields: dict[str, Any], built: FromComponent | ShapeFault
) -> FromComponent | ShapeFault:
    """`built`, unless it is no emit and has a task: Storm 2.6 and later die of casting it, whatever the command."""
    if command == "emit" or fields.get("task") is None or isinstance(built, ShapeFault):
        return built
    return ShapeFault("task-elsewhere", "task", f"a task on a message that is no emit: {command}", (built,))


def _with_no_misspelt_key(command: str, fields: dict[str, Any], built: FromComponent) -> FromComponent | ShapeFault:
    """`built`, unless a key that Storm does not know says something, and stands for one that is missing."""
    for key, value in fields.items() if len(fields) <= _MOST_KEYS else ():
        if (
            key in _ALL_KEYS
            or len(key) >= _SHOWN_OF_NAME
            or not isinstance(value, str | list | bool)
            or value in ("", [])
        ):
            continue
        meant = _MISSPELT.get(key.strip().lower().replace("_", ""), "")
        if meant in KEYS[command] and meant not in fields:
            detail = f"{key!r} in {'an' if command[0] in 'ae' else 'a'} {command}, where Storm reads {meant!r}"
            return ShapeFault("key-misspelt", key, detail, (built,))
    return built


def _unknown_command(command: str, fields: dict[str, Any]) -> ShapeFault:
    # Of a long text, nearness takes forty times its size.
    said = command.strip().lower()
    near = difflib.get_close_matches(said, COMMANDS, n=1, cutoff=0.6) if len(said) < _SHOWN_OF_NAME else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    salvage = _salvaged(near[0], fields) if near else ()
    return ShapeFault("command-unknown", "command", f"the command {_quoted(command)} is not known{hint}", salvage)


def _common_fault(fields: dict[str, Any]) -> ShapeFault | None:
    get = fields.get
    if not isinstance(get("msg"), str | None):
        return ShapeFault("msg-type", "msg", f"msg is {_named(get('msg'))}, not a string")
    if not isinstance(get("stream"), str | None):
        return ShapeFault("stream-type", "stream", f"stream is {_named(get('stream'))}, not a string")
    if get("task") is not None and not is_integer(get("task")):
        return ShapeFault("task-type", "task", f"task is {_named(get('task'))}, not an integer")
    if not isinstance(get("need_task_ids"), bool | None):
        detail = f"need_task_ids is {_named(get('need_task_ids'))}, not true or false"
        return ShapeFault("need-task-ids-type", "need_task_ids", detail)
    if not isinstance(get("tuple"), list | None):
        return ShapeFault("tuple-type", "tuple", f"tuple is {_named(get('tuple'))}, not an array")
    anchors = get("anchors")
    if not (anchors is None or isinstance(anchors, str) or _all_strings(anchors)):
        return ShapeFault("anchors-type", "anchors", _unlike_anchors(anchors))
    return None


def _unlike_anchors(anchors: Json) -> str:
    if isinstance(anchors, list):
        return f"anchors holds {_named(next(each for each in anchors if not isinstance(each, str)))}, not only strings"
    return f"anchors is {_named(anchors)}, not an array of tuple ids"


def _all_strings(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _salvaged(command: str, fields: dict[str, Any]) -> tuple[FromComponent, ...]:
    """Fields as they were probably meant, where one is wrong: the wrong ones are dropped or turned into text."""
    builder = _BUILDERS.get(command)
    if builder is None:
        return ()
    sound = dict(fields)
    for _ in range(8):
        fault = _common_fault(sound)
        if fault is None:
            break
        wrong = sound.pop(fault.field)
        if fault.field == "msg":
            sound["msg"] = _written(wrong)
        elif fault.field == "tuple":
            sound["tuple"] = [wrong]
        elif fault.field == "task" and isinstance(wrong, str | float) and _is_number(str(wrong)):
            sound["task"] = int(wrong)
        elif fault.field == "anchors" and isinstance(wrong, list):
            sound["anchors"] = [_written(item) for item in wrong if item is not None]
    built = builder(sound)
    return built.salvage if isinstance(built, ShapeFault) else (built,)


def _emit(fields: dict[str, Any]) -> Emit | ShapeFault:
    anchors = fields.get("anchors")
    wants = fields.get("need_task_ids")
    values = fields.get("tuple")
    emit = Emit(
        values=values if values is not None else [],
        stream=DEFAULT_STREAM if fields.get("stream") is None else fields["stream"],
        task=fields.get("task"),
        anchors=(anchors,) if isinstance(anchors, str) else tuple(anchors or ()),
        id=fields.get("id"),
        need_task_ids=wants is None or wants,
    )
    if values is None:
        lists = [key for key, value in fields.items() if isinstance(value, list) and key not in _ALL_KEYS]
        if len(lists) != 1 or "tuple" in fields:
            return ShapeFault(
                "tuple-missing", "tuple", f"an emit {'whose tuple is null' if 'tuple' in fields else 'without a tuple'}"
            )
        under = f"a list stands under the key {head(ascii(lists[0][:_SHOWN_OF_NAME]), _SHOWN_OF_NAME)}"
        return ShapeFault("tuple-missing", lists[0], f"an emit without a tuple; {under}")
    if emit.task is not None and emit.task not in range(-(2**31), 2**31):
        return ShapeFault("direct-task-range", "task", f"task {emit.task} does not fit 32 bits", (emit,))
    if isinstance(emit.id, bool | list | dict):
        detail = f"the message id is {_named(emit.id)}, not a string or number"
        return ShapeFault("message-id-type", "id", detail, (emit,))
    return emit


def _settle(kind: type[Ack | Fail], fields: dict[str, Any]) -> Ack | Fail | ShapeFault:
    id_ = fields.get("id")
    word = kind.__name__.lower()
    if id_ is None:
        return ShapeFault("settle-id-missing", "id", f"{word} without an id")
    if not isinstance(id_, str):
        meant = id_[0] if isinstance(id_, list) and len(id_) == 1 else id_
        return ShapeFault("settle-id-type", "id", f"the id is {_named(id_)}, not a string", (kind(_written(meant)),))
    return kind(id_)


def _log(fields: dict[str, Any]) -> Log | ShapeFault:
    level = fields.get("level")
    message = Log(fields.get("msg"), level if is_integer(level) else None)
    if message.msg is None:
        return ShapeFault("msg-missing", "msg", "log without a msg", (message,))
    if level is not None and not (is_integer(level) and level in LOG_LEVELS):
        return ShapeFault("log-level", "level", f"the level is {_named(level)}, not 0 to 4", (message,))
    return message


def _error(fields: dict[str, Any]) -> Error | ShapeFault:
    message = Error(fields.get("msg"))
    if message.msg is None:
        return ShapeFault("msg-missing", "msg", "error without a msg", (message,))
    return message


def _metrics(fields: dict[str, Any]) -> Metrics | ShapeFault:
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        return ShapeFault("metric-name", "name", f"the metric's name is {_named(name)}")
    return Metrics(name, fields.get("params"))


_BUILDERS: dict[str, Callable[[dict[str, Any]], FromComponent | ShapeFault]] = {
    "emit": _emit,
    "ack": lambda fields: _settle(Ack, fields),
    "fail": lambda fields: _settle(Fail, fields),
    "log": _log,
    "sync": lambda _: Sync(),
    "error": _error,
    "metrics": _metrics,
}


def _written(value: Json) -> str:
    """A value as text: a string as it is, all else as it was written."""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, bool | list | dict) else str(value)


def _named(value: Json) -> str:
    """A value for a sentence: short, escaped, with the JSON type where that is what is wrong."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return f"the string {head(ascii(value[:_SHOWN_OF_NAME]), _SHOWN_OF_NAME)}"
    return f"the number {head(ascii(value), _SHOWN_OF_NAME)}"


def _quoted(name: str) -> str:
    """A name as Python writes it, the beginning of a long one."""
    return head(repr(name[:_LONGEST_QUOTED]), _LONGEST_QUOTED)
