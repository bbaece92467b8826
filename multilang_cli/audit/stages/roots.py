"""Verdicts on every root: Storm's ack framework as an aggregate, in one group-by.

As an acker does, it XORs the edges made and acked; unlike an acker it sees every edge at once, and adds what XOR can't
tell: an edge acked three times XORs to 0, and counts alone miss that one edge was acked twice and another never. So the
signed sums of both 32-bit halves must be 0 too (a sum of 64-bit ids would overflow), and the counts equal. Only roots
that are not settled by that are looked at edge by edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.marks import CERTAIN, CONFIDENCE, LOW
from multilang_cli.audit.tables import ROOTS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TIMEOUT = 30.0
"""Seconds: ``topology.message.timeout.secs`` as Storm has it."""

_KEY = ["run", "root"]
_OUTCOMES = "'acked', 'failed', 'timed out', 'told fail'"
_OUTCOME = f"what in ({_OUTCOMES})"
_WHY = "if(told = 'told fail' and fails > 0 and ended - emitted < timeout, 'failed', outcome)"
"""How it ended: Storm gives none up before its timeout, so what is told to fail sooner a bolt has failed.

By when, clocks that are apart can't tell.
"""
_OF_THAT_ALONE = "outcome = 'timed out' and open_edges = 1 and fails = 0 and coalesce(last_ack <= ended, true)"
"""It timed out, and but for one tuple all was acked in time."""
_SIGN = "case what when 'made' then 1 when 'ack' then -1 else 0 end"


def roots(
    marks: DataFrame, timeout: float = TIMEOUT, run_ends: DataFrame | None = None, runs: DataFrame | None = None
) -> DataFrame:
    """The table roots of the table marks. `timeout`: seconds from which on an open tuple counts as never acked.

    `run_ends`: by `run`, how far its recording goes (`run_end`), where `marks` are not all of it. `runs`: by `run`, its
    own `timeout`, where it is known, and how many seconds went by behind its last mark for certain (`beyond`). One row
    a root is kept by executors: not for a cluster that takes them away.
    """
    # It is used twice, and kept when it is first computed.
    whole = _whole(marks).localCheckpoint(eager=False)
    suspicious = whole.where("not clean")
    exact = _exact(marks.join(suspicious.select(_KEY), _KEY, "left_semi"))
    names = marks.where("what = 'emit'").groupBy(_KEY).agg(F.max("id").alias("message_id"))
    ends = marks.groupBy("run").agg(F.max("t").alias("run_end")) if run_ends is None else run_ends
    known = ends.withColumn("timeout", F.lit(timeout)) if runs is None else ends.join(runs, "run", "left")
    if runs is not None:
        known = known.withColumn("run_end", F.expr("run_end + coalesce(beyond, 0)")).drop("beyond")
    joined = (
        whole.join(names, _KEY, "left")
        .join(exact, _KEY, "left")
        .join(F.broadcast(known.fillna(timeout, ["timeout"])), "run")
    )
    judged = (
        joined.withColumn("outcome", F.expr(_WHY))
        .withColumn("verdict", _verdict())
        .withColumn("latency", F.expr("ended - emitted"))
    )
    return judged.withColumn("confidence", _confidence()).select([column.name for column in ROOTS.columns])


def _whole(marks: DataFrame) -> DataFrame:
    """One row a root, from one pass over its marks. `clean`: completed, and nothing to ask further.

    It has numbers alone: where an aggregate is a text, Spark sorts all rows in place of hashing them.
    """
    edges = "what in ('made', 'ack')"
    found = marks.groupBy(_KEY).agg(
        F.expr(f"coalesce(bit_xor(edge) filter (where {edges}), 0) as ack_val"),
        F.expr(f"sum(({_SIGN}) * coalesce(edge & 4294967295, 0)) as low"),
        F.expr(f"sum(({_SIGN}) * coalesce(shiftright(edge, 32), 0)) as high"),
        F.expr("count_if(what = 'made') as edges"),
        F.expr("count_if(what = 'ack') as acks"),
        F.expr("count_if(what = 'fail') as fails"),
        F.expr("count_if(what = 'lost') as losses"),
        F.expr("min(t) filter (where what = 'emit') as emitted"),
        F.expr(f"min(t) filter (where {_OUTCOME}) as ended"),
        F.expr(f"min_by(array_position(array({_OUTCOMES}), what), t) filter (where {_OUTCOME}) as told_place"),
        F.expr("max(t) filter (where what = 'ack') as last_ack"),
        F.expr("min(t) filter (where what = 'fail') as first_fail"),
        F.expr("max(task) filter (where what = 'emit') as task"),
        F.expr("max(doubt) as doubt"),
    )
    # A tap sees that the spout was told fail, and not why; it timed out, if no bolt had failed anything by then.
    why = "if(fails > 0 and first_fail <= ended, 'failed', 'timed out')"
    balanced = "ack_val = 0 and low = 0 and high = 0 and edges = acks and fails = 0 and losses = 0"
    outcome = f"if(told = 'told fail', {why}, told) as outcome"
    clean = f"balanced and if(outcome is null, edges > 0 and doubt = {CERTAIN}, outcome = 'acked') as clean"
    told = f"try_element_at(array({_OUTCOMES}), cast(told_place as int)) as told"
    return found.selectExpr("*", told).selectExpr("*", f"{balanced} as balanced", outcome).selectExpr("*", clean)


def _exact(marks: DataFrame) -> DataFrame:
    """Edge by edge: whether one was settled twice, and the first that nobody settled."""
    edges = (
        marks.where("edge is not null")
        .groupBy(*_KEY, "edge")
        .agg(
            F.expr("count_if(what in ('ack', 'fail')) as settled"),
            F.expr("min(t) filter (where what = 'lost') as gone"),
            F.expr("min(t) filter (where what = 'made') as made"),
            F.expr("max(task) filter (where what = 'made') as holder"),
            F.expr("max(id) filter (where what = 'made') as tuple_id"),
            F.expr("max(what = 'unheard') as unheard"),
        )
    )
    first = "min(struct(made, edge, holder, tuple_id, gone, unheard)) filter (where settled = 0)"
    return (
        edges.groupBy(_KEY)
        .agg(
            F.expr("max(settled) > 1 as twice"),
            F.expr("count_if(settled = 0) as open_edges"),
            F.expr(f"{first} as open"),
        )
        .selectExpr(
            *_KEY,
            "twice",
            "open_edges",
            "open.edge as open_edge",
            "open.holder as open_task",
            "open.tuple_id as open_id",
            "open.made as open_since",
            "open.gone as open_gone",
            "open.unheard as open_unheard",
        )
    )


def _verdict() -> Column:
    """The first that holds. What Storm told the spout wins over what the edges say; a second ack over both."""
    overdue = "run_end - open_since >= timeout"
    failed = F.expr("outcome = 'failed' or (fails > 0 and (ended is null or first_fail <= ended))")
    return (
        F.when(F.expr("clean"), "completed")
        .when(F.expr("twice"), "double ack")
        .when(F.expr("outcome = 'acked'"), "completed")
        .when(failed, "failed")
        .when(F.expr("balanced and last_ack > ended"), "late ack")
        # Who holds a tuple until the spout has heard its end, and dies then, has not lost it.
        .when(F.expr(f"open_gone <= coalesce(ended, open_gone) and (not open_unheard or {_OF_THAT_ALONE})"), "lost")
        # Its end may stand behind the cut of a recording.
        .when(F.expr(f"open_unheard and (outcome = 'timed out' or {overdue})"), "uncertain")
        .when(F.expr(f"open_edge is not null and {overdue}"), "never acked")
        # All that is known was acked in time, and yet the spout was told that it timed out: what was guessed is wrong.
        .when(F.expr(f"outcome = 'timed out' and balanced and doubt = {LOW}"), "uncertain")
        .when(F.expr("outcome = 'timed out'"), "timed out")
        # Two timeouts after the emit the spout was told for certain, and that line is missing. Sooner, some of its
        # tuples may be.
        .when(F.expr("balanced and edges > 0 and run_end - emitted > 2 * timeout"), "completed")
        .when(F.expr("balanced and edges > 0"), "uncertain")
        .otherwise("open")
    )


def _confidence() -> Column:
    found = F.lit(CONFIDENCE[-1])
    for doubt, name in enumerate(CONFIDENCE[:-1]):
        found = F.when(F.col("doubt") == doubt, name).otherwise(found)
    return found
