"""Reads a message whose values are large without making objects of them: see ``words/large``.

The message is read without them, by the same code as any other; they are looked through for what `diagnosis` looks for
in a value that was decoded.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import Any, NamedTuple

import msgspec

from multilang_cli.protocol.storm import diagnosis, dialects
from multilang_cli.protocol.storm.diagnosis import Trap
from multilang_cli.protocol.words.large import (
    LARGEST_DECODED,
    STRING,
    LargeValues,
    Nesting,
    check_utf8,
    numbers_in,
    pieces,
)
from multilang_cli.protocol.words.messages import Emit, FromComponent, Malformed

_HALF = re.compile(rb"\\u[dD]")
_KEY_OR_BRACE = re.compile(b"(%b)[ \t\r\n]*+:|%b|([{}])" % (STRING.pattern, STRING.pattern), re.DOTALL)
_ALONE = re.compile(rb'\{[ \t\r\n]*+"[^"\\]*+"[ \t\r\n]*+:(?:[^"{}\[\],]++|"[^"\\]*+")*+\}')
"""An object with one key, most of which are simple."""
_IN_NUMBERS = bytes(ord("0") if byte in b"-+.0123456789eE" else 32 for byte in range(256))
_LONG = b"0" * 19
"""A number with a trap, or with more digits than a double has, after translation by `_IN_NUMBERS`."""
_SIGNS = (b"e", b"E", b"\\u")
"""One of these is in any other trap: an exponent, or half of a surrogate pair."""
_BRACE = re.compile(rb"\{")
_HAZARDS = ("scale", "nested", "decimal")
"""In the order in which a message that was decoded has them."""
_UNLIKE = frozenset({"scale", "decimal"})
_MOST_DIGITS = 4000
_OPENING = ord("[")
_PARTED = 2**18
"""Keys of an object that are compared at a time."""


class _Outline(msgspec.Struct, gc=False):
    """The values of a message, as they stand in it."""

    tuple: msgspec.Raw = msgspec.Raw()


_outline = msgspec.json.Decoder(_Outline).decode
_skip = msgspec.json.Decoder(msgspec.Raw).decode


class Shortened(NamedTuple):
    """A message without its `values`: its `text` has an empty array there, from the byte `at` on.

    `trap`: what is dangerous in them, None if nothing is; `hazards`: as those of ``Emit``.
    """

    text: bytes
    at: int
    values: LargeValues
    trap: Trap | None
    hazards: tuple[str, ...]


def shortened(text: bytes) -> Shortened | Trap | None:
    """The message in `text` without its values; None if they are not large; a trap if it is too deep to be read.

    Raises DecodeError and UnicodeDecodeError for what is no JSON.
    """
    try:
        at, values = _values_in(text)
    except RecursionError:
        return diagnosis.too_deep(0)
    if len(values) <= LARGEST_DECODED or values[0] != _OPENING:
        return None
    look = _Look()
    for piece in pieces(values):
        look.take(piece)
    trap = look.serious or look.deleted or look.harmless or _twice(values)
    hazards = tuple(hazard for hazard in _HAZARDS if hazard in look.hazards)
    if trap is not None:
        trap = trap._replace(at=trap.at + at)
    short = b"".join((text[:at], b"[]", memoryview(text)[at + len(values) :]))
    return Shortened(short, at, LargeValues(values, look.nesting.length(values)), trap, hazards)


def _values_in(text: bytes) -> tuple[int, memoryview]:
    """The place and the JSON of the values: none in most messages. The rest of `text` is JSON too."""
    try:
        return _place(text)
    except msgspec.DecodeError:
        if _HALF.search(text) is None:
            raise
    # Half of a surrogate pair is JSON; elsewhere in the same place stands a character that nobody refuses.
    at, values = _place(text.replace(b"\\ud", b"\\u0").replace(b"\\uD", b"\\u0"))
    return at, memoryview(text)[at : at + len(values)]


def _place(text: bytes) -> tuple[int, memoryview]:
    try:
        values = _outline(text).tuple
    except msgspec.ValidationError:
        # No object. What follows its first byte was not looked at.
        try:
            _skip(text)
        except RecursionError as error:
            raise msgspec.DecodeError(str(error)) from None
        return 0, memoryview(b"")
    return text.find(values), memoryview(values)


def restored(body: FromComponent | Malformed, short: Shortened) -> FromComponent | Malformed:
    """Put the values into each emit that was read of the shortened text."""
    if not isinstance(body, Malformed):
        return _whole(body, short)
    at = body.at if body.at <= short.at else body.at + len(short.values.json) - len(b"[]")
    # Where a number is a BigDecimal to one of Storm's parsers, they do not read alike.
    readings = {} if _UNLIKE.intersection(short.hazards) else body.by_dialect
    by_dialect = {
        name: msgspec.structs.replace(reading, effective=reading.effective and _whole(reading.effective, short))
        for name, reading in readings.items()
    }
    salvage = tuple(_whole(each, short) for each in body.salvage)
    return msgspec.structs.replace(body, salvage=salvage, at=at, by_dialect=by_dialect)


def _whole(message: FromComponent, short: Shortened) -> FromComponent:
    if not isinstance(message, Emit):
        return message
    return msgspec.structs.replace(message, values=short.values, hazards=short.hazards)


class _Look:
    """Dangers in values, seen piece by piece: the first `serious` trap, the first `harmless` one, and hazards."""

    def __init__(self) -> None:
        self.serious: Trap | None = None
        self.harmless: Trap | None = None
        self.deleted: Trap | None = None
        self.hazards: set[str] = set()
        self.nesting = Nesting()
        self._at = 0

    def take(self, piece: bytes) -> None:
        """Look at the next piece. Raises UnicodeDecodeError for bytes that are no UTF-8."""
        check_utf8(piece)
        is_long = _LONG in piece.translate(_IN_NUMBERS)
        if is_long or any(sign in piece for sign in _SIGNS):
            self._tokens(piece)
        if is_long:
            self._decimals(piece)
        if self.deleted is None and (at := diagnosis.deleted_in(piece)) is not None:
            self.deleted = diagnosis.delete_character(self._at + at)
        self.nesting.take(piece)
        if self.nesting.deepest > 1:
            self.hazards.add("nested")
        if self.nesting.deepest >= diagnosis.MAX_DEPTH and self.serious is None:
            self.serious = diagnosis.too_deep(self._at)
        self._at += len(piece)

    def _tokens(self, piece: bytes) -> None:
        """Look at each string and number in which there may be a trap."""
        if diagnosis.MAY_BE_TRAP.search(piece) is None:
            return
        for found in diagnosis.STRING_OR_NUMBER.finditer(piece):
            if diagnosis.MAY_BE_TRAP.search(found[0]) is None:
                continue
            trap = _trap_of(found[0])
            if trap is None:
                continue
            trap = trap._replace(at=self._at + found.start())
            if trap.kind in diagnosis.HARMLESS:
                self.harmless = self.harmless or trap
            else:
                self.serious = self.serious or trap

    def _decimals(self, piece: bytes) -> None:
        for number in map(bytes.decode, numbers_in(piece)):
            if dialects.is_big_decimal(number):
                self.hazards.add("decimal")
                if dialects.is_beyond_scale(number):
                    self.hazards.add("scale")


def _trap_of(token: bytes) -> Trap | None:
    """The trap in a string or a number; Python reads no integer of thousands of digits."""
    if len(token) > _MOST_DIGITS and token[:1] != b'"':
        return diagnosis.integer_too_big(0) if token.removeprefix(b"-").isdigit() else None
    return diagnosis.trap_of_value(json.loads(token), 0, token)


def _twice(values: memoryview) -> Trap | None:
    """The first key that stands twice in an object that ends; None if none does."""
    if _BRACE.search(values) is None:
        return None
    at, keys = 0, list[Any]()
    for piece in pieces(values):
        for key, brace in _KEY_OR_BRACE.findall(_ALONE.sub(b"0", piece)):
            if key:
                keys[-1].append(hash(_plain_key(key)))
            elif brace == b"{":
                keys.append(array("q"))
            elif brace and _has_equal(keys.pop()):
                return Trap("json-duplicate-key", at, "a key stands twice in an object that ends behind this")
        at += len(piece)
    return None


def _plain_key(key: bytes) -> bytes:
    return key if b"\\" not in key else json.dumps(json.loads(key), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _has_equal(hashes: Any) -> bool:
    """True if two are equal; a part of many at a time, so that no set of all is made."""
    parts = 1 + len(hashes) // _PARTED
    for part in range(parts) if len(hashes) > 1 else ():
        these = hashes if parts == 1 else [each for each in hashes if each % parts == part]
        if len(set(these)) < len(these):
            return True
    return False
