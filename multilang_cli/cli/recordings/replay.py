"""``mlcheck replay``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.replay_options import Compare, Ignore, Key, Transcript

RealTime = Annotated[bool, typer.Option("--real-time", help="At the recorded pace: nothing is sent before its time.")]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="N|finding", help="Stop behind event N of the recording, or at a breach now."),
]
Then = Annotated[str | None, typer.Option("--then", metavar="repl", help="repl: go on by hand where the replay stops.")]


@handled_by("replay.starting:replay_given", "repl.taking_over:take_over")
def replay(
    words: Transcript,
    *,
    component: option.Component = None,
    conf: option.Conf = None,
    conf_files: option.ConfFiles = None,
    cwd: option.Cwd = None,
    env: option.Env = None,
    limits: option.Limits = None,
    timeout: option.Timeout = None,
    ignore: Ignore = None,
    comparing: Compare = None,
    key: Key = None,
    real_time: RealTime = False,
    until: Until = None,
    then: Then = None,
    record: option.Record = None,
    reports: Reports = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only the summary.")] = False,
    color: Color = None,
) -> None:
    """Play TRANSCRIPT to a component again, and say what it does otherwise: mlcheck replay TRANSCRIPT -- COMMAND.

    COMMAND: without one, the [[component]] of mlcheck.toml. What Storm said in the recording is said again, byte for
    byte, each message as soon as what was heard before it was heard again; only what must be of now is: the pid
    directory, task ids in answer to the emits of now, ids that a spout gives.

    Exit code 0: the same; 1: something differs, be it for the better.
    """
