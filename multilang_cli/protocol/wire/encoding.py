r"""Storm's side of the pipe: messages to the bytes that ``JsonSerializer`` writes, and such bytes back to messages.

One line of compact JSON, then ``end``. Slashes are escaped as ``\/``; so are DEL, U+0080 to U+009F and U+2000 to
U+20FF, in upper-case hexadecimal; what lies beyond the BMP is raw UTF-8 (json-simple and json-smart alike). Keys come
in the order of Java's HashMap, infinities as null, half a surrogate pair as ``?``. NaN is null too, as json-simple has
it (0.9.7, 0.10.2, 1.2.4 and 2.5.0, asked); json-smart (2.6.4, 2.8.0 and 2.8.3, asked) writes it bare, which is no JSON.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from multilang_cli.protocol.wire.framing import TERMINATOR
from multilang_cli.protocol.words.large import (
    LARGEST_DECODED,
    MOST_PARTS,
    LargeValues,
    check_utf8,
    has_too_many_parts,
    pieces,
    plain,
)
from multilang_cli.protocol.words.messages import FromStorm, Handshake, Malformed, SpoutCommand, TaskIds, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.protocol.words.verdicts import StormVersion

BARE_NAN = b"NaN"
"""What json-smart writes for a NaN from Java, as it stands there."""
COMMANDS = frozenset({"next", "ack", "fail", "activate", "deactivate"})
EXCERPT = 200
"""Bytes of a frame that an excerpt shows, at most."""

# As numbers: looking for one in bytes is several times faster than looking for bytes.
_SLASH, _BACKSLASH, _DELETE = b"/\\\x7f"
_ESCAPED = re.compile("[\x7f-\x9f\u2000-\u20ff]")
_HALF = re.compile("[\ud800-\udfff]")
_SHAPES = bytes(ord("0") if char in b"-0123456789" else 32 if char in b"[,: \t\r\n" else 120 for char in range(256))
_INEXACT = b" " + b"0" * 16
"""What an integer that a double may not hold looks like after translation by `_SHAPES`."""
_LOWER_HEX = re.compile(rb"(?<!\\)((?:\\\\)*)\\u(00[01][0-9a-f])")


class _Outline(msgspec.Struct, gc=False):
    """A tuple whose values are as they were written."""

    comp: str | None
    tuple: msgspec.Raw
    task: int
    stream: str
    id: str


def _plain(value: Any) -> Any:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, LargeValues):
        return list(value)
    raise TypeError(type(value).__name__)


ENCODER = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number")
"""Encodes whatever values a message may have, those too that only Java's parsers make, such as BigInteger."""
_encode, _encode_lines = ENCODER.encode, ENCODER.encode_lines
_INTEGERS = frozenset({int})
_TOGETHER = frozenset({TupleMsg, TaskIds})
_decode_tuple = msgspec.json.Decoder(TupleMsg).decode
_decode_outline = msgspec.json.Decoder(_Outline).decode
_decode_plain = msgspec.json.Decoder(TupleMsg | list[int]).decode_lines
_Exact = Annotated[int, msgspec.Meta(gt=-(2**53), lt=2**53)]
_decode_simple = msgspec.json.Decoder(
    TupleMsg[list[bool | _Exact | float | str | None]] | list[int]  # type: ignore[misc]
).decode_lines
_decode_commands = msgspec.json.Decoder(SpoutCommand | list[int]).decode_lines
_decode_any = msgspec.json.Decoder().decode
_skip = msgspec.json.Decoder(msgspec.Raw).decode
_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def encode(message: FromStorm, version: StormVersion) -> bytes:
    """The frame that Storm `version` writes for `message`.

    `version` decides whether next, activate and deactivate carry an id (since 0.9.2), whether a handshake has a
    context, and how NaN is written.
    """
    if isinstance(message, TaskIds):
        return _encode(message.tasks) + TERMINATOR
    if isinstance(message, SpoutCommand):
        with_id = version.command_id or message.command in {"ack", "fail"}
        if with_id and message.id != "":
            return frame({"id": message.id, "command": message.command})
        return _command(message.command, with_id)
    if isinstance(message, TupleMsg):
        raw = frame(message)
        if b"null" not in raw or version.dialect != "smart":
            return raw
        try:
            return _with_bare_nan(message)
        except RecursionError:
            return raw
    assert isinstance(message, Handshake)  # noqa: S101 (all others are done)
    fields: dict[str, Any] = {
        "pidDir": message.pid_dir,
        "context": message.context,
        "conf": message.conf,
        **message.more,
    }
    if version.context == "none":
        del fields["context"]
    return frame(fields)


@lru_cache(maxsize=16)
def _command(command: str, with_id: bool) -> bytes:
    """The frame of a command for no tuple: there are few of them, said again and again."""
    return frame({"id": "", "command": command} if with_id else {"command": command})


