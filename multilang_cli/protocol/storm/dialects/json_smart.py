r"""json-smart 2.x in its permissive mode, as Storm 2.6 and later use it.

It stops after the first value, whatever follows; anything that is no JSON token is a string up to the next separator;
U+001A is the end of the text; a control character in a string stays, unless the string has a backslash, then it goes;
a number followed by control characters is computed with them. Bugs are part of the dialect.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.storm.dialects.java import BigInteger, JavaError, from_units, to_units, wrap

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Json

MAX_DEPTH = 400
"""Containers inside one another that json-smart reads; one more is refused."""

_END = "\x1a"
_SPACE = " \r\n\t"
_BLANKS = re.compile(r"[\x00-\x19\x1b-\x20]*")
_BLANK = "".join(map(chr, range(33)))
_DIGITS = re.compile("[0-9]*")
_PLAIN = re.compile(r"[^\"'\\\x00-\x1f\x7f]*")
_STOPS = {"": re.compile(r"[^\x1a]*")} | {stop: re.compile(rf"[^{re.escape(stop)}\x1a]*") for stop in (",]", ",}", ":")}
_ORDINARY_BELOW = "~"
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "NaN": float("nan")}
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b", "\\": "\\", "/": "/", "'": "'", '"': '"'}
_UNICODE = {"u": 4, "x": 2}
_HEX = frozenset("0123456789abcdefABCDEF")
# Character.isWhitespace: the no-break spaces and U+0085 are none.
_TRIMMED = "\t\n\x0b\f\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a"
_TRIMMED += "\u2028\u2029\u205f\u3000"
_LONG_DIGITS, _LONG_BITS, _INT_BITS = 19, 64, 32
_GROUP = 9
_DOUBLE_LENGTH = 18
_MAX_DIGITS = 4000
"""Digits of an integer whose value is kept, with its sign, as lenient reading keeps it: Python writes no longer one."""


def parse(text: str) -> Json:
    """Read the first value (``JSONValue.parseWithException``): the rest of the text is not looked at.

    Raises JavaError: IOException with the ParseException's text, positions in UTF-16 units, or NumberFormatException.
    """
    return _Parser(to_units(text)).parse()


def is_big_decimal(number: str) -> bool:
    """Tell whether json-smart makes this literal a BigDecimal: a point or an exponent, and more than 18 characters.

    Sign, point and exponent count: 0.1234567890123456 is a Double, 0.30000000000000004 is not.
    """
    return len(number) > _DOUBLE_LENGTH and not number.removeprefix("-").isdecimal()


def is_beyond_scale(number: str) -> bool:
    """Tell whether a literal that would be a BigDecimal has an exponent, or a scale, of more than 32 bits."""
    try:
        _big_decimal(number)
    except (ValueError, InvalidOperation):
        return True
    return False


class _Parser:
    """One character at a time: `_c` is the one at `_pos`, or the end mark. `_open`: containers, innermost last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[Any] = []
        self._go(0)

    def parse(self) -> Json:
        """The first value of the text, as json-smart makes it; where it refuses the text, what it says is raised."""
        self._skip_space()
        root = self._opened() if self._c in ("{", "[") else self._first()
        while self._open:
            if isinstance(self._open[-1], dict):
                self._in_object(self._open[-1])
            else:
                self._in_array(self._open[-1])
        return root

    def _first(self) -> Json:
        if self._c in (":", "}", "]"):
            raise self._unexpected_char(self._pos)
        return self._scalar("")

    def _value(self, stop: str) -> Json:
        self._skip_space()
        if self._c in (":", "}", "]"):
            raise self._unexpected_char(self._pos)
        if self._c == _END:
            raise self._unexpected_end("EOF")
        return self._opened() if self._c in ("{", "[") else self._scalar(stop)

    def _opened(self) -> Json:
        if len(self._open) == MAX_DEPTH:
            raise _refused(
                f"Malicious payload, having non natural depths, parsing stoped on {self._c} at position {self._pos}."
            )
        container: Json = {} if self._c == "{" else []
        self._open.append(container)
        if isinstance(container, list):
            self._read()
        return container

    def _scalar(self, stop: str) -> Json:
        if self._c in ('"', "'"):
            return self._string()
        if self._c in "-0123456789":
            return self._number(stop)
        can_be_word = self._c in "ntfN"
        text = self._unquoted(stop)
        return _WORDS[text] if can_be_word and text in _WORDS else text

    def _in_array(self, array: list[Json]) -> None:
        if self._c == "]":
            self._close()
        elif self._c in (":", "}"):
            raise self._unexpected_char(self._pos)
        elif self._c == _END:
            raise self._unexpected_end("EOF")
        elif self._c == "," or self._c in _SPACE:
            self._read()
        else:
            array.append(self._value(",]"))

    def _in_object(self, members: dict[str, Json]) -> None:
        self._read()
        if self._c in (":", "]", "[", "{"):
            raise self._unexpected_char(self._pos)
        if self._c == "}":
            self._close()
        elif self._c != "," and self._c not in _SPACE:
            self._member(members)

    def _member(self, members: dict[str, Json]) -> None:
        key = self._string() if self._c in ('"', "'") else self._unquoted(":")
        self._skip_blanks()
        if self._c == _END:
            raise self._unexpected_end("null")
        if self._c != ":":
            raise self._unexpected_char(self._pos - 1)
        self._read()
        if self._pos >= len(self._text):
            raise self._unexpected_end("EOF")
        depth = len(self._open)
        members[key] = self._value(",}")
        if len(self._open) == depth and self._object_ends():
            self._close()

    def _object_ends(self) -> bool:
        self._skip_blanks()
        if self._c == _END:
            raise self._unexpected_end("null")
        if self._c not in (",", "}"):
            raise _refused(f"Unexpected token {self._c} at position {self._pos - 1}.")
        return self._c == "}"

    def _close(self) -> None:
        """Close the innermost container, and every object that ends right after it."""
        closing = True
        while closing:
            self._open.pop()
            self._read()
            closing = bool(self._open) and isinstance(self._open[-1], dict) and self._object_ends()

    def _unquoted(self, stop: str) -> str:
        start = self._pos
        self._skip(_STOPS[stop])
        return self._cut(start)

    def _string(self) -> str:
        end = self._text.find(self._c, self._pos + 1)
        if end < 0:
            raise _refused(f"Unexpected End Of File position {len(self._text)}: null")
        plain = self._text[self._pos + 1 : end]
        if "\\" in plain:
            return self._escaped_string(self._c)
        self._go(end + 1)
        return from_units(plain)

    def _escaped_string(self, quote: str) -> str:
        parts: list[str] = []
        self._read()
        while self._c != quote:
            start = self._pos
            self._skip(_PLAIN)
            parts.append(self._text[start : self._pos])
            if self._c == quote:
                break
            if self._c == _END:
                raise self._unexpected_end("null")
            if self._c == "\\":
                self._read()
                parts.append(self._escape())
            elif self._c in ('"', "'"):
                parts.append(self._c)
            self._read()
        self._read()
        return from_units("".join(parts))

    def _escape(self) -> str:
        if self._c not in _UNICODE:
            return _ESCAPES.get(self._c, "")
        digits = ""
        for _ in range(_UNICODE[self._c]):
            self._read()
            if self._c == _END:
                raise _refused(f"Unexpected End Of File position {self._pos}: EOF")
            if self._c not in _HEX:
                raise _refused(f"Unexpected unicode escape sequence {self._c} at position {self._pos}.")
            digits += self._c
        return chr(int(digits, 16))

    def _number(self, stop: str) -> Json:
        start = self._pos
        self._read()
        self._skip(_DIGITS)
        if not (fraction := self._c in (".", "E", "e")):
            return self._unless_text(start, stop, fraction=fraction)
        if self._c == ".":
            self._read()
            self._skip(_DIGITS)
        if self._c in ("E", "e"):
            self._read()
            if self._c not in ("+", "-") and not "0" <= self._c <= "9":
                self._skip(_STOPS[stop])
                return self._cut(start)
            self._read()
            self._skip(_DIGITS)
        return self._unless_text(start, stop, fraction=True)

    def _unless_text(self, start: int, stop: str, *, fraction: bool) -> Json:
        """End a number; a further character makes all of it a string, except one from U+007E on, which is left."""
        self._skip_blanks()
        if self._c < _ORDINARY_BELOW and self._c not in stop and self._c != _END:
            self._skip(_STOPS[stop])
            return self._cut(start)
        text = self._cut(start)
        return self._fraction(text) if fraction else _integer(text)

    def _fraction(self, text: str) -> float | Decimal:
        try:
            return _big_decimal(text) if is_big_decimal(text) else float(text.rstrip(_BLANK))
        except (ValueError, InvalidOperation):
            raise _refused(f"Unexpected token {text} at position {self._pos}.") from None

    def _cut(self, start: int) -> str:
        text = self._text[start : self._pos]
        return from_units(text.strip(_TRIMMED) or text[-1:])

    def _go(self, pos: int) -> None:
        self._pos = pos
        self._c = self._text[pos] if pos < len(self._text) else _END

    def _read(self) -> None:
        self._go(self._pos + 1)

    def _skip(self, what: re.Pattern[str]) -> None:
        if self._c != _END and (run := what.match(self._text, self._pos)):
            self._go(run.end())

    def _skip_blanks(self) -> None:
        self._skip(_BLANKS)

    def _skip_space(self) -> None:
        while self._c in _SPACE:
            self._read()

    def _unexpected_char(self, at: int) -> JavaError:
        return _refused(f"Unexpected character ({self._c}) at position {at}.")

    def _unexpected_end(self, what: str) -> JavaError:
        return _refused(f"Unexpected End Of File position {self._pos - 1}: {what}")


