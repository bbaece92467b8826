"""``python -m benchmarks.faults``: seeded faults in every workload; correct components must lose nothing by any.

Each run draws its faults from its number. What is counted is what no checker may say of correct components: fail or
warn. A fault that found nothing left to strike makes a run inconclusive: each of those is told with its reason.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.options import parser_of
from tests.topologies.workloads import RELIABLE, run_workload


def main() -> int:
    """Run the soak; 1 if anything was lost, or something else did not hold."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs in all, the workloads in turn")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--faults", type=int, default=2, help="faults a run")
    parser.add_argument("--only", default="", help="one workload")
    chosen = parser.parse_args()
    names = [name for name in RELIABLE if chosen.only in ("", name)]
    verdicts: Counter[str] = Counter()
    struck: Counter[str] = Counter()
    began = time.monotonic()
    for seed in range(chosen.first, chosen.first + chosen.runs):
        name = names[seed % len(names)]
        with tempfile.TemporaryDirectory() as folder:
            ran = run_workload(name, Path(folder), [f"random:{chosen.faults}"], seed)
        verdicts[ran.result.verdict] += 1
        struck.update(fault.split(":")[0] for fault in ran.struck())
        if ran.result.verdict == "not-conformant" or "warn" in ran.held().values():
            wrong = [f"{each.id}: {each.reason}" for each in ran.result.subjects if each.verdict in ("fail", "warn")]
            print(f"seed {seed}, {name}, {', '.join(ran.struck())}: {'; '.join(wrong)}", flush=True)
        elif ran.result.verdict != "conformant":
            why = [f"{each.id}: {each.reason}" for each in ran.result.subjects if each.verdict == "untestable"]
            print(f"seed {seed}, {name}: {ran.result.verdict}: {'; '.join([*why, *ran.result.notes])}", flush=True)
    print(f"{chosen.runs} runs in {time.monotonic() - began:.0f} s: {dict(verdicts)}")
    print(f"faults that struck: {dict(struck.most_common())}")
    return int(verdicts["not-conformant"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
