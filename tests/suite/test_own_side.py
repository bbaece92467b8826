"""What the suite says to a component is what a Storm says: judged in every conversation of every case."""

from __future__ import annotations

import itertools
import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue.locate import data_path
from multilang_cli.protocol.words.messages import TaskIds
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.subject.testee import read_testee
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.runner.suite_run import run_suite
from multilang_cli.suite.steps import bolt_steps, spout_steps
from multilang_cli.suite.steps import operations as steps
from tests.components import RIGHT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.reports.model import RunResult
    from multilang_cli.suite.steps.stage import Stage

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

VERSIONS = ("0.9.2", "0.9.7", "0.10.2", "1.2.4", "2.8.3")
"""Each says something else than the one before: heartbeats, the context, the order of task ids, activate, arity."""
TAKES = ("text", "integers", "floats", "null", "nested", "empty", "arity")
STREAMS = {"default": StreamDeclaration(("word", "n")), "jobs": StreamDeclaration(("word", "n"), direct=True)}
COMPONENTS: dict[str, dict[str, Any]] = {
    "bolt": {"command": ("mutants/bolt_input.py", "none"), "kind": "bolt", "accepts": TAKES},
    "spout": {"command": ("mutants/spout_more.py", "none"), "kind": "spout"},
    "undeclared-bolt": {"command": ("right/bolts.py", "threads"), "kind": "bolt", "streams": None, "samples": ()},
    "no-ackers": {
        "command": ("right/spouts.py", "burst"),
        "kind": "spout",
        "streams": None,
        "conf": {"topology.acker.executors": 0},
    },
}


def component(name: str, **more: Any) -> Component:
    declared = {"streams": STREAMS, "samples": (["a b", 1], ["c d e", 2]), **COMPONENTS[name], **more}
    file, mutant = declared.pop("command")
    return Component(command=(sys.executable, str(RIGHT.parent / file), mutant), **declared)


def faults(result: RunResult) -> dict[str, str]:
    return {subject.id: subject.reason for subject in result.subjects if subject.verdict == "error"}


PLAYED = [(name, storm) for name in ("bolt", "spout") for storm in VERSIONS]
PLAYED += [("undeclared-bolt", "2.8.3"), ("undeclared-bolt", "0.9.7"), ("no-ackers", "2.8.3"), ("no-ackers", "1.2.4")]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "storm"), PLAYED)
def test_no_case_says_what_no_storm_says(name: str, storm: str, tmp_path: Path) -> None:
    result = run_suite(component(name), RunOptions(record=str(tmp_path), storm=storm, jobs=2))
    assert faults(result) == {}
    assert sum(subject.verdict == "pass" for subject in result.subjects) > len(result.subjects) / 2


FED = ("bolt.heartbeat", "bolt.settle", "bolt.task-ids", "handshake")


