"""Parts of one recording: what is lost between them was declared by nobody, so it is no pass, and no finding."""

from __future__ import annotations

import re
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.read import read
from tests.recording import HEADER, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from multilang_cli.protocol.words.events import Channel


def _talk() -> list[Event]:
    """A handshake, and three tuples that are acked."""
    events: list[Event] = []

    def say(channel: Channel, message: object) -> None:
        raw = wire.frame(message)
        seq, offset = len(events), sum(len(event.raw) for event in events if event.channel == channel)
        body = wire.decode(raw[:-5]) if channel == "in" else read_frame(Framer().feed(raw)[0], expecting_pid=seq == 1)
        events.append(Event(seq, seq / 10, channel, body, raw, offset))

    say("in", {"conf": {}, "pidDir": "/tmp", "context": {"taskid": 3, "task->component": {"3": "b"}}})
    say("out", {"pid": 7})
    for number in range(3):
        say("in", {"id": f"{number}", "comp": "s", "stream": "default", "task": 1, "tuple": ["a"]})
        say("out", {"command": "ack", "id": f"{number}"})
    return events


def _parts() -> list[bytes]:
    """The talk in three parts, each closed; the state is in the header of each but the first."""
    events, judge, parts = _talk(), Conversation(HEADER.profile, load_rulebook()), []
    for part, some in enumerate((events[:4], events[4:6], events[6:]), start=1):
        header = msgspec.structs.replace(HEADER, part=part, snapshot=judge.snapshot() if part > 1 else None)
        judge.feed_all(some)
        parts.append(written(some, header))
    return parts


