"""Large values stay JSON: they are read to the same as small ones, and take no more memory than they are long."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from multilang_cli.protocol.judge import number_rules, text_rules
from multilang_cli.protocol.storm import diagnosis, large, reading, serializing
from multilang_cli.protocol.wire import encoding
from multilang_cli.protocol.words import large as values_file
from multilang_cli.protocol.words.large import LargeValues, plain, strings_of
from multilang_cli.protocol.words.messages import Emit, Malformed, TupleMsg

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Message

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
ODD = [
    "[]",
    "[ ]", "[[]]", "[[],[]]", "[{},{}]", '["]",{"[":"}"}]', '["\\"]", "\\\\"]', '["\\ud83d\\ude00"]', '["\\ud83d"]',
    '["\\\\ud83d"]', "[1e999]", "[1e5,1E-7]", "[-0,-0.0]", "[9223372036854775808]", "[-9223372036854775809]",
    "[9223372036854775807]", "[0.1234567890123456789]", "[1.5e99999999999999]", '[{"a":1,"a":2}]',
    '[{"a":1,"b":{"a":1}},{"a":2}]', '[{"a":{"b":1},"\\u0061":2}]', '[{"a" : [1,{"x":2,"x":3}]}]', '["\x7f\\n"]',
    '["\x7f"]', '["\x7f","\\n"]', "[" * 399 + "]" * 399, "[" * 400 + "]" * 400,
    f"[[],{'[' * 398}{']' * 398},[]]", f"[[],{'[' * 399}{']' * 399},[]]",
    "[1,]", "[NaN]",
    "[01]", '["a\n"]', '["\\x"]', "[1 2]", '[{"a" 1}]', "[tru]", '["é\U0001f600",{"ü":"ß"}]',
    "{}", "7", "null", '"a"',
]  # fmt: skip
"""Values of an emit, or what stands in their place."""
AROUND = [
    '{"command":"emit","anchors":["5"],"tuple":%s}',
    '{"tuple" : %s , "command":"emit","id":7.5,"need_task_ids":false}',
    '{"command":"emit","tuple":%s,"task":"7","stream":"s"}',
    '{"command":"emit","tuple":%s,"anchors":5}',
    '{"command":"emit","tuple":[],"tuple":%s}',
    '{"command":"emit","tuple":%s,"tuple":[1]}',
    '{"command":"emit","tuple":%s,"x":1} ',
    '{"command":"emits","tuple":%s}',
    '{"pid":7,"tuple":%s}',
    '{"command":"emit","tuple":%s}}',
    '{"command":"emit","tuple":%s,"id":"\x7f\\n"}',
]
SIZE = 256 * 1024
"""Bytes of the values of which the memory is measured."""
KINDS = {
    "integers": b"12345,", "digits": b"1,", "texts": b'"abcd",', "numbers": b"0.25,", "arrays": b"[],",
    "deep": b"[[[1]]],",
    "objects": b'{"a":1},', "characters": '"é",'.encode(), "escapes": b'"\\u00e9",',
}  # fmt: skip


@pytest.fixture
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (large, reading, encoding):
        monkeypatch.setattr(module, "LARGEST_DECODED", 2)
    monkeypatch.setattr(values_file, "PIECE", 9)


@pytest.fixture
def less_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (large, reading, encoding):
        monkeypatch.setattr(module, "LARGEST_DECODED", SIZE // 4)
    monkeypatch.setattr(values_file, "PIECE", SIZE // 64)
    monkeypatch.setattr(diagnosis, "DIAGNOSED", SIZE // 4)
    monkeypatch.setattr(large, "_PARTED", SIZE // 64)
    monkeypatch.setattr(values_file, "MOST_PARTS", SIZE // 64)


def _both(text: bytes, expecting_pid: bool) -> tuple[Message, Message]:
    """The message read as large, and as it is read otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "LARGEST_DECODED", 1 << 40)
        otherwise = reading.read(text, expecting_pid=expecting_pid)
    return reading.read(text, expecting_pid=expecting_pid), otherwise


