"""Runs the stages, each into tables of a folder, which is all that a later stage reads: so each can be used alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.inputs import Plan
from multilang_cli.audit.stages import edges, events, findings, keys, ledger, roots, summary
from multilang_cli.audit.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Known = dict[str, "DataFrame"]
"""Tables by name."""


Tables = Iterator[tuple[str, "DataFrame"]]
Stage = Callable[["SparkSession", Plan, Known, list["DataFrame"]], Tables]
"""Makes tables, one after the other, of those that stand already: each is written before the next is asked for.

What it keeps for that, it appends to the list.
"""


def run(spark: SparkSession, plan: Plan, folder: str, say: Callable[[str], None], *, overwrite: bool = False) -> Known:
    """Every stage, its tables written as Parquet in `folder`; returns all tables, as they were written.

    `say`: is told what goes on, a line at a time. `overwrite`: tables that are there already are removed first, all of
    them, so that none of an audit that was not finished stands beside those of another.
    """
    known: Known = {}
    if overwrite:
        _clear(spark, folder)
    for number, (name, stage) in enumerate(STAGES.items(), 1):
        kept: list[DataFrame] = []
        say(f"[{number}/{len(STAGES)}] {name}")
        for table, rows in stage(spark, plan, known, kept):
            place = f"{folder.rstrip('/')}/{table}"
            rows.write.mode("error").parquet(place)
            known[table] = spark.read.parquet(place)
        for each in kept:
            each.unpersist()
    return known


def _clear(spark: SparkSession, folder: str) -> None:
    """Remove our tables, and nothing else."""
    jvm: Any = spark._jvm  # noqa: SLF001 (PySpark has no other door to file systems)
    for table in TABLES:
        path = jvm.org.apache.hadoop.fs.Path(f"{folder.rstrip('/')}/{table}")
        path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001


def _keep(rows: DataFrame, kept: list[DataFrame]) -> DataFrame:
    kept.append(rows.persist(StorageLevel.DISK_ONLY))
    return kept[-1]


def _events(spark: SparkSession, plan: Plan, known: Known, kept: list[DataFrame]) -> Tables:
    read = events.lines(spark, plan.inputs.transcripts)
    rows = _keep(events.outlined(read), kept)
    outline = events.outline_of(rows)
    yield "conversations", events.conversations(rows, outline)
    yield "events", events.events(read, outline)
    yield "quarantine", events.quarantine(read, outline, events.unaccounted(outline, known["events"]))
    yield "files", events.files(outline, known["events"], known["quarantine"])


def _findings(_: SparkSession, plan: Plan, known: Known, kept: list[DataFrame]) -> Tables:
    found = findings.judged(known["conversations"], known["events"], known["quarantine"], plan.storm)
    yield from findings.tables(_keep(found, kept))._asdict().items()


def _ledger(_: SparkSession, __: Plan, known: Known, ___: list[DataFrame]) -> Tables:
    yield "ledger", ledger.ledger(known["conversations"], known["events"])


def _trees(spark: SparkSession, plan: Plan, known: Known, _: list[DataFrame]) -> Tables:
    """Of runs that have a history what it says, of all others what can be inferred."""
    told = _by_run(plan, known)
    marks = edges.of_taps(told.where("run = topology").drop("run"), known["events"])
    if plan.inputs.histories:
        marks = marks.unionByName(edges.of_history(events.lines(spark, plan.inputs.histories)))
    yield "marks", marks


def _roots(_: SparkSession, plan: Plan, known: Known, __: list[DataFrame]) -> Tables:
    timeouts = _by_run(plan, known).groupBy("run").agg(F.max("timeout").alias("timeout"))
    yield "roots", roots.roots(known["marks"], timeouts=timeouts)


def _by_run(plan: Plan, known: Known) -> DataFrame:
    """The table conversations with `run`: the folder of a run that has a history, else the topology's name."""
    whose = F.col("topology")
    for folder in (history.rpartition("/")[0] for history in plan.inputs.histories):
        whose = F.when(F.startswith("file", F.lit(f"{folder}/")), F.lit(folder)).otherwise(whose)
    return known["conversations"].withColumn("run", whose)


def _summary(_: SparkSession, __: Plan, known: Known, ___: list[DataFrame]) -> Tables:
    happened, settled, who = known["events"], known["ledger"], summary.people(known["conversations"])
    yield "rates", summary.rates(who, happened, settled)
    yield "replays", summary.replays(who, settled)
    yield "timeouts", summary.timeouts(who, settled)
    yield "silences", summary.silences(who, happened, settled)
    yield "restarts", summary.restarts(who, happened, settled)
    yield "keys", keys.keys(known["conversations"], who, happened)
    yield "dialects", summary.dialects(who, known["findings"])


STAGES: dict[str, Stage] = {
    "events": _events,
    "findings": _findings,
    "ledger": _ledger,
    "trees": _trees,
    "roots": _roots,
    "summary": _summary,
}
"""Every stage, in order."""
