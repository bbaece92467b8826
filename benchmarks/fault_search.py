"""``python -m benchmarks.fault_search``: the search for faults finds each planted bug, and blames no correct topology.

Each of the planted topologies loses nothing undisturbed; one fault in the right place, or two, show its bug. A table
tells, by bug and seed, the seconds and plans that it took, and the smallest plan.
"""

from __future__ import annotations

import re
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.options import parser_of
from multilang_cli.topology.faults.plan_file import NAME, read_plan
from tests.topologies.searches import PLANTED, planted_topology, search
from tests.topologies.workloads import RELIABLE, search_workload

if TYPE_CHECKING:
    import argparse

SECONDS = 60.0
SEEDS = (1, 2, 3, 4, 5)


def main() -> int:
    """Search all; 1 if a bug was not found, or a correct topology was blamed."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each search")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="(default: 1 2 3 4 5)")
    parser.add_argument("--only", default="", help="bugs or workloads whose name has these words")
    parser.add_argument("--reliable", action="store_true", help="search correct topologies: nothing is found")
    parser.add_argument("-v", action="store_true", help="tell of each run")
    chosen = parser.parse_args()
    names = [name for name in (RELIABLE if chosen.reliable else PLANTED) if chosen.only in name]
    wrong = 0
    for name in names:
        for seed in chosen.seeds:
            with tempfile.TemporaryDirectory() as folder:
                found = _searched(name, Path(folder), chosen, seed)
            print(f"{name:40}  seed {seed}  {found or 'nothing found'}", flush=True)
            wrong += bool(found) is chosen.reliable
    searches = len(names) * len(chosen.seeds)
    print(f"{searches - wrong} of {searches} searches as they should be")
    return int(wrong > 0)


def _searched(name: str, folder: Path, chosen: argparse.Namespace, seed: int) -> str:
    """What was found, "" for nothing."""
    began = time.monotonic()
    if chosen.reliable:
        played = search_workload(name, folder, chosen.seconds, seed, quiet=not chosen.v)
    else:
        make = partial(planted_topology, PLANTED[name])
        played = search(make, folder, chosen.seconds, seed, quiet=not chosen.v)
    note = played.run.result.notes[0]
    if not (folder / NAME).exists():
        return note if chosen.reliable and "nothing was broken" not in note else ""
    plan = read_plan(folder / NAME)
    match = re.search(r"plan (\d+), after (\d+) s", note)
    after = f"plan {match[1]}, {match[2]} s" if match else note
    whole = f"{time.monotonic() - began:.0f} s with shrinking"
    return f"{after} ({whole}): {' '.join(plan.faults)}, {plan.times} of {plan.runs}: {plan.broke[0].id}"


if __name__ == "__main__":
    raise SystemExit(main())
