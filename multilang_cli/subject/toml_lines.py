"""Lines of keys in a TOML file: the standard library's parser gives values without their lines."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]
"""The way to a value: keys of tables and indexes of arrays, such as ("component", 0, "samples", 1)."""

_TABLE = re.compile(r"\s*\[(?P<key>[^\[\]]+)\]\s*(?:#.*)?$")
_ARRAY_TABLE = re.compile(r"\s*\[\[(?P<key>[^\[\]]+)\]\]\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"""\s*(?P<key>(?:[\w.\- ]|"[^"]*"|'[^']*')+?)\s*=""")


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, of the last key on `path` that stands on a line of its own in `text`; None if none does.

    A guess by the look of lines, made for error messages: a line in a text of several lines may look like a key.
    """
    best, depth = None, 0
    for number, here in _keys(text):
        if here == (*path, 0):
            # An array of tables has no line of its own: it begins with its first.
            here = path  # noqa: PLW2901
        shared = len(here) if path[: len(here)] == here else 0
        if shared > depth:
            best, depth = number, shared
    return best


def _keys(text: str) -> Iterator[tuple[int, Path]]:
    """The full path of each key that begins a line, with the line's number."""
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if found := _ARRAY_TABLE.match(line):
            array = _indexed(_words(found["key"]), counts)
            counts[array] = counts.get(array, -1) + 1
            table = (*array, counts[array])
            yield number, table
        elif found := _TABLE.match(line):
            table = _indexed(_words(found["key"]), counts)
            yield number, table
        elif found := _ASSIGNMENT.match(line):
            yield number, (*table, *_words(found["key"]))


def _indexed(keys: tuple[str, ...], counts: dict[Path, int]) -> Path:
    """The path of a table's header: where a key on the way is an array of tables, its last element is meant."""
    path: Path = ()
    for position, key in enumerate(keys, 1):
        path = (*path, key)
        if position < len(keys) and path in counts:
            path = (*path, counts[path])
    return path


def _words(dotted: str) -> tuple[str, ...]:
    """The keys in a dotted key, as TOML reads it."""
    try:
        value: object = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    keys = []
    while isinstance(value, dict):
        ((key, value),) = value.items()
        keys.append(key)
    return tuple(keys)
