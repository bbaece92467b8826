from __future__ import annotations

import json
import re
from base64 import b64decode
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.catalogue import schemas
from multilang_cli.protocol import wire
from multilang_cli.protocol.events import Chunk, Deadline, End, Event, Exited, Gap, Redacted, Started, StdoutClosed
from multilang_cli.protocol.framing import Framer, frame_text
from multilang_cli.protocol.messages import Ack, Handshake, Malformed, Pid, TupleMsg
from multilang_cli.protocol.reading import read_frame
from multilang_cli.protocol.verdicts import Profile, StreamSpec
from multilang_cli.transcript.format import EndLine, Header, TranscriptError
from multilang_cli.transcript.read import Cut, Happened, entries, read
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = Profile(kind="bolt", streams={"default": StreamSpec(("word",))}, tasks={3: "component"})
HEADER = Header(conv="c1", profile=PROFILE, storm="2.8.3", argv=("python3", "bolt.py"), task=3)
PID = b'{"pid":1234}\nend\n'
PIECES = st.sampled_from(
    [
        PID,
        b'{"command":"sync"}\nend\n',
        b'{"command":"ack","id":"1"}\nend\n',
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
        b'"text"\nend\n',
        b"end\n",
        b"\xff\xfe\nend\n",
        b"print me\n",
        b"NaN\nend\n",
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=12), max_size=8).map(b"".join)


def events_of(stdin: bytes, stdout: bytes, stderr: bytes, cuts: list[int]) -> list[Event]:
    """What a host would record: frames as they are cut from pieces of any size, and chunks."""
    found: list[Event] = []
    for channel, stream in (("in", stdin), ("out", stdout)):
        framer = Framer(limit=200)
        edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
        frames = [frame for a, b in pairwise(edges) for frame in framer.feed(stream[a:b])]
        rest = framer.close()
        frames += [rest] if rest else []
        for number, frame in enumerate(frames):
            body: Any = read_frame(frame, expecting_pid=number == 0) if channel == "out" else wire.decode(frame.text)
            found.append(Event(len(found), len(found) / 8, channel, body, frame.raw, frame.offset))  # type: ignore[arg-type]
    if stderr:
        found.append(Event(len(found), 9.0, "err", Chunk(len(stderr)), stderr, 0))
    found.append(Event(len(found), 9.5, "process", Exited(code=0)))
    found.append(Event(len(found), 9.5, "control", Deadline("sync", 5.0, "it waits")))
    return found


def written(events: list[Event], header: Header = HEADER, **options: Any) -> bytes:
    file = BytesIO()
    with TranscriptWriter(file, header, **options) as writer:
        for event in events:
            writer.write(event)
    return file.getvalue()


def sample() -> list[Event]:
    stdin = wire.frame({"conf": {"a": 1}, "pidDir": "/pids", "context": {}}) + wire.encode_tuple(
        TupleMsg("-1", "source", "default", 2, ["snow \u2028 / 白"])
    )
    return events_of(stdin, PID + b'{"command":"ack","id":"-1"}\nend\nx\nend\n', b"Traceback\n", [3])


def facts_of(events: list[Event]) -> list[tuple[Any, ...]]:
    """Events as they can be compared: NaN in a reading is not equal to itself."""
    return [(e.seq, e.t, e.channel, e.raw, e.offset, repr(e.body)) for e in events]


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


def test_a_file_cut_at_any_byte_is_read_up_to_there(tmp_path: Path) -> None:
    events = sample()
    text = written(events)
    path = tmp_path / "cut.ndjson"
    lines = text.splitlines(keepends=True)
    for size in range(len(text) + 1):
        path.write_bytes(text[:size])
        got = list(entries(path))
        whole = [entry for entry in got if not isinstance(entry, Cut)]
        ended = text[:size].count(b"\n")
        # A line that lacks nothing but its line feed is whole.
        at_end = size > 0 and text[size : size + 1] == b"\n"
        assert len(whole) == ended + at_end
        remainder = size - sum(map(len, lines[:ended]))
        assert [entry for entry in got if isinstance(entry, Cut)] == (
            [] if at_end or not remainder else [Cut(str(path), ended + 1, remainder)]
        )
        assert [e.event.raw for e in got if isinstance(e, Happened)] == [e.raw for e in events][
            : max(0, len(whole) - 1)
        ]


