"""Files that hold JSON values, in whatever notation: JSON, a JSON value a line, YAML, TOML."""

from __future__ import annotations

import json
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from multilang_cli.catalogue.texts import LARGEST_TEXT, TextError, file_text, json_value, toml_value
from multilang_cli.catalogue.yaml_texts import check_bounds, lines_of, yaml_value

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = frozenset({".ndjson", ".jsonl", ""})
"""Suffixes of files with a JSON value a line; "" is that of stdin."""


class DocumentError(ValueError):
    """A file that can't be read: the message names it, the line where known, and what is wrong."""


class Document:
    """A value, and where it stands: in the line `number`, or in a `text` of which it is all; "" if that is unknown."""

    def __init__(self, path: str, value: Any, *, number: int | None = None, text: str = "") -> None:
        self.path = path
        self.value = value
        self._number = number
        self._text = text

    @cached_property
    def lines(self) -> dict[str, int]:
        """The line of every value by JSON pointer, its own under "": looked for where one is asked for."""
        return _lines(self._text) if self._number is None else {"": self._number}

    def place(self, pointer: str) -> str:
        """File and line of the value at a JSON pointer, or of what holds it; the file alone if not known."""
        while pointer and pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return f"{self.path}:{self.lines[pointer]}" if pointer in self.lines else self.path


def documents(path: str) -> Iterator[Document]:
    """The values in a file, "-" for stdin; which notation is told by its suffix. Raises DocumentError."""
    suffix = "" if path == "-" else Path(path).suffix.lower()
    text = _text(path)
    if suffix not in LINES:
        yield Document(path, parse(text, suffix, path), text="" if suffix == ".toml" else text)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield Document(path, parse(line, ".json", f"{path}:{number}"), number=number)


def parse(text: str, suffix: str, name: str) -> Any:
    """The JSON value in a text: JSON or TOML by its suffix, else YAML. Raises DocumentError that begins with `name`.

    Dates, which JSON does not know, become strings.
    """
    try:
        if suffix == ".json":
            return json_value(text, name)
        if suffix != ".toml":
            return yaml_value(text, name)
        return json.loads(json.dumps(toml_value(text, name), default=str, allow_nan=False))
    except TextError as error:
        raise DocumentError(f"{error}.") from None
    except ValueError as error:
        raise DocumentError(f"{name}: {error}.") from None


def _text(path: str) -> str:
    try:
        return sys.stdin.read(LARGEST_TEXT + 1) if path == "-" else file_text(Path(path), "utf-8")
    except OSError as error:
        raise DocumentError(f"{path}: can't be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: byte {error.start} is no UTF-8.") from None
    except TextError as error:
        raise DocumentError(f"{error}.") from None


def _lines(text: str) -> dict[str, int]:
    """The line of every value by JSON pointer; empty where it can't be told, or takes too long."""
    try:
        check_bounds(text)
        return lines_of(text) if text else {}
    except (yaml.YAMLError, RecursionError):
        return {}
