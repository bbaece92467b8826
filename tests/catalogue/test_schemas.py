from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from multilang_cli.catalogue import schemas
from multilang_cli.protocol.storm import reading
from multilang_cli.protocol.wire.shapes import COMMANDS, INT64
from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.subject.documents import documents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INT32 = [-(2**31) - 1, -(2**31), -1, 0, 1, 9, 2**31 - 1, 2**31]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
PLAIN = st.none() | st.booleans() | st.sampled_from(INT32) | st.floats(-10, 10) | TEXTS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=4
)
CANDIDATES: dict[str, list[Any]] = {
    "id": ["1", "", "-6955786537413359385", 7, 1.5, None, True, [], {}],
    "stream": ["default", "other", "", None, 1, []],
    "task": [*INT32, None, 2**63 - 1, "3", 3.5, True],
    "need_task_ids": [True, False, None, "no", 0],
    "tuple": [[], ["a", None, 1.5], [[1], {"x": {}}], None, "x", {}, 0],
    "anchors": [None, "1", [], ["1", "2"], [None], [1], 1, {}],
    "msg": ["hello: there", "", None, 5, ["x"]],
    "level": [-1, 0, 2, 4, 5, None, True, "info", 2.5],
    "name": ["words", "", None, 1],
    "params": [None, 1.5, {"x": [1]}],
    "pid": [1234, 0, -1, None, "1234", 1.5, True, []],
    "more": [None, {"task": "x"}],
}
NEAR = {
    **{name: st.sampled_from(values) for name, values in CANDIDATES.items()},
    "tuple": st.sampled_from(CANDIDATES["tuple"]) | st.lists(VALUES, max_size=3),
    "params": VALUES,
    "more": VALUES,
}
COMMAND = st.sampled_from([*COMMANDS, *COMMANDS, "emitt", "ACK", "", None, 3])
OBJECTS = st.fixed_dictionaries({}, optional={"command": COMMAND, **NEAR})
SOUND: list[dict[str, Any]] = [
    {"command": "emit", "tuple": ["a", 1]},
    {"command": "ack", "id": "1"},
    {"command": "fail", "id": "1"},
    {"command": "log", "msg": "m"},
    {"command": "sync"},
    {"command": "error", "msg": "m"},
    {"command": "metrics", "name": "words"},
    {"pid": 12},
]
# A sound message with one or two fields added or replaced: so that one fault is not hidden behind another.
CHANGES = st.lists(st.sampled_from(sorted(NEAR)), min_size=1, max_size=2, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: NEAR[name] for name in names})
)
CHANGED = st.builds(lambda sound, changes: {**sound, **changes}, st.sampled_from(SOUND), CHANGES)


UNSAID = {"key-misspelt"}
"""Rules of what a schema can't say: a key is allowed unless it is much like another."""


def numbers(value: Any) -> Iterator[int | float]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def is_excepted(value: Any) -> bool:
    """What a schema cannot say, and the descriptions name: big integers and doubles, and 1.0 for 1."""
    return any(
        (number not in INT64) if isinstance(number, int) else math.isinf(number) or number.is_integer()
        for number in numbers(value)
    )


