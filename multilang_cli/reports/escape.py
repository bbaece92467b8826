"""Escaping of what a component wrote, harmless and visible: in a terminal, in XML and in HTML.

Everything that is not printable is shown by its code point, as JSON and Python write it; so are odd spaces such as
U+00A0, which look right and break JSON. A backslash of the text itself is left alone: JSON is full of them. The exact
bytes are in the transcript.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

from multilang_cli.workflow import disarmed, disarmed_inside

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Half of a surrogate pair that is not one by which Python reads a byte that is no UTF-8."""
_TWO_DIGITS = 0x80
_FOUR_DIGITS = 0x10000
_MARK = len("...(1234567 bytes left out)...")


class Shown(NamedTuple):
    """A text fit for a line. `column`: where the character asked for is shown, in terminal cells; None if not asked."""

    text: str
    column: int | None


def decode(raw: bytes) -> str:
    """The text in a component's bytes; a byte that is no UTF-8 is shown by its value, as Python writes it."""
    return raw.decode("utf-8", "backslashreplace")


def decode_at(raw: bytes, at: int) -> tuple[str, int]:
    """The text in a component's bytes, and the index in it of the byte at offset `at`."""
    head = decode(raw[:at])
    return head + decode(raw[at:]), len(head)


def escape(text: str, *, ascii_only: bool = False) -> str:
    """One line of text in which nothing can move the cursor, change a colour or turn the direction of writing."""
    if text.isprintable() and (not ascii_only or text.isascii()):
        return text
    return "".join(_escape_character(character, ascii_only) for character in text)


def escape_halves(text: str) -> str:
    """A text whose halves of surrogate pairs, which no UTF-8 has, are written as in JSON; bytes that were none stay."""
    return text if text.isascii() else _HALF.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def escape_lines(text: str) -> str:
    """The same for a text of several lines: line feeds and the CR before them part lines, all else is escaped."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(escape(line.expandtabs(4)) for line in lines)


def escape_json(text: str) -> str:
    """Lines of JSON in which nothing is hidden, nor obeyed by GitHub's runner; what is escaped is the same value."""
    text = disarmed_inside(text, lambda character: f"\\u{ord(character):04x}")
    if text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("".join(c if c.isprintable() else _in_json(c) for c in line) for line in lines)


def _in_json(character: str) -> str:
    """A character as JSON escapes it: a surrogate pair where that is needed."""
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line of JSON for each row, in which nothing is hidden, nor obeyed."""
    return "".join(f"{escape_json(json.dumps(row, ensure_ascii=False))}\n" for row in rows)


def escape_html(text: str) -> str:
    """Lines of text for HTML, in an element or in a quoted attribute, in which no runner finds a command."""
    return disarmed(html.escape(escape_lines(text), quote=True), lambda character: f"&#{ord(character)};")


def width(text: str) -> int:
    """The number of cells that an escaped text takes on a terminal: wide East Asian characters two, combining none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, limit: int, *, at: int | None = None, ascii_only: bool = False) -> Shown:
    """One escaped line of about `limit` cells at most (sensible from 80 up): too long a text is cut in the middle.

    What is cut is replaced by the number of bytes left out. Around the index `at` the text stays, and the column at
    which it is now shown is given back.
    """
    if len(text) <= limit:
        whole = escape(text, ascii_only=ascii_only)
        if width(whole) <= limit:
            return Shown(whole, None if at is None else width(escape(text[:at], ascii_only=ascii_only)))
    if at is None:
        room = max(0, limit - _MARK)
        end = _fitting(text, room - room // 3, ascii_only)
        begin = len(text) - _fitting(text[::-1], room // 3, ascii_only)
        head, tail = escape(text[:end], ascii_only=ascii_only), escape(text[begin:], ascii_only=ascii_only)
        return Shown(head + _left_out(text[end:begin]) + tail, None)
    room = max(0, limit - 2 * _MARK)
    begin = at - _fitting(text[:at][::-1], room // 2, ascii_only)
    lead = _left_out(text[:begin]) + escape(text[begin:at], ascii_only=ascii_only)
    end = at + _fitting(text[at:], max(1, limit - _MARK - width(lead)), ascii_only)
    return Shown(lead + escape(text[at:end], ascii_only=ascii_only) + _left_out(text[end:]), width(lead))


def _fitting(text: str, room: int, ascii_only: bool) -> int:
    """The number of first characters that fit into so many cells."""
    for index, character in enumerate(text):
        room -= width(_escape_character(character, ascii_only))
        if room < 0:
            return index
    return len(text)


def _escape_character(character: str, ascii_only: bool) -> str:
    if character.isprintable() and not (ascii_only and not character.isascii()):
        return character
    code = ord(character)
    if code < _TWO_DIGITS:
        return _NAMED.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < _FOUR_DIGITS else f"\\U{code:08x}"


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _left_out(text: str) -> str:
    size = len(text.encode("utf-8", "surrogatepass"))
    return f"...({size} bytes left out)..." if size else ""


def chunks(text: str, cells: int) -> list[str]:
    """An escaped text in lines of so many cells."""
    lines = [""]
    room = cells
    for character in text:
        room -= width(character)
        if room < 0:
            lines.append("")
            room = cells - width(character)
        lines[-1] += character
    return lines
