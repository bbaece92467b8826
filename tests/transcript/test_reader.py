"""Lines that went through one pipe together are read at once, and say what each says alone."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.transcript import line_order, read, unpacking
from multilang_cli.transcript.format import Header, header_line
from multilang_cli.transcript.read import Cut, Damaged, Happened, Unclosed, entries
from multilang_cli.transcript.reader import PackedEvents

if TYPE_CHECKING:
    from pathlib import Path

TUPLE = '{"comp":"src","tuple":["a",1],"task":2,"stream":"default","id":"%d"}'
BEGIN = [("in", '{"conf":{},"pidDir":"/pids","context":{}}'), ("out", '{"pid":7}')]
RIGHT = [
    *[("in", TUPLE % id_) for id_ in range(4)],
    ("in", "[4]"),
    *[("out", f'{{"command":"ack","id":"{id_}"}}') for id_ in range(4)],
    *[("out", f'{{"command":"emit","anchors":["{id_}"],"tuple":["x",1]}}') for id_ in range(4)],
    ("out", '{"command": "emit", "tuple": ["\\u2028\u767d", 0.1000000000000000055]}'),
]
ODD = [
    ("out", '{"command":"akc"}'),
    ("out", '{"command":\r"sync"}'),
    ("out", '{"command":"ack","id":"1","id":"2"}'),
    ("out", "[]"),
    ("out", '"sync"'),
    ("out", '{"command":"log","msg":"%s"}' % ("x" * line_order.SHORT_LINE)),
    ("in", "17"),
    ("in", '{"comp":null,"tuple":[],"task":-1,"stream":"__heartbeat","id":"9"}'),
    ("control", '{"event":"gap","why":"lost"}'),
    ("process", '{"event":"exited","code":1}'),
    ("nowhere", "{}"),
]
MORE = [
    "",
    "",
    "",
    "",
    '"off":9,',
    '"raw64":"e30KZW5kCg==",',
    '"fault":"cut",',
    '"t":-1.0,',
    '"seq":-1,',
    '"conv":"nobody",',
]
picks = st.lists(st.tuples(st.sampled_from(RIGHT) | st.sampled_from(RIGHT + ODD), st.sampled_from(MORE), st.booleans()))


def lines_of(picked: list[tuple[tuple[str, str], str, bool]]) -> list[str]:
    """Lines of a transcript; each pick says what is odd in its line, and whether time passes before it."""
    found, t = [], 0
    for seq, ((channel, message), more, later) in enumerate([*[(each, "", True) for each in BEGIN], *picked]):
        t += later
        fields = {"conv": "t", "seq": seq, "t": float(t), "ch": channel} | json.loads(f"{{{more[:-1]}}}")
        found.append(f'{json.dumps(fields)[:-1]},"msg":{message}}}\n')
    return found


def told(path: Path) -> list[Any]:
    """What is in a file, event by event."""
    found: list[Any] = []
    for entry in entries(path):
        found += entry.events if isinstance(entry, Happened) else [entry] * (not isinstance(entry, Unclosed))
    return found


@pytest.mark.long
@given(picks, st.sampled_from(["", "{}\n", '{"conv":"t","seq"']))
@example([(pick, "", False) for pick in RIGHT * 20], "")
@example([(RIGHT[0], '"t":-1.0,', False)] * 2, "")
@example([(pick, "", False) for pick in (*RIGHT[5:9], ODD[0], *RIGHT[5:9], ODD[1], *RIGHT[:9])], "{}\n")
@example([(pick, more, False) for more in MORE[3:] for pick in RIGHT[5:12] for more in ("", more)], "")
def test_lines_are_read_together_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory, picked: list[tuple[tuple[str, str], str, bool]], rest: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "together.ndjson"
    header = header_line(Header(conv="t", profile=example_profile("bolt")))
    path.write_bytes(header + "".join(lines_of(picked)).encode() + rest.encode())
    together = (list(map(repr, told(path))), judge_transcripts([path], load_rulebook(), coverage=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "LINES_TOGETHER", 1 << 30)
        assert not any(isinstance(e.events, RecordedEvents) for e in entries(path) if isinstance(e, Happened))
        assert together == (list(map(repr, told(path))), judge_transcripts([path], load_rulebook(), coverage=True))


@pytest.mark.parametrize("place", range(4, 16))
def test_a_damaged_line_is_told_where_it_stands(tmp_path: Path, place: int) -> None:
    path = tmp_path / "t.ndjson"
    lines = lines_of([(pick, "", False) for pick in RIGHT[:5] * 4])
    lines.insert(place, '{"conv":"t","seq"\n')
    header = header_line(Header(conv="t", profile=example_profile("bolt")))
    path.write_bytes(header + "".join(lines).encode())
    found = told(path)
    assert isinstance(found[place + 1], Damaged)
    assert found[place + 1].line == place + 2
    assert [event.seq for event in found[1 : place + 1] + found[place + 2 :]] == list(range(len(lines) - 1))


@pytest.mark.parametrize(("odd", "sizes"), [(RIGHT[0], [7]), (("out", '{"command":\r"sync"}'), [4])])
def test_plain_lines_are_read_together(tmp_path: Path, odd: tuple[str, str], sizes: list[int]) -> None:
    path = tmp_path / "t.ndjson"
    picked = [(pick, "", number == 0) for number, pick in enumerate([*RIGHT[5:14], odd])]
    header = header_line(Header(conv="t", profile=example_profile("bolt")))
    path.write_bytes(header + "".join(lines_of(picked)).encode())
    spans = [e.events for e in entries(path) if isinstance(e, Happened) and isinstance(e.events, RecordedEvents)]
    assert list(map(len, spans)) == sizes


def test_what_was_read_together_is_kept_in_little_room_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    lines = lines_of([(pick, "", False) for pick in [*BEGIN, *RIGHT * 20]])
    header = header_line(Header(conv="t", profile=example_profile("bolt")))
    path.write_bytes(header + "".join(lines).encode())
    spans = [e.events for e in entries(path) if isinstance(e, Happened) and isinstance(e.events, RecordedEvents)]
    longest = max(spans, key=len)
    for span in [*spans, longest.part(3, 11)]:
        assert list(PackedEvents(span).events()) == list(span)
    tracemalloc.start()
    try:
        packed = PackedEvents(longest)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < sum(map(len, longest.raws)) + 10 * len(packed) + 500


def test_lines_of_two_conversations_that_count_on_are_told_apart(tmp_path: Path) -> None:
    """The numbers of all follow each other; those of each conversation don't, which is a gap."""
    path = tmp_path / "t.ndjson"
    begin, *lines = lines_of([(pick, "", False) for pick in RIGHT[:5] * 4])
    lines[8:12] = [line.replace('"conv": "t"', '"conv": "u"') for line in lines[8:12]]
    headers = [header_line(Header(conv=conv, profile=example_profile("bolt"))).decode() for conv in "tu"]
    path.write_text("".join([*headers, begin, *lines]), encoding="utf-8")
    by_conv = [
        (each.conv, each.events[0].seq, len(each.events)) for each in entries(path) if isinstance(each, Happened)
    ]
    assert sum(size for conv, _, size in by_conv if conv == "u") == 4
    assert [each.conv for each in entries(path) if isinstance(each, Damaged)] == ["u", "t"]


