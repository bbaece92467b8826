"""json-simple 1.1, as Storm up to 2.5 uses it: a lexer by regular expression, a parser that is lax about separators.

Commas and colons are hardly asked for (``[1 2]`` and ``{"a" 1,,}`` pass), nothing but JSON's own tokens is known, and
a backslash before any other character stays in the string.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.storm.dialects.java import JavaError, from_units, to_units, value_text, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.messages import Json

_SPACE = re.compile(r"[ \t\r\n]+")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_STRING = re.compile(r'"((?:[^"\\]++|\\["\\]?+)*+)"')
_ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|["\\/bfnrt])')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}
_LONG_BITS, _LONG_DIGITS = 64, 19
_VALUE, _END = "VALUE", "END OF FILE"
_MARKS = {
    "{": "LEFT BRACE({)",
    "}": "RIGHT BRACE(})",
    "[": "LEFT SQUARE([)",
    "]": "RIGHT SQUARE(])",
    ",": "COMMA(,)",
    ":": "COLON(:)",
}


class _Token(NamedTuple):
    kind: str
    value: Json
    at: int

    def __str__(self) -> str:
        return f"VALUE({value_text(self.value)})" if self.kind == _VALUE else _MARKS.get(self.kind, self.kind)


def parse(text: str) -> Json:
    """Read one value (``JSONValue.parseWithException``).

    Raises JavaError: IOException with the place, counted in UTF-16 units, or NumberFormatException.
    """
    parser = _Parser()
    for token in _tokens(to_units(text)):
        if parser.finished and token.kind == _END:
            return parser.root
        if parser.finished or not parser.takes(token):
            raise JavaError("java.io.IOException", f"Unexpected token {token} at position {token.at}.")
    raise AssertionError("the end of the text is a token, and always an end")


class _Parser:
    """The containers still open, innermost last, and the key that waits for its value."""

    def __init__(self) -> None:
        self.root: Json = None
        self.finished = False
        self._open: list[Any] = []
        self._key: str | None = None

    def takes(self, token: _Token) -> bool:
        """Do what the token says; False if it has no place here."""
        if token.kind in ("{", "["):
            container: Json = {} if token.kind == "{" else []
            if not self._put(container):
                return False
            self._open.append(container)
            return True
        if token.kind == _VALUE:
            return self._take_value(token.value)
        return bool(self._open) and self._take_mark(token.kind)

    def _take_value(self, value: Json) -> bool:
        if self._in_object() and self._key is None:
            self._key = value if isinstance(value, str) else None
            return isinstance(value, str)
        self.finished = not self._open
        return self._put(value)

    def _take_mark(self, mark: str) -> bool:
        if self._key is not None:
            return mark == ":"
        if mark == ("}" if self._in_object() else "]"):
            self._open.pop()
            self.finished = not self._open
            return True
        return mark == ","

    def _put(self, value: Json) -> bool:
        if not self._open:
            self.root = value
        elif not self._in_object():
            self._open[-1].append(value)
        elif self._key is None:
            return False
        else:
            self._open[-1][self._key] = value
            self._key = None
        return True

    def _in_object(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1], dict)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        token, at = _token(text, at)
        yield token
    yield _Token(_END, None, len(text))


def _token(text: str, at: int) -> tuple[_Token, int]:
    """Read one token; it comes with the place where the next may begin."""
    if text[at] in _MARKS:
        return _Token(text[at], None, at), at + 1
    if text[at] == '"':
        return _string(text, at)
    if number := _NUMBER.match(text, at):
        value = float(number[0]) if number[1] or number[2] else _long(number[0])
        return _Token(_VALUE, value, at), number.end()
    if word := _WORD.match(text, at):
        return _Token(_VALUE, _WORDS[word[0]], at), word.end()
    raise JavaError("java.io.IOException", f"Unexpected character ({text[at]}) at position {at}.")


def _string(text: str, at: int) -> tuple[_Token, int]:
    # Java's lexer knows a string by its closing quote, so that is its position.
    string = _STRING.match(text, at)
    if not string:
        return _Token(_END, None, len(text)), len(text)
    value = from_units(_ESCAPE.sub(_unescaped, string[1]))
    return _Token(_VALUE, value, string.end() - 1), string.end()


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPES.get(code, code)


def _long(digits: str) -> int:
    significant = digits.lstrip("-").lstrip("0") or "0"
    if len(significant) <= _LONG_DIGITS:
        value = int(significant) * (-1 if digits[0] == "-" else 1)
        if value == wrap(value, _LONG_BITS):
            return value
    raise JavaError("java.lang.NumberFormatException", f'For input string: "{digits}"')
