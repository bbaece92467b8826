"""Commands of a session by hand as data. The tables are in the modules that do them; ``every`` joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from multilang_cli.terminal.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SHOWN_OF_NAME = 60
"""Characters of an unknown name that are shown."""

Holder = TypeVar("Holder")
"""The session that commands work on."""


class Misuse(Exception):  # noqa: N818 (what a person typed, no error of ours)
    """A command that can't be done as it was typed: the message says why, and what to type instead."""


def nothing(_: Any, __: list[str]) -> Iterable[str]:
    """Completes nothing."""
    return ()


class ReplCommand(NamedTuple, Generic[Holder]):
    """One command. `usage`: its arguments; `help`: first line for the list, the rest for ``help NAME``.

    `action` is given what stands behind the name; it raises Misuse. `complete`: words that can stand next, given those
    behind the name, the last of them unfinished. `kind`: what it can be said to. `alive`: it needs a component that can
    be talked to. `json`: it may take several lines, until every bracket is closed. `speaks`: the component is given
    something to answer.
    """

    usage: str
    help: str
    action: Callable[[Holder, str], None]
    complete: Callable[[Holder, list[str]], Iterable[str]] = nothing
    kind: Literal["bolt", "spout", "both"] = "both"
    alive: bool = False
    json: bool = False
    speaks: bool = False


CommandTable = dict[str, ReplCommand[Holder]]


def command_of(commands: CommandTable[Holder], name: str) -> ReplCommand[Holder]:
    """The command `name`. Raises Misuse that names the nearest."""
    if name in commands:
        return commands[name]
    hint = did_you_mean(name, commands, "; `help` shows all")
    raise Misuse(f"there is no command {name[:SHOWN_OF_NAME]!r}{hint}")


def in_json(commands: CommandTable[Holder]) -> frozenset[str]:
    """Names of the commands that may take several lines."""
    return frozenset(name for name, command in commands.items() if command.json)
