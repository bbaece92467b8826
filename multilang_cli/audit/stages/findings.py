"""The judge itself, on the executors: the tables findings and outlooks, the same as ``mlcheck lint`` gives."""

from __future__ import annotations

from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.arrow import arrow_schema, batch_of
from multilang_cli.audit.inputs import size as bytes_of
from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.audit.outline import AGAIN
from multilang_cli.audit.stages.lines import READ_BY_DRIVER, shares
from multilang_cli.audit.stages.whole_files import heard
from multilang_cli.audit.store.parquet_files import commented_schema, tuples_of, write_passing
from multilang_cli.audit.tables import FINDINGS, OUTLOOKS
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.stages.whole_files import WholeFiles

_COLUMNS = {column.name: column for column in (*FINDINGS.columns, *OUTLOOKS.columns)}
_SCHEMA = arrow_schema(_COLUMNS.values())
_FINDINGS, _OUTLOOKS = arrow_schema(FINDINGS.columns), arrow_schema(OUTLOOKS.columns)
DDL = ", ".join(f"`{column.name}` {column.type}" for column in _COLUMNS.values())
ROWS_TOGETHER = 1024
_LAST = 2**63 - 1
"""The place of the end of a part: behind all its lines."""
TASKS_A_CORE = 4
"""Tasks that judge, where files allow it: short ones fit in where no other task runs."""


class JudgedTables(NamedTuple):
    """The tables of this stage."""

    findings: DataFrame
    outlooks: DataFrame


def judged(conversations: DataFrame, events: DataFrame, quarantine: DataFrame | None, storm: str = "") -> DataFrame:
    """Findings, and outlooks, which have a `version`. `storm`: judge for it, "" as recorded.

    One task hears a whole conversation, from its first part to its last, and keeps nothing of it but the judge's state.
    `quarantine`: None where every line is well.
    """
    return _in_order(conversations, events, quarantine).mapInArrow(partial(_judge_batches, storm=storm), DDL)


def write_judged(
    conversations: DataFrame, events: DataFrame, quarantine: DataFrame | None, storm: str, folder: str
) -> Sequence[tuple[Any, ...]]:
    """Write findings into a folder of this machine, in the tasks that judge. Returns the outlooks, which are few."""
    make_private(Path(folder))
    write = partial(_judge_and_write, storm=storm, folder=str(Path(folder).absolute()))
    ordered = _in_order(conversations, events, quarantine)
    return ordered.mapInArrow(write, OUTLOOKS.ddl).collect()


def write_whole(
    spark: SparkSession, files: Sequence[WholeFiles], storm: str, folder: str
) -> tuple[list[tuple[Any, ...]], frozenset[str]]:
    """Write the same of conversations that stand whole in files. Returns the outlooks, and what was judged so."""
    make_private(Path(folder))
    sized = [(bytes_of(each.paths), each) for each in files]
    write = partial(_hear_and_write, storm=storm, folder=str(Path(folder).absolute()))
    rows: Sequence[tuple[Any, ...]]
    if sum(size for size, _ in sized) <= READ_BY_DRIVER:
        rows = list(tuples_of(write(files, number=0, own="driver"))) if files else ()
    else:
        tasks = shares(sized, TASKS_A_CORE * spark.sparkContext.defaultParallelism)
        hear_all = partial(_hear_shares, tasks=tasks, write=write)
        rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(hear_all, OUTLOOKS.ddl).collect()
    return [tuple(row) for row in rows if row[1] is not None], frozenset(row[0] for row in rows)


def _in_order(conversations: DataFrame, events: DataFrame, quarantine: DataFrame | None) -> DataFrame:
    """All lines of each conversation in one partition, in order."""
    ordered = conversations.selectExpr("conv", "part", "-1L as place", "'header' as what", "header as raw")
    ends = conversations.where("closed").selectExpr(
        "conv", "part", f"{_LAST}L as place", "'end' as what", "cast(null as binary) as raw"
    )
    ordered = ordered.unionByName(ends)
    if quarantine is None:
        ordered = ordered.unionByName(events.selectExpr("conv", "part", "seq as place", "'event' as what", "raw"))
    else:
        damaged = _damaged(events, quarantine)
        ordered = ordered.unionByName(_placed(events, damaged)).unionByName(damaged)
    ordered = ordered.repartition("conv").sortWithinPartitions("conv", "part", "place")
    return ordered.select("conv", "part", "what", "raw")


