"""Agreement of mlcheck with the recorded Storm: every script on every version."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import oracle_cases, oracle_verdicts, recorded_events
from multilang_cli.protocol.words.rulebook import covers
from tests.agreement.playing import PlayedScript, play, same_events

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.verdicts import Effect, Rule

KNOWN: dict[str, str] = {}
"""Scripts on which mlcheck and Storm are known to differ, on some version at least, and where mlcheck falls short."""
OF_STORM = frozenset({"heartbeat-timeout", "ackers-zero", "reactivation"})
"""Rules about what some versions do of themselves: on the others there is nothing to be found."""
EACH = 10
"""Of so many scripts on which the versions agree, one is played on all of them in a sample."""
SCRIPTS_AT_ONCE = 4
"""Scripts played at the same time: most of their time is waiting."""


def pairs(names: Iterable[str] = ()) -> list[tuple[str, str]]:
    """The named scripts, or all, each with every version that was recorded."""
    wanted = list(names) or list(oracle_cases())
    return [(name, version) for name in wanted for version in oracle_verdicts()[name]]


def sample() -> list[tuple[str, str]]:
    """Every script on the newest version, and on each older one if Storm does something else there; and some more."""
    chosen = []
    for number, (name, verdicts) in enumerate(oracle_verdicts().items()):
        before: Any = None
        for version, verdict in verdicts.items():
            now = [verdict["verdict"], [event["t"] for event in recorded_events(verdict)]]
            if now != before or number % EACH == 0:
                chosen.append((name, version))
            before = now
    return list(dict.fromkeys(chosen + _shown()))


def _shown() -> list[tuple[str, str]]:
    """The scripts that show an effect of a rule, on the newest version of those that it is about."""
    book = load_rulebook()
    newest_first = [version.id for version in reversed(book.versions) if version.verified]
    return [
        (case, next(version for version in newest_first if covers(effect.versions, version)))
        for rule in book.rules.values()
        for effect in rule.effects
        for case in effect.confirmed_by
    ]


def play_all(jobs: Iterable[tuple[str, str]]) -> list[PlayedScript]:
    """Play scripts on versions: some four minutes for all of them. What differs is played again, alone.

    In some scripts a tenth of a second decides, as it does in Storm: whether one ack more comes before a timeout.
    """
    with ThreadPoolExecutor(SCRIPTS_AT_ONCE) as pool:
        played = list(pool.map(lambda job: play(*job), jobs))
    return [row if row.agrees else play(row.case, row.version) for row in played]


def table(played: Iterable[PlayedScript]) -> str:
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


def differences(played: Iterable[PlayedScript]) -> str:
    """Each disagreement that is not known, with both sides, for people."""
    return "\n".join(
        f"{row.case} on {row.version}: mlcheck says {row.predicted}, Storm {row.actual}\n"
        f"  mlcheck: {row.told} {row.sent}\n  Storm:   {row.events} {row.received}"
        for row in played
        if not row.agrees and row.case not in KNOWN
    )


def unseen(played: Iterable[PlayedScript]) -> list[tuple[str, str, str]]:
    """Scripts that are to show a rule, and in which the judge does not find it: rule, script, version."""
    missing = []
    for row in played:
        for rule in load_rulebook().rules.values():
            told = [e for e in rule.effects if row.case in e.confirmed_by and covers(e.versions, row.version)]
            if rule.id in row.rules or all(_is_nothing(rule, effect) for effect in told):
                continue
            missing.append((rule.id, row.case, row.version))
    return missing


def _is_nothing(rule: Rule, effect: Effect) -> bool:
    return rule.id in OF_STORM and effect.fate == "survives"
