"""The pages for users: every command line in them is understood, ids and links exist, tables are those of the code."""

from __future__ import annotations

import fnmatch
import importlib
import os
import re
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import typer
import yaml

from multilang_cli import __version__
from multilang_cli.catalogue.loader import load_causes, load_rules
from multilang_cli.catalogue.worker_log import load_index
from multilang_cli.catalogue.written import load_sentences
from multilang_cli.cli.app import SETTINGS, accepting
from multilang_cli.cli.commands import COMMANDS, GROUPS
from multilang_cli.reports.formats.registry import parse_reports
from multilang_cli.reports.verdict import OUTCOMES
from multilang_cli.scaffold.writing import KINDS, WORKFLOW, languages
from multilang_cli.subject.config import Config
from multilang_cli.subject.options import ACCEPTS, SETTLES, Component
from multilang_cli.subject.profiles import LIMITS
from multilang_cli.subject.settings import Flags, components, run_options
from multilang_cli.subject.storms import played_storms, required_storms
from multilang_cli.suite.cases.case import load_cases
from tests.command import ROOT, mlcheck
from tests.test_docs import BLOCK, INLINE, LINK, blocks, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
OWN = [ROOT / "docs" / f"{name}.md" for name in ("ci", "debugging", "first-run", "not-tested", "samples-and-settles")]
CASES = [case.id for case in load_cases()]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
CASES_OF_ALL = [*CASES, *(case.id for case in load_cases("library"))]
MEANT_TO_FAIL = "bolt.setle"
"""A misspelt id, of which a page shows how it is refused."""
IDS = {*load_rules(), *load_sentences(), *(cause.id for cause in load_causes())}
IDS |= {*CASES_OF_ALL, *(id_.rpartition(".")[0] for id_ in CASES_OF_ALL)}
PROGRAM = re.compile(r"^(?:\S*/)?mlcheck (?=[a-z])")
HYPHENATED = re.compile(r"[a-z]+(?:-[a-z]+)+")
DOTTED = re.compile(r"(?<![\w.])(?:bolt|end|handshake|spout|stderr|stdout)(?:\.[a-z-]+)+")
CELL = re.compile(r"^\| `([\w-]+)` \|", re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def strings(value: Any) -> Iterator[str]:
    """Every string in a YAML value."""
    if isinstance(value, str):
        yield from value.splitlines()
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)


def lines_of(page: Path) -> list[str]:
    """Every command line of mlcheck in a page, recipes of CI systems included."""
    text = page.read_text(encoding="utf-8")
    recipes = [line for body in blocks(text, "yaml") for line in strings(yaml.safe_load(body))]
    found = [line.strip().removeprefix("python3 dev.py ") for line in (*quoted(text), *recipes)]
    return [line for line in found if PROGRAM.match(line)]


LINES = sorted({PROGRAM.sub("", line) for page in PAGES if page.parent.name != "tutorials" for line in lines_of(page)})
"""Those of tutorials are played (`tests/following`)."""


@cache
def parser_of(name: str) -> Any:
    """The command as typer has it."""
    entry = COMMANDS[name]
    app = typer.Typer(add_completion=False)
    function = getattr(importlib.import_module(f"multilang_cli.cli.{entry.module}"), entry.function)
    app.command(context_settings=SETTINGS)(accepting(function, name))
    return typer.main.get_command(app)


def given(words: list[str]) -> dict[str, Any]:
    """What typer makes of a command line, by parameter. Raises as typer does."""
    name = " ".join(words[:2]) if words[0] in GROUPS else words[0]
    context = parser_of(name).make_context(f"mlcheck {name}", words[len(name.split()) :])
    return {key: value for key, value in context.params.items() if value}


def test_command_lines_are_found() -> None:
    assert len(LINES) > 40
    assert {"ci.md", "debugging.md"} <= {page.name for page in PAGES if lines_of(page)}


