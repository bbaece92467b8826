"""The standing of a sentence of the written protocol: what the five real Storms did about it. Computed, never typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from packaging.version import Version

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import confirmed_on, oracle_verdicts, recorded_fate, verified

if TYPE_CHECKING:
    from multilang_cli.catalogue.written import Sentence
    from multilang_cli.protocol.words.verdicts import Fate, Rule, StormVersion


class Standing(NamedTuple):
    """Verified versions: those for which a sentence says something of Storm, and those whose own classes confirm it."""

    asked: tuple[str, ...]
    confirmed: tuple[str, ...]

    @property
    def text(self) -> str:
        """The standing in words: ``confirmed on 5 of 5``."""
        return f"confirmed on {len(self.confirmed)} of {len(self.asked)}"


def standing_of(sentence: Sentence) -> Standing | None:
    """The standing of `sentence`; None where no script of the oracle bears on it."""
    rules = [rule for name in sentence.rules if _is_confirmable(rule := load_rulebook().rules[name])]
    versions = [version for version in verified() if _holds(sentence, version)]
    if not (rules or sentence.shown_by) or not versions:
        return None
    confirmed = [
        version.id
        for version in versions
        if all(version.id in confirmed_on(rule) for rule in rules)
        and all(_survived(script, version) for script in sentence.shown_by)
    ]
    return Standing(tuple(version.id for version in versions), tuple(confirmed))


def told_fates(rule: Rule) -> str:
    """The fates of the breach that the rule's bad transcript shows, in words; "" where no script bears on the rule."""
    if not _is_confirmable(rule):
        return ""
    effects = load_rulebook().effects(rule.id, rule.effects[0].when)
    return in_words({version.id: effects[version.id].fate for version in verified() if version.id in effects})


def script_fates(script: str) -> dict[str, Fate]:
    """The fate of the worker and its data in a script of the oracle, on each verified version, oldest first."""
    return {version.id: recorded_fate(script, version) for version in verified()}


def in_words(fates: dict[str, Fate]) -> str:
    """The fates, versions with the same together: ``dies on 0.9.7 to 2.5.0, loses-data on 2.8.3``."""
    runs: list[tuple[Fate, list[str]]] = []
    for version, fate in fates.items():
        if runs and runs[-1][0] == fate:
            runs[-1][1].append(version)
        else:
            runs.append((fate, [version]))
    if len(runs) == 1:
        return f"{runs[0][0]} on all {len(fates)}"
    return ", ".join(
        f"{fate} on {versions[0]}" + (f" to {versions[-1]}" if len(versions) > 1 else "") for fate, versions in runs
    )


def _is_confirmable(rule: Rule) -> bool:
    return any(effect.confirmed_by for effect in rule.effects)


def _holds(sentence: Sentence, version: StormVersion) -> bool:
    since = not sentence.since or Version(version.id) >= Version(sentence.since)
    return since and (not sentence.until or Version(version.id) < Version(sentence.until))


def _survived(script: str, version: StormVersion) -> bool:
    return version.id in oracle_verdicts().get(script, {}) and recorded_fate(script, version) == "survives"
