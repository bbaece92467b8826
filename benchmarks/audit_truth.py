"""``python -m benchmarks.audit_truth``: trees inferred from taps of a real Storm, against what Storm told its spout.

A topology runs in a LocalCluster, every component behind a tap; some sentences fail, some are never settled. The audit
sees the taps' files alone. The truth is what the hook of the cluster wrote down: which message ids were acked, which
failed; and of those that were acked, how many tuples their trees have. 1 if fewer than 99.9 % are right of the roots at
confidence high, or one at certain is wrong.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import split_count
from benchmarks.options import parser_of
from multilang_cli.audit import inputs, pipeline
from multilang_cli.audit.session import session
from tests.processes import until
from tests.storm.cluster import Cluster, settled

if TYPE_CHECKING:
    from pyspark.sql import Row

    from tests.storm.cluster import Run

MLCHECK = str(Path(sys.executable).parent / "mlcheck")
RIGHT = 0.999
TIMEOUT = 10


def main() -> int:
    """Run it, and print what was right, by confidence."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--sentences", type=int, default=2_000, help="that the spout emits")
    count = parser.parse_args().sentences
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run = _ran(count, folder)
        rows = _audited(folder)
    told = {json.dumps(id_): True for id_ in run.acked} | {json.dumps(id_): False for id_ in run.failed}
    print(f"{count} sentences: Storm acked {len(run.acked)}, failed {len(run.failed)}; {len(rows)} roots found")
    # An emit does not tell its message id: the ids go up from 1, in the order of the emits.
    trees = {str(number): 1 + len(each["values"][0].split()) for number, each in enumerate(run.of("emit"), 1)}
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for row in rows:
        (right if _is_right(row, told, trees) else wrong)[row.confidence] += 1
    for confidence in ("certain", "high", "low"):
        print(f"{confidence}: {right[confidence]} right, {wrong[confidence]} wrong")
    enough = right["high"] >= RIGHT * (right["high"] + wrong["high"])
    return 0 if enough and not wrong["certain"] and len(rows) == len(told) == count else 1


def _ran(count: int, folder: Path) -> Run:
    flux = split_count.flux("storm.py", count)
    flux["config"]["topology.message.timeout.secs"] = TIMEOUT
    for each in (*flux["spouts"], *flux["bolts"]):
        command = each["constructorArgs"][0]
        if each["id"] == "split":
            command[-1] = command[-1].replace("split_bolt", "picky_bolt")
        each["constructorArgs"][0] = [MLCHECK, "tap", "--record", str(folder / "taps"), "--record-all", "--", *command]
    for bolt in flux["bolts"]:
        bolt["parallelism"] = 2
    cluster = Cluster(folder / "cluster", ["-Dcluster.watch=spouts"])
    try:
        run = cluster.run(flux, settled(count), limit=600.0)
    finally:
        cluster.close()
    assert until(lambda: all(state == "ended" for state in _states(folder / "taps"))), "a tap did not end"
    return run


def _states(taps: Path) -> list[str]:
    return [json.loads(path.read_text(encoding="utf-8"))["state"] for path in taps.glob("*.status.json")]


def _audited(folder: Path) -> list[Row]:
    spark = session("local[2]", {"spark.sql.shuffle.partitions": "8"})
    try:
        plan = inputs.AuditPlan(inputs.find([str(folder / "taps")]))
        return pipeline.run(spark, plan, str(folder / "out"), print)["roots"].collect()
    finally:
        spark.stop()


def _is_right(row: Row, told: dict[str, bool], trees: dict[str, int]) -> bool:
    """Its verdict is that of Storm, and, where all of the tree was acked, it has every tuple."""
    acked = told.get(row.message_id)
    if not acked:
        return acked is False and row.verdict in {"failed", "timed out", "never acked", "late ack"}
    tuples = trees[row.message_id]
    return (row.verdict, row.edges, row.acks) == ("completed", tuples, tuples)


if __name__ == "__main__":
    sys.exit(main())
