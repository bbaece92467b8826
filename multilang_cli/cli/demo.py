"""``mlcheck demo``."""

from typing import Annotated

import typer

from multilang_cli.cli.options.handled import handled_by


@handled_by("demo.tour:tour_given", "cli.dispatch:dispatch")
def demo(
    *,
    no_input: Annotated[bool, typer.Option("--no-input", help="Do not wait for Enter between the steps.")] = False,
) -> None:
    """Show in a minute what mlcheck does: a tour in a folder of its own, which is removed at the end.

    Each step is a command that you could type. On a terminal, Enter goes on. No other command waits for a key, but the
    REPL.
    """