@pytest.mark.parametrize(
    ("each", "include", "more"),
    [(29, FED, {}), (41, FED, {}), (31, ("stdout.slow-reader",), {"command": ("right/bolts.py", "forks")})],
)
def test_a_machine_that_stands_still_again_and_again_changes_nothing(
    each: int, include: tuple[str, ...], more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, real = itertools.count(), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + next(looks) // each * 6.5)
    result = run_suite(component("bolt", **more), RunOptions(record=str(tmp_path), include=include))
    # The busier the machine, the more looks at this clock a tuple takes: it may be too slow for a thousand of them.
    told = {subject.reason: subject.verdict for subject in result.subjects if "might outlast" not in subject.reason}
    assert set(told.values()) == {"pass"}, told


def test_ticks_are_storms_too(tmp_path: Path) -> None:
    bolt = component("undeclared-bolt", command=("right/bolts.py", "on-tick"), settles="on-tick", accepts=("ticks",))
    include = ("bolt.tick", "bolt.settle", "bolt.heartbeat", "handshake.pid-first")
    result = run_suite(bolt, RunOptions(record=str(tmp_path), include=include, jobs=2))
    assert {subject.verdict for subject in result.subjects} == {"pass"}, faults(result)


@pytest.mark.sample(2)
@pytest.mark.parametrize("storm", ["1.2.4", "0.10.2", "2.8.3"])
@pytest.mark.parametrize("part", [0, 1, 2])
def test_library_cases_are_storms_too(part: int, storm: str, tmp_path: Path) -> None:
    testee = read_testee(data_path("conformance", "testees", "component")).components()[part]
    result = run_suite(testee, RunOptions(record=str(tmp_path), storm=storm, include=("library",), jobs=2))
    assert faults(result) == {}
    assert {subject.verdict for subject in result.subjects} <= {"pass", "skip"}


def tuple_first(stage: Stage) -> None:
    stage.session.say(stage.handshake({}))
    bolt_steps.tuples(stage, {})
    stage.session.await_pid(10.0)


def key_of_tomorrow(stage: Stage) -> None:
    greeting = msgspec.structs.replace(stage.handshake({}), more={"tomorrow": 1})
    stage.session.handshake(greeting, 10.0)


def told(**changes: Any) -> Callable[[Stage], None]:
    """A handshake with something else in its context, or conf."""

    def play(stage: Stage) -> None:
        greeting = stage.handshake({})
        conf = changes.get("conf", greeting.conf)
        context = {**greeting.context, **{key: value for key, value in changes.items() if key != "conf"}}
        stage.session.handshake(msgspec.structs.replace(greeting, conf=conf, context=context), 10.0)

    return play


def greeted(*said: Callable[[Stage], object]) -> Callable[[Stage], None]:
    """After a right handshake."""

    def play(stage: Stage) -> None:
        stage.session.handshake(stage.handshake({}), 10.0)
        for each in said:
            each(stage)
        stage.session.pump.move(0.2)

    return play


def ask(stage: Stage) -> None:
    stage.spout.ask("next")


PLANTED: dict[str, tuple[str, str, str, Callable[[Stage], None]]] = {
    "tuple before the pid": ("bolt", "2.8.3", "host-early", tuple_first),
    "key of tomorrow": ("bolt", "0.9.7", "host-context", key_of_tomorrow),
    "task of another": ("bolt", "2.8.3", "host-context", told(taskid=99)),
    "id of another": ("spout", "2.8.3", "host-context", told(componentid="nobody")),
    "itself nowhere": ("bolt", "0.9.7", "host-context", told(**{"task->component": {"9": "nobody"}})),
    "no conf": ("bolt", "2.8.3", "host-conf", told(conf={})),
    "heartbeat to an old bolt": ("bolt", "0.9.2", "host-heartbeat", greeted(lambda stage: stage.bolt.heartbeat())),
    "tick unasked": ("bolt", "2.8.3", "host-tick", greeted(lambda stage: stage.bolt.tick())),
    "strange source": ("bolt", "0.9.7", "host-source", greeted(lambda s: s.bolt.send(["a", 1], "nobody", "x", 99))),
    "strange stream": ("bolt", "2.8.3", "host-source", greeted(lambda s: s.bolt.send(["a", 1], "source", "x"))),
    "wrong arity": ("bolt", "1.2.4", "host-source", greeted(lambda s: s.bolt.send(["a"]))),
    "id of ours": ("bolt", "2.8.3", "host-tuple-id", greeted(lambda s: s.bolt.send_as("not drawn", ["a", 1]))),
    "task ids of nothing": (
        "bolt",
        "2.8.3",
        "host-task-ids-extra",
        greeted(lambda stage: stage.session.pump.stdin.answer_all([TaskIds([4])])),
    ),
    "next too soon": ("spout", "2.8.3", "host-inactive", greeted(ask)),
    "two at once": ("spout", "1.2.4", "host-unsynced", greeted(spout_steps.activate, ask, ask)),
    "ack of nothing": (
        "spout",
        "2.8.3",
        "host-settle-extra",
        greeted(spout_steps.activate, lambda stage: stage.spout.call("ack", "never emitted")),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_no_storm_says_is_a_fault_of_ours(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, storm, rule, said = PLANTED[name]
    monkeypatch.setitem(steps.OPERATIONS, "handshake", lambda stage, _: said(stage))
    result = run_suite(component(kind), RunOptions(record=str(tmp_path), storm=storm, include=("handshake.pid-first",)))
    (subject,) = result.subjects
    assert (subject.verdict, result.exit_code) == ("error", 5)
    assert f"({rule}: " in subject.reason
    assert subject.transcript is not None


def test_a_case_of_a_users_own_is_not_held_to_it(tmp_path: Path) -> None:
    case = next(case for case in load_cases() if case.id == "spout.sync.ack")
    text = (data_path("conformance", "cases", "component") / f"{case.id}.yaml").read_text(encoding="utf-8")
    mine = tmp_path / "mine.spout.yaml"
    mine.write_text(
        text.replace("id: spout.sync.ack", "id: mine.spout").replace(
            "call: {command: ack", "call: {command: ack, id: unknown"
        ),
        encoding="utf-8",
    )
    options = RunOptions(record=str(tmp_path / "r"), suites=(str(mine),), include=("mine.spout",))
    assert [subject.verdict for subject in run_suite(component("spout"), options).subjects] == ["pass"]
