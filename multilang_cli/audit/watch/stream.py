"""The audit of what is still being recorded: Structured Streaming over a folder or a Kafka topic.

Each batch adds its marks to those of the roots that are not over. Time is the recordings' own: a run is as late as its
latest mark, less what marks may be late by. A root is over when nothing was heard of it for two timeouts: then it is
judged by the same code as in a batch. What comes later than that is counted and listed, and changes no verdict.

All that a batch makes is written under its number, from the state that the one before it left. So a batch that is done
again after a crash writes the same again.
"""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.stages.edges import of_history, of_lines
from multilang_cli.audit.stages.roots import TIMEOUT, roots
from multilang_cli.audit.store.local_rows import local_rows
from multilang_cli.audit.tables import MARKS
from multilang_cli.audit.watch.alerts import RunNames, alert_of, learn, speakers
from multilang_cli.audit.watch.sinks import Sinks
from multilang_cli.reports.escape import json_lines
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MARKS_LATE = 10.0
"""Seconds that a mark may be late by, usually."""
_KEY = ["run", "root"]
_ENDS = "run string, run_end double"


class Rules(NamedTuple):
    """When what is over, in seconds of the recordings. `alerts`: the verdicts that are told."""

    timeout: float = TIMEOUT
    delay: float = MARKS_LATE
    alerts: tuple[str, ...] = ("failed", "timed out", "late ack", "double ack", "never acked", "lost")

    @property
    def silence(self) -> float:
        """After so long, nothing more is expected of a root: a spout waits for two timeouts at most."""
        return 2 * self.timeout + self.delay


class WatchedBatch(NamedTuple):
    """Result of one batch. `over`: the table roots of those that are; `late`: marks that came too late.

    `kept`: what all these are made of, held until it is unpersisted.
    """

    over: DataFrame
    late: DataFrame
    open: DataFrame
    kept: DataFrame


def step(
    state: DataFrame, new: DataFrame, before: dict[str, float], after: dict[str, float], rules: Rules
) -> WatchedBatch:
    """Add the marks `new` to those of the open roots. `before`, `after`: by run, the time of its latest mark."""
    spark = state.sparkSession
    ends = local_rows(spark, list(after.items()), _ENDS)
    known = local_rows(spark, list(before.items()), "run string, seen double")
    timed = new.join(F.broadcast(known), "run", "left")
    is_late = F.expr(f"coalesce(t < seen - {rules.delay}, false)")
    columns = [column.name for column in MARKS.columns]
    kept = state.unionByName(timed.where(~is_late).select(columns))
    fate = (
        kept.groupBy(_KEY)
        .agg(F.max("t").alias("last"), F.expr("count_if(what = 'emit') > 0 as known"))
        .join(F.broadcast(ends), "run")
        .selectExpr(*_KEY, f"last + {rules.silence} < run_end - {rules.delay} as over", "known")
    )
    judged = kept.join(fate, _KEY).persist()
    over = roots(judged.where("over and known").select(columns), rules.timeout, ends)
    orphans = judged.where("over and not known").select(columns)
    late = timed.where(is_late).select(columns).unionByName(orphans)
    return WatchedBatch(over, late, judged.where("not over").select(columns), judged)


class AlertCount(msgspec.Struct, frozen=True):
    """Alerts told so far of a component."""

    topology: str
    component: str
    verdict: str
    number: int


class WatchState(msgspec.Struct):
    """State that a batch leaves beside the marks of open roots.

    `latest`: how far each run is; `late`: marks that came too late so far.
    """

    latest: dict[str, float] = {}
    late: int = 0
    names: dict[str, RunNames] = {}
    counts: list[AlertCount] = []


