"""``mlcheck repl``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Storm
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.handled import handled_by

NoLimits = Annotated[
    bool,
    typer.Option("--no-limits", help="Wait for nothing in vain: for a component that stops in a debugger."),
]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="FILE", help="Do the commands in this file first; without a terminal, only them."),
]


@handled_by("repl.starting:play_by_hand")
def repl(
    command: Annotated[list[str] | None, typer.Argument(metavar="COMMAND", hidden=True)] = None,
    *,
    component: option.Component = None,
    kind: option.Kind = None,
    storm: Storm = None,
    tuples: option.Tuples = None,
    tuple_files: option.TupleFiles = None,
    conf: option.Conf = None,
    conf_files: option.ConfFiles = None,
    ackers: option.Ackers = None,
    inputs: option.Inputs = None,
    streams: option.Streams = None,
    cwd: option.Cwd = None,
    env: option.Env = None,
    task: option.Task = None,
    settles: option.Settles = None,
    pid: option.Pid = None,
    limits: option.Limits = None,
    timeout: option.Timeout = None,
    seed: option.Seed = None,
    record: option.Record = None,
    no_limits: NoLimits = False,
    source: Source = None,
    color: Color = None,
) -> None:
    """Play Storm by hand: start a component, say what you like to it, see and judge what it says.

    COMMAND: its file, or a command; if it has arguments, after --. At the prompt, `help` shows what can be said.

    Without a terminal, commands come from stdin, one a line, each done when the component has answered the one before.
    """
