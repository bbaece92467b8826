"""Query plans of the stages: docs/audit-plans.md has their exchanges and sorts, and a plan that grows one is red."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.audit.session import BESIDE, MEMORY, describe_jobs
from tests.audit.generator.taps import transcripts
from tests.audit.generator.trees import EVERYTHING, TreesPlan
from tests.audit.recorded import write_tables
from tests.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
_ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)


def plans(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """Tables by their names, as the stages make them of others that stand."""
    from multilang_cli.audit.stages import findings, ledger, roots, summary  # noqa: PLC0415
    from multilang_cli.audit.stages.facts import facts_of  # noqa: PLC0415
    from multilang_cli.audit.stages.trees import marks_of_taps  # noqa: PLC0415
    from multilang_cli.audit.store.local_rows import local_rows  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.tables import TABLES  # noqa: PLC0415

    def table(name: str, made: DataFrame | None = None) -> DataFrame:
        if made is not None:
            made.write.parquet(str(folder / f"{name}.parquet"))
        return spark.read.schema(TABLES[name].ddl).parquet(str(folder / f"{name}.parquet"))

    write_tables(transcripts(TreesPlan(roots=20, weights=EVERYTHING)), folder)
    conversations, events = table("conversations"), table("events")
    facts = facts_of(conversations, events)
    who = facts.people(spark)
    found = {"ledger": ledger.ledger(facts.ends(spark), events), "marks": marks_of_taps(facts, events)}
    settled, marks = table("ledger", found["ledger"]), table("marks", found["marks"])
    bad = table("quarantine", local_rows(spark, [], TABLES["quarantine"].ddl))
    known = local_rows(spark, [("made", 30.0, 0.0)], "run string, timeout double, beyond double")
    return {
        **found,
        "roots": roots.roots(marks, runs=known),
        "findings": findings.judged(conversations, events, None),
        "findings_damaged": findings.judged(conversations, events, bad),
        "rates": summary.rates(who, events, settled),
        "replays": summary.replays(who, settled),
        "timeouts": summary.timeouts(who, settled),
        "silences": summary.silences(who, events, settled),
    }


def counted(made: DataFrame) -> tuple[int, int, int]:
    """Exchanges, broadcasts and sorts of a plan."""
    text = made._jdf.queryExecution().executedPlan().toString()
    operators = re.findall(r"^[\s:+\-*()\d]*(\w+)", text, re.MULTILINE)
    return operators.count("Exchange"), operators.count("BroadcastExchange"), operators.count("Sort")


def test_no_plan_has_more_exchanges_than_the_documents_say(spark: SparkSession, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "audit-plans.md").read_text(encoding="utf-8")
    told = {name: tuple(map(int, numbers)) for name, *numbers in _ROW.findall(text)}
    found = {name: counted(made) for name, made in plans(spark, tmp_path).items()}
    assert found == told


def test_what_runs_beside_is_in_a_pool_that_all_others_go_before(spark: SparkSession) -> None:
    java: Any = spark.sparkContext._jsc.sc()
    pools = {name: java.getPoolForName(name).get() for name in ("default", BESIDE)}
    assert pools["default"].minShare() > pools[BESIDE].minShare() == 0
    describe_jobs(spark, "table ledger", beside=True)
    told = ("spark.job.description", "spark.scheduler.pool")
    assert [spark.sparkContext.getLocalProperty(name) for name in told] == ["table ledger", BESIDE]
    describe_jobs(spark, "trees", beside=False)
    assert [spark.sparkContext.getLocalProperty(name) for name in told] == ["trees", None]


def test_java_has_all_its_memory_from_the_start_here(spark: SparkSession) -> None:
    context: Any = spark.sparkContext
    options = set(context._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments())
    memory = context.getConf().get(MEMORY)
    assert options >= {f"-Xms{memory}", f"-Xmx{memory}"}
