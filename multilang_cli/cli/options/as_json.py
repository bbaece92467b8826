"""``--json`` of every command that makes reports: the result as JSON on stdout; `mlcheck docs json` has its keys."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from multilang_cli.cli.options.table import OptionTable, flag

NAME = "as_json"
AS_REPORT: OptionTable = {NAME: flag("--json", "Print the result as JSON: as --report json=-.")}
_REPORT = "json=-"


def reports_of(function: Callable[..., Any]) -> str:
    """The parameter that holds a command's reports; "" if it makes none."""
    return next((name for name in ("reports", "report") if name in signature(function).parameters), "")


def take_report(values: dict[str, Any], reports: str) -> None:
    """Make the option, which is taken out of `values`, one of the `reports` that are asked for."""
    if values.pop(NAME):
        values[reports] = [*(values[reports] or ()), _REPORT]
