"""Implementation of ``mlcheck audit watch``."""

from __future__ import annotations

import os
from math import inf
from pathlib import Path

import msgspec

from multilang_cli.audit.console.spark import holds_anything, pairs_of, running
from multilang_cli.audit.watch.following import Rules
from multilang_cli.audit.watch.sinks import KAFKA, SinkError, Sinks, sink_of
from multilang_cli.audit.watch.workers import STATE
from multilang_cli.reports.escape import escape
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark
from multilang_cli.transcript.given import GIVEN
from multilang_cli.transcript.private import make_private, open_afresh

_SCALA = {"3": "2.12"}
"""The Scala of a PySpark, by the first number of its version; of later ones it is 2.13."""
_SPARKS_OWN = (
    "org.slf4j:slf4j-api", "org.apache.hadoop:hadoop-client-runtime", "org.apache.hadoop:hadoop-client-api",
    "org.lz4:lz4-java", "org.xerial.snappy:snappy-java", "com.google.code.findbugs:jsr305",
    "org.scala-lang.modules:scala-parallel-collections_2.12", "org.scala-lang.modules:scala-parallel-collections_2.13",
)  # fmt: skip
"""What the connector needs and PySpark brings along: a second copy would be fetched for nothing."""
_WHAT = "audit watch"
_ELSEWHERE = "checkpoint-path"
"""The file of an output folder that names a checkpoint elsewhere."""
_LEAST_PYSPARK = 4
_STOPPED = 300.0
"""Seconds without a line after which a recording in a topic has stopped, usually."""


class WatchFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck audit watch``."""

    source: str
    output: Path
    timeout: float = 30.0
    delay: float = 10.0
    stopped: float | None = None
    checkpoint: str = ""
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
    if where is None:
        _check_links(source)
    _check_output(flags)
    try:
        sinks = Sinks([sink_of(each) for each in flags.to])
    except SinkError as error:
        raise CommandError(f"{_WHAT}: {error}.") from None
    options = pairs_of(_WHAT, flags.option, "--option")
    _check_pyspark()
    settings = pairs_of(_WHAT, flags.spark_conf)
    asks_kafka = where is not None or any(each.startswith("kafka:") for each in flags.to)
    if asks_kafka and not any(each.startswith("spark.jars") for each in settings):
        settings |= _connector()
    try:
        with running(_WHAT, flags.master, STATE | settings, quiet=not flags.spark_log) as spark:
            from multilang_cli.audit.watch import stream  # noqa: PLC0415 (needs Spark)

            if where:
                lines = stream.kafka_lines(spark, where[1], where[2], options)
            else:
                lines = stream.folder_lines(spark, source, options)
            _note_checkpoint(flags)
            stopped = flags.stopped or (_STOPPED if where and flags.stopped is None else inf)
            query = stream.watch(
                lines,
                output,
                Rules(flags.timeout, flags.delay, stopped),
                once=flags.once,
                checkpoint=flags.checkpoint,
                say=_say,
                sinks=sinks,
                secrets=GIVEN.told(),
            )
            _say(f"alerts go to {output / 'alerts'}")
            query.awaitTermination()
    except CommandError:
        if sinks.failed is not None:
            raise CommandError(f"{_WHAT}: {sinks.failed}.") from None
        raise
    return ExitCode.CONFORMANT


def _check_links(folder: str) -> None:
    """Raises CommandError where a link leads out of the folder, or back: Spark reads whatever is behind it."""
    for place, folders, _ in os.walk(folder):
        if links := [name for name in sorted(folders) if (Path(place) / name).is_symlink()]:
            raise CommandError(
                f"{_WHAT}: {escape(str(Path(place, links[0])))} is a link to another folder, which would be read too;"
                " remove it, or watch that folder itself."
            )


def _check_output(flags: WatchFlags) -> None:
    """Raises CommandError where the folder is not that of a watch with this checkpoint."""
    output, default = flags.output, flags.output / "checkpoint"
    if not holds_anything(_WHAT, output):
        return
    if (output / "state").is_dir():
        raise CommandError(
            f"{_WHAT}: {output} is of an older mlcheck, whose state can't be read; choose another with -o."
        )
    elsewhere = output / _ELSEWHERE
    if not default.is_dir() and not elsewhere.is_file():
        raise CommandError(f"{_WHAT}: {output} holds something else; choose another with -o.")
    held = elsewhere.read_text(encoding="utf-8") if elsewhere.is_file() else ""
    if held != flags.checkpoint:
        # Batches are numbered anew with a new checkpoint, and would overwrite others.
        has = f"--checkpoint {escape(held)}" if held else f"its checkpoint in {default}"
        raise CommandError(f"{_WHAT}: {output} goes on with {has}; or choose another folder with -o.")


def _note_checkpoint(flags: WatchFlags) -> None:
    make_private(flags.output)
    if flags.checkpoint:
        with open_afresh(flags.output / _ELSEWHERE, "w", encoding="utf-8") as file:
            file.write(flags.checkpoint)
    else:
        (flags.output / "checkpoint").mkdir(exist_ok=True)


def _check_pyspark() -> None:
    """Raises CommandError where PySpark has no state for Python to hold."""
    try:
        from pyspark import __version__  # noqa: PLC0415 (an extra)
    except ImportError:
        # Whoever starts Spark says so.
        return
    if int(__version__.partition(".")[0]) < _LEAST_PYSPARK:
        raise CommandError(
            f"{_WHAT} needs PySpark 4.0 or newer, and {__version__} is installed: it holds its state there."
        )


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
