"""What typer makes of an interrupt is not lost: a Ctrl-C while the command line is read must not look like success."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pkgutil import resolve_name
from typing import Annotated, Any, get_args

import pytest
import typer

from multilang_cli.cli.app import call
from multilang_cli.cli.commands import COMMANDS
from multilang_cli.cli.options.handled import flags_of


def _interrupted(_: str) -> str:
    raise KeyboardInterrupt


def command(value: Annotated[str, typer.Option(parser=_interrupted)] = "") -> int:
    """Do nothing."""
    return len(value)


def test_an_interrupt_while_the_words_are_read_is_130() -> None:
    assert call(command, "run", ["--value", "x"]) == 130


def test_a_command_gives_its_own_code() -> None:
    assert call(lambda: 6, "run", []) == 6


def test_handlers_of_commands_are_there() -> None:
    functions = [
        getattr(import_module(f"multilang_cli.cli.{each.module}"), each.function) for each in COMMANDS.values()
    ]
    names = {name for function in functions for name in getattr(function, "handlers", ())}
    assert "suite.checking:run_given" in names
    assert all(callable(resolve_name(f"multilang_cli.{name}")) for name in names)


HANDLED = {
    name: function
    for name, each in COMMANDS.items()
    if hasattr(function := getattr(import_module(f"multilang_cli.cli.{each.module}"), each.function), "handlers")
}


@pytest.mark.parametrize("name", HANDLED)
def test_flags_of_a_handler_are_the_options_of_its_command(name: str) -> None:
    flags = flags_of(resolve_name(f"multilang_cli.{HANDLED[name].handlers[0]}"))
    shared = {field for each in flags.__mro__[1:] for field in getattr(each, "__annotations__", ())}
    fields = {field: kind for each in flags.__mro__ for field, kind in getattr(each, "__annotations__", {}).items()}
    options = signature(HANDLED[name], eval_str=True).parameters.items()
    # A command has not all that Flags can hold.
    assert fields.keys() - shared <= dict(options).keys() <= fields.keys()
    for option, parameter in options:
        assert fields[option].removesuffix(" | None") == as_flag(parameter.annotation), option


def as_flag(option: Any) -> str:
    """The type of the flag of an option, as it is written there: what was not given is None or empty."""
    kind = str(get_args(option)[0]).removesuffix(" | None")
    kind = kind.replace("list[str]", "tuple[str, ...]").replace("pathlib.Path", "Path")
    return kind.removeprefix("<class '").removesuffix("'>").rpartition(".")[2] if "[" not in kind else kind


LOST = """
import signal, sys, time
from multilang_cli.cli import dispatch

class Ending:
    def __del__(self):
        signal.raise_signal(int(sys.argv[1]))

def work(_):
    Ending()
    while True:
        time.sleep(60)

dispatch._guarded = work
sys.exit(dispatch.dispatch([]))
"""
"""An interrupt comes while an object is destroyed: Python drops what is raised there."""


@pytest.mark.component
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_a_destructor_is_130_as_well(number: int) -> None:
    ended = subprocess.run([sys.executable, "-c", LOST, str(int(number))], capture_output=True, check=False, timeout=50)
    assert (ended.returncode, ended.stderr) == (130, b"mlcheck: interrupted.\n")