def _damaged(events: DataFrame, quarantine: DataFrame) -> DataFrame:
    """Lines that can't be read: each may have been of any conversation of its file."""
    bad = quarantine.where(f"not startswith(reason, '{AGAIN}')").select("file", "line")
    near = events.join(F.broadcast(bad.select("file").distinct()), "file", "left_semi")
    spans = near.groupBy("file", "conv", "part").agg({"line": "min"}).withColumnRenamed("min(line)", "since")
    behind = bad.join(spans, "file").where("line > since")
    return behind.selectExpr("conv", "part", "line as place", "'damaged' as what", "cast(null as binary) as raw")


def _placed(events: DataFrame, damaged: DataFrame) -> DataFrame:
    """Events in order: those that were swapped on their way by their numbers, but where a line is damaged, by lines."""
    hurt = F.broadcast(damaged.select("conv", "part").distinct().withColumn("hurt", F.lit(True)))
    rows = events.join(hurt, ["conv", "part"], "left")
    return rows.selectExpr("conv", "part", "if(hurt, line, seq) as place", "'event' as what", "raw")


def tables(found: DataFrame) -> JudgedTables:
    """The two tables of what was judged; it is used twice, so it is best kept."""
    return JudgedTables(
        found.where("version is null").select([column.name for column in FINDINGS.columns]),
        found.where("version is not null").select([column.name for column in OUTLOOKS.columns]),
    )


def _judge_batches(batches: Iterable[pa.RecordBatch], storm: str) -> Iterator[pa.RecordBatch]:
    for some in _judged(batches, storm):
        yield batch_of(some, _SCHEMA)


def _judge_and_write(batches: Iterable[pa.RecordBatch], storm: str, folder: str) -> Iterator[pa.RecordBatch]:
    task = _task()
    path = Path(folder, f"part-{task.partitionId():05d}.parquet")
    yield _written(_judged(batches, storm), path, str(task.taskAttemptId()))


def _hear_shares(
    batches: Iterable[pa.RecordBatch], tasks: tuple[tuple[WholeFiles, ...], ...], write: Any
) -> Iterator[pa.RecordBatch]:
    for number in chain.from_iterable(batch.column(0).to_pylist() for batch in batches):
        yield from write(tasks[number], number=number, own=str(_task().taskAttemptId()))


def _hear_and_write(
    files: Iterable[WholeFiles], storm: str, folder: str, number: int, own: str
) -> Iterator[pa.RecordBatch]:
    """Outlooks; and each conversation that was judged, without a version."""
    judged: list[str] = []

    def found() -> Iterator[list[dict[str, Any]]]:
        """Rows of the files that have nothing odd."""
        for each in files:
            if (rows := heard(each, storm)) is not None:
                judged.extend(each.events)
                yield rows

    yield _written(found(), Path(folder, f"whole-{number:05d}.parquet"), own)
    yield batch_of([{"conv": conv} for conv in judged], _OUTLOOKS)


def _written(rows: Iterable[list[dict[str, Any]]], path: Path, own: str) -> pa.RecordBatch:
    """The outlooks among rows; findings are written. A task that is run again writes the same file again."""
    outlooks: list[dict[str, Any]] = []

    def findings() -> Iterator[pa.RecordBatch]:
        """The others."""
        for some in rows:
            outlooks.extend(row for row in some if row.get("version") is not None)
            if mine := [row for row in some if row.get("version") is None]:
                yield batch_of(mine, _FINDINGS)

    for _ in write_passing(findings(), path, commented_schema(FINDINGS), own):
        pass
    return batch_of(outlooks, _OUTLOOKS)


def _task() -> TaskContext:
    task = TaskContext.get()
    assert task is not None  # noqa: S101 (it runs in one)
    return task


def _judged(batches: Iterable[pa.RecordBatch], storm: str) -> Iterator[list[dict[str, Any]]]:
    lines = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    rows = judge_lines(lines, storm)
    while some := list(islice(rows, ROWS_TOGETHER)):
        yield some