def encode_together(messages: Sequence[FromStorm], version: StormVersion) -> bytes:
    """The frames of tuples and task ids, one after the other, as `encode` gives each; empty if it must be asked."""
    first = messages[0]
    if first.__class__ is TaskIds and messages.count(first) == len(messages):
        return encode(first, version) * len(messages)
    kinds = set(map(type, messages))
    if not kinds <= _TOGETHER:
        return b""
    said = messages if TaskIds not in kinds else [m.tasks if m.__class__ is TaskIds else m for m in messages]
    try:
        text = _encode_lines(said)
    except (UnicodeEncodeError, RecursionError):
        return b""
    if b"null" in text and version.dialect == "smart":
        return b""
    return _as_storm_writes(text).replace(b"\n", TERMINATOR)


def encode_tuple(message: TupleMsg) -> bytes:
    """The frame of a tuple, heartbeat or tick: but for NaN, the same in every version."""
    return frame(message)


def _with_bare_nan(message: TupleMsg) -> bytes:
    return encode_tuple(msgspec.structs.replace(message, values=_bare(repaired(plain(message.values)))))


def _bare(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return msgspec.Raw(BARE_NAN)
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return {key: _bare(item) for key, item in value.items()} if isinstance(value, dict) else value


def frame(fields: Any) -> bytes:
    """Any JSON value as Storm's serializer writes it, with the terminator. Raises TypeError for what JSON has not."""
    return _as_storm_writes(encoded(_encode, fields)) + TERMINATOR


def encoded(encode: Callable[[Any], bytes], value: Any) -> bytes:
    """The output of `encode`, with ``?`` for each half of a surrogate pair in the value, which UTF-8 can't hold.

    A component's values may be nested deeper than `encode` goes: Storm sends them back as an id, or on to a bolt.
    """
    try:
        try:
            return encode(value)
        except UnicodeEncodeError:
            return encode(repaired(msgspec.to_builtins(value, builtin_types=(Decimal,), enc_hook=_plain)))
    except RecursionError:
        return _encoded_deep(encode, value)


def _encoded_deep(encode: Callable[[Any], bytes], value: Any) -> bytes:
    """JSON of a value that is nested however deep; what is still to be written stands on a stack, last first."""
    done: list[bytes] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, bytes):
            done.append(item)
        elif isinstance(item, list | tuple):
            parts = [part for child in reversed(item) for part in (child, b",")]
            left += [b"]", *parts[:-1], b"["]
        elif isinstance(item, dict | msgspec.Struct):
            fields = item if isinstance(item, dict) else _fields_of(item)
            parts = [
                part for key, child in reversed(fields.items()) for part in (child, encoded(encode, key) + b":", b",")
            ]
            left += [b"}", *parts[:-1], b"{"]
        else:
            done.append(encoded(encode, item))
    return b"".join(done)


def _fields_of(struct: msgspec.Struct) -> dict[str, Any]:
    return dict(zip(struct.__struct_encode_fields__, msgspec.structs.astuple(struct), strict=True))


def _as_storm_writes(text: bytes) -> bytes:
    """JSON with the escapes of Storm's serializer."""
    if _BACKSLASH in text:
        text = _LOWER_HEX.sub(_upper_hex, text)
    if _SLASH in text:
        text = text.replace(b"/", b"\\/")
    if not text.isascii() or _DELETE in text:
        text = _ESCAPED.sub(_escape, text.decode()).encode()
    return text


def repaired(value: Any) -> Any:
    """JSON values with ``?`` for each half of a surrogate pair, as Java's encoder writes it."""
    if isinstance(value, str):
        joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return _HALF.sub("?", joined)
    if isinstance(value, list | tuple):
        return [repaired(item) for item in value]
    if isinstance(value, dict):
        return {repaired(key): repaired(item) for key, item in value.items()}
    return value


def _upper_hex(match: re.Match[bytes]) -> bytes:
    return match[1] + b"\\u" + match[2].upper()


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"


def decode(text: bytes) -> FromStorm | Malformed:
    """Decode a message of Storm's: `text` is a frame without its end. Malformed with kind `host-message` if it is none.

    Nothing is judged here beyond the shape; unknown keys are ignored.
    """
    if text.startswith(b"["):
        return _decode_other(text)
    if len(text) > LARGEST_DECODED:
        return _decode_large(text)
    try:
        return _decode_tuple(text)
    except _REFUSED:
        return _decode_other(text)


def _decode_large(text: bytes) -> FromStorm | Malformed:
    """A message that is large: so are the values of a tuple, which stay as they are."""
    try:
        found = _decode_outline(text)
        values = memoryview(found.tuple)
        for piece in pieces(values) if not text.isascii() else ():
            check_utf8(piece)
    except _REFUSED:
        return _decode_other(text)
    if values[0] != ord("["):
        return _decode_other(text)
    return TupleMsg(found.comp, LargeValues(values), found.task, found.stream, found.id)


