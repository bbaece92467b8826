from __future__ import annotations

import gzip
import json
import re
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.wire import encoding
from multilang_cli.protocol.wire.batches import Batch, EmptyTurns, RecordedEvents
from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.events import Channel, End, Event, Gap, StdoutClosed
from multilang_cli.protocol.words.messages import Ack, Emit, Pid, SpoutCommand, TaskIds
from multilang_cli.transcript import unpacking
from multilang_cli.transcript.format import EndLine, Header, TranscriptError
from multilang_cli.transcript.read import Cut, Damaged, Happened, Unclosed, entries, read
from multilang_cli.transcript.redact import USUAL, Names
from multilang_cli.transcript.write import TranscriptWriter
from tests.recording import HEADER, PID, events_of, facts_of, sample, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PIECES = st.sampled_from(
    [
        PID,
        b'{"command":"sync"}\nend\n',
        b'{"command":"ack","id":"1"}\nend\n',
        b'{"comp":"s","tuple":[NaN],"task":2,"stream":"default","id":"1"}\nend\n',
        b'{"command":"emit","tuple":["a:b",1.5,{"x":[]}]}\nend\n',
        b'{"command":"emit","tuple":"wrong"}\nend\n',
        b'{"event":"exited","code":0}\nend\n',
        b' {"command":"sync"} \nend\n',
        b'{\n "command":"sync"\n}\nend\n',
        b'{"command":"sync"}\r\nend\r\n',
        b'{"command":\r"sync"}\nend\n',
        b'{"command":"sync","command":"sync"}\nend\n',
        b'{"command":"log","msg":"\\ud800"}\nend\n',
        b'{"command":"log","msg":"\xe2\x80\xa8 \xf0\x9f\x98\x80"}\nend\n',
        b'{"command":"emit","tuple":[9223372036854775808]}\nend\n',
        b"[1,2]\nend\n",
        b'["\\ud800"]\nend\n',
        b'{"command":"emit","tuple":"\\udc00"}\nend\n',
        b'"text"\nend\n',
        b"end\n",
        b"\xff\xfe\nend\n",
        b"print me\n",
        b"NaN\nend\n",
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=12), max_size=8).map(b"".join)


@given(stdin=STREAMS, stdout=STREAMS, stderr=st.binary(max_size=8), cuts=st.lists(st.integers(0, 500), max_size=4))
def test_any_bytes_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, stdin: bytes, stdout: bytes, stderr: bytes, cuts: list[int]
) -> None:
    events = events_of(stdin, stdout, stderr, cuts)
    path = tmp_path_factory.getbasetemp() / "any.ndjson"
    path.write_bytes(written(events, secret_keys=None))
    transcript = read(path)
    assert facts_of(list(transcript)) == facts_of(events)
    assert transcript.header == msgspec.structs.replace(HEADER, transcript="1.0")
    assert transcript.cut is None
    assert sum(transcript.ends[0].end.events.values()) == len(events)
    assert transcript.ends[0].end.bytes["in"] == sum(len(e.raw) for e in events if e.channel == "in")


ACK = b'{"command":"ack","id":"1"}\nend\n'


TUPLE = b'{"comp":"s","tuple":["NaN"],"task":2,"stream":"default","id":"1"}\nend\n'
PLAIN = st.lists(st.sampled_from([ACK, b'{"command":"sync"}\nend\n', b'{"command":"akc"}\nend\n', b"{x}\nend\n"]))


