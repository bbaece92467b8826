"""The table ledger: what became of every tuple that was given to a bolt or emitted by a spout with a message id.

A tuple is *late* if it was settled when Storm had given it up for certain: that happens between one and two message
timeouts after the spout emitted it, so at two after it reached a bolt at the latest. It is *never* settled if the
process ended, or two timeouts went by; *open* if the recording ends sooner; *unknown* if events are missing behind it.
A tick is *free*: nobody waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.tables import LEDGER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BEGINS = "(kind = 'bolt' and ch = 'in' and what in ('tuple', 'tick') or kind = 'spout' and what = 'emit')"
_SETTLES = "(what in ('ack', 'fail') and ch = if(kind = 'bolt', 'out', 'in'))"
_BY_ID = "(partition by key, id order by seq)"

_BUSY = "max(settled_t) over (partition by n order by seq rows between unbounded preceding and 1 preceding)"
_WAITING = "if(kind = 'bolt' and after is not null, greatest(0, least(settled_t, coalesce(busy, t)) - t), null)"
"""The time for which earlier tuples were under way: a bolt that works on one at a time had not begun it."""

VERDICT = """case
    when nth = 0 then 'unseen'
    when settled > 1 then 'twice'
    when settled = 1 and lateness = 'surely' then 'late'
    when settled = 1 then 'once'
    when tick then 'free'
    when gap_at >= seq then 'unknown'
    when exited or last_t - t > 2 * timeout then 'never'
    else 'open' end"""
LATENESS = """case
    when after is null then null
    when after > 2 * timeout then 'surely'
    when after > timeout then 'perhaps'
    else 'in-time' end"""


def ledger(ends: DataFrame, events: DataFrame) -> DataFrame:
    """The table ledger. `ends`: of conversations, see `AuditFacts`."""
    # What is the same for a whole conversation is joined twice, rather than moved with each tuple.
    mine = events.withColumnRenamed("kind", "what").join(ends.select("conv", "n", "kind"), "conv").selectExpr(
        "n", "xxhash64(n, id) as key", "id", "what", "seq", "t", "stream", "comp", "task as source",
        f"{_BEGINS} as begins", f"{_SETTLES} as settles",
    )  # fmt: skip
    mine = mine.where("id is not null and (begins or settles)")
    rows = _tuples(mine).selectExpr("*", f"{_BUSY} as busy").join(ends, "n")
    found = rows.selectExpr("*", "settled_t - t as after", "started + t as at")
    found = found.selectExpr("*", f"{LATENESS} as lateness", f"{_WAITING} as waiting")
    found = found.withColumn("verdict", F.expr(VERDICT))
    return found.select([column.name for column in LEDGER.columns])


def _tuples(mine: DataFrame) -> DataFrame:
    """One row for each tuple: how it began, and what all that settled it tell.

    The event that it begins with is handed on to those that settle it, so that its texts are what is grouped by: where
    an aggregate is a text, Spark sorts all rows once more.
    """
    begun = "if(begins, struct(stream, comp, source, seq, what = 'tick' as tick), null)"
    numbered = mine.selectExpr(
        "n", "key", "id", "if(settles, what, null) as by", "seq", "t",
        f"count_if(begins) over {_BY_ID} as nth", f"last_value({begun}, true) over {_BY_ID} as begun",
    )  # fmt: skip
    told = numbered.groupBy("n", "key", "id", "nth", "begun").agg(
        F.expr("min(t) filter (where by is null) as t"),
        F.expr("count(by) as settled"),
        F.expr("min(t) filter (where by is not null) as settled_t"),
        F.expr("min(seq) filter (where by = 'ack') as acked"),
        F.expr("min(seq) filter (where by = 'fail') as failed"),
    )
    own = ("n", "id", "nth", "begun.*", "t", "settled", "settled_t", "least(acked, failed) as settled_seq")
    return told.selectExpr(*own, "case least(acked, failed) when acked then 'ack' when failed then 'fail' end as by")