def _as_lists(message: Any) -> Any:
    if isinstance(message, Emit):
        return msgspec.structs.replace(message, values=plain(message.values))
    if isinstance(message, Malformed):
        return message.kind, [_as_lists(each) for each in message.salvage], message.strict
    return message


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("values", ODD, ids=range(len(ODD)))
def test_what_is_large_is_read_as_what_is_small(values: str) -> None:
    for around in AROUND:
        text = around.replace("%s", values).encode()
        found, otherwise = _both(text, expecting_pid=around.startswith('{"pid"'))
        assert repr(_as_lists(found)) == repr(_as_lists(otherwise)), around


@pytest.mark.long
@pytest.mark.usefixtures("nothing_is_small")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(VALUES, max_size=5), st.booleans())
@example([[[]], [[], []]], False)
def test_values_are_what_they_are_decoded_to(values: list[Any], ascii_only: bool) -> None:
    array = json.dumps(values, ensure_ascii=ascii_only)
    array = array.encode("utf-8", "replace").decode()
    text = f'{{"id":"1","comp":"c","stream":"s","task":1,"tuple":{array}}}'.encode()
    message = encoding.decode(text)
    assert isinstance(message, TupleMsg)
    kept = message.values
    values = json.loads(array)
    assert isinstance(kept, LargeValues)
    assert (len(kept), list(kept)) == (len(values), values)
    assert kept.__eq__(values)
    assert [kept[index] for index in range(len(kept))] == values
    assert kept.holders() == serializing._holders(values)
    assert list(strings_of(kept)) == list(strings_of(values))
    assert list(text_rules._texts(kept)) == list(text_rules._texts(values))
    assert list(number_rules._large(kept)) == list(number_rules._large(values))
    assert json.loads(kept.compact) == values
    found, otherwise = _both(f'{{"command":"emit","tuple":{array}}}'.encode(), expecting_pid=False)
    assert _as_lists(found) == _as_lists(otherwise)


def test_values_that_differ_in_how_they_are_written_are_written_alike() -> None:
    one, other = (LargeValues(memoryview(text)) for text in (b'[1.50, "a\\/b"]', b'[15e-1,"a/b"]'))
    assert one.compact == other.compact == b'[1.5,"a/b"]'
    assert one == other


