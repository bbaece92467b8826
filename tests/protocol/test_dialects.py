"""The dialects against what Storm's own parsers and serializers answered; the answers are in data/dialects.json."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.protocol.storm import dialects
from multilang_cli.protocol.storm.dialects import DIALECTS, Dialect, JavaError, ShellMsg
from multilang_cli.protocol.storm.outlooks import same_value
from multilang_cli.protocol.words.messages import Ack, Emit, Log, Metrics, Pid

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "dialects.json").read_text())
DECIMAL = Decimal("0.30000000000000004")
LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"]
STORMS: dict[str, Dialect] = {"2.8.3": "smart", "2.5.0": "simple", "1.2.4": "simple", "0.10.2": "simple-quiet"}
JSON_TEXT = st.text(alphabet="{}[],:\"'\\ \n0159-+.eEntfuxN/#ab\0\x1a\x7f~é😀\ud800")
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def typed(value: Any, dialect: Dialect) -> Any:
    """The value as the recorded answers have it: every part with its Java class."""
    name = dialects.java_class(value, dialect)
    match value:
        case None:
            return None
        case bool():
            return [name, str(value).lower()]
        case float():
            return [name, "NaN" if math.isnan(value) else repr(value)]
        case list():
            return [name, [typed(item, dialect) for item in value]]
        case dict():
            return [name, {key: typed(item, dialect) for key, item in value.items()}]
    return [name, str(value)]


def fields(msg: ShellMsg, dialect: Dialect) -> list[Any]:
    parts = [msg.command, msg.id, msg.msg, msg.stream, None, msg.need_task_ids, msg.values, list(msg.anchors) or None]
    values = [typed(part, dialect) for part in [*parts, msg.name, msg.params, LEVELS[msg.level]]]
    values[4] = ["Long", str(msg.task)]
    return values


@pytest.mark.parametrize("dialect", ["simple", "smart"])
def test_parse_is_the_parser_of_that_storm(dialect: Dialect) -> None:
    wrong = []
    for case in RECORDED["parse"]:
        try:
            got: Any = {"value": typed(dialects.parse(case["text"], dialect).value, dialect)}
        except JavaError as error:
            got = {"error": str(error)}
        if got != case[dialect]:
            wrong.append((case["text"], got, case[dialect]))
    assert len(RECORDED["parse"]) > 500
    assert not wrong


def test_the_quiet_dialect_shows_the_text_for_every_error_and_for_null() -> None:
    for case in RECORDED["parse"]:
        text, value = case["text"], case["simple"].get("value")
        if value is not None:
            assert typed(dialects.parse(text, "simple-quiet").value, "simple-quiet") == value
        else:
            with pytest.raises(JavaError) as caught:
                dialects.parse(text, "simple-quiet")
            assert str(caught.value) == str(JavaError("java.io.IOException", f"unable to parse: {text}"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_shell_msg_is_what_the_serializer_reads(dialect: Dialect) -> None:
    wrong = []
    for case in RECORDED["shell"]:
        try:
            value = dialects.parse(dialects.text_of(case["raw"].encode()), dialect).value
            got: Any = {"fields": fields(dialects.shell_msg(value, dialect), dialect)}
        except JavaError as error:
            got = {"error": str(error)}
        if got != case[dialect]:
            wrong.append((case["raw"], got, case[dialect]))
    assert not wrong


@pytest.mark.parametrize("case", RECORDED["storm"], ids=lambda case: case["case"])
def test_readings_give_the_error_that_storm_died_of(case: dict[str, Any]) -> None:
    readings = dialects.readings(case["raw"].encode("latin-1"), case["first"])
    for version, recorded in case["errors"].items():
        error = readings[STORMS[version]].error
        assert error == recorded or (error is not None and recorded is not None and error.startswith(recorded))


@pytest.mark.parametrize("case", RECORDED["decode"], ids=lambda case: case["hex"])
def test_decode_replaces_as_often_as_java(case: dict[str, str]) -> None:
    assert dialects.decode(bytes.fromhex(case["hex"])) == case["text"]


@given(JSON_TEXT)
def test_no_text_gives_anything_but_a_value_or_a_java_error(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass") + b"\nend\n"
    for expecting_pid in (True, False):
        for dialect, reading in dialects.readings(raw, expecting_pid).items():
            assert reading.error is None or reading.effective is None
            assert reading.error is None or reading.error.startswith("java."), dialect
            assert reading.error is None or reading.error.encode()


@pytest.mark.long
@given(st.dictionaries(st.text(), JSON_VALUE))
def test_proper_json_is_one_thing_to_all(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    if "Infinity" in text or "\x7f" in text:  # json-smart drops DEL from strings with a backslash
        return
    exact = json.loads(text, parse_float=lambda number: Decimal(number) if len(number) > 18 else float(number))
    assert dialects.parse(text, "simple").value == dialects.parse(text, "simple-quiet").value == json.loads(text)
    assert dialects.parse(text, "smart").value == exact


@given(st.floats(allow_nan=False, allow_infinity=False).map(repr))
def test_is_big_decimal_tells_what_smart_makes_of_a_number(number: str) -> None:
    assert dialects.is_big_decimal(number) == isinstance(dialects.parse(number, "smart").value, Decimal)


@pytest.mark.parametrize(("number", "big"), [("0.30000000000000004", True), ("0.1234567890123456", False)])
def test_a_number_of_nineteen_characters_is_a_big_decimal(number: str, big: bool) -> None:
    assert dialects.is_big_decimal(number) is big


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("00000000000000000001", "BigInteger"),
        ("0000000000000000001", "Integer"),
        ("-00000000000000000001", "BigInteger"),
    ],
)
def test_the_digits_that_are_written_make_a_big_integer_not_the_value(text: str, name: str) -> None:
    value = dialects.parse(text, "smart").value
    assert dialects.java_class(value, "smart") == name
    assert same_value([value], [int(text)])
    assert dialects.java_class(dialects.parse(text, "simple").value, "simple") == "Long"


def message(text: str, dialect: Dialect = "smart") -> ShellMsg:
    return dialects.shell_msg(dialects.parse(text, dialect).value, dialect)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('{"command":"emit","tuple":[1],"task":4294967302}', Emit(values=[1], task=6)),
        ('{"command":"emit","tuple":[],"anchors":"7","id":[1]}', Emit(values=[], anchors=("7",), id=[1])),
        ('{"command":"emit"}', None),
        ('{"command":"ack","id":"x"}', Ack(id="x")),
        ('{"command":"log","msg":"m","level":-4294967293}', Log(msg="m", level=3)),
        ('{"command":"log","level":5}', Log(msg=None, level=2)),
        ('{"command":"log","level":1e400}', Log(msg=None, level=2)),
        ('{"command":"emit","tuple":[[0.30000000000000004]]}', Emit([[DECIMAL]], hazards=("nested", "decimal"))),
        ('{"command":"log","level":1.0000000000000000000e999999999}', Log(msg=None, level=0)),
        ('{"command":"metrics","name":"n","params":{"a":1}}', Metrics(name="n", params={"a": 1})),
        ('{"command":"ACK","id":"x"}', None),
    ],
)
def test_to_command(text: str, command: object) -> None:
    assert dialects.to_command(message(text)) == command


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            '{"command":"ack"}',
            'java.lang.NullPointerException: Cannot invoke "Object.hashCode()" because "key" is null',
        ),
        (
            '{"command":"fail","id":5}',
            "java.lang.RuntimeException: Failed a non-existent or already acked/failed id: 5",
        ),
        (
            '{"command":"metrics"}',
            'java.lang.NullPointerException: Cannot invoke "String.isEmpty()" because "name" is null',
        ),
        (
            '{"command":"emit","tuple":[],"anchors":[null]}',
            'java.lang.NullPointerException: Cannot invoke "Object.hashCode()" because "key" is null',
        ),
    ],
)
def test_what_a_bolt_dies_of_is_no_command(text: str, error: str) -> None:
    with pytest.raises(JavaError) as caught:
        dialects.to_command(message(text))
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("pid", "expected"), [("7", 7), ("7.9", 7), ("NaN", 0), ("null", None), (f"1{'0' * 30}", 10**30)]
)
def test_any_number_is_a_pid(pid: str, expected: int | None) -> None:
    reading = dialects.readings(f'{{"pid":{pid}}}\nend\n'.encode(), expecting_pid=True)["smart"]
    assert reading.error is None
    assert reading.effective == (None if expected is None else Pid(expected))


def test_a_string_is_placed_at_its_closing_quote() -> None:
    with pytest.raises(JavaError, match=r"Unexpected token VALUE\(xy\) at position 5\."):
        dialects.parse('{}"xy"', "simple")


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_sizes(dialect: Dialect) -> None:
    for text in ("[" * 100_000, '{"a":' * 30_000, f"[{'9' * 50_000}", f'"{"a" * 100_000}'):
        with pytest.raises(JavaError):
            dialects.parse(text, dialect)


def test_only_smart_refuses_depth_and_reads_integers_of_any_size() -> None:
    nested = "[" * 401 + "]" * 401
    assert dialects.parse(nested, "simple").value
    with pytest.raises(JavaError, match="Malicious payload"):
        dialects.parse(nested, "smart")
    assert dialects.parse("9" * 50_000, "smart").value == 10**4000 - 1


@pytest.mark.parametrize("digits", [4000, 4001, 9001])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_many_digits_has_the_value_of_its_first_ones(sign: str, digits: int) -> None:
    text = sign + ("1020304050" * 1000)[:digits]
    assert dialects.parse(text, "smart").value == int(text[:4000])
