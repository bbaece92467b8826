"""From findings to the verdict of a subject, from subjects to the verdict and exit code of a run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.protocol.words.verdicts import FATES
from multilang_cli.reports.model import VERDICTS, RunResult, RunVerdict, SubjectResult, Untested, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.protocol.words.verdicts import Fate, Finding, Outlook

HARMFUL: frozenset[Fate] = frozenset({"dies", "hangs", "loses-data", "fails-tuple"})
"""Fates for which a message that is right by the protocol still makes a warning."""

FAILURES: tuple[Verdict, ...] = ("fail", "stale", "flaky")
"""Verdicts of subjects that make a run not conformant, strict or not."""

FATE_WORDS: dict[Fate, str] = {
    "survives": "goes on",
    "ignored": "ignored",
    "loses-data": "loses data",
    "fails-tuple": "the tuple fails",
    "hangs": "hangs",
    "dies": "worker dies",
    "unknown": "not known",
}


class Judgement(NamedTuple):
    """A verdict and the sentence that gives its reason, empty on a plain pass."""

    verdict: Verdict
    reason: str


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """Circumstances of a run besides its subjects. `own_fault`: the component ended or hung before any case."""

    interrupted: bool = False
    harness_fault: bool = False
    misuse: bool = False
    no_first_message: bool = False
    own_fault: bool = False


class _Facts(NamedTuple):
    counts: dict[Verdict, int]
    strict: bool
    complete: bool
    circumstances: Circumstances

    def any(self, *verdicts: Verdict) -> bool:
        """True if some case has one of these verdicts."""
        return any(self.counts[verdict] for verdict in verdicts)


class ConclusionRule(NamedTuple):
    """A way in which a run can end: its exit code, verdict, the word in the summary, and when it applies."""

    code: int
    verdict: RunVerdict
    word: str
    applies: Callable[[_Facts], bool]


OUTCOMES: tuple[ConclusionRule, ...] = (
    ConclusionRule(130, "interrupted", "INTERRUPTED", lambda facts: facts.circumstances.interrupted),
    ConclusionRule(
        5, "harness-fault", "MLCHECK'S FAULT", lambda facts: facts.circumstances.harness_fault or facts.any("error")
    ),
    ConclusionRule(2, "misuse", "MISUSE", lambda facts: facts.circumstances.misuse),
    ConclusionRule(3, "no-first-message", "NO FIRST MESSAGE", lambda facts: facts.circumstances.no_first_message),
    ConclusionRule(
        4,
        "nothing-selected",
        "NOTHING SELECTED",
        lambda facts: not (facts.any(*VERDICTS) or facts.circumstances.own_fault),
    ),
    ConclusionRule(
        1,
        "not-conformant",
        "FAIL",
        lambda facts: facts.circumstances.own_fault or facts.any(*FAILURES) or (facts.strict and facts.any("warn")),
    ),
    ConclusionRule(6, "inconclusive", "INCONCLUSIVE", lambda facts: not _conclusive(facts)),
    ConclusionRule(0, "conformant", "PASS", lambda _: True),
)
"""Every end of a run, the one that wins first."""


def verdict_of(findings: Iterable[Finding], storm_version: str, failed_expectation: str = "") -> Judgement:
    """Judge a subject by its findings and by what had to come back.

    `storm_version`: id of the version played. `failed_expectation`: the sentence of an expectation that was not met.
    A note is only shown, unless the version punishes what it is about: that is a warning which names the effect.
    """
    judged = [(weigh(finding, storm_version), finding) for finding in findings]
    for wanted in ("fail", "warn"):
        if wanted == "warn" and failed_expectation:
            return Judgement("fail", failed_expectation)
        for verdict, finding in judged:
            if verdict == wanted:
                return Judgement(verdict, _reason(finding, storm_version))
    return Judgement("fail", failed_expectation) if failed_expectation else Judgement("pass", "")


def weigh(finding: Finding, version: str) -> Verdict:
    """The verdict that a finding alone gives a subject on the version played: fail, warn, or pass for a mere note."""
    if finding.level == "must":
        return "fail"
    if finding.level == "should" or finding.fates.get(version) in HARMFUL:
        return "warn"
    return "pass"


def decisive(subject: SubjectResult, storm_version: str) -> Finding | None:
    """The finding that made the subject's verdict, if a finding did."""
    for wanted in ("fail", "warn"):
        for finding in subject.findings:
            if weigh(finding, storm_version) == wanted:
                return finding
    return None


