"""What is audited while it is recorded comes to the same as afterwards, whatever stops it on the way."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.audit.watch.ledger import RootState
from multilang_cli.audit.watch.workers import STATE
from multilang_cli.terminal.exits import ExitCode
from tests.audit.generator.histories import history
from tests.audit.generator.trees import EVERYTHING, TreesPlan
from tests.processes import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(version("pyspark") < "4", reason="a watch needs the state that PySpark 4.0 has for Python"),
]

PLAN = TreesPlan(roots=300, gap=1.0, weights=EVERYTHING, restarts=((20.0, 0),))
PIECES = 3
WATCH = (sys.executable, "-m", "multilang_cli", "audit", "watch", "--master", "local[1]")
FEW = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}
"""For so little data, planning and compiling is most of the work."""
SMALL = [word for name, value in FEW.items() for word in ("--spark-conf", f"{name}={value}")]
LATE = 1
"""The place of the piece some of whose lines come with the last one."""


def pieces() -> list[list[bytes]]:
    """The history in pieces, in the order of time; three lines come far too late."""
    lines = [msgspec.json.encode(event) + b"\n" for event in history(PLAN)]
    size = len(lines) // PIECES + 1
    found = [lines[start : start + size] for start in range(0, len(lines), size)]
    emits = [line for line in found[LATE] if b'"k":"outcome"' in line][:3]
    found[LATE] = [line for line in found[LATE] if line not in emits]
    found[-1] += emits
    return found


def verdicts(roots: DataFrame) -> dict[int, tuple[Any, ...]]:
    return {row.root: (row.verdict, row.outcome, row.edges, row.open_edge) for row in roots.collect()}


def open_roots(spark: SparkSession, out: Path) -> dict[int, RootState]:
    """What Spark's state holds of roots that are not over."""
    for name, value in STATE.items():
        if name.startswith("spark.sql.streaming"):
            spark.conf.set(name, value)
    stored = spark.read.format("statestore").option("stateVarName", "roots").load(str(out / "checkpoint"))
    rows = stored.selectExpr("user_map_key.root as root", "user_map_value.b as state").collect()
    return {row.root: msgspec.msgpack.decode(bytes(row.state), type=RootState) for row in rows}


def alerts_in(out: Path) -> list[dict[str, Any]]:
    """The alerts so far."""
    return [json.loads(line) for path in sorted(out.glob("alerts/*.ndjson")) for line in path.open()]


@contextmanager
def watching(*words: str) -> Iterator[subprocess.Popen[str]]:
    """`mlcheck audit watch` as users start it."""
    with subprocess.Popen([*WATCH, *SMALL, *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def says(process: subprocess.Popen[str], words: str) -> str:
    """The line of stderr that has these words."""
    assert process.stderr
    return next(line for line in process.stderr if words in line)


def test_killed_and_stopped_it_finds_what_a_batch_finds(spark: SparkSession, tmp_path: Path) -> None:
    from multilang_cli.audit.stages.edges import of_history  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.stages.roots import roots  # noqa: PLC0415

    run, out, counts = tmp_path / "run", tmp_path / "out", tmp_path / "alerts.prom"
    words = (str(run), "-o", str(out), "--to", f"prometheus={counts}", "--option", "maxFilesPerTrigger=10")
    run.mkdir()

    def see(place: int) -> None:
        part = run / f".{place}"
        part.write_bytes(b"".join(pieces()[place]))
        part.rename(run / f"{place}.ndjson")

    see(0)
    with watching(*words) as first:
        assert "0 marks came too late" in says(first, "batch 0:")
        see(1)
        assert until((out / "checkpoint" / "offsets" / "1").exists)
        first.kill()
    assert not (out / "alerts" / "00000001.ndjson").exists()
    see(2)
    with watching(*words) as again:
        assert "3 marks came too late" in says(again, "batch 2:")
        again.send_signal(signal.SIGTERM)
        assert again.stderr
        assert again.stderr.read() == "mlcheck: interrupted.\n"
        assert again.wait() == ExitCode.INTERRUPTED

    read = spark.read.text(str(run), lineSep="\n", pathGlobFilter="*.ndjson")
    lines = read.selectExpr("_metadata.file_path as file", "cast(value as binary) as text")
    late = spark.read.parquet(f"{out}/late/*")
    marks = of_history(lines).exceptAll(late).persist()
    over = verdicts(spark.read.parquet(f"{out}/roots/*"))
    batch = verdicts(roots(marks))
    still = open_roots(spark, out)
    assert not over.keys() & still.keys()
    assert len(over) > len(still) > 0
    assert over.items() <= batch.items()
    assert over.keys() | still.keys() == batch.keys()
    assert late.count() == 3
    alerts = alerts_in(out)
    assert len({each["id"] for each in alerts}) == len(alerts)
    assert {each["topology"] for each in alerts} == {"run"}
    assert all(each["component"] == PLAN.component(each["task"]) for each in alerts if each["task"] is not None)
    held = [each for each in alerts if each["open_task"] is not None]
    assert held
    assert all(each["open_component"] == PLAN.component(each["open_task"]) for each in held)
    assert sum(int(line.rpartition(" ")[2]) for line in counts.read_text().splitlines()[1:]) == len(alerts)
    told = {(each["root"], each["verdict"]) for each in alerts}
    assert {(root, verdict) for root, (verdict, *_) in over.items() if verdict != "completed"} <= told
    assert {each["decided_by"] for each in alerts} == {"recording"}


def test_no_file_of_a_folder_ends_a_watch(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    run.mkdir()
    lines = b"".join(msgspec.json.encode(event) + b"\n" for event in history(PLAN))
    (run / "0.ndjson").write_bytes(lines)
    (run / "cut.ndjson.gz").write_bytes(gzip.compress(lines)[:200])
    (run / "none.ndjson.zst").write_bytes(b"no zstd")
    (run / "device.ndjson").symlink_to("/dev/zero")
    os.mkfifo(run / "pipe.ndjson")
    with watching(str(run), "-o", str(out), "--once") as process:
        told = process.communicate()[1]
    assert process.returncode == 0, told
    unread = [each["why"].partition(": ")[0] for each in alerts_in(out) if each["verdict"] == "recording unread"]
    # Spark passes over what has no size.
    assert sorted(Path(path).name for path in unread) == ["cut.ndjson.gz", "none.ndjson.zst"]
    assert any(each["verdict"] == "never acked" for each in alerts_in(out))


@pytest.mark.parametrize("leads", ["/", "."])
def test_a_link_that_leads_elsewhere_is_not_watched(leads: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "day").mkdir(parents=True)
    (run / "day" / "link").symlink_to(leads)
    with watching(str(run), "-o", str(tmp_path / "out"), "--once") as process:
        says(process, "run/day/link is a link to another folder")
        assert process.wait() == ExitCode.MISUSE


def test_wall_time_runs_on_where_a_recording_stops(tmp_path: Path) -> None:
    plan = TreesPlan(roots=1, weights={"never acked": 1.0})
    run, out = tmp_path / "run", tmp_path / "out"
    run.mkdir()
    lines = [msgspec.json.encode(event) for event in history(plan) if event.t < plan.timeout]
    (run / "0.ndjson").write_bytes(b"\n".join(lines) + b"\n")
    with watching(str(run), "-o", str(out), "--stopped", "1", "--timeout", "1", "--delay", "0.5") as process:
        says(process, ": 0 alerts")
        assert until(lambda: len(alerts_in(out)) > 1)
    assert [(each["verdict"], each["decided_by"]) for each in alerts_in(out)] == [
        ("recording stopped", "wall time"),
        ("never acked", "wall time"),
    ]
