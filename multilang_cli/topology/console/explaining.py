"""Implementation of ``mlcheck topology explain``: the worked example, or a root of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.escape import escape
from multilang_cli.reports.page import Page
from multilang_cli.reports.trees import hexadecimal
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import stdout_may_close
from multilang_cli.topology.acked import NoRootError, a_root_in, plain_steps, steps_of, worked_example
from multilang_cli.topology.console.histories import history_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.topology.acked import AckStep

_ACKING_HANG = 11


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
                _show_example(page, worked_example())
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
            _show_steps(page, chosen, steps)
    return ExitCode.CONFORMANT


def _show_example(page: Page, steps: Iterable[AckStep]) -> None:
    page.line("The ack framework, by its worked example: a spout, bolt1, bolt2 and an acker", "bold")
    for number, step in enumerate(steps, 1):
        page.para(step.text, label=f"{number}", indent=2, hang=6)
        if step.sent is not None:
            page.line(f"acker: {step.before:04b} XOR {step.sent:04b} = {step.after:04b}", "bold", indent=6)
    page.blank()
    page.para("mlcheck topology explain DIR shows the same of a root of a run.", indent=2)


def _show_steps(page: Page, emission: int, steps: Iterable[AckStep]) -> None:
    page.line(f"Emission {emission}", "bold")
    for step in steps:
        page.para(escape(step.text), label=f"{step.t:.3f} s", indent=2, hang=_ACKING_HANG)
        if step.sent is not None:
            page.line(f"    {hexadecimal(step.before)}", indent=_ACKING_HANG)
            page.line(f"XOR {hexadecimal(step.sent)}", indent=_ACKING_HANG)
            page.line(f"  = {hexadecimal(step.after)}", "bold", indent=_ACKING_HANG)
