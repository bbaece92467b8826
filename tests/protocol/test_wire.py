from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.context import handshake, realistic_conf, sent_by, topology_context
from multilang_cli.protocol.wire.framing import TERMINATOR
from multilang_cli.protocol.words.messages import FromStorm, Handshake, Malformed, SpoutCommand, TaskIds, TupleMsg
from multilang_cli.protocol.words.verdicts import Profile, SourceSpec, StormVersion, StreamSpec

LATEST = StormVersion(
    id="2.8.3",
    verified=True,
    dialect="smart",
    context="full",
    activate=True,
    task_ids="overtake",
    heartbeats=True,
    refreshed_by="command",
    timeout_key="topology.subprocess.timeout.secs",
    command_id=True,
)
OLD = StormVersion(
    id="0.9.1",
    verified=False,
    dialect="simple",
    context="small",
    activate=False,
    task_ids="fifo",
    heartbeats=False,
    refreshed_by="nothing",
    timeout_key="",
    command_id=False,
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=6)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
MESSAGES: st.SearchStrategy[FromStorm] = st.one_of(
    st.builds(TupleMsg, st.none() | TEXT, st.lists(JSON, max_size=5), st.integers(-1, 2**31), TEXT, TEXT),
    st.builds(TaskIds, st.lists(st.integers(0, 2**31))),
    st.builds(SpoutCommand, st.sampled_from(sorted(wire.COMMANDS)), JSON),
    st.builds(Handshake, OBJECT, TEXT, OBJECT),
)


TOGETHER = st.one_of(
    st.builds(TupleMsg, st.just("s"), st.lists(JSON | st.text(), max_size=3), st.integers(-1, 4), TEXT, TEXT),
    st.builds(TupleMsg, st.none(), st.just([math.nan]), st.just(2), st.just("a/b\x7f\u2028"), st.just('\\n"NaN"')),
    st.builds(TaskIds, st.lists(st.integers(0, 9), max_size=2)),
)


@given(st.lists(TOGETHER, min_size=1, max_size=6), st.sampled_from([LATEST, OLD]))
def test_messages_written_together_are_what_each_is_alone(messages: list[FromStorm], version: StormVersion) -> None:
    data = wire.encode_together(messages, version)
    assert data in {b"", b"".join(wire.encode(message, version) for message in messages)}


def test_which_messages_are_written_together() -> None:
    plain = TupleMsg("s", ["a/b \u2028\n", 1, 0.5], 2, "default", "1")
    assert wire.encode_together([plain, TaskIds([4]), TaskIds([])], LATEST).count(b"\nend\n") == 3
    assert wire.encode_together([plain, TupleMsg("s", [None], 2, "default", "1")], OLD)
    for odd in (TupleMsg("s", [math.nan], 2, "default", "1"), TupleMsg("s", ["\ud800"], 2, "default", "1")):
        assert not wire.encode_together([plain, odd], LATEST)
    assert not wire.encode_together([plain, SpoutCommand("next")], LATEST)


@pytest.mark.long
@given(MESSAGES)
def test_what_storm_writes_is_read_back(message: FromStorm) -> None:
    frame = wire.encode(message, LATEST)
    assert frame.endswith(b"\nend\n")
    assert frame.count(b"\n") == 2
    text = frame[:-5]
    assert wire.decode(text) == message
    decoded = text.decode()
    assert not any("\x7f" <= char <= "\x9f" or "\u2000" <= char <= "\u20ff" for char in decoded)
    assert decoded.count("/") == decoded.count("\\/")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a/b"], rb'["a\/b"]'),
        (["\x7f"], rb'["\u007F"]'),
        (["\\/"], rb'["\\\/"]'),
        (["\x1f\x7f\x9f\xa0"], b'["\\u001F\\u007F\\u009F\xc2\xa0"]'),
        (["\\u001f"], rb'["\\u001f"]'),
        (["\\\x1b\\\\\x1b"], rb'["\\\u001B\\\\\u001B"]'),
        (["\u1fff\u2000\u2028\u2029\u20ff\u2100"], b'["\xe1\xbf\xbf\\u2000\\u2028\\u2029\\u20FF\xe2\x84\x80"]'),
        (["\U0001f600"], b'["\xf0\x9f\x98\x80"]'),
        (["\ud83d\ude00/\ud83d\ufffd"], b'["\xf0\x9f\x98\x80\\/?\xef\xbf\xbd"]'),
        ([math.nan, math.inf, -math.inf], b"[NaN,null,null]"),
        (["\ud800", {"\udfff": math.nan}], b'["?",{"?":NaN}]'),
        ([2**63, -(2**70)], b"[9223372036854775808,-1180591620717411303424]"),
    ],
)
def test_values_are_spelt_as_json_simple_and_json_smart_do(values: list[Any], text: bytes) -> None:
    tup = TupleMsg(None, values, -1, "s", "1")
    framed = b'{"comp":null,"tuple":' + text + b',"task":-1,"stream":"s","id":"1"}\nend\n'
    assert wire.encode(tup, OLD) == framed.replace(b"NaN", b"null")
    assert wire.encode(tup, LATEST) == framed


