"""``python -m tests.agreement [NAME...]``: every script, or these, on every version that was recorded."""

from __future__ import annotations

import sys

from tests.agreement.comparing import KNOWN, differences, pairs, play_all, table, unseen


def main() -> int:
    """Print the table, and what differs. Returns 1 if anything does."""
    played = play_all(pairs(sys.argv[1:]))
    sys.stdout.write(table(played) + "\n")
    wrong = differences(played)
    sys.stdout.write(wrong + "\n" if wrong else "")
    unfound = unseen(played)
    sys.stdout.writelines(f"{case} on {version}: mlcheck does not find {rule}\n" for rule, case, version in unfound)
    known = sorted({row.case for row in played if not row.agrees} & KNOWN.keys())
    sys.stdout.writelines(f"known: {case}: {KNOWN[case]}\n" for case in known)
    return 1 if wrong or unfound else 0


sys.exit(main())
