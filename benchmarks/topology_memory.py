"""``python -m benchmarks.topology_memory [TUPLES]``: our memory while so many tuples go through three stages in C.

Prints the resident memory at each tenth of the way, the most there ever was once the run is judged too, and the slope:
bytes a tuple over the second half. Transcripts and the history are written, as they usually are. Default: 1,000,000.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.ours import run
from multilang_cli.topology.history import Delivered

if TYPE_CHECKING:
    from multilang_cli.topology.history import Happening

PAGE = os.sysconf("SC_PAGE_SIZE")
KIB = 1024
TUPLES_A_SENTENCE = 7.4
"""The sentence, and its words: 6.4 on average."""
PARTS = 10


def resident() -> int:
    """Bytes of memory that we hold now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE


def main(tuples: int) -> None:
    """Run, and print."""
    points: list[tuple[int, int]] = []

    def listen(event: Happening) -> None:
        if isinstance(event, Delivered) and event.n % (tuples // PARTS) == 0:
            points.append((event.n, resident()))
            print(f"{points[-1][0]:>9,} tuples  {points[-1][1] / KIB:>9,.0f} KiB", flush=True)

    with tempfile.TemporaryDirectory(prefix="mlcheck-benchmarks-") as folder:
        ran = run("C", int(tuples / TUPLES_A_SENTENCE) + 1, Path(folder), lambda _: listen)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"   judged as well  {most:>9,} KiB at most")
    (middle, before), (last, after) = points[len(points) // 2 - 1], points[-1]
    print(f"{(after - before) / (last - middle):.2f} bytes a tuple over the second half; {ran.result.verdict}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
