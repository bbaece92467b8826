"""How long a spout's next takes until its sync is judged, against a bare write and read with the same spout."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from statistics import quantiles
from typing import TYPE_CHECKING

from benchmarks import sides
from benchmarks.measure import Figure, Result, interleaved
from benchmarks.storm import VERSION, real_storm
from multilang_cli.driver.process import private_pid_dir
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.wire import encoding as wire

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = 5_000
WARM_UP = 500
ROUNDS = 5
STORM_WARM_UP = 50_000
"""Calls until the JVM has compiled what is hot."""
_NEXT = b'{"id":"","command":"next"}\nend\n'
_NO_SLEEP = "next-never-sleeps"
"""What is rightly found: this spout is to be quick."""
_PERCENTILES = {"p50": 49, "p90": 89, "p99": 98}


def run() -> Result:
    """Measure the round trip of next."""
    try:
        with real_storm("spout", sides.compiled("idle_spout")) as real:
            real.calls(STORM_WARM_UP, "any CPU")
            taken = interleaved(
                ROUNDS,
                {"raw": raw, "storm": lambda: _percentiles(real.calls(WARM_UP + CALLS, "one CPU")), "judged": judged},
            )
    finally:
        sides.unplace()
    notes = (
        f"{CALLS} calls a round, percentiles of a round; medians of {ROUNDS} interleaved rounds",
        f"the JVM is warm: {STORM_WARM_UP} calls before",
        "write and read alone: Python, os.write and os.read on blocking pipes, the same spout, nothing looked at",
    )
    return Result("round-trip", sides.told("one CPU"), tuple(_figures(taken)), notes)


def _figures(taken: dict[str, list[list[float]]]) -> Iterator[Figure]:
    for name, index in _PERCENTILES.items():
        times = {side: [round_[index] for round_ in rounds] for side, rounds in taken.items()}
        for than, reference, goal in (
            ("write and read alone", "raw", 2.5),
            (f"the real ShellSpout {VERSION}", "storm", 1.5),
        ):
            yield Figure.of_rounds(
                f"next -> sync, judged, {name}",
                times["judged"],
                than,
                times[reference],
                unit="µs",
                better="lower",
                goal=goal if name != "p90" else None,
            )


def judged() -> list[float]:
    """The percentiles of `ShellSpout.call`, in microseconds."""
    judge = Conversation(sides.profile("spout"), sides.rulebook())
    spout = ShellSpout(sides.started([sides.compiled("idle_spout")]), judge)
    with spout.session as session:
        sides.met(session, "one CPU")
        times = []
        for _ in range(WARM_UP + CALLS):
            start = time.perf_counter_ns()
            if not spout.call("next", limit=sides.LIMIT):
                raise RuntimeError("the spout did not answer")
            times.append(time.perf_counter_ns() - start)
        if any(finding.rule != _NO_SLEEP for finding in session.findings):
            raise RuntimeError(f"the spout has findings: {session.findings[:3]}")
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