def test_a_file_that_stops_in_its_header_is_no_conversation(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    for text in (b"", b'{"transcr'):
        path.write_bytes(text)
        with pytest.raises(TranscriptError, match="the file stops before the end of its first line"):
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
    with pytest.raises(TranscriptError, match=why) as caught:
        list(entries(path))
    assert (caught.value.line, caught.value.path) == (number, str(path))
    assert str(caught.value).startswith(f"{path}:{number}: ")


def test_what_a_newer_minor_version_adds_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    lines = (
        written(events_of(b"", PID, b"", [])).decode().replace('"transcript":"1.0"', '"transcript":"1.7","mood":[1]')
    )
    lines = lines.replace('"ch":"out"', '"mood":{},"ch":"out"')
    lines += '{"conv":"c1","seq":7,"t":1,"ch":"side","msg":{}}\n'
    lines += '{"conv":"c1","seq":8,"t":1,"ch":"control","msg":{"event":"party"}}\n'
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
        mine = [entry.event for entry in got if isinstance(entry, Happened) and entry.conv == conv]
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
    assert [type(entry) for entry in entries(tmp_path / "t")] == [Header, Cut]


SECRET = "hunter2/hunter2"  # noqa: S105
CONF = {
    "db.password": SECRET,
    "nested": [{"api_key": "k" * 20, "user": "me"}],
    "AWS_SECRET": {"a": "b"},
    "pin.token": 12345,
    "storm.zookeeper.topology.auth.payload": "user:payload",
    "nimbus.credential.renewers.freq.secs": 600,
    "drpc.https.keystore.type": "JKS",
    "topology.kryo.register": None,
    "empty.password": "",
}
CLEAN = {
    **CONF,
    "db.password": "***",
    "nested": [{"api_key": "***", "user": "me"}],
    "AWS_SECRET": "***",
    "pin.token": "***",
    "storm.zookeeper.topology.auth.payload": "***",
}


def test_secrets_of_conf_do_not_reach_the_file(tmp_path: Path) -> None:
    frame = wire.frame({"conf": CONF, "pidDir": "/pids", "context": {"taskid": 3}})
    said = b'{"command":"log","msg":"password is hunter2/hunter2"}\nend\n'
    spelt = wire.encode_tuple(TupleMsg("1", "s", "default", 2, [SECRET]))
    events = [
        Event(0, 0.0, "process", Started(("./bolt", f"--password={SECRET}"), 7)),
        Event(1, 0.0, "in", Handshake(CONF, "/pids", {"taskid": 3}), frame, 0),
        Event(2, 0.1, "out", Pid(1234), PID, 0),
        Event(3, 0.1, "in", wire.decode(spelt[:-5]), spelt, len(frame)),
        Event(4, 0.2, "out", read_frame(Framer().feed(said)[0]), said, len(PID)),
        Event(5, 0.3, "err", Chunk(len(SECRET)), SECRET.encode(), 0),
    ]
    header = msgspec.structs.replace(
        HEADER,
        profile=msgspec.structs.replace(PROFILE, conf=CONF),
        argv=("./bolt", f"--password={SECRET}"),
        snapshot={"state": [SECRET]},
    )
    path = tmp_path / "t.ndjson"
    path.write_bytes(written(events, header))
    text = path.read_bytes()
    assert b"hunter2" not in text
    assert b"kkkk" not in text
    transcript = read(path)
    assert transcript.header.profile.conf == CLEAN
    assert transcript.header.redacted == (
        "AWS_SECRET",
        "api_key",
        "db.password",
        "pin.token",
        "storm.zookeeper.topology.auth.payload",
    )
    got = list(transcript)
    marked = [event.body.seq_redacted for event in got if isinstance(event.body, Redacted)]
    assert marked == [0, 1, 3, 4, 5]
    assert all(event.seq == event.body.seq_redacted for event in got if isinstance(event.body, Redacted))
    sent = next(event.body for event in got if event.channel == "in")
    assert isinstance(sent, Handshake)
    assert (sent.conf, sent.context) == (CLEAN, {"taskid": 3})
    # What was not touched is still at its own place in its stream.
    assert [event.offset for event in got if event.channel in {"in", "out"}] == [0, 0, len(frame), len(PID)]
    assert [event.raw for event in got if event.seq == 2] == [PID]


def test_without_secrets_nothing_is_changed() -> None:
    frame = wire.frame({"conf": {"a": 1}, "pidDir": "/p", "context": {}})
    text = written([Event(0, 0.0, "in", Handshake({"a": 1}, "/p", {}), frame, 0)])
    assert b'"msg":' + frame[:-5] + b"}\n" in text
    assert b"redacted" not in text


def test_a_broken_handshake_is_redacted_all_the_same() -> None:
    raw = b'{"conf": {"db.password": "hunter2/hunter2", "bytes": [B@1a2b}, "pidDir": "/p"}\nend\n'
    events = events_of(raw, b"", b"", [])
    assert isinstance(events[0].body, Malformed)
    lines = written(events).splitlines()
    assert b'"***", "bytes"' in b64decode(json.loads(lines[1])["raw64"])


def test_other_keys_can_be_secret_or_none() -> None:
    frame = wire.frame({"conf": {"door.code": "12345678"}, "pidDir": "/p", "context": {}})
    events = [Event(0, 0.0, "in", wire.decode(frame[:-5]), frame, 0)]
    assert b"12345678" not in written(events, secret_keys=re.compile("door"))
    assert b"12345678" in written(events)
    assert b"12345678" in written(events, secret_keys=None)
