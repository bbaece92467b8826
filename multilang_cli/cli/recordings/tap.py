"""``mlcheck tap``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.app import Storm
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.tap import plan as tap_plan

Record = Annotated[
    str,
    typer.Option(
        "--record",
        metavar="DIR",
        help="For transcripts, log and status. Default: .mlcheck/tap. kafka://HOST:PORT/TOPIC: every message, there.",
    ),
]
Kind = Annotated[
    str, typer.Option("--kind", metavar="bolt|spout|auto", help="What it is. auto (the default): Storm tells.")
]
Ring = Annotated[
    int | None,
    typer.Option("--ring", metavar="N", min=1, help="Keep the last N messages, and write them at the end."),
]
RecordAll = Annotated[bool, typer.Option("--record-all", help="Write every message, as it passes.")]
Rotate = Annotated[
    str | None,
    typer.Option("--rotate", metavar="SIZE/AGE", help="With --record-all: a new file after so much. [64MiB]"),
]
Keep = Annotated[
    int | None, typer.Option("--keep", metavar="N", min=1, help="With --record-all: only the last N files.")
]
Sample = Annotated[
    float,
    typer.Option("--sample", metavar="P", min=0, max=1, help="Record a conversation with probability P."),
]
Status = Annotated[
    Path | None, typer.Option("--status", metavar="FILE", help="How far it is, as JSON. Default: one in DIR.")
]
WriteWrapper = Annotated[
    Path | None,
    typer.Option("--write-wrapper", metavar="FILE", help="Run nothing: write an executable that taps COMMAND."),
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Findings go to stderr, too.")]


@handled_by("tap.command:tap_given")
def tap(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", hidden=True)],
    *,
    record: Record = str(tap_plan.FOLDER),
    storm: Storm = None,
    kind: Kind = "auto",
    ring: Ring = None,
    record_all: RecordAll = False,
    rotate: Rotate = None,
    keep: Keep = None,
    sample: Sample = 1.0,
    status: Status = None,
    write_wrapper: WriteWrapper = None,
    verbose: Verbose = False,
) -> None:
    """Stand in a topology in place of COMMAND: pass everything on unchanged, record and judge it.

    COMMAND comes after --. The exit code is its own, 128 + n for signal n. Findings are lines of the log in DIR;
    `mlcheck lint` judges the transcripts again. Whatever happens to the recording, COMMAND does not notice.
    """
