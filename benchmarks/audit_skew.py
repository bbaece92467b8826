"""``python -m benchmarks.audit_skew``: an audit of one hot task, against one whose tuples are spread over ten.

A spout, and a bolt that sends itself some thirteen tuples for each of the spout's: nine in ten lines are the bolt's. It
has ten tasks, or one. Without ``--deaths`` the hot task is one conversation. Both are audited in turns; 1 if the hot
one takes half as much again, by the clock or of CPU.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pyarrow.parquet as pq

from benchmarks.audit_whole import LOST, audit_command, cpu_below
from benchmarks.options import parser_of
from tests.audit.generator.histories import truth
from tests.audit.generator.taps import transcripts
from tests.audit.generator.trees import HEALTHY, TreesPlan

TASKS = {"even": tuple(range(3, 13)), "hot": (3,)}
EVENTS = 61
"""Lines that a root makes, about."""
GAP = 0.002
MOST = 1.5
"""How many times as long the hot one may take."""
_POLL = 0.25


class Run(NamedTuple):
    """Seconds by the clock and of CPU, and the most memory of all processes at a time, in bytes."""

    seconds: float
    cpu: float
    memory: int


def main() -> int:
    """Print a row for each audit."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="lines, about")
    parser.add_argument("--turns", type=int, default=2, help="audits of each")
    parser.add_argument("--deaths", type=int, default=0, help="how often each worker of bolts dies")
    given = parser.parse_args()
    taken: dict[str, list[Run]] = {name: [] for name in TASKS}
    print("| tasks | lines | of the first | seconds | CPU, s | memory, MB | roots told otherwise |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        plans = {name: _plan(tasks, given.events // EVENTS, given.deaths) for name, tasks in TASKS.items()}
        lines = {name: _made(plan, Path(scratch, name)) for name, plan in plans.items()}
        for _ in range(given.turns):
            for name, plan in plans.items():
                tables = Path(scratch, f"{name}-tables")
                run = _audited(Path(scratch, name), tables)
                taken[name].append(run)
                counts = lines[name]
                shares = f"{sum(counts.values()):,} | {counts[3] / sum(counts.values()):.0%}"
                figures = f"{run.seconds:.1f} | {run.cpu:.1f} | {run.memory / 1e6:,.0f}"
                print(f"| {name} | {shares} | {figures} | {_otherwise(plan, tables):,} |", flush=True)
    times = [_a_line(taken["hot"], lines["hot"], of) / _a_line(taken["even"], lines["even"], of) for of in (0, 1)]
    print(f"\nhot to even, a line: {times[0]:.2f} times by the clock, {times[1]:.2f} of CPU (at most {MOST})")
    return 1 if max(times) > MOST else 0


def _plan(tasks: tuple[int, ...], roots: int, deaths: int) -> TreesPlan:
    restarts = tuple(
        (roots * GAP * (number + (worker + 1) / 4) / deaths, worker) for number in range(deaths) for worker in range(3)
    )
    return TreesPlan(
        roots=roots, words=24, spouts=(1, 2), splits=tasks, counts=tasks, weights=HEALTHY, gap=GAP, restarts=restarts
    )


def _made(plan: TreesPlan, place: Path) -> Counter[int]:
    """Recordings in a folder; how many lines each task has."""
    place.mkdir()
    lines: Counter[int] = Counter()
    for name, file in transcripts(plan).items():
        (place / name).write_bytes(file)
        lines[int(name.split("-")[1])] += file.count(b"\n")
    return lines


def _audited(place: Path, tables: Path) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen(audit_command(place, tables, "local[2]"), stdout=subprocess.DEVNULL)
    cpu: dict[int, float] = {}
    most = 0
    while process.poll() is None:
        cpu |= (now := cpu_below(process.pid))
        most = max(most, sum(_resident(number) for number in now))
        time.sleep(_POLL)
    if process.returncode not in {0, LOST}:
        raise SystemExit(f"the audit of {place.name} ended with code {process.returncode}")
    return Run(time.perf_counter() - start, sum(cpu.values()), most)


def _resident(pid: int) -> int:
    """Bytes that a process has for itself, and its share of what it has with others."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in told.splitlines() if line.startswith("Pss:")), 0)


def _a_line(runs: list[Run], lines: Counter[int], column: int) -> float:
    return median(run[column] for run in runs) / sum(lines.values())


def _otherwise(plan: TreesPlan, tables: Path) -> int:
    """Roots whose verdict is not the one that they were made with, nor `uncertain`."""
    true = {str(made.number): made.verdict for made in truth(plan)}
    found = pq.read_table(tables / "roots", columns=["message_id", "verdict"])
    ids, verdicts = found.column("message_id").to_pylist(), found.column("verdict").to_pylist()
    return sum(verdict not in {true[id_], "uncertain"} for id_, verdict in zip(ids, verdicts, strict=True))


if __name__ == "__main__":
    sys.exit(main())
