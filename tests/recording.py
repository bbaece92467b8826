"""Conversations for the tests of transcripts: what a host would record, and the bytes that are written of it."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise
from typing import Any

from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Chunk, Deadline, Event, Exited
from multilang_cli.protocol.words.messages import TupleMsg
from multilang_cli.protocol.words.verdicts import Profile, StreamSpec
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

PROFILE = Profile(kind="bolt", streams={"default": StreamSpec(("word",))}, tasks={3: "component"})
HEADER = Header(conv="c1", profile=PROFILE, storm="2.8.3", argv=("python3", "bolt.py"), task=3)
PID = b'{"pid":1234}\nend\n'


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
        TupleMsg("source", ["snow \u2028 / 白"], 2, "default", "-1")
    )
    return events_of(stdin, PID + b'{"command":"ack","id":"-1"}\nend\nx\nend\n', b"Traceback\n", [3])


def facts_of(events: list[Event]) -> list[tuple[Any, ...]]:
    """Events as they can be compared: NaN in a reading is not equal to itself."""
    return [(e.seq, e.t, e.channel, e.raw, e.offset, repr(e.body)) for e in events]
