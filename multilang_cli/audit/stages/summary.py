"""Summaries of tables that may be large: rates, replays, timeouts, silences and dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit import tables as kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from multilang_cli.audit.columns import Table

SLOW_HEARTBEAT = 1.0
"""Seconds after which the answer to a heartbeat is late enough to be listed."""
HARMFUL = ("dies", "hangs", "loses-data", "fails-tuple")
_WHO = ("run", "topology", "component", "task", "worker", "kind")
_TASK = ("topology", "component", "task")
_HOUR = "if(abs({0}) < 6.2e10, floor(({0}) / 3600), null) as hour"
"""The hour of a time, or null for one that no calendar has: Python's ends with the year 9999, and begins with 1."""


def rates(who: DataFrame, events: DataFrame, ledger: DataFrame) -> DataFrame:
    """Activity of each task in each hour of a run."""
    counted = {
        "tuples": "what = 'tuple'",
        "emits": "what = 'emit'",
        "acks": "what = 'ack'",
        "fails": "what = 'fail'",
        "errors": "what in ('error', 'malformed')",
    }
    # Of each event and tuple two numbers are looked up in place of texts and a calendar's hour: there are so many.
    mine = who.select("conv", "speaker", "started")
    seen = events.withColumnRenamed("kind", "what").select("conv", "what", "t").join(F.broadcast(mine), "conv")
    seen = seen.selectExpr("speaker", "what", "coalesce(started, 0) + t as at", _HOUR.format("started + t"))
    did = seen.groupBy("speaker", "hour").agg(
        F.expr("max(at) - min(at) as seconds"),
        *(F.expr(f"count_if({what}) as {name}") for name, what in counted.items()),
    )
    rows = ledger.select("conv", "at", "after", "verdict").join(F.broadcast(mine), "conv")
    rows = rows.selectExpr("speaker", _HOUR.format("at"), "after", "verdict")
    settled = rows.groupBy("speaker", "hour").agg(
        F.expr("percentile_approx(after, array(0.5, 0.95, 0.99)) as quantiles"),
        F.expr("max(after) as slowest"),
        *(F.expr(f"count_if(verdict = '{verdict}') as {verdict}") for verdict in ("twice", "late", "never")),
    )
    same = [F.expr(f"did.{name} <=> settled.{name}") for name in ("speaker", "hour")]
    both = did.alias("did").join(settled.alias("settled"), same, "left")
    names = who.where("first").select(F.col("speaker").alias("number"), *_WHO)
    found = both.join(F.broadcast(names), F.expr("did.speaker = number"))
    places = [F.expr(f"quantiles[{place}] as {name}") for place, name in enumerate(("p50", "p95", "p99"))]
    hour = F.expr("timestamp_seconds(cast(did.hour as double) * 3600) as hour")
    told = found.select(*_WHO, hour, "seconds", *counted, *places, "slowest", "twice", "late", "never")
    return _of(kept.RATES, told.fillna(0, ["twice", "late", "never"]))


def replays(who: DataFrame, ledger: DataFrame) -> DataFrame:
    """Message ids that were emitted more than once in a run."""
    mine = ledger.where("kind = 'spout' and nth > 0").drop("timeout", "kind").join(who, "conv")
    found = mine.groupBy("run", *_TASK, "id").agg(
        F.count("*").alias("emissions"),
        F.expr("count_if(by = 'ack') as acked"),
        F.expr("count_if(by = 'fail') as failed"),
        F.expr("min(at) as first_at"),
        F.expr("max(at) as last_at"),
    )
    return _of(kept.REPLAYS, found.where("emissions > 1"))


def timeouts(who: DataFrame, ledger: DataFrame) -> DataFrame:
    """Tuples that took longer than the message timeout."""
    slow = ledger.where("after > timeout").join(who.drop("kind", "timeout"), "conv")
    found = slow.withColumn("processing", F.expr("after - waiting"))
    return _of(kept.TIMEOUTS, found.withColumn("downstream", F.expr("if(kind = 'spout', after, null)")))


def silences(who: DataFrame, events: DataFrame, ledger: DataFrame) -> DataFrame:
    """Heartbeats that were answered late or never: the n-th sync of a bolt answers its n-th heartbeat."""
    bolts = who.where("kind = 'bolt'").select("conv", *_TASK)
    mine = events.where("kind in ('heartbeat', 'sync')").select("conv", "kind", "part", "line", "seq", "t")
    turn = "over (partition by conv order by part, line)"
    numbered = mine.join(bolts, "conv").selectExpr(
        "*", f"if(kind = 'sync', count_if(kind = 'sync') {turn}, count_if(kind = 'heartbeat') {turn}) as n"
    )
    # All that is grouped and joined by conversation stays where it is.
    both = numbered.groupBy("conv", *_TASK, "n").agg(
        F.expr("max(seq) filter (where kind = 'heartbeat') as seq"),
        F.expr("max(t) filter (where kind = 'heartbeat') as t"),
        F.expr("max(t) filter (where kind = 'sync') as answered"),
    )
    slow = both.where("seq is not null").withColumn("after", F.expr("answered - t"))
    slow = slow.where(f"after is null or after >= {SLOW_HEARTBEAT}")
    # The oldest of all that end behind it is under way, if it began before it: no heartbeat meets each tuple for that.
    given = ledger.where("kind = 'bolt' and nth > 0").selectExpr(
        "conv", "coalesce(t + after, double('infinity')) as until", "struct(t as since, seq as begun, id) as one"
    )
    given = given.join(F.broadcast(slow.select("conv").distinct()), "conv", "left_semi")
    mixed = slow.withColumn("until", F.col("t")).unionByName(given, allowMissingColumns=True)
    later = "over (partition by conv order by until desc, one nulls first rows unbounded preceding)"
    found = mixed.selectExpr("*", f"min(one) {later} as first").where("seq is not null")
    oldest = found.selectExpr("*", "if(first.since <= t, first, null) as oldest")
    return _of(kept.SILENCES, oldest.selectExpr("*", "oldest.id as id", "t - oldest.since as held"))


def dialects(who: DataFrame, findings: DataFrame) -> DataFrame:
    """Findings with the versions that die of them or lose data: the judge says so of each."""
    harmful = ", ".join(f"'{fate}'" for fate in HARMFUL)
    told = findings.join(who.select("conv", "component", "storm"), "conv")
    told = told.withColumn("now", F.expr(f"coalesce(fates[storm] in ({harmful}), false)"))
    each = told.selectExpr("*", "explode(fates) as (version, fate)").where(f"fate in ({harmful})")
    found = each.groupBy("version", "fate", "rule").agg(
        F.expr("count(*) as messages"),
        F.expr("count(distinct conv) as conversations"),
        F.expr("sort_array(collect_set(component)) as components"),
        F.expr("count_if(now) as today"),
        F.expr("min(struct(conv, seq, message)) as one"),
    )
    return _of(kept.DIALECTS, found.select("*", "one.*"))


def _of(table: Table, found: DataFrame) -> DataFrame:
    return found.select([F.col(column.name).cast(column.type) for column in table.columns])
