"""``mlcheck config show``: every setting, its value and where it comes from."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by


@handled_by("lookup.configuration:configuration_given")
def show(
    *,
    component: Annotated[
        str | None, typer.Option("--component", metavar="NAME", help="Only this [[component]] of mlcheck.toml.")
    ] = None,
    layout: Annotated[str, typer.Option("--format", metavar="pretty|json", help="json is --json.")] = "pretty",
    as_json: Json = False,
    color: Color = None,
) -> None:
    """Show every setting of a run, its value, and where it comes from.

    The origin is a variable of the environment, a line of the configuration file, or default. Flags of `mlcheck run`
    win over all of them. Secrets of conf and env are hidden.
    """
