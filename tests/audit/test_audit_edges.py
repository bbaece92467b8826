"""Trees inferred from taps: what is certain is right, what is high nearly always, whatever the clocks say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from multilang_cli.audit.stages import trees
from multilang_cli.audit.stages.facts import told_facts
from multilang_cli.audit.stages.people import people
from multilang_cli.audit.store.parquet_files import tuples_of
from tests.audit.generator.damage import Damage
from tests.audit.generator.histories import truth
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import EVERYTHING, VERDICTS, TreesPlan
from tests.audit.recorded import write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from multilang_cli.audit.clocks import Passage
    from multilang_cli.audit.stages.people import Person

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

FOLLOWING = ["first", "second"]
PLAN = TreesPlan(roots=1000, weights=EVERYTHING, restarts=((4.0, 0), (7.0, 2)))


def resent(file: bytes) -> bytes:
    """A recording with lines in it that were shipped twice."""
    lines = file.splitlines(keepends=True)
    return b"".join([*lines[:200], *lines[50:150], *lines[200:]])


def batches_of(folder: Path, file: str) -> Iterator[pa.RecordBatch]:
    """The events of a file, a few at a time."""
    rows: Any = ds.dataset(folder / "events.parquet")
    return iter(rows.to_table(filter=ds.field("file") == file).to_batches(max_chunksize=100))


@pytest.mark.parametrize(
    ("asks", "twice"), [(True, True), (False, False)], ids=["with-task-ids-lines-twice", "by-values"]
)
def test_every_root_that_is_sure_is_right(spark: SparkSession, tmp_path: Path, *, asks: bool, twice: bool) -> None:
    from multilang_cli.audit.stages.facts import HeardPart, facts_of, spans_of, told_facts  # noqa: PLC0415
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415
    from multilang_cli.audit.stages.trees import marks_of_taps  # noqa: PLC0415 (Spark)

    files = transcripts(PLAN, Taps(skew={0: 3.0, 1: -2.0}, asks=asks))
    write_tables({name: resent(file) for name, file in files.items()} if twice else files, tmp_path)
    conversations, events = (spark.read.parquet(str(tmp_path / f"{n}.parquet")) for n in ("conversations", "events"))
    facts = facts_of(conversations, events)
    told = (rows for file in files for rows in spans_of(batches_of(tmp_path, file)))
    assert told_facts(conversations.select(*HeardPart._fields).collect(), tuples_of(told)) == facts
    marks_of_taps(facts, events).write.parquet(str(tmp_path / "marks"))
    found = {row.message_id: row for row in roots(spark.read.parquet(str(tmp_path / "marks"))).collect()}
    assert found.keys() == {str(each.number) for each in truth(PLAN)}
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for each in truth(PLAN):
        row = found[str(each.number)]
        same = row.verdict == each.verdict and row.open_task == (each.open.target if each.open else None)
        (right if same else wrong)[row.confidence] += 1
    assert wrong["certain"] == 0
    # Without task ids, a value that was ever lost is a guess from then on, and here much is lost.
    assert right["certain"] > PLAN.roots / 2 if asks else right["high"] > PLAN.roots / 50
    assert wrong["high"] <= (right["high"] + wrong["high"]) / 1000
    assert {row.verdict for row in found.values()} - {"uncertain"} == set(VERDICTS)
    assert all(row.confidence == "low" for row in found.values() if row.verdict == "uncertain")


def _roots(spark: SparkSession, folder: Path, plan: TreesPlan, taps: Taps) -> dict[str, Row]:
    """What the audit says of each root that it found, by message id."""
    from multilang_cli.audit.stages.facts import facts_of  # noqa: PLC0415
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415
    from multilang_cli.audit.stages.trees import marks_of_taps  # noqa: PLC0415 (Spark)

    write_tables(transcripts(plan, taps), folder)
    conversations, events = (spark.read.parquet(str(folder / f"{n}.parquet")) for n in ("conversations", "events"))
    return {row.message_id: row for row in roots(marks_of_taps(facts_of(conversations, events), events)).collect()}


def test_lives_of_a_task_are_told_apart_where_clocks_are_set_between_them(spark: SparkSession, tmp_path: Path) -> None:
    plan = TreesPlan(roots=300, weights=EVERYTHING, restarts=((1.0, 0), (1.5, 1), (2.0, 0)))
    found = _roots(spark, tmp_path, plan, Taps(skew={0: 0.5, 1: -0.25}, steps={0: -5.0, 1: -3.0}))
    told = {each.number: (each.verdict, found[str(each.number)].verdict) for each in truth(plan)}
    assert {number: both for number, both in told.items() if both[1] not in {both[0], "uncertain"}} == {}
    sure = [row for row in found.values() if row.confidence == "certain"]
    assert len(sure) > plan.roots * 0.9


def test_which_of_two_equal_tuples_was_lost_is_told_by_their_trees(spark: SparkSession, tmp_path: Path) -> None:
    # Two of those that are lost here stand before an equal one of another tree, which by order alone is the lost one.
    plan = TreesPlan(seed=10, roots=300, weights={"completed": 2.0, "lost": 1.0}, spouts=(1,), splits=(3,), counts=(6,))
    found = _roots(spark, tmp_path, plan, Taps())
    told = {each.number: (each.verdict, each.open and each.open.target) for each in truth(plan)}
    assert {number: (found[str(number)].verdict, found[str(number)].open_task) for number in told} == told
    # Who has now what another was taken for has all that came of it.
    whole = {str(each.number): len(each.nodes) for each in truth(plan) if each.verdict == "completed"}
    assert {id_: (found[id_].edges, found[id_].acks) for id_ in whole} == {id_: (n, n) for id_, n in whole.items()}


def test_what_may_stand_behind_the_cut_of_a_recording_is_not_told_as_a_loss(
    spark: SparkSession, tmp_path: Path
) -> None:
    plan = TreesPlan(roots=300, weights=EVERYTHING)
    cut = (3, 9)
    found = _roots(spark, tmp_path, plan, Taps(damage=Damage(cut=cut)))
    behind: Counter[str] = Counter()
    for each in truth(plan):
        row = found[str(each.number)]
        behind[row.verdict] += row.open_task in cut
        if row.verdict not in {each.verdict, "uncertain"}:
            # A second settle that is cut off leaves nothing behind.
            assert (each.verdict, row.verdict) == ("double ack", "completed")
        if row.verdict == "uncertain" and row.confidence != "low":
            assert row.open_task in cut
    assert behind["uncertain"] > plan.roots / 20
    assert behind["lost"] + behind["never acked"] < behind["uncertain"]


def test_a_few_tuples_that_are_paired_wrongly_move_no_clock(spark: SparkSession) -> None:
    from multilang_cli.audit.stages.trees import _met  # noqa: PLC0415 (Spark)

    inferred = [(1, 2, 0.0, 0.001 + place / 1e6, 1) for place in range(99)]
    rows = [*inferred, (1, 2, 9.0, 4.0, 1), (1, 3, 9.0, 4.0, 0), (1, 3, 0.0, 0.5, 0), (1, 4, 9.0, 4.0, 2)]
    columns = "sender int, receiver int, sent_at double, got_at double, doubt int"
    paired = spark.createDataFrame(rows, columns).selectExpr("*", "cast(null as bigint) as equals")
    least = {row.receiver: row.least for row in _met(paired)}
    assert least == {2: pytest.approx(0.001, abs=0.0001), 3: -5.0, 4: None}


@pytest.mark.parametrize(("second", "looks"), [(400, [8]), (40, [8, 1])], ids=["enough of each", "a short life"])
def test_lives_are_put_in_order_by_a_part_of_what_passed_where_that_is_enough(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, second: int, looks: list[int]
) -> None:
    # The second life of the task began when its clock had been set back by 900 seconds.
    lives = {"spout": (1, 0.0, 0), "first": (2, 0.0, 400), "second": (2, -900.0, second)}
    parts = [("spout", 1, "f", "2.8.3", "spout", "s", 1, "w", "h", "t", 0.0, 30.0, True)]
    parts += [(conv, 1, "f", "2.8.3", "bolt", "b", 2, "w", "h", "t", lives[conv][1], 30.0, True) for conv in FOLLOWING]
    said = [("spout", "emit", float(at), 0, "default", f"[{at}]") for at in range(400 + second)]
    said += [("first", "tuple", at + 0.01, 1, "default", f"[{at}]") for at in range(400)]
    said += [("second", "tuple", 400 + at + 0.01, 1, "default", f"[{400 + at}]") for at in range(second)]
    counts = {"spout": 400 + second, "first": 400, "second": second}
    ends = {"spout": (0.0, 800.0), "first": (0.0, 400.0), "second": (400.0, 400.0 + second)}
    spans = [
        ("f", conv, counts[conv], last, first, last, False, None, None, None, 0, counts[conv] - 1, None, 0)
        for conv, (first, last) in ends.items()
    ]
    facts = told_facts(parts, spans)
    events = spark.createDataFrame(said, "conv string, kind string, t double, task int, stream string, values string")
    assert next(each.conv for each in people(facts)) == "second"
    asked: list[int] = []
    whole = trees._passages

    def passages(events: DataFrame, known: Sequence[Person], some: int = 1) -> list[Passage]:
        asked.append(some)
        return whole(events, known, some)

    monkeypatch.setattr(trees, "_passages", passages)
    monkeypatch.setattr(trees, "COMPARED", sum(counts.values()) // 8)
    clocks = trees._clocks(events, people(facts), facts)
    assert asked == looks
    assert [each.conv for each in people(facts, clocks) if each.me == 2] == FOLLOWING
