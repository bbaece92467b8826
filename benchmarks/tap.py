"""How much later a message arrives through the tap, against the same pipe through cat; and how many get through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import NamedTuple

from benchmarks import sides
from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.wire import encoding as wire

CALLS = 4_000
WARM_UP = 1_000
MESSAGES = 200_000
ROUNDS = 5
RATE = 50_000
"""Messages a second that have to get through, each written by itself."""
SECONDS = 4
GOAL = 50.0
"""Microseconds that the tap may add to a message."""
LAST = 60.0
"""Seconds that a recorder may take after the end, before we give up."""
_SYNC = b'{"command":"sync"}\nend\n'
_LOG = b'{"command":"log","msg":"snow white and the seven dwarfs","level":2}\nend\n'
_WRITER = """
import os, sys, time
message, count, rate = sys.argv[1].encode(), int(sys.argv[2]), int(sys.argv[3])
start, clock, write = time.perf_counter(), time.perf_counter, os.write
for number in range(count):
    write(1, message)
    while rate and clock() - start < number / rate:
        pass
"""
"""Writes a message so often, each by itself, so many a second; 0: as fast as it goes."""


class _Flow(NamedTuple):
    """Messages a second from the first to the last; how many of them were recorded, and how many seconds behind."""

    rate: float
    recorded: int
    late: float


def run() -> Result:
    """Measure the tap, with judge and recording on, as a user starts it."""
    latency = interleaved(ROUNDS, {"cat": partial(_delay, tapped=False), "tap": partial(_delay, tapped=True)})
    rates = interleaved(2, {"cat": partial(_flow, 0, tapped=False), "tap": partial(_flow, 0, tapped=True)})
    paced = _flow(RATE, tapped=True)
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
            what="messages there and back, each written by itself",
            value=median(flow.rate for flow in rates["tap"]),
            unit="/s",
            than=f"at least {RATE} a second",
            reference=RATE,
            better="higher",
            goal=1.0,
        ),
        Figure(
            what=f"of those recorded, at {RATE} a second for {SECONDS} s",
            value=paced.recorded,
            unit="",
            than="all that passed, both ways",
            reference=2 * RATE * SECONDS,
            better="higher",
            goal=1.0,
        ),
    )
    plain, tapped = median(latency["cat"]), median(latency["tap"])
    notes = (
        f"there and back: {plain:.1f} µs through cat, {tapped:.1f} µs with the tap; half the difference is one way",
        f"medians of {ROUNDS} interleaved rounds of {CALLS} messages, one in flight, judge and ring on",
        f"cat alone moves {median(flow.rate for flow in rates['cat']):,.0f} messages of {len(_LOG)} bytes a second",
        f"written at {RATE} a second, they came back at {paced.rate:,.0f}; the recorder was {paced.late:.1f} s late",
    )
    return Result("tap", "all processes on any CPU", figures, notes)


def _started(folder: Path | None) -> subprocess.Popen[bytes]:
    """Cat, tapped if there is a folder for that, that has been told Storm's first message and given it back."""
    mlcheck = str(Path(sys.executable).parent / "mlcheck")
    tap = [] if folder is None else [mlcheck, "tap", "--record", str(folder), "--kind", "spout", "--"]
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


def _folder(*, tapped: bool) -> Path | None:
    return Path(mkdtemp(dir=sides.folder())) if tapped else None


def _delay(*, tapped: bool) -> float:
    """Microseconds there and back, the median."""
    process = _started(_folder(tapped=tapped))
    times = []
    for _ in range(WARM_UP + CALLS):
        start = time.perf_counter_ns()
        _there_and_back(process, _SYNC)
        times.append(time.perf_counter_ns() - start)
    _ended(process)
    return median(times[WARM_UP:]) / 1000


def _flow(rate: int, *, tapped: bool) -> _Flow:
    """Messages one by one, at `rate` a second or, for 0, as fast as they go, read while they are written."""
    folder = _folder(tapped=tapped)
    process = _started(folder)
    assert process.stdout is not None
    count = rate * SECONDS or MESSAGES
    left = len(_LOG) * count
    writer = [sys.executable, "-I", "-S", "-c", _WRITER, _LOG.decode(), str(count), str(rate)]
    with subprocess.Popen(writer, stdout=process.stdin):
        left -= len(os.read(process.stdout.fileno(), left))
        start = time.perf_counter()
        while left:
            left -= len(os.read(process.stdout.fileno(), min(left, 1 << 16)))
        took = time.perf_counter() - start
    _ended(process)
    end = time.perf_counter()
    recorded = 0 if folder is None else _recorded(folder)
    return _Flow(count / took, recorded, time.perf_counter() - end)


def _recorded(folder: Path) -> int:
    """Messages both ways that the recorder has, beside the first, once it has ended."""
    until, messages = time.perf_counter() + LAST, 0
    while time.perf_counter() < until:
        for path in folder.glob("*.status.json"):
            status = json.loads(path.read_bytes())
            if status["state"] == "ended":
                messages = sum(status["messages"].values())
                return messages - 2
        time.sleep(0.01)
    raise UnmeasuredError(f"the recorder did not end in {LAST:g} s")
