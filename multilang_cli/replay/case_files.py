"""Case files that are written by a program: their steps and their text (``schemas/case``)."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import yaml

from multilang_cli.catalogue import schemas
from multilang_cli.reports.formats.registry import write_whole

if TYPE_CHECKING:
    from pathlib import Path

ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)+")
"""What an id looks like: ``bolt.my-words``."""
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NoCaseError(ValueError):
    """No case can be made or written; the message says why."""


def step_of(operation: str, arguments: dict[str, Any]) -> str | dict[str, dict[str, Any]]:
    """An operation as it stands in a case file: its name alone where nothing needs to be said."""
    plain = {key: value for key, value in arguments.items() if (key, value) != ("times", 1)}
    return {operation: plain} if plain else operation


def write_case_file(path: Path, case: dict[str, Any], *, replace: bool = False, private: bool = False) -> None:
    """Write a case as YAML, which ``read_case`` gives back. Raises NoCaseError, OSError.

    Nothing is overwritten but with `replace`. `private`: its owner alone may read it.
    """
    if path.exists() and not replace:
        raise NoCaseError(f"{path} is there already; choose another name, nothing is overwritten")
    if wrong := schemas.explain(case, "case"):
        raise NoCaseError(wrong[0])
    write_whole(path, _text_of(case).encode(), private=private)


def _text_of(case: dict[str, Any]) -> str:
    """The case as YAML that is read as what it is. Raises NoCaseError."""
    # With characters as they are, if all can be seen; PyYAML writes a NEL (U+0085) that it reads as a line break.
    for plain in (True, False):
        text = yaml.safe_dump(case, sort_keys=False, allow_unicode=plain, width=110)
        if plain and not all(map(str.isprintable, text.split("\n"))):
            continue
        with suppress(yaml.YAMLError, UnicodeEncodeError):
            if yaml.load(text.encode(), Loader=_Loader) == case:  # noqa: S506 (a safe one)
                return text
    raise NoCaseError("a value of it can't stand in a YAML file, such as half of a surrogate pair")
