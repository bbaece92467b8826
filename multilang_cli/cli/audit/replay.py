"""``mlcheck audit replay``."""

from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.audit.spark_options import Master, SparkConf, SparkLog
from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.replay_options import Compare, Ignore, Key

Words = Annotated[list[str], typer.Argument(metavar="INPUT...", hidden=True)]


@handled_by("audit.console.replaying:replay_given")
def replay(
    words: Words,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the table goes, as Parquet.")],
    ignore: Ignore = None,
    comparing: Compare = None,
    key: Key = None,
    only: Annotated[str | None, typer.Option("--component", metavar="ID", help="Only what this one was told.")] = None,
    cwd: Annotated[Path | None, typer.Option("--cwd", metavar="DIR", help="Where the component is started.")] = None,
    master: Master = "local[*]",
    spark_conf: SparkConf = None,
    spark_log: SparkLog = False,
) -> None:
    """Play recordings to a new version of a component, on all executors, and compare: INPUT... -- COMMAND.

    INPUT: transcripts (.ndjson, .gz, .zst) or folders of them; COMMAND begins with the first word that is neither. One
    process runs for each task of Spark's. Exit code 0: the same; 1: something differs.
    """
