"""Clauses are shown as they stand, and in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_english, load_rules
from multilang_cli.reports.explaining.clauses import in_english
from multilang_cli.suite.cases.case import load_cases
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path


def test_every_clause_that_is_quoted_in_chinese_has_its_english_and_no_other_has() -> None:
    clauses = {each.clause for each in load_rules().values()}
    clauses |= {case.clause for suite in ("component", "library") for case in load_cases(suite)}
    chinese = {clause.text.strip() for clause in clauses if not clause.text.isascii()}
    assert set(load_english()) == {text for text in chinese if any(character >= "\u4e00" for character in text)}
    assert all(english.isascii() for english in load_english().values())


def test_a_rule_is_explained_with_its_clause_in_both_languages(tmp_path: Path) -> None:
    told = " ".join(mlcheck("explain", "anchor-unknown", cwd=tmp_path).stdout.split())
    clause = load_rules()["anchor-unknown"].clause
    assert f'"{clause.text}" ({clause.source}) {in_english(clause)}' in told
    assert "In English" not in mlcheck("explain", "ack-unknown", cwd=tmp_path).stdout
