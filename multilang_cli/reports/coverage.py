"""Coverage of recordings or of a run, as a report has it and on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.written import load_sentences
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.model import CoverageReport, Untested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.judge.coverage import Covered
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.page import Page

REASONS_ON_A_LINE = 3
"""Reasons that one line has room for."""


def coverage_of(name: str, kind: Kind, found: Covered) -> CoverageReport:
    """The coverage as it stands in a report: what leaves the most rules untested comes first."""
    never = sorted(found.never.items(), key=lambda item: -len(item[1]))
    return CoverageReport(
        name=name,
        kind=kind,
        exercised=found.exercised,
        never=tuple(Untested(reason=reason, ids=rules) for reason, rules in never),
    )


def coverage_in_words(coverage: CoverageReport) -> str:
    """A sentence on how much was exercised: ``53 of 61 rules; it never asked for task ids, ... and 2 reasons more``."""
    total = len(coverage.exercised) + sum(len(each.ids) for each in coverage.never)
    reasons = [each.reason for each in coverage.never]
    why = f"; {some_of(reasons, REASONS_ON_A_LINE)}" if reasons else ""
    return f"{len(coverage.exercised)} of {total} rules{why}"


def render_coverage(page: Page, coverage: Sequence[CoverageReport]) -> None:
    """Show what was exercised, a line for each recording, and all of the rules and clauses that never were."""
    for each in coverage:
        page.para(coverage_in_words(each), label=each.name or f"all {each.kind}s", label_style="bold", indent=2)
    for each in coverage:
        if not each.name:
            _show_never(page, each)


def _show_never(page: Page, coverage: CoverageReport) -> None:
    page.blank()
    page.para(f"Never exercised in a {coverage.kind}", "bold")
    for untested in coverage.never:
        rules = ", ".join(untested.ids) or "(no rule needs it)"
        page.para(rules, label=untested.reason, label_style="yellow", indent=2, hang=6)
    never = {rule for untested in coverage.never for rule in untested.ids}
    for placed in load_sentences().values():
        sentence = placed.sentence
        if sentence.level == "must" and sentence.rules and never.issuperset(sentence.rules):
            page.para(f'"{sentence.text.strip()}" ({sentence.id})', label="Clause", indent=2, hang=12)
