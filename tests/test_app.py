"""What typer makes of an interrupt is not lost: a Ctrl-C while the command line is read must not look like success."""

from __future__ import annotations

from typing import Annotated

import typer

from multilang_cli.cli.app import call


def _interrupted(_: str) -> str:
    raise KeyboardInterrupt


def command(value: Annotated[str, typer.Option(parser=_interrupted)] = "") -> int:
    """Do nothing."""
    return len(value)


def test_an_interrupt_while_the_words_are_read_is_130() -> None:
    assert call(command, "run", ["--value", "x"]) == 130


def test_a_command_gives_its_own_code() -> None:
    assert call(lambda: 6, "run", []) == 6
