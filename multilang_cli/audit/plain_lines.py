"""Lines of transcripts that have nothing odd about them, read together: columns in place of a row for each.

What `parse` gives for each of them is what stands here, or nothing does: a line with an escaped half of a character,
a number with a fraction, a key that is unknown or stands twice is not plain, and the lines with it are read one by one.
"""

from __future__ import annotations

import re
from operator import attrgetter, lt
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import astuple

from multilang_cli.audit.parsing import LEAST, LONGEST, MOST, MOST_SEQ
from multilang_cli.protocol.wire.encoding import COMMANDS
from multilang_cli.protocol.wire.shapes import LOG_LEVELS
from multilang_cli.protocol.words.messages import (
    DEFAULT_STREAM,
    HEARTBEAT_STREAM,
    SYSTEM_COMPONENT,
    SYSTEM_TASK,
    TICK_STREAM,
)
from multilang_cli.transcript.format import FRAMES, decode_line

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = (
    "conv", "seq", "t", "ch", "kind", "id", "comp", "stream", "task", "anchors", "tasks", "asks", "values", "says",
    "size",
)  # fmt: skip
"""Columns, in the order of ``EventRow``."""
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Int32 = Annotated[int, msgspec.Meta(ge=LEAST, le=MOST)]
_ABSENT: Any = 0
_TASK_IDS: Any = "[]"


