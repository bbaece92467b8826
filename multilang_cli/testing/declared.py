"""Declarations of components as Python code writes them, checked before anything starts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.subject.options import Component, InputSource, StreamDeclaration
from multilang_cli.subject.profiles import LIMITS
from multilang_cli.subject.samples import misdeclared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Fields = Mapping[str, Sequence[str]]


KINDS = ("bolt", "spout", "auto")


class DeclarationError(ValueError):
    """A component is declared in a way that can't be: one sentence says what. No component is to blame."""


def declare(
    command: Sequence[str],
    kind: Literal["bolt", "spout", "auto"],
    storm: str = "",
    *,
    streams: Fields | None = None,
    sources: Fields | None = None,
    **more: Any,
) -> Component:
    """The component of this command. `more`: as in a ``[[component]]`` of mlcheck.toml. Raises DeclarationError."""
    if not command:
        raise DeclarationError('which command? For example "python3", "split.py"')
    check_words('a command is words, as in "python3", "split.py"', command)
    if kind not in KINDS:
        raise DeclarationError(f"the kind {kind!r} is not known; there are {', '.join(KINDS)}")
    check_storm(storm)
    for name, fields in {**(streams or {}), **(sources or {})}.items():
        check_list(f"the list of fields of {name!r}", fields)
    limits = more.get("limits", {})
    if wrong := [name for name, seconds in limits.items() if name in LIMITS and not _is_positive(seconds)]:
        raise DeclarationError(
            f"the limit {wrong[0]!r} is {limits[wrong[0]]!r}; it is a number of seconds, more than 0"
        )
    check_known("the limit", limits, LIMITS)
    if wrong := [name for name, value in more.get("env", {}).items() if not isinstance(value, str | os.PathLike)]:
        raise DeclarationError(f"the value of {wrong[0]!r} in env is no text")
    known = [name for name in Component.__struct_fields__ if name not in {"command", "kind"}]
    check_known("the key", more, known)
    if streams:
        more["streams"] = {name: StreamDeclaration(tuple(fields)) for name, fields in streams.items()}
    if sources:
        more["sources"] = _sources(sources)
    component = Component(command=tuple(os.fspath(word) for word in command), kind=kind, **more)
    if wrong_samples := misdeclared(component):
        raise DeclarationError(wrong_samples)
    return component


def _is_positive(seconds: object) -> bool:
    return isinstance(seconds, int | float) and seconds > 0


def check_words(what: str, values: Iterable[object]) -> None:
    """Raise DeclarationError for the first that is neither a text nor a path, such as a list of them."""
    for value in values:
        if not isinstance(value, str | os.PathLike):
            raise DeclarationError(f"{what}: {value!r} is none")


def check_list(what: str, value: Any) -> None:
    """Raise DeclarationError for a text, which would be taken for a list of its letters."""
    if isinstance(value, str | bytes):
        raise DeclarationError(f"{what} is written as [{value!r}], not {value!r}")


def check_storm(storm: str) -> None:
    """Raise DeclarationError for a Storm version that is not known; "" is the newest."""
    try:
        load_rulebook(storm).version(storm or "2")
    except KeyError as known:
        raise DeclarationError(f"there is no Storm version {storm!r}; known are {known.args[0]}") from None


def check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise DeclarationError for the first name that is not known: a misspelt one must not go unheard."""
    known = tuple(known)
    for name in names:
        if name not in known:
            raise DeclarationError(f"{what} {name!r} is not known; there are {', '.join(known)}")


def _sources(told: Fields) -> tuple[InputSource, ...]:
    names = {name: name.partition(":") for name in told}
    return tuple(InputSource(names[name][0], names[name][2] or "default", tuple(told[name])) for name in told)
