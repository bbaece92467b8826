"""How many megabytes a second of a transcript are judged, against parsing the same lines with orjson alone."""

from __future__ import annotations

import os
import time
from statistics import median
from typing import TYPE_CHECKING

import orjson

from benchmarks import sides, throughput
from benchmarks.measure import Figure, Result, interleaved
from multilang_cli.judging.linting import judge_transcripts

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 4


def run() -> Result:
    """Measure lint."""
    path = sides.folder() / "conversation.jsonl"
    try:
        throughput.recorded(path)
        os.sched_setaffinity(0, sides.CPUS[:1])
        taken = interleaved(ROUNDS, {"parsed": lambda: parsed(path), "linted": lambda: linted(path)})
    finally:
        sides.unplace()
    figure = Figure(
        what="lint, one process",
        value=median(taken["linted"]),
        unit="MB/s",
        than="orjson.loads of each line",
        reference=median(taken["parsed"]),
        better="higher",
        goal=0.5,
    )
    notes = (
        f"{path.stat().st_size / 1e6:.1f} MB recorded from the echo bolt; median of {ROUNDS} interleaved rounds",
        "from the open file to the findings, as `mlcheck lint` does it; the rules are loaded beforehand",
    )
    return Result("lint", f"os.sched_setaffinity: both on CPU {sides.CPUS[0]}", (figure,), notes)


def parsed(path: Path) -> float:
    """MB/s of orjson."""
    start = time.perf_counter()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return _rate(path, start)


def linted(path: Path) -> float:
    """MB/s of reading and judging."""
    start = time.perf_counter()
    judge_transcripts([path], sides.rulebook())
    return _rate(path, start)


def _rate(path: Path, start: float) -> float:
    return path.stat().st_size / 1e6 / (time.perf_counter() - start)
