"""``python -m benchmarks.audit_growing``: what each audit costs of a folder that grows by equal drops.

Each drop is a day of a topology that is started anew each morning, or, with ``--goes-on``, a further part of each of
its conversations. All audits are of one session, after one that only warms Java up.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from benchmarks.audit_whole import cpu_below
from benchmarks.options import parser_of
from multilang_cli.audit import inputs, pipeline
from multilang_cli.audit.session import session
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import HEALTHY, TreesPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

GAP = 0.002
KEPT = {"spark.ui.retainedStages": "100000", "spark.ui.retainedTasks": "1000000"}


class StageSums(NamedTuple):
    """All stages so far: how many, seconds of Java's CPU in tasks, bytes read and shuffled; and all processes' CPU."""

    stages: int
    java: float
    read: float
    shuffled: float
    cpu: float

    def since(self, before: StageSums) -> StageSums:
        """Those between two moments."""
        return StageSums._make(one - other for one, other in zip(self, before, strict=True))


def main() -> int:
    """Print a row for each audit."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--drops", type=int, default=10, help="how often the folder grows")
    parser.add_argument("--roots", type=int, default=2000, help="trees of a drop, of 21 lines each")
    parser.add_argument("--goes-on", action="store_true", help="the topology is started once, and runs on")
    given = parser.parse_args()
    drops = list(_parts(given.drops, given.roots) if given.goes_on else _days(given.drops, given.roots))
    spark = session("local[2]", KEPT, size=given.roots * given.drops * 2000)
    with tempfile.TemporaryDirectory() as place:
        _audited(spark, Path(place, "warm"), Path(place, "warm-tables"), drops[0])
        print("| drop | lines | stages | CPU, s | of it Java's in tasks, s | read, MB | shuffled, MB |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for number, files in enumerate(drops, 1):
            taken = _audited(spark, Path(place, "recordings"), Path(place, "tables"), files)
            lines = sum(file.count(b"\n") for file in files.values())
            figures = f"{taken.cpu:.1f} | {taken.java:.1f} | {taken.read:.2f} | {taken.shuffled:.2f}"
            print(f"| {number} | {lines:,} | {taken.stages} | {figures} |", flush=True)
    spark.stop()
    return 0


def _audited(spark: SparkSession, folder: Path, tables: Path, files: Mapping[str, bytes]) -> StageSums:
    folder.mkdir(exist_ok=True)
    for name, file in files.items():
        (folder / name).write_bytes(file)
    before = _sums(spark)
    pipeline.run(spark, inputs.AuditPlan(inputs.find([str(folder)])), str(tables), lambda _: None)
    return _sums(spark).since(before)


def _sums(spark: SparkSession) -> StageSums:
    java: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001 (PySpark has no other door to what stages took)
    quantiles = spark.sparkContext._gateway.new_array(spark._jvm.double, 0)  # type: ignore[union-attr]  # noqa: SLF001
    stages = java.statusStore().stageList(None, False, False, quantiles, None)
    all_of = [stages.apply(place) for place in range(stages.size())]
    return StageSums(
        len(all_of),
        sum(each.executorCpuTime() for each in all_of) / 1e9,
        sum(each.inputBytes() for each in all_of) / 1e6,
        sum(each.shuffleWriteBytes() for each in all_of) / 1e6,
        sum(cpu_below(os.getpid()).values()),
    )


def _days(drops: int, roots: int) -> Iterator[Mapping[str, bytes]]:
    for day in range(drops):
        plan = TreesPlan(seed=day + 1, roots=roots, weights=HEALTHY, gap=GAP, restarts=((roots * GAP / 2, 1),))
        yield transcripts(plan, Taps(day=day))


def _parts(drops: int, roots: int) -> Iterator[Mapping[str, bytes]]:
    plan = TreesPlan(roots=roots * drops, weights=HEALTHY, gap=GAP)
    whole = {name: file.splitlines(keepends=True) for name, file in transcripts(plan).items()}
    for drop in range(drops):
        yield {f"{drop}-{name}": _part(lines, drop, drops) for name, lines in whole.items()}


def _part(lines: list[bytes], drop: int, drops: int) -> bytes:
    """One part of a conversation: its header, so many of its lines, and an end."""
    head, *rest, _ = lines
    header = msgspec.json.decode(head)
    mine = rest[len(rest) * drop // drops : len(rest) * (drop + 1) // drops]
    told = {"conv": header["conv"], "end": {"events": {"in": len(mine)}}}
    begun = {**header, "part": drop + 1}
    return b"".join([msgspec.json.encode(begun) + b"\n", *mine, msgspec.json.encode(told) + b"\n"])


if __name__ == "__main__":
    sys.exit(main())
