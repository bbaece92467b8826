"""``python -m benchmarks [NAME...] [--json PATH]``: measure, and print each figure with what it is compared to."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchmarks import (
    audit,
    first_row,
    kafka,
    lint,
    memory,
    repl,
    replay,
    report,
    round_trip,
    start_up,
    suite,
    tap,
    throughput,
    topology,
)
from benchmarks.measure import UnmeasuredError
from benchmarks.options import names_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measure import Figure, Result

BENCHMARKS: dict[str, Callable[[], Result]] = {
    "throughput": throughput.run,
    "round-trip": round_trip.run,
    "lint": lint.run,
    "report": report.run,
    "first-row": first_row.run,
    "start-up": start_up.run,
    "memory": memory.run,
    "suite": suite.run,
    "library": suite.library,
    "tap": tap.run,
    "repl": repl.run,
    "replay": replay.run,
    "kafka": kafka.run,
    "audit": audit.run,
    "topology": topology.run,
}

_WHOLE = 1000
"""From here on a number is shown without a fraction."""


def main() -> int:
    """Run the chosen benchmarks; 0 whatever they find, since a busy machine is no fault; 2 if one can't be run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure mlcheck: ratios of one run.")
    parser.add_argument("--json", metavar="PATH", type=Path, help="write the results to PATH as well")
    names = names_of(parser, BENCHMARKS)
    chosen = parser.parse_args()
    results = []
    try:
        for name in names:
            results.append(BENCHMARKS[name]())
            _show(results[-1])
    except UnmeasuredError as error:
        sys.stderr.write(f"benchmarks: {error}\n")
        return 2
    if chosen.json:
        chosen.json.write_bytes(msgspec.json.format(msgspec.json.encode([_plain(result) for result in results])))
    return 0


def _show(result: Result) -> None:
    print(f"{result.name}  ({result.placed})")
    rows = [("what", "mlcheck", "reference", "", "ratio", "goal", "reached"), *map(_row, result.figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for note in result.notes:
        print(f"  - {note}")
    print(f"  - Python {platform.python_version()} of {Path(sys.executable).resolve()}")
    print(f"  - load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs, ours included")
    print(flush=True)


def _row(figure: Figure) -> tuple[str, ...]:
    sign = ">=" if figure.better == "higher" else "<="
    goal = "" if figure.goal is None else f"{sign} {figure.goal:g}"
    return (
        figure.what,
        f"{_number(figure.value)} {figure.unit}",
        f"{_number(figure.reference)} {figure.unit}",
        figure.than,
        _number(figure.ratio),
        goal if figure.stretch is None else f"{goal} ({figure.stretch:g})",
        {None: "", True: "yes", False: "no"}[figure.met],
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"


def _plain(result: Result) -> dict[str, object]:
    figures = [{**msgspec.structs.asdict(f), "ratio": f.ratio, "met": f.met} for f in result.figures]
    return {**msgspec.structs.asdict(result), "figures": figures}


if __name__ == "__main__":
    sys.exit(main())
