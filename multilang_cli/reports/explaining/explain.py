"""A rule, a cause or a sentence on a page (``mlcheck explain``), and what recordings show (``mlcheck lint``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import shown_on
from multilang_cli.catalogue.standing import standing_of, told_fates
from multilang_cli.catalogue.written import TITLE
from multilang_cli.reports.failure import show_clause, show_end, show_excerpt, show_fates
from multilang_cli.reports.formats.console import show_summary
from multilang_cli.reports.grouping import fates_of, first_paragraph, some_of, told_first
from multilang_cli.reports.page import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from multilang_cli.catalogue.written import Placed, Sentence
    from multilang_cli.causes.model import KnownCause
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Effect, Fate, Finding, Rule
    from multilang_cli.reports.model import RunResult, SubjectResult

_HANG = 12
MOST_CLEAN = 10
"""Conversations without findings that are shown one by one; of more, a few are named."""
_STYLES = {"must": "bold red", "should": "bold yellow", "note": "bold"}
_DUTIES = {"component": "", "host": ", for hosts", "library": ", for libraries"}


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
        page.blank()
        page.listed(text.strip().split("\n\n"), label, indent=2, hang=_HANG)
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


def render_cause(cause: KnownCause, console: Console) -> None:
    """Show all there is to know of a cause: why it does harm, how to mend it in each language, what follows from it."""
    page = Page(console)
    page.para(cause.title, "bold", label=cause.id)
    page.para(f"a cause; {_sure(cause)}", indent=2)
    page.blank()
    page.para(cause.why, label="Why", indent=2, hang=_HANG)
    page.blank()
    page.para(_plain(cause.mend), label="Mend", label_style="bold green", indent=2, hang=_HANG)
    for language, code in cause.code.items():
        first, *more = code.splitlines()
        page.line(f"{language:{_HANG}}{first}", indent=4)
        for line in more:
            page.line(line, indent=4 + _HANG)
    if cause.folds:
        page.blank()
        page.para(", ".join(cause.folds), label="Shows as", indent=2, hang=_HANG)
    page.blank()
    page.para("Seen as", "bold red", indent=2)
    for line in cause.example.talk.strip("\n").splitlines():
        page.line(line, indent=4)


def _sure(cause: KnownCause) -> str:
    sure = {signature.certainty or cause.certainty for signature in cause.when}
    return "named when it is certain" if sure == {"certain"} else "named when it is the likeliest, or certain"


def _plain(mend: str) -> str:
    """The mend without the braces of its words."""
    return mend.replace("{{", "\0").replace("}}", "\1").replace("{", "").replace("}", "").translate({0: "{", 1: "}"})


def heading_of(sentence: Sentence) -> str:
    """The level, whose duty it is and since when: ``MUST, for hosts, since 0.9.3``."""
    level = sentence.level.upper() if sentence.level != "fact" else "fact"
    since = f", since {sentence.since}" if sentence.since else ""
    return f"{level}{_DUTIES[sentence.binds]}{since}{f', until {sentence.until}' if sentence.until else ''}"


def render_sentence(placed: Placed, titles: Mapping[str, str], console: Console) -> None:
    """Show a sentence, its rules with what real Storms do, its cases by their `titles`, and its sources."""
    page, sentence = Page(console), placed.sentence
    page.para(sentence.text.strip(), "bold", label=sentence.id, hang=2)
    page.para(f"{heading_of(sentence)}; {TITLE} {placed.number}, {placed.chapter.title}", indent=2)
    rules = load_rulebook().rules
    for number, name in enumerate(sentence.rules):
        page.blank()
        page.para(f"{name}: {rules[name].title}", label="" if number else "Rules", indent=2, hang=_HANG)
        if told := told_fates(rules[name]):
            page.para(told, "dim", indent=_HANG)
    if sentence.cases:
        page.blank()
    page.listed((f"{name}: {titles.get(name, '')}" for name in sentence.cases), "Cases", indent=2, hang=_HANG)
    page.listed(sentence.tests, "Tests", indent=2, hang=_HANG)
    if sentence.unconfirmed:
        page.para(sentence.unconfirmed, label="Unconfirmed", indent=2, hang=_HANG)
    if sentence.untestable:
        page.para(sentence.untestable, label="Untested", indent=2, hang=_HANG)
    standing = standing_of(sentence)
    page.blank()
    if standing:
        text = f"{standing.text} real Storms that were asked: {', '.join(standing.confirmed)}"
        page.para(text, label="Storm", indent=2, hang=_HANG)
    page.listed(sources_of(sentence), "Source", "dim", indent=2, hang=_HANG)


def sources_of(sentence: Sentence) -> list[str]:
    """The sources of a sentence, each in its own words or by its name."""
    found = [f"{quotation.text.strip()} ({quotation.at})" for quotation in sentence.page]
    if sentence.storm:
        found.append(f"Storm: {', '.join(sentence.storm)}")
    if sentence.contract:
        found.append(f"the contract of testees: {sentence.contract}")
    return [*found, *([", ".join(sentence.issues)] if sentence.issues else [])]
