"""Recordings as shippers of logs leave them: nobody is blamed for that, in lint, in a report, in a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.replay.recording import load
from multilang_cli.transcript import line_order
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.read import Damaged, Happened, entries
from tests import shipping
from tests.pages import document, recorded, section

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import SubjectResult


def told(subject: SubjectResult) -> list[tuple[str, int | None]]:
    return [(finding.rule, finding.seq) for finding in subject.findings]


@pytest.mark.parametrize("name", shipping.PUT_RIGHT)
def test_what_can_be_put_right_is_judged_as_it_was_written(name: str, tmp_path: Path) -> None:
    ship, notes = shipping.PUT_RIGHT[name]
    written = recorded(tmp_path / "whole.ndjson", shipping.TALK, conv="t")
    path = shipping.shipped(tmp_path / "t.ndjson", ship)
    one, two = (judge_transcripts([each], load_rulebook()) for each in (written, path))
    assert [told(subject) for subject in two.subjects] == [told(subject) for subject in one.subjects]
    assert [rule for rule, _ in told(two.subjects[0])] == ["ack-twice"]
    assert two.complete
    assert len(two.notes) == len(notes)
    assert all(note in line for note, line in zip(notes, two.notes, strict=True))
    whole, played = load(written), load(path)
    assert played.events == whole.events
    assert (played.damage, played.part_only) == ("", False)
    assert list(played.notes) == list(two.notes)
    pages = [section(document(each), "c1")["events"] for each in (written, path)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("name", shipping.LOST)
def test_what_is_lost_is_told_and_nobody_is_blamed_for_it(name: str, tmp_path: Path) -> None:
    ship, notes = shipping.LOST[name]
    path = shipping.shipped(tmp_path / "t.ndjson", ship)
    judged = judge_transcripts([path], load_rulebook())
    [subject] = judged.subjects
    assert {rule for rule, _ in told(subject)} <= {"ack-twice"}
    assert not judged.complete
    assert subject.verdict != "pass"
    assert len(judged.notes) == len(notes)
    assert all(note in line for note, line in zip(notes, judged.notes, strict=True))
    played = load(path)
    assert played.part_only
    assert len(played.events) == shipping.TUPLE - 1 + (name == "contradicted")


def test_a_line_of_long_ago_counts_as_a_copy_though_it_can_not_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_order, "REMEMBERED_LINES", 100)
    path = shipping.shipped(tmp_path / "t.ndjson", lambda lines: [*lines[:-1], *lines[5:8], lines[-1]])
    judged = judge_transcripts([path], load_rulebook())
    assert judged.notes == (
        "t: 3 lines have numbers that were read long before; they count as second copies, but could not be compared",
    )
    assert [told(subject) for subject in judged.subjects] == [[("ack-twice", shipping.LINES - 1)]]
    assert judged.complete


def test_what_waits_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_order, "WAITING_BYTES", 1000)
    path = shipping.shipped(tmp_path / "t.ndjson", shipping.PUT_RIGHT["within-the-window"][0])
    judged = judge_transcripts([path], load_rulebook())
    assert not judged.complete
    assert {rule for rule, _ in told(judged.subjects[0])} <= {"ack-twice"}


def test_holes_are_remembered_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_order, "MOST_HOLES", 2)
    monkeypatch.setattr(line_order, "WINDOW", 2)
    path = shipping.shipped(
        tmp_path / "t.ndjson", lambda lines: [*lines[:50], *lines[51:100:2], *lines[100:-1], lines[52], lines[-1]]
    )
    judged = judge_transcripts([path], load_rulebook())
    assert judged.notes[-1].startswith("t: a line came more than")
    assert {rule for rule, _ in told(judged.subjects[0])} <= {"ack-twice"}


def test_what_is_missing_of_one_conversation_is_not_missing_of_its_neighbour(tmp_path: Path) -> None:
    one, two = (
        recorded(tmp_path / f"{name}.ndjson", shipping.TALK).read_bytes().splitlines(keepends=True) for name in "ab"
    )
    mixed = tmp_path / "mixed.ndjson"
    del one[shipping.TUPLE]
    mixed.write_bytes(b"".join(line for pair in zip(one, two, strict=False) for line in pair) + two[-1])
    damaged = [entry.conv for entry in entries(mixed) if isinstance(entry, Damaged)]
    assert damaged == ["a"]
    first, second = judge_transcripts([mixed], load_rulebook()).subjects
    assert first.verdict != "pass"
    assert told(second) == [("ack-twice", shipping.LINES - 1)]


def test_a_mark_of_what_is_hidden_has_the_number_of_its_line(tmp_path: Path) -> None:
    """It is no second line of it, wherever it comes."""
    whole = list(entries(_with_secrets(tmp_path / "t.ndjson")))
    header, *events, end = (tmp_path / "t.ndjson").read_bytes().splitlines(keepends=True)
    assert sum(b'"event":"redacted"' in line for line in events) == 3
    numbers = list(range(len(events)))
    for order in (numbers[::-1], [1, 0, *numbers[2:]], [each for each in numbers for _ in "ab"], [*numbers, *numbers]):
        path = tmp_path / "shipped.ndjson"
        path.write_bytes(b"".join([header, *(events[each] for each in order), end]))
        got = [event for entry in entries(path) if isinstance(entry, Happened) for event in entry.events]
        assert got == [event for entry in whole if isinstance(entry, Happened) for event in entry.events]
        assert not any(isinstance(entry, Damaged) for entry in entries(path))
    # A mark that is behind the next line comes behind that, and is known again though marks are out of order.
    order = [each for at in range(0, len(numbers), 4) for each in numbers[at : at + 4][::-1]]
    path.write_bytes(b"".join([header, *(events[each] for each in order), *(events[each] for each in order), end]))
    assert not any(isinstance(entry, Damaged) for entry in entries(path))
    again = [event for entry in entries(path) if isinstance(entry, Happened) for event in entry.events]
    assert sorted(map(str, again)) == sorted(
        str(event) for entry in whole if isinstance(entry, Happened) for event in entry.events
    )
    lost = next(number for number, line in enumerate(events) if b'"redacted"' in line)
    path.write_bytes(b"".join([header, *events[: lost - 1], *events[lost:], end]))
    assert any(isinstance(entry, Damaged) for entry in entries(path))


def _with_secrets(path: Path) -> Path:
    talk = shipping.TALK[:2000].rpartition("@")[0].replace("snow white", "hunter2hunter2", 3)
    return recorded(path, talk, profile={"conf": {"db.password": "hunter2hunter2"}})


def test_what_waits_is_given_before_a_file_breaks_off(tmp_path: Path) -> None:
    path = shipping.shipped(
        tmp_path / "t.ndjson", lambda lines: [*lines[:9], *lines[10:20], lines[0].replace(b'"1.0"', b'"2.0"')]
    )
    seen: list[Any] = []
    with pytest.raises(TranscriptError, match="a newer mlcheck reads it"):
        seen.extend(entries(path))
    assert sum(len(each.events) for each in seen if isinstance(each, Happened)) == 18