@given(
    stdout=PLAIN,
    stdin=st.lists(st.sampled_from([TUPLE, b"[4]\nend\n"])),
    size=st.integers(1, 3),
    lost=st.integers(0, 9),
)
@example(stdin=[], stdout=[ACK] * 4, size=3, lost=2)
@example(stdin=[TUPLE] * 4, stdout=[ACK] * 4, size=9, lost=9)
def test_a_batch_is_written_as_its_events_one_by_one(
    stdin: list[bytes], stdout: list[bytes], size: int, lost: int
) -> None:
    events = events_of(b"".join(stdin), PID + b"".join(stdout), b"", [])[:-2]
    pieces: list[Sequence[Event]] = []
    for _, channel in groupby(events, key=lambda event: event.channel):
        same = list(channel)
        pieces += [batch_of(same[start : start + size]) for start in range(0, len(same), size)]
    del pieces[lost : lost + 1]
    file = BytesIO()
    with TranscriptWriter(file, HEADER, secret_keys=None) as writer:
        for piece in pieces:
            writer.take(piece)
    assert file.getvalue() == written([event for piece in pieces for event in piece], secret_keys=None)


def batch_of(events: list[Event]) -> Batch:
    first = events[0]
    assert first.channel in {"in", "out"}
    channel: Any = first.channel
    data = b"".join(event.raw for event in events)
    return Batch(first.seq, first.t, channel, [event.body for event in events], data=data, offset=first.offset)


@pytest.mark.parametrize("names", [None, USUAL])
def test_empty_turns_are_written_as_their_events_are(names: Names | None) -> None:
    turns = EmptyTurns(0, (0, 0))
    for number in range(4):
        command = SpoutCommand("ack", f"m-{number}")
        told = encoding.frame({"id": command.id, "command": "ack"})
        sync = b'{"command": "sync"}\nend\n' if number else b'{"command":"sync"}\nend\n'
        turns.add(command, told, sync, (number + 0.25, number + 0.5))
    files = BytesIO(), BytesIO()
    for file, events in zip(files, (turns, list(turns)), strict=True):
        with TranscriptWriter(file, HEADER, secret_keys=names, more_settings={"password": "m-2"}) as writer:
            writer.take(events)
            writer.take(events)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("names", [None, USUAL])
@pytest.mark.parametrize("elsewhere", [0, 7])
def test_events_of_both_pipes_are_written_as_one_by_one(names: Names | None, elsewhere: int) -> None:
    bodies, raws = list[Any](), list[Any]()
    for number in range(4):
        emit = Emit(values=[f"m-{number}"], anchors=("1",))
        raws += [b'{"command":"emit","anchors":["1"],"tuple":["m-%d"]}' % number, b"[%d]" % number]
        bodies += [emit, TaskIds([number])]
    sent, times = [False, True] * 4, [number / 4 for number in range(8)]
    files = BytesIO(), BytesIO()
    for file, each_alone in zip(files, (False, True), strict=True):
        with TranscriptWriter(file, HEADER, secret_keys=names, more_settings={"password": "m-2"}) as writer:
            ends: dict[Channel, int] = {"in": 0, "out": elsewhere}
            for at in (0, 4):
                part = slice(at, at + 4)
                columns = (bodies[part], times[part], sent[part], raws[part])
                events = RecordedEvents(at, *columns, offsets=dict(ends), is_simple=True)
                for event in events:
                    ends[event.channel] += len(event.raw)
                writer.take(list(events) if each_alone else events)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.long
@given(stdout=STREAMS)
def test_every_line_holds_to_the_schema_and_splices_json(stdout: bytes) -> None:
    events = events_of(b"", stdout, b"", [])
    lines = written(events).splitlines()
    for line in lines:
        assert schemas.explain(json.loads(line), "transcript") == []
    for event, line in zip(events, lines[1:], strict=False):
        plain = '"msg":' in line.decode()
        if event.channel == "out" and plain:
            assert line.endswith(b'"msg":' + event.raw[:-5] + b"}")


