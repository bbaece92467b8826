"""``mlcheck topology explain``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import stdout_may_close


def explain(
    run: Annotated[
        str | None, typer.Argument(metavar="[DIR]", help="The folder of a run. Without: the worked example.")
    ] = None,
    *,
    emission: Annotated[
        int | None,
        typer.Option(
            "--emission",
            metavar="N",
            min=1,
            help="The emission to follow, by its number in the history. Default: the first that was not acked.",
        ),
    ] = None,
    as_json: Json = False,
    color: Color = None,
) -> int:
    """Show the ack framework step by step: edges, XOR, and what the acker holds.

    Without DIR it is the worked example of its descriptions, with ids of four bits.
    """
    from multilang_cli.reports.page import Page  # noqa: PLC0415 (slow to import, not needed for --help)
    from multilang_cli.subject.outputs import console_of  # noqa: PLC0415
    from multilang_cli.topology.acked import NoRootError, a_root_in, plain_steps, steps_of, worked_example  # noqa: PLC0415
    from multilang_cli.topology.console.acking import show_example, show_steps  # noqa: PLC0415
    from multilang_cli.topology.console.histories import history_in  # noqa: PLC0415

    page = Page(console_of(color))
    if run is None:
        if emission is not None:
            raise CommandError("--emission is of a run: give its folder, such as .mlcheck/topology/NAME.")
        if as_json:
            return print_json(plain_steps(worked_example()))
        with stdout_may_close():
            show_example(page, worked_example())
        return ExitCode.CONFORMANT
    folder = Path(run)
    try:
        chosen = emission or a_root_in(history_in(folder, run))
        steps = list(steps_of(history_in(folder, run), chosen))
    except NoRootError as error:
        raise CommandError(f"{run}: {error}.") from None
    if as_json:
        return print_json(plain_steps(steps))
    with stdout_may_close():
        show_steps(page, chosen, steps)
    return ExitCode.CONFORMANT
