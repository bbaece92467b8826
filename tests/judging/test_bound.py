"""Schemas that a recording brings along: one that computes without end is given up, and that is told."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue import judging
from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.judging import schema_fault, values_check
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.judging import judged_conversation
from multilang_cli.judging.linting import judge_transcripts, lint_result
from tests.pages import recorded

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.judge.context import ValuesCheck

LEVELS = 40
DOUBLED = {f"{n}": {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(LEVELS)} | {f"{LEVELS}": {}}
"""The first of them refers 2^40 times to the last."""


def check_of(schema: dict[str, Any], bound: Bound) -> ValuesCheck:
    profile = example_profile("bolt")
    assert profile.streams is not None
    streams = {"default": msgspec.structs.replace(profile.streams["default"], schema=schema)}
    check = values_check(msgspec.structs.replace(profile, streams=streams), bound)
    assert check is not None
    return check


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"pattern": "(a+)+$"}}, "a" * 50 + "b"),
        ({"items": {"pattern": "(?:a|a)*$"}}, "a" * 5000 + "b"),
        ({"items": {"pattern": "a+b"}}, "a" * 300_000),
        ({"items": {"patternProperties": {"(a+)+$": False}}}, {"a" * 50 + "b": 1}),
        ({"items": {"items": {"items": {"$ref": "#/$defs/0"}}}, "$defs": DOUBLED}, [[1]]),
    ],
    ids=["nested", "alike", "quadratic", "keys", "references"],
)
def test_a_schema_in_a_recording_that_computes_without_end_is_given_up_and_told(
    schema: dict[str, Any], value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_conversation, "Bound", partial(Bound, 0.2))
    emit = json.dumps({"command": "emit", "tuple": [value, 0], "anchors": ["1"]})
    told = '> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["a"]}\n'
    path = recorded(tmp_path / "t.ndjson", f'{told}< {emit}\n< {{"command":"ack","id":"1"}}\n')
    header, rest = path.read_text("utf-8").split("\n", 1)
    fields = json.loads(header)
    fields["profile"]["streams"]["default"]["schema"] = schema
    fields["profile"]["conf"]["topology.fall.back.on.java.serialization"] = True
    path.write_text(f"{json.dumps(fields)}\n{rest}", encoding="utf-8")
    result = lint_result(judge_transcripts([path], load_rulebook()), strict=False)
    assert "a JSON Schema of its values computes too long" in result.subjects[0].reason
    assert (result.subjects[0].verdict, result.complete, result.exit_code) == ("untestable", False, 6)


def test_a_schema_that_computes_without_end_on_nothing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "Bound", partial(Bound, 0.2))
    fault = schema_fault({"$ref": "#/$defs/0", "$defs": DOUBLED})
    assert fault is not None
    assert "computes for more than" in fault.why


def test_a_bound_leaves_large_values_their_time() -> None:
    bound = Bound(0.1)
    check = check_of({"items": {"items": {"pattern": "^[a-z]+$", "minLength": 1}}}, bound)
    assert check("default", [["word"] * 5000]) == ""
    assert check("default", [["a" * 5_000_000]]) == ""
    assert check("default", [["A"]]) == "[0][0]: 'A' does not match '^[a-z]+$'"
    assert not bound.spent