@pytest.mark.usefixtures("less_is_large")
@pytest.mark.parametrize("kind", KINDS)
def test_a_large_value_takes_no_more_memory_than_its_bytes(kind: str) -> None:
    array = b"[" + KINDS[kind] * (SIZE // len(KINDS[kind])) + b"1]"
    _measured(b'{"command":"emit","anchors":["5"],"tuple":[%b]}' % array, reading.read)
    _measured(b'{"command":"emit","anchors":["5"],"tuple":%b}' % array, reading.read)
    _measured(b'{"id":"5","comp":"c","stream":"s","task":1,"tuple":[%b]}' % array, encoding.decode)


@pytest.mark.usefixtures("less_is_large")
def test_an_object_of_many_keys_takes_no_more_memory_than_its_bytes() -> None:
    keys = b",".join(b'"k%07d":1' % number for number in range(SIZE // 13))
    _measured(b'{"command":"emit","anchors":["5"],"tuple":[{%b}]}' % keys, reading.read, most=4)
    twice = reading.read(b'{"command":"emit","tuple":[{%b,"k0000007":2}]}' % keys)
    assert isinstance(twice, Malformed)
    assert twice.kind == "json-duplicate-key"


def _many(of: str) -> bytes:
    return ",".join(of.replace("#", str(number)) for number in range(SIZE // 8)).encode()


@pytest.mark.usefixtures("less_is_large")
@pytest.mark.parametrize(
    ("text", "read", "kind"),
    [
        (b'{"command":"emit","tuple":["a"],"anchors":[%b]}' % _many('"#"'), reading.read, "frame-too-long"),
        (b'{"command":"ack","id":"5",%b}' % _many('"#":1'), reading.read, "frame-too-long"),
        (b'{"command":"ack","id":"5",%b}' % _many('"k":#'), reading.read, "frame-too-long"),
        (b'{"command":"metrics","name":"a","params":[%b]}' % _many("[#]"), reading.read, "frame-too-long"),
        (b'{"command":"emit","tuple":{%b}}' % _many('"#":1'), reading.read, "frame-too-long"),
        (b'{"command":"emit","tuple":["%b"],"id":[%b]}' % (b"," * SIZE, _many("#")), reading.read, "frame-too-long"),
        (b' [%b,"\\ud83d"]' % _many("[#]"), reading.read, "message-not-object"),
        (b"[%b}" % _many("[#]"), reading.read, "stdout-text"),
        (b"[%b]" % _many("#"), encoding.decode, "frame-too-long"),
        (b'{"conf":{%b},"pidDir":"","context":{}}' % _many('"#":1'), encoding.decode, "frame-too-long"),
    ],
    ids=range(10),
)
def test_a_message_of_many_parts_is_not_read_whatever_they_are(text: bytes, read: Any, kind: str) -> None:
    assert _measured(text, read).kind == kind


@pytest.mark.usefixtures("less_is_large")
def test_commas_in_a_text_are_no_parts() -> None:
    texts = b'"%b"' % (b"[," * SIZE)
    said = reading.read(b'{"command":"emit","tuple":[%b],"anchors":[%b]}' % (texts, texts))
    assert isinstance(said, Emit)


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize(
    ("values", "kind"), [("[" * 2000 + "]" * 2000, "json-too-deep"), (f"[{'9' * 5000}]", "integer-too-big")]
)
def test_what_python_does_not_read_is_named(values: str, kind: str) -> None:
    found = reading.read(b'{"command":"emit","tuple":%b}' % values.encode())
    assert isinstance(found, Malformed)
    assert found.kind == kind
    assert all(len(plain(emit.values)) == 1 for emit in found.salvage if isinstance(emit, Emit))


@pytest.mark.usefixtures("less_is_large")
def test_a_large_message_that_is_no_json_is_refused_without_its_values() -> None:
    array = b"[" + b"[]," * (SIZE // 3) + b"}"
    _measured(b'{"command":"emit","anchors":["5"],"tuple":%b}' % array, reading.read)


def _measured(text: bytes, read: Any, most: float = 4) -> Any:
    tracemalloc.start()
    try:
        message = read(text)
        assert isinstance(message, Emit | TupleMsg | Malformed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= most * len(text)
    return message


@pytest.mark.parametrize("read", [reading.read, encoding.decode], ids=["from it", "to it"])
@pytest.mark.parametrize("character", ["ä", "€", "\U0001f600"])
def test_a_large_text_takes_no_more_for_its_characters(character: str, read: Any) -> None:
    text = "a" * (4 * values_file.LARGEST_DECODED) + character
    start = '"command":"emit","anchors":["5"]' if read is reading.read else '"id":"5","comp":"a","stream":"b","task":2'
    message = _measured(f'{{{start},"tuple":["{text}"]}}'.encode(), read, most=3.2)
    assert isinstance(message, Emit | TupleMsg)
    assert isinstance(message.values, LargeValues)


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98"])
@pytest.mark.parametrize("before", [0, values_file.PIECE - 2, values_file.PIECE - 1, values_file.PIECE])
def test_bytes_that_are_no_utf8_are_found_wherever_they_stand(bad: bytes, before: int) -> None:
    values_file.check_utf8(b"a" * before + "\U0001f600".encode())
    with pytest.raises(UnicodeDecodeError):
        values_file.check_utf8(b"a" * before + bad)
    with pytest.raises(UnicodeDecodeError):
        values_file.check_utf8(b"a" * before + bad + b"a")
