"""What a testee is asked, judged: whatever a plan is, and whatever is said about it, the judge has an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example
from hypothesis import given as made_up
from hypothesis import strategies as st

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from tests import notation

RULEBOOK = load_rulebook()
WORDS = ["emit", "echo", "ack", "fail", "hold", "log", "error", "tell", "raise", "exit", "sleep", "what"]
KEYS = ["values", "anchors", "stream", "task", "ids", "tuple", "as", "message", "level", "what", "id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "input", "info", "tuple", "calls"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "do"]), inner, max_size=2),
    max_leaves=5,
)
ACTION = st.builds(
    lambda do, more: {"do": do, **more},
    st.sampled_from(WORDS),
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4),
)
PLAN = st.lists(ACTION | JSON, max_size=4)
SAID = [
    '{"command":"emit","anchors":["1"],"tuple":["a"],"need_task_ids":false}',
    '{"command":"emit","stream":"told","tuple":["tuple",{"id":"1"}],"need_task_ids":false}',
    '{"command":"emit","stream":"told","tuple":[],"need_task_ids":false}',
    '{"command":"ack","id":"1"}',
    '{"command":"log","msg":null}',
    '{"command":"error","msg":"a"}',
]


def rules_of(kind: Any, lines: list[str]) -> set[str]:
    profile = example_profile(kind, {"testee": kind, "streams": None})
    judge = judge_of(profile, RULEBOOK)
    return {finding.rule for event in notation.parse("\n".join(lines)) for finding in judge.feed(event)}


def fed(values: list[Any]) -> str:
    return "> " + json.dumps({"id": "1", "comp": "a", "stream": "default", "task": 2, "tuple": values})


@example(
    [{"do": "emit", "values": [], "ids": []}],
    ['{"command":"emit","anchors":["1"],"tuple":["a"],"need_task_ids":false}'],
)
@made_up(PLAN, st.lists(st.sampled_from(SAID), max_size=4))
def test_whatever_a_bolt_is_asked_is_judged(plan: list[Any], said: list[str]) -> None:
    rules_of("bolt", [fed([plan, 7]), *(f"< {each}" for each in said)])


@pytest.mark.long
@made_up(st.dictionaries(st.sampled_from(["initialize", "next", "ack", "x"]), PLAN | st.lists(PLAN, max_size=3)))
def test_whatever_a_spout_is_asked_is_judged(plan: dict[str, Any]) -> None:
    hello = json.dumps({"conf": {"mlcheck.testee": plan}, "pidDir": "/pids", "context": {}})
    said = [f"< {each}" for each in SAID[:3]]
    rules_of("spout", [f"> {hello}", '< {"pid":1}', *['> {"command":"next"}', *said, '< {"command":"sync"}'] * 2])


@pytest.mark.parametrize("plan", [[{"do": "log"}], [{"do": "emit", "values": 1}], [{"do": "hold", "as": []}], [7]])
def test_what_is_no_plan_is_to_be_echoed(plan: list[Any]) -> None:
    echo = {"command": "emit", "anchors": ["1"], "tuple": [plan], "need_task_ids": False}
    assert rules_of("bolt", [fed([plan]), f"< {json.dumps(echo)}", f"< {SAID[3]}"]) == set()


@pytest.mark.parametrize("depth", [50, 400, 900, 1500])
def test_a_deeply_nested_value_is_judged(depth: int) -> None:
    emit = {"command": "emit", "anchors": ["1"], "tuple": ["DEEP"], "need_task_ids": False}
    said = json.dumps(emit).replace('"DEEP"', "[" * depth + "]" * depth)
    assert rules_of("bolt", [fed(["a"]), f"< {said}"]) & {"asked-values", "json-too-deep"}


@pytest.mark.parametrize(
    ("value", "said", "found"),
    [("1.0", "1", set()), ("1e21", "1e+21", set()), ("9007199254740993", "9007199254740992", {"asked-values"})],
)
def test_where_there_is_one_type_of_numbers_no_digit_is_lost(value: str, said: str, found: set[str]) -> None:
    profile = example_profile("bolt", {"testee": "bolt", "streams": None, "features": ("one-number-type",)})
    judge = judge_of(profile, RULEBOOK)
    emit = f'< {{"command":"emit","anchors":["1"],"tuple":[{said}],"need_task_ids":false}}'
    events = notation.parse("\n".join([fed(["VALUE"]).replace('"VALUE"', value), emit]))
    assert {finding.rule for event in events for finding in judge.feed(event)} == found


@pytest.mark.parametrize(("waits", "found"), [(True, set()), (False, {"asked-told"})])
def test_task_ids_are_told_when_they_have_come(waits: bool, found: set[str]) -> None:
    plan = [{"do": "emit", "values": ["a"], "ids": True}, {"do": "tell", "what": "task_ids"}]
    emit = '< {"command":"emit","anchors":["1"],"tuple":["a"]}'
    told = (
        f'< {{"command":"emit","stream":"told","tuple":["task_ids",{"[4]" if waits else "[]"}],"need_task_ids":false}}'
    )
    lines = [emit, "> [4]", told] if waits else [emit, told, "> [4]"]
    assert rules_of("bolt", [fed([plan]), *lines]) == found


@pytest.mark.parametrize(
    ("features", "seen", "found"),
    [
        ((), [["next"]], set()),
        ((), [["activate"], ["next"]], set()),
        ((), [], {"asked-told"}),
        (("activation",), [["activate"], ["next"]], set()),
        (("activation",), [["next"]], {"asked-told"}),
    ],
)
def test_calls_hold_activations_only_where_the_library_shows_them(
    features: tuple[str, ...], seen: list[list[str]], found: set[str]
) -> None:
    judge = judge_of(example_profile("spout", {"testee": "spout", "streams": None, "features": features}), RULEBOOK)
    plan = {"next": [[{"do": "tell", "what": "calls"}]]}
    told = {"command": "emit", "stream": "told", "tuple": ["calls", seen], "need_task_ids": False}
    lines = [
        "> " + json.dumps({"conf": {"mlcheck.testee": plan}, "pidDir": "/pids", "context": {}}),
        '< {"pid":1}',
        *('> {"command":"activate"}', '< {"command":"sync"}', '> {"command":"next"}'),
        f"< {json.dumps(told)}",
        '< {"command":"sync"}',
    ]
    events = notation.parse("\n".join(lines))
    assert {finding.rule for event in events for finding in judge.feed(event)} == found


ACK, FAIL = '< {"command":"ack","id":"%s"}', '< {"command":"fail","id":"%s"}'
EMIT = '< {"command":"emit","anchors":%s,"tuple":["%s"],"need_task_ids":false}'


def given(id_: str, *plan: dict[str, Any]) -> str:
    return "> " + json.dumps({"id": id_, "comp": "a", "stream": "default", "task": 2, "tuple": [list(plan)]})


def emit(value: str) -> dict[str, Any]:
    return {"do": "emit", "values": [value]}


RAISE = {"do": "raise", "message": "on purpose"}
TALKS: list[tuple[str, list[str], set[str]]] = [
    ("basic", [given("1", RAISE), given("2", emit("a")), FAIL % 1, EMIT % ('["2"]', "a"), ACK % 2], set()),
    ("basic", [given("1", RAISE), given("2", emit("a")), ACK % 1], {"asked-settle"}),
    ("bolt", [given("1", {"do": "ack"}, RAISE), ACK % 1], set()),
    ("bolt", [given("1", {"do": "ack"}, RAISE), ACK % 1, FAIL % 1], {"fail-twice"}),
    ("bolt", [given("1", {"do": "hold", "as": "x"}), given("2", RAISE), FAIL % 1], {"asked-extra"}),
    ("bolt", [given("1", {"do": "unencodable"}, {"do": "ack"}), ACK % 1], {"asked-settle"}),
    ("bolt", [given("1", {"do": "ack"}), '< {"command":"log","msg":"of its own"}', ACK % 1], set()),
    (
        "bolt",
        [given("1", {"do": "log", "message": "asked a\nb"}), '< {"command":"log","msg":"asked a"}'],
        {"asked-log"},
    ),
    ("bolt", [given("1", {"do": "log", "message": "asked a\nb"}), '< {"command":"log","msg":"a"}'], set()),
    (
        "batch",
        [
            given("1", emit("a")),
            given("2", emit("b")),
            EMIT % ('["1","2"]', "a"),
            ACK % 1,
            EMIT % ('["2"]', "b"),
            ACK % 2,
        ],
        set(),
    ),
    ("batch", [given("1", emit("a")), EMIT % ("[]", "a")], {"asked-anchors"}),
    ("batch", [given("1", emit("a")), given("2", RAISE), FAIL % 1, FAIL % 2], set()),
    ("batch", [given("1", emit("a")), given("2", RAISE), given("3", emit("b")), ACK % 2], {"asked-settle"}),
]


@pytest.mark.parametrize(("part", "lines", "wrong"), TALKS)
def test_what_is_right_depends_on_the_part(part: str, lines: list[str], wrong: set[str]) -> None:
    profile = example_profile("bolt", {"testee": part, "streams": None})
    judge = judge_of(profile, RULEBOOK)
    assert {finding.rule for event in notation.parse("\n".join(lines)) for finding in judge.feed(event)} == wrong
