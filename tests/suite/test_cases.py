"""The case files: sound, named after their ids, made of known operations; bad ones are refused with their place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import problems
from multilang_cli.subject.options import ACCEPTS
from multilang_cli.suite.cases.case import CaseError, load_cases
from multilang_cli.suite.cases.fitness import NEEDS
from multilang_cli.suite.steps.cutting import MESSAGES
from multilang_cli.suite.steps.operations import OPERATIONS
from multilang_cli.suite.steps.values import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = locate.data_path("conformance", "cases")
FILES = sorted(path for suite in ("component", "library") for path in (CASES / suite).glob("*.yaml"))
GOOD = """\
id: own.first
title: does something
kind: bolt
level: must
clause: {text: it must, source: our house rules}
expected: something
steps:
  - handshake
  - tuple: {times: 2}
  - settle
"""


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_shipped_case_is_sound(path: Path) -> None:
    assert problems(path, "case") == []
    (case,) = [case for case in load_cases(path.parent.name) if case.id == path.stem]
    assert case.steps[0][0] == "handshake"
    assert {name for name, _ in case.steps} <= set(OPERATIONS)


def _actions(value: Any) -> Iterator[dict[str, Any]]:
    """Everything that user code is asked for, however deep it stands in the steps of a case."""
    if isinstance(value, dict) and isinstance(value.get("do"), str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _actions(each)


def _needed(action: dict[str, Any]) -> set[str]:
    """The words of `supports` that say that a library can do this."""
    words = {action["do"]} & {"log", "error", "raise", "unencodable", "print", "stderr", "hold", "fail"}
    options = {"stream": "streams", "task": "direct", "level": "log-levels"}
    return words | {word for option, word in options.items() if option in action}


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "library"], ids=lambda path: path.stem)
def test_a_case_asks_a_library_for_nothing_that_it_need_not_declare(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    needed = {word for action in _actions(case["steps"]) for word in _needed(action)}
    declared = {*case.get("supports", ())}
    assert needed - declared - ({"raise"} if "initialize-raise" in declared else set()) == set()


def test_there_are_at_least_60_and_both_kinds_have_their_own() -> None:
    cases = load_cases()
    assert len(cases) >= 60
    assert {case.kind for case in cases} == {"bolt", "spout", "both"}


def test_plain_cases_come_first_and_those_of_users_last(tmp_path: Path) -> None:
    (tmp_path / "own.first.yaml").write_text(GOOD.replace("own.first", "aaa.first"))
    ids = [case.id for case in load_cases(extra=(str(tmp_path),))]
    assert ids[:2] == ["handshake.pid-first", "bolt.settle.once"]
    assert ids[-2:] == ["end.worker-gone", "aaa.first"]
    order = yaml.safe_load(locate.data_path("conformance", "cases", "order.yaml").read_text(encoding="utf-8"))
    assert [prefix for prefix in order["component"] if not any(id_.startswith(prefix) for id_ in ids)] == []
    assert [id_ for id_ in ids[:-1] if not any(id_.startswith(prefix) for prefix in order["component"])] == []


def test_every_operation_is_used_and_in_the_schema() -> None:
    schema = locate.data_path("schemas", "case.schema.json").read_text(encoding="utf-8")
    used = {name for suite in ("component", "library") for case in load_cases(suite) for name, _ in case.steps}
    generated = {"no_task_ids"}
    assert used | generated == set(OPERATIONS)
    assert not used & generated
    assert all(f'"{name}"' in schema for name in OPERATIONS)


def test_words_of_cases_are_those_of_the_code() -> None:
    schema = json.loads(locate.data_path("schemas", "case.schema.json").read_text(encoding="utf-8"))
    config = json.loads(locate.data_path("schemas", "config.schema.json").read_text(encoding="utf-8"))
    accepts = config["$defs"]["component"]["properties"]["accepts"]["items"]["enum"]
    assert tuple(schema["properties"]["accepts"]["items"]["enum"]) == tuple(accepts) == ACCEPTS
    assert tuple(schema["properties"]["refusal"]["properties"]["unless"]["enum"]) == ACCEPTS
    assert set(schema["properties"]["needs"]["items"]["enum"]) == set(NEEDS)
    assert set(schema["$defs"]["shape"]["enum"]) == set(SHAPES)
    step = schema["$defs"]["step"]["anyOf"][1]["properties"]
    assert set(step["cut"]["properties"]["message"]["enum"]) == set(MESSAGES)


def test_users_bring_their_own_cases(tmp_path: Path) -> None:
    (tmp_path / "own.first.yaml").write_text(GOOD)
    for extra in (tmp_path, tmp_path / "own.first.yaml"):
        assert "own.first" in {case.id for case in load_cases(extra=(str(extra),))}


BAD = {
    "no such file": (None, "No such file"),
    "not YAML": ("id: [", "own.first.yaml:"),
    "no steps": (GOOD.split("steps:", maxsplit=1)[0], "steps"),
    "an unknown step": (GOOD.replace("- settle", "- setle"), "/steps/2"),
    "an unknown argument": (GOOD.replace("times:", "tmies:"), "/steps/1"),
    "a wrong kind": (GOOD.replace("kind: bolt", "kind: blot"), "/kind"),
    "an id that stands": (GOOD.replace("own.first", "bolt.settle.once"), "stands twice"),
    "a Python object": (GOOD.replace("it must", "!!python/object/apply:os.system [id]"), "own.first.yaml"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_case_file_says_where_and_why(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "own.first.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CaseError) as caught:
        load_cases(extra=(str(path),))
    assert message in str(caught.value)
    assert "own.first.yaml" in str(caught.value)


def test_an_anchor_in_itself_is_refused_not_followed_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "own.first.yaml"
    path.write_text(GOOD.replace("title: does something", "title: &a [*a]"))
    with pytest.raises(CaseError, match=r"own\.first\.yaml:2: no YAML: an alias stands in what it names"):
        load_cases(extra=(str(path),))
