"""From a frame's bytes to what each dialect makes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.storm.dialects import json_simple, json_smart
from multilang_cli.protocol.storm.dialects.java import DIALECTS, Dialect, JavaError
from multilang_cli.protocol.storm.dialects.shell import pid_of, shell_msg, to_command, unanchored
from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.messages import Command, DialectReading, Json, Pid

if TYPE_CHECKING:
    from collections.abc import Callable

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


class JavaParsed(msgspec.Struct, frozen=True):
    """The result of a parser of Storm: `value` in plain Python, Decimal for BigDecimal, NaN for a Float's NaN."""

    value: Json


def decode(raw: bytes) -> str:
    """Decode as Java's ``InputStreamReader`` for UTF-8: malformed input becomes U+FFFD.

    Python gives as many of them as Java, except for an encoded surrogate, which Java replaces as one.
    """
    return _SURROGATE.sub(b"\xff", raw).decode("utf-8", "replace")


def text_of(raw: bytes) -> str:
    """Give the text of a frame that Storm parses (``JsonSerializer.readString``)."""
    return decode(frame_text(raw))


def parse(text: str, dialect: Dialect) -> JavaParsed:
    """Read a text as the Storm versions of this dialect do (``JsonSerializer.readMessage``).

    Raises JavaError: what ``readMessage`` throws.
    """
    return JavaParsed(_PARSERS[dialect](text))


def _parse_quietly(text: str) -> Json:
    # JSONValue.parse swallows every exception, and Storm takes its null for one.
    try:
        value = json_simple.parse(text)
    except JavaError:
        value = None
    if value is None:
        raise JavaError("java.io.IOException", f"unable to parse: {text}")
    return value


_PARSERS: dict[Dialect, Callable[[str], Json]] = {
    "simple-quiet": _parse_quietly,
    "simple": json_simple.parse,
    "smart": json_smart.parse,
}


def readings(raw: bytes, expecting_pid: bool) -> dict[str, DialectReading]:
    """Read a frame in every dialect, as the first message or as a later one.

    The error of a first message is the cause: up to 2.5 Storm wraps it in a RuntimeException, ``Error when launching
    multilang subprocess``.
    """
    text = text_of(raw)
    return {dialect: _reading(text, dialect, expecting_pid) for dialect in DIALECTS}


def readings_of(value: Json, expecting_pid: bool) -> dict[str, DialectReading]:
    """The readings by every dialect of a frame that each of them parses to this same `value`, which is not null."""
    return {dialect: _reading_of(value, dialect, expecting_pid) for dialect in DIALECTS}


def _reading(text: str, dialect: Dialect, expecting_pid: bool) -> DialectReading:
    try:
        value = parse(text, dialect).value
    except JavaError as error:
        return DialectReading(str(error))
    return _reading_of(value, dialect, expecting_pid)


def _reading_of(value: Json, dialect: Dialect, expecting_pid: bool) -> DialectReading:
    msg = None
    try:
        msg = None if expecting_pid else shell_msg(value, dialect)
        effective = _pid(value, dialect) if msg is None else to_command(msg)
    except JavaError as error:
        return DialectReading(str(error), value, None if msg is None else unanchored(msg))
    return DialectReading(value=value, effective=effective)


def _pid(value: Json, dialect: Dialect) -> Command | Pid | None:
    pid = pid_of(value, dialect)
    return None if pid is None else Pid(pid)
