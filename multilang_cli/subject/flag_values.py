"""The texts of flags, read: numbers, words, tuples, streams, conf. Each error names the flag and what was expected."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.texts import TextError, json_value
from multilang_cli.driver.memory import size_of
from multilang_cli.protocol.wire.context import Sample
from multilang_cli.protocol.words.messages import DEFAULT_STREAM
from multilang_cli.protocol.words.shortening import CUT, head
from multilang_cli.subject import documents
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.line_files import read_text
from multilang_cli.subject.options import SETTLES, InputSource, StreamDeclaration
from multilang_cli.subject.profiles import LIMITS
from multilang_cli.terminal.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

DIRECT = "!direct"
"""What ends the declaration of a direct stream: ``--stream jobs:id,name!direct``."""
BYTES = ("frame",)
"""Limits in bytes; all others are in seconds."""

_BEHIND_KEY = re.compile(r"(?<=[\w.-])[^\w.-].*", re.DOTALL)
_SYSTEM = "__"
"""What the names of Storm's own components begin with."""
_OF_SOURCE = re.compile(r"\s*(?P<component>[^\s:=\[\]{}\"]+)(?::(?P<stream>[^\s:=\[\]{}\"]+))?=(?=\s*\[)")
"""What stands before a tuple of a named source. No JSON begins so."""

_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off", ""})
_INT32 = 2**31
_MOST_TOGETHER = 1_000_000


def seconds(name: str, text: str) -> float:
    """A time above 0. Raises ConfigError that begins with `name`."""
    value = _number(name, text, "seconds, a number above 0")
    if not (math.isfinite(value) and value > 0):
        raise ConfigError(f"{name}: {text!r}: expected seconds, a finite number above 0.")
    return value


def whole(name: str, text: str) -> int:
    """A whole number. Raises ConfigError that begins with `name`."""
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"{name}: expected a whole number, not {text[:60]!r}.") from None


