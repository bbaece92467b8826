"""``mlcheck bench``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Storm
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.handled import handled_by

Windows = Annotated[str, typer.Option("--windows", metavar="N,N", help="Tuples in flight, or pending.")]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", min=0.05, help="How long each measure takes. Default: 1.")
]
Rounds = Annotated[int, typer.Option("--rounds", metavar="N", min=1, help="Measures at each window. Default: 3.")]
Compare = Annotated[
    str | None, typer.Option("--compare", metavar="COMMAND", help="Another component, in turn with this: 'ruby b.rb'.")
]
Place = Annotated[
    str, typer.Option("--cpus", metavar="any|one|two", help="Both sides on any CPU, on one, or on one each.")
]
Report = Annotated[
    list[str] | None,
    typer.Option("--report", metavar="json|html=PATH", help="The figures, - for stdout. Repeatable."),
]


@handled_by("bench.benching:bench_given", "suite.probe:kind_of")
def bench(
    command: Annotated[list[str] | None, typer.Argument(metavar="COMMAND", hidden=True)] = None,
    *,
    windows: Windows = "1,10,100,1000,10000",
    seconds: Seconds = 1.0,
    rounds: Rounds = 3,
    compare: Compare = None,
    cpus: Place = "any",
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
    limits: option.Limits = None,
    timeout: option.Timeout = None,
    seed: option.Seed = None,
    reports: Report = None,
    color: Color = None,
) -> None:
    """Measure a component: tuples a second, round trips, heartbeats under load, CPU time and memory.

    COMMAND: its file, or a command; if it has arguments, after --. Every message is judged, as in a run. A spout's
    tuples are acked, real ones too.
    """
