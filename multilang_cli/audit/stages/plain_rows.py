"""Lines of plain frames become rows together, as ``parsing`` makes each: most lines are such. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.audit.parsing import KEPT_OF_TEXT, LEAST, MOST, MOST_SEQ, compact_json
from multilang_cli.protocol.storm.reading import read_lines
from multilang_cli.protocol.wire.encoding import decode_lines
from multilang_cli.protocol.words.large import LARGEST_DECODED
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Log, SpoutCommand, Sync, TaskIds, TupleMsg
from multilang_cli.transcript.format import BAD, decode_plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from multilang_cli.protocol.words.messages import Message

Row = tuple[Any, ...]
"""The values of an `EventRow`, in the order of its fields."""


class _OddError(Exception):
    """A message needs a look of its own."""


def plain_rows(texts: Sequence[bytes]) -> list[Row] | None:
    """The rows of lines; None unless all are of plain frames with nothing odd about them."""
    data = b"\n".join(texts)
    # Values that are kept as JSON are in longer ones.
    if len(data) > LARGEST_DECODED:
        return None
    try:
        lines = decode_plain_lines(data)
    except BAD:
        return None
    if len(lines) != len(texts) or not all(line.conv and line.seq <= MOST_SEQ for line in lines):
        return None
    told = b"\n".join([line.msg for line in lines if line.ch == "in"])
    said = b"\n".join([line.msg for line in lines if line.ch == "out"])
    of: dict[str, Iterator[Message]] = {
        "in": iter(decode_lines(told) if told else ()),
        "out": iter(read_lines(said) if said else ()),
    }
    try:
        return [(line.conv, line.seq, line.t, line.ch, *_columns(next(of[line.ch])), len(line.msg)) for line in lines]
    except (_OddError, StopIteration, UnicodeEncodeError, RecursionError):
        return None


def _columns(message: Message) -> Row:
    """The values from `kind` to `says`. Raises _OddError."""
    columns = _COLUMNS.get(message.__class__)
    if columns is None:
        raise _OddError
    return columns(message)


def _of_tuple(told: TupleMsg) -> Row:
    kind = "heartbeat" if told.is_heartbeat else "tick" if told.is_tick else "tuple"
    task = told.task
    if not LEAST <= task <= MOST:
        raise _OddError
    return kind, told.id, told.comp, told.stream, task, None, None, None, compact_json(told.values).decode(), None


def _of_task_ids(told: TaskIds) -> Row:
    tasks = told.tasks
    if tasks and not (min(tasks) >= LEAST and max(tasks) <= MOST):
        raise _OddError
    return "task-ids", None, None, None, None, None, tuple(tasks), None, None, None


def _of_command(told: SpoutCommand) -> Row:
    name = compact_json(told.id).decode() if told.command in {"ack", "fail"} else None
    return told.command, name, None, None, None, None, None, None, None, None


def _of_emit(said: Emit) -> Row:
    task = said.task
    if task is not None and not LEAST <= task <= MOST:
        raise _OddError
    name = None if said.id is None else compact_json(said.id).decode()
    values = compact_json(said.values).decode()
    return "emit", name, None, said.stream, task, said.anchors, None, said.wants_task_ids, values, None


def _of_log(said: Log) -> Row:
    text = None if said.msg is None else said.msg[:KEPT_OF_TEXT]
    return "log", None, None, None, None, None, None, None, None, text


_COLUMNS: dict[type, Callable[[Any], Row]] = {
    TupleMsg: _of_tuple,
    TaskIds: _of_task_ids,
    SpoutCommand: _of_command,
    Emit: _of_emit,
    Ack: lambda said: ("ack", said.id, None, None, None, None, None, None, None, None),
    Fail: lambda said: ("fail", said.id, None, None, None, None, None, None, None, None),
    Log: _of_log,
    Sync: lambda _: ("sync", None, None, None, None, None, None, None, None, None),
}
