"""``python -m benchmarks.watch_kills``: `audit watch`, killed in batch after batch, tells what it tells undisturbed.

A history with every fate is given in pieces, one a batch. One watch takes all; another is killed with SIGKILL, its
Java too, at a time of chance after Spark has begun a batch, and started again, until it is through. 1 if alerts, rows
of roots or late marks differ, or one of them is there twice.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow.parquet as pq

from benchmarks.options import parser_of
from tests.audit.generator.histories import history
from tests.audit.generator.trees import EVERYTHING, TreesPlan

PLAN = TreesPlan(roots=600, gap=1.0, weights=EVERYTHING, restarts=((20.0, 0), (300.0, 1)))
LONGEST = 6.0
"""Seconds after the beginning of a batch within which it is killed."""
_FEW = ("spark.sql.shuffle.partitions=1", "spark.sql.codegen.wholeStage=false")


class _Told(NamedTuple):
    alerts: list[str]
    roots: list[str]
    late: list[str]


def main() -> int:
    """Kill as often as the command line says; 0 if that changed nothing."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write_pieces(folder / "run", given.batches)
        _watch(folder / "run", folder / "undisturbed", "").wait()
        kills = 0
        while kills < given.kills and _killed(folder, chance):
            kills += 1
            print(f"kill {kills}", flush=True)
        _watch(folder / "run", folder / "killed", _checkpoint(folder)).wait()
        one, other = _told_in(folder / "undisturbed"), _told_in(folder / "killed")
    twice = sum(len(each) - len(set(each)) for each in other)
    same = [sorted(a) == sorted(b) for a, b in zip(one, other, strict=True)]
    sizes = ", ".join(f"{len(each)} {name}" for name, each in zip(_Told._fields, one, strict=True))
    print(f"{kills} kills; {sizes}; the same: {same}; there twice: {twice}")
    return 0 if all(same) and not twice and one.alerts else 1


def _write_pieces(run: Path, batches: int) -> None:
    """The history in files of which each is newer than those before; some lines come far too late."""
    run.mkdir()
    lines = [msgspec.json.encode(event) + b"\n" for event in history(PLAN)]
    late = lines[len(lines) // 3 : len(lines) // 3 + 5]
    lines = [line for line in lines if line not in late] + late
    size = len(lines) // batches + 1
    for number, start in enumerate(range(0, len(lines), size)):
        path = run / f"{number:04d}.ndjson"
        path.write_bytes(b"".join(lines[start : start + size]))
        os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))


def _checkpoint(folder: Path) -> str:
    """A place that only Hadoop's file systems know."""
    return (folder / "state").as_uri()


def _watch(run: Path, out: Path, checkpoint: str) -> subprocess.Popen[bytes]:
    words = ["--once", "--master", "local[1]", "--option", "maxFilesPerTrigger=1"]
    words += ["--checkpoint", checkpoint] if checkpoint else []
    conf = [word for each in _FEW for word in ("--spark-conf", each)]
    command = [sys.executable, "-m", "multilang_cli", "audit", "watch", str(run), "-o", str(out), *words, *conf]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


def _killed(folder: Path, chance: random.Random) -> bool:
    """True if it was killed in a batch; False if it was through before."""
    offsets = folder / "state" / "offsets"
    before = _numbers(offsets)
    process = _watch(folder / "run", folder / "killed", _checkpoint(folder))
    while process.poll() is None:
        # The batch that the last kill hit is done again; the next is hit.
        if _numbers(offsets) > before:
            time.sleep(chance.uniform(0, LONGEST))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.05)
    return False


def _numbers(folder: Path) -> int:
    return sum(1 for path in folder.glob("[0-9]*"))


def _told_in(out: Path) -> _Told:
    alerts = [line for path in sorted(out.glob("alerts/*.ndjson")) for line in path.read_text().splitlines()]
    tables = (
        [repr(row) for path in sorted((out / name).glob("[0-9]*")) for row in pq.read_table(path).to_pylist()]
        for name in ("roots", "late")
    )
    return _Told(alerts, *tables)


if __name__ == "__main__":
    sys.exit(main())