@pytest.mark.parametrize(
    ("last_seq", "first", "losses"), [(None, 0, 0), (None, 2, 0), (-1, 0, 0), (0, 2, 1), (1, 2, 0), (5, 2, 0)]
)
def test_what_is_missing_behind_a_header_amid_a_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_seq: int | None, first: int, losses: int
) -> None:
    """Lines that could be read together follow it at once."""
    path, profile = tmp_path / "t.ndjson", example_profile("bolt")
    lines = lines_of([(pick, "", False) for pick in RIGHT[5:9] * 4])
    later = Header(conv="u", profile=profile, part=2, snapshot={"state": {"last_seq": last_seq, "said": True}})
    others = [
        line.replace(f'"conv": "t", "seq": {seq}', f'"conv": "u", "seq": {first + seq - 2}')
        for seq, line in enumerate(lines[2:], 2)
    ]
    headers = [header_line(each).decode() for each in (Header(conv="t", profile=profile), later)]
    path.write_text("".join([headers[0], *lines[:8], headers[1], *others]), encoding="utf-8")
    together = told(path)
    assert [each.conv for each in together if isinstance(each, Damaged)] == ["u"] * losses
    monkeypatch.setattr(read, "LINES_TOGETHER", 1 << 30)
    assert list(map(repr, together)) == list(map(repr, told(path)))


def test_a_line_without_an_end_takes_no_more_than_the_longest_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "LONGEST_LINE", 8 * 2**20)
    path = tmp_path / "t.ndjson"
    path.write_bytes(header_line(Header(conv="t", profile=example_profile("bolt"))) + b'{"conv":"' + b"x" * 20 * 2**20)
    tracemalloc.start()
    try:
        *_, last, _ = entries(path)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * unpacking.LONGEST_LINE
    finally:
        tracemalloc.stop()
    assert isinstance(last, Cut)
    assert last.size == 20 * 2**20 + len(b'{"conv":"')
