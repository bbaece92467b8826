"""``mlcheck docs``: pages are found by name and by words; no text names a file that is not installed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from multilang_cli.catalogue.pages import for_terminal, load_pages, search_pages
from multilang_cli.catalogue.written import PAGES_BESIDE, load_chapters
from multilang_cli.cli.dispatch import dispatch

ROOT = Path(__file__).parent.parent
PATH = re.compile(r"(?<![\w/])docs/[\w/.-]*\w\.md\b|conformance/testees/README.md")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("worker log", "worker-log"),
        ("hangs", "tutorials/hang"),
        ("exit codes", "exit-codes"),
        ("SARIF", "reports"),
        ("passes here", "index"),
        ("task ids", "tutorials/hang"),
    ],
)
def test_words_find_the_page(words: str, first: str) -> None:
    pages = load_pages()
    found = search_pages(words, pages)
    assert found[0].page.name == first
    assert len(found) < len(pages)


def test_what_leads_stands_before_records_and_a_word_is_found_where_one_begins() -> None:
    names = [match.page.name for match in search_pages("heartbeat", load_pages())]
    first_record = next(place for place, name in enumerate(names) if name.startswith("hunt"))
    assert first_record > names.index("tutorials/hang")
    assert names[first_record:] == [name for name in names if re.match("hunt|matrix|libraries|features|threat", name)]
    assert search_pages("threat", load_pages())[0].page.name == "threat-model"
    assert search_pages("eartbeat", load_pages()) == []


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("timeout", "protocol/heartbeats"),
        ("deadlock", "protocol/broken-storm"),
        ("direct emit", "protocol/emit"),
        ("gate my library", "tutorials/library"),
        ("it hangs", "tutorials/hang"),
        ("what my worker's log says", "worker-log"),
    ],
)
def test_a_problem_leads_to_its_page_and_to_the_protocol(
    words: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["docs", *words.split()]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"mlcheck docs {first}"


def test_a_sentence_leads_to_the_pages_that_have_most_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["passes", "locally,", "fails", "in", "production"]
    assert dispatch(["docs", *words]) == 0
    said, first, *_ = capsys.readouterr().out.splitlines()
    assert said == "No page has all of these words; those that have the most:"
    assert first == "mlcheck docs index"
    assert dispatch(["docs", "--json", *words]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "index"
    assert dispatch(["docs", "xyzzy", "qqq", "production"]) == 2
    assert "no page has" in capsys.readouterr().err


def test_a_search_names_what_explain_tells_of_the_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["docs", "heartbeat"]) == 0
    shown = capsys.readouterr().out
    assert "mlcheck explain heartbeats.answered\n    sentence: A bolt MUST answer each heartbeat with" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert dispatch(["docs", "--json", "pipes"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"about": "sentence", "name": "wire.pipes"}.items() <= next(e for e in found if e["about"] != "page").items()
    assert {each["about"] for each in found} >= {"page", "cause", "sentence"}
    assert dispatch(["docs", "settles-twice"]) == 0
    assert "mlcheck explain settles-twice\n    cause: " in capsys.readouterr().out


def test_no_page_has_what_is_not_there() -> None:
    assert search_pages("xyzzy", load_pages()) == []
    assert search_pages("", load_pages()) == []


@pytest.mark.parametrize("name", load_pages())
def test_links_are_commands_that_show_a_page(name: str) -> None:
    text = for_terminal(load_pages()[name])
    assert "](" not in re.sub(
        r"\]\((?:https?:|#|badges/|\.\./\.\./docs)[^)]*\)|`[^`\n]*`|```.*?```", "", text, flags=re.DOTALL
    )
    assert set(re.findall(r"`mlcheck docs ([\w/-]+)`", text)) - {"WORD", "heartbeat"} <= set(load_pages())


@pytest.mark.parametrize(
    "name",
    ["protocol", *(f"protocol/{name}" for name in ([chapter.id for chapter in load_chapters()] + [*PAGES_BESIDE]))],
)
def test_the_written_protocol_is_shown_too(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["docs", name]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# ")
    assert "<a id" not in shown
    assert "](" not in re.sub(r"\]\(https:[^)]*\)", "", shown)
    assert not re.search(r"(?<![`\w])\[(?!`)[\w-]+(?= ·)", shown)  # half of a link
    assert "testees/README.md" not in shown
    for link in re.findall(r"`mlcheck docs ([\w/-]+)`", shown):
        assert link.startswith("protocol/") or link == "testees"
    assert dispatch(["docs"]) == 0
    assert f"{name} " in capsys.readouterr().out
    assert dispatch(["docs", f"{name}-none"]) == 2


@pytest.mark.parametrize("name", ["errata", "broken-storm"])
def test_what_storm_has_wrong_is_found_without_its_folder(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["docs", name]) == 0
    assert capsys.readouterr().out.startswith(f"# {PAGES_BESIDE[name]}\n")


def test_a_page_is_shown_by_its_name_and_matches_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["docs", "ci"]) == 0
    assert capsys.readouterr().out.startswith("# In CI\n")
    assert dispatch(["docs", "bolt"]) == 0
    assert capsys.readouterr().out.startswith("# A bolt, from nothing to CI\n")
    for name, title in (("hunts", "Hunts: components of others"), ("tutorials", "Tutorials"), ("matrix", "")):
        assert dispatch(["docs", name]) == 0
        assert capsys.readouterr().out.startswith(f"# {title}")
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
