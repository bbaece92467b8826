"""TOML and JSON texts that people hand over, as plain values, within bounds. Errors name the file and the line.

Whatever the notation, also that of ``yaml_texts``, a text that is nested too deep or too long is refused, before it is
built where building it is the harm: tomllib's time grows with the square of a key's parts.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MOST_LEVELS = 200
"""Levels of lists and mappings, and parts of a dotted key."""
LARGEST_TEXT = 64 * 1024 * 1024
"""Bytes of a text."""
LARGEST_TOML = 4 * 1024 * 1024
"""Bytes of a TOML text, for which tomllib needs a second each MiB."""
MOST_JSON_VALUES = 2_000_000
"""Values and names in a JSON text: each takes up to a hundred bytes, whatever it is in the text."""
_PIECE = 64 * 1024
"""Bytes that are read at a time: most texts are smaller."""

MOST_DIGITS = 1000
"""Characters of a number."""

_TOO_DEEP = f"nested too deep: more than {MOST_LEVELS} levels"
_TOO_LONG = f"a number may have {MOST_DIGITS} digits"
_MOST_BITS = int(MOST_DIGITS * math.log2(10))
_DOTTED = re.compile(rf"""(?<![\w"'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_LEVELS}}}""")
_TOKEN = re.compile(
    r"""\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?|\#[^\n]*+|[\[{\]}]|[\w.+-]++""",
    re.VERBOSE,
)
"""Strings, to the end of their line where no quote ends them, and comments, which are passed over; brackets; and what
may be a number."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_TOML_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class TextError(ValueError):
    """A text that can't be read. `place`: its name, and the line where that is known; `why`: what is wrong there."""

    def __init__(self, name: str, line: int | None, why: str) -> None:
        self.place = f"{name}:{line}" if line else name
        self.why = why
        super().__init__(f"{self.place}: {why}")


def file_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """The text of a file, of which no more is read than may be: it can be a device without an end.

    Raises OSError, UnicodeDecodeError, TextError.
    """
    with path.open(encoding=encoding) as file:
        text = file.read(LARGEST_TEXT + 1)
    check_size(text, str(path))
    return text


def file_bytes(path: Path) -> bytes:
    """The bytes of a file, likewise. Raises OSError, TextError."""
    parts, size = [], 0
    with path.open("rb") as file:
        # Asked for all that may be, Python makes room for it at once, and debug allocators fill that.
        while size <= LARGEST_TEXT and (part := file.read(_PIECE)):
            parts.append(part)
            size += len(part)
    data = b"".join(parts)
    check_size(data, str(path))
    return data


def toml_value(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text, dates as dates. Raises TextError."""
    check_size(text, name, LARGEST_TOML)
    if dotted := _DOTTED.search(text):
        line = text.count("\n", 0, dotted.start()) + 1
        raise TextError(name, line, f"a key of more than {MOST_LEVELS} parts")
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        why = _TOML_LINE.sub(r" at column \2", str(error))
        raise TextError(name, int(found[1]) if found else None, f"no TOML: {why}") from None
    except RecursionError:
        raise TextError(name, _line(text), _TOO_DEEP) from None
    except ValueError as error:
        # Python's own limit on the digits of an integer, or a date that no calendar has.
        at = _line(text)
        raise TextError(name, at, _TOO_LONG if at else f"no TOML: {error}") from None
    _check_values(value, text, name)
    return value


def json_value(text: str, name: str) -> Any:
    """The JSON value of a text. Raises TextError."""
    check_size(text, name)
    _check_count(text, name)
    # Of one line, the name alone says where.
    lines = text if "\n" in text else ""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
    except json.JSONDecodeError as error:
        line = error.lineno if lines else None
        raise TextError(name, line, f"no JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise TextError(name, _line(lines), _TOO_DEEP) from None
    except ValueError as error:
        raise TextError(name, _line(lines), f"no JSON: {error}") from None
    _check_values(value, lines, name)
    if "\\u" in text and (half := _half(value)):
        line = lines.count("\n", 0, max(0, lines.lower().find(half))) + 1 if lines else None
        raise TextError(name, line, f"{half} is half of a character (a lone surrogate), which UTF-8 can't say")
    return value


def check_size(text: bytes | str, name: str, most: int = LARGEST_TEXT) -> None:
    """Raise TextError for a text that is too long to be read."""
    if len(text) > most:
        raise TextError(name, None, f"it is larger than {most // 2**20} MiB, which is all that is read")


def _check_count(text: str, name: str) -> None:
    """Raise TextError for a JSON text of more values than are built: small ones take many times their size."""
    if _count(text) > MOST_JSON_VALUES and _count(_STRING.sub("", text)) > MOST_JSON_VALUES:
        raise TextError(name, None, f"it holds more than {MOST_JSON_VALUES:,} values, which is all that is read")


def _count(text: str) -> int:
    return sum(map(text.count, "[{,:"))


def _line(text: str) -> int | None:
    """The line where a text is nested too deep, or has a number that is too long; None where that is not seen."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        # A hexadecimal digit stands for more than a decimal one.
        if depth > MOST_LEVELS or (token[0][0] in "+-0123456789" and len(token[0]) > MOST_DIGITS * 5 // 6):
            return text.count("\n", 0, token.start()) + 1
    return None


def _check_values(value: Any, text: str, name: str) -> None:
    """Raise TextError for what is nested too deep, or a number that could not be written again."""
    level, depth = [value], 0
    while level := [item for each in level for item in _items(each)]:
        depth += 1
        if depth > MOST_LEVELS:
            raise TextError(name, _line(text), _TOO_DEEP)
        if any(isinstance(item, int) and item.bit_length() > _MOST_BITS for item in level):
            raise TextError(name, _line(text), _TOO_LONG)


def _half(value: Any) -> str:
    """The escape of a lone surrogate in a value of bounded depth, "" if there is none."""
    plain = json.dumps(value, ensure_ascii=False, default=str)
    try:
        plain.encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(plain[error.start]):04x}"
    return ""


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(_TOO_LONG)
    return int(text)