def count(subjects: Iterable[SubjectResult]) -> dict[Verdict, int]:
    """Count the subjects of each verdict; every verdict is a key."""
    counts = dict.fromkeys(VERDICTS, 0)
    for subject in subjects:
        counts[subject.verdict] += 1
    return counts


def outcome_of(
    counts: dict[Verdict, int], *, strict: bool, complete: bool, circumstances: Circumstances
) -> ConclusionRule:
    """The end of a run: the first row of `OUTCOMES` that applies."""
    facts = _Facts(counts, strict, complete, circumstances)
    return next(outcome for outcome in OUTCOMES if outcome.applies(facts))


def conclude(result: RunResult, circumstances: Circumstances | None = None) -> RunResult:
    """Fill in what follows from the subjects: counts, outlook, what was not tested, verdict and exit code.

    `untested` may already name subjects that never ran; those that were skipped or untestable are added by reason.
    """
    circumstances = circumstances or Circumstances()
    complete = result.complete and not circumstances.interrupted
    counts = count(result.subjects)
    outcome = outcome_of(counts, strict=result.strict, complete=complete, circumstances=circumstances)
    return msgspec.structs.replace(
        result,
        counts=counts,
        outlook=worst(outlook for subject in result.subjects for outlook in subject.outlook),
        untested=(*result.untested, *_untested(result.subjects)),
        verdict=outcome.verdict,
        exit_code=outcome.code,
        complete=complete,
    )


def worst(outlooks: Iterable[Outlook]) -> tuple[Outlook, ...]:
    """The worst outlook of each version, in the order in which the versions come."""
    found: dict[str, Outlook] = {}
    for outlook in outlooks:
        known = found.setdefault(outlook.version, outlook)
        if FATES.index(outlook.fate) > FATES.index(known.fate):
            found[outlook.version] = outlook
    return tuple(found.values())


def word_of(result: RunResult) -> str:
    """The word that the summary begins with."""
    return next(outcome.word for outcome in OUTCOMES if outcome.verdict == result.verdict)


def headline_word(result: RunResult) -> str:
    """The word before the headline: of a pass with something to tell, that it warns."""
    return word_of(result) if result.exit_code else "WARN"


def precedence(result: RunResult) -> int:
    """The place of its verdict in `OUTCOMES`: of several results, the lowest wins."""
    return next(place for place, outcome in enumerate(OUTCOMES) if outcome.verdict == result.verdict)


def effect_in_words(fate: Fate, error: str = "") -> str:
    """The effect on a Storm version, for people: ``worker dies: <the text it shows>``."""
    return f"{FATE_WORDS[fate]}: {error}" if error else FATE_WORDS[fate]


def _reason(finding: Finding, version: str) -> str:
    fate = finding.fates.get(version)
    if finding.level != "note" or fate is None:
        return finding.message
    effect = effect_in_words(fate, finding.errors.get(version, ""))
    return f"{finding.message}: right by the protocol, but on Storm {version}: {effect}"


def _conclusive(facts: _Facts) -> bool:
    return facts.complete and facts.any("pass", "warn", "xfail") and not facts.any("untestable")


def _untested(subjects: Iterable[SubjectResult]) -> tuple[Untested, ...]:
    by_reason: dict[str, list[str]] = {}
    for subject in subjects:
        if subject.verdict in {"skip", "untestable"}:
            by_reason.setdefault(subject.reason or subject.verdict, []).append(subject.id)
    return tuple(Untested(reason=reason, ids=tuple(ids)) for reason, ids in by_reason.items())