@pytest.mark.parametrize(
    ("raw", "spliced"),
    [
        (b'{"command":"ack","id":"1"}\nend\n', True),
        (b'{"command":"ack","id":1}\nend\n', True),
        (b"[1,2]\nend\n", True),
        (b'["\\ud800"]\nend\n', False),
        (b'{"command":"emit","tuple":"\\udc00"}\nend\n', False),
        (b'{"command":"ack","id":"1"}\r\nend\r\n', False),
        (b'{"command":\r"sync"}\nend\n', False),
        (b'{"command":"ack",\n"id":"1"}\nend\n', False),
        (b' {"command":"sync"}\nend\n', False),
        (b"{'command':'sync'}\nend\n", False),
        (b'{"command":"log","msg":"\xff"}\nend\n', False),
        (b'"text"\nend\n', False),
        (b"end\n", False),
    ],
)
def test_what_is_spliced(raw: bytes, spliced: bool) -> None:
    line = written(events_of(b"", PID + raw, b"", []))
    assert (b'"msg":' + frame_text(raw) + b"}\n" in line) == spliced
    assert (b'"raw64"' in line) == (not spliced)


@pytest.mark.long
def test_a_file_cut_at_any_byte_is_read_up_to_there(tmp_path: Path) -> None:
    events = sample()
    text = written(events)
    path = tmp_path / "cut.ndjson"
    lines = text.splitlines(keepends=True)
    for size in range(len(text) + 1):
        path.write_bytes(text[:size])
        got = list(entries(path))
        whole = [entry for entry in got if not isinstance(entry, Cut | Unclosed)]
        assert Unclosed(HEADER.conv, size) in got or size == len(text) or len(whole) in {0, len(lines)}
        ended = text[:size].count(b"\n")
        # A line that lacks nothing but its line feed is whole.
        at_end = size > 0 and text[size : size + 1] == b"\n"
        assert len(whole) == ended + at_end
        remainder = size - sum(map(len, lines[:ended]))
        assert [entry for entry in got if isinstance(entry, Cut)] == (
            [] if at_end or not remainder else [Cut(str(path), ended + 1, remainder, size - remainder)]
        )
        assert [event.raw for e in got if isinstance(e, Happened) for event in e.events] == [e.raw for e in events][
            : max(0, len(whole) - 1)
        ]


