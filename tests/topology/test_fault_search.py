"""The search for faults: points of a history, the order of plans, how one is made smaller, and its file."""

from __future__ import annotations

import random
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.topology.faults.plan import Fault, FaultError
from multilang_cli.topology.faults.plan_file import NAME, SCHEMA, BrokenCheck, FaultPlan, read_plan, to_json
from multilang_cli.topology.faults.points import FaultPoint, points_of
from multilang_cli.topology.faults.search import FaultSearch, smaller, spread
from multilang_cli.topology.history import (
    AckerTold,
    Delivered,
    EmissionEnded,
    Emitted,
    Happening,
    TupleSettled,
)
from multilang_cli.topology.tasks import lay_out
from tests.topologies.runs import split_count
from tests.topologies.searches import PLANTED, Planted, planted_topology, search

if TYPE_CHECKING:
    from pathlib import Path

ACKER, COUNT, SPOUT, SPLIT = 1, 2, 3, 4


def history(*events: tuple[Any, ...]) -> list[Happening]:
    """Of emit (n, task, anchors, message id), got (n, emit, task, tracked), ack (delivery), end, init."""
    made: list[Happening] = []
    for what, *more in events:
        match what, *more:
            case "emit", n, task, anchors, id_:
                root = 7 if id_ else None
                made.append(Emitted(t=0, n=n, task=task, stream="default", anchors=anchors, message_id=id_, root=root))
            case "got", n, emit, task, tracked:
                made.append(Delivered(t=0, n=n, emit=emit, task=task, id=str(n), edges={7: n} if tracked else {}))
            case "ack" | "fail" as how, n:
                made.append(TupleSettled(t=0, delivery=n, how=how))
            case "init", *_:
                made.append(AckerTold(t=0, task=ACKER, what="init", root=7, val=1))
            case "end", emit:
                made.append(EmissionEnded(t=0, emit=emit, root=7, task=SPOUT, how="acked", latency=0))
    return made


SENT = (("emit", 1, SPOUT, (), 1), ("got", 1, 1, SPLIT, True))


def found(*events: tuple[Any, ...]) -> dict[str, int]:
    """The points of split-count with one worker, by their fault, with their ranks."""
    topology = split_count()
    points = points_of(history(*events), topology, lay_out(topology, "2.8.3"))
    return {str(each.fault): each.rank for each in points}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([SENT[0]], {"time-out:sentences@emit-1": 1, "kill:sentences@emit-1": 3}),
        (SENT, {"mute:split:0.3@got-1": 2, "duplicate:split@got-1": 4}),
        ([*SENT, ("ack", 1)], {"mute:split:0.3@ack-1": 1}),
        ([*SENT, ("emit", 2, SPLIT, (1,), None), ("ack", 1)], {"mute:split:0.3@emit-1": 3, "mute:split:0.3@ack-1": 3}),
        ([*SENT, ("emit", 2, SPLIT, (), None), ("got", 2, 2, COUNT, False)], {"mute:count:0.3@got-1": 0}),
        ([*SENT, ("ack", 1), ("emit", 2, SPLIT, (), None)], {"mute:split:0.3@ack-1": 0}),
        ([*SENT, ("fail", 1)], {"mute:split:0.3@fail-1": 1}),
        ([("init",)], {"kill:__acker@init-1": 4}),
        ([SENT[0], ("end", 1)], {"kill:sentences@end-1": 3}),
        ([SENT[0], ("emit", 2, SPOUT, (), 2), ("end", 2)], {"kill:sentences@end-1": 1}),
        ([("emit", 1, SPOUT, (), None), ("got", 1, 1, SPLIT, False)], {"mute:split:0.3@got-1": 0}),
    ],
)
def test_a_history_has_points(events: list[tuple[Any, ...]], expected: dict[str, int]) -> None:
    assert expected.items() <= found(*events).items()


@pytest.mark.parametrize(
    ("conf", "late"),
    [
        ({}, None),
        ({"topology__tick__tuple__freq__secs": 0}, None),
        ({"topology__tick__tuple__freq__secs": 1}, "stall-stdin:split:2@got-2"),
        (
            {"topology__tick__tuple__freq__secs": 1, "topology__message__timeout__secs": 2},
            "stall-stdin:split:1@got-2",
        ),
    ],
)
def test_ticks_come_late_to_a_bolt_that_holds_a_tuple(conf: dict[str, Any], late: str | None) -> None:
    """By two ticks, but no tuple times out. What it does not hold yet, it does not hold for long."""
    topology = split_count(**conf)
    events = history(*SENT, ("emit", 2, SPOUT, (), 2), ("got", 2, 2, SPLIT, True))
    points = points_of(events, topology, lay_out(topology, "2.8.3"))
    assert [str(each.fault) for each in points if each.fault.kind == "stall-stdin"] == ([late] if late else [])


