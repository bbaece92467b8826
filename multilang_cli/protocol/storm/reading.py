"""From the text of a frame to a message. Strict JSON first and fast; whatever strict reading refuses is diagnosed.

Fast JSON libraries report neither duplicate keys nor how a number was written. The fast path therefore counts colons:
an object with as many colons as it has known keys can have no other key, no second one of the same name and no nested
object; and it looks for numbers that are long enough to say more than a double can.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.storm import diagnosis, large
from multilang_cli.protocol.wire.batches import Usual
from multilang_cli.protocol.wire.framing import TERMINATOR, Frames, count_byte
from multilang_cli.protocol.wire.shapes import INT64, LOG_LEVELS, ShapeFault, message_of, pid_of
from multilang_cli.protocol.words.large import LARGEST_DECODED, STRING, has_too_many_parts, plain
from multilang_cli.protocol.words.messages import (
    DEFAULT_STREAM,
    Ack,
    Command,
    Emit,
    Error,
    Fail,
    FromComponent,
    Log,
    Malformed,
    Metrics,
    Sync,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.protocol.wire.framing import Frame

_LONG = 17
"""Characters of a number with a fraction from which it may have more digits than a double holds."""
_IN_NUMBERS = bytes(
    ord("0") if char in b"0123456789.eE+-" else 32 if char in b"[,: \t\r\n" else 120 for char in range(256)
)
_LONG_NUMBER = b" " + b"0" * _LONG
"""What a long number looks like, behind what may stand before one, after translation by `_IN_NUMBERS`."""

SYNCS = dict.fromkeys((b'{"command":"sync"}\nend\n', b'{"command": "sync"}\nend\n'), Sync())
"""A sync as most libraries write it: it is waited for after each command, so it is known at sight."""

_decoder = msgspec.json.Decoder(Command)
_decode, _decode_lines = _decoder.decode, _decoder.decode_lines


def _short_float(literal: str) -> float:
    if len(literal) >= _LONG:
        raise ValueError(literal)
    return 0.0


_decode_floats = msgspec.json.Decoder(float_hook=_short_float).decode
_decode_any = msgspec.json.Decoder().decode
_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_SPACED = re.compile(rb"[ \t\r\n]:")
# As numbers: looking for one in bytes is several times faster than looking for bytes.
_BACKSLASH, _DELETE = b"\\\x7f"
_WITHOUT_NUMBERS = frozenset({Ack, Fail, Sync})
_WANTS = b'"need_task_ids":'
_UNSAID = (
    (b'"stream":', lambda emit: emit.stream == DEFAULT_STREAM),
    (b'"anchors":', lambda emit: not emit.anchors),
    (b'"id":', lambda emit: emit.id is None),
    (b'"task":', lambda emit: emit.task is None),
    (_WANTS, lambda emit: emit.need_task_ids),
)
"""Keys of an emit as they are written, and whether what they say is what goes without saying."""
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
    if frame.fault:
        return diagnosis.faulty_frame(frame)
    if expecting_pid:
        return _read_first(_text(frame), frame.raw)
    return SYNCS.get(frame.raw) or _read(_text(frame), frame.raw)


def read_frames(frames: Sequence[Frame]) -> Sequence[FromComponent | Malformed]:
    """The messages in frames after the first, as `read_frame` reads each; those of a run together, twice as fast."""
    if not isinstance(frames, Frames):
        return list(map(read_frame, frames))
    if len(frames.texts) == 1:
        return (SYNCS.get(frames.data) or _read(frames.texts[0], frames.data),)
    together = _read_together(b"\n".join(frames.texts)) if len(frames.data) <= LARGEST_DECODED else None
    # On one line there may be two messages, but none goes on on the next.
    if together is not None and len(together) == len(frames.texts):
        return together
    return [_read(text, text + TERMINATOR) for text in frames.texts]


def read_lines(lines: bytes) -> Sequence[FromComponent | Malformed]:
    """The messages on these lines, after the first of a component, as `read_frame` reads each."""
    return _read_together(lines) or [_read(text, text + TERMINATOR) for text in lines.split(b"\n")]


def _read_together(lines: bytes) -> Sequence[FromComponent | Malformed] | None:
    """The messages on these lines, `Usual` if they are; None if there could be a trap in any of them.

    What is looked for in each is looked for once in all: no message has fewer colons than keys, so none of them has
    one too many if all together have as many as keys.
    """
    try:
        messages: list[FromComponent | Malformed] = _decode_lines(lines)
    except _REFUSED:
        return None
    keys, are_usual = _count_keys(messages)
    if not keys or _DELETE in lines or _has_long_number(lines):
        return None
    if not _has_keys(lines, keys):
        texts = lines.split(b"\n")
        if len(texts) != len(messages):
            return None
        if not (
            _say_what_goes_without(lines, texts, messages, keys) or all(map(_has_keys_or_defaults, texts, messages))
        ):
            return None
    return Usual(messages) if are_usual else messages


def _count_keys(messages: Sequence[Any]) -> tuple[int, bool]:
    """The keys of messages that are written without any trap, 0 if one needs a look; True if they are `Usual`."""
    keys, are_usual = 0, True
    for message in messages:
        kind = type(message)
        # What bolts say most is counted without a call for each; a task there is a colon too many.
        if kind is Ack:
            keys += 2
        elif kind is Emit and message.stream == DEFAULT_STREAM and message.id is None and message.need_task_ids:
            keys += 3 if message.anchors else 2
        elif found := _KEYS[kind](message):
            keys += found
            are_usual = are_usual and kind is not Emit
        else:
            return 0, False
    return keys, are_usual


def _say_what_goes_without(lines: bytes, texts: Sequence[bytes], messages: Sequence[Any], keys: int) -> bool:
    """True if emits say that they want task ids, each once at most, and there is no other key too many.

    Some libraries say it in each emit. Whoever wants none has said so in a key that is among `keys`.
    """
    said = [
        text.count(_WANTS)
        for text, message in zip(texts, messages, strict=True)
        if type(message) is Emit and message.need_task_ids
    ]
    return 1 in said and max(said) == 1 and count_byte(lines, b":") == keys + sum(said)


def _text(frame: Frame) -> bytes:
    raw = frame.raw
    return raw[:-5] if raw.endswith(TERMINATOR) else frame.text


def read(text: bytes, *, expecting_pid: bool = False, raw: bytes | None = None) -> FromComponent | Malformed:
    """The message in `text`, a frame without its terminator. `raw`: the whole frame, for Storm's readings."""
    return _read_first(text, raw) if expecting_pid else _read(text, raw)