def decode_lines(lines: bytes) -> list[FromStorm | Malformed]:
    """The messages on these lines, as `decode` reads each: of tuples and task ids, or commands and these, together."""
    try:
        found = _decode_plain(lines)
    except _REFUSED:
        found = _commands(lines)
        if not found:
            return list(map(decode, lines.split(b"\n")))
    return _with_ids(found)


def _with_ids(found: list[Any]) -> list[FromStorm | Malformed]:
    return [TaskIds(each) if type(each) is list else each for each in found]


def decode_told(lines: bytes) -> tuple[list[FromStorm | Malformed], bool]:
    """The messages on these lines, as `decode_lines` gives them; True if what they say `is_simple`.

    A decoder that takes no other numbers tells so by the way: a third of the cost of looking through the bytes.
    """
    if lines.isascii():
        with suppress(*_REFUSED):
            return _with_ids(_decode_simple(lines)), True
    return decode_lines(lines), is_simple(lines)


def _commands(lines: bytes) -> list[Any]:
    """The commands and task ids on these lines; empty if there is anything else, or a tuple that has a command."""
    if b'"tuple"' in lines or b"\\u" in lines:
        return []
    try:
        # The decoder passes over keys that it does not know, whatever their bytes.
        check_utf8(lines)
        found = _decode_commands(lines)
    except _REFUSED:
        return []
    return found if all(each.__class__ is list or each.command in COMMANDS for each in found) else []


def is_simple(said: bytes) -> bool:
    """True if Storm `said` ASCII alone, and no integer beyond 2^53: what a component makes of it is like what came.

    False also for a text that has so many digits.
    """
    if not said.isascii():
        return False
    if len(said) <= LARGEST_DECODED:
        return _INEXACT not in said.translate(_SHAPES)
    parts = (said[at : at + LARGEST_DECODED + len(_INEXACT)] for at in range(0, len(said), LARGEST_DECODED))
    return not any(_INEXACT in part.translate(_SHAPES) for part in parts)


def _decode_other(text: bytes) -> FromStorm | Malformed:
    try:
        if len(text) > LARGEST_DECODED and _skip(text) and has_too_many_parts(text):
            return _too_many_parts(text)
        value = _decode_any(text)
    except _REFUSED as error:
        return _decode_bare_nan(text) or _refused(text, f"the other side wrote no JSON: {error}", strict=False)
    if isinstance(value, list):
        if _INTEGERS.issuperset(map(type, value)):
            return TaskIds(value)
        return _refused(text, "the other side wrote an array that is no list of task ids", strict=True)
    if not isinstance(value, dict):
        return _refused(text, "the other side wrote neither an object nor task ids", strict=True)
    if isinstance(value.get("command"), str) and value["command"] in COMMANDS:
        return SpoutCommand(value["command"], value.get("id", ""))
    conf, pid_dir, context = value.get("conf"), value.get("pidDir"), value.get("context", {})
    if isinstance(conf, dict) and isinstance(pid_dir, str) and isinstance(context, dict):
        known = {"conf", "pidDir", "context"}
        return Handshake(conf, pid_dir, context, {key: item for key, item in value.items() if key not in known})
    return _refused(text, "the other side wrote an object that is no handshake, tuple or command", strict=True)


def _too_many_parts(text: bytes) -> Malformed:
    detail = f"the other side wrote {len(text):,} bytes of more than {MOST_PARTS:,} keys and values"
    return Malformed("frame-too-long", 0, text[:EXCERPT].decode("utf-8", "backslashreplace"), detail, strict=True)


def _decode_bare_nan(text: bytes) -> TupleMsg | None:
    """A tuple with NaN as json-smart writes it; None if `text` is none, or has more in it that is no JSON."""
    if BARE_NAN not in text:
        return None
    try:
        return msgspec.convert(json.loads(text.decode(), parse_constant=_nan), TupleMsg)
    except (ValueError, *_REFUSED):
        return None


def _nan(constant: str) -> float:
    if constant != BARE_NAN.decode():
        raise ValueError(constant)
    return math.nan


def cut(raw: bytes) -> Malformed:
    """A message that Storm had begun to write when the component's stdin was closed: nobody can be blamed for it."""
    detail = f"stdin was closed after {len(raw):,} bytes of a message, before its line 'end'"
    return Malformed("message-cut", len(raw), raw[:EXCERPT].decode("utf-8", "backslashreplace"), detail)


def _refused(text: bytes, detail: str, *, strict: bool) -> Malformed:
    excerpt = text[:EXCERPT].decode("utf-8", "backslashreplace")
    return Malformed("host-message", 0, excerpt, detail, strict=strict)
