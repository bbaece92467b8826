"""Selection of cases: patterns, given one by one or in files, and the cases that they leave."""

from __future__ import annotations

import fnmatch
from difflib import get_close_matches
from typing import TYPE_CHECKING

from multilang_cli.terminal.exits import CommandError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.suite.cases.case import Case

_NEAR_ENOUGH = 0.3
"""How alike an id must be to be offered: low, since patterns are often a part of one."""


class SelectionError(CommandError):
    """Nothing is selected, or a pattern matches nothing: the message names the nearest id."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.NOTHING_SELECTED)


def fitting(cases: Iterable[Case], kind: str) -> list[Case]:
    """The cases for a `kind` of component: bolt, spout, or auto for those of either."""
    return [case for case in cases if kind == "auto" or case.kind in {kind, "both"}]


def select(cases: Iterable[Case], kind: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> list[Case]:
    """The cases for a `kind` of component that match: by id, dotted prefix or glob. Raises SelectionError."""
    possible = fitting(cases, kind)
    which = "case" if kind == "auto" else f"{kind} case"
    ids = matching([case.id for case in possible], include, exclude, which, "cases")
    return [case for case in possible if case.id in ids]


def matching(ids: list[str], include: tuple[str, ...], exclude: tuple[str, ...], which: str, listed: str) -> list[str]:
    """Those of `ids` that match: by id, dotted prefix or glob. Raises SelectionError.

    `which`: what they are called; `listed`: what `mlcheck list` calls them.
    """
    for pattern in (*include, *exclude):
        if not any(_matches(id_, pattern) for id_ in ids):
            hint = nearest(pattern, [*ids, *_prefixes(ids)])
            raise SelectionError(f"no {which} matches {pattern!r}{hint} (`mlcheck list {listed}` shows all)")
    chosen = [id_ for id_ in ids if not include or any(_matches(id_, pattern) for pattern in include)]
    chosen = [id_ for id_ in chosen if not any(_matches(id_, pattern) for pattern in exclude)]
    if not chosen:
        raise SelectionError("the selection leaves no case to run")
    return chosen


def _prefixes(ids: Iterable[str]) -> set[str]:
    split = [id_.split(".") for id_ in ids]
    return {".".join(words[:count]) for words in split for count in range(1, len(words))}


def nearest(name: str, ids: Iterable[str]) -> str:
    """``; did you mean ID?``, or nothing where no id is near."""
    near = get_close_matches(name, list(ids), n=1, cutoff=_NEAR_ENOUGH)
    return f"; did you mean {near[0]}?" if near else ""


def _matches(id_: str, pattern: str) -> bool:
    return id_ == pattern or id_.startswith(pattern + ".") or fnmatch.fnmatchcase(id_, pattern)
