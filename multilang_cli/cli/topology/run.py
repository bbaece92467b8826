"""``mlcheck topology run``: the command line. What it does is in ``running``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Storm, Strict
from multilang_cli.cli.options import run_options as option
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.topology.flux_file import (
    Ackers,
    ClassPath,
    EnvFilter,
    Filter,
    Flux,
    Jars,
    Properties,
    Resources,
    Streamparse,
)

Messages = Annotated[
    int | None,
    typer.Option("--messages", metavar="N", min=1, help="Deactivate the spouts when they have emitted N tuples."),
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", metavar="S", min=0.1, help="Deactivate the spouts after S seconds at the latest."),
]
Idle = Annotated[
    float,
    typer.Option(
        "--idle",
        metavar="S",
        min=0.05,
        help="Take sources for exhausted after S seconds in which nothing went on; 5 times S until the first tuple.",
    ),
]
Drain = Annotated[
    float | None,
    typer.Option(
        "--drain",
        metavar="S",
        min=0.0,
        help="Wait so long for what is under way at the end. Default: two message timeouts.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Where everything random comes from. Default: 0.")
]
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds",
        metavar="N",
        min=1,
        help="Run it once for each of N seeds, from --seed on. The verdict is that of the worst, whose run is kept.",
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="KIND:TARGET",
        help="Break something on purpose: kill:split, pause:count:2@30, random:3, or @FILE with a plan. Repeatable; "
        "mlcheck docs topology.",
    ),
]
Search = Annotated[
    float | None,
    typer.Option(
        "--search",
        metavar="SECONDS",
        min=0.1,
        help="Search for so long for faults that break it, from a run without any on: by what its history leaves "
        "unproven. Those found are made few, and written to a file for --fault @FILE.",
    ),
]
Record = Annotated[
    str | None, typer.Option("--record", metavar="DIR", help="The folder of the run. Default: .mlcheck/topology/NAME.")
]
Late = Annotated[
    str,
    typer.Option(
        "--late",
        metavar="ignore|fail",
        help="What an acker does about a message for a tuple it has given up: nothing, as every Storm that was looked "
        "at, or fail the tuple.",
    ),
]
Guarantee = Annotated[
    str | None,
    typer.Option(
        "--guarantee",
        metavar="at-least-once|at-most-once|none",
        help="The processing guarantee to judge by. Default: mlcheck.guarantee of the file, else that of mlcheck.toml; "
        "without any, unanchored tuples are a warning.",
    ),
]


@handled_by("topology.console.running:run_given")
def run(
    flux: Flux = None,
    *,
    storm: Storm = None,
    filters: Filter = None,
    properties: Properties = None,
    env_filter: EnvFilter = False,
    resources: Resources = None,
    jars: Jars = None,
    class_path: ClassPath = None,
    streamparse: Streamparse = None,
    conf: option.Conf = None,
    ackers: Ackers = None,
    messages: Messages = None,
    seconds: Seconds = None,
    idle: Idle = 1.0,
    drain: Drain = None,
    seed: Seed = None,
    seeds: Seeds = 1,
    late: Late = "ignore",
    faults: Faults = None,
    search: Search = None,
    guarantee: Guarantee = None,
    record: Record = None,
    transcripts: Annotated[
        bool, typer.Option("--transcripts/--no-transcripts", help="Record the conversation with every task.")
    ] = True,
    strict: Strict = None,
    reports: Reports = None,
    color: Color = None,
    quiet: option.Quiet = False,
) -> None:
    """Run a whole topology on this machine, with its ackers: no cluster, no JVM.

    FLUX: a topology in Storm's Flux YAML. Each task is a process; each conversation is judged and recorded. The run
    ends when the sources are exhausted, or by --messages or --seconds; then what is under way is settled.
    """
