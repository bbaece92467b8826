"""Terminal output of the ack framework, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.escape import escape
from multilang_cli.reports.trees import hexadecimal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.reports.page import Page
    from multilang_cli.topology.acked import AckStep

_ACKING_HANG = 11


def show_example(page: Page, steps: Iterable[AckStep]) -> None:
    """Show the worked example: its ids have four bits."""
    page.line("The ack framework, by its worked example: a spout, bolt1, bolt2 and an acker", "bold")
    for number, step in enumerate(steps, 1):
        page.para(step.text, label=f"{number}", indent=2, hang=6)
        if step.sent is not None:
            page.line(f"acker: {step.before:04b} XOR {step.sent:04b} = {step.after:04b}", "bold", indent=6)
    page.blank()
    page.para("mlcheck topology explain DIR shows the same of a root of a run.", indent=2)


def show_steps(page: Page, emission: int, steps: Iterable[AckStep]) -> None:
    """Show what became of an emission of a run."""
    page.line(f"Emission {emission}", "bold")
    for step in steps:
        page.para(escape(step.text), label=f"{step.t:.3f} s", indent=2, hang=_ACKING_HANG)
        if step.sent is not None:
            page.line(f"    {hexadecimal(step.before)}", indent=_ACKING_HANG)
            page.line(f"XOR {hexadecimal(step.sent)}", indent=_ACKING_HANG)
            page.line(f"  = {hexadecimal(step.after)}", "bold", indent=_ACKING_HANG)
