"""Implementation of ``mlcheck topology explain``: the worked example, or a root of a run."""

from __future__ import annotations

from pathlib import Path

import msgspec

from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import stdout_may_close
from multilang_cli.topology.acked import NoRootError, a_root_in, plain_steps, steps_of, worked_example
from multilang_cli.topology.console.acking import show_example, show_steps
from multilang_cli.topology.console.histories import history_in


class AckingFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck topology explain``. `run`: the folder of a run; `emission`: its number in the history."""

    run: str | None = None
    emission: int | None = None
    as_json: bool = False
    color: str | None = None


def acking_given(flags: AckingFlags) -> int:
    """Explain what the command line names; the exit code. Raises CommandError."""
    page = Page(console_of(flags.color))
    if flags.run is None:
        if flags.emission is not None:
            raise CommandError("--emission is of a run: give its folder, such as .mlcheck/topology/NAME.")
        if flags.as_json:
            write_json(plain_steps(worked_example()))
        else:
            with stdout_may_close():
                show_example(page, worked_example())
        return ExitCode.CONFORMANT
    folder = Path(flags.run)
    try:
        chosen = flags.emission or a_root_in(history_in(folder, flags.run))
        steps = list(steps_of(history_in(folder, flags.run), chosen))
    except NoRootError as error:
        raise CommandError(f"{flags.run}: {error}.") from None
    if flags.as_json:
        write_json(plain_steps(steps))
    else:
        with stdout_may_close():
            show_steps(page, chosen, steps)
    return ExitCode.CONFORMANT
