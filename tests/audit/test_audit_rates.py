"""The table rates: one row for each task and hour, whatever number of conversations it had."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.stages.facts import AuditFacts, HeardPart
from multilang_cli.audit.stages.summary import rates, silences
from multilang_cli.audit.store.local_rows import local_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
BEGAN = datetime(2026, 1, 5, 8, 59, 58, tzinfo=UTC)
EVENTS = [
    ("a", "tuple", 0.5), ("a", "ack", 1.5), ("a", "tuple", 1.9),
    # The next hour, and a second conversation of the same task.
    ("a", "ack", 2.0), ("b", "tuple", 3.0), ("b", "ack", 5.0),
    ("other", "emit", 7.0),
]  # fmt: skip
LEDGER = [("a", 0.5, 1.0, "once"), ("a", 1.9, 0.1, "once"), ("b", 3.0, 2.0, "late")]


def part(conv: str, task: int, kind: str, started: float | None) -> HeardPart:
    return HeardPart(conv, 1, "f", "2.8.3", kind, "split", task, "w", "", "t", started, 30.0, True)


def test_conversations_of_a_task_are_counted_together_by_the_hour(spark: SparkSession) -> None:
    began = BEGAN.timestamp()
    parts = [part("a", 3, "bolt", began), part("b", 3, "bolt", began), part("other", 4, "spout", None)]
    who = AuditFacts({each.conv: [each] for each in parts}, {}, {}).people(spark)
    events = local_rows(spark, EVENTS, "conv string, kind string, t double")
    rows = [(conv, began + t, after, verdict) for conv, t, after, verdict in LEDGER]
    settled = local_rows(spark, rows, "conv string, at double, after double, verdict string")
    columns = ("task", "kind", "unix_seconds(hour)", "seconds", "tuples", "emits", "acks", "slowest", "late")
    found = rates(who, events, settled).selectExpr(*columns).collect()
    hour = int(began) // 3600 * 3600
    # By the clock, a second is a multiple of 2**-22.
    told = {(task, hour): (kind, round(seconds, 3), *numbers) for task, kind, hour, seconds, *numbers in found}
    assert told == {
        (3, hour): ("bolt", 1.4, 2, 0, 1, 1.0, 0),
        (3, hour + 3600): ("bolt", 3.0, 1, 0, 2, 2.0, 1),
        (4, None): ("spout", 0.0, 0, 1, 0, None, 0),
    }


@pytest.mark.parametrize(("began", "t"), [(253402300799.0, 3.0), (0.0, 1e308), (-62135596800.0, 1.0)])
def test_a_time_that_no_calendar_has_is_no_hour(spark: SparkSession, began: float, t: float) -> None:
    part_of = {"a": [part("a", 3, "bolt", began)]}
    events = local_rows(spark, [("a", "tuple", t)], "conv string, kind string, t double")
    settled = local_rows(spark, [("a", began + t, 1.0, "once")], "conv string, at double, after double, verdict string")
    found = rates(AuditFacts(part_of, {}, {}).people(spark), events, settled).select("hour", "tuples", "slowest")
    assert [tuple(row) for row in found.collect()] == [(None, 1, 1.0)]


def test_of_tuples_that_came_at_once_a_bolt_is_silent_over_the_first(spark: SparkSession) -> None:
    """Whatever the order in which Spark has the rows: those of the second conversation stand the other way round."""
    parts = [part(conv, task, "bolt", 0.0) for conv, task in (("a", 3), ("b", 4))]
    who = AuditFacts({each.conv: [each] for each in parts}, {}, {}).people(spark)
    columns = "conv string, kind string, part int, line bigint, seq bigint, t double"
    events = local_rows(spark, [(each.conv, "heartbeat", 1, 9, 9, 5.0) for each in parts], columns)
    rows = [("a", "x", 1), ("a", "w", 2), ("b", "w", 2), ("b", "x", 1)]
    columns = "conv string, id string, seq bigint, t double, kind string, nth bigint, after double"
    settled = local_rows(spark, [(*row, 1.0, "bolt", 1, None) for row in rows], columns)
    found = silences(who, events, settled).collect()
    assert {row.conv: (row.id, row.held) for row in found} == {"a": ("x", 4.0), "b": ("x", 4.0)}


def test_a_bolt_is_silent_over_the_oldest_tuple_that_is_under_way(spark: SparkSession) -> None:
    """Whole seconds, so that many a tuple begins or ends with a heartbeat; what nobody settled goes on for ever."""
    chance = Random(1)  # noqa: S311 (no secrets)
    parts = [part(conv, task, "bolt", 0.0) for conv, task in (("a", 3), ("b", 4))]
    who = AuditFacts({each.conv: [each] for each in parts}, {}, {}).people(spark)
    beats = {(each.conv, n): float(chance.randrange(60)) for each in parts for n in range(40)}
    columns = "conv string, kind string, part int, line bigint, seq bigint, t double"
    events = local_rows(spark, [(conv, "heartbeat", 1, n, n, t) for (conv, n), t in beats.items()], columns)
    ends = [None, *map(float, range(9))]
    given = [
        (
            each.conv,
            f"id{n}",
            100 + n,
            float(chance.randrange(60)),
            "bolt",
            chance.choice((0, 1, 1)),
            chance.choice(ends),
        )
        for each in parts
        for n in range(12)
    ]
    columns = "conv string, id string, seq bigint, t double, kind string, nth bigint, after double"
    rows = silences(who, events, local_rows(spark, given, columns)).collect()

    def oldest(conv: str, t: float) -> tuple[float | None, str | None]:
        """For how long it was under way, and its id."""
        under_way = [
            (since, seq, id_)
            for of, id_, seq, since, _, nth, after in given
            if of == conv and nth and since <= t and (after is None or since + after > t)
        ]
        return (t - min(under_way)[0], min(under_way)[2]) if under_way else (None, None)

    told = {key: oldest(key[0], t) for key, t in beats.items()}
    assert {(row.conv, row.seq): (row.held, row.id) for row in rows} == told
    assert (None, None) in told.values()
    assert len(set(told.values())) > 20
