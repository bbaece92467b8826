"""Commands of a session by hand as data. The tables are in the modules that do them; ``driver`` joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from multilang_cli.repl.driver import Driver

Action = Callable[["Driver", str], None]
Completer = Callable[["Driver", list[str]], Iterable[str]]


class Misuse(Exception):  # noqa: N818 (what a person typed, no error of ours)
    """A command that can't be done as it was typed: the message says why, and what to type instead."""


def nothing(_: Driver, __: list[str]) -> Iterable[str]:
    """Completes nothing."""
    return ()


class ReplCommand(NamedTuple):
    """One command. `usage`: its arguments; `help`: first line for the list, the rest for ``help NAME``.

    `action` is given what stands behind the name; it raises Misuse. `complete`: words that can stand next, given those
    behind the name, the last of them unfinished. `kind`: what it can be said to. `alive`: it needs a component that can
    be talked to. `json`: it may take several lines, until every bracket is closed. `speaks`: the component is given
    something to answer.
    """

    usage: str
    help: str
    action: Action
    complete: Completer = nothing
    kind: Literal["bolt", "spout", "both"] = "both"
    alive: bool = False
    json: bool = False
    speaks: bool = False


CommandTable = dict[str, ReplCommand]
