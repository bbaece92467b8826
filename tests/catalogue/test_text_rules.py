"""Damaged text: what a bolt's emit says of the text that it was sent."""

from __future__ import annotations

import json

import pytest

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.words.events import End, Event
from tests import notation

RULEBOOK = load_rulebook()
GIRL = "\U0001f478"
SENT = f"plain words snöwhite é of {GIRL} ours"


def found(sent: object, said: object) -> list[tuple[str, str]]:
    judge = judge_of(example_profile("bolt", {"streams": None}), RULEBOOK)
    lines = [
        "> "
        + json.dumps({"id": "1", "comp": "a", "stream": "default", "task": 2, "tuple": [sent]}, ensure_ascii=False),
        "< " + json.dumps({"command": "emit", "anchors": ["1"], "tuple": [said], "need_task_ids": False}),
    ]
    events = notation.parse("\n".join(lines))
    return [(each.rule, each.level) for event in events for each in judge.feed(event)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (SENT, []),
        (SENT.upper(), []),
        # One for one: what a database makes of it.
        (SENT.replace("ö", "\ufffd"), [("text-damaged", "note")]),
        (SENT.replace(GIRL, "\ufffd"), [("text-damaged", "note")]),
        ("sn\ufffdwhite", [("text-damaged", "note")]),
        # Question marks for what an encoding lacks, and those that were sent.
        (SENT.replace("ö", "?").replace("é", "?").replace(GIRL, "?"), [("text-damaged", "note")]),
        ("sn?white", [("text-damaged", "note")]),
        ("SN??WHITE", [("text-damaged", "note")]),
        ("white?", []),
        ("?", []),
        # Bytes that were decoded by themselves.
        (SENT.replace("ö", "\ufffd\ufffd"), [("text-damaged", "must")]),
        ("sn\ufffd\ufffdwhite", [("text-damaged", "must")]),
        ("SN\ufffd\ufffdWHITE", [("text-damaged", "must")]),
        (SENT.replace(GIRL, "\ufffd\ufffd\ufffd\ufffd"), [("text-damaged", "must")]),
        # UTF-8 in another encoding.
        (SENT.encode().decode("latin-1"), [("text-damaged", "must")]),
        ("snöwhite".encode().decode("cp1252"), [("text-damaged", "must")]),
        ("naïve Ã of its own", []),
        # Halves of a pair, escaped or each replaced.
        (SENT.replace(GIRL, "\ufffd\ufffd"), [("lone-surrogate", "should")]),
        (SENT.replace(GIRL, "\ud83d"), [("lone-surrogate", "should")]),
    ],
)
def test_text_is_damaged_where_no_whole_character_was_replaced(said: str, expected: list[tuple[str, str]]) -> None:
    assert found(SENT, said) == expected


def test_what_a_formatter_fills_in_is_damage() -> None:
    """Go's ``fmt.Printf(message)``."""
    assert found("é %d of us", "%!d(MISSING)") == [("text-damaged", "must")]
    assert found("é %d of us", "%!s(MISSING)") == found("é %!d(MISSING) %d", "%!d(MISSING)") == []


def test_what_a_printf_without_arguments_makes_is_damage() -> None:
    """C's ``printf(message)``."""
    sent = "é at the end of 100 % %s %d of ours"
    assert found(sent, "é at the end of 100 %s -1575198523 of ours") == [("text-damaged", "must")]
    assert found(sent, "é at the end of 100 %s 7") == [("text-damaged", "must")]
    assert found(sent, sent) == found(sent, "100 % of them") == found(sent, "some %s 5 of its own") == []
    assert found("é of 100 %s 5", "é of 100 %s 5") == []


def test_what_was_sent_so_is_no_damage() -> None:
    mojibake = "snÃ¶white ö"
    assert found(mojibake, mojibake) == found("a \ufffd", "a \ufffd\ufffd") == []
    assert found("sn?white ö", "sn?white") == []


@pytest.mark.parametrize(("said", "rules"), [("log", {"log-after-sync"}), ("emit", {"output-after-sync"})])
def test_a_log_after_the_last_sync_of_a_spout_is_never_more_than_that(said: str, rules: set[str]) -> None:
    message = {"log": {"command": "log", "msg": "a"}, "emit": {"command": "emit", "id": "1", "tuple": [1]}}[said]
    lines = ['> {"command":"next","id":""}', '< {"command":"sync"}', "< " + json.dumps(message)]
    judge = judge_of(example_profile("spout", {"streams": None}), RULEBOOK)
    events = [*notation.parse("\n".join(lines)), Event(3, 9.0, "control", End())]
    assert {each.rule for event in events for each in judge.feed(event)} == rules


@pytest.mark.parametrize(
    ("sent", "said", "rules"),
    [
        (2**53 + 1, 2**53, [("integer-damaged", "must")]),
        (2**53 + 1, float(2**53), [("integer-damaged", "must")]),
        ([{"id": 2**60 + 1}], {"id": 2**60}, [("integer-damaged", "must")]),
        (2**53 + 1, 2**53 + 1, []),
        (2**53 + 1, 2**53 + 3, []),
        (2**53, 2**53, []),
        (1, 1.0, []),
    ],
)
def test_an_integer_is_damaged_where_it_became_the_double_that_is_nearest(
    sent: object, said: object, rules: list[tuple[str, str]]
) -> None:
    assert [each for each in found(sent, said) if each[0] != "nested-value"] == rules


@pytest.mark.parametrize("word", ["\u96ea" + "??\u96ea" * 40 + "z", "s??" * 40 + "z"])
def test_a_word_of_question_marks_can_be_meant_in_one_way_only(word: str) -> None:
    """Or looking for it takes twice as long for each more."""
    assert found("\u96ea" * 200 + "\u017f" * 200, word) == []