def test_a_replay_is_a_point_of_another_kind() -> None:
    topology = split_count()
    layout = lay_out(topology, "2.8.3")
    once = history(*SENT, ("emit", 2, SPOUT, (), 2))
    again = history(*SENT, ("emit", 2, SPOUT, (), 1))
    kinds = [{each.about for each in points_of(events, topology, layout)} for events in (once, again)]
    assert any("a replay" in each for each in kinds[1] - kinds[0])
    assert not kinds[0] - kinds[1]


def point(about: str, at: int, rank: int = 1) -> FaultPoint:
    return FaultPoint(
        Fault(kind="mute", target=about, at=at, worker=0, task=4, parameter=0.3, moment="ack"), about, rank
    )


def texts(search: FaultSearch, most: int = 100) -> list[str]:
    plans = (search.next() for _ in range(most))
    return [" ".join(f"{each.target}{each.at}" for each in plan) for plan in plans if plan is not None]


def test_the_likeliest_come_first_and_those_that_lie_far_apart() -> None:
    points = [point("a", at, 2) for at in (1, 2, 3)] + [point("b", at, 0) for at in (1, 2, 3, 4, 5)]
    told = texts(FaultSearch(points, random.Random(0)))  # noqa: S311
    assert told[:6] == ["b1", "b5", "a1", "b3", "a3", "b2"]
    assert len(told) == len(set(told))
    assert any(" " in each for each in told)


def test_what_is_new_behind_a_fault_is_tried_behind_it() -> None:
    search = FaultSearch([point("a", 1), point("a", 2)], random.Random(0))  # noqa: S311
    first = search.next()
    assert first is not None
    search.saw(first, [point("a", 1), point("new", 3, 0)])
    assert texts(search, 1) == ["a1 new3"]
    search.saw(first, [point("new", 4, 0)])
    assert "a1 new4" not in texts(search)


def test_far_apart() -> None:
    points = [point("a", at) for at in range(9)]
    assert [each.fault.at for each in spread(points)] == [0, 8, 4, 2, 6, 1, 3, 5, 7]
    assert list(spread([])) == []


def test_a_smaller_plan_has_less_or_simpler_faults() -> None:
    plan = (point("a", 1).fault, point("b", 3).fault)
    told = [" ".join(map(str, each)) for each in smaller(plan)]
    assert told == [
        "mute:b:0.3@ack-3",
        "mute:a:0.3@ack-1",
        "kill:a@ack-1 mute:b:0.3@ack-3",
        "mute:a:0.3@ack-1 kill:b@ack-3",
        "mute:a:0.3@ack-1 mute:b:0.3@ack-1",
    ]


PLAN = FaultPlan(topology="t", storm="2.8.3", seed=1, faults=("kill:a@3",), broke=(BrokenCheck("run", "x"),), times=1)


def test_a_plan_is_a_file_that_holds_to_its_schema(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(to_json(PLAN))
    assert read_plan(tmp_path / "plan.json") == PLAN
    assert schemas.explain(msgspec.json.decode(to_json(PLAN)), SCHEMA) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "it can't be read: No such file"),
        ("{", "no plan of faults, which is JSON"),
        ("[]", "no plan of faults: at the top: [] is an array, not object"),
        ('{"topology": "t", "storm": "2.8.3", "seed": 1}', '"faults" is missing'),
        ("[" * 100_000, "no plan of faults"),
    ],
)
def test_a_file_that_is_no_plan_is_a_sentence(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "plan.json").write_text(text, encoding="utf-8")
    with pytest.raises(FaultError) as caught:
        read_plan(tmp_path / "plan.json")
    assert words in str(caught.value)


FOUND = {
    "ack before the emit": "mute:bolt:0.3@ack-",
    "no anchor on a branch": "sink",
    "fails swallowed": "time-out:numbers@emit-",
    "a second fail swallowed": "time-out:numbers@emit-1 time-out:numbers@emit-",
}
"""A part of the plan that a bug is found by. benchmarks.fault_search has all of them, with five seeds."""


@pytest.mark.component
@pytest.mark.parametrize("name", FOUND)
def test_a_planted_bug_is_found_and_its_plan_shows_it_again(tmp_path: Path, name: str) -> None:
    played = search(partial(planted_topology, PLANTED[name]), tmp_path / "runs", 40.0)
    plan = read_plan(tmp_path / "runs" / NAME)
    assert FOUND[name] in " ".join(plan.faults)
    assert len(plan.faults) <= 2
    assert (played.run.result.exit_code, {each.id for each in plan.broke}) == (1, {"at-least-once"})
    assert f"--fault @{tmp_path / 'runs' / NAME} plays it again" in played.run.result.notes[0]
    kept = [each for each in (tmp_path / "runs").iterdir() if each.is_dir()]
    assert kept == [played.setup.folder]


@pytest.mark.component
def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    played = search(partial(planted_topology, Planted()), tmp_path, 5.0)
    assert played.run.result.exit_code == 0
    assert re.match(r"Search: nothing was broken by [1-9]\d* plans of faults", played.run.result.notes[0])
    assert not (tmp_path / NAME).exists()
