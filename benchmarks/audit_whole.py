"""The whole way of the audit, from recordings to all tables, above an empty session; beside it duckdb's SQL.

duckdb makes events, ledger and roots of the same files in memory (``audit_whole.sql``): no rule is judged there, what
was lost is not looked for, no line is kept. Recordings are made: two spouts, seven tasks of bolts, a worker that dies.
Two small audits come first, as on a machine that audits again: Java's classes stand in an archive then.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measure import Figure, UnmeasuredError
from tests.audit.generator.taps import transcripts
from tests.audit.generator.trees import HEALTHY, TreesPlan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZES = {2_000: 15.0, 47_000: 30.0, 470_000: 240.0}
"""Roots, and the seconds in which their recordings are to be audited."""
CLUSTER, IN_CLUSTER, CLUSTER_ROOTS = "local-cluster[2,1,1024]", 1.3, 47_000
"""A cluster on this machine, how many times as long it may take but for its start, and with how many roots."""
FIRST = 500
"""Roots of the audits that come first."""
WRITTEN = 60.0
"""Seconds in which an archive of Java's classes is written."""
EVENTS = 21
"""Lines that a root makes, about."""
LOST = 1
"""What the audit ends with where tuples were lost for certain: the worker that dies takes some along."""
_DUCKDB = (Path(__file__).parent / "audit_whole.sql").read_text(encoding="utf-8")
_EMPTY = (
    "from multilang_cli.audit.session import session\n"
    "spark = session({!r}, size={})\n"
    "spark.range(1000).selectExpr('sum(id)').collect()\n"
    "spark.stop()\n"
)
_TICK = os.sysconf("SC_CLK_TCK")
_POLL = 0.25


class Taken(NamedTuple):
    """Seconds by the clock, and of CPU of all processes."""

    seconds: float
    cpu: float


def figures(folder: Path, most: int) -> tuple[list[Figure], list[str]]:
    """Figures and notes for all sizes of at most so many lines."""
    found: list[Figure] = []
    notes: list[str] = []
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    made(folder / "first", FIRST)
    for _ in range(2):
        _ran(audit_command(folder / "first", folder / "first-tables", "local[2]"), env, well=LOST)
    _await_archive(folder / "cache" / "mlcheck")
    for roots, limit in SIZES.items():
        if roots * EVENTS > most * 1.1:
            continue
        place = folder / f"recordings-{roots}"
        lines = made(place, roots)
        size = sum(file.stat().st_size for file in place.iterdir())
        empty, above = _above(place, size, "local[2]", env)
        duck = _duckdb(place)
        what = f"recordings to all tables, {lines:,} lines"
        found += [_figure(what, above, "its limit", limit, goal=1.0), _figure(what, above, "duckdb", duck, goal=None)]
        notes.append(
            f"{lines:,} lines: {above.seconds:.1f} s above an empty session of {empty.seconds:.1f} s,"
            f" {above.cpu:.1f} s of CPU above its {empty.cpu:.1f} s; load {os.getloadavg()[0]:.1f}"
        )
        if roots == CLUSTER_ROOTS:
            empty, there = _above(place, size, CLUSTER, env)
            found.append(_figure(f"the same, {CLUSTER}", there, "local[2]", above.seconds, goal=IN_CLUSTER))
            notes.append(f"{CLUSTER}: {there.seconds:.1f} s above an empty session of {empty.seconds:.1f} s")
    return found, notes


def _above(place: Path, size: int, master: str, env: Mapping[str, str]) -> tuple[Taken, Taken]:
    """An empty session with one job, and what an audit takes above it."""
    empty = _ran([sys.executable, "-c", _EMPTY.format(master, size)], env)
    whole = _ran(audit_command(place, place.with_name(f"{place.name}-tables"), master), env, well=LOST)
    return empty, Taken(whole.seconds - empty.seconds, whole.cpu - empty.cpu)


def _await_archive(cache: Path) -> None:
    """Wait for what Java writes when the second audit has ended: its first bytes come last."""
    until = time.monotonic() + WRITTEN
    while not any(any(path.read_bytes()[:4]) for path in cache.glob("*.jsa")):
        if time.monotonic() > until:
            raise UnmeasuredError(f"there is no archive of Java's classes in {cache} after {WRITTEN:.0f} s")
        time.sleep(_POLL)


def made(place: Path, roots: int) -> int:
    """Recordings of so many roots in a folder; how many lines they have."""
    place.mkdir(parents=True, exist_ok=True)
    gap = 0.002
    plan = TreesPlan(roots=roots, weights=HEALTHY, gap=gap, restarts=((roots * gap / 2, 1),))
    lines = 0
    for name, file in transcripts(plan).items():
        (place / name).write_bytes(file)
        lines += file.count(b"\n")
    return lines


def _figure(what: str, above: Taken, than: str, reference: float, *, goal: float | None) -> Figure:
    return Figure(
        what=what, value=above.seconds, unit="s", than=than, reference=reference, better="lower", goal=goal
    )  # fmt: skip


def audit_command(place: Path, tables: Path, master: str) -> list[str]:
    """The command that audits recordings anew."""
    mlcheck = str(Path(sys.executable).parent / "mlcheck")
    return [mlcheck, "audit", "run", str(place), "-o", str(tables), "--overwrite", "--master", master]


def _ran(command: Sequence[str], env: Mapping[str, str], *, well: int = 0) -> Taken:
    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cpu: dict[int, float] = {}
    while process.poll() is None:
        # Java is nobody's child any more when Python has ended, so what it took is asked for while it runs.
        cpu |= cpu_below(process.pid)
        time.sleep(_POLL)
    if process.returncode != well:
        raise UnmeasuredError(f"{' '.join(command)[:200]} ended with code {process.returncode}")
    return Taken(time.perf_counter() - start, sum(cpu.values()))


def cpu_below(root: int) -> dict[int, float]:
    """By process, from `root` down, its seconds of CPU."""
    parents: dict[int, int] = {}
    cpu: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        parents[number], cpu[number] = int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICK
    known = {root}
    while more := {number for number, parent in parents.items() if parent in known} - known:
        known |= more
    return {number: cpu[number] for number in known if number in cpu}


def _duckdb(place: Path) -> float:
    try:
        duckdb: Any = importlib.import_module("duckdb")
    except ImportError:
        raise UnmeasuredError("duckdb is not installed, Spark's peer: uv sync") from None
    connection = duckdb.connect(config={"threads": 2})
    start = time.perf_counter()
    connection.execute(_DUCKDB.replace("FILES", str(place / "*.ndjson")))
    return time.perf_counter() - start