def _refused(text: str) -> JavaError:
    return JavaError("java.io.IOException", f"org.apache.storm.shade.net.minidev.json.parser.ParseException: {text}")


def _big_decimal(text: str) -> Decimal:
    """``new BigDecimal(text)``: exponent and scale must fit 32 bits, which Python would not ask."""
    mantissa, _, exponent = text.lower().partition("e")
    power, places = int(exponent or "0"), len(mantissa.partition(".")[2])
    if any(number != wrap(number, _INT_BITS) for number in (power, places - power)):
        raise InvalidOperation
    return Decimal(text)


def _integer(text: str) -> int:
    """``JSONParserBase.parseNumber``: short ones digit by digit, unchecked; long ones by ``new BigInteger``."""
    negative = text.startswith("-")
    digits = text[negative:]
    if len(digits) <= _LONG_DIGITS:
        value = 0
        for digit in digits:
            value = value * 10 + ord(digit) - ord("0")
        value = -value if negative else value
        if value == wrap(value, _LONG_BITS):
            return value
    if not digits.isdecimal():
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{_bad_group(digits.lstrip("0"))}"')
    return BigInteger(text[:_MAX_DIGITS])


def _bad_group(digits: str) -> str:
    """The digits that BigInteger can't read: it takes nine at a time, counted from the end."""
    bad = next(at for at, digit in enumerate(digits) if not digit.isdecimal())
    end = len(digits) - (len(digits) - 1 - bad) // _GROUP * _GROUP
    return digits[max(0, end - _GROUP) : end]
