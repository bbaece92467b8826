"""Tutorials are followed from first to last command, as a newcomer would: what they show is what happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.command import ROOT
from tests.following.reader import Reader, blocks_of

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted(set((ROOT / "docs" / "tutorials").glob("*.md")) - {ROOT / "docs" / "tutorials" / "index.md"})

pytestmark = pytest.mark.component


def test_every_tutorial_is_followed() -> None:
    assert {page.stem for page in PAGES} == {"bolt", "hang", "incident", "library", "topology"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert sum(block.language in {"sh", "console"} for block in blocks) >= 4
    reader = Reader(tmp_path)
    for block in blocks:
        reader.follow(block)