def _number(name: str, text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{name}: expected {expected}, not {text[:60]!r}.") from None


def memory(name: str, text: str) -> str:
    """A size of memory, such as 2G, or none. Raises ConfigError that begins with `name`."""
    try:
        size_of(text)
    except ValueError:
        raise ConfigError(f"{name}: expected a size such as 512M or 2G, or none, not {text[:60]!r}.") from None
    return text


def truth(name: str, text: str) -> bool:
    """A yes or no. Raises ConfigError that begins with `name`."""
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    raise ConfigError(f"{name}: expected 1 or 0, true or false, not {text[:60]!r}.")


def choice(name: str, text: str, known: Iterable[str]) -> str:
    """One of the words `known`. Raises ConfigError that names the nearest."""
    words = list(known)
    if text not in words:
        raise ConfigError(f"{name}: there is no {text[:60]!r}{did_you_mean(text, words)}")
    return text


def _is_count(text: str) -> bool:
    """True for a number of tuples that may be settled together; Python reads none of thousands of digits."""
    return text.isdecimal() and len(text) <= len(str(_MOST_TOGETHER)) and 0 < int(text) < _MOST_TOGETHER


def settles(text: str) -> str:
    """When a tuple is settled. Raises ConfigError."""
    word, _, number = text.partition("-")
    if word == "after" and _is_count(number):
        return f"after-{int(number)}"
    if text not in SETTLES or text == "after-N":
        raise ConfigError(f"--settles: there is no {text[:60]!r}; expected: {', '.join(SETTLES)}, N a number.")
    return text


def stream(text: str) -> tuple[str, StreamDeclaration]:
    """``NAME:field,field`` with ``!direct`` at the end for a direct stream; ``NAME:`` for one without fields.

    Raises ConfigError.
    """
    plain = text.removesuffix(DIRECT)
    name, colon, listed = plain.partition(":")
    fields = tuple(field.strip() for field in listed.split(",")) if listed.strip() else ()
    if any(":" in field for field in fields):
        written = f"{name}:{listed.replace(':', ',')}"
        raise ConfigError(f"--stream: fields are parted by commas, as in {written[:60]!r}, not {text[:60]!r}.")
    if not (name and colon and all(fields)) or len(set(fields)) < len(fields) or "!" in listed:
        expected = f"expected NAME:field,field with {DIRECT} at the end if it is direct, no field twice"
        raise ConfigError(f"--stream: {expected}, not {text[:60]!r}.")
    return name, StreamDeclaration(fields, direct=plain != text)


def streams(texts: Iterable[str]) -> dict[str, StreamDeclaration]:
    """Streams by name. Raises ConfigError, also where one is declared twice: only one of them would be judged."""
    declared: dict[str, StreamDeclaration] = {}
    for name, declaration in map(stream, texts):
        if name in declared:
            raise ConfigError(f"--stream: the stream {name[:60]} is declared twice.")
        declared[name] = declaration
    return declared


def source(text: str) -> InputSource:
    """``COMPONENT:field,field``, or ``COMPONENT:STREAM:field,field``; no field where its tuples have none.

    Raises ConfigError.
    """
    *names, listed = text.split(":")
    fields = tuple(field.strip() for field in listed.split(",")) if listed.strip() else ()
    right = len(names) in {1, 2} and all(names) and all(fields) and len(set(fields)) == len(fields)
    if not right or names[0].startswith(_SYSTEM):
        expected = "expected COMPONENT:field,field or COMPONENT:STREAM:field,field"
        raise ConfigError(f"--input: {expected}, no field twice, no name of Storm's own, not {text[:60]!r}.")
    component, stream = [*names, DEFAULT_STREAM][:2]
    return InputSource(component, stream, fields)


def sample(text: str, sources: tuple[InputSource, ...] = ()) -> list[Any] | Sample:
    """The values of one tuple, a JSON array; after ``COMPONENT=`` or ``COMPONENT:STREAM=`` if it is of that source.

    `sources`: those that are declared. Raises ConfigError.
    """
    named = _OF_SOURCE.match(text)
    if named is None:
        return _tuple(f"--tuple {text[:60]}", _json("--tuple", text))
    component, stream = named["component"], named["stream"]
    values = _tuple(f"--tuple {text[:60]}", _json("--tuple", text[named.end() :]), empty=True)
    streams = [each.stream for each in sources if each.component == component]
    if not streams:
        near = did_you_mean(component, [each.component for each in sources])
        told = f"tell it with --input {component[:60]}:FIELD,..."
        raise ConfigError(f"--tuple: there is no source {component[:60]!r}{near} Or {told}")
    if stream is None:
        stream = DEFAULT_STREAM if DEFAULT_STREAM in streams else streams[0]
    if stream not in streams:
        near = did_you_mean(stream, streams)
        raise ConfigError(f"--tuple: the source {component[:60]!r} has no stream {stream[:60]!r}{near}")
    return Sample(values, component, stream)


def samples_of_file(name: str, lead: str = "--tuples ", *, empty: bool = False) -> list[list[Any]]:
    """The tuples in a file: a line each, or all as one array of arrays; with `empty`, some may hold nothing.

    Raises ConfigError that begins with `lead`.
    """
    text = read_text(lead, name)
    try:
        whole_text = json_value(text, name)
    except TextError:
        whole_text = None
    if isinstance(whole_text, list) and whole_text and isinstance(whole_text[0], list):
        return [_tuple(f"{lead}{name}: tuple {n}", value, empty=empty) for n, value in enumerate(whole_text, 1)]
    lines = [(f"{lead}{name}:{n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise ConfigError(f"{lead}{name}: there is no tuple in it.")
    return [_tuple(where, _json(where, line), empty=empty) for where, line in lines]


def _tuple(where: str, value: object, *, empty: bool = False) -> list[Any]:
    if not isinstance(value, list) or not (value or empty):
        raise ConfigError(f'{where}: expected a tuple, a JSON array of values such as ["a sentence", 1].')
    return value


def conf_value(text: str) -> tuple[str, Any]:
    """``K=V``: V is JSON, else a string. Raises ConfigError."""
    key, value = pair("--conf", text, "K=V")
    try:
        return key, json_value(value, key)
    except TextError:
        return key, value


def conf_file(name: str) -> dict[str, Any]:
    """The keys and values in a file: JSON or TOML by its suffix, else YAML, such as storm.yaml. Raises ConfigError."""
    try:
        value = documents.parse(read_text("--conf-file ", name), Path(name).suffix.lower(), name)
    except documents.DocumentError as error:
        raise ConfigError(f"--conf-file {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"--conf-file {name}: expected a mapping of keys to values.")
    return value


def _json(where: str, text: str) -> object:
    try:
        return json_value(text, where)
    except TextError as error:
        raise ConfigError(f"{where}: {error.why}.") from None


def pair(flag: str, text: str, expected: str) -> tuple[str, str]:
    """``K=V``. Raises ConfigError that begins with `flag` and names what was `expected`."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        # What stands behind the key may be a secret.
        shown = head(_BEHIND_KEY.sub(CUT, text, count=1), 60)
        raise ConfigError(f"{flag}: expected {expected}, not {shown!r}.")
    return key, value


def variable(text: str) -> tuple[str, str]:
    """``NAME=VALUE``, or ``NAME`` alone, whose value is left to where it is used. Raises ConfigError."""
    name, _, value = text.partition("=")
    if not name:
        raise ConfigError(f"--env: expected NAME=VALUE, or NAME to keep it as it is here, not {text[:60]!r}.")
    return name, value


def limit(text: str) -> tuple[str, float]:
    """``NAME=SECONDS``, or ``NAME=BYTES`` for a limit in bytes. Raises ConfigError."""
    name, value = pair("--limit", text, "NAME=SECONDS")
    choice("--limit", name, (*LIMITS, "grace", *BYTES))
    flag = f"--limit {name}"
    return name, seconds(flag, value) if name not in BYTES else float(_size(flag, value))


def _size(flag: str, text: str) -> int:
    size = whole(flag, text)
    if size < 1:
        raise ConfigError(f"{flag}: expected bytes, a whole number from 1, not {text}.")
    return size


def task_id(text: str) -> int:
    """A task id, as Storm numbers them. Raises ConfigError."""
    task = whole("--task", text)
    if not 0 < task < _INT32:
        raise ConfigError(f"--task: {task} is no task id; expected a whole number from 1 to {_INT32 - 1}.")
    return task