def test_a_file_that_stops_in_its_header_is_no_conversation(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    for text in (b"", b'{"transcr'):
        path.write_bytes(text)
        with pytest.raises(TranscriptError, match="the file stops before the end of its first line"):
            read(path)


@pytest.mark.parametrize("part", [0, -1])
def test_a_part_before_the_first_is_none(part: int, tmp_path: Path) -> None:
    """It would be judged as one that goes on in the middle, and its pid as a message without a command."""
    path = tmp_path / "t.ndjson"
    path.write_bytes(written(sample()).replace(b'"conv":', b'"part":%d,"conv":' % part, 1))
    with pytest.raises(TranscriptError, match=r"`int` >= 1 - at `\$\.part`"):
        read(path)


def test_writing_goes_on_after_a_cut_line(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_bytes(written(sample())[:-40])
    with TranscriptWriter(path, msgspec.structs.replace(HEADER, part=2)) as writer:
        writer.write(Event(9, 10.0, "control", End("done")))
    got = list(entries(path))
    kinds = [type(entry) for entry in got]
    assert kinds[-4:] == [Cut, Header, Happened, EndLine]
    assert kinds.count(Cut) == 1


@pytest.mark.parametrize(
    ("line", "number", "why"),
    [
        ("# notes", 1, "no line of a transcript"),
        ('{"conv":"c1","seq":0,"t":0,"ch":"out","msg":{}}', 1, "no header of a conversation 'c1'"),
        ('{"transcript":"2.0","conv":"c1","profile":{"kind":"bolt"}}', 1, r"version 2\.0; this mlcheck reads 1\.x"),
        ('{"transcript":"one","conv":"c1","profile":{"kind":"bolt"}}', 1, "no version of the format"),
        ('{"transcript":"1.0","conv":"c1"}', 1, "missing required field `profile`"),
        ("not json\n{}", 2, "no line of a transcript"),
        ("not json", 2, "no line of a transcript"),
        ('{"conv":"c1","seq":0,"t":0,"ch":"out","msg":' + "[" * 9999 + "]" * 9999 + "}", 2, "nested too deep"),
        ('{"conv":"c2","seq":0,"t":0,"ch":"out","msg":{}}', 2, "no header of a conversation 'c2'"),
        ('{"conv":"c1","seq":0,"t":0,"ch":"side","msg":{}}', 2, "no channel 'side'"),
        ('{"conv":"c1","seq":0,"t":0,"ch":"control","msg":{"event":"party"}}', 2, "no fact"),
        ('{"conv":"c1","seq":0,"t":0,"ch":"out"}', 2, "needs msg or raw64"),
        ('{"conv":"c1","t":0,"ch":"out","msg":{}}', 2, "needs a seq"),
        ('{"conv":"c1","seq":0,"t":0,"ch":"out","raw64":"?"}', 2, "base64"),
    ],
)
def test_foreign_lines_are_named(tmp_path: Path, line: str, number: int, why: str) -> None:
    path = tmp_path / "t.ndjson"
    header = written([]).splitlines()[0].decode() + "\n" if number > 1 else ""
    path.write_text(f"{header}{line}\n")
    if number > 1:
        [_, damaged, *rest, unclosed] = entries(path)
        assert isinstance(unclosed, Unclosed)
        assert isinstance(damaged, Damaged)
        assert (damaged.path, damaged.line) == (str(path), number)
        assert re.search(why, damaged.why)
        assert all(isinstance(each, Damaged | Cut) for each in rest)
        gap = next(iter(read(path))).body
        assert isinstance(gap, Gap)
        assert gap.why.startswith(f"{path}:{number}: ")
        return
    with pytest.raises(TranscriptError, match=why) as caught:
        list(read(path))
    assert (caught.value.line, caught.value.path) == (number, str(path))
    assert str(caught.value).startswith(f"{path}:{number}: ")


@pytest.mark.parametrize("lost", [0, 1, 20, 60])
def test_gzip_is_read_as_far_as_it_goes(lost: int, tmp_path: Path) -> None:
    whole = written(sample())
    packed = gzip.compress(whole)
    path = tmp_path / "t.ndjson.gz"
    path.write_bytes(packed[: len(packed) - lost])
    (tmp_path / "t").write_bytes(whole)
    plain, got = list(entries(tmp_path / "t")), list(entries(path))
    if not lost:
        assert got == plain
        assert facts_of(list(read(path))) == facts_of(sample())
    else:
        *good, damaged = [entry for entry in got if not isinstance(entry, Unclosed)]
        assert isinstance(damaged, Damaged)
        assert good == plain[: len(good)]


def test_another_compression_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + written(sample()))
    for paths in ([path], [path, path]):
        with pytest.raises(TranscriptError, match="compressed by zstd, which only `mlcheck audit` reads"):
            read(*paths)


def test_a_line_that_nobody_wrote_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "LONGEST_LINE", 1000)
    lines = written(sample()).splitlines(keepends=True)
    (tmp_path / "t").write_bytes(b"".join([*lines[:3], b'"' + b"x" * 5000 + b'"\n', *lines[3:]]))
    (tmp_path / "plain").write_bytes(b"".join(lines))
    got = list(entries(tmp_path / "t"))
    assert [each.line for each in got if isinstance(each, Damaged)] == [4]
    assert [each for each in got if not isinstance(each, Damaged)] == list(entries(tmp_path / "plain"))


def test_what_a_newer_minor_version_adds_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    lines = (
        written(events_of(b"", PID, b"", [])).decode().replace('"transcript":"1.0"', '"transcript":"1.7","mood":[1]')
    )
    lines = lines.replace('"ch":"out"', '"mood":{},"ch":"out"')
    lines += '{"conv":"c1","seq":3,"t":1,"ch":"side","msg":{}}\n'
    lines += '{"conv":"c1","seq":4,"t":1,"ch":"control","msg":{"event":"party"}}\n'
    path.write_text(lines)
    assert [(event.seq, event.channel) for event in read(path)] == [(0, "out"), (1, "process"), (2, "control")]


