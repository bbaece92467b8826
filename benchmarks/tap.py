"""How much later a message arrives through the tap, against the same pipe through cat; and how many get through."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import sides
from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved
from multilang_cli.protocol import context, wire

if TYPE_CHECKING:
    from collections.abc import Sequence

CALLS = 4_000
WARM_UP = 1_000
MESSAGES = 200_000
PAIRS = 200
"""Messages in one write."""
ROUNDS = 5
RATE = 50_000
"""Messages a second that have to get through."""
GOAL = 50.0
"""Microseconds that the tap may add to a message."""
_SYNC = b'{"command":"sync"}\nend\n'
_LOG = b'{"command":"log","msg":"snow white and the seven dwarfs","level":2}\nend\n'


def run() -> Result:
    """Measure the tap, with judge and recording on, as a user starts it."""
    mlcheck = str(Path(sys.executable).parent / "mlcheck")
    folder = sides.folder() / "tap"
    tap = [mlcheck, "tap", "--record", str(folder), "--kind", "spout", "--"]
    none: list[str] = []
    latency = interleaved(ROUNDS, {"cat": partial(_delay, none), "tap": partial(_delay, tap)})
    rates = interleaved(2, {"cat": partial(_rate, none), "tap": partial(_rate, tap)})
    gaps = sum(json.loads(path.read_bytes())["gaps"] for path in folder.glob("*.status.json"))
    added = [(tapped - plain) / 2 for tapped, plain in zip(latency["tap"], latency["cat"], strict=True)]
    figures = (
        Figure(
            what="a message passes the tap, added to the pipe through cat",
            value=median(added),
            unit="µs",
            than=f"at most {GOAL:g} µs",
            reference=GOAL,
            better="lower",
            goal=1.0,
        ),
        Figure(
            what="messages there and back",
            value=median(rates["tap"]),
            unit="/s",
            than=f"at least {RATE} a second",
            reference=RATE,
            better="higher",
            goal=1.0,
        ),
    )
    plain, tapped = median(latency["cat"]), median(latency["tap"])
    notes = (
        f"there and back: {plain:.1f} µs through cat, {tapped:.1f} µs with the tap; half the difference is one way",
        f"medians of {ROUNDS} interleaved rounds of {CALLS} messages, one in flight, judge and ring on",
        f"cat alone moves {median(rates['cat']):,.0f} messages a second; {PAIRS} of {len(_LOG)} bytes in one write",
        f"{gaps} gaps: times that the recorder was so slow that something had to be left out",
    )
    return Result("tap", "all processes on any CPU", figures, notes)


def _started(tap: Sequence[str]) -> subprocess.Popen[bytes]:
    """Cat, tapped or not, that has been told Storm's first message and given it back."""
    process = subprocess.Popen([*tap, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    version = sides.rulebook().newest
    hello = wire.encode(context.handshake(sides.profile("spout"), version, {}, "/pids"), version)
    _there_and_back(process, hello)
    return process


def _there_and_back(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    os.write(process.stdin.fileno(), data)
    left = len(data)
    while left:
        left -= len(os.read(process.stdout.fileno(), left))


def _ended(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    if process.wait():
        raise UnmeasuredError(f"cat ended with {process.returncode}")


def _delay(tap: Sequence[str]) -> float:
    """Microseconds there and back, the median."""
    process = _started(tap)
    times = []
    for _ in range(WARM_UP + CALLS):
        start = time.perf_counter_ns()
        _there_and_back(process, _SYNC)
        times.append(time.perf_counter_ns() - start)
    _ended(process)
    return median(times[WARM_UP:]) / 1000


def _rate(tap: Sequence[str]) -> float:
    """Messages a second, read while they are written."""
    process = _started(tap)
    assert process.stdin is not None
    assert process.stdout is not None
    to, back = process.stdin.fileno(), process.stdout.fileno()
    os.set_blocking(to, False)
    block = _LOG * PAIRS
    unsent, left = memoryview(block * (MESSAGES // PAIRS)), len(block) * (MESSAGES // PAIRS)
    poller = select.poll()
    poller.register(back, select.POLLIN)
    poller.register(to, select.POLLOUT)
    start = time.perf_counter()
    while left:
        for fd, _ in poller.poll():
            if fd == back:
                left -= len(os.read(back, 1 << 16))
            else:
                unsent = unsent[os.write(to, unsent[: len(block)]) :]
                if not unsent:
                    poller.unregister(to)
    rate = MESSAGES / (time.perf_counter() - start)
    _ended(process)
    return rate
