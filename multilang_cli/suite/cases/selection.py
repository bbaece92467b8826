"""Selection of cases: patterns, given one by one or in files, and the cases that they leave."""

from __future__ import annotations

import fnmatch
from difflib import get_close_matches
from typing import TYPE_CHECKING

from multilang_cli.catalogue.written import cases_by_rule, load_sentences
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
    """The cases for a `kind` of component that match, as of `matching`. Raises SelectionError."""
    possible = fitting(cases, kind)
    which = "case" if kind == "auto" else f"{kind} case"
    ids = matching([case.id for case in possible], include, exclude, which, "cases")
    return [case for case in possible if case.id in ids]


def matching(ids: list[str], include: tuple[str, ...], exclude: tuple[str, ...], which: str, listed: str) -> list[str]:
    """Those of `ids` that match: by id, dotted prefix or glob, else those that test the rule or sentence of that name.

    `which`: what they are called; `listed`: what `mlcheck list` calls them. Raises SelectionError.
    """
    included, excluded = (
        {id_ for pattern in patterns for id_ in _matched(ids, pattern, which, listed)}
        for patterns in (include, exclude)
    )
    chosen = [id_ for id_ in ids if (not include or id_ in included) and id_ not in excluded]
    if not chosen:
        raise SelectionError("the selection leaves no case to run")
    return chosen


def _matched(ids: list[str], pattern: str, which: str, listed: str) -> set[str]:
    """Those of `ids` that one pattern matches, at least one. Raises SelectionError."""
    if found := {id_ for id_ in ids if _matches(id_, pattern)}:
        return found
    shows = f"(`mlcheck list {listed}` shows all)"
    testing = _testing(pattern)
    if testing is None:
        hint = nearest(pattern, [*ids, *_prefixes(ids)])
        raise SelectionError(f"no {which} matches {pattern!r}{hint} {shows}")
    if not (found := testing & {*ids}):
        raise SelectionError(f"no {which} is for {pattern} alone: `mlcheck explain {pattern}` says more {shows}")
    return found


def _testing(name: str) -> set[str] | None:
    """The cases that test a rule or a sentence of the written protocol; None where it is the name of neither."""
    by_rule, sentence = cases_by_rule(), load_sentences().get(name)
    if sentence is not None:
        return {*sentence.sentence.cases}
    return {*by_rule[name]} if name in by_rule else None


def _prefixes(ids: Iterable[str]) -> set[str]:
    split = [id_.split(".") for id_ in ids]
    return {".".join(words[:count]) for words in split for count in range(1, len(words))}


def nearest(name: str, ids: Iterable[str]) -> str:
    """``; did you mean ID?``, or nothing where no id is near."""
    near = get_close_matches(name, list(ids), n=1, cutoff=_NEAR_ENOUGH)
    return f"; did you mean {near[0]}?" if near else ""


def _matches(id_: str, pattern: str) -> bool:
    return id_ == pattern or id_.startswith(pattern + ".") or fnmatch.fnmatchcase(id_, pattern)
