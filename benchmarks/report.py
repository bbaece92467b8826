"""What `mlcheck report` takes for a conversation of 100,000 events: CPU time, memory, and the size of the page.

``python -m benchmarks.report TRANSCRIPT PAGE`` is one measured process.
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

TUPLES = 25_000
"""Each makes four events: the tuple, an emit, its task ids, an ack."""
WINDOW = 1_000
ROUNDS = 3
MIB = 1024 * 1024


def run() -> Result:
    """Measure a report."""
    path = sides.folder() / "to-report.ndjson"
    page = path.with_suffix(".html")
    record(path)
    try:
        os.sched_setaffinity(0, sides.CPUS[:1])
        taken = interleaved(ROUNDS, {"page": lambda: made(path, page), "parsed": lambda: (parsed(path), 0.0)})
    finally:
        sides.unplace()
    size, whole = (file.stat().st_size / MIB for file in (page, path))
    seconds, references = ([each for each, _ in taken[side]] for side in ("page", "parsed"))
    figures = (
        Figure.of_rounds(
            "page of 100,000 events", seconds, "orjson.loads of each line", references, unit="CPU s", better="lower"
        ),
        Figure(
            what="size of that page", value=size, unit="MiB", than="its transcript", reference=whole, better="lower"
        ),
    )
    peak = max(each for _, each in taken["page"])
    notes = (
        f"recorded from the echo bolt, {TUPLES:,} tuples; medians of {ROUNDS} interleaved rounds",
        f"from the start of the process to the page on disk; its peak (VmHWM) is {peak:.0f} MiB",
    )
    return Result("report", f"os.sched_setaffinity: both on CPU {sides.CPUS[0]}", figures, notes)


def record(path: Path) -> None:
    """Record a conversation of 100,000 events and a few."""
    path.unlink(missing_ok=True)
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    with TranscriptWriter(path, Header(conv="1", profile=sides.profile("bolt"))) as writer:
        bolt = ShellBolt(sides.started([sides.compiled("echo_bolt")]), judge, (writer,))
        with bolt.session as session:
            sides.met(session, "any CPU")
            bolt.kept.keeps = False
            if not bolt.drive((sides.values(number) for number in range(TUPLES)), WINDOW, sides.LIMIT):
                raise RuntimeError("the bolt did not settle its tuples")


def made(path: Path, page: Path) -> tuple[float, float]:
    """CPU seconds of a process that makes the page, and its peak in MiB."""
    command = [sys.executable, "-m", "benchmarks.report", str(path), str(page)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=sides.HERE.parent)
    seconds, peak = json.loads(done.stdout)
    return float(seconds), float(peak)


def parsed(path: Path) -> float:
    """CPU seconds of orjson alone."""
    start = time.process_time()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.process_time() - start


def main(transcript: str, page: str) -> None:
    """Make the page in this process, and print what it took."""
    if code := dispatch(["report", transcript, "-o", page]):
        raise SystemExit(code)
    used = resource.getrusage(resource.RUSAGE_SELF)
    # ru_maxrss would count what the parent had before exec.
    [peak] = re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    print(json.dumps([used.ru_utime + used.ru_stime, int(peak) / 1024]))


if __name__ == "__main__":
    main(*sys.argv[1:])
