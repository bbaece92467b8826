"""``mlcheck fuzz``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Storm, Strict
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.handled import handled_by

Conversations = Annotated[
    int, typer.Option("--conversations", metavar="N", min=1, help="How many, if nothing is found.")
]
MaxTime = Annotated[
    float,
    typer.Option("--max-time", metavar="SECONDS", min=0.1, help="For everything, also to shrink a find."),
]
SaveCase = Annotated[
    str | None, typer.Option("--save-case", metavar="FILE", help="Write what was found as a case, for --suite.")
]
Database = Annotated[str, typer.Option("--database", metavar="DIR", help="Where finds are kept, to be tried first.")]
Seed = Annotated[
    str | None,
    typer.Option("--seed", metavar="N", help="Where conversations come from; told in the report. Default: a new one."),
]


@handled_by("fuzz.fuzzing:fuzz_given")
def fuzz(
    command: Annotated[list[str] | None, typer.Argument(metavar="COMMAND", hidden=True)] = None,
    *,
    conversations: Conversations = 300,
    max_time: MaxTime = 120.0,
    seed: Seed = None,
    save_case: SaveCase = None,
    database: Database = ".mlcheck/fuzz",
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
    accepts: option.Accepts = None,
    pid: option.Pid = None,
    limits: option.Limits = None,
    timeout: option.Timeout = None,
    memory: option.Memory = None,
    strict: Strict = None,
    record: option.Record = None,
    reports: Reports = None,
    color: Color = None,
    quiet: option.Quiet = False,
) -> None:
    """Search for a conversation in which a component does something wrong, and make it as small as can be.

    COMMAND: its file, or a command; if it has arguments, after --. Tuples are the samples, and what it accepts;
    heartbeats, ticks if it takes them, late task ids, messages cut anywhere, ends at any time. A spout's tuples are
    acked and failed, real ones too.
    """
