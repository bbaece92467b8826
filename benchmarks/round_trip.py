"""How long a spout's next takes until its sync is judged, against a bare write and read with the same spout."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from statistics import median, quantiles

from benchmarks import sides
from benchmarks.measure import Figure, Result, interleaved
from multilang_cli.host.process import private_pid_dir
from multilang_cli.host.shell_spout import ShellSpout
from multilang_cli.protocol import context, wire
from multilang_cli.protocol.conversation import Conversation

CALLS = 5_000
WARM_UP = 500
ROUNDS = 5
STORM = 25.0
"""Microseconds of the real ShellSpout 2.8.3, median, on another machine of this kind."""
_NEXT = b'{"id":"","command":"next"}\nend\n'
_PERCENTILES = {"p50": 49, "p90": 89, "p99": 98}


def run() -> Result:
    """Measure the round trip of next."""
    try:
        taken = interleaved(ROUNDS, {"raw": raw, "judged": judged})
    finally:
        sides.unplace()
    figures = []
    for name, index in _PERCENTILES.items():
        bare, ours = (median(times[index] for times in taken[side]) for side in ("raw", "judged"))
        figures.append(
            Figure(
                what=f"next -> sync, judged, {name}",
                value=ours,
                unit="µs",
                than="write and read alone",
                reference=bare,
                better="lower",
                goal=2.5 if name == "p50" else None,
            )
        )
        if name == "p50":
            storm = Figure(
                what="next -> sync, judged, p50",
                value=ours,
                unit="µs",
                than="the real ShellSpout 2.8.3",
                reference=STORM,
                better="lower",
                goal=1.0,
                elsewhere=True,
            )
    notes = (
        f"{CALLS} calls a round, percentiles of a round, median of {ROUNDS} interleaved rounds",
        "write and read alone: Python, os.write and os.read on blocking pipes, the same spout, nothing looked at",
    )
    return Result("round-trip", sides.told("one CPU"), (*figures, storm), notes)


def judged() -> list[float]:
    """The percentiles of `ShellSpout.call`, in microseconds."""
    judge = Conversation(sides.profile("spout"), sides.rulebook())
    with ShellSpout(sides.started([sides.compiled("idle_spout")]), judge) as spout:
        sides.met(spout, "one CPU")
        times = []
        for _ in range(WARM_UP + CALLS):
            start = time.perf_counter_ns()
            if not spout.call("next", limit=sides.LIMIT):
                raise RuntimeError("the spout did not answer")
            times.append(time.perf_counter_ns() - start)
        if spout.findings:
            raise RuntimeError(f"the spout has findings: {spout.findings[:3]}")
    return _percentiles(times)


def raw() -> list[float]:
    """The percentiles of a write of next and a read of sync."""
    profile, folder = sides.profile("spout"), private_pid_dir()
    version = sides.rulebook().newest
    hello = wire.encode(context.handshake(profile, version, {}, str(folder)), version)
    program = sides.compiled("idle_spout")
    try:
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            sides.place(process.pid, "one CPU")
            to, back = process.stdin.fileno(), process.stdout.fileno()
            os.write(to, hello)
            os.read(back, 65536)
            times = []
            for _ in range(WARM_UP + CALLS):
                start = time.perf_counter_ns()
                os.write(to, _NEXT)
                os.read(back, 65536)
                times.append(time.perf_counter_ns() - start)
            process.stdin.close()
    finally:
        shutil.rmtree(folder)
    return _percentiles(times)


def _percentiles(times: list[int]) -> list[float]:
    return [each / 1000 for each in quantiles(times[WARM_UP:], n=100)]