@pytest.mark.parametrize(
    ("message", "version", "frame"),
    [
        (SpoutCommand("next"), LATEST, b'{"id":"","command":"next"}\nend\n'),
        (SpoutCommand("next"), OLD, b'{"command":"next"}\nend\n'),
        (SpoutCommand("ack", 7), LATEST, b'{"id":7,"command":"ack"}\nend\n'),
        (SpoutCommand("fail", {"a": [1.5]}), OLD, b'{"id":{"a":[1.5]},"command":"fail"}\nend\n'),
        (TaskIds([]), LATEST, b"[]\nend\n"),
        (TaskIds([4, 5]), LATEST, b"[4,5]\nend\n"),
        (Handshake({"a": 1}, "/p", {}), LATEST, b'{"pidDir":"\\/p","context":{},"conf":{"a":1}}\nend\n'),
    ],
)
def test_frames_of_each_version(message: FromStorm, version: StormVersion, frame: bytes) -> None:
    assert wire.encode(message, version) == frame


@pytest.mark.parametrize("version", [LATEST, OLD])
def test_values_nested_deeper_than_python_goes_are_written(version: StormVersion) -> None:
    deep: Any = {"a": [], "b": {}, "c": [1, "\ud800"]}
    for _ in range(5000):
        deep = ["y", {"k": deep, "z": None}]
    inside = '["y",{"k":' * 5000 + '{"a":[],"b":{},"c":[1,"?"]}' + ',"z":null}]' * 5000
    told = TupleMsg("src", ["x", deep], 2, "default", "7")
    expected = f'{{"comp":"src","tuple":["x",{inside}],"task":2,"stream":"default","id":"7"}}\nend\n'
    assert wire.encode(SpoutCommand("ack", deep), version).decode() == f'{{"id":{inside},"command":"ack"}}\nend\n'
    assert wire.encode(told, version).decode() == wire.encode_tuple(told).decode() == expected
    assert wire.encode_together([told, told], version) == b""


def test_a_bare_nan_is_read_back() -> None:
    message = TupleMsg("s", ["NaN", math.nan, [1.5, {"a": math.nan}]], 2, "default", "1")
    assert repr(wire.decode(wire.encode(message, LATEST).removesuffix(TERMINATOR))) == repr(message)


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        (b"", False),
        (b"NaN", False),
        (b'{"id":"1","comp":"s","stream":"d","task":1,"tuple":[NaN,Infinity]}', False),
        (b'{"id":1,"comp":"s","stream":"d","task":1,"tuple":[NaN]}', False),
        (b'{"id":"1","comp":"s","stream":"d","task":1,"tuple":[[B@1a2b]}', False),
        (b"\xff", False),
        (b"[" * 5000, False),
        (b"7", True),
        (b"{}", True),
        (b"[1,true]", True),
        (b'{"command":"emit"}', True),
        (b'{"command":["next"]}', True),
        (b'{"id":1,"comp":"s","stream":"d","task":1,"tuple":[]}', True),
    ],
)
def test_what_storm_cannot_have_meant_is_a_host_message(text: bytes, strict: bool) -> None:
    message = wire.decode(text)
    assert isinstance(message, Malformed)
    assert (message.kind, message.strict) == ("host-message", strict)
    assert len(message.excerpt) <= 4 * wire.EXCERPT


def test_a_lone_component_stands_in_a_small_topology() -> None:
    assert topology_context(Profile(kind="bolt"), LATEST) == {
        "task->component": {"1": "__acker", "2": "source", "3": "component", "4": "sink"},
        "taskid": 3,
        "componentid": "component",
        "streams": ["default"],
        "stream->outputfields": {"default": ["word"]},
        "stream->target->grouping": {"default": {"sink": {"type": "SHUFFLE"}}},
        "source->stream->grouping": {"source": {"default": {"type": "SHUFFLE"}}},
        "source->stream->fields": {"source": {"default": ["sentence"]}},
    }


