"""Parsers of typed input: words, JSON values, bytes with escapes, numbers, and where a command ends."""

from __future__ import annotations

import json
import math
import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from multilang_cli.repl.commands.table import Misuse
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.flag_values import samples_of_file
from multilang_cli.subject.line_files import read_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

MOST_TIMES = 1_000_000
"""How often one command may do something."""
SHOWN_OF_INPUT = 60

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+("?)')
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[nrt0\\\"'])")
_NAMED = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", '"': b'"', "'": b"'"}


def words(rest: str) -> list[str]:
    """Words as a shell parts them. Raises Misuse."""
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise Misuse(f"{rest[:SHOWN_OF_INPUT]!r}: {str(error).lower()}") from None


def options(rest: str, known: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Words, and the values of ``name=value`` among them. Raises Misuse for a name that is not `known`."""
    plain: list[str] = []
    named: dict[str, str] = {}
    for word in words(rest):
        name, equals, value = word.partition("=")
        if not equals:
            plain.append(word)
        elif name in known:
            named[name] = value
        else:
            raise Misuse(
                f"there is no {name[:SHOWN_OF_INPUT]!r} here; known are {', '.join(f'{each}=' for each in known)}"
            )
    return plain, named


def number(text: str, what: str, *, least: int = 1, most: int = MOST_TIMES) -> int:
    """A whole number. Raises Misuse."""
    try:
        value = int(text)
    except ValueError:
        raise Misuse(f"{what}: expected a whole number, not {text[:SHOWN_OF_INPUT]!r}") from None
    if not least <= value <= most:
        raise Misuse(f"{what}: expected a whole number from {least} to {most}, not {value}")
    return value


def seconds(text: str, what: str) -> float:
    """A time in seconds, 0 or more. Raises Misuse."""
    try:
        value = float(text)
    except ValueError:
        raise Misuse(f"{what}: expected seconds, not {text[:SHOWN_OF_INPUT]!r}") from None
    if not (math.isfinite(value) and value >= 0):
        raise Misuse(f"{what}: expected seconds, 0 or more, not {text[:SHOWN_OF_INPUT]!r}")
    return value


def leading_json(text: str) -> tuple[Any, str]:
    """The JSON value that `text` begins with, and what stands behind it. Raises Misuse."""
    try:
        value, end = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).raw_decode(text)
    except json.JSONDecodeError as error:
        raise Misuse(f"no JSON: {error.msg} at column {error.pos + 1} of {text[:SHOWN_OF_INPUT]!r}") from None
    except RecursionError:
        raise Misuse("no JSON that is read here: it is nested too deep") from None
    except ValueError as error:
        raise Misuse(f"no JSON: {error}") from None
    return value, text[end:]


def json_or_text(text: str) -> Any:
    """A JSON value if it is one, else the text itself."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:SHOWN_OF_INPUT]} is too large for a double")
    return value


def escaped_bytes(text: str) -> bytes:
    r"""Bytes as they are typed: UTF-8, with ``\n``, ``\r``, ``\t``, ``\0``, ``\\``, ``\xHH`` and ``\uHHHH``.

    Raises Misuse for a backslash before anything else.
    """
    data, at = bytearray(), 0
    for found in _ESCAPE.finditer(text):
        data += _literal(text[at : found.start()])
        code = found[1]
        if code in _NAMED:
            data += _NAMED[code]
        elif code[0] == "x":
            data.append(int(code[1:], 16))
        else:
            data += chr(int(code[1:], 16)).encode("utf-8", "surrogatepass")
        at = found.end()
    return bytes(data + _literal(text[at:]))


def as_escaped(data: bytes) -> str:
    """`data` as it is typed for `escaped_bytes`, in one line."""
    plain = data.decode("utf-8", "surrogateescape").replace("\\", "\\\\")
    named = plain.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return "".join(map(_shown, named))


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def _literal(text: str) -> bytes:
    if "\\" in text:
        raise Misuse(r"a backslash stands before what it does not escape; write \\ for one, or \n \r \t \0 \xHH \uHHHH")
    return text.encode("utf-8", "surrogateescape")


def tuples_of(path: Path) -> list[list[Any]]:
    """The tuples in a file, a JSON array a line, or one array of arrays. Raises Misuse with the line."""
    try:
        return samples_of_file(str(path), "", empty=True)
    except ConfigError as error:
        raise Misuse(str(error).removesuffix(".")) from None


def text_of(path: Path) -> str:
    """The text of a file in UTF-8. Raises Misuse."""
    try:
        return read_text("", str(path))
    except ConfigError as error:
        raise Misuse(str(error).removesuffix(".")) from None


class _Brackets:
    """Counts brackets of JSON, line by line."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False

    @property
    def open(self) -> bool:
        """True if a bracket or a string is not closed yet."""
        return self._depth + self._in_string > 0

    def take(self, line: str) -> None:
        """Count those of one more line."""
        text = f'"{line}' if self._in_string else line
        self._in_string = False
        plain = _STRING.sub(self._without, text)
        self._depth += sum(map(plain.count, "[{")) - sum(map(plain.count, "]}"))

    def _without(self, found: re.Match[str]) -> str:
        self._in_string = not found[1]
        return ""


@lru_cache(maxsize=1)
def is_open(text: str) -> bool:
    """True if a bracket, or a string inside one, is still open in `text`: the command goes on in the next line."""
    brackets = _Brackets()
    brackets.take(text)
    return brackets.open


def statements(lines: Iterable[str], json_commands: Collection[str]) -> Iterator[tuple[int, str]]:
    """Commands and the numbers, from 1, of the lines they begin in; without empty lines and comments (``#``)."""
    begun, parts, brackets = 0, list[str](), None
    for place, line in enumerate(lines, 1):
        if not parts:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            begun = place
            brackets = _Brackets() if line.split(None, 1)[0] in json_commands else None
        parts.append(line)
        if brackets is not None:
            brackets.take(line)
        if brackets is None or not brackets.open:
            yield begun, "\n".join(parts).strip()
            parts = []
    if parts:
        yield begun, "\n".join(parts).strip()
