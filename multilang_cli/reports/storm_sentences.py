"""Sentences on how a component fares on each Storm version: ``runs on 1.2.4 to 2.5.0; dies on 2.6 and later``. Pure.

Each version that was played speaks for itself. Between two of them, and above the newest, only rules speak: what their
effects say of releases there, where the conversations on both sides agree.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from multilang_cli.protocol.words.verdicts import FATES
from multilang_cli.reports.bundles import bundles
from multilang_cli.reports.fates import Fates, Release, ReleaseOutcome, borders
from multilang_cli.reports.verdict import FAILURES, HARMFUL, decisive, word_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult

WORDS: dict[str, str] = {
    "runs": "runs on",
    "unknown": "not known on",
    "breaks": "breaks the protocol on",
    **{fate: f"{fate.replace('-', ' ')} on" for fate in FATES if fate in HARMFUL},
    "silent": "says no first message on",
}
"""How a component can fare, and how the sentence says it, in its order."""

MOST_CAUSES = 3
"""Rules or cases that the sentence names for one way to fare."""

_Outcome = tuple[Release, ReleaseOutcome]


def sentence_of(runs: Sequence[RunResult], rulebook: Rulebook) -> str:
    """A sentence on how a component fares on the Storm versions of `runs`, each another; "" for fewer than two."""
    if len(runs) <= 1:
        return ""
    releases = _releases(runs, rulebook)
    outcomes = _outcomes(releases, Fates(rulebook))
    clauses = [_clause(how, outcomes, releases, rulebook) for how in WORDS]
    verified = {version.id for version in rulebook.versions if version.verified}
    guessed = [release.text for release in releases if release.run is not None and release.text not in verified]
    tail = f" (not confirmed: {', '.join(guessed)}, which no real Storm was asked about)" if guessed else ""
    return "; ".join(filter(None, clauses)) + tail


def with_sentences(result: RunResult, rulebook: Rulebook) -> RunResult:
    """The combined result with a sentence for each component that was played on several Storm versions."""
    told = ((bundle.label, sentence_of(bundle.parts, rulebook)) for bundle in bundles(result))
    said = tuple(f"{label}: {sentence}" if label else sentence for label, sentence in told if sentence)
    return msgspec.structs.replace(result, sentences=said)


def _releases(runs: Sequence[RunResult], rulebook: Rulebook) -> list[Release]:
    """The versions that were played, and the borders above the oldest at which what was found may change, in order."""
    found = {Version(run.storm): Release(Version(run.storm), run.storm, run) for run in runs}
    oldest = min(found)
    met = {finding.rule for run in runs for subject in run.subjects for finding in subject.findings}
    for rule in met & rulebook.rules.keys():
        for border in borders(rulebook.rules[rule]):
            if border.version > oldest:
                found.setdefault(border.version, border)
    return [found[version] for version in sorted(found)]


def _outcomes(releases: list[Release], fates: Fates) -> list[_Outcome]:
    """The fare at each release of which that can be told."""
    own = {release.text: release_outcome(release.run, fates) for release in releases if release.run is not None}
    found: list[_Outcome] = []
    for place, release in enumerate(releases):
        if release.run is not None:
            found.append((release, own[release.text]))
            continue
        below = next(each for each in reversed(releases[:place]) if each.run is not None)
        above = next((each for each in releases[place:] if each.run is not None), None)
        said = [_said_of(release, side, own[side.text], fates) for side in (above, below) if side is not None]
        agreed = said[0] is not None and all(each is not None and each.how == said[0].how for each in said)
        # Above the newest nobody played: that nothing is known to go wrong there says nothing.
        if said[0] is not None and agreed and (above is not None or said[0].how in HARMFUL):
            found.append((release, said[0]))
    return found


def release_outcome(run: RunResult, fates: Fates) -> ReleaseOutcome:
    """The fare of the component on the version that `run` played."""
    found = fates.worst(run, run.storm)
    if found is not None and found.how in HARMFUL:
        return found
    if run.verdict == "no-first-message":
        return ReleaseOutcome("silent", by_rule=False)
    breach = _breach(run)
    if breach is not None:
        return breach
    if found is not None and run.verdict in {"conformant", "not-conformant"}:
        return found
    return ReleaseOutcome("unknown", () if found is None else (word_of(run).lower(),), by_rule=False)


def _breach(run: RunResult) -> ReleaseOutcome | None:
    """The breaches, harmful or not: rules, or cases where no rule accounts for a failure; None if nothing was."""
    failing = [each for each in run.subjects if each.verdict in FAILURES and each.verdict != "stale"]
    if not failing:
        return None
    found = [(each, decisive(each, run.storm)) for each in failing]
    causes = [finding.rule if finding else f"case {each.id}" for each, finding in found]
    return ReleaseOutcome("breaks", tuple(dict.fromkeys(causes)), by_rule=all(finding for _, finding in found))


def _said_of(release: Release, played: Release, own: ReleaseOutcome, fates: Fates) -> ReleaseOutcome | None:
    """The fare on another release, by the conversation of a `played` version; None if that can't be told."""
    if played.run is None or not own.by_rule:
        return None
    worst = fates.worst(played.run, str(release.version))
    if worst is None or worst.how != "runs":
        return worst
    breach = _breach(played.run) or worst
    return breach if breach.by_rule else None


def _clause(how: str, outcomes: list[_Outcome], releases: list[Release], rulebook: Rulebook) -> str:
    """``dies on 2.6 and later: a direct emit (rule direct-emit)``; "" if that is so nowhere."""
    here = [(release, outcome) for release, outcome in outcomes if outcome.how == how]
    if not here:
        return ""
    where = _ranges([outcome.how == how for _, outcome in outcomes], outcomes, releases)
    causes = list(dict.fromkeys(cause for _, outcome in here for cause in outcome.causes))
    named = []
    for cause in causes[:MOST_CAUSES]:
        among = [outcome.how == how and cause in outcome.causes for _, outcome in outcomes]
        only = _ranges(among, outcomes, releases)
        named.append(_cause(cause, "" if only == where else only, rulebook))
    more = [f"{len(causes) - MOST_CAUSES} more"] if len(causes) > MOST_CAUSES else []
    return f"{WORDS[how]} {where}" + (f": {', '.join((*named, *more))}" if causes else "")


def _cause(cause: str, where: str, rulebook: Rulebook) -> str:
    rule = rulebook.rules.get(cause)
    if rule is None:
        return f"{cause} ({where})" if where else cause
    return f"{rule.title} (rule {cause}{f', {where}' if where else ''})"


def _ranges(among: list[bool], outcomes: list[_Outcome], releases: list[Release]) -> str:
    """The releases that are `among` those meant, neighbours as ranges: ``0.9.7, 1.2.4 to 2.5.0``."""
    shown = []
    for meant, places in groupby(range(len(outcomes)), lambda place: among[place]):
        if meant:
            shown.append(_range([outcomes[place] for place in places], releases))
    return ", ".join(shown)


def _range(outcomes: list[_Outcome], releases: list[Release]) -> str:
    first, (last, outcome) = outcomes[0][0], outcomes[-1]
    if last == releases[-1] and outcome.by_rule and outcome.how != "runs":
        return f"{first.text} and later"
    if last.run is None:
        return f"{first.text} to below {releases[releases.index(last) + 1].text}"
    return first.text if first == last else f"{first.text} to {last.text}"
