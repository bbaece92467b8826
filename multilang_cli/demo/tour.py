"""A tour of mlcheck: a few commands, typed for you, in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.driver.scratch import scratch
from multilang_cli.terminal.exits import ExitCode
from multilang_cli.terminal.output import filled, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ACK = '    send({"command": "ack", "id": message["id"]})\n'
"""The line of the bolt that the tour doubles."""


class DemoStep(NamedTuple):
    """One step of the tour: what is told, the command that is typed then, and whether the bolt is broken before."""

    text: str
    command: str
    breaks: bool = False


TOUR = (
    DemoStep(
        "A bolt to begin with: the whole protocol in one page, and what mlcheck is told of it.",
        "mlcheck new bolt --language python .",
    ),
    DemoStep(
        "mlcheck starts it, talks to it as Storm does, and judges what comes back.",
        "mlcheck run -k bolt.settle -k bolt.heartbeat",
    ),
    DemoStep(
        "Now it acks each tuple twice, as one does whose library acks as well. The first line is the cause.",
        "mlcheck run -k bolt.settle",
        breaks=True,
    ),
    DemoStep("The rule behind it: what it stands on, and what each Storm version does.", "mlcheck explain ack-twice"),
    DemoStep(
        "The conversation was recorded. It is judged again, without the bolt.",
        "mlcheck lint .mlcheck/last/bolt.settle.once.ndjson",
    ),
    DemoStep(
        "And what you may have come with: a line of a worker's log.",
        "mlcheck explain 'Pipe to subprocess seems to be broken! No output read.'",
    ),
)


class TourFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck demo``."""

    no_input: bool = False


def tour_given(flags: TourFlags, dispatch: Callable[[Sequence[str]], int]) -> int:
    """Show each step, and have `dispatch` do its command; returns the exit code."""
    asks = not flags.no_input and sys.stdin.isatty() and sys.stdout.isatty()
    before = Path.cwd()
    with scratch("mlcheck-demo-") as folder:
        os.chdir(folder)
        try:
            for number, step in enumerate(TOUR, 1):
                if step.breaks:
                    bolt = Path("split_bolt.py")
                    bolt.write_text(bolt.read_text(encoding="utf-8").replace(ACK, ACK * 2), encoding="utf-8")
                write(f"\n{filled(f'({number} of {len(TOUR)}) {step.text}')}\n\n$ {step.command}\n")
                code = dispatch(shlex.split(step.command)[1:])
                if code in {ExitCode.INTERRUPTED, ExitCode.HARNESS_FAULT, ExitCode.MISUSE}:
                    return code
                if asks and number < len(TOUR):
                    write("\nEnter goes on, Ctrl-C ends it. ")
                    with contextlib.suppress(EOFError):
                        input()
        finally:
            os.chdir(before)
    write("\nYour own: mlcheck run FILE. What else there is: mlcheck docs.\n")
    return ExitCode.CONFORMANT