class _Said(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message of either side. What is null, where null says something, is not plain; `comp` of a heartbeat is."""

    command: str = None  # type: ignore[assignment]
    id: str | _Int64 = None  # type: ignore[assignment]
    comp: str | None = _ABSENT
    stream: str = None  # type: ignore[assignment]
    task: _Int32 = None  # type: ignore[assignment]
    tuple: list[str | _Int64 | bool | None] = None  # type: ignore[assignment]
    anchors: list[str] = None  # type: ignore[assignment]
    need_task_ids: bool = None  # type: ignore[assignment]
    msg: str = None  # type: ignore[assignment]
    level: int = None  # type: ignore[assignment]


_KEYS = len(_Said.__struct_fields__)
_TASKS = _Said(command=_TASK_IDS)
_decode = msgspec.json.Decoder(_Said | list[_Int32]).decode
_json = msgspec.json.Encoder().encode
_ODD = re.compile(rb'[ \t\r\n]:|\\u[dD][89a-fA-F]|"pid"|\x7f')
"""A space before a colon, half of a character, what may be a pid, and DEL."""
_BAD = (msgspec.MsgspecError, UnicodeDecodeError, UnicodeEncodeError, RecursionError)
_envelope = attrgetter("conv", "seq", "t", "ch", "msg", "raw64", "transcript", "end")
_EMPTY_EMIT = {"command", "tuple"}
_EMITS = {"id", "stream", "task", "anchors", "need_task_ids"}


class PlainLines(NamedTuple):
    """Columns of events, each as long as there are lines; `rising`: their numbers are, one by one."""

    columns: dict[str, list[Any]]
    rising: bool


def plain_lines(texts: list[bytes]) -> PlainLines | None:
    """The events of lines that are all plain; None if one may not be."""
    try:
        lines = zip(*map(_envelope, map(decode_line, texts)), strict=True)
        convs, seqs, ts, chs, msgs, *others = map(list, lines)
        if any(each.count(None) != len(texts) for each in others) or not all(convs) or not FRAMES.issuperset(chs):
            return None
        if min(seqs) < 0 or max(seqs) > MOST_SEQ or min(ts) < 0:
            return None
        said = list(map(_decode, msgs))
        columns = _columns(chs, said, b"\n".join(msgs))
    except _BAD:
        return None
    if columns is None:
        return None
    columns |= {"conv": convs, "seq": seqs, "t": ts, "ch": chs, "size": list(map(len, msgs))}
    return PlainLines(columns, all(map(lt, seqs, seqs[1:])))


def _columns(chs: list[str], said: list[_Said | list[int]], run: bytes) -> dict[str, list[Any]] | None:
    if _ODD.search(run):
        return None
    tasks = [each if each.__class__ is list else None for each in said]
    rows = list(map(astuple, [each if each.__class__ is _Said else _TASKS for each in said]))
    kinds = [_kind(ch, row) for ch, row in zip(chs, rows, strict=True)]
    if None in kinds or run.count(b'":') != _keys(rows, len(rows) - tasks.count(None)):
        return None
    _, ids, comps, streams, task, values, anchors, asks, says, _ = map(list, zip(*rows, strict=True))
    found = {"kind": kinds, "id": ids, "comp": comps, "stream": streams, "task": task, "anchors": anchors,
             "tasks": tasks, "asks": asks, "says": says}  # fmt: skip
    found["values"] = [None if each is None else _json(each) for each in values]
    found["comp"] = [None if each.__class__ is int else each for each in comps]
    for at, (kind, ch) in enumerate(zip(kinds, chs, strict=True)):
        if kind == "emit":
            ids[at] = None if ids[at] is None else _json(ids[at])
            streams[at] = DEFAULT_STREAM if streams[at] is None else streams[at]
            anchors[at] = anchors[at] or ()
            asks[at] = asks[at] is not False and not task[at]
        elif kind == "log":
            says[at] = says[at][:LONGEST]
        elif ch == "in" and kind in COMMANDS:
            ids[at] = _json(ids[at] or "" if ids[at] != 0 else 0) if kind in {"ack", "fail"} else None
    return found


def _keys(rows: Iterable[tuple[Any, ...]], replies: int) -> int:
    """How many keys so many rows have, those of task ids not counted, if none stands twice."""
    columns = list(zip(*rows, strict=True))
    absent = sum(column.count(None) for column in (*columns[:2], *columns[3:]))
    # Absent is 0 there, null is None.
    return _KEYS * len(columns[0]) - absent - columns[2].count(_ABSENT) - replies


_KNOWN: dict[tuple[Any, ...], str | None] = {}
_MOST_KNOWN = 10_000


def _kind(ch: str, row: tuple[Any, ...]) -> str | None:
    """The kind of a message; None if it is not plain. What it depends on is its shape, and of these there are few."""
    stream, task, comp, level = row[3], row[4], row[2], row[9]
    special = stream in {HEARTBEAT_STREAM, TICK_STREAM}
    shape = (ch, row[0], *map(type, row), level, (stream, task, comp) if special else None)
    try:
        return _KNOWN[shape]
    except KeyError:
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
        return _KNOWN.setdefault(shape, _found_kind(ch, row))


def _found_kind(ch: str, row: tuple[Any, ...]) -> str | None:
    said = _Said(*row)
    if said.command is _TASK_IDS:
        return "task-ids" if ch == "in" else None
    keys = {name for name, value in zip(said.__struct_fields__, row, strict=True) if value is not None}
    if said.comp is _ABSENT:
        keys -= {"comp"}
    elif said.comp is None:
        keys |= {"comp"}
    return _from_storm(said, keys) if ch == "in" else _from_component(said, keys)


def _from_storm(said: _Said, keys: set[str]) -> str | None:
    if keys == {"id", "comp", "stream", "task", "tuple"} and isinstance(said.id, str):
        if said.stream == HEARTBEAT_STREAM and said.task == SYSTEM_TASK:
            return "heartbeat"
        return "tick" if said.stream == TICK_STREAM and said.comp == SYSTEM_COMPONENT else "tuple"
    return said.command if said.command in COMMANDS and keys <= {"command", "id"} else None


def _from_component(said: _Said, keys: set[str]) -> str | None:
    match said.command:
        case "emit":
            return "emit" if _EMPTY_EMIT <= keys <= _EMPTY_EMIT | _EMITS else None
        case "ack" | "fail":
            return said.command if keys == {"command", "id"} and isinstance(said.id, str) else None
        case "sync":
            return "sync" if keys == {"command"} else None
        case "log":
            levels = "level" not in keys or said.level in LOG_LEVELS
            return "log" if levels and {"command", "msg"} <= keys <= {"command", "msg", "level"} else None
    return None