def test_conversations_that_share_a_file_keep_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    headers = {conv: msgspec.structs.replace(HEADER, conv=conv) for conv in ("a", "b")}
    with path.open("wb") as file:
        writers = {conv: TranscriptWriter(file, header, flush_at=1) for conv, header in headers.items()}
        for event in sample():
            for writer in writers.values():
                writer.write(event)
        for writer in writers.values():
            writer.close()
    got = list(entries(path))
    for conv in headers:
        mine = [each for entry in got if isinstance(entry, Happened) and entry.conv == conv for each in entry.events]
        assert facts_of(mine) == facts_of(sample())
    with pytest.raises(TranscriptError, match="a second conversation, 'b'"):
        list(read(path))


def test_parts_are_read_in_order_and_the_pid_is_expected_once(tmp_path: Path) -> None:
    events = sample()
    for part, some in ((1, events[:3]), (2, events[3:])):
        header = msgspec.structs.replace(HEADER, part=part, snapshot={"state": 1} if part > 1 else None)
        (tmp_path / f"part{part}").write_bytes(written(some, header))
    transcript = read(tmp_path / "part2", tmp_path / "part1")
    assert facts_of(list(transcript)) == facts_of(events)
    assert (transcript.header.part, len(transcript.ends)) == (1, 2)
    # Alone, the second part knows that the handshake is over.
    alone = [event.body for event in read(tmp_path / "part2") if event.channel == "out"]
    assert alone[0] == Ack("-1")


@pytest.mark.parametrize("said", [True, False])
def test_a_part_alone_expects_the_pid_if_nothing_was_said_before(tmp_path: Path, said: bool) -> None:
    judge = Conversation(HEADER.profile, load_rulebook())
    before = sample() if said else []
    for event in before:
        judge.feed(event)
    header = msgspec.structs.replace(HEADER, part=2, snapshot=judge.snapshot())
    pid = Event(before[-1].seq + 1 if before else 0, 0.2, "out", Pid(7), b'{"pid":7}\nend\n')
    (tmp_path / "t").write_bytes(written([pid], header))
    [event] = read(tmp_path / "t")
    assert isinstance(event.body, Pid) is not said


def test_after_a_gap_no_pid_is_expected(tmp_path: Path) -> None:
    ack = b'{"command":"ack","id":"1"}\nend\n'
    events = [Event(5, 1.0, "control", Gap("ring")), Event(6, 1.0, "out", Ack("1"), ack, 4000)]
    (tmp_path / "t").write_bytes(written(events))
    assert list(read(tmp_path / "t")) == events


def test_facts_do_not_belong_on_the_pipes() -> None:
    with pytest.raises(ValueError, match="no bytes on channel 'out'"):
        written([Event(0, 0.0, "out", StdoutClosed())])


class Full:
    """A disk that takes so many bytes and no more, a few at a time."""

    closed = False

    def __init__(self, room: int) -> None:
        self.kept = b""
        self.room = room

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        taken = bytes(data[: min(7, self.room)])
        self.kept += taken
        self.room -= len(taken)
        return len(taken)

    def flush(self) -> None:
        pass


def test_after_a_full_disk_nothing_more_is_written(tmp_path: Path) -> None:
    disk: Any = Full(len(written([]).splitlines()[0]) + 30)
    writer = TranscriptWriter(disk, HEADER, flush_at=1)
    with pytest.raises(OSError, match="No space left"):
        writer.write(sample()[1])
    disk.room = 1000
    writer.write(sample()[0])
    writer.close()
    (tmp_path / "t").write_bytes(disk.kept)
    assert [type(entry) for entry in entries(tmp_path / "t")] == [Header, Cut, Unclosed]
