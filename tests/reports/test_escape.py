"""JSON of commands, which a terminal or a runner may show: it says the same, and moves or obeys nothing."""

from __future__ import annotations

import json

import pytest

from multilang_cli.reports.escape import escape_json, json_lines

HOSTILE = (
    "\x1b]8;;http://example.com\x07link\x1b]8;;\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "\u2066a\u2069",
    "\x7f\x08\r\nmlcheck: PASS",
    "##[set-output name=a]b",
    "::error::a\n::stop-commands::b",
    "\ud800 half",
    "\U000e0001 a tag",
    "\u00a0\u2028\u2029",
)


def test_every_row_is_a_line_that_says_the_same_and_moves_nothing() -> None:
    rows = [{"what": text, text: [text]} for text in HOSTILE]
    text = json_lines(rows)
    lines = text.splitlines()
    assert all(line.isprintable() for line in lines), text
    assert "##[" not in text
    assert [json.loads(line) for line in lines] == rows
    assert not any(line.lstrip().startswith("::") for line in lines)


@pytest.mark.parametrize("character", ["\x7f", "\x1b", "\x9b", "\u202e", "\U000e0001"])
def test_a_character_stays_what_it_is(character: str) -> None:
    told = escape_json(json.dumps(character, ensure_ascii=False))
    assert told.isascii()
    assert json.loads(told) == character
