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

DEEPEST = 200
"""Levels of lists and mappings, and parts of a dotted key."""
LARGEST = 64 * 1024 * 1024
"""Bytes of a text."""

MOST_DIGITS = 1000
"""Characters of a number."""

_TOO_DEEP = f"nested too deep: more than {DEEPEST} levels"
_TOO_LONG = f"a number may have {MOST_DIGITS} digits"
_MOST_BITS = int(MOST_DIGITS * math.log2(10))
_DOTTED = re.compile(rf"""(?<![\w"'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{DEEPEST}}}""")
_TOML_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class TextError(ValueError):
    """A text that can't be read. `place`: its name, and the line where that is known; `why`: what is wrong there."""

    def __init__(self, name: str, line: int | None, why: str) -> None:
        self.place = f"{name}:{line}" if line else name
        self.why = why
        super().__init__(f"{self.place}: {why}")


def toml_value(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text, dates as dates. Raises TextError."""
    check_size(text, name)
    if dotted := _DOTTED.search(text):
        line = text.count("\n", 0, dotted.start()) + 1
        raise TextError(name, line, f"a key of more than {DEEPEST} parts")
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        why = _TOML_LINE.sub(r" at column \2", str(error))
        raise TextError(name, int(found[1]) if found else None, f"no TOML: {why}") from None
    except RecursionError:
        raise TextError(name, None, _TOO_DEEP) from None
    except ValueError as error:
        raise TextError(name, None, f"no TOML: {error}") from None
    _check_values(value, name)
    return value


def json_value(text: str, name: str) -> Any:
    """The JSON value of a text. Raises TextError."""
    check_size(text, name)
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
    except json.JSONDecodeError as error:
        line = error.lineno if "\n" in text else None
        raise TextError(name, line, f"no JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise TextError(name, None, _TOO_DEEP) from None
    except ValueError as error:
        raise TextError(name, None, f"no JSON: {error}") from None
    _check_values(value, name)
    return value


def check_size(text: bytes | str, name: str) -> None:
    """Raise TextError for a text that is too long to be read."""
    if len(text) > LARGEST:
        raise TextError(name, None, f"it has {len(text):,} bytes; {LARGEST:,} are read at most")


def _check_values(value: Any, name: str) -> None:
    """Raise TextError for what is nested too deep, or a number that could not be written again."""
    level, depth = [value], 0
    while level := [item for each in level for item in _items(each)]:
        depth += 1
        if depth > DEEPEST:
            raise TextError(name, None, _TOO_DEEP)
        if any(isinstance(item, int) and item.bit_length() > _MOST_BITS for item in level):
            raise TextError(name, None, _TOO_LONG)


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