@pytest.mark.parametrize("name", schemas.names())
def test_each_schema_is_valid_and_named_after_its_file(name: str) -> None:
    schema = schemas.load(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"{schemas.BASE}{name}{schemas.SUFFIX}"
    assert schema["title"]
    assert schema["description"]


def test_every_property_is_described() -> None:
    def undescribed(schema: Any, at: str) -> Iterator[str]:
        if isinstance(schema, list):
            for item in schema:
                yield from undescribed(item, at)
        elif isinstance(schema, dict):
            for key, value in schema.items():
                if key == "properties" and not at.endswith(("if", "then")):
                    named = (name for name, field in value.items() if not {"description", "$ref"} & field.keys())
                    yield from (f"{at}/{name}" for name in named)
                yield from undescribed(value, f"{at}/{key}")

    assert [text for name in schemas.names() for text in undescribed(schemas.load(name), name)] == []


def explain_message(value: Any, *, expecting_pid: bool = False) -> list[str]:
    """Explain why a component's message is none, by the schema of its command; [] if it is one."""
    if expecting_pid:
        return schemas.explain(value, "messages/pid")
    command = value.get("command") if isinstance(value, dict) else None
    known = isinstance(command, str) and command in schemas.load("messages/command")["properties"]["command"]["enum"]
    return schemas.explain(value, f"messages/{command}" if known else "messages/command")


def agree(value: dict[str, Any], *, expecting_pid: bool) -> None:
    message = reading.read(json.dumps(value).encode(), expecting_pid=expecting_pid)
    name = "messages/pid" if expecting_pid else "messages/command"
    reasons = explain_message(value, expecting_pid=expecting_pid)
    refused = isinstance(message, Malformed) and message.kind not in UNSAID
    assert schemas.validator(name).is_valid(value) == (not refused), (value, message)
    assert bool(reasons) == refused, (value, reasons)


@pytest.mark.long
@settings(max_examples=200)
@given(OBJECTS | CHANGED, st.booleans())
def test_reader_and_schema_agree(value: dict[str, Any], expecting_pid: bool) -> None:
    if not is_excepted(value):
        agree(value, expecting_pid=expecting_pid)


@pytest.mark.parametrize("field", CANDIDATES)
def test_reader_and_schema_agree_on_each_value_of_each_field(field: str) -> None:
    for sound in SOUND:
        for value in CANDIDATES[field]:
            agree({**sound, field: value}, expecting_pid="pid" in sound)


@pytest.mark.long
@settings(max_examples=400)
@given(OBJECTS | CHANGED, st.booleans(), st.booleans())
@example({"command": "ack", "id": "1", "task": "x"}, False, False)
@example({"command": "emit", "tuple": ["a:b"], "stream": "default"}, False, False)
@example({"command": "emit", "tuple": [], "id": None, "anchors": "1"}, True, False)
def test_fast_reading_equals_slow_reading(value: dict[str, Any], compact: bool, ascii_only: bool) -> None:
    separators = (",", ":") if compact else (", ", ": ")
    text = json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()
    assert reading.read(text) == reading._examine(text, expecting_pid=False, raw=None)


@pytest.mark.parametrize(
    ("value", "reasons"),
    [
        ({"command": "sync"}, []),
        ({"command": "emit", "tuple": "x"}, ['/tuple: "x" is a string, not array']),
        ({"command": "emit"}, ['at the top: "tuple" is missing']),
        ({"command": "emit", "tuple": [], "anchors": ["1", 2]}, ["/anchors/1: 2 is a number, not string"]),
        ({"command": "emit", "tuple": [], "task": 2**31}, ["/task: 2147483648 is more than 2147483647"]),
        ({"command": "sync", "task": "x"}, ['/task: "x" is a string, not null']),
        ({"command": "emit", "tuple": [], "task": "x"}, ['/task: "x" is a string, not integer or null']),
        ({"command": "metrics", "name": ""}, ["/name: is empty"]),
        (
            {"command": "emitt"},
            ['/command: "emitt" is none of "emit", "ack", "fail", "log", "sync", "error", "metrics"'],
        ),
        ({}, ['at the top: "command" is missing']),
        ([1], ["at the top: [1] is an array, not object"]),
    ],
)
def test_refusals_are_explained_with_their_place(value: Any, reasons: list[str]) -> None:
    assert explain_message(value) == reasons


@pytest.mark.parametrize(
    "text",
    [
        '{"command":"log","msg":"m","level":1.0}',
        '{"command":"emit","tuple":[],"task":3.0}',
        '{"command":"emit","tuple":[9223372036854775808]}',
        '{"command":"emit","tuple":[1e999]}',
        '{"command":"sync","command":"sync"}',
        '{"command":"error","msg":"\\ud800"}',
    ],
)
def test_what_a_schema_cannot_say_the_reader_does(text: str) -> None:
    assert explain_message(json.loads(text)) == []
    assert isinstance(reading.read(text.encode()), Malformed)


def test_what_is_shown_is_bounded_and_escaped() -> None:
    (reason,) = explain_message({"command": "log", "msg": ["\x1b[2J" * 1000]})[:1]
    assert len(reason) < 200
    assert "\x1b" not in reason


@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [
        ("messages/tuple", {"id": "1", "comp": "s", "stream": "default", "task": 2, "tuple": ["x"]}, True),
        ("messages/tuple", {"id": "1", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []}, True),
        ("messages/tuple", {"id": "1", "comp": None, "stream": "__heartbeat", "task": 4, "tuple": []}, False),
        ("messages/tuple", {"id": "1", "comp": "__system", "stream": "__tick", "task": -1, "tuple": [5]}, True),
        ("messages/tuple", {"id": "1", "comp": "s", "stream": "__tick", "task": -1, "tuple": [5]}, False),
        ("messages/tuple", {"id": 1, "comp": "s", "stream": "default", "task": 2, "tuple": ["x"]}, False),
        ("messages/task_ids", [], True),
        ("messages/task_ids", [4, "5"], False),
        ("messages/spout_command", {"command": "next"}, True),
        ("messages/spout_command", {"command": "ack", "id": {"any": 1}}, True),
        ("messages/spout_command", {"command": "ack"}, False),
        ("messages/handshake", {"conf": {}, "pidDir": "/tmp"}, True),
        ("messages/handshake", {"conf": {}, "pidDir": "/tmp", "context": {"taskid": 3}}, False),
    ],
)
def test_what_storm_says(name: str, value: Any, valid: bool) -> None:
    assert (schemas.explain(value, name) == []) == valid


def test_an_unknown_schema_is_named() -> None:
    with pytest.raises(KeyError, match="no schema 'nonesuch'"):
        schemas.load("nonesuch")


def test_a_breach_is_placed_by_the_whole_of_its_pointer(tmp_path: Path) -> None:
    handshake = '{"conf": {}, "pidDir": "/x", "context": {"taskid": 1, "task->component":\n {"a: b":\n 1}}}'
    (tmp_path / "handshake.json").write_text(handshake)
    (document,) = documents(str(tmp_path / "handshake.json"))
    found = schemas.breaches(document.value, "messages/handshake")
    places = {each.reason: document.place(each.pointer).rpartition(":")[2] for each in found}
    assert places["1 is a number, not string"] == "3"
