"""Calls a command's function with typer: its options by its annotations, its help from its docstring."""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import typer

from multilang_cli.cli.commands import REDACTING
from multilang_cli.cli.help import PanelledCommand
from multilang_cli.cli.options.table import OptionTable, flag, with_options
from multilang_cli.cli.redacting import REDACT, declare_given
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_JSON = "as_json"
_AS_REPORT: OptionTable = {_JSON: flag("--json", "Print the result as JSON: as --report json=-.")}


def call(function: Callable[..., int], name: str, arguments: Sequence[str]) -> int:
    """Parse `arguments` for the command `name`, call `function`, return its exit code. Raises CommandError."""
    parsed: list[dict[str, Any]] = []

    @wraps(function)
    def keep(**values: Any) -> None:
        """Keep what the command line says, for the function itself."""
        parsed.append(values)

    redacts, reports = name in REDACTING, _reports_of(function)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(cls=PanelledCommand, context_settings=SETTINGS)(accepting(keep, name))
    try:
        code = app(args=list(arguments), prog_name=f"mlcheck {name}", standalone_mode=False)
    except typer.TyperException as error:
        raise CommandError(f"{name}: {_reason(error, name)} `mlcheck {name} --help` shows all.") from None
    # Called here, so that typer has no say in what becomes of interrupts and errors.
    if parsed:
        if redacts:
            # A tap stands in a worker: it has options, and no file that it looks for.
            declare_given(name, parsed[0], configured=name != "tap")
        if reports and parsed[0].pop(_JSON):
            parsed[0][reports] = [*(parsed[0][reports] or ()), "json=-"]
        return function(**parsed[0])
    return code if isinstance(code, int) else ExitCode.CONFORMANT


def accepting(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function` of the command `name` with the options that it does not name itself."""
    if _reports_of(function):
        function = with_options(function, _AS_REPORT)
    return with_options(function, REDACT) if name in REDACTING else function


def _reports_of(function: Callable[..., Any]) -> str:
    """The parameter that holds a command's reports; "" if it makes none."""
    return next((name for name in ("reports", "report") if name in signature(function).parameters), "")


_MEANT = {
    "--fields": "; did you mean --input COMPONENT:FIELD,... of what it reads, or --stream NAME:FIELD,...?",
    "--sample": "; did you mean --tuple?",
}
"""What is meant by options that no command has."""


def _reason(error: typer.TyperException, name: str) -> str:
    option = getattr(error, "option_name", "")
    if option and hasattr(error, "possibilities"):
        hint = " (arguments of the component come after --)" if name in {"run", "host", "repl", "tap"} else ""
        return (
            f"there is no option {option}{hint}{_MEANT.get(option) or did_you_mean(option, error.possibilities or ())}"
        )
    said = error.format_message()
    return said if said.endswith((".", "?", "!")) else f"{said}."
