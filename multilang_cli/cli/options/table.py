"""Tables of options, by the flag that each fills, in the order of the help. typer reads them as a signature."""

from collections.abc import Callable, Iterable
from copy import copy
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, NamedTuple, get_args

import typer

REQUIRED: Any = Parameter.empty
"""The default of what has to be given."""


class Panel(StrEnum):
    """The panels into which the help of a command that has many options parts them, in their order."""

    MOST_USED = "Most used"
    COMPONENT = "The component"
    TOLD = "What it is told"
    PROMISED = "What it promises"
    CASES = "Cases"
    PLAYED = "How it is played"
    OUTPUT = "What comes out"


class CommandOption(NamedTuple):
    """An option or an argument: its annotation, as typer reads it, and its value where it is not given."""

    annotation: Any
    default: Any


OptionTable = dict[str, CommandOption]


def option(
    kind: Any,
    names: str,
    metavar: str | None,
    told: str,
    default: Any = None,
    *,
    least: float | None = None,
    most: float | None = None,
    panel: Panel = Panel.OUTPUT,
) -> CommandOption:
    """An option with a value of a type. `names`: its spellings, parted by spaces; `told`: its help."""
    info = typer.Option(*names.split(), metavar=metavar, help=told, min=least, max=most, rich_help_panel=panel)
    return CommandOption(Annotated[kind, info], default)


def text(names: str, metavar: str, told: str, default: Any = None, *, panel: Panel = Panel.OUTPUT) -> CommandOption:
    """An option with a text."""
    return option(str | None, names, metavar, told, default, panel=panel)


def texts(names: str, metavar: str, told: str, *, panel: Panel = Panel.OUTPUT) -> CommandOption:
    """An option that may be repeated, each time with a text."""
    return option(list[str] | None, names, metavar, told, panel=panel)


def flag(names: str, told: str, *, default: bool = False, panel: Panel = Panel.OUTPUT) -> CommandOption:
    """An option without a value."""
    return option(bool, names, None, told, default, panel=panel)


def argument(kind: Any, metavar: str, default: Any = REQUIRED, *, told: str | None = None) -> CommandOption:
    """A value without a name. Most are told of in the command's own help, and have no line below it."""
    return CommandOption(Annotated[kind, typer.Argument(metavar=metavar, hidden=told is None, help=told)], default)


def put_first(table: OptionTable, names: Iterable[str]) -> OptionTable:
    """`table` with the options of these names in the panel that stands first."""
    first = {}
    for name in names:
        kind, info = get_args(table[name].annotation)
        info = copy(info)
        info.rich_help_panel = Panel.MOST_USED
        first[name] = table[name]._replace(annotation=Annotated[kind, info])
    return table | first


def with_options(function: Callable[..., Any], table: OptionTable) -> Callable[..., Any]:
    """`function` with the options of a table besides its own, which it is given by name."""

    @wraps(function)
    def _accepting(*args: Any, **values: Any) -> Any:
        return function(*args, **values)

    own = signature(function, eval_str=True)
    parameters = {
        name: each
        for name, each in own.parameters.items()
        if name not in table and each.kind is not Parameter.VAR_KEYWORD
    }
    parameters |= {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.annotation)
        for name, each in table.items()
    }
    _accepting.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    _accepting.__dict__["__signature__"] = own.replace(parameters=list(parameters.values()))
    return _accepting
