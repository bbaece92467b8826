"""A sentence of the written protocol on a page (``mlcheck explain bolt.ack.once``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.standing import standing_of, told_fates
from multilang_cli.catalogue.written import TITLE
from multilang_cli.reports.page import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from multilang_cli.catalogue.written import Placed, Sentence

_SENTENCE_HANG = 12
_DUTIES = {"component": "", "host": ", for hosts", "library": ", for libraries"}


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
        page.para(f"{name}: {rules[name].title}", label="" if number else "Rules", indent=2, hang=_SENTENCE_HANG)
        if told := told_fates(rules[name]):
            page.para(told, "dim", indent=_SENTENCE_HANG)
    if sentence.cases:
        page.blank()
    for number, name in enumerate(sentence.cases):
        page.para(f"{name}: {titles.get(name, '')}", label="" if number else "Cases", indent=2, hang=_SENTENCE_HANG)
    for number, test in enumerate(sentence.tests):
        page.para(test, label="" if number else "Tests", indent=2, hang=_SENTENCE_HANG)
    if sentence.untestable:
        page.para(sentence.untestable, label="Untested", indent=2, hang=_SENTENCE_HANG)
    standing = standing_of(sentence)
    page.blank()
    if standing:
        text = f"{standing.text} real Storms that were asked: {', '.join(standing.confirmed)}"
        page.para(text, label="Storm", indent=2, hang=_SENTENCE_HANG)
    for number, source in enumerate(sources_of(sentence)):
        page.para(source, "dim", label="" if number else "Source", indent=2, hang=_SENTENCE_HANG)


def sources_of(sentence: Sentence) -> list[str]:
    """The sources of a sentence, each in its own words or by its name."""
    found = [f"{quotation.text.strip()} ({quotation.at})" for quotation in sentence.page]
    if sentence.storm:
        found.append(f"Storm: {', '.join(sentence.storm)}")
    if sentence.contract:
        found.append(f"the contract of testees: {sentence.contract}")
    return [*found, *([", ".join(sentence.issues)] if sentence.issues else [])]
