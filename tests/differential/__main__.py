"""``python -m tests.differential``: plays random outputs to real Storm and to mlcheck, and says where they differ."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.differential.sides import ORACLE, OracleError
from tests.differential.soak import PORTION, Portion, Sides, keep, play, shrunk


def main() -> int:
    """Run the soak; 1 if there is a difference that is not known, 2 if real Storm could not be asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--storm", default="2.8.3", metavar="VERSION", help="the Storm version (default: 2.8.3)")
    parser.add_argument("--seed", type=int, default=1, help="of the first portion; the others follow (default: 1)")
    parser.add_argument("--count", type=int, default=PORTION, help=f"outputs to play (default: {PORTION})")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (default: 1)")
    parser.add_argument("--oracle", type=Path, default=ORACLE, metavar="FILE", help="the oracle's run.py")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="shrink what differs, and keep it there as cases")
    chosen = parser.parse_args()
    sides = Sides(chosen.storm, chosen.jobs, chosen.oracle)
    try:
        return soak(sides, chosen.seed, chosen.count, chosen.keep)
    except OracleError as failure:
        sys.stderr.write(f"{failure}\n")
        return 2


def soak(sides: Sides, seed: int, count: int, folder: Path | None) -> int:
    """Play portions until `count` outputs are played."""
    total: Counter[str] = Counter()
    known: Counter[str] = Counter()
    played = 0
    while played < count:
        began = time.monotonic()
        portion = play(seed, min(PORTION, count - played), sides)
        tell(portion, time.monotonic() - began)
        if folder is not None and portion.differences:
            tell_shrunk(portion, sides, folder, set(total))
        total.update(difference.signature for difference in portion.differences)
        known += portion.known
        played += portion.outputs
        seed += 1
    say(f"Storm {sides.version}: {played} outputs, {total.total()} differences, {known.total()} known")
    for signature, times in total.most_common():
        say(f"{times:>6} {signature}")
    for reason, times in known.most_common():
        say(f"{times:>6} known: {reason}")
    return 1 if total else 0


def tell(portion: Portion, seconds: float) -> None:
    """Print what a portion gave, with an example of each signature."""
    verdicts = ", ".join(f"{times} {verdict}" for verdict, times in sorted(portion.verdicts.items()))
    counts = (
        f"{portion.outputs} outputs, {len(portion.scripts)} scripts ({verdicts}), {len(portion.differences)} differ"
    )
    say(f"seed {portion.seed}: {counts}, {seconds:.0f} s")
    for difference in portion.distinct.values():
        say(f"{difference}\n  {difference.case}: {b' | '.join(portion.said(difference))!r}")


def tell_shrunk(portion: Portion, sides: Sides, folder: Path, before: set[str]) -> None:
    """Shrink the differences, print what is left of them and keep it."""
    differences, cases, verdicts = shrunk(portion, sides, before)
    keep(folder, cases, verdicts, sides.version)
    small = {case["case"]: [step for step in case["steps"] if "mark-" not in str(step)] for case in cases}
    for difference in differences:
        say(f"shrunk: {difference}\n  {difference.case}: {small[difference.case]}")


def say(text: str) -> None:
    """A line for people, at once; what can't be shown is escaped."""
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