def test_a_declared_topology_is_kept() -> None:
    profile = Profile(
        kind="bolt",
        component="comp",
        tasks={1: "__acker", 2: "src"},
        streams={
            "default": StreamSpec(("a", "b"), consumers={"sink": (4, 5)}, groupings={"sink": {"type": "ALL"}}),
            "dir": StreamSpec(("a",), direct=True, consumers={"dsink": (6,)}),
            "lone": StreamSpec(("a",)),
        },
        sources={"src": {"default": SourceSpec(("w",), {"type": "FIELDS", "fields": ["w"]})}},
    )
    context = topology_context(profile, LATEST)
    assert context["task->component"] == {
        "1": "__acker",
        "2": "src",
        "3": "comp",
        "4": "sink",
        "5": "sink",
        "6": "dsink",
    }
    assert context["stream->target->grouping"] == {
        "default": {"sink": {"type": "ALL"}},
        "dir": {"dsink": {"type": "DIRECT"}},
    }
    assert context["streams"] == ["default", "dir", "lone"]
    assert context["source->stream->grouping"] == {"src": {"default": {"type": "FIELDS", "fields": ["w"]}}}


@pytest.mark.parametrize("kind", ["bolt", "spout"])
@pytest.mark.parametrize("version", [LATEST, OLD])
def test_handshakes_hold_to_the_schema(kind: Any, version: StormVersion) -> None:
    profile = Profile(kind=kind, task=1, conf={"my.key": "x"})
    conf = realistic_conf(base_conf(version.id), profile, {"topology.name": "words"})
    message = handshake(profile, version, conf, "/pids", {"task->component": {"9": "later"}, "later": True})
    sent = json.loads(wire.encode(message, version)[:-5])
    assert schemas.explain(sent, "messages/handshake") == []
    assert sent["context"]["task->component"]["9"] == "later"
    assert sent["context"]["later"] is True
    assert ("streams" in sent["context"]) == (version is LATEST)
    assert sent["context"]["task->component"]["1"] == "component"
    assert "__acker" in sent["context"]["task->component"].values()
    assert (sent["conf"]["my.key"], sent["conf"]["storm.id"]) == ("x", "words-1-1700000000")


@pytest.mark.parametrize("version", [LATEST, OLD])
def test_what_no_storm_sends_is_left_out_of_a_context(version: StormVersion) -> None:
    extra = {"task->component": {"9": "later"}, "later": True}
    assert sent_by(version, Profile(kind="bolt"), extra) == {"task->component": {"9": "later"}}


def test_the_conf_is_of_its_era() -> None:
    old, new = base_conf("0.9.7"), base_conf("2.8.3")
    assert old["topology.multilang.serializer"] == "backtype.storm.multilang.JsonSerializer"
    assert new["topology.multilang.serializer"] == "org.apache.storm.multilang.JsonSerializer"
    assert "topology.shellbolt.max.pending" not in old
    assert new["topology.shellbolt.max.pending"] == 100
    assert len(new) > 150
    # Storm asks whether the key is there, not what it holds: null would break its start.
    assert "topology.subprocess.timeout.secs" not in new


_TUPLE = '{"comp":"a","tuple":["b",%s],"task":2,"stream":"default","id":"1"}'


@pytest.mark.parametrize(
    ("values", "simple"),
    [
        ("1,-2.5e3,true,null", True),
        ('"Ma\\u00f1ana"', True),
        (str(10**13), True),
        (str(-(10**13)), True),
        (str(2**53), False),
        (str(-(2**53)), False),
        (str(2**80), False),
        ('"Mañana"', False),
        ('[1,{"a":2}]', True),
        (f"[{2**53}]", False),
        (f'{{"a":{2**53}}}', False),
        (f"\t{2**53}", False),
    ],
)
@pytest.mark.parametrize("more", [b"[4]", b'{"command":"next"}', b'{"comp":"a","tuple":[],"task":1,"stream":"s"}'])
def test_lines_are_decoded_as_each_is_and_known_to_be_simple(values: str, simple: bool, more: bytes) -> None:
    said = (_TUPLE % values).encode()
    for lines in ([said], [said, more], [more, said]):
        assert wire.decode_told(b"\n".join(lines)) == (list(map(wire.decode, lines)), simple)


@pytest.mark.parametrize("key", [b"i\xc6", b"\xed\xa0\x80", "ñ".encode()])
def test_bytes_of_a_key_that_are_no_utf8_are_told_wherever_it_stands(key: bytes) -> None:
    lines = [b'{"command":"next"}', b'{"command":"ack","id":"1","%b":""}' % key, b'{"command":"next"}']
    assert wire.decode_told(b"\n".join(lines))[0] == list(map(wire.decode, lines))


@pytest.mark.parametrize(
    ("number", "simple"), [(2**53 - 1, True), (1 - 2**53, True), (2**53, False), (-(2**53), False)]
)
def test_an_integer_is_simple_if_a_double_holds_all_up_to_it(number: int, simple: bool) -> None:
    assert wire.decode_told((_TUPLE % number).encode())[1] == simple
