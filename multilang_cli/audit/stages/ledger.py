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
_BY_TUPLE = "partition by key, id, nth order by seq"
_ALL = f"({_BY_TUPLE} rows between unbounded preceding and unbounded following)"

_BUSY = "max(settled_t) over (partition by n order by begun rows between unbounded preceding and 1 preceding)"
_WAITING = "if(kind = 'bolt' and after is not null, greatest(0, least(settled_t, coalesce(busy, t)) - t), null)"
"""The time for which earlier tuples were under way: a bolt that works on one at a time had not begun it."""

VERDICT = """case
    when nth = 0 then 'unseen'
    when settled > 1 then 'twice'
    when settled = 1 and lateness = 'surely' then 'late'
    when settled = 1 then 'once'
    when begun_what = 'tick' then 'free'
    when gap_at >= begun then 'unknown'
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
    numbered = mine.selectExpr("*", f"count_if(begins) over {_BY_ID} as nth")
    rows = _firsts(numbered).selectExpr("*", f"{_BUSY} as busy").join(ends, "n")
    found = rows.selectExpr("*", "settled_t - t as after", "started + t as at")
    found = found.selectExpr("*", f"{LATENESS} as lateness", f"{_WAITING} as waiting")
    found = found.withColumn("verdict", F.expr(VERDICT))
    return found.select([column.name for column in LEDGER.columns])


def _firsts(numbered: DataFrame) -> DataFrame:
    """One row for each tuple: the event that it begins with, which is its first, and what all that settled it tell.

    Nothing is grouped, so its texts stay where they are: for aggregates of texts Spark would sort all rows once more.
    """
    told = numbered.selectExpr(
        "*",
        f"row_number() over ({_BY_TUPLE}) as turn",
        f"count_if(settles) over {_ALL} as settled",
        f"first_value(if(settles, what, null), true) over {_ALL} as by",
        f"min(if(settles, t, null)) over {_ALL} as settled_t",
        f"min(if(settles, seq, null)) over {_ALL} as settled_seq",
    )
    begun = ("stream", "comp", "source", "seq", "t")
    own = ("n", "id", "nth", "settled", "settled_t")
    return told.where("turn = 1").selectExpr(
        *own,
        *(f"if(begins, {name}, null) as {name}" for name in begun),
        "if(begins, what, null) as begun_what",
        "if(begins, seq, null) as begun",
        "settled_seq",
        "by",
    )
