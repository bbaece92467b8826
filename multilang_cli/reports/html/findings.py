"""Findings with all that explains them, and what each Storm version would have done, as a page shows them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.written import clause_of
from multilang_cli.protocol.words.verdicts import FATAL
from multilang_cli.reports.escape import escape, escape_lines, fit
from multilang_cli.reports.grouping import fates_of
from multilang_cli.reports.html.document import PinnedFate, PinnedFinding, VersionOutlook
from multilang_cli.reports.verdict import FATE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Fate, Finding, Outlook

_MESSAGE = 2_000
_SENTENCES: dict[Fate, str] = {
    "survives": "goes on",
    "ignored": "ignores it and goes on",
    "loses-data": "loses data",
    "fails-tuple": "fails a tuple",
    "hangs": "hangs",
    "dies": "would have killed the worker",
    "unknown": "does something that is not known",
}


class Explainer:
    """Explains findings by the rulebook, for those that were judged for the version `storm`."""

    def __init__(self, rulebook: Rulebook, storm: str) -> None:
        known = storm in {version.id for version in rulebook.versions}
        self._rulebook = rulebook if known or not storm else load_rulebook(storm)
        self.storm = self._rulebook.version(storm)

    def pinned(
        self, findings: Iterable[Finding], kept: Collection[int], clean: Callable[[str], str]
    ) -> tuple[PinnedFinding, ...]:
        """The findings in the order of their events; `kept`: the events that are shown; `clean` hides secrets."""
        return tuple(self._pinned(finding, kept, clean) for finding in sorted(findings, key=lambda each: each.seq))

    def _pinned(self, finding: Finding, kept: Collection[int], clean: Callable[[str], str]) -> PinnedFinding:
        rule = self._rulebook.rules.get(finding.rule)
        clause = clause_of(rule.clause) if rule else None
        return PinnedFinding(
            seq=finding.seq if finding.seq in kept else None,
            rule=finding.rule,
            title=escape(rule.title) if rule else finding.rule,
            level=finding.level,
            message=fit(clean(finding.message), _MESSAGE).text,
            related=tuple(seq for seq in finding.related if seq in kept),
            clause=escape(clause.text.strip().replace("\n", " ")) if clause else "",
            source=escape(clause.source) if clause else "",
            why=escape_lines(rule.why.strip()) if rule else "",
            mend=escape_lines(rule.mend.strip()) if rule else "",
            fates=self._fates_of(finding, clean),
        )

    def _fates_of(self, finding: Finding, clean: Callable[[str], str]) -> tuple[PinnedFate, ...]:
        return tuple(
            PinnedFate(
                versions=ranges(group.versions, self._rulebook),
                fate=group.fate,
                error=fit(clean(group.error), _MESSAGE).text,
            )
            for group in fates_of(finding.fates, finding.errors)
        )

    def outlooks(self, outlooks: Iterable[Outlook], kept: Collection[int]) -> tuple[VersionOutlook, ...]:
        """Fates on each verified version, and the one that it was judged for; the oldest first."""
        wanted = {version.id for version in self._rulebook.versions if version.verified} | {self.storm.id}
        return tuple(self._outlook(outlook, kept) for outlook in outlooks if outlook.version in wanted)

    def _outlook(self, outlook: Outlook, kept: Collection[int]) -> VersionOutlook:
        sentence = f"Storm {outlook.version} {_SENTENCES[outlook.fate]}"
        if outlook.seq is not None:
            sentence += f"{' at' if outlook.fate in FATAL else ', first at'} event {outlook.seq}"
        rule = self._rulebook.rules.get(outlook.rule or "")
        if rule is not None:
            sentence += f": {rule.title} ({rule.id})"
        return VersionOutlook(
            version=outlook.version,
            fate=outlook.fate,
            seq=outlook.seq if outlook.seq in kept else None,
            sentence=escape(f"{sentence}."),
        )


def ranges(versions: Sequence[str], rulebook: Rulebook) -> str:
    """Versions in words, the oldest first: ``0.9.7 to 2.5.0, 2.8.3``."""
    order = [version.id for version in rulebook.versions]
    places = sorted(order.index(version) for version in versions if version in order)
    shown = []
    for _, run in groupby(enumerate(places), key=lambda each: each[1] - each[0]):
        found = [place for _, place in run]
        first, last = order[found[0]], order[found[-1]]
        shown.append(first if len(found) == 1 else f"{first} to {last}")
    return ", ".join(shown)


def worst_in_words(outlooks: Sequence[VersionOutlook]) -> str:
    """The versions by what they would have done: ``2.8.3: worker dies; 0.9.7, 1.2.4: goes on``."""
    found: dict[Fate, list[str]] = {}
    for outlook in outlooks:
        found.setdefault(outlook.fate, []).append(outlook.version)
    return "; ".join(f"{', '.join(versions)}: {FATE_WORDS[fate]}" for fate, versions in found.items())
