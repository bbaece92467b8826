"""Implementation of ``mlcheck audit watch``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from multilang_cli.audit.console.spark import holds_anything, pairs_of, running
from multilang_cli.audit.watch.sinks import KAFKA, SinkError, Sinks, sink_of
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark

_SCALA = {"3": "2.12"}
"""The Scala of a PySpark, by the first number of its version; of later ones it is 2.13."""
_SPARKS_OWN = (
    "org.slf4j:slf4j-api", "org.apache.hadoop:hadoop-client-runtime", "org.apache.hadoop:hadoop-client-api",
    "org.lz4:lz4-java", "org.xerial.snappy:snappy-java", "com.google.code.findbugs:jsr305",
    "org.scala-lang.modules:scala-parallel-collections_2.12", "org.scala-lang.modules:scala-parallel-collections_2.13",
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
    to: tuple[str, ...] = ()
    option: tuple[str, ...] = ()
    master: str = "local[*]"
    spark_conf: tuple[str, ...] = ()
    spark_log: bool = False


def watch_given(flags: WatchFlags) -> int:
    """Audit what comes until it is stopped; returns the exit code. Raises CommandError."""
    source, output = flags.source, flags.output
    where = KAFKA.fullmatch(source)
    if where is None and source.startswith("kafka:"):
        raise CommandError(f"{_WHAT}: {source[:60]!r}: expected kafka://HOST:PORT/TOPIC.")
    if where is None and not Path(source).is_dir():
        raise CommandError(f"{_WHAT}: {source}: there is no such folder.", ExitCode.NOTHING_SELECTED)
    if holds_anything(_WHAT, output) and not (output / "checkpoint").is_dir():
        raise CommandError(f"{_WHAT}: {output} holds something else; choose another with -o.")
    try:
        sinks = Sinks([sink_of(each) for each in flags.to])
    except SinkError as error:
        raise CommandError(f"{_WHAT}: {error}.") from None
    options = pairs_of(_WHAT, flags.option, "--option")
    settings = pairs_of(_WHAT, flags.spark_conf)
    asks_kafka = where is not None or any(each.startswith("kafka:") for each in flags.to)
    if asks_kafka and not any(each.startswith("spark.jars") for each in settings):
        settings |= _connector()
    try:
        with running(_WHAT, flags.master, settings, quiet=not flags.spark_log) as spark:
            from multilang_cli.audit.watch import stream  # noqa: PLC0415 (needs Spark)

            if where:
                lines = stream.kafka_lines(spark, where[1], where[2], options)
            else:
                lines = stream.folder_lines(spark, source, options)
            rules = stream.Rules(flags.timeout, flags.delay)
            query = stream.watch(lines, output, rules, once=flags.once, say=_say, sinks=sinks)
            _say(f"alerts go to {output / 'alerts'}")
            query.awaitTermination()
    except CommandError:
        if sinks.failed is not None:
            raise CommandError(f"{_WHAT}: {sinks.failed}.") from None
        raise
    return ExitCode.CONFORMANT


def _connector() -> dict[str, str]:
    """Spark's settings for the Kafka package of the PySpark that is installed; none where none is."""
    try:
        from pyspark import __version__  # noqa: PLC0415 (an extra)
    except ImportError:
        return {}
    scala = _SCALA.get(__version__.partition(".")[0], "2.13")
    package = f"org.apache.spark:spark-sql-kafka-0-10_{scala}:{__version__}"
    return {"spark.jars.packages": package, "spark.jars.excludes": ",".join(_SPARKS_OWN)}


def _say(text: str) -> None:
    remark(f"{_WHAT}: {text}")
