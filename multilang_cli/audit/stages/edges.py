"""Marks of the ack framework: as a topology's history has them, or inferred from taps, which never see a root.

What can be inferred: Storm keeps the order between two tasks, so the k-th tuple that task A emitted to task B on a
stream is the k-th that B got from A on it. Which tasks an emit went to stands in the reply with task ids, or in a
direct emit; where nobody asked, equal values are taken for each other in their order. Hashes of values check it all.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.aligning import align
from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.clocks import offsets
from multilang_cli.audit.inputs import named
from multilang_cli.audit.marks import CERTAIN, HIGH, LOW, alone_of_line, marks_of_line
from multilang_cli.audit.tables import MARKS, Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

DEEPEST = 64
"""Tuples in a row, from a spout's on, that are followed."""

_MARKS = arrow_schema(MARKS.columns)
_NAMES = [column.name for column in MARKS.columns]
PAIRS = Table(
    "pairs",
    "One row for each emission to a task: the tuple that it became there.",
    (
        Column("run", "string", "the topology's name"),
        Column("sender", "string", "the conversation that emitted"),
        Column("seq", "bigint", "the number of the emit there"),
        Column("target", "int", "the task it went to; null if nobody knows"),
        Column("receiver", "string", "the conversation that got it; null if none did, as far as recorded"),
        Column("id", "string", "the tuple's id there"),
        Column("doubt", "int", "0 certain, 1 inferred and checked, 2 guessed"),
        Column("later", "boolean", "of one that none got: true if that task got a later one"),
    ),
)
_PAIRS = arrow_schema(PAIRS.columns)


def of_history(lines: DataFrame) -> DataFrame:
    """The table marks of lines of histories (columns `text`, bytes, and `file`). A folder is a run. Certain."""
    return lines.select("file", "text").mapInArrow(_history_batches, MARKS.ddl)


def of_lines(lines: DataFrame) -> DataFrame:
    """The table marks of lines of transcripts (columns as above), each read on its own: one tree for each tuple.

    A spout's is what it was told of a message id; a bolt's is a tuple that it got, and what it said of it. A run is a
    conversation.
    """
    return lines.select("file", "text").mapInArrow(_transcript_batches, MARKS.ddl)


def _transcript_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = batch.column(1).to_pylist()
        yield _batch([(conv, *mark) for text in lines for conv, mark in alone_of_line(text)], _MARKS)


def _history_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        yield _batch([(_run(file), *mark) for file, text in lines for mark in marks_of_line(text) or ()], _MARKS)


def _run(file: str) -> str:
    """The folder of a history; of one that comes from elsewhere, what stands for its file."""
    name = named(file)
    return name.rpartition("/")[0] or name


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns: list[Any] = list(zip(*rows, strict=True)) or [[] for _ in schema]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# --- taps -----------------------------------------------------------------------------------------------------------


def of_taps(conversations: DataFrame, events: DataFrame) -> DataFrame:
    """The table marks, inferred from the tables conversations and events.

    Parts of it are computed at once, and kept by executors: not for a cluster that takes executors away meanwhile.
    """
    said = _placed(conversations, events).localCheckpoint()
    sent, got = _sent(said), _got(said)
    paired = pairs(sent, got, said).localCheckpoint()
    clock = _clocks(said, sent, got, paired)
    return _marks(said, sent, paired, clock)


def _placed(conversations: DataFrame, events: DataFrame) -> DataFrame:
    """Events with whose they are, and wall-clock time `at`."""
    whose = conversations.groupBy("conv").agg(
        F.expr("max(topology) as run"),
        F.expr("max(kind) as role"),
        F.expr("max(component) as component"),
        F.expr("max(task) as me"),
        F.expr("coalesce(min(started), 0) as started"),
        F.expr("max(timeout) as timeout"),
    )
    one = events.dropDuplicates(["conv", "seq"])
    kept = one.where("ch in ('in', 'out', 'process') or kind = 'gap'")
    return kept.join(F.broadcast(whose), "conv").withColumn("at", F.expr("started + t"))


def _sent(said: DataFrame) -> DataFrame:
    """One row for each emit and task it went to; `target` null where that is not known."""
    nth = "row_number() over (partition by conv order by seq) as nth"
    emits = said.where("kind = 'emit'").withColumn("hash", F.expr("xxhash64(values)"))
    asking = "coalesce(task, 0) = 0 and coalesce(asks, true)"
    replies = said.where("kind = 'task-ids'").selectExpr("conv", "tasks as reply", nth)
    asked = emits.where(asking).selectExpr("*", nth).join(replies, ["conv", "nth"], "left").drop("nth")
    told = emits.where(f"not ({asking})").withColumn("reply", F.expr("if(task > 0, array(task), null)"))
    columns = ["run", "conv", "seq", "at", "started", "role", "component", "me", "stream", "id", "anchors", "hash"]
    both = asked.select(*columns, "reply").unionByName(told.select(*columns, "reply"))
    # An emit to nobody has an empty reply: it made no edge.
    return both.withColumn("target", F.expr("explode(if(reply is null, array(cast(null as int)), reply))"))


