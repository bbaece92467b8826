"""The written protocol as Markdown pages: ``python -m multilang_cli.reports.explaining.protocol_pages FOLDER``.

They are made from ``conformance/protocol``, the rules and the oracle, and never edited: so they can't be stale.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import load_rulebook, plain
from multilang_cli.catalogue.oracle import verified
from multilang_cli.catalogue.standing import in_words, script_fates, standing_of, told_fates
from multilang_cli.catalogue.written import (
    PAGES_BESIDE,
    TITLE,
    BrokenStorm,
    Erratum,
    load_broken,
    load_chapters,
    load_errata,
    load_sentences,
)
from multilang_cli.reports.explaining.explain import heading_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.catalogue.written import Chapter, Sentence

_MADE = "<!-- Made from conformance/protocol; not to be edited. -->"
_KEYWORDS = """\
MUST, MUST NOT, SHOULD, SHOULD NOT and MAY are used as in RFC 2119. They bind the *component*, the spout or bolt that is
a child process; where it says so, the *host*, which is Storm's ShellSpout or ShellBolt or a program that plays their
part; or a *library* that stands between the host and user code. A *fact* binds nobody: it tells what Storm does."""
_OPENING = """\
A shell component is a process that speaks JSON with a Storm worker on stdin and stdout. These pages say what both sides
write, what they must not write, and what Storm does about it. Examples show one message a line, and leave out the lines
`end` that close them."""
_IDS = """\
There are {} sentences. Each has an id that does not change, such as [bolt.ack.once](bolt.md#bolt.ack.once), which
rules, cases and findings of mlcheck name, and which `mlcheck explain bolt.ack.once` shows with its sources."""
_CONFIRMED = """\
Of {} sentences that real Storm can bear out, {} are confirmed on every version that was asked. A version counts if its
own classes dealt out each fate that is claimed for it, to a script that is kept. See [fates](fates.md).
Other sentences name a test that shows them, or say why nothing does; those that bind a library have neither, for Storm
sees no library."""
_BESIDE = """\
- [Fates](fates.md): what each version does about each breach
- [Cases](cases.md): how components, libraries and hosts are tried
- [Errata](errata.md): what Storm's own page about the protocol has wrong, or not at all
- [Broken in Storm](broken-storm.md): what no component can do right, with reports for its tracker"""
_FATES = """\
Each line was measured with the version's own ShellBolt or ShellSpout. *dies*: the worker ends, with all its tasks.
*hangs*: Storm waits for ever. *loses-data*: Storm goes on, and something that was meant is gone. *fails-tuple*: the
tuple fails. *survives*, *ignored*: no harm. `mlcheck explain RULE` has the errors, and how to mend it."""
_CASES = """\
`mlcheck run` plays those of components, `mlcheck run --testee FOLDER` those of libraries, `mlcheck host` those of
hosts."""
_ERRATA = """\
Storm's documentation has one page about the protocol,
[Multilang protocol](https://storm.apache.org/releases/current/Multilang-protocol.html). It is old, and most who wrote a
library had nothing else. This is what it has wrong, what is out of date, and what it does not say."""
_BROKEN = """\
What no component can do right, because Storm itself has it wrong. Each entry has the smallest frames that show it, the
versions, and a report for Storm's tracker that can be sent as it is. `>` is written by Storm, `<` by the component."""

_AGAIN = "mlcheck verify-storm 2.8.3 --verbose"


def pages() -> dict[str, str]:
    """The pages by the names of their files."""
    return {
        **{f"{chapter.id}.md": _chapter(chapter) for chapter in load_chapters()},
        "index.md": _index(),
        "fates.md": _fates(),
        "cases.md": _cases(),
        "errata.md": _page(PAGES_BESIDE["errata"], _ERRATA, "\n".join(map(_erratum, load_errata()))),
        "broken-storm.md": _page(PAGES_BESIDE["broken-storm"], _BROKEN, *map(_defect, load_broken())),
    }


def write_pages(folder: Path) -> list[Path]:
    """Write the pages into `folder`, which is made if need be; the paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in pages().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", _MADE, *(part.strip() for part in parts if part.strip())]) + "\n"


def _index() -> str:
    contents = "\n".join(f"{c.number}. [{c.title}]({c.id}.md): {_flat(c.about)}" for c in load_chapters())
    sentences = [placed.sentence for placed in load_sentences().values()]
    confirmed = [standing for sentence in sentences if (standing := standing_of(sentence))]
    whole = sum(standing.asked == standing.confirmed for standing in confirmed)
    return _page(
        f"The {TITLE.lower()} of Apache Storm",
        _OPENING,
        _KEYWORDS,
        _IDS.format(len(sentences)),
        _CONFIRMED.format(len(confirmed), whole),
        "## Contents",
        contents,
        "## Beside the protocol",
        _BESIDE,
    )


def _chapter(chapter: Chapter) -> str:
    parts = [_flat(chapter.about)]
    for number, section in enumerate(chapter.sections, 1):
        parts.append(f"## {chapter.number}.{number} {section.title}")
        parts += [_flat(section.about)] if section.about else []
        parts += [_block(section.example)] if section.example else []
        parts += [
            _sentence(f"{chapter.number}.{number}.{place}", sentence)
            for place, sentence in enumerate(section.sentences, 1)
        ]
        if section.table:
            parts.append(_grid(list(section.table.columns), [list(row) for row in section.table.rows]))
    return _page(f"{chapter.number}. {chapter.title}", *parts)


def _sentence(number: str, sentence: Sentence) -> str:
    return (
        f'<a id="{sentence.id}"></a>**{number}** {_flat(sentence.text)}\n\n'
        f"> `{sentence.id}` · {' · '.join([heading_of(sentence), *_remarks(sentence)])}"
    )


def _remarks(sentence: Sentence) -> Iterator[str]:
    rules = load_rulebook().rules
    for name in sentence.rules:
        told = told_fates(rules[name])
        yield f"breach [{name}](fates.md#{name}){': ' if told else ''}{told}"
    if sentence.cases:
        yield "tried by " + ", ".join(f"[{name}](cases.md#{name})" for name in sentence.cases)
    if standing := standing_of(sentence):
        yield standing.text
    if sentence.tests:
        yield "shown by " + ", ".join(f"`{test}`" for test in sentence.tests)
    if sentence.unconfirmed:
        yield f"not confirmed: {_flat(sentence.unconfirmed)}"
    if sentence.untestable:
        yield f"not tested: {_flat(sentence.untestable)}"
    sources = [*(f"`{place}`" for place in sentence.storm), *sentence.issues]
    if sources:
        yield "Storm: " + ", ".join(sources)


def _grid(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _fates() -> str:
    versions = [version.id for version in verified()]
    parts = []
    for rule in load_rulebook().rules.values():
        if not any(effect.confirmed_by for effect in rule.effects):
            continue
        rows = []
        for when in dict.fromkeys(effect.when for effect in rule.effects):
            effects = load_rulebook().effects(rule.id, when)
            cells = [effects[version].fate if version in effects else "-" for version in versions]
            rows.append([rule.variants.get(when, "otherwise" if rule.variants else "always"), *cells])
        parts.append(f'<a id="{rule.id}"></a>**{rule.id}**: {rule.title}\n\n{_grid(["where", *versions], rows)}')
    told = {rule.id for rule in load_rulebook().rules.values() if not any(e.confirmed_by for e in rule.effects)}
    rest = "\n".join(f'- <a id="{name}"></a>{name}: {load_rulebook().rules[name].title}' for name in sorted(told))
    return _page(
        PAGES_BESIDE["fates"],
        _FATES,
        *parts,
        "## Rules that no script of Storm shows",
        "They bind hosts and libraries, or tell of what Storm can't see.",
        rest,
    )


def _cases() -> str:
    folder = locate.data_path("conformance", "cases")
    found = [
        plain(path) for suite in ("component", "library", "host") for path in sorted((folder / suite).glob("*.yaml"))
    ]
    lines = [
        f'- <a id="{case["id"]}"></a>`{case["id"]}`: {_flat(case["title"])}. Expected: {_flat(case["expected"])}'
        for case in found
    ]
    return _page(PAGES_BESIDE["cases"], _CASES, "\n".join(lines))


def _erratum(erratum: Erratum) -> str:
    at = f"*{erratum.at}*. " if erratum.at else ""
    says = f"The page: {_flat(erratum.says)} " if erratum.says else ""
    told = f"**{erratum.kind}**. {at}{says}{_flat(erratum.but)}"
    return f'- <a id="{erratum.id}"></a>{told} ({_links(erratum.sentences)})'


def _defect(defect: BrokenStorm) -> str:
    asked = "; ".join(f"`{script}`: {in_words(script_fates(script))}" for script in defect.scripts)
    parts = [
        f'## <a id="{defect.id}"></a>{defect.title}',
        f"Versions: {defect.versions}. {_flat(defect.effect)}",
        _block(defect.frames),
        f"Real Storm, asked by script: {asked}. Again: `{_AGAIN} {' '.join(defect.scripts)}`" if asked else "",
        f"What to do: {_flat(defect.until_then)} ({_links(defect.sentences)})",
        "A report for the tracker:",
        _block(defect.report),
    ]
    return "\n\n".join(filter(None, parts))


def _block(text: str) -> str:
    return f"```text\n{text.strip()}\n```"


def _links(ids: tuple[str, ...]) -> str:
    return ", ".join(f"[{id_}]({load_sentences()[id_].chapter.id}.md#{id_})" for id_ in ids)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _flat(text).replace("|", "\\|")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/protocol"))
