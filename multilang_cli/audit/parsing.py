"""One line of a transcript becomes one row, or a reason why it is none. Pure; runs on Spark's executors.

It tells what a message is, and leaves to the judge whether it is right: an emit with a surplus key is an emit here.
"""

from __future__ import annotations

from base64 import b64decode
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.storm.reading import read as read_text
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Frame, frame_text
from multilang_cli.protocol.words.events import Activation, Deadline, Exited, Gap, Started
from multilang_cli.protocol.words.large import LargeValues
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Handshake,
    Log,
    Malformed,
    Metrics,
    Pid,
    SpoutCommand,
    Sync,
    TaskIds,
    TupleMsg,
)
from multilang_cli.transcript.format import (
    CHANNELS,
    FRAMES,
    EventLine,
    TranscriptError,
    check_version,
    decode_fact,
    decode_header,
    decode_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = (
    "handshake", "pid", "tuple", "heartbeat", "tick", "task-ids", "next", "activate", "deactivate", "emit", "ack",
    "fail", "log", "error", "sync", "metrics", "malformed", "stderr",
)  # fmt: skip
"""What an event may be, besides what happens to the process (``exited``...) and what the recorder knows (``gap``)."""

KEPT_OF_TEXT = 1024
"""Characters of a text that are kept."""
SHOWN_OF_REASON = 200
TIMEOUT = 30.0
"""Seconds of ``topology.message.timeout.secs``, unless the topology says otherwise (``defaults.yaml``)."""
_BAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
_json = msgspec.json.Encoder().encode
_ESCAPE = b"\\u"
LEAST, MOST = -(2**31), 2**31 - 1
"""What a column holds of tasks and parts."""
MOST_SEQ = 2**63 - 1
FAULT = b"\0"
"""How a line begins that no file holds: it says why what comes behind it could not be read."""


class EventRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row of the table events, less its place and raw line. None is null."""

    conv: str
    seq: int
    t: float
    ch: str
    kind: str
    id: str | None = None
    comp: str | None = None
    stream: str | None = None
    task: int | None = None
    anchors: tuple[str, ...] | None = None
    tasks: tuple[int, ...] | None = None
    asks: bool | None = None
    values: str | None = None
    says: str | None = None
    size: int = 0


_SAID = EventRow.__struct_fields__[4:14]
_TASK, _TASKS = _SAID.index("task"), _SAID.index("tasks")
Said = tuple[Any, ...]
"""What a message says: the values of a row from `kind` to `says`."""


class HeaderRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table conversations, less its place and raw line."""

    conv: str
    part: int
    storm: str
    kind: str
    component: str
    task: int
    worker: str
    host: str
    topology: str
    started: float | None
    timeout: float


class EndRow(msgspec.Struct, frozen=True):
    """A part was closed. `counted`: events that it tells of; where fewer are there, the last were lost on their way."""

    conv: str
    counted: int


class Quarantined(msgspec.Struct, frozen=True):
    """A line that is neither, and why."""

    reason: str


def parse(line: bytes) -> EventRow | HeaderRow | EndRow | Quarantined:
    """Parse a line. Never raises."""
    if line.startswith(FAULT):
        return Quarantined(line[len(FAULT) :].decode("utf-8", "replace")[:SHOWN_OF_REASON])
    try:
        found = decode_line(line)
        if found.transcript is not None:
            return _header(line, found.transcript)
        if found.end is not None:
            return EndRow(found.conv, sum(found.end.events.values()))
        return _event(found)
    except _BAD as error:
        return Quarantined(f"it can't be read: {str(error)[:SHOWN_OF_REASON]}")


def _header(line: bytes, version: str) -> HeaderRow | Quarantined:
    why = check_version(version)
    if why:
        return Quarantined(why)
    try:
        header = decode_header(line)
    except TranscriptError as error:
        return Quarantined(error.why)
    profile = header.profile
    task = profile.task if header.task is None else header.task
    if not LEAST <= task <= MOST or not LEAST <= header.part <= MOST:
        return Quarantined("its task or its part is no number that Storm could have")
    return HeaderRow(
        conv=header.conv,
        part=header.part,
        storm=header.storm or profile.storm,
        kind=profile.kind,
        component=header.component or profile.component,
        task=task,
        worker=header.worker,
        host=header.host,
        topology=header.topology,
        started=_seconds(header.started_at),
        timeout=_timeout(profile.conf.get("topology.message.timeout.secs")),
    )


def _timeout(setting: object) -> float:
    return float(setting) if isinstance(setting, int | float) and setting > 0 else TIMEOUT


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _event(line: EventLine) -> EventRow | Quarantined:
    if not line.conv or not 0 <= line.seq <= MOST_SEQ or line.t < 0 or line.ch not in CHANNELS:
        return Quarantined("it is JSON, but no line of a transcript")
    if line.ch == "err":
        size = len(b64decode(line.raw64 or "", validate=True))
        return EventRow(conv=line.conv, seq=line.seq, t=line.t, ch=line.ch, kind="stderr", size=size)
    if line.ch not in FRAMES:
        return EventRow(conv=line.conv, seq=line.seq, t=line.t, ch=line.ch, **_fact(line))
    text = bytes(line.msg) if line.raw64 is None else frame_text(b64decode(line.raw64, validate=True))
    said = _said_by_storm(text) if line.ch == "in" else _said_by_component(line, text)
    fields = dict(zip(_SAID, said, strict=True))
    if _ESCAPE in text:
        fields = wire.repaired(fields)
    if not fits(said):
        fields |= {"task": None, "tasks": None}
    return EventRow(conv=line.conv, seq=line.seq, t=line.t, ch=line.ch, size=len(text), **fields)


def fits(said: Said) -> bool:
    """True if its tasks are such as Storm could have, and columns hold."""
    task, tasks = said[_TASK], said[_TASKS]
    if task is not None and not LEAST <= task <= MOST:
        return False
    return not tasks or (min(tasks) >= LEAST and max(tasks) <= MOST)


def _fact(line: EventLine) -> dict[str, Any]:
    fact = decode_fact(line.msg)
    kind = fact.__struct_config__.tag
    says: str | None = None
    match fact:
        case Exited():
            says = f"signal {fact.signal}" if fact.signal is not None else f"code {fact.code}"
        case Deadline():
            says = fact.waiting_for
        case Gap():
            says = fact.why
        case Started():
            says = str(fact.pid)
        case Activation():
            says = "active" if fact.active else "inactive"
    return {"kind": kind, "says": says if says is None else says[:KEPT_OF_TEXT]}


def _said_by_storm(text: bytes) -> Said:
    message = wire.decode(text)
    return _MALFORMED if isinstance(message, Malformed) else COLUMNS[type(message)](message)


def _said_by_component(line: EventLine, text: bytes) -> Said:
    # Only the first message is a pid, and only it has such a key: asking for one needs no memory of what came before.
    expecting_pid = b'"pid"' in text and b'"command"' not in text
    if line.raw64 is None:
        message = read_text(text, expecting_pid=expecting_pid)
    else:
        message = read_frame(Frame(0, b64decode(line.raw64), "", line.fault), expecting_pid=expecting_pid)
    meant = message.salvage[0] if isinstance(message, Malformed) and len(message.salvage) == 1 else message
    return _saying("malformed", meant.detail) if isinstance(meant, Malformed) else COLUMNS[type(meant)](meant)


def _of_tuple(told: TupleMsg) -> Said:
    kind = "heartbeat" if told.is_heartbeat else "tick" if told.is_tick else "tuple"
    return kind, told.id, told.comp, told.stream, told.task, None, None, None, _text(told.values), None


def _of_command(told: SpoutCommand) -> Said:
    return _of(told.command, _text(told.id) if told.command in {"ack", "fail"} else None)


def _of_emit(said: Emit) -> Said:
    name = None if said.id is None else _text(said.id)
    values = _text(said.values)
    return "emit", name, None, said.stream, said.task, said.anchors, None, said.wants_task_ids, values, None


def _of(kind: str, name: str | None = None) -> Said:
    return kind, name, None, None, None, None, None, None, None, None


def _saying(kind: str, text: str | None) -> Said:
    says = None if text is None else text[:KEPT_OF_TEXT]
    return kind, None, None, None, None, None, None, None, None, says


def _text(value: Any) -> str:
    """JSON of values, or of a message id: 7 and "7" are not the same."""
    return (value.compact if isinstance(value, LargeValues) else wire.encoded(_json, value)).decode()


COLUMNS: dict[type, Callable[[Any], Said]] = {
    TupleMsg: _of_tuple,
    TaskIds: lambda told: ("task-ids", None, None, None, None, None, tuple(told.tasks), None, None, None),
    SpoutCommand: _of_command,
    Handshake: lambda _: _of("handshake"),
    Emit: _of_emit,
    Ack: lambda said: _of("ack", str(said.id)),
    Fail: lambda said: _of("fail", str(said.id)),
    Sync: lambda _: _of("sync"),
    Log: lambda said: _saying("log", said.msg),
    Error: lambda said: _saying("error", said.msg),
    Metrics: lambda said: _saying("metrics", said.name),
    Pid: lambda said: _saying("pid", str(said.pid)),
}
"""By the kind of a message: what a row has of it."""
_MALFORMED = _of("malformed")
