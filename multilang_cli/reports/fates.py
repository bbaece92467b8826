"""Fates of findings on any Storm release, also one between those that were judged. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.protocol.words.verdicts import FATAL, FATES
from multilang_cli.reports.verdict import HARMFUL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Fate, Finding, Rule
    from multilang_cli.reports.model import RunResult, SubjectResult

_UNJUDGED = frozenset({"untestable", "skip", "error"})
_JUST_ABOVE = ".0.0.1"


class Release(NamedTuple):
    """A release at which something may change: one that was played, or the border of an effect. `text`: for people."""

    version: Version
    text: str
    run: RunResult | None = None


class ReleaseOutcome(NamedTuple):
    """The end on a release: a key of ``storm_sentences.WORDS``. `causes`: rules if `by_rule`, else subjects."""

    how: str
    causes: tuple[str, ...] = ()
    by_rule: bool = True


class Fates:
    """Looks up fates, and keeps what it looked up."""

    def __init__(self, rulebook: Rulebook) -> None:
        self._rulebook = rulebook
        self._known: dict[tuple[str, str, frozenset[tuple[str, Fate]]], Fate | None] = {}

    def worst(self, run: RunResult, release: str) -> ReleaseOutcome | None:
        """The worst harm that `release` would do to the conversations of `run`, or that it runs; None: not known."""
        ends = [end for subject in run.subjects for end in self._ends(subject, release)]
        harm = [(fate, rule) for fate, rule in ends if fate is not None and fate in HARMFUL]
        if not harm:
            return None if any(fate is None for fate, _ in ends) else ReleaseOutcome("runs")
        worst = max((fate for fate, _ in harm), key=FATES.index)
        rules = [rule for fate, rule in harm if fate == worst]
        return ReleaseOutcome(worst, tuple(sorted(set(rules), key=lambda rule: -rules.count(rule))))

    def at(self, finding: Finding, release: str) -> Fate | None:
        """The effect of a finding on `release`; None if neither its own fates nor its rule's effects tell."""
        key = (finding.rule, release, frozenset(finding.fates.items()))
        if key not in self._known:
            rule = self._rulebook.rules.get(finding.rule)
            fate = finding.fates.get(release) or (_between(finding.fates, rule, release) if rule else None)
            self._known[key] = None if fate == "unknown" else fate
        return self._known[key]

    def _ends(self, subject: SubjectResult, release: str) -> Iterator[tuple[Fate | None, str]]:
        """The fate of a conversation, up to the first fate that is fatal; what was excused does not count."""
        if subject.verdict in _UNJUDGED:
            return
        for finding in sorted(subject.findings, key=lambda each: each.seq):
            if finding.level != "must" or subject.verdict not in {"pass", "warn"}:
                fate = self.at(finding, release)
                yield fate, finding.rule
                if fate in FATAL:
                    return


def borders(rule: Rule) -> Iterator[Release]:
    """The releases from which on an effect of the rule begins or ends to hold."""
    for effect in rule.effects:
        for part in SpecifierSet("" if effect.versions == "*" else effect.versions):
            if part.operator in {">=", "<"}:
                yield Release(Version(part.version), part.version)
            else:
                yield Release(Version(part.version + _JUST_ABOVE), f"above {part.version}")


def _between(known: dict[str, Fate], rule: Rule, release: str) -> Fate | None:
    """The fate at a release that was not judged, by the variants of the rule that deal out the `known` fates.

    Where none does, a parser decided: then by the known fates on both sides, and the one border between them.
    """
    variants = {effect.when for effect in rule.effects}
    fitting = [when for when in variants if all(_effect(rule, when, name) == fate for name, fate in known.items())]
    told = {_effect(rule, when, release) for when in fitting}
    if told:
        return told.pop() if len(told) == 1 else None
    here = Version(release)
    below = max((Version(name) for name in known if Version(name) < here), default=None)
    above = min((Version(name) for name in known if Version(name) > here), default=None)
    fates = {Version(name): fate for name, fate in known.items()}
    if below is None or above is None:
        side = below or above
        return fates[side] if side is not None else None
    changes = {border.version for border in borders(rule) if below < border.version <= above}
    if fates[below] == fates[above] or len(changes) == 1:
        return fates[above if here >= min(changes, default=here) else below]
    return None


def _effect(rule: Rule, when: str, release: str) -> Fate:
    """The fate at any release, as ``Rulebook.effects`` has it for those that are known."""
    effects = sorted((e for e in rule.effects if e.when in {when, ""}), key=lambda e: e.when != when)
    return next((effect.fate for effect in effects if covers(effect.versions, release)), "unknown")
