"""The documents tell the truth: commands, options, codes, keys, links, versions and the picture of the README."""

from __future__ import annotations

import ast
import html
import io
import re
import runpy
import shlex
import tomllib
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_causes, load_rules, load_versions
from multilang_cli.catalogue.worker_log import load_index
from multilang_cli.catalogue.written import load_sentences
from multilang_cli.cli.commands import COMMANDS
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.reports.verdict import OUTCOMES
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.transcript.format import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
ROW = re.compile(r"^\| (\d+) \| ([\w-]+) \|", re.MULTILINE)
PICTURE = ROOT / "docs" / "pictures" / "failure.svg"

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(text: str, language: str) -> list[str]:
    return [body for _, found, body in BLOCK.findall(text) if found == language]


def quoted(text: str) -> list[str]:
    """Every command line that a page quotes, in blocks or in running text."""
    shell = "\n".join(blocks(text, "sh")).replace("\\\n", " ").splitlines()
    console = [line[2:] for body in blocks(text, "console") for line in body.splitlines() if line.startswith("$ ")]
    return [*shell, *console, *INLINE.findall(BLOCK.sub("", text))]


def mlcheck_lines(pages: Iterable[Path] = PAGES) -> list[list[str]]:
    """The words after `mlcheck` of every command line in `pages`."""
    lines = [line for page in pages for line in quoted(page.read_text(encoding="utf-8"))]
    lines = [line.removeprefix("python3 dev.py ") for line in lines]
    return [shlex.split(line.partition(" | ")[0])[1:] for line in lines if line.startswith("mlcheck ")]


def names_of(words: list[str]) -> list[str]:
    """The commands that `words` begin with: `schema list|show` has two; none if it speaks of a whole group."""
    if words[0] in COMMANDS:
        return [words[0]]
    return [f"{words[0]} {name}" for word in words[1:2] for name in word.split("|")]


def test_pages_and_their_commands_are_found() -> None:
    assert {"README.md", "ARCHITECTURE.md", "exit-codes.md"} <= {page.name for page in PAGES}
    assert len(mlcheck_lines()) >= 10