def _got(said: DataFrame) -> DataFrame:
    """One row for each tuple that a bolt got."""
    return said.where("kind = 'tuple'").selectExpr(
        "run", "conv", "seq", "at", "started", "comp as component", "task as me", "stream", "id",
        "xxhash64(values) as hash", "me as target", "component as by",
    )  # fmt: skip


def pairs(sent: DataFrame, got: DataFrame, said: DataFrame) -> DataFrame:
    """The table pairs: each emission to a task that was recorded, with the tuple that it became."""
    gaps = said.where("kind = 'gap'").select("conv").distinct().withColumn("gap", F.lit(True))
    side = ["run", "me", "stream", "target", "conv", "seq", "started", "id", "hash"]
    left = sent.where("target is not null").select(*side).withColumn("side", F.lit(0))
    right = got.select(*side).withColumn("side", F.lit(1))
    known = left.select("run", "me", "stream").distinct()
    both = left.unionByName(right.join(F.broadcast(known), ["run", "me", "stream"], "left_semi"))
    recorded = F.broadcast(said.selectExpr("run", "me as target").distinct())
    aligned = (
        both.join(recorded, ["run", "target"])
        .join(F.broadcast(gaps), "conv", "left")
        .groupBy("run", "me", "stream", "target")
        .applyInArrow(_align_channel, PAIRS.ddl)
    )
    return aligned.unionByName(_by_values(sent.where("target is null"), got))


def _align_channel(table: pa.Table) -> pa.Table:
    rows = table.sort_by([("side", "ascending"), ("started", "ascending"), ("conv", "ascending"), ("seq", "ascending")])
    found = rows.to_pylist()
    sent = [row for row in found if row["side"] == 0]
    got = [row for row in found if row["side"] == 1]
    whole = not any(row["gap"] for row in found)
    aligned = align([row["hash"] for row in sent], [row["hash"] for row in got], whole=whole)
    by_place = {pair.sent: pair for pair in aligned.pairs}
    last = max(by_place, default=-1)
    made: list[tuple[Any, ...]] = []
    for place, row in enumerate(sent):
        pair = by_place.get(place)
        head = (row["run"], row["conv"], row["seq"], row["target"])
        if pair is None:
            made.append((*head, None, None, aligned.lost[place], place < last))
        else:
            to = got[pair.got]
            made.append((*head, to["conv"], to["id"], pair.doubt, False))
    return pa.Table.from_batches([_batch(made, _PAIRS)])


def _by_values(sent: DataFrame, got: DataFrame) -> DataFrame:
    """Where no task is known: the k-th emission of some values is the k-th tuple of these values, in each bolt.

    High if as many were got as were sent, and by one task alone, as with a fields grouping; else low.
    """
    window = "partition by run, me, stream, {0}hash order by started, conv, seq"
    whole = "partition by run, me, stream, {0}hash"
    said = sent.selectExpr(
        "*", f"row_number() over ({window.format('')}) as k", f"count(*) over ({whole.format('')}) as n"
    )
    heard = got.selectExpr(
        "*",
        f"row_number() over ({window.format('by, ')}) as k",
        f"count(*) over ({whole.format('by, ')}) as n",
        f"min(target) over ({whole.format('by, ')}) = max(target) over ({whole.format('by, ')}) as alone",
    )
    consumers = F.broadcast(got.select("run", "me", "stream", "by").distinct())
    legs = said.join(consumers, ["run", "me", "stream"]).alias("s")
    keys = ["run", "me", "stream", "hash", "by", "k"]
    joined = legs.join(heard.alias("g"), keys, "left")
    return joined.selectExpr(
        "run", "s.conv as sender", "s.seq as seq", "g.target as target", "g.conv as receiver", "g.id as id",
        f"if(g.alone and s.n = g.n, {HIGH}, {LOW}) as doubt", "g.id is null and false as later",
    )  # fmt: skip


def _clocks(said: DataFrame, sent: DataFrame, got: DataFrame, paired: DataFrame) -> DataFrame:
    """By conversation, how far its clock is ahead of the spouts'."""
    begins = sent.select(F.col("conv").alias("sender"), "seq", F.col("at").alias("from")).distinct()
    ends = got.select(F.col("conv").alias("receiver"), "id", F.col("at").alias("to"))
    sure = paired.where(f"receiver is not null and doubt < {LOW}")
    both = sure.join(begins, ["sender", "seq"]).join(ends, ["receiver", "id"])
    fastest = both.groupBy("sender", "receiver").agg(F.expr("min(to - from) as least")).collect()
    spouts = [row.conv for row in said.where("role = 'spout'").select("conv").distinct().collect()]
    found = offsets({(row.sender, row.receiver): row.least for row in fastest}, spouts)
    spark = said.sparkSession
    return F.broadcast(spark.createDataFrame(list(found.items()) or [("", 0.0)], "conv string, ahead double"))


