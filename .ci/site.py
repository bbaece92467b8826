"""Hooks of mkdocs: pages made from the code and from the files of the repository, so that none of them can be stale.

Commands, rules, causes and cases are read from where mlcheck itself reads them; schemas are published at their ids.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

from multilang_cli.catalogue.loader import load_causes, load_rulebook
from multilang_cli.catalogue.written import clause_of
from multilang_cli.cli.commands import COMMANDS
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.reports.explaining import protocol_pages
from multilang_cli.reports.verdict import OUTCOMES
from multilang_cli.suite.cases.case import Case, load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from multilang_cli.protocol.words.rulebook import VersionEffect
    from multilang_cli.protocol.words.verdicts import Clause, Rule

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
LINK = re.compile(r"\]\(([^)\s]+)\)")
GITHUB_ESCAPE = re.compile(r"`[^`\n]+`|\\([<~&@$:=])")
"""Code, or a sign that only GitHub's Markdown needs, and knows, a backslash before."""
CELL_CODE = re.compile(r"(?<=<code>)[^<]*(?=</code>(?:(?!<tr).)*</td>)")
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
LEVELS = {"must": "Storm or the protocol demands it", "should": "advised", "note": "worth knowing"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    for schema in sorted((ROOT / "schemas").rglob("*.json")):
        place = f"schemas/{schema.relative_to(ROOT / 'schemas').as_posix()}"
        files.append(File.generated(config, place, content=schema.read_text(encoding="utf-8")))
    return files


def pages() -> Iterator[tuple[str, str]]:
    """Every page by its path."""
    yield "reference/index.md", overview()
    yield "reference/commands.md", commands()
    yield "reference/rules.md", rules()
    yield "reference/causes.md", causes()
    yield "reference/cases.md", cases()
    for name, text in protocol_pages.pages().items():
        yield f"protocol/{name}", text
    contract = (ROOT / "conformance" / "testees" / "README.md").read_text(encoding="utf-8")
    yield "reference/testees.md", contract.replace("](../../docs/", "](../")
    for name in PROJECT:
        text = (ROOT / name).read_text(encoding="utf-8")
        yield (
            f"project/{name.removesuffix('.md')}.md",
            relinked(text) if name != "LICENSE" else f"# Licence\n\n```text\n{text}```\n",
        )


def relinked(text: str) -> str:
    """A page of the repository's top as one of the site: links to docs/ lead there, other paths are mere names."""

    def link(found: re.Match[str]) -> str:
        """The same link from project/."""
        target = found[1]
        if "://" in target or target.startswith("#"):
            return found[0]
        if target.startswith("docs/"):
            return f"](../{target.removeprefix('docs/')})"
        known = target if target in PROJECT else "CONTRIBUTING.md"
        return f"]({known.removesuffix('.md')}.md)"

    return LINK.sub(link, text)


def overview() -> str:
    """The first page of the reference, with the exit codes."""
    rows = "\n".join(f"| {end.code} | {end.verdict} |" for end in sorted(OUTCOMES, key=lambda end: end.code))
    counted = {
        f"[{len(COMMANDS)} commands](commands.md)": "every option, as `--help` shows it",
        f"[{len(load_rulebook().rules)} rules](rules.md)": "what the protocol asks, and what real Storm punishes",
        f"[{len(load_causes())} causes](causes.md)": "the mistakes behind findings, with the mend in each language",
        f"[{len(every_case())} cases](cases.md)": "what the suites play",
    }
    made = "\n".join(f"- {what}: {why}" for what, why in counted.items())
    return (
        f"# Reference\n\nMade from the code when this site is built.\n\n{made}\n\n"
        "Written by hand, and compared with the code by tests: [mlcheck.toml](../config.md), [reports](../reports.md), "
        "[transcripts](../transcripts.md).\n\n"
        f"## Exit codes\n\n| code | verdict |\n| --- | --- |\n{rows}\n\n"
        "[Exit codes](../exit-codes.md) has a table for each command.\n"
    )


def commands() -> str:
    """Every command with its options."""
    return "# Commands\n\n" + "\n".join(
        f"## mlcheck {name}\n\n```text\n{help_of(name)}```\n"
        for name in ("", *COMMANDS)
        if not name.endswith("--kills")
    ).replace("## mlcheck \n", "## mlcheck\n")


def help_of(name: str) -> str:
    """The help of a command."""
    said = io.StringIO()
    with redirect_stdout(said):
        dispatch([*name.split(), "--help"])
    return said.getvalue()


def rules() -> str:
    """Every rule, in the order of the alphabet, with a table before them."""
    rulebook = load_rulebook()
    found = sorted(rulebook.rules.values(), key=lambda rule: rule.id)
    table = "\n".join(
        f"| [{rule.id}](#{rule.id}) | {rule.level} | {rule.kind} | {cell(rule.title)} |" for rule in found
    )
    told = "\n".join(rule_text(rule, rulebook.effects(rule.id)) for rule in found)
    levels = "; ".join(f"{level}: {text}" for level, text in LEVELS.items())
    return (
        f"# Rules\n\nWhat is judged. {levels}. On the command line: `mlcheck explain RULE`.\n\n"
        f"| rule | level | for | |\n| --- | --- | --- | --- |\n{table}\n\n{told}"
    )


def rule_text(rule: Rule, effects: dict[str, VersionEffect]) -> str:
    """One rule."""
    fates = groupby(sorted(effects.items(), key=lambda pair: version_key(pair[0])), key=lambda pair: pair[1].fate)
    lines = []
    for fate, alike in fates:
        members = list(alike)
        span = members[0][0] if len(members) == 1 else f"{members[0][0]} to {members[-1][0]}"
        error = members[-1][1].error
        lines.append(f"| {span} | {fate} | {code(error) if error else ''} |")
    rows = "\n".join(lines)
    parts = (
        f"## {rule.id}",
        f"**{text_of(rule.title)}** ({rule.level})",
        clause_text(rule.clause),
        text_of(rule.why),
        f"Do: {text_of(rule.mend)}",
        f"| Storm | fate | its log says |\n| --- | --- | --- |\n{rows}",
        '??? example "The smallest conversations that keep to it and break it"',
        indented(fenced(rule.good)),
        indented(fenced(rule.bad)),
    )
    return "\n\n".join(parts) + "\n"


def causes() -> str:
    """Every cause, the one that tells most first."""
    return "# Causes\n\nWhat a report says first. On the command line: `mlcheck explain CAUSE`.\n\n" + "\n".join(
        f"## {cause.id}\n\n**{text_of(cause.title)}**\n\n{text_of(cause.why)}\n\nDo: {text_of(cause.mend)}\n"
        + "".join(f"\n{language}:\n\n{fenced(line)}\n" for language, line in cause.code.items())
        for cause in sorted(load_causes(), key=lambda cause: cause.rank)
    )


def every_case() -> list[Case]:
    """Cases of the component suite and of the library suite."""
    return [*load_cases("component"), *load_cases("library")]


def cases() -> str:
    """Every case, by the words that its id begins with."""
    text = "# Cases\n\nWhat is played. On the command line: `mlcheck explain CASE`, and `mlcheck run -k CASE`.\n"
    for family, members in groupby(sorted(every_case(), key=lambda case: case.id), key=lambda case: family_of(case.id)):
        rows = "\n".join(
            f"| `{case.id}` | {case.level} | {cell(case.title)} | {cell(case.expected)} |" for case in members
        )
        text += f"\n## {family}\n\n| case | level | | what must come back |\n| --- | --- | --- | --- |\n{rows}\n"
    return text


def family_of(name: str) -> str:
    """The first words of a case's id."""
    return ".".join(name.split(".")[: 2 if name.startswith("library.") else 1])


def clause_text(clause: Clause | str) -> str:
    """A clause, and where it stands."""
    found = clause_of(clause)
    return f"> {text_of(found.text)} ({text_of(found.source)})"


def version_key(version: str) -> list[int]:
    """Versions in their order."""
    return [int(part) for part in re.findall(r"\d+", version)]


def text_of(text: str) -> str:
    """Plain text as Markdown: nothing of it is markup but code in backticks, paragraphs stay, lines are joined."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return "\n\n".join(
        "".join(
            part if number % 2 else re.sub(r"([*_>\[\]#|])", r"\\\1", part).replace("<", "&lt;")
            for number, part in enumerate(re.split(r"(`[^`]*`)", each))
        )
        for each in paragraphs
    )


def cell(text: str) -> str:
    """Text as one cell of a table."""
    return text_of(" ".join(text.split()))


def code(text: str) -> str:
    """Text as code in a cell of a table."""
    return "`" + " ".join(text.split()).replace("`", "'").replace("|", "\\|") + "`"


def fenced(text: str) -> str:
    """Text in a fence that nothing in it can close."""
    return f"````text\n{text.strip(chr(10))}\n````"


def indented(text: str) -> str:
    """Text as the body of an admonition."""
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """A page without the comments that are for tests; of the matrix, GitHub's escapes as this Markdown reads them."""
    text = re.sub(r"<!--.*?-->\n?", "", markdown, flags=re.DOTALL)
    if page.file.src_uri.startswith("matrix/"):
        return GITHUB_ESCAPE.sub(lambda found: found[0] if found[1] is None else f"&#{ord(found[1])};", text)
    return text


def on_page_content(html: str, **_: Any) -> str:
    """A page whose tables break no option behind its hyphens: `-k` stays one word."""
    return CELL_CODE.sub(lambda found: OPTION.sub(r'<span class="option">\g<0></span>', found[0]), html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
