"""``mlcheck audit run``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color, Reports, Storm
from multilang_cli.cli.audit.spark_options import Master, SparkConf, SparkLog
from multilang_cli.cli.options.handled import handled_by

Inputs = Annotated[list[str], typer.Argument(metavar="INPUT...", hidden=True)]
Output = Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="Where the tables go: a folder or a URL.")]
Format = Annotated[
    str | None, typer.Option("--format", metavar="parquet|delta", help="Of the tables; parquet unless they are delta.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace tables that are there already.")]


@handled_by("audit.console.auditing:audit_given")
def run(
    inputs: Inputs,
    *,
    output: Output,
    overwrite: Overwrite = False,
    table_format: Format = None,
    storm: Storm = None,
    master: Master = "local[*]",
    spark_conf: SparkConf = None,
    spark_log: SparkLog = False,
    report: Reports = None,
    color: Color = None,
) -> None:
    """Say what became of every tuple, from recordings of taps, on Spark.

    INPUT: transcripts, folders of them, patterns, or URLs that Spark understands; .gz and .zst are read as well. Each
    stage is a table in Parquet below DIR (mlcheck docs audit). The limits of [audit] in mlcheck.toml decide the exit
    code.
    """
