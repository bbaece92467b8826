"""``mlcheck audit watch``."""

import re
from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.audit.spark import Master, SparkConf, SparkLog, holds_anything, pairs_of, running
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark

_KAFKA = re.compile(r"kafka://([^/]+)/([\w.-]+)")
_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
_SPARKS_OWN = (
    "org.slf4j:slf4j-api", "org.apache.hadoop:hadoop-client-runtime", "org.apache.hadoop:hadoop-client-api",
    "org.lz4:lz4-java", "org.xerial.snappy:snappy-java", "com.google.code.findbugs:jsr305",
    "org.scala-lang.modules:scala-parallel-collections_2.13",
)  # fmt: skip
"""What the connector needs and PySpark brings along: a second copy would be fetched for nothing."""
_WHAT = "audit watch"


def watch(
    source: Annotated[str, typer.Argument(metavar="FOLDER|kafka://HOST:PORT/TOPIC", hidden=True)],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where alerts, roots and state go.")],
    *,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="topology.message.timeout.secs.")] = 30.0,
    delay: Annotated[float, typer.Option("--delay", min=0, help="Seconds that a line may be late by.")] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Up to what is there now, and end.")] = False,
    master: Master = "local[*]",
    spark_conf: SparkConf = None,
    spark_log: SparkLog = False,
) -> int:
    """Audit what is still being recorded, and go on where DIR says that it was stopped.

    Each file is read once, when it is seen: rotated parts, moved there whole. Alerts are NDJSON, below DIR/alerts; what
    came too late is below DIR/late, and changes no verdict.
    """
    where = _KAFKA.fullmatch(source)
    if where is None and source.startswith("kafka:"):
        raise CommandError(f"{_WHAT}: {source[:60]!r}: expected kafka://HOST:PORT/TOPIC.")
    if where is None and not Path(source).is_dir():
        raise CommandError(f"{_WHAT}: {source}: there is no such folder.", ExitCode.NOTHING_SELECTED)
    if holds_anything(_WHAT, output) and not (output / "checkpoint").is_dir():
        raise CommandError(f"{_WHAT}: {output} holds something else; choose another with -o.")
    settings = list(spark_conf or ())
    if where is not None and not any(each.startswith("spark.jars") for each in settings):
        settings += [f"spark.jars.packages={_CONNECTOR}", f"spark.jars.excludes={','.join(_SPARKS_OWN)}"]
    with running(_WHAT, master, pairs_of(_WHAT, settings), quiet=not spark_log) as spark:
        from multilang_cli.audit import watching  # noqa: PLC0415 (needs Spark)

        lines = watching.kafka_lines(spark, *where.groups()) if where else watching.folder_lines(spark, source)
        query = watching.watch(lines, output, watching.Rules(timeout, delay), once=once, say=_say)
        _say(f"alerts go to {output / 'alerts'}")
        query.awaitTermination()
    return ExitCode.CONFORMANT


def _say(text: str) -> None:
    remark(f"{_WHAT}: {text}")
