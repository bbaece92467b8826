"""The tables of the last stage: rates, replays, timeouts, silences, restarts and dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit import summary_tables as kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from multilang_cli.audit.columns import Table

SLOW = 1.0
"""Seconds after which the answer to a heartbeat is late enough to be listed."""
TOGETHER = 10.0
"""Seconds between two ends of processes of a worker that belong together."""
HARMFUL = ("dies", "hangs", "loses-data", "fails-tuple")
_WHO = ("topology", "component", "task", "worker", "kind")
_HOUR = "date_trunc('hour', timestamp_seconds({}))"


def rates(who: DataFrame, events: DataFrame, ledger: DataFrame) -> DataFrame:
    """Activity of each task in each hour."""
    counted = {
        "tuples": "what = 'tuple'",
        "emits": "what = 'emit'",
        "acks": "what = 'ack'",
        "fails": "what = 'fail'",
        "errors": "what in ('error', 'malformed')",
    }
    seen = events.withColumnRenamed("kind", "what").select("conv", "what", "t").join(who, "conv")
    seen = seen.withColumn("hour", F.expr(_HOUR.format("started + t")))
    did = seen.groupBy(*_WHO, "hour").agg(
        F.expr("max(coalesce(started, 0) + t) - min(coalesce(started, 0) + t) as seconds"),
        *(F.expr(f"count_if({what}) as {name}") for name, what in counted.items()),
    )
    rows = ledger.drop("timeout", "kind").join(who, "conv").withColumn("hour", F.expr(_HOUR.format("at")))
    settled = rows.groupBy(*_WHO, "hour").agg(
        F.expr("percentile_approx(after, array(0.5, 0.95, 0.99)) as quantiles"),
        F.expr("max(after) as slowest"),
        *(F.expr(f"count_if(verdict = '{verdict}') as {verdict}") for verdict in ("twice", "late", "never")),
    )
    same = [F.expr(f"did.{name} <=> settled.{name}") for name in (*_WHO, "hour")]
    both = did.alias("did").join(settled.alias("settled"), same, "left")
    mine = [F.col(f"did.{name}") for name in did.columns]
    places = [F.expr(f"quantiles[{place}] as {name}") for place, name in enumerate(("p50", "p95", "p99"))]
    found = both.select(*mine, *places, "slowest", "twice", "late", "never").fillna(0, ["twice", "late", "never"])
    return _of(kept.RATES, found)


def replays(who: DataFrame, ledger: DataFrame) -> DataFrame:
    """Message ids that were emitted more than once."""
    mine = ledger.where("kind = 'spout' and nth > 0").drop("timeout", "kind").join(who, "conv")
    found = mine.groupBy("topology", "component", "task", "id").agg(
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
    bolts = who.where("kind = 'bolt'").drop("kind")
    mine = events.where("kind in ('heartbeat', 'sync')").drop("task").join(bolts, "conv")
    numbered = mine.selectExpr("*", "row_number() over (partition by conv, kind order by part, line) as n")
    asked = numbered.where("kind = 'heartbeat'").select("conv", "topology", "component", "task", "seq", "t", "n")
    said = numbered.where("kind = 'sync'").selectExpr("conv", "n", "t as answered")
    slow = asked.join(said, ["conv", "n"], "left").withColumn("after", F.expr("answered - t"))
    slow = slow.where(f"after is null or after >= {SLOW}")
    held = ledger.where("kind = 'bolt' and nth > 0").selectExpr("conv", "id", "t as since", "t + after as until")
    under_way = [slow.conv == held.conv, held.since <= slow.t, held.until.isNull() | (held.until > slow.t)]
    both = slow.join(held, under_way, "left").drop(held.conv)
    oldest = both.groupBy("conv", "topology", "component", "task", "seq", "t", "after").agg(
        F.expr("min_by(id, since) as id"), F.expr("min(since) as since")
    )
    return _of(kept.SILENCES, oldest.withColumn("held", F.expr("t - since")))


def restarts(who: DataFrame, events: DataFrame, ledger: DataFrame) -> DataFrame:
    """Ends of processes of a worker, those together that come within seconds of each other."""
    over = events.where("kind in ('exited', 'stdout-closed')").groupBy("conv")
    ends = over.agg(F.expr("min(t) as t"), F.expr("max(if(kind = 'exited', says, null)) as why")).join(who, "conv")
    lost = ledger.where("verdict = 'never'").groupBy("conv").agg(F.count("*").alias("lost"))
    known = ends.join(lost, "conv", "left").withColumn("at", F.expr("started + t"))
    order = "over (partition by topology, worker order by at)"
    parted = known.withColumn("new", F.expr(f"cast(coalesce(at - lag(at) {order} > {TOGETHER}, true) as int)"))
    episodes = parted.withColumn("episode", F.expr(f"sum(new) {order}")).groupBy("topology", "worker", "episode")
    found = episodes.agg(
        F.expr("min(at) as first_at"),
        F.expr("max(at) as last_at"),
        F.expr("count(*) as ends"),
        F.expr("sort_array(collect_set(task)) as tasks"),
        F.expr("sort_array(collect_set(component)) as components"),
        F.expr("min_by(why, at) as why"),
        F.expr("coalesce(sum(lost), 0) as lost"),
    )
    return _of(kept.RESTARTS, found)


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
