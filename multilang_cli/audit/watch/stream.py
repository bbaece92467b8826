"""The audit of what is still being recorded: Structured Streaming over a folder or a Kafka topic.

Lines become what they say to a run; a stateful operator, one key a run, follows it (``processor``). What it finds is
written under the batch's number, so a batch that is done again after a crash writes the same again: Spark begins it
with the state that the one before left, with the same lines, and with the same wall time.
"""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.audit.watch.following import Rules
from multilang_cli.audit.watch.processor import ALERT, LATE, ROOT, alerts_in, follow_lines, table_in
from multilang_cli.audit.watch.sinks import Sinks, Told
from multilang_cli.reports.escape import json_lines
from multilang_cli.transcript.given import NO_SECRETS
from multilang_cli.transcript.private import make_private, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from multilang_cli.transcript.given import GivenSecrets

_FILES = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark knows of files; the content is not asked for, and so not read."""
TIMERS_SECONDS = 10
"""Seconds between two batches at least, where wall time may run on: each looks at the timers."""


class WatchFolder:
    """The folder of a watch: ``roots/``, ``late/``, ``alerts/``, one entry a batch that found some.

    `say`: is told of each batch that is done; `sinks`: of its alerts.
    """

    def __init__(self, spark: SparkSession, folder: Path, say: Callable[[str], object], sinks: Sinks) -> None:
        self._spark = spark
        self._folder = folder
        self._say = say
        self._sinks = sinks
        self._told: tuple[int, Counter[Told], int] | None = None

    def take(self, found: DataFrame, number: int) -> None:
        """One batch of what was found. For ``foreachBatch``."""
        # Whoever reads it a second time would have Spark do the batch a second time.
        found.persist()
        sizes = {row["kind"]: int(row["count"]) for row in found.groupBy("kind").count().collect()}
        for part, kind in (("roots", ROOT), ("late", LATE)):
            if sizes.get(kind):
                path = str(self._folder / part / _name(number))
                table_in(found, kind).coalesce(1).write.mode("overwrite").parquet(path)
        begins = self._told is None
        counts, late = self._before(number)
        late += sizes.get(LATE, 0)
        alerts = alerts_in(found) if sizes.get(ALERT) else []
        found.unpersist()
        counts.update((each.topology, each.component or "", each.verdict) for each in alerts)
        if alerts:
            lines = json_lines(map(msgspec.structs.asdict, alerts))
            _write(self._folder / "alerts" / f"{_name(number)}.ndjson", lines)
        if alerts or begins:
            self._sinks.tell(self._spark, alerts, counts)
        self._told = number + 1, counts, late
        if sizes or begins:
            self._say(f"batch {number}: {len(alerts)} alerts; {late} marks came too late so far")

    def _before(self, number: int) -> tuple[Counter[Told], int]:
        """Count the alerts of each kind, and the late marks, of the batches before this one; read once."""
        if self._told is not None and self._told[0] == number:
            return self._told[1], self._told[2]
        counts: Counter[Told] = Counter()
        for path in sorted((self._folder / "alerts").glob("*.ndjson")):
            if int(path.stem) < number:
                counts.update(_told_in(path))
        folders = [path for path in (self._folder / "late").glob("[0-9]*") if int(path.name) < number]
        late = self._spark.read.parquet(*map(str, folders)).count() if folders else 0
        return counts, late


def _told_in(path: Path) -> Iterator[Told]:
    for line in path.read_bytes().splitlines():
        alert = msgspec.json.decode(line)
        yield alert["topology"], alert["component"] or "", alert["verdict"]


def _name(number: int) -> str:
    return f"{number:08d}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, "w", encoding="utf-8") as file:
        file.write(text)


def folder_lines(spark: SparkSession, folder: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """Files of a folder as they come to be there; each is read once, so it must be whole by then.

    They are read where their lines are heard (``heard``): Spark waits for a pipe, and gives all up for one that is
    damaged. `options`: of Spark's file source, over ours.
    """
    usual = {"maxFilesPerTrigger": "1000", "recursiveFileLookup": "true", "pathGlobFilter": "*.ndjson*"}
    # The oldest first: time goes on as files do.
    read = spark.readStream.format("binaryFile").options(**(usual | dict(options or {}))).schema(_FILES)
    return read.load(folder).selectExpr(
        "_metadata.file_path as file", "cast(_metadata.file_modification_time as double) as came"
    )


def kafka_lines(spark: SparkSession, servers: str, topic: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """Lines of transcripts or histories that are a topic's messages. A message's key names the file it stands for.

    `options`: of Spark's Kafka source, over ours.
    """
    usual = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    found = spark.readStream.format("kafka").options(**(usual | dict(options or {}))).load()
    file = "coalesce(make_valid_utf8(cast(key as string)), topic) as file"
    return found.selectExpr(file, "value as text", "cast(partition as double) as came", "offset as block")


def watch(
    lines: DataFrame,
    folder: Path,
    rules: Rules | None = None,
    *,
    once: bool = False,
    checkpoint: str = "",
    say: Callable[[str], object] = str,
    sinks: Sinks | None = None,
    secrets: GivenSecrets = NO_SECRETS,
) -> StreamingQuery:
    """Begin, or go on where the checkpoint says. `once`: up to what there is now; else for ever.

    `checkpoint`: where Spark holds its progress and state, any path of Hadoop's; "" for a place in the folder. `say` is
    told of batches, `sinks` of alerts; one that can't be told ends the query. The session has ``settings.STATE``.
    `secrets`: what is hidden in the lines.

    Raises OSError where the folder can't be made.
    """
    make_private(folder)
    spark, rules = lines.sparkSession, rules or Rules()
    timers = not once and rules.stopped < inf
    # Spark begins the next batch at once while there may be timers, and ends never where it should end by itself.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", str(timers).lower())
    taken = WatchFolder(spark, folder, say, sinks or Sinks())
    found = follow_lines(lines, rules, timers=timers, secrets=secrets)
    writing = found.writeStream.outputMode("append").foreachBatch(taken.take)
    writing = writing.option("checkpointLocation", checkpoint or str(folder / "checkpoint"))
    if timers:
        return writing.trigger(processingTime=f"{TIMERS_SECONDS} seconds").start()
    return (writing.trigger(availableNow=True) if once else writing).start()
