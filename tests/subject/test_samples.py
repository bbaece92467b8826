"""Where the tuples of a bolt come from: what is declared, what is made up, and what the component sees of it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.protocol.wire.context import Sample
from multilang_cli.subject.options import DEFAULT_SAMPLE, Component, InputSource, RunOptions
from multilang_cli.subject.samples import samples_of, sources_of, unfed
from multilang_cli.suite.runner.suite_run import run_suite
from tests.sessions import ACK_ALL, PID

if TYPE_CHECKING:
    from pathlib import Path

A, B = InputSource("a", fields=("x", "y")), InputSource("b", "late", ("z",))


def component(**more: Any) -> Component:
    return Component(command=("x",), **more)


def with_samples(source: InputSource, *samples: list[Any]) -> InputSource:
    return msgspec.structs.replace(source, samples=samples)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (component(), [Sample(DEFAULT_SAMPLE)]),
        (component(samples=([1], [2])), [Sample([1]), Sample([2])]),
        (component(sources=(A, B)), [Sample(DEFAULT_SAMPLE * 2, "a"), Sample(DEFAULT_SAMPLE, "b", "late")]),
        (component(sources=(InputSource("a", fields=()),)), [Sample([], "a")]),
        (component(samples=([1, 2],), sources=(A, B)), [Sample([1, 2], "a")]),
        (
            component(sources=(with_samples(A, [1, 1], [2, 2]), with_samples(B, [1], [2], [3]))),
            [
                Sample([1, 1], "a"),
                Sample([1], "b", "late"),
                Sample([2, 2], "a"),
                Sample([2], "b", "late"),
                Sample([3], "b", "late"),
            ],
        ),
        (
            component(samples=(Sample([1], "b", "late"), [2, 2]), sources=(A, B)),
            [Sample([1], "b", "late"), Sample([2, 2], "a")],
        ),
    ],
)
def test_samples_are_fed_in_their_order(declared: Component, expected: list[Sample]) -> None:
    assert [*samples_of(declared)] == expected


@pytest.mark.parametrize(
    ("declared", "fields"),
    [
        (component(), [("sentence",)]),
        (component(samples=([1, 2],)), [("field1", "field2")]),
        (component(samples=([1, 2],), sources=(InputSource("a"), B)), [("field1", "field2"), ("z",)]),
        (
            component(samples=(Sample([1], "b"),), sources=(InputSource("a"), InputSource("b"))),
            [("sentence",), ("field1",)],
        ),
    ],
)
def test_fields_that_nobody_told_are_made_up(declared: Component, fields: list[tuple[str, ...]]) -> None:
    assert [each.fields for each in sources_of(declared)] == fields


def test_a_source_without_a_sample_is_named() -> None:
    assert unfed(component(samples=([1, 2],), sources=(A, B))) == (B,)
    assert unfed(component(sources=(A, B))) == unfed(component(samples=([1],))) == ()


@pytest.mark.component
@pytest.mark.parametrize("storm", ["0.9.7", "2.8.3"])
def test_what_is_told_stands_in_the_context_and_in_the_tuples(tmp_path: Path, storm: str) -> None:
    script = tmp_path / "bolt.py"
    script.write_text(PID + ACK_ALL)
    told = Component(
        command=(sys.executable, str(script)),
        name="join",
        samples=([1, "home"],),
        sources=(
            InputSource("views", fields=("id", "page"), grouping={"type": "FIELDS", "fields": ["id"]}),
            InputSource("clicks", "late", ("id",), ([7],)),
        ),
    )
    case = "bolt.settle.once"
    options = RunOptions(storm=storm, record=str(tmp_path), record_all=True, include=(case,), timeout=20.0)
    result = run_suite(told, options)
    assert [(each.id, each.verdict) for each in result.subjects] == [(case, "pass")]
    lines = map(json.loads, (tmp_path / f"{case}.ndjson").read_text().splitlines())
    handshake, *sent = [line["msg"] for line in lines if line.get("ch") == "in"]
    context = handshake["context"]
    tasks = {name: int(task) for task, name in context["task->component"].items() if name != "sink"}
    assert tasks.keys() == {"__acker", "views", "clicks", "join"}
    if storm != "0.9.7":
        assert context["source->stream->fields"] == {"views": {"default": ["id", "page"]}, "clicks": {"late": ["id"]}}
        assert context["source->stream->grouping"] == {
            "views": {"default": {"type": "FIELDS", "fields": ["id"]}},
            "clicks": {"late": {"type": "SHUFFLE"}},
        }
    fed = [(each["comp"], each["stream"], each["task"], each["tuple"]) for each in sent if each["task"] != -1]
    of_views = ("views", "default", tasks["views"], [1, "home"])
    assert fed == [of_views, ("clicks", "late", tasks["clicks"], [7])] * 10
