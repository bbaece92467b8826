"""Compares verdicts: ``oracle/compare.py FILE [RECORDED...]``, by default with those of conformance/oracle.

What chance decides is left out: which task a shuffle chose, how many heartbeats there was time for, when Storm looked
at stderr and at the exit code. Prints each difference and a count a version; returns 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "conformance" / "oracle"
RECORDED = (DATA / "verdicts.json", DATA / "more-verdicts.json")
CHANCE = (
    (r"(?s)Serializer Exception:\n.*", "Serializer Exception:"),
    (r"exitCode:-?\d+, errorString: .*", "exitCode:"),
    (r"\.\.\.\(\d+ chars\)$", "..."),
)
"""What chance puts into errors: the stderr that had come by then, whether the process was reaped, how far a pool's
shutdown had got when its state was printed (and so the length of a text that was cut)."""


def stable(verdict: dict[str, Any]) -> dict[str, Any]:
    """The part of a verdict that is the same each time."""
    kept: dict[str, Any] = json.loads(json.dumps(verdict))
    kept["events"] = [event for event in kept["events"] if event["t"] != "stderr"]
    for event in kept["events"]:
        if "to" in event:
            event["to"] = len(event["to"])
        if event["t"] == "error":
            event["error"] = list(map(_without_chance, event["error"]))
    if "error" in kept:
        kept["error"] = list(map(_without_chance, kept["error"]))
    if kept.get("how") in ("thrown from prepare", "thrown from open"):
        # What stands before the error is the component's pid, of so many digits.
        kept["error"] = [re.sub(r" position \d+", " position", text) for text in kept["error"]]
    received = [len(item) if isinstance(item, list) else item for item in kept["received"]]
    kept["received"] = [item for item, run in groupby(received) for _ in ([0] if item == "heartbeat" else run)]
    return kept


def _without_chance(text: str) -> str:
    for pattern, instead in CHANCE:
        text = re.sub(pattern, instead, text)
    return text


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """A paragraph for each part of two verdicts that differs."""
    left, right = stable(ours), stable(theirs)
    return [
        f"{key}\n  is  {json.dumps(left.get(key))}\n  was {json.dumps(right.get(key))}"
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    ]


def main() -> int:
    """Run the command line; 0 if nothing differs, 1 if something does, 2 if a file can't be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, metavar="FILE", help="verdicts")
    parser.add_argument("recorded", type=Path, nargs="*", default=RECORDED, metavar="RECORDED", help="other verdicts")
    options = parser.parse_args()
    try:
        ours, *others = (json.loads(path.read_text(encoding="utf-8")) for path in (options.file, *options.recorded))
    except (OSError, json.JSONDecodeError) as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2
    theirs = {case: verdicts for other in others for case, verdicts in other.items()}
    compared, same = Counter[str](), Counter[str]()
    for name, version in [(case, version) for case, versions in ours.items() for version in versions]:
        if version in theirs.get(name, {}):
            found = differences(ours[name][version], theirs[name][version])
            compared[version] += 1
            same[version] += not found
            sys.stdout.writelines(f"{name} on {version}: {difference}\n" for difference in found)
    sys.stdout.writelines(
        f"{version}: {same[version]} of {count} verdicts agree\n" for version, count in compared.items()
    )
    return 0 if compared == same else 1


if __name__ == "__main__":
    sys.exit(main())
