"""A page of lines: whatever a name in it is, it does not make the lines longer than the page is wide."""

from __future__ import annotations

import io

import pytest

from multilang_cli.reports.page import MOST_CELLS, Page, make_console

COLUMNS = 80


def shown(text: str, label: str, indent: int = 0, hang: int = 0) -> list[str]:
    stream = io.StringIO()
    page = Page(make_console(stream, "never", COLUMNS))
    page.para(text, label=label, indent=indent, hang=hang)
    return stream.getvalue().splitlines()


def test_a_text_stands_beside_its_label() -> None:
    assert shown("two words", "Note", indent=2) == ["  Note  two words"]
    assert shown("word " * 20, "Note", hang=6)[1].startswith("      word")


@pytest.mark.parametrize("label", ["n" * 79, "n" * 3000, "n" * 2_000_000, "\u4e2d" * 60], ids=len)
@pytest.mark.parametrize("hang", [0, 12, 2_000_000])
def test_a_label_that_leaves_no_room_has_lines_of_its_own(label: str, hang: int) -> None:
    """A recording's name is its writer's: with two million characters, it made lines of two million."""
    lines = shown("the recording was not closed", label, indent=2, hang=hang)
    assert lines[-1] == "    the recording was not closed"
    assert max(map(len, lines)) <= COLUMNS
    assert sum(map(len, lines)) < 2 * MOST_CELLS


def test_a_hang_leaves_room_for_the_text() -> None:
    assert max(map(len, shown("word " * 20, "Note", hang=500))) <= COLUMNS
