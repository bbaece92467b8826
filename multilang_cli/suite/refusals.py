"""What a component may refuse: nobody promised that it takes what we made up, so dying of it is no failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.verdict import Judgement
from multilang_cli.suite.case import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.verdicts import Finding
    from multilang_cli.suite.case import Case
    from multilang_cli.suite.stage import Stage

DEATHS = frozenset({"exited", "message-cut", "stdout-closed", "stdin-closed"})
"""What the end of a process shows as."""

_REFUSALS = DEATHS | {
    "sync-missing",
    "heartbeat-unanswered",
    "heartbeat-timeout",
    "tuple-unsettled",
    "stdin-not-read",
}
"""What it shows as if a component dies of what it was given, or falls silent."""


_OVERFLOWS = frozenset({"integer-too-big", "json-nonfinite", "json-number", "number-too-large", "decimal-value"})
"""What comes of reckoning with numbers that nobody promised."""


def refusal_of(case: Case, stage: Stage | None, findings: Sequence[Finding]) -> Judgement | None:
    """The verdict if all that is wrong is that the component refuses what we made up; None if there is more to it."""
    refusal = _refusal(case, stage)
    wrong = [finding for finding in findings if finding.level != "note" or finding.rule in _OVERFLOWS]
    if refusal is None or stage is None or stage.made_up is None or not wrong:
        return None
    excused = _REFUSALS | _OVERFLOWS if stage.refusable else _REFUSALS
    if any(finding.rule not in excused or finding.seq < stage.made_up for finding in wrong):
        return None
    promise = f'; if it should, say so: accepts = ["{refusal.unless}"]' if refusal.unless else ""
    return Judgement(refusal.verdict, f"it does not take {refusal.of}: {wrong[0].message}{promise}")


def costs_nothing(case: Case, accepts: frozenset[str]) -> bool:
    """True if the component may refuse what the case makes up without any harm."""
    return case.refusal is not None and case.refusal.verdict == "skip" and case.refusal.unless not in accepts


def _refusal(case: Case, stage: Stage | None) -> Refusal | None:
    if stage is None:
        return None
    if stage.trying:
        return Refusal(verdict="skip", of=stage.trying, unless="text")
    if case.refusal is not None and case.refusal.unless not in stage.accepts:
        return case.refusal
    return None
