"""One line of a transcript becomes one row, or a reason why it is none. Pure; runs on Spark's executors.

It tells what a message is, and leaves to the judge whether it is right: an emit with a surplus key is an emit here.
"""

from __future__ import annotations

from base64 import b64decode
from datetime import datetime
from typing import Any

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
compact_json = msgspec.json.Encoder().encode
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
    """A part was closed: nothing of it was lost."""

    conv: str


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
            return EndRow(found.conv)
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
    said = _from_storm(wire.decode(text)) if line.ch == "in" else _from_component(line, text)
    return EventRow(conv=line.conv, seq=line.seq, t=line.t, ch=line.ch, size=len(text), **_storable(said, text))


def _storable(said: dict[str, Any], text: bytes) -> dict[str, Any]:
    """Values that the table's columns can hold: no half of a surrogate pair, and no task that Storm could not have."""
    if _ESCAPE in text:
        said = wire.repaired(said)
    task, tasks = said.get("task"), said.get("tasks")
    if (task is not None and not LEAST <= task <= MOST) or (tasks and not (min(tasks) >= LEAST and max(tasks) <= MOST)):
        return {**said, "task": None, "tasks": None}
    return said


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


def _from_storm(said: object) -> dict[str, Any]:
    match said:
        case TupleMsg():
            kind = "heartbeat" if said.is_heartbeat else "tick" if said.is_tick else "tuple"
            return {
                "kind": kind,
                "id": said.id,
                "comp": said.comp,
                "stream": said.stream,
                "task": said.task,
                "values": _text(said.values),
            }
        case TaskIds():
            return {"kind": "task-ids", "tasks": tuple(said.tasks)}
        case SpoutCommand():
            return {"kind": said.command, "id": _id(said.id) if said.command in {"ack", "fail"} else None}
        case Handshake():
            return {"kind": "handshake"}
    return {"kind": "malformed"}


def _from_component(line: EventLine, text: bytes) -> dict[str, Any]:
    # Only the first message is a pid, and only it has such a key: asking for one needs no memory of what came before.
    expecting_pid = b'"pid"' in text and b'"command"' not in text
    if line.raw64 is None:
        said = read_text(text, expecting_pid=expecting_pid)
    else:
        said = read_frame(Frame(0, b64decode(line.raw64), "", line.fault), expecting_pid=expecting_pid)
    meant = said.salvage[0] if isinstance(said, Malformed) and len(said.salvage) == 1 else said
    match meant:
        case Emit():
            return {
                "kind": "emit",
                "id": None if meant.id is None else _id(meant.id),
                "stream": meant.stream,
                "task": meant.task,
                "anchors": meant.anchors,
                "asks": meant.wants_task_ids,
                "values": _text(meant.values),
            }
        case Ack() | Fail():
            return {"kind": "ack" if isinstance(meant, Ack) else "fail", "id": str(meant.id)}
        case Log() | Error():
            kind = "log" if isinstance(meant, Log) else "error"
            return {"kind": kind, "says": None if meant.msg is None else meant.msg[:KEPT_OF_TEXT]}
        case Sync():
            return {"kind": "sync"}
        case Metrics():
            return {"kind": "metrics", "says": meant.name[:KEPT_OF_TEXT]}
        case Pid():
            return {"kind": "pid", "says": str(meant.pid)}
    return {"kind": "malformed", "says": meant.detail[:KEPT_OF_TEXT]}


def _id(value: Any) -> str:
    """A message id as JSON: 7 and "7" are not the same."""
    return _text(value)


def _text(value: Any) -> str:
    return (value.compact if isinstance(value, LargeValues) else wire.encoded(compact_json, value)).decode()
