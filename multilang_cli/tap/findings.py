"""Findings of one conversation and their causes, as lines of the tap's log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from multilang_cli.catalogue.diagnosing import RecentEvents
from multilang_cli.reports.grouping import in_a_sentence
from multilang_cli.reports.verdict import FATE_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding, Profile
    from multilang_cli.tap.log import TapLog

MOST_FINDINGS = 10_000
"""Findings of one conversation that are logged; of more, the number is told."""
MOST_MET = 100
"""Findings whose causes are looked for together: the last ones."""
MOST_LOOKS = 50
"""Times that causes are looked for in one conversation."""


class FindingLog:
    """Logs findings, and each of their causes once. `levels` and `rules`: how many there were of each.

    `begin` comes first, and again where the judge begins anew.
    """

    def __init__(self, log: TapLog) -> None:
        self.levels: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self._log = log
        self._recent: RecentEvents | None = None
        self._met: list[Finding] = []
        self._named: set[str] = set()
        self._looks = 0

    def begin(self, profile: Profile, rulebook: Rulebook, command: Sequence[str]) -> None:
        """Forget the events and findings so far: causes are looked for in what follows."""
        self._recent, self._met = RecentEvents(profile, rulebook, command), []

    def report(self, found: Sequence[Finding], storm: str) -> None:
        """Log findings, with what that version of Storm does about them."""
        for finding in found:
            self.levels[finding.level] += 1
            self.rules[finding.rule] += 1
            if self.levels.total() > MOST_FINDINGS:
                continue
            fate = f"Storm {storm}: {FATE_WORDS[finding.fates.get(storm, 'unknown')]}"
            self._log.line(f"{finding.level} {finding.rule} at {finding.seq}: {finding.message} ({fate})")
            if self.levels.total() == MOST_FINDINGS:
                self._log.line("more findings are counted, not listed")

    def name_causes(self, events: Sequence[Event], found: Sequence[Finding]) -> None:
        """Log the causes of what was found in `events`, with the command that explains each."""
        if self._recent is None:
            return
        self._recent.take(events)
        new = [finding for finding in found if finding.level != "note"]
        if not new or self._looks == MOST_LOOKS:
            return
        self._looks += 1
        self._met = [*self._met, *new][-MOST_MET:]
        for cause in self._recent.causes(self._met):
            if cause.id not in self._named:
                self._named.add(cause.id)
                self._log.line(f"cause {cause.id}: {in_a_sentence(cause)}; mlcheck explain {cause.id}")
