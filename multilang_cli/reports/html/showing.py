"""Events as they are shown on a page: its kind, a few words, and its text, bounded and escaped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words import events, messages
from multilang_cli.reports.escape import decode, escape, escape_json, escape_lines
from multilang_cli.reports.event_sentences import sentence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.protocol.words.events import Event

SHOWN_OF_MESSAGE = 2048
"""Bytes of one message that are shown; of a longer one, its middle is left out."""
_TAIL = SHOWN_OF_MESSAGE // 4
LABEL_LENGTH = 120
"""Characters of the words on an event."""
_OF_STORM = frozenset({messages.HEARTBEAT_STREAM, messages.TICK_STREAM})
_SOME = 6
_MOST_CONTINUATION_BYTES = 3
_GOES_ON = 0b10
_TRACEBACK = b"Traceback (most recent call last)"


class ShownEvent(NamedTuple):
    """An event as a page shows it."""

    kind: str
    head: str
    text: str


def shown(event: Event) -> ShownEvent:
    """The words of `event`."""
    body = event.body
    tell = _HEADS.get(body.__class__)
    if tell is None:
        kind, head = _KINDS.get(body.__class__, ""), sentence_of(body)
        return ShownEvent(kind or body.__class__.__name__.lower(), short(head), "")
    [kind], head = kinds_of((body,)), tell(body)
    if isinstance(body, events.Chunk):
        return ShownEvent(kind, short(_telling_line(event.raw)), escape_lines(bounded(event.raw)))
    text = bounded(frame_text(event.raw))
    return ShownEvent(kind, short(head), escape(text) if kind == "malformed" else escape_json(text))


def kinds_of(bodies: Sequence[Any]) -> list[str]:
    """The kinds of messages."""
    return [_SAME.get(body.__class__) or _BY_MESSAGE[body.__class__](body) for body in bodies]


def bounded(raw: bytes) -> str:
    """The text in `raw`, its middle left out where it is long."""
    if len(raw) <= SHOWN_OF_MESSAGE:
        return decode(raw)
    begin, end = _character(raw, SHOWN_OF_MESSAGE - _TAIL), _character(raw, len(raw) - _TAIL)
    return f"{decode(raw[:begin])}...({end - begin} bytes left out)...{decode(raw[end:])}"


def short(text: str) -> str:
    """A few words in one line, escaped; cut at the end where they are too many."""
    return escape(text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 3]}...")


def name_of_id(id_: Any) -> str:
    """A message id, any JSON value, in a few characters: as JSON has it."""
    return json.dumps(id_, ensure_ascii=False)[:LABEL_LENGTH]


def _character(raw: bytes, at: int) -> int:
    """The place where the character of UTF-8 begins that the byte `at` is a part of."""
    before = at
    while before > at - _MOST_CONTINUATION_BYTES and raw[before] >> 6 == _GOES_ON:
        before -= 1
    return before


def _telling_line(raw: bytes) -> str:
    """The first line of what stood on stderr; of a Python traceback the last, which says what went wrong."""
    if raw.startswith(_TRACEBACK):
        return decode(raw.rstrip()[-LABEL_LENGTH * 4 :].split(b"\n")[-1])
    return decode(raw[: LABEL_LENGTH * 4].strip(b"\r\n").split(b"\n")[0])


def _kind_of_tuple(message: messages.TupleMsg) -> str:
    if message.stream not in _OF_STORM:
        return "tuple"
    return "heartbeat" if message.is_heartbeat else "tick" if message.is_tick else "tuple"


def _tuple(message: messages.TupleMsg) -> str:
    kind = _kind_of_tuple(message)
    return f"{kind} {message.id}" + (f" of {message.comp}:{message.stream}" if kind == "tuple" else "")


def _emit(message: messages.Emit) -> str:
    parts = [f"emit to {message.stream}"]
    if message.task:
        parts.append(f"direct to task {message.task}")
    if message.id is not None:
        parts.append(f"id {name_of_id(message.id)}")
    if message.anchors:
        parts.append(f"anchored to {_some(message.anchors)}")
    return ", ".join(parts)


def _some(items: Any) -> str:
    shown_items = ", ".join(map(str, items[:_SOME]))
    return f"{shown_items} and {len(items) - _SOME} more" if len(items) > _SOME else shown_items


def _command(message: messages.SpoutCommand) -> str:
    return f"{message.command} {name_of_id(message.id)}" if message.command in {"ack", "fail"} else message.command


_SAME: dict[type, str] = {
    messages.Handshake: "handshake",
    messages.TaskIds: "task_ids",
    messages.Pid: "pid",
    messages.Emit: "emit",
    messages.Ack: "ack",
    messages.Fail: "fail",
    messages.Log: "log",
    messages.Sync: "sync",
    messages.Error: "error",
    messages.Metrics: "metrics",
    messages.Malformed: "malformed",
    events.Chunk: "stderr",
}
"""Kinds that are the same for all messages of a class."""

_BY_MESSAGE: dict[type, Callable[[Any], str]] = {
    messages.TupleMsg: _kind_of_tuple,
    messages.SpoutCommand: lambda message: short(message.command),
}
"""Those of others."""

_HEADS: dict[type, Callable[[Any], str]] = {
    messages.Handshake: lambda message: f"handshake, conf of {len(message.conf)} keys",
    messages.TupleMsg: _tuple,
    messages.TaskIds: lambda message: f"task ids {_some(message.tasks)}",
    messages.SpoutCommand: _command,
    messages.Pid: lambda message: f"pid {message.pid}",
    messages.Emit: _emit,
    messages.Ack: lambda message: f"ack {message.id}",
    messages.Fail: lambda message: f"fail {message.id}",
    messages.Log: lambda message: f"log: {message.msg}",
    messages.Sync: lambda _: "sync",
    messages.Error: lambda message: f"error: {message.msg}",
    messages.Metrics: lambda message: f"metric {message.name}",
    messages.Malformed: lambda message: f"{message.kind}: {message.detail}",
    events.Chunk: lambda _: "",
}
"""A few words on each message."""

_KINDS: dict[type, str] = {
    events.Exited: "exit",
    events.PidChecked: "pid-checked",
    events.StdinClosed: "stdin-closed",
    events.StdoutClosed: "stdout-closed",
    events.WriteFailed: "write-failed",
}
"""Kinds that are not the name of the fact."""
