"""The written protocol: its sentences, and the rules and cases that rest on them."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import CatalogueError, load_rules, problems
from multilang_cli.catalogue.oracle import oracle_cases
from multilang_cli.catalogue.standing import standing_of
from multilang_cli.catalogue.written import (
    BESIDE,
    clause_of,
    load_broken,
    load_chapters,
    load_errata,
    load_sentences,
)
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.protocol.words.verdicts import Clause
from multilang_cli.reports.explaining.protocol_pages import write_pages
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.hosts.case import load_host_cases
from tests.command import mlcheck
from tests.components import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = locate.data_path("conformance", "protocol")
SENTENCES = {id_: placed.sentence for id_, placed in load_sentences().items()}
RULES = load_rules()
CASES = {case.id: case.clause for case in (*load_cases(), *load_cases("library"))}
CASES |= {case.id: case.clause for case in load_host_cases()}
CJK = re.compile(r"[\u2e80-\u9fff\uff00-\uffef\u3000-\u303f]")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_files_hold_to_their_schema(path: Path) -> None:
    assert problems(path, f"protocol-{path.stem}" if path.stem in BESIDE else "protocol") == []


def test_ids_are_unique_and_begin_with_their_chapter() -> None:
    ids = [(chapter.id, s.id) for chapter in load_chapters() for part in chapter.sections for s in part.sentences]
    assert len({id_ for _, id_ in ids}) == len(ids) == len(SENTENCES) > 150
    assert all(id_.startswith(f"{chapter}.") for chapter, id_ in ids)
    assert [chapter.number for chapter in load_chapters()] == list(range(1, len(load_chapters()) + 1))


def test_every_rule_and_case_rests_on_a_sentence_that_names_it() -> None:
    for rule in RULES.values():
        assert isinstance(rule.clause, str), rule.id
        assert rule.id in SENTENCES[rule.clause].rules, f"{rule.clause} does not name {rule.id} among its rules"
    for case, clause in CASES.items():
        assert isinstance(clause, str), case
        assert case in SENTENCES[clause].cases, f"{clause} does not name {case} among its cases"


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def is_test(name: str) -> bool:
    file, _, function = name.partition("::")
    return function in functions_of(file)


@pytest.mark.parametrize("id_", SENTENCES)
def test_a_sentence_names_what_exists_and_what_it_asks_is_tested_or_says_why_not(id_: str) -> None:
    sentence = SENTENCES[id_]
    assert set(sentence.rules) <= RULES.keys()
    assert set(sentence.cases) <= CASES.keys()
    assert set(sentence.shown_by) <= oracle_cases().keys()
    assert all(is_test(name) for name in sentence.tests)
    tested = bool(sentence.rules or sentence.cases)
    assert not (tested and sentence.untestable)
    assert tested or sentence.shown_by or sentence.tests or sentence.untestable, f"nothing shows {id_}"
    if sentence.level in {"must", "should"}:
        assert tested or sentence.untestable
    assert sentence.level == "fact" or sentence.level.upper() in sentence.text
    if sentence.level != "must":
        assert "MUST" not in sentence.text
    assert sentence.binds != "host" or "host" in sentence.text


@pytest.mark.parametrize("id_", SENTENCES)
def test_what_real_storm_does_is_confirmed_or_says_why_not(id_: str) -> None:
    sentence = SENTENCES[id_]
    confirmed = bool((standing := standing_of(sentence)) and standing.confirmed) or bool(sentence.tests)
    if sentence.binds == "library":  # Storm sees no library.
        assert not sentence.unconfirmed
    else:
        assert confirmed != bool(sentence.unconfirmed or (sentence.untestable and not confirmed))


def test_a_sentence_that_nothing_confirms_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", "wire.read.pieces"]) == 0
    assert "Unconfirmed  It is about what a component does with what it reads" in capsys.readouterr().out
    write_pages(tmp_path)
    assert "not confirmed: It is about what a component does" in (tmp_path / "wire.md").read_text(encoding="utf-8")


def test_a_must_rule_rests_on_no_weaker_sentence_of_components() -> None:
    weaker = {r.id for r in RULES.values() if r.level == "must" and SENTENCES[str(r.clause)].level != "must"}
    assert weaker == set()


def test_chinese_stands_in_the_provenance_only() -> None:
    for sentence in SENTENCES.values():
        assert sentence.text.isascii(), sentence.id
        assert not CJK.search(clause_of(sentence.id).source)
    for folder in ("rules", "cases"):
        for path in locate.data_path("conformance", folder).rglob("*.yaml"):
            text = path.read_text(encoding="utf-8")
            assert "clause: " in text or path.stem == "order", path
            assert "\u591a\u8bed\u8a00" not in text, path


def test_every_sentence_of_the_page_that_demands_something_is_written_down() -> None:
    quoted = {(quotation.at, quotation.text) for sentence in SENTENCES.values() for quotation in sentence.page}
    demanding = [text for _, text in quoted if re.search("必须|应该|需要|不能", text)]
    assert len(demanding) >= 16


def test_a_clause_is_a_sentence_by_its_id_or_quoted() -> None:
    quoted = Clause("It must.", "a page")
    assert clause_of(quoted) is quoted
    assert clause_of("bolt.ack.once").source == "Multilang protocol 5.3, bolt.ack.once"
    with pytest.raises(CatalogueError, match="no sentence"):
        clause_of("bolt.ack.never")


@pytest.mark.component
def test_a_rule_is_explained_with_its_sentence(tmp_path: Path) -> None:
    told = " ".join(mlcheck("explain", "anchor-unknown", cwd=tmp_path).stdout.split())
    clause = clause_of("bolt.anchors")
    assert f'"{" ".join(clause.text.split())}" ({clause.source})' in told
    assert not CJK.search(told)


@pytest.mark.component
def test_a_sentence_is_explained_with_its_rules_cases_fates_and_sources(tmp_path: Path) -> None:
    told = " ".join(mlcheck("explain", "bolt.ack.once", cwd=tmp_path).stdout.split())
    assert "MUST; Multilang protocol 5.3, Bolts" in told
    assert "ack-twice: acks a tuple that is settled already dies on all 5" in told
    assert "bolt.settle.once: settles every tuple" in told
    assert "confirmed on 5 of 5 real Storms" in told
    assert "ack \u662f\u8fd9\u6837\u7684" in told
    listed = mlcheck("list", "protocol", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(SENTENCES)


def test_what_real_storm_did_is_computed() -> None:
    sentence = SENTENCES["bolt.ack.once"]
    standing = standing_of(sentence)
    assert standing is not None
    assert standing.asked == standing.confirmed == ("0.9.7", "0.10.2", "1.2.4", "2.5.0", "2.8.3")
    since = standing_of(msgspec.structs.replace(sentence, since="1.0", until="2.8"))
    assert since is not None
    assert since.asked == ("1.2.4", "2.5.0")
    wrong = standing_of(msgspec.structs.replace(sentence, shown_by=("bolt-ack-twice",)))
    assert wrong is not None
    assert wrong.text == "confirmed on 0 of 5"
    assert standing_of(SENTENCES["library.all"]) is None


def test_errata_and_what_is_broken_name_what_exists() -> None:
    for entries in (load_errata(), load_broken()):
        assert len({entry.id for entry in entries}) == len(entries)
        assert all(set(entry.sentences) <= SENTENCES.keys() for entry in entries)
    for defect in load_broken():
        assert set(defect.scripts) <= oracle_cases().keys(), defect.id
        assert defect.report.startswith("Summary: "), defect.id
        assert "\nAffects: " in defect.report, defect.id


@pytest.mark.long
def test_the_pages_are_made_and_their_links_lead_somewhere(tmp_path: Path) -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in write_pages(tmp_path / "protocol")}
    assert {"index.md", "fates.md", "cases.md", "errata.md", "broken-storm.md"} < pages.keys()
    anchors = {name: set(re.findall(r'<a id="([^"]+)"', text)) for name, text in pages.items()}
    links = {link for text in pages.values() for link in re.findall(r"\]\(([^)]+)\)", text) if ":" not in link}
    assert len(links) > 400
    for link in links:
        page, _, anchor = link.partition("#")
        assert page in pages, link
        assert not anchor or anchor in anchors[page], link
    assert {id_ for ids in anchors.values() for id_ in ids} >= SENTENCES.keys()
    assert not any(CJK.search(text) for text in pages.values())


def test_the_untested_are_listed_each_with_what_shows_it_or_why_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert dispatch(["list", "protocol", "--untested", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in listed] == [id_ for id_, s in SENTENCES.items() if not (s.rules or s.cases)]
    why = {each["id"]: each["why"] for each in listed}
    assert "" not in why.values()
    assert why["spout.commands.unknown"] == "no Storm writes another command"
    assert why["wire.lines"] == "confirmed on 5 of 5 real Storms that were asked"
    assert why["wire.end.last"].startswith("shown by tests/")
