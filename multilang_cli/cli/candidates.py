"""Candidates for the next word of a command line, for shells to complete. typer finds the place, we the values."""

from __future__ import annotations

import os
import shlex
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]  # the only way to have no options added

from multilang_cli.cli.app import SETTINGS, accepting
from multilang_cli.cli.commands import COMMANDS, GROUPS, Command
from multilang_cli.cli.options.values import completer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_VARIABLE = "_MLCHECK_COMPLETE"


def print_candidates(words: Sequence[str]) -> None:
    """Print a line for each word that can take the place of the last of `words`, which follow ``mlcheck``."""
    completion_init()
    *before, last = words or [""]
    line = shlex.join(["mlcheck", *before, last])
    os.environ.update({_VARIABLE: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(before) + 1)})
    try:
        _app(before)(args=[], prog_name="mlcheck", complete_var=_VARIABLE)
    except SystemExit:
        return


def _app(words: list[str]) -> typer.Typer:
    """All commands as typer has them, but only the one in `words` with its options: no other is imported."""
    app = typer.Typer(add_completion=False, context_settings=SETTINGS)
    app.callback()(_top)
    places = {"": app}
    for group, text in GROUPS.items():
        places[group] = typer.Typer(help=text)
        app.add_typer(places[group], name=group)
    for name, command in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        function = _function(name, command) if words[: name.count(" ") + 1] == name.split() else _nothing
        places[group].command(last, help=command.help, context_settings=SETTINGS)(accepting(function, name))
    return app


def _top(*, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """The options before a command."""
    del version


def _nothing() -> None:
    """A command that is not asked about."""


def _function(name: str, command: Command) -> Callable[..., Any]:
    """The function of a command, its options and arguments told their values."""
    function: Callable[..., Any] = resolve_name(f"multilang_cli.cli.{command.module}:{command.function}")
    for parameter, hint in get_type_hints(function, include_extras=True).items():
        for info in getattr(hint, "__metadata__", ()):
            info.autocompletion = completer_of(f"{name} {parameter}", info)
    return function
