"""``--json`` of every command that prints a list, facts, or a result; `mlcheck docs json` has their keys."""

from collections.abc import Callable
from inspect import signature
from typing import Annotated, Any

import typer

NAME = "as_json"
Json = Annotated[bool, typer.Option("--json", help="Print JSON; `mlcheck docs json` has its keys.")]
AsReport = Annotated[bool, typer.Option("--json", help="Print the result as JSON: as --report json=-.")]
_REPORT = "json=-"


def reports_of(function: Callable[..., Any]) -> str:
    """The parameter that holds a command's reports; "" if it makes none."""
    return next((name for name in ("reports", "report") if name in signature(function).parameters), "")


def take_report(values: dict[str, Any], reports: str) -> None:
    """Make the option, which is taken out of `values`, one of the `reports` that are asked for."""
    if values.pop(NAME):
        values[reports] = [*(values[reports] or ()), _REPORT]


def print_json(value: Any) -> int:
    """Print a value made of structs and plain values as one document; the exit code of all being well."""
    from multilang_cli.subject.outputs import write_json  # noqa: PLC0415 (slow to import, and not needed for --help)

    write_json(value)
    return 0
