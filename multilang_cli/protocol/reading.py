"""From the text of a frame to a message. Strict JSON first and fast; whatever strict reading refuses is diagnosed.

Fast JSON libraries do not report duplicate keys. The fast path therefore counts colons: an object with as many colons
as it has known keys can have no other key, no second one of the same name and no nested object.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol import diagnosis
from multilang_cli.protocol.messages import Ack, Command, Emit, Fail, FromComponent, Log, Malformed, Sync
from multilang_cli.protocol.shapes import INT64, LOG_LEVELS, ShapeFault, message_of, pid_of

if TYPE_CHECKING:
    from multilang_cli.protocol.framing import Frame

_TERMINATOR = b"\nend\n"
_LONG = 17
"""Characters of a number with a fraction from which it may have more digits than a double holds."""


def _short_float(literal: str) -> float:
    """The double that `literal` says. Raises ValueError where a Storm may see another number."""
    value = float(literal)
    if len(literal) >= _LONG or math.isinf(value):
        raise ValueError(literal)
    return value


_decode = msgspec.json.Decoder(Command, float_hook=_short_float).decode
_decode_any = msgspec.json.Decoder().decode
_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# As numbers: looking for one in bytes is several times faster than looking for bytes.
_BACKSLASH, _DELETE = b"\\\x7f"
_LEAST, _MOST = INT64[0], INT64[-1]
_PLAIN = frozenset({str, bool, type(None), int, float})
_FIELDS: dict[type, frozenset[str]] = {
    Ack: frozenset({"command", "id"}),
    Fail: frozenset({"command", "id"}),
    Emit: frozenset({"command", "tuple", "stream", "anchors", "id", "need_task_ids"}),
    Log: frozenset({"command", "msg", "level"}),
    Sync: frozenset({"command"}),
}


def read_frame(frame: Frame, *, expecting_pid: bool = False) -> FromComponent | Malformed:
    """The message in a frame of the component's stdout.

    `expecting_pid` for the first frame. Frames that are cut or too long are Malformed with that fault's rule.
    """
    if frame.fault or not expecting_pid:
        return read_command(frame)
    return _examine(_text(frame), True, frame.raw)


def read_command(frame: Frame) -> FromComponent | Malformed:
    """The message in a frame that is not the first, as `read_frame` reads it."""
    if frame.fault:
        return diagnosis.faulty_frame(frame)
    return _read(_text(frame), frame.raw)


def _text(frame: Frame) -> bytes:
    raw = frame.raw
    return raw[:-5] if raw.endswith(_TERMINATOR) else frame.text


def read(text: bytes, *, expecting_pid: bool = False, raw: bytes | None = None) -> FromComponent | Malformed:
    """The message in `text`, a frame without its terminator. `raw`: the whole frame, for Storm's readings."""
    return _examine(text, True, raw) if expecting_pid else _read(text, raw)


# Called for every message: no keyword arguments on this path, they make a call several times slower.
def _read(text: bytes, raw: bytes | None) -> FromComponent | Malformed:
    if _DELETE in text and _BACKSLASH in text:
        return _examine(text, False, raw)
    try:
        message = _decode(text)
    except _REFUSED:
        return _examine(text, False, raw)
    return message if _is_regular(message, text) else _examine(text, False, raw)


def _is_regular(message: Command, text: bytes) -> bool:
    """True if `text` is JSON without any trap and `message` all that it says."""
    kind = message.__class__
    if kind is Ack or kind is Fail:
        keys = 2
    elif isinstance(message, Emit):
        id_ = message.id
        if message.task is not None or not (id_ is None or id_.__class__ is str):
            return False
        if not _are_plain(message.values):
            return False
        keys = (3 if message.anchors else 2) + (id_ is not None) + (message.stream != "default")
        keys += not message.need_task_ids
    elif kind is Sync:
        keys = 1
    elif isinstance(message, Log):
        if message.msg is None or (message.level is not None and message.level not in LOG_LEVELS):
            return False
        keys = 2 + (message.level is not None)
    else:
        return False
    return text.count(b":") == keys or _has_simple_keys(text, _FIELDS[kind])


def _are_plain(values: list[Any]) -> bool:
    """True if no value can be a hazard or a trap: no list or object, no integer beyond 64 bits."""
    for value in values:
        kind = value.__class__
        if kind is int:
            if not _LEAST <= value <= _MOST:
                return False
        elif kind not in _PLAIN:
            return False
    return True


def _has_simple_keys(text: bytes, known: frozenset[str]) -> bool:
    """True if no key stands twice or is one that needs a look, and no object is nested: as many colons as keys."""
    try:
        fields = _decode_any(text)
    except _REFUSED:
        return False
    return fields.keys() <= known and _STRING.sub(b"", text).count(b":") == len(fields)


def _examine(text: bytes, expecting_pid: bool, raw: bytes | None) -> FromComponent | Malformed:
    duplicates: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(items)
        if len(fields) != len(items):
            names = [name for name, _ in items]
            duplicates.extend(name for name, times in Counter(names).items() if times > 1)
        return fields

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    whole = text + b"\nend\n" if raw is None else raw
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=pairs, parse_constant=refuse)
    except (ValueError, RecursionError):
        return diagnosis.irregular(text, whole, expecting_pid=expecting_pid)
    return _judge_value(value, duplicates, text, whole, expecting_pid)


def _judge_value(
    value: Any,
    duplicates: list[str],
    text: bytes,
    whole: bytes,
    expecting_pid: bool,
) -> FromComponent | Malformed:
    if not isinstance(value, dict):
        return diagnosis.not_an_object(value, text, whole, expecting_pid=expecting_pid)
    meant = (pid_of if expecting_pid else message_of)(value)
    trap = diagnosis.trap_of(value, duplicates, text)
    if trap is not None:
        salvage = _with_hazards(meant.salvage if isinstance(meant, ShapeFault) else (meant,), text)
        return diagnosis.malformed(trap, text, whole, salvage, expecting_pid=expecting_pid, strict=False)
    if isinstance(meant, ShapeFault):
        meant = meant._replace(salvage=_with_hazards(meant.salvage, text))
        return diagnosis.misshapen(meant, text, whole, expecting_pid=expecting_pid)
    return _with_hazards((meant,), text)[0]


def _with_hazards(messages: tuple[FromComponent, ...], text: bytes) -> tuple[FromComponent, ...]:
    """The messages, each emit with what is dangerous in its values."""
    return tuple(
        msgspec.structs.replace(message, hazards=diagnosis.hazards_of(message.values, text))
        if isinstance(message, Emit)
        else message
        for message in messages
    )
