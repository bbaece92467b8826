"""Implementation of ``mlcheck audit watch``."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from multilang_cli.audit.console.spark import holds_anything, pairs_of, running
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


class WatchFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck audit watch``."""

    source: str
    output: Path
    timeout: float = 30.0
    delay: float = 10.0
    once: bool = False
    master: str = "local[*]"
    spark_conf: tuple[str, ...] = ()
    spark_log: bool = False


def watch_given(flags: WatchFlags) -> int:
    """Audit what comes until it is stopped; returns the exit code. Raises CommandError."""
    source, output = flags.source, flags.output
    where = _KAFKA.fullmatch(source)
    if where is None and source.startswith("kafka:"):
        raise CommandError(f"{_WHAT}: {source[:60]!r}: expected kafka://HOST:PORT/TOPIC.")
    if where is None and not Path(source).is_dir():
        raise CommandError(f"{_WHAT}: {source}: there is no such folder.", ExitCode.NOTHING_SELECTED)
    if holds_anything(_WHAT, output) and not (output / "checkpoint").is_dir():
        raise CommandError(f"{_WHAT}: {output} holds something else; choose another with -o.")
    settings = list(flags.spark_conf)
    if where is not None and not any(each.startswith("spark.jars") for each in settings):
        settings += [f"spark.jars.packages={_CONNECTOR}", f"spark.jars.excludes={','.join(_SPARKS_OWN)}"]
    with running(_WHAT, flags.master, pairs_of(_WHAT, settings), quiet=not flags.spark_log) as spark:
        from multilang_cli.audit import watching  # noqa: PLC0415 (needs Spark)

        lines = watching.kafka_lines(spark, *where.groups()) if where else watching.folder_lines(spark, source)
        rules = watching.Rules(flags.timeout, flags.delay)
        query = watching.watch(lines, output, rules, once=flags.once, say=_say)
        _say(f"alerts go to {output / 'alerts'}")
        query.awaitTermination()
    return ExitCode.CONFORMANT


def _say(text: str) -> None:
    remark(f"{_WHAT}: {text}")
