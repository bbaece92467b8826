"""Names what is wrong with a frame that strict reading refuses, and saves what was meant.

The kinds are ids of rules. What Storm's own parsers make of the same bytes is in ``dialects``.
"""

from __future__ import annotations

import json
import math
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, AnyStr, NamedTuple

from multilang_cli.protocol.storm import dialects
from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.wire.lenient import Irregularity, LenientError, read_leniently
from multilang_cli.protocol.wire.shapes import INT64, ShapeFault, message_of, pid_of
from multilang_cli.protocol.words.large import MOST_PARTS, NUMBER, STRING
from multilang_cli.protocol.words.messages import FromComponent, Json, Malformed
from multilang_cli.protocol.words.shortening import head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.wire.framing import Frame

EXCERPT = 200
"""Bytes of a frame that an excerpt shows, at most."""
DIAGNOSED = 1024 * 1024
"""Bytes up to which an irregular frame is read by every parser of Storm; beyond, they are not asked."""
MAX_DEPTH = 400
"""Nesting that every parser of Storm stands; json-smart refuses more."""

HARMLESS = frozenset({"json-duplicate-key", "lone-surrogate", "number-too-large"})
"""Traps that every Storm reads, so they hide no other mistake in a message."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_BARE_PID = re.compile(rb"\s*[0-9]{1,10}\s*")
_END_LINE = re.compile(r"^[^\S\n]*end[^\S\n]*$", re.MULTILINE)
STRING_OR_NUMBER = re.compile(STRING.pattern + b"|" + NUMBER.pattern, re.DOTALL)
"""Either, in JSON that is valid."""
MAY_BE_DECIMAL = re.compile(rb"[-+.0-9eE]{19}")
"""What stands in every text with a number that json-smart makes a BigDecimal, or with an integer beyond 64 bits."""
MAY_BE_TRAP = re.compile(rb"[0-9]{19}|[eE]\+?[0-9]{3}|\\u[dD]")
"""What stands in every text with a value that is a trap, unless for its depth."""
_HOLDERS = (dict, list)
_TEXT = range(0x09, 0x80)
_BACKSLASH, _DELETE = b"\\", b"\x7f"
_SHOWN_OF_TEXT = 60
_OPENING = '{"command"'
_MOST_SAVED = 1000
_DIAGNOSED_OF_LONG = 16 * 1024
_SHOWN_AT_ONCE = frozenset({"stdout-text", "bom", "not-utf8", "other-serializer", "json-single-quotes", "json-comment"})
_STRING_OR_CONTROL = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*+(?:"|([\x00-\x1f])|\Z)', re.DOTALL)
"""A string of JSON, up to a raw control character in it, if there is one."""
_STRING_OR_NO_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|([-+]?\b(?:nan|inf(?:inity)?)\b)', re.DOTALL | re.IGNORECASE
)
"""A string, the last one maybe not closed, or what stands for a number as languages print it."""
_LIST_KINDS = frozenset({"json-trailing-comma", "json-comment"})


class Trap(NamedTuple):
    """A rule's id, the offset in the text in bytes, and one sentence."""

    kind: str
    at: int
    detail: str