@pytest.mark.parametrize("line", [line for line in LINES if "|" not in line])
def test_command_lines_are_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples.ndjson").write_text('["snow white", 7]\n', encoding="utf-8")
    (tmp_path / "cases.txt").write_text("bolt.settle.once\n", encoding="utf-8")
    words = shlex.split(line)
    if len(words) == 1 or (words[0] in GROUPS and len(words) == 2):
        assert any(name.split()[0] == words[0] for name in COMMANDS)
        return
    values = given(words)
    if words[0] == "run":
        flags = msgspec.convert(values, Flags)
        known = Config(Path("mlcheck.toml"), {}, (Component(command=("x",), name=flags.component or "x"),))
        if not flags.testees:
            components(flags, known)
        options = run_options(flags, {}, known)
        required_storms(options.storm_required, played_storms(options.storm))
        parse_reports(report for report in values.get("reports", ()) if "$" not in report)
        ids = IDS | {"bolt", "spout", MEANT_TO_FAIL} | {Path(suite).stem for suite in flags.suites}
        named = [pattern for pattern in (*flags.include, *flags.exclude) if pattern[0] != "@"]
        assert [pattern for pattern in named if not fnmatch.filter(ids, pattern)] == []
    if words[0] == "explain":
        said = " ".join(values.get("words") or ())
        assert values.get("log") or said in IDS or load_index().recognise(said)
    if words[0] == "new":
        assert values["kind"] in KINDS
        assert values.get("language") in languages()


@pytest.mark.parametrize("page", OWN, ids=lambda page: page.name)
def test_ids_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    inline = [word for quote in INLINE.findall(BLOCK.sub("", text)) for word in quote.split()]
    hyphenated = {word for word in inline if HYPHENATED.fullmatch(word)}
    assert hyphenated - {*load_rules(), *SETTLES, *LIMITS, *ACTION["inputs"], *ACTION["outputs"]} == set()
    shown = re.findall(r"^(?:FAIL|WARN)  ([\w.-]+)  |^  Wrong +([\w-]+):|explain ([\w.-]+)", text, re.MULTILINE)
    assert {name for row in shown for name in row if name and name[0].isalpha()} - IDS == set()
    dotted = {word.removesuffix(".ndjson") for word in DOTTED.findall(text.replace(".ndjson", ""))}
    assert dotted - IDS - {id_.split(".")[0] for id_ in CASES} == set()


@each_page
def test_links_to_headings_resolve(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        if anchor and "://" not in link and not name.endswith((".webp", ".svg")):
            headings = HEADING.findall((page.parent / (name or page.name)).read_text(encoding="utf-8"))
            assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def near(page: str, clicks: int) -> set[str]:
    """The pages of docs/ that are so many links away from one of them, at most."""
    found = {page}
    for _ in range(clicks):
        files = [(ROOT / "docs" / name, name) for name in found]
        links = [
            (name, link.partition("#")[0])
            for file, name in files
            if file.exists()
            for link in LINK.findall(file.read_text(encoding="utf-8"))
        ]
        found |= {os.path.normpath(Path(name).parent / link) for name, link in links if link and "://" not in link}
    return found


def test_the_site_leads_to_every_page() -> None:
    nav = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert pages - set(nav) == set()
    assert pages - near("index.md", 2) == set()
    assert "docs/index.md" in LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", OWN, ids=lambda page: page.name)
def test_pages_for_users_are_short(page: Path) -> None:
    assert 40 <= len(page.read_text(encoding="utf-8").splitlines()) <= 130


def test_no_page_is_longer_than_one_sitting() -> None:
    # Nobody reads these from top to end: one looks up a command, a table, a language, a library, an attack in them.
    by_heading = {"exit-codes.md", "audit-tables.md", "ci-libraries.md", "libraries.md", "threat-model.md", "matrix.md"}
    pages = [
        page for page in (ROOT / "docs").rglob("*.md") if page.name not in by_heading and page.parent.name != "hunts"
    ]
    assert [page.name for page in pages if len(page.read_text(encoding="utf-8").splitlines()) > 145] == []


def test_the_words_of_settles_and_accepts_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "samples-and-settles.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\w+):.*$", text, flags=re.MULTILINE)
    section = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert tuple(CELL.findall(section["settles"])) == SETTLES
    assert tuple(CELL.findall(section["accepts"])) == ACCEPTS


def test_exit_codes_in_ci_are_all_there() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)] == sorted(
        end.code for end in OUTCOMES
    )


@pytest.mark.component
def test_the_steps_for_github_are_those_that_are_written(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    [steps] = [plain for plain in map(yaml.safe_load, blocks(text, "yaml")) if isinstance(plain, list)]
    assert mlcheck("new", "bolt", "--language", "python", cwd=tmp_path).returncode == 0
    written = yaml.safe_load((tmp_path / WORKFLOW).read_text(encoding="utf-8"))["jobs"]["mlcheck"]["steps"]
    assert steps == written


@pytest.mark.parametrize("page", [*OWN, ROOT / "README.md"], ids=lambda page: page.name)
def test_pinned_versions_are_this_one(page: Path) -> None:
    pinned = re.findall(r"multilang-cli==([\d.]+)|^mlcheck (\d[\d.]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {version for row in pinned for version in row if version} <= {__version__}
