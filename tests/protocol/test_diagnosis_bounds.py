"""What is JSON, but no message, is diagnosed in bounded time: Storm's parsers are emulated only where they differ."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multilang_cli.protocol.storm import dialects
from multilang_cli.protocol.storm.diagnosis import DIAGNOSED, MAX_DEPTH, trap_of
from multilang_cli.protocol.storm.reading import read
from multilang_cli.protocol.words.messages import DialectReading, Emit, Malformed

ALIKE = b'{"command":"emit","tuple":["x",1],"command":"emit"}'
DIFFERENT = b'{"command":"emit","tuple":["x",0.12345678901234567],"command":"emit"}'
BEYOND = b'{"command":"emit","tuple":[123456789012345678901]}'

keys = st.sampled_from(
    ["command", "id", "tuple", "anchors", "task", "msg", "level", "name", "params", "pid", "x\u007f"]
)
odd = st.sampled_from(
    [
        *("0.12345678901234567", "12345678901234567890", "1e999", "1E-400", "-0", "-0.0", "9223372036854775807", "1e3"),
        *('"\\ud800"', '"\\ud83d\\ude00"', '"\\u001a"', '"\\q\x7f"', '"emit"', '"ack"', '"log"', "null", "[[]]"),
        *('"1e100"', "true", "3", "12345678901234567.5"),
    ]
)
leaves = st.one_of(odd, st.text(max_size=4).map(json.dumps), st.integers().map(json.dumps), st.floats().map(json.dumps))


def _array(items: list[str]) -> str:
    return "[" + ",".join(items) + "]"


def _object(items: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{json.dumps(key)}:{value}" for key, value in items) + "}"


values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3).map(_array) | st.lists(st.tuples(keys, inner), max_size=4).map(_object),
    max_leaves=8,
)
messages = st.one_of(values, st.lists(st.tuples(keys, values), max_size=6).map(_object))


@pytest.mark.long
@given(messages, st.booleans())
@example('{"command":"emit","command":"emit","tuple":[12345678901234567890],"tuple":[]}', False)
@example('{"x":%s,"x":1}' % ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)), False)
@example('{"command":"ack","id":0.12345678901234567}', False)
def test_a_frame_is_read_as_the_parsers_read_it(text: str, expecting_pid: bool) -> None:
    raw = text.encode("utf-8", "surrogatepass") + b"\nend\n"
    message = read(raw[:-5], expecting_pid=expecting_pid, raw=raw)
    if isinstance(message, Malformed):
        assert _plain(message.by_dialect) == _plain(dialects.readings(raw, expecting_pid))


def _plain(readings: dict[str, DialectReading]) -> Any:
    """As text, which also tells 1 from 1.0 and NaN from none."""
    return {name: repr(reading) for name, reading in readings.items()}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (ALIKE, "json-duplicate-key"),
        (b'{"command":"emit","tuple":{}}', "tuple-type"),
        (b"[1,2]", "message-not-object"),
    ],
)
def test_the_parsers_are_not_emulated_where_they_can_not_differ(
    text: bytes, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialects, "readings", None)
    message = read(text)
    assert isinstance(message, Malformed)
    assert (message.kind, set(message.by_dialect)) == (kind, set(dialects.DIALECTS))


@pytest.mark.parametrize(
    ("text", "kind", "asked"),
    [(ALIKE, "json-duplicate-key", True), (DIFFERENT, "json-duplicate-key", False), (BEYOND, "integer-too-big", False)],
)
def test_a_huge_frame_is_named_but_not_emulated(text: bytes, kind: str, asked: bool) -> None:
    message = read(text)
    assert isinstance(message, Malformed)
    assert message.by_dialect
    huge = read(text[:-1] + b',"msg":"%s"}' % (b"x" * DIAGNOSED))
    assert isinstance(huge, Malformed)
    assert (huge.kind, bool(huge.by_dialect)) == (kind, asked)


@pytest.mark.long
@pytest.mark.parametrize("more", ["1", '"\\ud83d\\ude00"'], ids=["plain", "every value is looked at"])
def test_a_wide_value_is_looked_through_without_a_copy_of_it(more: str) -> None:
    text = f"[[{'[],' * 200_000}{more}]]".encode()
    value = json.loads(text)
    tracemalloc.start()
    try:
        assert trap_of(value, [], text) is None
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 2])
def test_depth_is_counted_by_the_deepest_of_both_brackets(depth: int) -> None:
    pairs = depth // 2 - 1
    text = b'[[],{"":%s},{}]' % (b'[{"[":' * pairs + b"1" + b"}]" * pairs)
    trap = trap_of(json.loads(text), [], text)
    assert (trap is not None and trap.kind == "json-too-deep") is (depth > MAX_DEPTH)


@pytest.mark.parametrize("before", range(-22, 3, 4))
def test_a_long_number_is_seen_wherever_it_stands_in_a_huge_message(before: int) -> None:
    begin = b'{"command":"emit","tuple":["'
    number = b"0.123456789012345678901"
    padding = b"x" * (2**20 + before - len(begin) - len(b'",'))
    message = read(begin + padding + b'",' + number + b"]}")
    assert isinstance(message, Emit)
    assert message.hazards == ("decimal",)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"command", b'"%s"'),
        (b"command", b'"%s" '),
        (b"command%s", b'"emit"'),
        (b'command":"ack","id', b'{"%s":1}'),
        (b'command":"log","level', b'"%s"'),
        (b'command":"emit","need_task_ids', b'"%s"'),
        (b'command":"emit","stream', b'["%s"]'),
    ],
    ids=range(7),
)
def test_a_huge_name_is_not_looked_at_whole(key: bytes, value: bytes) -> None:
    text = b'{"%s":%s}' % (key, value)
    for filler in (b"x", b" ", "\u00e9".encode(), b"\\u0001"):
        long = text % (filler * (400_000 // len(filler)))
        tracemalloc.start()
        try:
            message = read(long)
            assert tracemalloc.get_traced_memory()[1] < 12 * len(long)
        finally:
            tracemalloc.stop()
        assert isinstance(message, Malformed)
        assert len(message.detail) < 1000


def test_a_long_message_is_told_of_the_line_feed_in_its_text() -> None:
    text = b'{"command":"emit","tuple":["a\\"b","' + b"\n".join([b"x" * 2000] * 600) + b'"]}'
    found = read(text)
    assert isinstance(found, Malformed)
    assert (found.kind, len(text) > DIAGNOSED) == ("json-control-character", True)
    assert found.detail.startswith("a raw U+000A in a string")


def test_a_long_message_of_many_lines_is_not_told_of_line_feeds_between_its_values() -> None:
    text = b'{"command":\n "emit",\n "tuple":\n ["' + b"x" * DIAGNOSED + b'", nothing]}'
    found = read(text)
    assert isinstance(found, Malformed)
    assert found.kind == "json-invalid"


@pytest.mark.parametrize(("value", "told"), [("-nan", ": -nan, which JSON does not have"), ("nothing", "")])
def test_a_long_text_tells_what_stands_for_a_number(value: str, told: str) -> None:
    text = b'{"command":"emit","tuple":["NaN ' + b"x" * DIAGNOSED + b'", %s]}' % value.encode()
    found = read(text)
    assert isinstance(found, Malformed)
    assert (found.kind, found.detail) == ("json-invalid", f"no JSON{told} (a frame of {len(text):,} bytes)")
