"""A session by hand without a terminal: commands from a pipe or a file, each echoed, plain output, an exit code."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

from multilang_cli.repl import parsing
from multilang_cli.repl.commands.table import in_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.repl.driver import Driver

LISTENS_EVERY = 0.02
"""Seconds between two looks at what the component says while nobody writes commands."""
_READ_AT_A_TIME = 64 * 1024


def run_commands(driver: Driver, stdin: int) -> None:
    """Do the commands that come in on the descriptor `stdin` until its end, `quit`, or one that can't be done."""
    for place, statement in parsing.statements(_lines(driver, stdin), in_json(driver.commands)):
        driver.screen.line(statement.replace("\n", " "), "dim", lead="> ")
        if not driver.execute(statement):
            driver.screen.line(f"line {place}: this command could not be done", "wrong")
            driver.misused()
            return
        if driver.quitting:
            return


def _lines(driver: Driver, stdin: int) -> Iterator[str]:
    """Read lines as they come, and listen to the component in between."""
    rest = b""
    while True:
        while not select.select([stdin], [], [], LISTENS_EVERY)[0]:
            driver.listen(0.0)
        piece = os.read(stdin, _READ_AT_A_TIME)
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "surrogateescape").removesuffix("\r")
        if not piece:
            if rest:
                yield rest.decode("utf-8", "surrogateescape")
            return
