"""The audit on Spark: the whole way, then its roots stage: events a second, against itself and duckdb; exactness.

The marks are made: roots of every verdict, most of them healthy. Larger sizes are copies under other ids (each id XORed
with a number of the copy, which changes no tree), so the truth is known for every root.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from benchmarks import audit_whole, sides
from benchmarks.measure import Figure, Result, UnmeasuredError
from multilang_cli.audit.session import SparkMissingError, session
from tests.audit.generator.arrays import both
from tests.audit.generator.trees import EVERYTHING, TreesPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIZES = (10**5, 10**6, 10**7)
ROUNDS = 3
BASE = 11_500
"""Roots that make some 10^5 marks."""
MEMORY = "4g"
_DUCKDB = (Path(__file__).parent / "audit_roots.sql").read_text(encoding="utf-8")


def run() -> Result:
    """Measure the whole way, then the roots stage. MLCHECK_AUDIT_EVENTS: the largest size, 10^7 unless told."""
    most = int(os.environ.get("MLCHECK_AUDIT_EVENTS", str(SIZES[-1])))
    sizes = [size for size in SIZES if size <= most]
    whole, notes = audit_whole.figures(sides.folder() / "audit", most)
    try:
        spark = session("local[2]", {"spark.driver.memory": MEMORY})
    except SparkMissingError as error:
        raise UnmeasuredError(str(error)) from None
    try:
        roots = _measured(spark, sizes)
    finally:
        spark.stop()
    return Result(roots.name, roots.placed, (*whole, *roots.figures), (*notes, *roots.notes))


def _measured(spark: SparkSession, sizes: list[int]) -> Result:
    folder = sides.folder() / "audit"
    counts = made(spark, folder, sizes)
    taken: dict[int, list[float]] = {size: [] for size in sizes}
    duck: dict[int, list[float]] = {size: [] for size in sizes}
    for turn in range(ROUNDS + 1):
        for size in sizes:
            ours, theirs = _spark(spark, folder / str(size)), _duckdb(folder / str(size))
            if turn:  # the first is to warm up
                taken[size].append(ours)
                duck[size].append(theirs)
    rates = {size: counts[size] / median(taken[size]) for size in sizes}
    figures = [
        Figure.of_rounds(
            f"roots of {counts[size]:,} marks", taken[size], "duckdb", duck[size], unit="s", better="lower", goal=12.0
        )
        for size in sizes
    ]
    if len(sizes) == len(SIZES):
        small, large = sizes[-2:]
        figures.append(
            Figure(
                what="marks a second, ten times as many", value=rates[large], unit="/s", than="a tenth of them",
                reference=rates[small], better="higher", goal=0.75,
            )
        )  # fmt: skip
    largest = folder / str(sizes[-1])
    roots = spark.read.parquet(str(largest / "truth")).count()
    notes = [
        *(
            f"{counts[size]:,} marks: {rates[size]:,.0f} a second; {_shuffled(spark, folder / str(size))}"
            for size in sizes
        ),
        f"wrong verdicts or open edges: {wrong(spark, largest):,} among {roots:,} roots",
        f"peak memory of the JVM: {_peak(spark) / 2**20:,.0f} MiB of {MEMORY} heap",
        f"a cluster of two workers with a core each finds {_on_a_cluster(folder / str(sizes[0]))}",
    ]
    return Result("audit", "both on two threads of this machine, warm, the same Parquet", tuple(figures), tuple(notes))


def made(spark: SparkSession, folder: Path, sizes: list[int]) -> dict[int, int]:
    """Marks and truth of each size in `folder`; gives how many marks there are."""
    base = folder / "base"
    base.mkdir(parents=True, exist_ok=True)
    marks, truth = both(TreesPlan(roots=BASE, weights={**EVERYTHING, "completed": 200.0}), range(BASE))
    pq.write_table(marks, base / "marks.parquet")
    pq.write_table(truth, base / "truth.parquet")
    counts = {}
    for size in sizes:
        for name in ("marks", "truth"):
            _copies(spark, base / f"{name}.parquet", size // sizes[0]).write.mode("overwrite").parquet(
                str(folder / str(size) / name)
            )
        counts[size] = marks.num_rows * (size // sizes[0])
    return counts


def _copies(spark: SparkSession, file: Path, count: int) -> DataFrame:
    rows = spark.read.parquet(str(file))
    other = "xxhash64(copy)"
    ids = {name: f"{name} ^ {other} as {name}" for name in ("root", "edge", "open_edge")}
    columns = [ids.get(name, name) for name in rows.columns if name != "run"]
    copies = spark.range(0, count, 1, min(count, 8)).withColumnRenamed("id", "copy")
    return copies.crossJoin(rows).selectExpr("concat('made-', copy) as run", *columns)


def _roots(spark: SparkSession, folder: Path) -> DataFrame:
    stage = importlib.import_module("multilang_cli.audit.stages.roots")
    found: DataFrame = stage.roots(spark.read.parquet(str(folder / "marks")))
    return found


def _spark(spark: SparkSession, folder: Path) -> float:
    start = time.perf_counter()
    _roots(spark, folder).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def _duckdb(folder: Path) -> float:
    try:
        duckdb: Any = importlib.import_module("duckdb")
    except ImportError:
        raise UnmeasuredError("duckdb is not installed, which Spark is compared with: pip install duckdb") from None
    connection = duckdb.connect(config={"threads": 2})
    start = time.perf_counter()
    connection.execute(_DUCKDB.replace("MARKS", str(folder / "marks" / "*.parquet"))).fetchall()
    return time.perf_counter() - start


def wrong(spark: SparkSession, folder: Path) -> int:
    """How many roots did not get the verdict and the open edge that they were made for."""
    truth = spark.read.parquet(str(folder / "truth")).alias("truth")
    found = _roots(spark, folder).alias("found")
    both_ = truth.join(found, ["run", "root"], "full")
    right = " and ".join(f"truth.{name} <=> found.{name}" for name in ("verdict", "open_edge", "open_task"))
    return both_.where(f"not ({right})").count()


def _shuffled(spark: SparkSession, folder: Path) -> str:
    before = {stage for stage, _ in _stages(spark)}
    _spark(spark, folder)
    written = [size for stage, size in _stages(spark) if stage not in before and size]
    return f"shuffled {sum(written) / 1e6:,.1f} MB in {len(written)} stages"


def _stages(spark: SparkSession) -> list[tuple[int, int]]:
    jvm: Any = spark._jvm  # noqa: SLF001 (the only way without Spark's web server)
    none = jvm.java.util.ArrayList()
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    store = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001
    stages = jvm.scala.jdk.javaapi.CollectionConverters.asJava(store.stageList(none, False, False, quantiles, none))
    return [(stage.stageId(), stage.shuffleWriteBytes()) for stage in stages]


def _peak(spark: SparkSession) -> int:
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]  # noqa: SLF001
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def _on_a_cluster(folder: Path) -> str:
    """What a cluster on this machine finds, in a process of its own: a process has one session."""
    command = [sys.executable, "-c", f"from benchmarks.audit import on_a_cluster; on_a_cluster({str(folder)!r})"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stdout.strip().splitlines()[-1] if ran.returncode == 0 else f"nothing: {ran.stderr[-500:]}"


def on_a_cluster(folder: str) -> None:
    """Print how many roots a cluster of two workers judges otherwise than they were made."""
    spark = session("local-cluster[2,1,1024]", {"spark.driver.memory": "1g", "spark.executor.memory": "1g"})
    print(f"{wrong(spark, Path(folder))} wrong")
    spark.stop()
