"""Every root of a made recording gets the verdict that it was made for, and the edge that it was made to hang on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from multilang_cli.audit import inputs
from multilang_cli.audit.tables import MARKS
from multilang_cli.topology.model import Grouping, Subscription, Topology
from tests.audit.generator.arrays import both
from tests.audit.generator.trees import EVERYTHING, VERDICTS, TreesPlan
from tests.audit.recorded import write_tables
from tests.topologies.runs import SENTENCES, TIMEOUT, component, run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Row, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

PLAN = TreesPlan(roots=10_000, weights=EVERYTHING, restarts=((20.0, 0), (50.0, 2), (50.5, 1)))


def test_every_root_gets_the_verdict_it_was_made_for(spark: SparkSession, tmp_path: Path) -> None:
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415 (Spark)

    marks, truth = both(PLAN, range(PLAN.roots))
    pq.write_table(marks, tmp_path / "marks.parquet")
    judged = {row.root: row for row in roots(spark.read.parquet(str(tmp_path / "marks.parquet"))).collect()}
    expected = {row["root"]: row for row in truth.to_pylist()}
    assert judged.keys() == expected.keys()
    wrong = Counter((each["verdict"], judged[root].verdict) for root, each in expected.items())
    assert {pair: count for pair, count in wrong.items() if len(set(pair)) > 1} == {}
    assert {verdict for verdict, _ in wrong} == set(VERDICTS)
    for root, each in expected.items():
        assert _open(judged[root]) == (each["open_edge"], each["open_task"])
    assert {row.confidence for row in judged.values()} == {"certain"}


def _open(row: Row) -> tuple[int | None, int | None]:
    return (row.open_edge, row.open_task)


def test_an_open_tuple_is_never_acked_by_the_timeout_of_its_own_topology(spark: SparkSession) -> None:
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415 (Spark)

    marks = [
        mark
        for run in ("quick", "usual", "slow")
        for mark in (
            (run, 1, "emit", 0.0, None, 4, '"a"', 0),
            (run, 1, "made", 0.0, 77, 5, "-9", 0),
            (run, 2, "emit", 40.0, None, 4, '"b"', 0),
        )
    ]
    own = [("quick", 5.0, 0.0), ("slow", 60.0, 0.0)]
    runs = spark.createDataFrame(own, "run string, timeout double, beyond double")
    found = roots(spark.createDataFrame(marks, MARKS.ddl), runs=runs).where("root = 1").collect()
    assert {row.run: row.verdict for row in found} == {"quick": "never acked", "usual": "never acked", "slow": "open"}
    found = roots(spark.createDataFrame(marks, MARKS.ddl), 50.0, runs=runs).where("root = 1").collect()
    assert {row.run: row.verdict for row in found} == {"quick": "never acked", "usual": "open", "slow": "open"}


def test_a_run_of_a_topology_is_judged_by_the_timeout_that_it_ran_with(spark: SparkSession, tmp_path: Path) -> None:
    from multilang_cli.audit import pipeline  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.stages import edges  # noqa: PLC0415
    from multilang_cli.audit.stages.facts import facts_of  # noqa: PLC0415
    from multilang_cli.audit.stages.lines import lines  # noqa: PLC0415
    from multilang_cli.audit.stored_state import Stored, StoredState  # noqa: PLC0415

    spout = component("sentences", "spout", "queue_spout.py", default=("sentence",))
    bolt = component("mute", "bolt", "planted_bolt.py", default=("sentence",))
    bolt = msgspec.structs.replace(bolt, command=(*bolt.command, "acks_never"))
    told = Subscription(source="sentences", target="mute", grouping=Grouping("SHUFFLE"))
    conf = {"sentences": SENTENCES, "topology.acker.executors": 1, TIMEOUT: 1}
    topology = Topology(name="t", components={"sentences": spout, "mute": bolt}, subscriptions=(told,), conf=conf)
    run(topology, tmp_path / "run", messages=len(SENTENCES))
    write_tables({str(path): path.read_bytes() for path in (tmp_path / "run" / "transcripts").iterdir()}, tmp_path)
    plan = inputs.AuditPlan(inputs.find([str(tmp_path / "run")]))
    marks = edges.of_history(lines(spark, plan.inputs.histories).rows())
    heard = {name: spark.read.parquet(str(tmp_path / f"{name}.parquet")) for name in ("conversations", "events")}
    standing = StoredState(spark, plan, str(tmp_path), Stored({}, frozenset(), {}, "", frozenset()))
    standing.known |= {**heard, "marks": marks}
    standing.known.facts = facts_of(heard["conversations"], heard["events"])
    made = next(pipeline.STAGES["roots"].make(standing, []))["roots"]
    assert isinstance(made, DataFrame)
    found = made.collect()
    assert [row.verdict for row in found] == ["never acked"] * len(SENTENCES)


@pytest.mark.parametrize(("lost", "verdict"), [(9.0, "lost"), (21.0, "never acked")])
def test_who_dies_after_the_spout_has_heard_the_end_has_lost_nothing(
    spark: SparkSession, lost: float, verdict: str
) -> None:
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415 (Spark)

    marks = [
        ("run", 1, "emit", 0.0, None, 4, '"a"', 0),
        ("run", 1, "made", 0.0, 77, 5, "-9", 0),
        ("run", 1, "told fail", 20.0, None, 4, None, 0),
        ("run", 1, "lost", lost, 77, None, None, 0),
        ("run", 2, "emit", 40.0, None, 4, '"b"', 0),
    ]
    [found] = roots(spark.createDataFrame(marks, MARKS.ddl), 10.0).where("root = 1").collect()
    assert (found.verdict, found.open_task) == (verdict, 5)


@pytest.mark.parametrize(
    ("ended", "verdict"), [(None, "uncertain"), ("told fail", "uncertain"), ("acked", "completed")]
)
def test_a_tuple_whose_end_may_stand_behind_the_cut_of_a_recording_is_not_lost(
    spark: SparkSession, ended: str | None, verdict: str
) -> None:
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415 (Spark)

    marks = [
        ("run", 1, "emit", 0.0, None, 4, '"a"', 0),
        ("run", 1, "made", 0.0, 77, 5, "-9", 2),
        ("run", 1, "unheard", 0.0, 77, None, None, 2),
        ("run", 2, "emit", 40.0, None, 4, '"b"', 0),
        *([("run", 1, ended, 20.0, None, 4, None, 0)] if ended else []),
    ]
    [found] = roots(spark.createDataFrame(marks, MARKS.ddl), 10.0).where("root = 1").collect()
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ([], "lost"),
        ([("ack", 19.0, 78, None)], "lost"),
        ([("ack", 21.0, 78, None)], "uncertain"),
        ([("fail", 19.0, 78, None)], "failed"),
        ([("fail", 21.0, 78, None)], "uncertain"),
        ([("made", 1.0, 78, 6)], "uncertain"),
    ],
    ids=["alone", "acked in time", "acked late", "failed", "failed late", "another is open"],
)
def test_a_tuple_that_may_be_anothers_loss_is_the_one_if_its_tree_timed_out_of_it_alone(
    spark: SparkSession, more: list[tuple[str, float, int, int | None]], verdict: str
) -> None:
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415 (Spark)

    marks = [
        ("run", 1, "emit", 0.0, None, 4, '"a"', 0),
        ("run", 1, "made", 0.0, 77, 5, None, 2),
        ("run", 1, "lost", 0.0, 77, None, None, 2),
        ("run", 1, "unheard", 0.0, 77, None, None, 2),
        ("run", 1, "told fail", 20.0, None, 4, None, 0),
        *(("run", 1, what, t, edge, task, None, 0) for what, t, edge, task in more),
    ]
    [found] = roots(spark.createDataFrame(marks, MARKS.ddl), 10.0).collect()
    assert (found.verdict, found.confidence) == (verdict, "low")
