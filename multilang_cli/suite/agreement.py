"""How far mlcheck and the recorded Storm agree: every script on every version.

``python -m multilang_cli.suite.agreement [NAME...]`` prints the table.
"""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from multilang_cli.suite.oracle import Played, oracle_cases, oracle_verdicts, play, same_events

if TYPE_CHECKING:
    from collections.abc import Iterable

AT_ONCE = 4
"""Scripts played at the same time: most of their time is waiting."""


def play_all(names: Iterable[str] = ()) -> list[Played]:
    """Play the named scripts, or all, on every version that was recorded: some 75 seconds for all of them."""
    wanted = list(names) or list(oracle_cases())
    jobs = [(name, version) for name in wanted for version in oracle_verdicts()[name]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda job: play(*job), jobs))


def table(played: Iterable[Played]) -> str:
    """The agreement as a table: a line a version, with the fates that Storm dealt out."""
    rows = list(played)
    lines = [f"{'Storm':<8}{'scripts':>8}{'fates':>8}{'events':>8}{'unknown':>9}   dies, hangs, loses-data, survives"]
    for version in dict.fromkeys(row.version for row in rows):
        mine = [row for row in rows if row.version == version]
        fates = Counter(row.actual for row in mine)
        counts = ", ".join(str(fates[fate]) for fate in ("dies", "hangs", "loses-data", "survives"))
        agreed = sum(row.predicted == row.actual for row in mine)
        events = sum(same_events(row.told, row.events) for row in mine)
        unknown = sum(row.predicted == "unknown" for row in mine)
        lines.append(f"{version:<8}{len(mine):>8}{agreed:>8}{events:>8}{unknown:>9}   {counts}")
    return "\n".join(lines)


def differences(played: Iterable[Played]) -> str:
    """Each disagreement with both sides, for people."""
    return "\n".join(
        f"{row.case} on {row.version}: mlcheck says {row.predicted}, Storm {row.actual}\n"
        f"  mlcheck: {row.told}\n  Storm:   {row.events}"
        for row in played
        if not row.agrees
    )


def main() -> int:
    """Print the table, and what differs. Returns 1 if anything does."""
    played = play_all(sys.argv[1:])
    sys.stdout.write(table(played) + "\n")
    wrong = differences(played)
    sys.stdout.write(wrong + "\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
