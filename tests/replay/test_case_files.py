"""Case files that a program writes are read as what was written, whatever the tuples hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.replay.case_files import NoCaseError, write_case_file
from multilang_cli.suite.cases.case import read_case

if TYPE_CHECKING:
    from pathlib import Path


def _case(value: Any) -> dict[str, Any]:
    return {
        "id": "bolt.words",
        "title": "takes it",
        "kind": "bolt",
        "level": "must",
        "clause": {"text": "It must.", "source": "a test"},
        "expected": "nothing",
        "steps": ["handshake", {"tuple": {"these": [[value]]}}],
    }


@given(text=st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["\x85", "a\x85b", "\u2028", "\ufeff"]))
def test_any_text_is_read_as_it_was(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("case") / "bolt.words.yaml"
    write_case_file(path, _case(text))
    assert read_case(path).steps[1] == ("tuple", {"these": [[text]]})


def test_letters_stay_letters(tmp_path: Path) -> None:
    write_case_file(tmp_path / "bolt.words.yaml", _case("snöwhite 雪"))
    assert "snöwhite 雪" in (tmp_path / "bolt.words.yaml").read_text(encoding="utf-8")


def test_what_yaml_can_not_hold_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoCaseError, match="half of a surrogate pair"):
        write_case_file(tmp_path / "bolt.words.yaml", _case("\ud83d"))
    assert not list(tmp_path.iterdir())


def test_what_can_not_be_seen_is_written_by_its_number(tmp_path: Path) -> None:
    """Such as U+202E, which turns what follows it around on a screen."""
    path = tmp_path / "bolt.words.yaml"
    write_case_file(path, _case("a\u202eb\u200bc"))
    assert all(line.isprintable() for line in path.read_text(encoding="utf-8").split("\n"))
    assert read_case(path).steps[1] == ("tuple", {"these": [["a\u202eb\u200bc"]]})


def test_another_is_replaced_only_where_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "bolt.words.yaml"
    write_case_file(path, _case("one"))
    with pytest.raises(NoCaseError, match="nothing is overwritten"):
        write_case_file(path, _case("two"))
    write_case_file(path, _case("two"), replace=True, private=True)
    assert read_case(path).steps[1] == ("tuple", {"these": [["two"]]})
    assert path.stat().st_mode & 0o777 == 0o600