def _marks(said: DataFrame, sent: DataFrame, paired: DataFrame, clock: DataFrame) -> DataFrame:
    at = "at - coalesce(ahead, 0) as t"
    timed = said.drop("t").join(clock, "conv", "left").selectExpr("*", at).localCheckpoint()
    emitted = timed.where("role = 'spout' and kind = 'emit' and id is not null").selectExpr(
        "run", "xxhash64(conv, seq) as root", "t", "me as task", "id", "conv", "seq",
        "row_number() over (partition by conv, id order by seq) as nth",
    )  # fmt: skip
    ends = timed.where("role = 'spout' and kind in ('ack', 'fail')").selectExpr(
        "conv", "id", "if(kind = 'ack', 'acked', 'told fail') as what", "t",
        "row_number() over (partition by conv, id order by seq) as nth",
    )  # fmt: skip
    ended = emitted.drop("t").join(ends, ["conv", "id", "nth"])
    tree = trees(emitted, sent, paired)
    times = timed.where("kind = 'emit'").selectExpr("conv as sender", "seq", "t")
    legs = tree.join(times, ["sender", "seq"])
    made = legs.selectExpr("run", "root", "'made' as what", "t", "edge", "target as task", "id", "doubt")
    settled = timed.where("role = 'bolt' and kind in ('ack', 'fail')").selectExpr("conv as receiver", "id", "kind", "t")
    settles = tree.join(settled, ["receiver", "id"]).selectExpr(
        "run", "root", "kind as what", "t", "edge", "cast(null as int) as task", "cast(null as string) as id", "doubt"
    )
    parts = [
        emitted.selectExpr(
            "run", "root", "'emit' as what", "t", "cast(null as bigint) as edge", "task", "id", f"{CERTAIN} as doubt"
        ),
        made,
        settles,
        _losses(timed, legs),
        ended.selectExpr(
            "run",
            "root",
            "what",
            "t",
            "cast(null as bigint) as edge",
            "task",
            "cast(null as string) as id",
            f"{CERTAIN} as doubt",
        ),
    ]
    return reduce(lambda one, two: one.unionByName(two), parts).select(_NAMES)


def _losses(timed: DataFrame, legs: DataFrame) -> DataFrame:
    """Tuples that no task got though it got later ones, or nothing any more; and those whose task's life ended."""
    ends = timed.groupBy("run").agg(F.expr("max(t) as run_end"), F.expr("max(timeout) as timeout"))
    lives = timed.groupBy("run", "me", "conv").agg(
        F.expr("max(t) as last"), F.expr("min(t) as first"), F.expr("count_if(kind = 'exited') > 0 as exited")
    )
    again = "lead(conv) over (partition by run, me order by first) is not null"
    over = lives.selectExpr("conv as receiver", "last", f"exited or {again} as over").where("over")
    nowhere = legs.where("receiver is null").join(F.broadcast(ends), "run")
    unheard = nowhere.where("later or run_end - t >= timeout").selectExpr("run", "root", "t", "edge", "doubt")
    settled = timed.where("role = 'bolt' and kind in ('ack', 'fail')").selectExpr("conv as receiver", "id")
    unsettled = legs.where("receiver is not null").join(settled, ["receiver", "id"], "left_anti")
    died = unsettled.join(F.broadcast(over), "receiver")
    return unheard.unionByName(died.selectExpr("run", "root", "last as t", "edge", "doubt")).selectExpr(
        "run", "root", "'lost' as what", "t", "edge", "cast(null as int) as task", "cast(null as string) as id", "doubt"
    )


def trees(emitted: DataFrame, sent: DataFrame, paired: DataFrame) -> DataFrame:
    """Every tuple of every root's tree: level by level, from what the spout emitted."""
    edge = "if(receiver is null, xxhash64(sender, seq, target), xxhash64(receiver, id)) as edge"
    legs = paired.selectExpr("*", edge).localCheckpoint()
    anchored = sent.where("role = 'bolt'").select(
        F.col("conv").alias("sender"), "seq", F.explode("anchors").alias("anchor")
    )
    children = anchored.distinct().join(legs, ["sender", "seq"]).localCheckpoint()
    columns = ["run", "root", "sender", "seq", "target", "receiver", "id", "doubt", "later", "edge"]
    level = emitted.selectExpr("root", "conv as sender", "seq").join(legs, ["sender", "seq"]).select(columns)
    found: list[DataFrame] = []
    for _ in range(DEEPEST):
        # Each level's plan would hold those of all above it, and the driver would take minutes over them: so each is
        # computed here and its plan forgotten. What is kept so is on the executors alone: one that is lost takes the
        # audit with it, which then is to be run again.
        level = level.localCheckpoint()
        if level.isEmpty():
            break
        found.append(level)
        above = level.where("receiver is not null").selectExpr(
            "root", "receiver as sender", "id as anchor", "doubt as doubt_above"
        )
        level = (
            children.join(above, ["sender", "anchor"])
            .withColumn("doubt", F.expr("greatest(doubt, doubt_above)"))
            .groupBy(*[name for name in columns if name != "doubt"])
            .agg(F.expr("max(doubt) as doubt"))
            .select(columns)
        )
    return reduce(lambda one, two: one.unionByName(two), found) if found else level
