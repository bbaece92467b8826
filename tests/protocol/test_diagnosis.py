"""What strict reading refuses is named by its kind, at its place, with what was meant saved."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.storm.reading import read, read_frame
from multilang_cli.protocol.wire.framing import Frame
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.messages import Ack, Emit, FromComponent, Handshake, Log, Malformed, Pid
from multilang_cli.reports.formats.json_report import to_json
from multilang_cli.reports.formats.junit import to_junit
from multilang_cli.reports.model import ComponentReport, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.verdict import conclude
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind

ACK = Ack("7")
EMIT = Emit(["x", 1])
A = b'{"command":"ack","id":"7"}'
E = b'{"command":"emit","tuple":["x",1]}'

KINDS: list[tuple[str, bytes, str, int, tuple[FromComponent, ...] | None]] = [
    ("text before", b"debug: hello\n" + A, "stdout-text", 0, (ACK,)),
    ("text alone", b"Traceback (most recent call last):", "stdout-text", 0, ()),
    ("text between", A + b"\nhello\n" + E, "two-messages-one-end", 26, (ACK, EMIT)),
    ("text after", A + b"\nready", "text-after-object", 26, (ACK,)),
    ("two objects", A + b"\n" + E, "two-messages-one-end", 26, (ACK, EMIT)),
    ("two on one line", A + E, "two-messages-one-end", 26, (ACK, EMIT)),
    ("end with a space", A + b"\nend \n" + E, "end-not-alone", 27, (ACK, EMIT)),
    ("end with a tab", A + b"\n\tend\n" + E, "end-not-alone", 27, (ACK, EMIT)),
    ("single quotes", b"{'command':'ack','id':'7'}", "json-single-quotes", 1, (ACK,)),
    ("python repr", b"{'command': 'emit', 'tuple': [None, True]}", "python-repr", 30, (Emit([None, True]),)),
    ("python tuple", b'{"command":"emit","tuple":("x",1)}', "python-repr", 26, (EMIT,)),
    ("python bytes", b'{"command":"emit","tuple":[b\'x\',1]}', "python-repr", 27, (EMIT,)),
    ("unquoted keys", b'{command:"ack",id:"7"}', "json-unquoted-keys", 1, (ACK,)),
    ("block comment", b'{"command":/* x */"ack","id":"7"}', "json-comment", 11, (ACK,)),
    ("line comment", b"// x\n" + A, "json-comment", 0, (ACK,)),
    ("hash comment", b"# x\n" + A, "json-comment", 0, (ACK,)),
    ("trailing comma", b'{"command":"ack","id":"7",}', "json-trailing-comma", 26, (ACK,)),
    ("trailing comma in an array", b'{"command":"emit","tuple":["x",1,]}', "json-trailing-comma", 33, (EMIT,)),
    ("double comma", b'{"command":"emit","tuple":["x",,1]}', "json-trailing-comma", 31, (EMIT,)),
    ("NaN", b'{"command":"emit","tuple":[NaN]}', "json-nonfinite", 27, (Emit([float("nan")]),)),
    ("Infinity", b'{"command":"emit","tuple":[-Infinity]}', "json-nonfinite", 27, (Emit([float("-inf")]),)),
    ("1e400", b'{"command":"emit","tuple":[1e400]}', "number-too-large", 27, (Emit([float("inf")]),)),
    (
        "1e400 in a string first",
        b'{"command":"emit","tuple":["1e400",-1e400]}',
        "number-too-large",
        35,
        (Emit(["1e400", float("-inf")]),),
    ),
    (
        "1e400 and 2^63",
        b'{"command":"emit","tuple":[1e400,9223372036854775808]}',
        "integer-too-big",
        33,
        (Emit([float("inf"), 2**63]),),
    ),
    ("a half pair, no list", b'{"command":"emit","tuple":"\\ud800"}', "tuple-type", 18, (Emit(["\ud800"]),)),
    (
        "its values under half a pair",
        b'{"command":"emit","\\ud800":["a"]}',
        "tuple-missing",
        0,
        (),
    ),
    ("twice, no list", b'{"command":"emit","tuple":5,"tuple":5}', "tuple-type", 18, (Emit([5]),)),
    ("leading zero", b'{"command":"emit","tuple":["x",01]}', "json-number", 31, (EMIT,)),
    ("plus", b'{"command":"emit","tuple":["x",+1]}', "json-number", 31, (EMIT,)),
    ("hex", b'{"command":"emit","tuple":["x",0x1]}', "json-number", 31, (EMIT,)),
    ("bare dot", b'{"command":"emit","tuple":[.5]}', "json-number", 27, (Emit([0.5]),)),
    ("2^63", b'{"command":"emit","tuple":[9223372036854775808]}', "integer-too-big", 27, (Emit([2**63]),)),
    ("-2^63-1", b'{"command":"emit","tuple":[-9223372036854775809]}', "integer-too-big", 27, (Emit([-(2**63) - 1]),)),
    (
        "5000 digits",
        b'{"command":"emit","tuple":["x",%s]}' % (b"7" * 5000),
        "integer-too-big",
        31,
        (Emit(["x", int("7" * 4000)]),),
    ),
    (
        "an id of 2^64",
        b'{"command":"emit","id":18446744073709551616,"tuple":[1]}',
        "integer-too-big",
        23,
        (Emit([1], id=2**64),),
    ),
    ("bad escape", b'{"command":"emit","tuple":["\\x78",1]}', "json-bad-escape", 28, (EMIT,)),
    ("raw tab", b'{"command":"emit","tuple":["a\tb"]}', "json-control-character", 29, (Emit(["a\tb"]),)),
    ("raw NUL", b'{"command":"emit","tuple":["a\0b"]}', "json-control-character", 29, (Emit(["a\0b"]),)),
    ("duplicate key", b'{"command":"ack","id":"6","id":"7"}', "json-duplicate-key", 26, (ACK,)),
    ("too deep", b'{"command":"emit","tuple":' + b"[" * 500 + b"]" * 500 + b"}", "json-too-deep", 0, None),
    ("an array, too deep", b"[1," * 5000, "json-too-deep", 0, ()),
    ("far too deep", b'{"command":"emit","tuple":' + b"[" * 99999, "json-too-deep", 226, ()),
    ("truncated", b'{"command":"emit","tuple":["x",1', "json-truncated", 32, ()),
    ("truncated string", b'{"command":"emit","tuple":["x', "json-truncated", 27, ()),
    ("equals", b'{"command"="ack","id":"7"}', "json-invalid", 10, (ACK,)),
    ("TRUE", b'{"command":"emit","tuple":[TRUE]}', "json-invalid", 27, (Emit([True]),)),
    ("undefined", b'{"command":"emit","tuple":[undefined]}', "json-invalid", 27, (Emit([None]),)),
    ("missing comma", b'{"command":"ack" "id":"7"}', "json-invalid", 17, ()),
    ("BOM and nothing", b"\xef\xbb\xbf \n", "bom", 0, ()),
    ("BOM", b"\xef\xbb\xbf" + A, "bom", 0, (ACK,)),
    ("latin-1", b'{"command":"emit","tuple":["\xe9"]}', "utf8-invalid", 28, (Emit(["�"]),)),
    ("UTF-16LE", A.decode().encode("utf-16-le"), "not-utf8", 1, ()),
    ("UTF-16 with a mark", A.decode().encode("utf-16"), "not-utf8", 0, ()),
    ("lone surrogate", b'{"command":"emit","tuple":["\\ud800"]}', "lone-surrogate", 0, (Emit(["\ud800"]),)),
    ("empty", b"", "empty-message", 0, ()),
    ("blank", b" \n\t", "empty-message", 0, ()),
    ("array", b"[" + A + b"]", "message-not-object", 0, (ACK,)),
    ("string", b'"ack"', "message-not-object", 0, ()),
    ("null", b"null", "message-not-object", 0, ()),
    ("number", b"5", "message-not-object", 0, ()),
    ("msgpack", b"\x82\xa7command\xa3ack\xa2id\xa17", "other-serializer", 0, ()),
    ("pickle", b"\x80\x04\x95\x1f\x00", "other-serializer", 0, ()),
    ("no command", b'{"id":"7"}', "command-missing", 0, ()),
    ("null command", b'{"command":null,"id":"7"}', "command-missing", 1, ()),
    ("command with a space", b'{"command ":"ack","id":"7"}', "command-missing", 0, (ACK,)),
    ("late pid", b'{"pid":5}', "command-missing", 0, (Pid(5),)),
    ("number for a command", b'{"command":5}', "command-type", 1, ()),
    ("misspelt", b'{"command":"akc","id":"7"}', "command-unknown", 1, (ACK,)),
    ("upper case", b'{"command":"ACK","id":"7"}', "command-unknown", 1, (ACK,)),
    ("foreign", b'{"command":"frobnicate"}', "command-unknown", 1, ()),
    ("stream 1", b'{"command":"emit","stream":1,"tuple":["x",1]}', "stream-type", 18, (EMIT,)),
    ("task 4.0", b'{"command":"emit","task":4.0,"tuple":["x",1]}', "task-type", 18, (EMIT,)),
    ("task true", b'{"command":"emit","task":true,"tuple":["x",1]}', "task-type", 18, (EMIT,)),
    ("task of a sync", b'{"command":"sync","task":"x"}', "task-type", 18, None),
    ("task of an ack", b'{"command":"ack","id":"7","task":4}', "task-elsewhere", 26, (ACK,)),
    ("task 0 of a log", b'{"command":"log","msg":"m","task":0}', "task-elsewhere", 27, (Log("m"),)),
    ("task 2^32+6", b'{"command":"emit","task":4294967302,"tuple":["x",1]}', "direct-task-range", 18, None),
    ("tuple a string", b'{"command":"emit","tuple":"x"}', "tuple-type", 18, (Emit(["x"]),)),
    ("tuple missing", b'{"command":"emit"}', "tuple-missing", 0, ()),
    ("tuple null", b'{"command":"emit","tuple":null}', "tuple-missing", 18, ()),
    ("anchors a number", b'{"command":"emit","anchors":[7],"tuple":["x",1]}', "anchors-type", 18, None),
    (
        "anchors in a list",
        b'{"command":"emit","anchors":[["5","7"]],"tuple":["x",1]}',
        "anchors-type",
        18,
        (Emit(["x", 1], anchors=('["5", "7"]',)),),
    ),
    ("anchors of null", b'{"command":"emit","anchors":[null],"tuple":["x",1]}', "anchors-type", 18, (EMIT,)),
    ("need_task_ids 0", b'{"command":"emit","need_task_ids":0,"tuple":["x",1]}', "need-task-ids-type", 18, (EMIT,)),
    ("ack of a number", b'{"command":"ack","id":7}', "settle-id-type", 17, (ACK,)),
    ("ack of nothing", b'{"command":"ack"}', "settle-id-missing", 0, ()),
    ("log a number", b'{"command":"log","msg":5}', "msg-type", 17, (Log("5"),)),
    ("log nothing", b'{"command":"log"}', "msg-missing", 0, (Log(None),)),
    (
        "anchor for anchors",
        b'{"command":"emit","tuple":["x"],"anchor":["7"]}',
        "key-misspelt",
        32,
        (Emit(["x"]),),
    ),
    ("log level 5", b'{"command":"log","msg":"m","level":5}', "log-level", 27, (Log("m", 5),)),
    ("log level 2.7", b'{"command":"log","msg":"m","level":2.7}', "log-level", 27, (Log("m"),)),
    ("log level true", b'{"command":"log","msg":"m","level":true}', "log-level", 27, (Log("m"),)),
    ("metric without a name", b'{"command":"metrics","params":1}', "metric-name", 0, ()),
    ("object for an id", b'{"command":"emit","id":{"a":1},"tuple":["x",1]}', "message-id-type", 18, None),
]


@pytest.mark.parametrize(("text", "kind", "at", "salvage"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS])
def test_kind_place_and_salvage(text: bytes, kind: str, at: int, salvage: tuple[FromComponent, ...] | None) -> None:
    found = read(text)
    assert isinstance(found, Malformed)
    assert (found.kind, found.at) == (kind, at)
    if salvage is not None:
        assert str(found.salvage) == str(salvage)
    assert set(found.by_dialect) == {"simple-quiet", "simple", "smart"}


@pytest.mark.parametrize(
    ("text", "kind", "salvage"),
    [
        (b'{"pid":"12"}', "pid-type", (Pid(12),)),
        (b'{"pid":true}', "pid-type", ()),
        (b'{"pid":12.0}', "pid-type", ()),
        (b"{}", "pid-missing", ()),
        (b'{"pid":null}', "pid-missing", ()),
        (b'{"command":"log","msg":"x"}', "pid-not-first", (Log("x"),)),
        (b'hello\n{"pid":12}', "stdout-text", (Pid(12),)),
    ],
)
def test_the_first_message(text: bytes, kind: str, salvage: tuple[FromComponent, ...]) -> None:
    found = read(text, expecting_pid=True)
    assert isinstance(found, Malformed)
    assert (found.kind, found.salvage) == (kind, salvage)


@pytest.mark.parametrize(
    ("text", "hazards"),
    [
        (b'{"command":"emit","tuple":[0.30000000000000004]}', ("decimal",)),
        (b'{"command":"emit","tuple":[1234567890.12345678901]}', ("decimal",)),
        (b'{"command":"emit","tuple":[0.5,"0.30000000000000004"]}', ()),
        (b'{"command":"emit","tuple":[[1],{"a":2}]}', ("nested",)),
        (b'{"command":"emit","tuple":[[0.30000000000000004]]}', ("nested", "decimal")),
    ],
)
def test_hazards(text: bytes, hazards: tuple[str, ...]) -> None:
    found = read(text)
    assert isinstance(found, Emit)
    assert found.hazards == hazards


@pytest.mark.parametrize(
    "text",
    [
        b'{"command":"emit","tuple":["a:b","\\":"],"stream":null,"anchors":"5","task":null,"need_task_ids":null,"id":null}',
        b' {"tuple" : [ "x" ] , "command" : "emit" , "unknown" : {"deep":[1]} } ',
        b'{\n"command":"emit",\n"tuple":["\\ud83d\\ude00"]}',
        b'{"command":"emit","tuple":[9223372036854775807,-9223372036854775808]}',
        b'{"command":"emit","tuple":[],"anchors":["1","2"],"id":1.5}',
        b'{"command":"log","msg":"","level":0}',
        b'{"command":"metrics","name":"m","params":{"any":["thing"]}}',
        b'{"command":"error","msg":"x"}',
    ],
)
def test_what_is_allowed(text: bytes) -> None:
    assert not isinstance(read(text), Malformed)


def test_frames_that_are_cut_or_too_long() -> None:
    cut = read_frame(Frame(0, b'{"command":"em', "", "cut"))
    long = read_frame(Frame(0, b"x" * 100, "", "too-long"))
    assert isinstance(cut, Malformed)
    assert isinstance(long, Malformed)
    assert (cut.kind, cut.at, long.kind) == ("message-cut", 14, "frame-too-long")


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_break_the_reader(text: bytes, first: bool) -> None:
    found = read(text, expecting_pid=first)
    assert not isinstance(found, Malformed) or (found.kind and len(found.excerpt) <= 800)


@pytest.mark.long
@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=20),
    st.data(),
)
def test_no_mutation_breaks_the_reader(value: object, data: st.DataObject) -> None:
    text = json.dumps({"command": "emit", "tuple": [value]})
    at = data.draw(st.integers(0, len(text)))
    mutated = text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 2)) :]
    read(mutated.encode("utf-8", "surrogatepass"))


DEEP = st.integers(1, 2500).map(lambda n: b"[" * n + b"]" * n)
PIECES = st.lists(
    st.sampled_from(
        [
            A,
            E,
            b"{",
            b"}",
            b'"',
            b"'",
            b"[",
            b",",
            b" ",
            b"\n",
            b"9" * 5000,
            b"1e999",
            b"NaN",
            b"\xff",
            b"end ",
            b'{"a":',
        ]
    )
    | DEEP
    | st.binary(max_size=6),
    max_size=12,
)


@pytest.mark.long
@given(PIECES, st.booleans(), st.sampled_from(["bolt", "spout"]))
def test_no_bytes_break_the_reader_the_judge_or_the_report(pieces: list[bytes], first: bool, kind: Kind) -> None:
    text = b'{"command":"emit","tuple":[' + b"".join(pieces) + b"]}" if first else b"".join(pieces)
    message = read(text, raw=text + b"\nend\n")
    judge = Conversation(example_profile(kind), load_rulebook())
    judge.feed(Event(0, 0.0, "in", Handshake({}, "/pids", {})))
    judge.feed(Event(1, 0.0, "out", Pid(7)))
    findings = judge.feed(Event(2, 0.1, "out", message, text + b"\nend\n"))
    target = io.BytesIO()
    writer = TranscriptWriter(target, Header(conv="c", profile=judge.profile))
    writer.write(Event(0, 0.1, "out", message, text + b"\nend\n"))
    writer.close()
    subject = SubjectResult(id="x", title="x", verdict="fail", findings=tuple(findings))
    result = RunResult(
        tool=Tool(version="0"),
        suite=Suite(name="s"),
        component=ComponentReport(command=("c",)),
        storm="2.8.3",
        started_at="2026-01-01T00:00:00+00:00",
        subjects=(subject,),
    )
    for render in (to_json, to_junit):
        render(conclude(result), load_rulebook()).encode("utf-8")


@pytest.mark.parametrize(("quote", "depth"), [("'", 250), ("'", 450), ('"', 450), ('"', 3000)])
def test_how_deep_it_is_hides_no_other_mistake(quote: str, depth: int) -> None:
    found = read(f"{{{quote}tuple{quote}:{'[' * depth}{']' * depth}}}".encode())
    assert isinstance(found, Malformed)
    kind = "json-single-quotes" if quote == "'" else "json-too-deep"
    assert (found.kind, "200" in found.detail, "no JSON" in found.detail) == (kind, False, quote == "'")


@pytest.mark.parametrize("size", [10, 2_000_000])
def test_a_message_inside_another_shows_a_write_that_was_cut_short(size: int) -> None:
    cut = b'{"command":"emit","tuple":["' + b"x" * size
    found, plain = read(cut + A), read(cut + b'" y]}')
    assert isinstance(found, Malformed)
    assert isinstance(plain, Malformed)
    assert found.kind == plain.kind == "json-invalid"
    assert found.detail.endswith("the write of what stands before was cut short")
    assert "cut short" not in plain.detail


def test_many_objects_under_one_end_are_all_saved_up_to_a_bound() -> None:
    found = read(A * 3000)
    assert isinstance(found, Malformed)
    assert (found.kind, found.at) == ("two-messages-one-end", 26)
    assert len(found.salvage) == 1000


@pytest.mark.parametrize("text", [b"[" * 2_000_000, b'{"a":' * 400_000, b"{'a':1," * 400_000, b"\xff" * 2_000_000])
def test_a_huge_irregular_frame_is_judged_by_its_beginning(text: bytes) -> None:
    found = read(text)
    assert isinstance(found, Malformed)
    assert (found.by_dialect, found.salvage) == ({}, ())
    assert f"{len(text):,} bytes" in found.detail or (found.kind == "json-too-deep" and text.startswith(b'{"a"'))


@pytest.mark.timeout(100)
def test_json_within_json_is_looked_through_once_for_a_delete_character() -> None:
    inner = rb"\"k\":1," * 40_000
    assert isinstance(read(b'{"command":"emit","tuple":["\x7f","%b"]}' % inner), Emit)
    late = read(b'{"command":"emit","tuple":["%b","\x7f\\n"]}' % inner)
    assert isinstance(late, Malformed)
    assert (late.kind, late.at) == ("json-delete-character", 30 + len(inner))


@pytest.mark.parametrize("key", ["upstream", "streams", "tasks", "streamer", "levels", "stream2"])
def test_a_key_of_its_own_is_no_misspelt_one(key: str) -> None:
    assert read(b'{"command":"emit","tuple":["x"],"%s":["7"]}' % key.encode()) == Emit(["x"])
