"""The names and shapes of secrets (``conformance/secrets.yaml``), compiled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.catalogue.loader import plain
from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable

Where = Literal["settings", "text"]
_COMMON = ("(", "pass", "auth", "pw", "login", "token", "key", "cookie", "webhook", "</", *"{$@?&_-:.")
"""What several hints have in common, the rarest in texts first."""


class Shape(msgspec.Struct, frozen=True):
    """A form of text that gives a secret away: `pattern` has the group `secret`, and may have the group `key`.

    `where`: in settings only, or in any text. `hints`: one of them stands in every text that matches, in lower case.
    """

    name: str
    where: Where
    hints: tuple[str, ...]
    pattern: str
    good: tuple[str, ...]
    bad: tuple[str, ...]


class _File(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    setting_names: tuple[str, ...]
    key_names: tuple[str, ...]
    harmless: tuple[str, ...]
    placeholders: tuple[str, ...]
    shapes: tuple[Shape, ...]


class KnownSecrets(msgspec.Struct, frozen=True):
    """Known secrets: `keys` of conf and environment, names that stand in `settings` and in any `text`.

    None of them is one of the `harmless`.

    `placeholders`: values that are none. `shapes`: each with its pattern, where they are looked for; `hints`: words
    without which they are ruled out fast, each with one bit for every shape that it is of, behind what several have in
    common: where that is not found, none of them is.
    """

    keys: re.Pattern[str]
    settings: re.Pattern[str]
    text: re.Pattern[str]
    harmless: re.Pattern[str]
    placeholders: re.Pattern[str]
    shapes: dict[Where, tuple[tuple[Shape, re.Pattern[str]], ...]]
    hints: dict[Where, tuple[tuple[str, tuple[tuple[str, int], ...]], ...]]


@once
def load_secrets() -> KnownSecrets:
    """Everything that is known of secrets."""
    file = msgspec.convert(plain(data_path("conformance", "secrets.yaml")), _File)
    everywhere = tuple((shape, re.compile(shape.pattern)) for shape in file.shapes)
    shapes: dict[Where, tuple[tuple[Shape, re.Pattern[str]], ...]] = {
        "settings": everywhere,
        "text": tuple(each for each in everywhere if each[0].where == "text"),
    }
    return KnownSecrets(
        keys=_any_of((*file.names, *file.setting_names, *file.key_names)),
        settings=_any_of((*file.names, *file.setting_names)),
        text=_any_of(file.names),
        harmless=_any_of(file.harmless),
        placeholders=_any_of(file.placeholders),
        shapes=shapes,
        hints={where: _hints(shape for shape, _ in each) for where, each in shapes.items()},
    )


def _hints(shapes: Iterable[Shape]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """The hints of shapes, with the shapes that each is of as bits, by what they have in common."""
    found: dict[str, int] = {}
    for number, shape in enumerate(shapes):
        for hint in shape.hints:
            found[hint] = found.get(hint, 0) | 1 << number
    together: dict[str, list[tuple[str, int]]] = {}
    for hint, bits in found.items():
        together.setdefault(next((each for each in _COMMON if each in hint), hint), []).append((hint, bits))
    return tuple((common, tuple(hints)) for common, hints in together.items())


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
