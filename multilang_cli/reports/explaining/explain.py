"""A rule on a page (``mlcheck explain``), and the findings of recorded conversations (``mlcheck lint``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from multilang_cli.catalogue.oracle import shown_on
from multilang_cli.reports.failure import show_clause, show_end, show_excerpt, show_fates
from multilang_cli.reports.formats.console import show_summary
from multilang_cli.reports.grouping import fates_of, first_paragraph, some_of, told_first
from multilang_cli.reports.page import Page

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Effect, Fate, Finding, Rule
    from multilang_cli.reports.model import RunResult, SubjectResult

MOST_CLEAN = 10
"""Conversations without findings that are shown one by one; of more, a few are named."""
_STYLES = {"must": "bold red", "should": "bold yellow", "note": "bold"}


def render_rule(rule: Rule, rulebook: Rulebook, console: Console) -> None:
    """Show all there is to know of a rule: clause, why, mend, effects by version, a good and a bad transcript."""
    page = Page(console)
    span = f", since {rule.since}" if rule.since else ""
    span += f", until {rule.until}" if rule.until else ""
    page.para(rule.title, "bold", label=rule.id)
    page.para(f"{rule.level}, {'bolts and spouts' if rule.kind == 'both' else rule.kind + 's'}{span}", indent=2)
    page.blank()
    show_clause(page, rule.clause)
    for label, text in (("Why", rule.why), ("Mend", rule.mend)):
        _show_text(page, label, text)
    _show_effects(page, rule, rulebook)
    for label, transcript in (("Good", rule.good), ("Bad", rule.bad)):
        page.blank()
        page.para(label, "bold green" if label == "Good" else "bold red", indent=2)
        for line in transcript.strip("\n").splitlines():
            page.line(line, indent=4)


def render_findings(result: RunResult, rulebook: Rulebook, console: Console) -> None:
    """Show the findings of each conversation, where they stand and what Storm would do, then the summary."""
    page = Page(console)
    clean = [subject.id for subject in result.subjects if not (subject.findings or subject.reason)]
    together = frozenset(clean if len(clean) > MOST_CLEAN else ())
    shown = [subject for subject in result.subjects if subject.id not in together]
    if together:
        page.para("nothing found", label=some_of(clean))
    for number, subject in enumerate(shown):
        if number or together:
            page.blank()
        _show_conversation(page, subject, rulebook)
    show_summary(page, result)


def _show_text(page: Page, label: str, text: str) -> None:
    page.blank()
    paragraphs = text.strip().split("\n\n")
    for number, paragraph in enumerate(paragraphs):
        page.para(paragraph, label="" if number else label, indent=2, hang=12)


def _show_effects(page: Page, rule: Rule, rulebook: Rulebook) -> None:
    page.blank()
    for when in dict.fromkeys(effect.when for effect in rule.effects):
        effects = rulebook.effects(rule.id, when)
        fates = fates_of(
            {version: effect.fate for version, effect in effects.items()},
            {version: effect.error for version, effect in effects.items()},
        )
        if when:
            page.blank()
            page.para(f"where {rule.variants[when]}:", indent=2)
        show_fates(page, fates)
        confirmed = _confirmed([effect for effect in rule.effects if effect.when == when])
        for (fate, scripts), versions in confirmed.items():
            page.para(f"confirmed on {', '.join(versions)} ({fate}) by {', '.join(scripts)}", "dim", indent=12)
    if rule.unconfirmed:
        some = any(map(shown_on, rule.effects))
        page.para(f"{'not all confirmed' if some else 'not confirmed'}: {rule.unconfirmed}", indent=12)


def _confirmed(effects: list[Effect]) -> dict[tuple[Fate, tuple[str, ...]], list[str]]:
    """The versions on which Storm's own classes dealt out these fates, newest first, by fate and scripts."""
    by_version = {version: (e.fate, scripts) for e in effects for version, scripts in shown_on(e).items()}
    alike: dict[tuple[Fate, tuple[str, ...]], list[str]] = {}
    for version in sorted(by_version, key=Version, reverse=True):
        alike.setdefault(by_version[version], []).append(version)
    return alike


def _show_conversation(page: Page, subject: SubjectResult, rulebook: Rulebook) -> None:
    page.para(subject.title, label=subject.id)
    if not subject.findings:
        page.para(subject.reason or "nothing found", indent=2)
    if subject.causes:
        page.para(told_first(subject), "bold", label="Cause", indent=2, hang=12)
    alike: dict[str, list[Finding]] = {}
    for finding in subject.findings:
        alike.setdefault(finding.fingerprint or str(finding.seq), []).append(finding)
    for first, *more in alike.values():
        _show_finding(page, first, more, subject, rulebook)
    if subject.findings:
        show_end(page, subject)


def _show_finding(
    page: Page, finding: Finding, more: list[Finding], subject: SubjectResult, rulebook: Rulebook
) -> None:
    label = f"{finding.level} {finding.rule}"
    where = f"event {finding.seq}, byte {finding.offset}: {finding.message}"
    page.para(where, label=label, label_style=_STYLES[finding.level], indent=2, hang=4)
    if more:
        page.para(f"and {len(more)} more like it: events {some_of(str(each.seq) for each in more)}", indent=4)
    wanted = {finding.seq, *finding.related}
    show_excerpt(page, [row for row in subject.excerpt if row.seq in wanted])
    show_fates(page, fates_of(finding.fates, finding.errors))
    rule = rulebook.rules.get(finding.rule)
    if rule is not None:
        page.para(first_paragraph(rule.mend), label="Mend", label_style="bold green", indent=2, hang=12)
        page.line(f"More:     mlcheck explain {rule.id}", indent=2)