@pytest.mark.parametrize("as_files", [True, False], ids=["files", "one file"])
@pytest.mark.parametrize(
    ("cut", "left"), [(0, (0, 1, 2)), (0, (0, 2)), (2, (0, 1, 2))], ids=["whole", "one missing", "one cut"]
)
def test_what_is_lost_between_parts_is_no_pass(as_files: bool, cut: int, left: tuple[int, ...], tmp_path: Path) -> None:
    whole = not cut and len(left) == len(_parts())
    first, *others = _parts()
    lines = first.splitlines(keepends=True)
    parts = [b"".join(lines[: len(lines) - cut]), *others]
    texts = [parts[number] for number in left] if as_files else [b"".join(parts[number] for number in left)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.ndjson").write_bytes(text)
    judged = judge_transcripts(sorted(tmp_path.iterdir()), load_rulebook())
    [subject] = judged.subjects
    assert subject.findings == ()
    assert (subject.verdict, judged.complete) == ("pass" if whole else "untestable", whole)


@pytest.mark.parametrize("order", list(permutations(range(3)))[1:], ids=str)
def test_parts_are_put_in_order_where_each_is_a_file_and_else_it_is_said(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    """A part in its own file may be given in any order; one that stands behind a later one in a file is told."""
    files, parts = [], [_parts()[number] for number in order]
    for number, part in enumerate(parts):
        files.append(tmp_path / f"{number}.ndjson")
        files[-1].write_bytes(part)
    judged = judge_transcripts(files, load_rulebook())
    assert [(subject.id, subject.verdict) for subject in judged.subjects] == [(HEADER.conv, "pass")]
    assert (judged.complete, judged.notes) == (True, ())
    path = tmp_path / "all.ndjson"
    path.write_bytes(b"".join(parts))
    judged = judge_transcripts([path], load_rulebook())
    assert [(subject.id, subject.verdict) for subject in judged.subjects] == [(HEADER.conv, "untestable")]
    assert not judged.complete
    told = "stands behind part .: give each part as a file of its own, and they are put in order"
    assert any(re.search(told, note) for note in judged.notes)
    with pytest.raises(TranscriptError, match=told):
        list(read(path))


@pytest.mark.parametrize("declared", [True, False])
def test_a_part_without_its_end_is_no_damage_where_the_next_begins_with_a_gap(declared: bool, tmp_path: Path) -> None:
    """So does a tap whose disk, or topic, takes nothing for a while."""
    events = _talk()
    gap = Event(5, 0.5, "control", Gap("1 event could not be written"))
    first = written(events[:4], HEADER).splitlines(keepends=True)[:-1]
    judge = Conversation(HEADER.profile, load_rulebook())
    judge.feed_all(events[:6])
    header = msgspec.structs.replace(HEADER, part=2, snapshot=judge.snapshot())
    path = tmp_path / "recording.ndjson"
    path.write_bytes(b"".join(first) + written([*([gap] if declared else []), *events[6:]], header))
    judged = judge_transcripts([path], load_rulebook())
    [subject] = judged.subjects
    assert (subject.verdict, judged.complete) == ("pass" if declared else "untestable", declared)
    transcript = read(path)
    gaps = [event.body.why for event in transcript if isinstance(event.body, Gap)]
    told = gap.body.why if declared else "part 1 was not closed: its end is missing"  # type: ignore[union-attr]
    assert (gaps, bool(transcript.damage)) == ([told], not declared)


def test_no_first_message_is_expected_behind_a_missing_part(tmp_path: Path) -> None:
    events = _talk()
    third = msgspec.structs.replace(HEADER, part=3)
    (tmp_path / "t.ndjson").write_bytes(written(events[:1], HEADER) + written(events[-1:], third))
    [subject] = judge_transcripts([tmp_path / "t.ndjson"], load_rulebook()).subjects
    assert (subject.verdict, subject.findings) == ("untestable", ())


def _places(path: Path, part: int) -> Iterator[tuple[str, int, str, bytes]]:
    """Lines as the tables of an audit give them."""
    for line in path.read_bytes().splitlines(keepends=True):
        what = "header" if b'"transcript"' in line else "end" if b'"end"' in line else "event"
        yield HEADER.conv, part, what, line


def _snapshot_after(events: list[Event] | None) -> dict[str, Any] | None:
    judge = Conversation(HEADER.profile, load_rulebook())
    judge.feed_all(events or [])
    return None if events is None else judge.snapshot()


@pytest.mark.parametrize("known", [None, 0, 4, 8], ids=str)
@pytest.mark.parametrize("part", [2, 5])
@pytest.mark.parametrize("lost", [0, 1, 2, 5], ids=lambda lost: f"{lost} lost")
def test_a_later_part_that_holds_the_beginning_is_judged_as_it(
    part: int, known: int | None, lost: int, tmp_path: Path
) -> None:
    """Whatever state its header tells of; where its first lines are missing, it begins in the middle."""
    events = _talk()
    header = msgspec.structs.replace(
        HEADER, part=part, snapshot=_snapshot_after(None if known is None else events[:known])
    )
    path = tmp_path / "t.ndjson"
    path.write_bytes(written(events[lost:], header))
    judged = judge_transcripts([path], load_rulebook())
    [subject] = judged.subjects
    assert subject.findings == ()
    assert any("it begins in the middle" in note for note in judged.notes) is bool(lost)
    assert [row for row in judge_lines(_places(path, part)) if "version" not in row] == []


@pytest.mark.parametrize("known", [None, 4], ids=str)
def test_a_first_message_that_is_no_pid_is_found_in_a_later_part_that_holds_the_beginning(
    known: int | None, tmp_path: Path
) -> None:
    events = _talk()
    raw = wire.frame({"command": "sync"})
    events[1] = Event(1, 0.1, "out", read_frame(Framer().feed(raw)[0], expecting_pid=True), raw, 0)
    path = tmp_path / "t.ndjson"
    found = []
    for part in (1, 2):
        snapshot = _snapshot_after(None if known is None else _talk()[:known])
        path.write_bytes(written(events, msgspec.structs.replace(HEADER, part=part, snapshot=snapshot)))
        [subject] = judge_transcripts([path], load_rulebook()).subjects
        found.append([(finding.rule, finding.seq) for finding in subject.findings])
    assert found[0] == found[1] != []


@pytest.mark.parametrize("numbers", list(permutations((1, 2, 3)))[1:], ids=str)
def test_parts_whose_numbers_were_swapped_are_no_pass_and_nobody_is_blamed(
    numbers: tuple[int, ...], tmp_path: Path
) -> None:
    """Whatever states their headers tell of."""
    events, files = _talk(), [tmp_path / "0.ndjson", tmp_path / "1.ndjson", tmp_path / "2.ndjson"]
    spans = events[:4], events[4:6], events[6:]
    states = {known: _snapshot_after(None if known is None else events[:known]) for known in (None, 0, 4, 8)}
    for known in product(states, repeat=3):
        for path, some, part, state in zip(files, spans, numbers, known, strict=True):
            snapshot = states[state] if part > 1 else None
            path.write_bytes(written(some, msgspec.structs.replace(HEADER, part=part, snapshot=snapshot)))
        judged = judge_transcripts(files, load_rulebook())
        [subject] = judged.subjects
        assert (subject.findings, subject.verdict, judged.complete) == ((), "untestable", False)
        rows = judge_lines(place for part in (1, 2, 3) for place in _places(files[numbers.index(part)], part))
        assert [row for row in rows if "version" not in row] == []
