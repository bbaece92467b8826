"""``mlcheck docs``: pages are found by name and by words; no text names a file that is not installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from multilang_cli.catalogue.pages import for_terminal, load_pages, search_pages
from multilang_cli.cli.dispatch import dispatch

ROOT = Path(__file__).parent.parent
PATH = re.compile(r"(?<![\w/])docs/[\w/.-]*\w\.md\b|conformance/testees/README.md")


@pytest.mark.parametrize(
    ("words", "first"),
    [("worker log", "worker-log"), ("hangs", "tutorials/hang"), ("exit codes", "exit-codes"), ("SARIF", "reports")],
)
def test_words_find_the_page(words: str, first: str) -> None:
    pages = load_pages()
    found = search_pages(words, pages)
    assert found[0].page.name == first
    assert len(found) < len(pages)


def test_no_page_has_what_is_not_there() -> None:
    assert search_pages("xyzzy", load_pages()) == []
    assert search_pages("", load_pages()) == []


@pytest.mark.parametrize("name", load_pages())
def test_links_are_commands_that_show_a_page(name: str) -> None:
    text = for_terminal(load_pages()[name])
    assert "](" not in re.sub(
        r"\]\((?:https?:|#|badges/|\.\./\.\./docs)[^)]*\)|`[^`\n]*`|```.*?```", "", text, flags=re.DOTALL
    )
    assert set(re.findall(r"`mlcheck docs ([\w/-]+)`", text)) - {"WORD"} <= set(load_pages())


def test_a_page_is_shown_by_its_name_and_matches_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["docs", "ci"]) == 0
    assert capsys.readouterr().out.startswith("# In CI\n")
    assert dispatch(["docs", "bolt"]) == 0
    assert capsys.readouterr().out.startswith("# A bolt, from nothing to CI\n")
    assert dispatch(["docs", "heartbeat"]) == 0
    assert capsys.readouterr().out.count("mlcheck docs ") > 2
    assert dispatch(["docs"]) == 0
    assert "worker-log " in capsys.readouterr().out
    assert dispatch(["docs", "workr-log"]) == 2
    assert "worker-log" in capsys.readouterr().err


def test_no_text_names_a_path_that_an_installed_user_does_not_have() -> None:
    for_readers_of_the_code = {"__init__.py", "api.py", "asked.py", "testee.py"}
    for_readers_of_the_code.add("docs.py")  # of the audit, which writes its tables into that page
    files = [path for path in (ROOT / "multilang_cli").rglob("*.py") if path.name not in for_readers_of_the_code]
    files += [*(ROOT / "templates").rglob("*.*"), *(ROOT / "schemas").rglob("*.json")]
    files += (ROOT / "conformance" / "testees").rglob("*.txt")
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    assert {(path.name, name) for path, text in texts.items() for name in PATH.findall(text)} == set()