def _read_first(text: bytes, raw: bytes | None) -> FromComponent | Malformed:
    found = _read_large(text, True, raw) if len(text) > LARGEST_DECODED else None
    return _examine(text, True, raw) if found is None else found


def _read_large(text: bytes, expecting_pid: bool, raw: bytes | None) -> FromComponent | Malformed | None:
    """The message in `text` if its values are large: it is read without them, and they are looked through."""
    whole = text + TERMINATOR if raw is None else raw
    try:
        short = large.shortened(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return diagnosis.irregular(text, whole, expecting_pid=expecting_pid)
    if isinstance(short, diagnosis.Trap):
        return diagnosis.malformed(short, text, whole, (), expecting_pid=expecting_pid, strict=False)
    if has_too_many_parts(text if short is None else short.text):
        return diagnosis.too_many_parts(text)
    if short is None:
        return None
    meant = large.restored(read(short.text, expecting_pid=expecting_pid), short)
    mistaken = isinstance(meant, Malformed) and meant.kind != "json-duplicate-key"
    if short.trap is None or (mistaken and short.trap.kind in diagnosis.HARMLESS):
        return meant
    salvage = meant.salvage if isinstance(meant, Malformed) else (meant,)
    return diagnosis.malformed(short.trap, text, whole, salvage, expecting_pid=expecting_pid, strict=False)


# Called for every message: no keyword arguments on this path, they make a call several times slower.
def _read(text: bytes, raw: bytes | None) -> FromComponent | Malformed:
    if len(text) > LARGEST_DECODED and (found := _read_large(text, False, raw)) is not None:
        return found
    if _DELETE in text and _BACKSLASH in text:
        return _examine(text, False, raw)
    try:
        message = _decode(text)
    except _REFUSED:
        return _examine(text, False, raw)
    kind = message.__class__
    keys = _KEYS[kind](message)
    if not keys or (kind not in _WITHOUT_NUMBERS and _has_long_number(text)):
        return _examine(text, False, raw)
    simple = _has_keys_or_defaults(text, message) or _has_simple_keys(text, _FIELDS[kind])
    return message if simple else _examine(text, False, raw)


def _has_long_number(lines: bytes) -> bool:
    """True if a number with a fraction on any of these lines is long enough to say more than a double can."""
    if not any(_LONG_NUMBER in part.translate(_IN_NUMBERS) for part in _parts(lines)):
        return False
    try:
        for text in lines.split(b"\n"):
            _decode_floats(text)
    except _REFUSED:
        return True
    return False


def _parts(run: bytes) -> Iterable[bytes]:
    """A text in parts, none of them huge, that overlap by more than a long number takes."""
    if len(run) <= LARGEST_DECODED:
        return (run,)
    return (run[at : at + LARGEST_DECODED + len(_LONG_NUMBER)] for at in range(0, len(run), LARGEST_DECODED))


def _keys_of_emit(emit: Emit) -> int:
    """The number of keys of an emit that says nothing twice and no default; 0 if something in it needs a look."""
    keys = 3 if emit.anchors else 2
    if emit.id is not None:
        if emit.id.__class__ is not str and (emit.id.__class__ is not int or emit.id not in INT64):
            return 0
        keys += 1
    if emit.task is not None:
        return 0
    if emit.stream != DEFAULT_STREAM:
        keys += 1
    return keys if emit.need_task_ids else keys + 1


def _keys_of_log(log: Log) -> int:
    if log.level is None:
        return 0 if log.msg is None else 2
    return 3 if log.msg is not None and log.level in LOG_LEVELS else 0


_KEYS: dict[type, Callable[[Any], int]] = {
    Emit: _keys_of_emit,
    Ack: lambda _: 2,
    Fail: lambda _: 2,
    Log: _keys_of_log,
    Sync: lambda _: 1,
    Error: lambda _: 0,
    Metrics: lambda _: 0,
}
"""By kind: how many keys a message has that is written without any trap; 0 if it needs a look."""


def _has_keys(text: bytes, keys: int) -> bool:
    """True if the objects in `text` have so many keys and no more: as many colons.

    With no space before any colon, each key ends in ``":``; as few of these as there are keys leave none for another.
    """
    return count_byte(text, b":") == keys or (text.count(b'":') == keys and _SPACED.search(text) is None)


def _has_keys_or_defaults(text: bytes, message: Any) -> bool:
    """True if each key in `text` is one that its message needs, or says once what goes without saying."""
    keys = _KEYS[message.__class__](message)
    if _has_keys(text, keys):
        return True
    if message.__class__ is not Emit:
        return False
    unsaid = [text.count(key) for key, is_unsaid in _UNSAID if is_unsaid(message)]
    return max(unsaid) == 1 and text.count(b":") == keys + sum(unsaid)


def _has_simple_keys(text: bytes, known: frozenset[str]) -> bool:
    """True if no key stands twice or is one that needs a look, and no object is nested: as many colons as keys."""
    try:
        fields = _decode_any(text)
    except _REFUSED:
        return False
    return fields.keys() <= known and STRING.sub(b"", text).count(b":") == len(fields)


def _examine(text: bytes, expecting_pid: bool, raw: bytes | None) -> FromComponent | Malformed:
    duplicates: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        """The fields of an object; keys that come twice are remembered."""
        fields = dict(items)
        if len(fields) != len(items):
            names = [name for name, _ in items]
            duplicates.extend(name for name, times in Counter(names).items() if times > 1)
        return fields

    def refuse(constant: str) -> None:
        """Refuse NaN and the infinities, which Python would take. Raises ValueError."""
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
    seen = value if diagnosis.all_read_alike(text, trap) else None
    if trap is not None and not (trap.kind in diagnosis.HARMLESS and isinstance(meant, ShapeFault)):
        salvage = _with_hazards(meant.salvage if isinstance(meant, ShapeFault) else (meant,), text)
        return diagnosis.malformed(trap, text, whole, salvage, expecting_pid=expecting_pid, strict=False, seen=seen)
    if isinstance(meant, ShapeFault):
        meant = meant._replace(salvage=_with_hazards(meant.salvage, text))
        return diagnosis.misshapen(meant, text, whole, expecting_pid=expecting_pid, seen=seen)
    return _with_hazards((meant,), text)[0]


def _with_hazards(messages: tuple[FromComponent, ...], text: bytes) -> tuple[FromComponent, ...]:
    """The messages, each emit with what is dangerous in its values."""
    return tuple(
        msgspec.structs.replace(message, hazards=diagnosis.hazards_of(plain(message.values), text))
        if isinstance(message, Emit)
        else message
        for message in messages
    )