@cache
def words_of_the_source() -> frozenset[str]:
    """Every word of the code and of what it reads."""
    files = [ROOT / "pyproject.toml", ROOT / "dev.py"]
    for folder, pattern in {
        "multilang_cli": "*.py",
        "tests": "*.py",
        "conformance/rules": "*.yaml",
        "schemas": "*.json",
    }.items():
        files += (ROOT / folder).rglob(pattern)
    return frozenset(word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_names_and_files_that_contributors_are_sent_to_are_there(page: str) -> None:
    named = INLINE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert {name for name in named if name.isidentifier()} <= words_of_the_source()
    files = [name for name in named if re.fullmatch(r"[\w./-]+\.(py|yaml|json|toml|md)", name)]
    places = (ROOT / "multilang_cli", ROOT / "conformance")
    assert [
        file for file in files if not ((ROOT / file).exists() or any([*place.rglob(file)] for place in places))
    ] == []


@cache
def options_of(name: str) -> frozenset[str]:
    """The options that the help of a command names."""
    with redirect_stdout(io.StringIO()) as shown:
        assert dispatch([*name.split(), "--help"]) == 0, f"no command {name}"
    return frozenset(re.findall(r"(?<![\w-])--?[a-z][\w-]*", shown.getvalue()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_exist(page: Path) -> None:
    for words in mlcheck_lines([page]):
        if words[0].startswith("--"):
            assert dispatch(words) == 0
            continue
        for name in names_of(words):
            own = words[: words.index("--")] if "--" in words else words
            assert {word for word in own if word.startswith("-")} <= options_of(name), words


def test_rules_and_cases_that_are_named_exist() -> None:
    explained = {words[1] for words in mlcheck_lines() if words[0] == "explain" and len(words) > 1}
    shown = re.findall(
        r"mlcheck explain ([\w-]+)", html.unescape(PICTURE.read_text(encoding="utf-8")).replace("\xa0", " ")
    )
    assert shown
    options = {word for word in explained if word.startswith("--")}
    texts = {word for word in explained if word in {"TEXT", "CAUSE"} or load_index().recognise(word)}
    known = {*load_rules(), *load_sentences(), *(cause.id for cause in load_causes())}
    known |= {case.id for case in load_cases()}
    assert {*explained, *shown} - options - texts <= known


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.splitlines()) <= 80


def test_exit_codes_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    assert {int(code): verdict for code, verdict in ROW.findall(text)} == {end.code: end.verdict for end in OUTCOMES}
    order = ", ".join(str(end.code) for end in OUTCOMES)
    assert f"the first of {order} counts" in text


def test_every_command_has_a_table_of_exit_codes() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    sections = re.split(r"^## mlcheck ", text, flags=re.MULTILINE)[1:]
    told = {name.strip() for section in sections for name in section.partition("\n")[0].split(",")}
    assert {name if name in told else name.split()[0] for name in COMMANDS} == told
    for section in sections:
        codes = [int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
        assert codes == sorted(codes)
        assert {0, 2, 5, 130} <= set(codes) <= {end.code for end in OUTCOMES}


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    local = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    made = [link for link in local if link.removeprefix("../").startswith(("reference/", "protocol/"))]
    # Those are made by .ci/site.py: mkdocs looks whether they are there.
    assert [link for link in local if link not in made and not (page.parent / link.partition("#")[0]).exists()] == []


@each_page
def test_paths_that_are_named_exist(page: Path) -> None:
    tops = ("multilang_cli/", "conformance/", "schemas/", "examples/", "docs/", "tests/")
    paths = [name for name in INLINE.findall(page.read_text(encoding="utf-8")) if name.startswith(tops)]
    made = "multilang_cli/_data/"
    assert [path for path in paths if path != made and not (ROOT / path.partition("::")[0]).exists()] == []


def test_versions_are_those_that_were_verified() -> None:
    section = README.partition("## Storm versions")[2].partition("\n## ")[0]
    verified, _, documented = section.partition("From documents")
    number = re.compile(r"\d+\.\d+\.\d+")
    assert set(number.findall(verified)) == {version.id for version in load_versions() if version.verified}
    assert set(number.findall(documented)) == {version.id for version in load_versions() if not version.verified}


def test_configuration_example_and_keys_hold_to_the_schema() -> None:
    text = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    [example] = blocks(text, "toml")
    assert schemas.explain(tomllib.loads(example), "config") == []
    table = text.partition("| key of a component |")[2]
    first = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", table, re.MULTILINE)
    component = schemas.load("config")["$defs"]["component"]["properties"]
    assert {key for cell in first for key in INLINE.findall(cell)} == set(component)


def test_channels_of_transcripts() -> None:
    text = (ROOT / "docs" / "transcripts.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^ *\| `(\w+)` \|", text, re.MULTILINE)) == CHANNELS


def test_stages_that_are_named_are_those_of_dev_py() -> None:
    tree = ast.parse((ROOT / "dev.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Stage"]
    stages = {ast.literal_eval(call.args[0]) for call in calls}
    lines = [line for page in PAGES for line in quoted(page.read_text(encoding="utf-8"))]
    named = {word for line in lines if line.startswith("python3 dev.py test ") for word in line.split()[3:]}
    assert named & stages
    assert {name for name in named - stages if not (name.startswith("tests/") and (ROOT / name).is_file())} == set()


def words_in(svg: str) -> list[str]:
    """The words of a picture, line by line as they stand in it, with one number for all numbers."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", svg)
    return [re.sub(r"-?\d[\d.,]*", "N", html.unescape(text).replace("\xa0", " ")).rstrip() for text in texts]


@pytest.mark.component
def test_the_picture_of_the_readme_is_what_mlcheck_shows(tmp_path: Path) -> None:
    made = runpy.run_path(str(ROOT / ".ci" / "pictures.py"))
    svg = made["svg_of"](f"$ {made['FAILURE']}\n{made['shown_by'](made['FAILURE'], tmp_path)}")
    assert words_in(svg) == words_in(PICTURE.read_text(encoding="utf-8"))
    assert "@font-face" not in svg


def test_the_state_of_the_field_is_that_of_the_matrix() -> None:
    told = README.partition("## What it finds in the field")[2].partition("\n## ")[0]
    matrix = (ROOT / "docs" / "matrix" / "matrix.json").read_text(encoding="utf-8")
    rows = (ROOT / "docs" / "matrix" / "matrix.md").read_text(encoding="utf-8")
    assert "-".join(re.findall(r"(\d+) November (\d+)", told)[0][::-1]) in matrix.replace("-11-", "-")
    for name, failed, number in re.findall(r"(?:; )?([\w.-]+)(?: and streamparse)?(?: fails?|,) (\d+) of (\d+)", told):
        assert re.search(rf"^\| {name}\b.*\b of {number} passed, {failed} failed", rows, re.MULTILINE), name
    for name, number in re.findall(r"([\w.]+) (?:passes )?all (\d+)", told)[:2]:
        assert re.search(rf"^\| {re.escape(name)}\b.*\b{number} of {number} passed", rows, re.MULTILINE), name
