"""The classic mistakes, in Python and in shell: each is named first, with its own cause, and none in what is right.

All languages and mistakes: ``python -m tests.mistakes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mistakes.playing import MISTAKES, changes, languages, play, wrong_with

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component
IN_CI = ("python", "shell")
CELLS = [(language, name) for language in IN_CI for name in changes(language)]


@pytest.mark.sample(500)
@pytest.mark.parametrize(("language", "name"), CELLS, ids=[f"{language}-{name}" for language, name in CELLS])
def test_the_mistake_is_the_first_thing_read(language: str, name: str, tmp_path: Path) -> None:
    assert wrong_with(name, play(language, name, tmp_path)) == ""


@pytest.mark.parametrize("language", IN_CI)
@pytest.mark.parametrize("kind", ["bolt", "spout"])
def test_nothing_is_named_in_what_is_right(language: str, kind: str, tmp_path: Path) -> None:
    seen = play(language, kind, tmp_path)
    assert (seen.cause, seen.exit_code) == ("", 0), seen


def test_each_mistake_is_made_in_some_language() -> None:
    assert set(MISTAKES) == {name for language in languages() for name in changes(language)}
