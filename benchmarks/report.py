"""What `mlcheck report` and `diff` take: of a conversation of 100,000 events, and of a million beside `lint` of it.

``python -m benchmarks.report COMMAND...`` is one measured process.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import orjson

from benchmarks import sides
from benchmarks.measure import Figure, Result, interleaved
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

TUPLES, MANY = 25_000, 250_000
"""Each makes four events: the tuple, an emit, its task ids, an ack."""
WINDOW = 1_000
ROUNDS = 3
MIB = 1024 * 1024


def run() -> Result:
    """Measure a report, and what `report` and `diff` of a long recording take beside `lint`."""
    path, long, other = (sides.folder() / f"{name}.ndjson" for name in ("to-report", "long", "other"))
    page = path.with_suffix(".html")
    record(path, TUPLES)
    record(long, MANY)
    record(other, MANY)
    try:
        os.sched_setaffinity(0, sides.CPUS[:1])
        taken = interleaved(
            ROUNDS, {"page": lambda: used("report", path, "-o", page), "parsed": lambda: (parsed(path), 0.0)}
        )
        of_many = interleaved(
            ROUNDS,
            {
                "lint": lambda: used("lint", long),
                "report": lambda: used("report", long, "-o", page.with_stem("long")),
                "lint both": lambda: used("lint", long, other),
                "diff": lambda: used("diff", long, other),
            },
        )
    finally:
        sides.unplace()
    size, whole = (file.stat().st_size / MIB for file in (page, path))
    taken |= of_many
    seconds = {side: [each for each, _ in rounds] for side, rounds in taken.items()}
    peaks = {side: max(each for _, each in rounds) for side, rounds in taken.items()}
    figures = (
        _figure("page of 100,000 events", seconds["page"], "orjson.loads of each line", seconds["parsed"]),
        Figure(
            what="size of that page", value=size, unit="MiB", than="its transcript", reference=whole, better="lower"
        ),
        _figure("report of 10^6 events", seconds["report"], "lint of them", seconds["lint"], goal=3.0),
        _figure("diff of two such", seconds["diff"], "lint of both", seconds["lint both"], goal=3.0),
    )
    notes = (
        f"recorded from the echo bolt, {TUPLES:,} tuples, and {MANY:,}; medians of {ROUNDS} interleaved rounds",
        "from the start of the process to its end; peaks (VmHWM), MiB: "
        + ", ".join(f"{side} {peak:.0f}" for side, peak in peaks.items() if peak),
    )
    return Result("report", f"os.sched_setaffinity: all on CPU {sides.CPUS[0]}", figures, notes)


def _figure(what: str, seconds: list[float], than: str, references: list[float], goal: float | None = None) -> Figure:
    return Figure.of_rounds(what, seconds, than, references, unit="CPU s", better="lower", goal=goal)


def record(path: Path, tuples: int) -> None:
    """Record a conversation of so many tuples."""
    path.unlink(missing_ok=True)
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    with TranscriptWriter(path, Header(conv="1", profile=sides.profile("bolt"))) as writer:
        bolt = ShellBolt(sides.started([sides.compiled("echo_bolt")]), judge, (writer,))
        with bolt.session as session:
            sides.met(session, "any CPU")
            bolt.kept.keeps = False
            if not bolt.drive((sides.values(number) for number in range(tuples)), WINDOW, sides.LIMIT):
                raise RuntimeError("the bolt did not settle its tuples")


def used(*words: object) -> tuple[float, float]:
    """CPU seconds of a process that does a command, and its peak in MiB."""
    command = [sys.executable, "-m", "benchmarks.report", *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=sides.HERE.parent)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return float(seconds), float(peak)


def parsed(path: Path) -> float:
    """CPU seconds of orjson alone."""
    start = time.process_time()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.process_time() - start


def main(*words: str) -> None:
    """Do a command in this process, and print what it took."""
    if code := dispatch(list(words)):
        raise SystemExit(code)
    taken = resource.getrusage(resource.RUSAGE_SELF)
    # ru_maxrss would count what the parent had before exec.
    [peak] = re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    print(json.dumps([taken.ru_utime + taken.ru_stime, int(peak) / 1024]))


if __name__ == "__main__":
    main(*sys.argv[1:])
