"""``mlcheck audit watch``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.audit.spark_options import Master, SparkConf, SparkLog
from multilang_cli.cli.options.handled import handled_by

To = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="PLACE", help="Tell alerts there too: console, kafka://..., https://..., prometheus=FILE."
    ),
]
SourceOption = Annotated[
    list[str] | None, typer.Option("--option", metavar="K=V", help="An option of Spark's source. May be repeated.")
]

Stopped = Annotated[
    float | None,
    typer.Option(
        "--stopped", metavar="SECONDS", min=0, help="A recording without a line for so long has stopped; 0: none has."
    ),
]
Checkpoint = Annotated[
    str, typer.Option("--checkpoint", metavar="PATH", help="Where Spark's state is, instead of in DIR: s3a://...")
]


@handled_by("audit.console.watching:watch_given")
def watch(
    source: Annotated[str, typer.Argument(metavar="FOLDER|kafka://HOST:PORT/TOPIC", hidden=True)],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where alerts, roots and state go.")],
    *,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="topology.message.timeout.secs.")] = 30.0,
    delay: Annotated[float, typer.Option("--delay", min=0, help="Seconds that a line may be late by.")] = 10.0,
    stopped: Stopped = None,
    checkpoint: Checkpoint = "",
    to: To = None,
    option: SourceOption = None,
    once: Annotated[bool, typer.Option("--once", help="Up to what is there now, and end.")] = False,
    master: Master = "local[*]",
    spark_conf: SparkConf = None,
    spark_log: SparkLog = False,
) -> None:
    """Audit what is still being recorded, and go on where DIR says that it was stopped.

    Each file is read once, when it is seen: rotated parts, moved there whole. Alerts are NDJSON, below DIR/alerts; what
    came too late is below DIR/late, and changes no verdict.
    """
