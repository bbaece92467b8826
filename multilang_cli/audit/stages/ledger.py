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
    from pyspark.sql import Column, DataFrame

_BEGINS = "(kind = 'bolt' and ch = 'in' and what in ('tuple', 'tick') or kind = 'spout' and what = 'emit')"
_SETTLES = "(what in ('ack', 'fail') and ch = if(kind = 'bolt', 'out', 'in'))"
_BY_ID = "(partition by conv, id order by part, line)"

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


def ledger(conversations: DataFrame, events: DataFrame) -> DataFrame:
    """The table ledger."""
    known = _known(conversations, events)
    mine = events.withColumnRenamed("kind", "what").join(known.hint("broadcast"), "conv")
    mine = mine.withColumn("place", F.expr("struct(part, line)")).selectExpr(
        "*", f"{_BEGINS} as begins", f"{_SETTLES} as settles"
    )
    mine = mine.where("id is not null and (begins or settles)")
    numbered = mine.selectExpr("*", f"count_if(begins) over {_BY_ID} as nth")
    rows = numbered.groupBy("conv", "id", "nth").agg(*_told())
    timed = rows.withColumn("after", F.expr("settled_t - t")).withColumn("lateness", F.expr(LATENESS))
    judged = timed.withColumn("verdict", F.expr(VERDICT)).withColumn("at", F.expr("started + t"))
    return _with_waiting(judged).select([column.name for column in LEDGER.columns])


def _known(conversations: DataFrame, events: DataFrame) -> DataFrame:
    """What holds for a conversation as a whole: how long it was recorded, whether its process ended, the last gap."""
    heads = conversations.groupBy("conv").agg(
        F.expr("min_by(kind, part) as kind"),
        F.expr("min_by(started, part) as started"),
        F.expr("max(timeout) as timeout"),
    )
    ends = events.groupBy("conv").agg(
        F.expr("max(t) as last_t"),
        F.expr("max(if(kind = 'gap', struct(part, line), null)) as gap_at"),
        F.expr("bool_or(kind in ('exited', 'stdout-closed')) as exited"),
    )
    return heads.join(ends, "conv")


def _told() -> list[Column]:
    first = [
        ("stream", "stream"),
        ("comp", "comp"),
        ("task", "source"),
        ("what", "begun_what"),
        ("seq", "seq"),
        ("t", "t"),
        ("place", "begun"),
    ]
    own = [f"any_value({name}) as {name}" for name in ("kind", "started", "timeout", "last_t", "gap_at", "exited")]
    texts = [f"min_by(if(begins, {name}, null), if(begins, place, null)) as {as_}" for name, as_ in first]
    settle = [
        "count_if(settles) as settled",
        "min_by(if(settles, what, null), if(settles, place, null)) as by",
        "min(if(settles, t, null)) as settled_t",
        "min(if(settles, seq, null)) as settled_seq",
    ]
    return [F.expr(text) for text in (*own, *texts, *settle)]


def _with_waiting(rows: DataFrame) -> DataFrame:
    """With the time for which earlier tuples were under way: a bolt that works on one at a time had not begun it."""
    busy = "max(settled_t) over (partition by conv order by begun rows between unbounded preceding and 1 preceding)"
    waiting = "if(kind = 'bolt' and after is not null, greatest(0, least(settled_t, coalesce(busy, t)) - t), null)"
    return rows.selectExpr("*", f"{busy} as busy").withColumn("waiting", F.expr(waiting))