def malformed(
    trap: Trap,
    text: bytes,
    whole: bytes,
    salvage: tuple[FromComponent, ...],
    *,
    expecting_pid: bool,
    strict: bool,
    seen: Json = None,
) -> Malformed:
    """The finished diagnosis, with the reading of each of Storm's parsers. `seen`: the value that all of them read."""
    start = max(0, trap.at - EXCERPT // 2)
    excerpt = text[start : start + EXCERPT].decode("utf-8", "backslashreplace")
    if seen is not None:
        readings = dialects.readings_of(seen, expecting_pid)
    else:
        readings = dialects.readings(whole, expecting_pid) if len(text) <= DIAGNOSED else {}
    return Malformed(trap.kind, trap.at, excerpt, trap.detail, salvage, readings, strict)


def misshapen(fault: ShapeFault, text: bytes, whole: bytes, *, expecting_pid: bool, seen: Json) -> Malformed:
    """JSON, but no message of the protocol. `seen` as in `malformed`."""
    at = max(0, text.find(f'"{fault.field}"'.encode("utf-8", "surrogatepass")))
    trap = Trap(fault.kind, at, fault.detail)
    return malformed(trap, text, whole, fault.salvage, expecting_pid=expecting_pid, strict=True, seen=seen)


def faulty_frame(frame: Frame) -> Malformed:
    """A frame that the stream ended in, or one beyond the limit. Only its beginning is looked at: it may be huge."""
    shown = frame_text(frame.raw[:EXCERPT]).decode("utf-8", "backslashreplace")
    if frame.fault == "too-long":
        detail = f"more than {frame.size or len(frame.raw):,} bytes without a line that is 'end'"
        return Malformed("frame-too-long", 0, shown, detail)
    detail = f"stdout ended after {len(frame.raw):,} bytes of a message, before its line 'end'"
    if frame.offset == 0 and (old := bare_pid(frame.raw)):
        detail += f": {old}"
    return Malformed("message-cut", len(frame.raw), shown, detail)


def too_many_parts(text: bytes) -> Malformed:
    """JSON of so many keys and values, beside those of a tuple, that it is not read."""
    shown = text[:EXCERPT].decode("utf-8", "backslashreplace")
    if text.lstrip()[:1] == b"[":
        return Malformed("message-not-object", 0, shown, "the message is an array, not an object", strict=True)
    detail = f"{len(text):,} bytes of more than {MOST_PARTS:,} keys and values, beside those of its tuple"
    return Malformed("frame-too-long", 0, shown, detail, strict=True)


def bare_pid(raw: bytes) -> str:
    """Name the protocol of before Storm 0.7.1, if the first that a component said is a line with a number; else ""."""
    if not _BARE_PID.fullmatch(raw):
        return ""
    return (
        f"a bare line with the pid {raw.strip().decode()} is the protocol of before Storm 0.7.1; since then it is a "
        "JSON message such as {\"pid\": 1}, closed by a line 'end'"
    )


def not_an_object(value: Json, text: bytes, whole: bytes, *, expecting_pid: bool) -> Malformed:
    """JSON, but an array, a string, a number or null."""
    name = {list: "an array", str: "a string", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
    items = value if isinstance(value, list) else []
    salvage = tuple(message for item in items if isinstance(item, dict) for message in _meant(item, expecting_pid))
    trap = Trap("message-not-object", 0, f"the message is {name}, not an object")
    seen = value if all_read_alike(text, trap_of(value, [], text)) else None
    return malformed(trap, text, whole, salvage, expecting_pid=expecting_pid, strict=True, seen=seen)


def all_read_alike(text: bytes, trap: Trap | None) -> bool:
    """True if each of Storm's parsers reads the JSON `text`, in which `trap` was found, to the value that Python does.

    Of what a second key replaces only the parsers see the value, so a text with one must not hold any other trap.
    """
    if trap is not None and (trap.kind != "json-duplicate-key" or _may_be_deep(text)):
        return False
    return MAY_BE_DECIMAL.search(text) is None


def trap_of(value: Json, duplicates: list[str], text: bytes) -> Trap | None:
    """A danger in JSON that Python's parser accepts: None if it is regular."""
    harmless: Trap | None = None
    try:
        for item, depth in _walk(value) if is_deep(value, text) or MAY_BE_TRAP.search(text) else ():
            trap = trap_of_value(item, depth, text)
            if trap is None or trap.kind in HARMLESS:
                harmless = harmless or trap
            else:
                return trap
    except RecursionError:
        return too_deep(0)
    deleted = deleted_in(text)
    if deleted is not None:
        return delete_character(deleted)
    if harmless is None and duplicates:
        name = json.dumps(duplicates[0]).encode()
        return Trap("json-duplicate-key", max(0, text.rfind(name)), f"the key {head(duplicates[0], 40)!r} stands twice")
    return harmless._replace(at=_overflow(text)) if harmless and harmless.kind == "number-too-large" else harmless


def _may_be_deep(text: bytes) -> bool:
    return text.count(b"[") + text.count(b"{") > MAX_DEPTH


def is_deep(value: Json, text: bytes) -> bool:
    """True if JSON is nested more than `MAX_DEPTH` deep, level by level: of a wide one only what holds more is kept."""
    level = [value] if _may_be_deep(text) and isinstance(value, _HOLDERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        values = (each.values() if isinstance(each, dict) else each for each in level)
        level = [item for items in values for item in items if isinstance(item, _HOLDERS)]
    return bool(level)


def too_deep(at: int) -> Trap:
    """The trap of a value that is nested deeper than each of Storm's parsers stands."""
    return Trap("json-too-deep", at, f"nested more than {MAX_DEPTH} deep")


def integer_too_big(at: int) -> Trap:
    """The trap of an integer that begins there."""
    return Trap("integer-too-big", at, "an integer that does not fit 64 bits")


def delete_character(at: int) -> Trap:
    """The trap of a string that begins there and has both a raw U+007F and an escape."""
    return Trap("json-delete-character", at, "a raw U+007F in a string that has an escape")


def deleted_in(text: bytes) -> int | None:
    """The place where the first string begins that has both a raw U+007F and an escape; looks at each string once."""
    if _DELETE not in text or _BACKSLASH not in text:
        return None
    both = (found.start() for found in STRING.finditer(text) if _DELETE in found[0] and _BACKSLASH in found[0])
    return next(both, None)


def _overflow(text: bytes) -> int:
    """The place where the first number begins that is too large for a double."""
    numbers = (found for found in STRING_OR_NUMBER.finditer(text) if found[0][:1] != b'"')
    return next((number.start() for number in numbers if math.isinf(float(number[0]))), 0)


def trap_of_value(item: Json, depth: int, text: bytes) -> Trap | None:
    """A danger in one value of a `text`, without those that it holds."""
    if depth > MAX_DEPTH:
        return too_deep(0)
    if type(item) is int and item not in INT64:
        return integer_too_big(max(0, text.find(str(item).encode())))
    if isinstance(item, float) and math.isinf(item):
        return Trap("number-too-large", 0, "a number too large for a double")
    if isinstance(item, str) and _SURROGATE.search(item):
        return Trap("lone-surrogate", 0, "half of a surrogate pair in a string")
    return None


def _walk(value: Json) -> Iterator[tuple[Json, int]]:
    """Every value in one, with its depth, 0 if it holds none. It keeps no more than the way to where it is."""
    waiting: list[Iterator[Json]] = [iter((value,))]
    while waiting:
        for item in waiting[-1]:
            if isinstance(item, _HOLDERS):
                yield item, len(waiting)
                waiting.append(chain(item, item.values()) if isinstance(item, dict) else iter(item))
                break
            yield item, 0
        else:
            waiting.pop()


def hazards_of(values: list[Any], text: bytes) -> tuple[str, ...]:
    """Values that some Storm versions can't send to another worker: objects, arrays, BigDecimals of json-smart."""
    found: list[str] = []
    if any(isinstance(value, dict | list) for value in values):
        found.append("nested")
    if MAY_BE_DECIMAL.search(text) and any(isinstance(item, float) for item, _ in _walk(values)):
        numbers = [number.decode() for number in NUMBER.findall(STRING.sub(b"", text))]
        decimals = [number for number in numbers if dialects.is_big_decimal(number)]
        if any(map(dialects.is_beyond_scale, decimals)):
            found.insert(0, "scale")
        if decimals:
            found.append("decimal")
    return tuple(found)


def irregular(text: bytes, whole: bytes, *, expecting_pid: bool) -> Malformed:
    """A frame that is no JSON: the mistake, and what was meant."""
    if len(text) > DIAGNOSED:
        return _too_long_to_read(text)
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        trap, decoded = _undecodable(text, error), text.decode("utf-8", "replace")
        salvage = () if trap.kind != "utf8-invalid" else _segments(decoded, expecting_pid)[1]
        return malformed(trap, text, whole, salvage, expecting_pid=expecting_pid, strict=False)
    trap, salvage = _diagnose(decoded, expecting_pid)
    if trap.kind == "empty-message" and whole.startswith((b"\n", b"\r\n")):
        trap = trap._replace(detail="an empty line where a message belongs, and the line 'end'")
    at = len(decoded[: trap.at].encode("utf-8", "surrogatepass"))
    return malformed(trap._replace(at=at), text, whole, salvage, expecting_pid=expecting_pid, strict=False)


def _too_long_to_read(text: bytes) -> Malformed:
    """A frame whose diagnosis would take long: its beginning tells the most; Storm's own parsers are not asked."""
    trap, _ = _diagnose(text[:_DIAGNOSED_OF_LONG].decode("utf-8", "replace"), expecting_pid=False)
    strings = _STRING_OR_CONTROL.finditer(text[:_DIAGNOSED_OF_LONG])
    control = next((each[1] for each in strings if each[1]), b"")
    if control and trap.kind not in _SHOWN_AT_ONCE:
        trap = Trap("json-control-character", 0, f"a raw U+{ord(control):04X} in a string")
    kind = trap.kind if trap.kind in {"json-control-character", *_SHOWN_AT_ONCE} else "json-invalid"
    said = trap.detail if kind == trap.kind else f"no JSON{_no_number(text)}"
    detail = f"{said} (a frame of {len(text):,} bytes)"
    detail += _unfinished(text, _OPENING.encode(), b"{")
    return Malformed(kind, 0, text[:EXCERPT].decode("utf-8", "backslashreplace"), detail)


def _no_number(text: bytes) -> str:
    """A few words on the first that stands for a number and is none; "" if none does."""
    found = next((each[1] for each in _STRING_OR_NO_NUMBER.finditer(text) if each[1]), b"")
    return f": {found.decode()}, which JSON does not have" if found else ""


def _undecodable(text: bytes, error: UnicodeDecodeError) -> Trap:
    marked = text[:2] in {b"\xff\xfe", b"\xfe\xff"}
    if not marked and text[0] not in _TEXT:
        return Trap("other-serializer", 0, f"the first byte is 0x{text[0]:02x}: no JSON, perhaps msgpack or pickle")
    if marked or text.count(b"\0") * 3 > len(text):
        return Trap("not-utf8", 0, "this looks like UTF-16 or UTF-32; the protocol is UTF-8")
    return Trap("utf8-invalid", error.start, f"the byte 0x{text[error.start]:02x} is not UTF-8")


def _diagnose(text: str, expecting_pid: bool) -> tuple[Trap, tuple[FromComponent, ...]]:
    if not text.strip():
        return Trap("empty-message", 0, "a line 'end' with no message before it"), ()
    if text.startswith("\ufeff"):
        return Trap("bom", 0, "a byte order mark before the message"), _segments(text[1:], expecting_pid)[1]
    if text.count("\0") * 3 > len(text):
        return Trap("not-utf8", text.index("\0"), "NUL bytes between the characters: UTF-16 or UTF-32, not UTF-8"), ()
    end_line = _END_LINE.search(text)
    if end_line is not None:
        detail = "a line 'end' with spaces is no terminator: this message and the next one became one"
        parts = [part for part in _END_LINE.split(text) if part.strip()]
        return Trap("end-not-alone", end_line.start(), detail), _read_parts(parts, expecting_pid)
    if not text[0].isprintable() and not text[0].isspace():
        return Trap(
            "other-serializer", 0, f"the first byte is 0x{ord(text[0]) & 255:02x}: no JSON, another serializer?"
        ), ()
    return _segments(text, expecting_pid)


def _read_parts(parts: list[str], expecting_pid: bool) -> tuple[FromComponent, ...]:
    found: list[FromComponent] = []
    for part in parts[:_MOST_SAVED]:
        found.extend(_segments(part, expecting_pid and not found)[1])
    return tuple(found)


class _Object(NamedTuple):
    value: Json
    seen: list[Irregularity]
    start: int
    stop: int


def _objects(text: str) -> tuple[list[_Object], LenientError | None]:
    """The objects in a text that may hold other things before, between and after them; and what broke the last one."""
    found: list[_Object] = []
    at = 0
    while len(found) < _MOST_SAVED and (start := text.find("{", at)) >= 0:
        try:
            value, seen, at = read_leniently(text, start)
        except LenientError as error:
            return found, error
        found.append(_Object(value, seen, start, at))
    return found, None


def _segments(text: str, expecting_pid: bool) -> tuple[Trap, tuple[FromComponent, ...]]:
    objects, broken = _objects(text)
    saved: list[FromComponent] = []
    for each in objects:
        saved.extend(_meant(each.value, expecting_pid and not saved))
    return _trap_of_segments(text, objects, broken, len(saved)), tuple(saved)


def _trap_of_segments(text: str, objects: list[_Object], broken: LenientError | None, saved: int) -> Trap:
    if not objects and text.lstrip().startswith("[") and _is_too_deep(text):
        return too_deep(0)
    start = objects[0].start if objects else max(0, text.find("{"))
    before = (text[:start] if objects or broken else text).strip()
    if before.startswith(("//", "/*", "#")) and objects:
        return Trap("json-comment", 0, "a comment before the message")
    if before:
        what = "text before a message" if objects or broken else "text that is no message"
        return Trap("stdout-text", 0, f"{what}: {_shown(before)}")
    if broken is None and not objects:
        return Trap("empty-message", 0, "a line 'end' with no message before it")
    if broken is not None and not objects and broken.kind == "json-too-deep":
        return Trap(broken.kind, broken.at, f"nested more than {MAX_DEPTH} deep")
    if broken is not None and not objects:
        return Trap(broken.kind, broken.at, f"no JSON: {broken.detail}{_unfinished(text, _OPENING, '{')}")
    stop = objects[0].stop
    rest = text[stop:].strip()
    if len(objects) > 1 and saved > 1:
        return Trap("two-messages-one-end", stop, "a second message before the line 'end'")
    if rest:
        return Trap("text-after-object", stop, f"text after the message: {_shown(rest)}")
    if not objects[0].seen:
        return Trap("json-invalid", 0, "not JSON by RFC 8259")
    first = _weightiest(objects[0].seen)
    # Python reads no integer that long, but it is JSON.
    lead = "" if first.kind == "integer-too-big" else "no JSON: "
    return Trap(first.kind, first.at, lead + first.detail)


def _is_too_deep(text: str) -> bool:
    try:
        read_leniently(text)
    except LenientError as error:
        return error.kind == "json-too-deep"
    return False


def _unfinished(text: AnyStr, opening: AnyStr, brace: AnyStr) -> str:
    """A few words if a whole message (`opening`) begins inside of what is no JSON: what was before it has no end."""
    at = text.rfind(opening)
    if at <= text.find(brace):
        return ""
    try:
        json.loads(text[at:])
    except (ValueError, RecursionError):
        return ""
    return "; a whole message begins inside it: the write of what stands before was cut short"


def _weightiest(seen: list[Irregularity]) -> Irregularity:
    """Python's repr shows by its literals, though its single quotes come first."""
    python = next((item for item in seen if item.kind == "python-repr"), None)
    return python or next((item for item in seen if item.kind not in _LIST_KINDS), seen[0])


def _meant(value: Json, expecting_pid: bool) -> tuple[FromComponent, ...]:
    if not isinstance(value, dict):
        return ()
    read = pid_of(value) if expecting_pid else message_of(value)
    return read.salvage if isinstance(read, ShapeFault) else (read,)


def _shown(text: str) -> str:
    line = text.strip().splitlines()[0]
    return ascii(head(line, _SHOWN_OF_TEXT))
