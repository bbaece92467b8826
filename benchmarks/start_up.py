"""How long ``mlcheck --version`` and ``mlcheck --help`` take, against a Python that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import sides
from benchmarks.measure import Figure, Result, interleaved

ROUNDS = 11
_GOALS = {"--version": 1.3, "--help": 3.0}


def run() -> Result:
    """Measure starting up."""
    mlcheck = str(Path(sys.executable).parent / "mlcheck")
    commands = {"pass": [sys.executable, "-c", "pass"], **{option: [mlcheck, option] for option in _GOALS}}
    os.sched_setaffinity(0, sides.CPUS[:1])
    try:
        taken = interleaved(ROUNDS, {name: partial(_seconds, argv) for name, argv in commands.items()})
    finally:
        sides.unplace()
    figures = tuple(
        Figure(
            what=f"mlcheck {option}",
            value=median(taken[option]) * 1000,
            unit="ms",
            than="python -c pass",
            reference=median(taken["pass"]) * 1000,
            better="lower",
            goal=goal,
        )
        for option, goal in _GOALS.items()
    )
    placed = f"os.sched_setaffinity: all commands on CPU {sides.CPUS[0]}"
    return Result("start-up", placed, figures, (f"wall time, median of {ROUNDS} interleaved rounds",))


def _seconds(argv: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