class WatchFolder:
    """The folder of a watch: ``roots/``, ``late/``, ``alerts/``, ``state/``, one entry a batch.

    `say`: is told of each batch that is done; `sinks`: of its alerts.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        rules: Rules,
        say: Callable[[str], object],
        sinks: Sinks,
    ) -> None:
        self._spark = spark
        self._folder = folder
        self._rules = rules
        self._say = say
        self._sinks = sinks

    def take(self, lines: DataFrame, number: int) -> None:
        """One batch of lines, with the columns `file` and `text`. For ``foreachBatch``."""
        new = of_history(lines).unionByName(of_lines(lines)).persist()
        told, state = self._state(number)
        learn(told.names, speakers(lines).collect())
        before = told.latest
        latest = {row.run: row.t for row in new.groupBy("run").agg(F.max("t").alias("t")).collect()}
        after = before | {run: max(before.get(run, t), t) for run, t in latest.items()}
        batch = step(state, new, before, after, self._rules)
        name = f"{number:08d}"
        for part, table in (("roots", batch.over), ("late", batch.late), ("state", batch.open)):
            table.coalesce(1).write.mode("overwrite").parquet(str(self._folder / part / name))
        alerts = self._alert(name, told)
        told.latest = after
        told.late += self._spark.read.parquet(str(self._folder / "late" / name)).count()
        _write(self._folder / "state" / f"{name}.json", msgspec.json.encode(told).decode())
        shutil.rmtree(self._folder / "state" / f"{number - 2:08d}", ignore_errors=True)
        for table in (new, batch.kept):
            table.unpersist()
        self._say(f"batch {number}: {alerts} alerts; {told.late} marks came too late so far")

    def _state(self, number: int) -> tuple[WatchState, DataFrame]:
        """State left by the batch before, and the marks of open roots."""
        path = self._folder / "state" / f"{number - 1:08d}"
        if number == 0:
            return WatchState(), local_rows(self._spark, [], MARKS.ddl)
        told = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=WatchState)
        return told, self._spark.read.parquet(str(path))

    def _alert(self, name: str, told: WatchState) -> int:
        """Write what there is to say as NDJSON, whole or not at all, and tell it; how many lines."""
        over = self._spark.read.parquet(str(self._folder / "roots" / name))
        rows = over.where(F.col("verdict").isin(*self._rules.alerts)).orderBy(*_KEY).collect()
        alerts = [alert_of(row, told.names) for row in rows]
        counts = Counter({(each.topology, each.component, each.verdict): each.number for each in told.counts})
        counts.update((each.topology, each.component or "", each.verdict) for each in alerts)
        told.counts = [AlertCount(*key, number) for key, number in counts.items()]
        _write(self._folder / "alerts" / f"{name}.ndjson", json_lines(map(msgspec.structs.asdict, alerts)))
        self._sinks.tell(self._spark, alerts, counts)
        return len(alerts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def folder_lines(spark: SparkSession, folder: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """Lines of the files of a folder as they come to be there; each file is read once, so it must be whole by then.

    `options`: of Spark's file source, over ours.
    """
    usual = {"maxFilesPerTrigger": "1000", "recursiveFileLookup": "true", "pathGlobFilter": "*.ndjson*"}
    # The oldest first: time goes on as files do.
    read = spark.readStream.format("text").options(**(usual | dict(options or {}))).option("lineSep", "\n")
    found = read.load(folder)
    return found.select(F.col("_metadata.file_path").alias("file"), F.col("value").cast("binary").alias("text"))


def kafka_lines(spark: SparkSession, servers: str, topic: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """Lines of transcripts or histories that are a topic's messages. A message's key names the file it stands for.

    `options`: of Spark's Kafka source, over ours.
    """
    usual = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    found = spark.readStream.format("kafka").options(**(usual | dict(options or {}))).load()
    return found.selectExpr("coalesce(cast(key as string), topic) as file", "value as text")


def watch(
    lines: DataFrame,
    folder: Path,
    rules: Rules | None = None,
    *,
    once: bool = False,
    say: Callable[[str], object] = str,
    sinks: Sinks | None = None,
) -> StreamingQuery:
    """Begin, or go on where the folder says. `once`: up to what there is now; else for ever. `say`: told of batches.

    `sinks`: told of alerts; one that can't be told ends the query.

    Raises OSError where the folder can't be made.
    """
    make_private(folder)
    taken = WatchFolder(lines.sparkSession, folder, rules or Rules(), say, sinks or Sinks())
    writing = lines.writeStream.foreachBatch(taken.take).option("checkpointLocation", str(folder / "checkpoint"))
    return (writing.trigger(availableNow=True) if once else writing).start()
