"""What a run asks of a spout that sleeps, and of one that is never quiet; time that a component was not run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from multilang_cli.driver.waits import starving
from multilang_cli.driver.waits.starving import Starved
from multilang_cli.suite.steps import idling, spout_steps
from multilang_cli.suite.steps.idling import IDLE_FOR_GOOD, LEAST_IDLE, TUPLES_WITHOUT_IDS, Idle
from tests.running import run
from tests.sessions import LIMIT, bolt_of, playing

RIGHT = [sys.executable, str(Path(__file__).parents[1] / "right" / "spouts.py")]
TALKS = """
shake()
while True: time.sleep(0.02); say('{"command":"log","msg":"still here"}\\nend\\n')
"""
LATE = """
shake()
tup = message()
time.sleep(%g)
say('{"command":"ack","id":"%%s"}\\nend\\n' %% tup["id"])
message()
"""

ROWS = """
import json, os, sys
pauses, left, paused, asked = "pauses" in sys.argv, int(sys.argv[1]), False, 0
def message(): return json.loads("".join(iter(sys.stdin.readline, "end\\n")))
def say(**said): print(json.dumps(said), "end", sep="\\n", flush=True)
pid_dir = message()["pidDir"]
say(pid=os.getpid())
open(f"{pid_dir}/{os.getpid()}", "w").close()
while True:
    command = message()["command"]
    paused = paused or (pauses and command == "deactivate")
    if command == "next" and left and not paused:
        left -= 1
        say(command="emit", tuple=[left], id=left, need_task_ids=False)
    say(command="sync")
"""
"""A spout of so many rows; the one that pauses never goes on."""


def test_a_spout_that_emits_nothing_is_asked_for_long_once() -> None:
    idle = Idle()
    assert idle.allowance == IDLE_FOR_GOOD
    idle.asked(IDLE_FOR_GOOD / 2)
    assert idle.allowance == IDLE_FOR_GOOD
    idle.asked(IDLE_FOR_GOOD)
    assert idle.allowance == LEAST_IDLE


def test_a_spout_whose_tuples_take_their_time_is_given_it() -> None:
    idle = Idle()
    idle.asked(4.0)
    idle.came(4.0)
    assert idle.allowance == 8.0
    idle.came(0.0)
    assert idle.allowance == 8.0


def test_who_plays_all_asks_as_often_as_the_cases_say() -> None:
    idle = Idle(limited=False)
    idle.asked(IDLE_FOR_GOOD)
    assert idle.allowance == idle.budget == float("inf")


def test_who_emits_without_ids_is_asked_for_them_once() -> None:
    idle, seen = Idle(), []
    for tuples, with_ids in ((TUPLES_WITHOUT_IDS - 1, 0), (1, 0), (1, 1)):
        idle.emitted(tuples, with_ids)
        seen.append(idle.knows_no_ids)
    assert seen == [False, True, False]


def test_who_is_slow_and_gives_no_ids_is_not_asked_for_them_again() -> None:
    idle, seen = Idle(), []
    for seconds in (IDLE_FOR_GOOD / 2, IDLE_FOR_GOOD):
        idle.emitted(1, 0)
        idle.sought(seconds)
        seen.append(idle.knows_no_ids)
    assert seen == [False, True]


def test_a_long_sleep_is_slept_once_in_a_run() -> None:
    idle = Idle()
    idle.slept(6)
    idle.slept(8)
    assert [idle.sleeps_at(calls) for calls in (1, 5, 6, 7)] == [False, False, True, True]
    assert not Idle().sleeps_at(6)


def test_a_spout_that_sleeps_at_once_is_asked_once_a_case() -> None:
    idle = Idle()
    idle.slept(1)
    assert [idle.sleeps_at(calls) for calls in (1, 2)] == [False, True]


@pytest.mark.component
@pytest.mark.parametrize("case", ["spout.cut.next", "spout.sync.next", "spout.sync.ack", "spout.next.thousand"])
def test_who_sleeps_when_it_has_nothing_more_is_asked_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(spout_steps, "BUDGET", -1.0)
    run([*RIGHT, "finite"], "spout", tmp_path, include=(case,), exhaustive=False, record_all=True)
    assert (tmp_path / f"{case}.ndjson").read_text().count('"command":"next"') <= 6


@pytest.mark.component
@pytest.mark.parametrize("case", ["spout.sync.ack", "spout.id.again"])
def test_a_spout_that_emits_late_is_waited_for(tmp_path: Path, case: str) -> None:
    [subject] = run([*RIGHT, "late"], "spout", tmp_path, include=(case,), exhaustive=False).subjects
    assert subject.reason in {"", "no id that failed came again while next was called"}


@pytest.mark.component
def test_a_spout_that_never_emits_is_told_that_nothing_was_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idling, "IDLE_FOR_GOOD", 0.3)
    result = run([*RIGHT, "silent"], "spout", tmp_path, include=("spout.sync.ack", "spout.sync.fail"), exhaustive=False)
    assert {subject.verdict for subject in result.subjects} == {"skip"}
    assert "it emitted nothing in 0.3 s of `next`: nothing that it emits was tested" in result.notes


@pytest.mark.component
def test_a_spout_without_ids_is_not_asked_for_them_in_every_case(tmp_path: Path) -> None:
    result = run([*RIGHT, "no-ids"], "spout", tmp_path, include=("spout.sync.ack", "spout.sync.fail"), exhaustive=False)
    reasons = [subject.reason for subject in result.subjects]
    assert reasons == ["it emitted no tuple with an id in 20 calls of next", "it emits no tuple with an id"]


@pytest.mark.component
@pytest.mark.parametrize(
    ("arguments", "verdict"), [(["1000000", "pauses"], "warn"), (["1000000"], "pass"), (["5"], "skip"), (["8"], "pass")]
)
def test_a_spout_that_stays_paused_is_told_of_where_others_may_be_dry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], verdict: str
) -> None:
    monkeypatch.setattr(spout_steps, "IDLE_FOR_GOOD", 0.5)
    cases = ("stdout.clean", "spout.reactivate")
    result = run([sys.executable, "-c", ROWS, *arguments], "spout", tmp_path, include=cases, exhaustive=False)
    assert [subject.verdict for subject in result.subjects] == ["pass", verdict]
    assert ("it emitted at each of 5 calls" in result.subjects[1].reason) == (verdict == "warn")


@pytest.mark.component
def test_who_is_never_quiet_is_not_waited_for(tmp_path: Path) -> None:
    with playing(tmp_path, TALKS) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        assert not session.wait_quiet(1000.0, talk=0.1)


@pytest.mark.component
@pytest.mark.parametrize(("lost", "sleeps"), [(0.0, 60.0), (10.0, 1.5)])
def test_a_limit_does_not_run_while_the_machine_does_not_run_the_component(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: float, sleeps: float
) -> None:
    monkeypatch.setattr(Starved, "lost", lambda _: lost)
    with playing(tmp_path, LATE % sleeps) as (session, handshake):
        bolt = bolt_of(session)
        assert session.handshake(handshake, LIMIT)
        bolt.send(["x"])
        assert bolt.settle_all(1.0) is (lost > 0)


@pytest.mark.component
def test_a_component_that_the_machine_does_not_run_is_not_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Starved, "lost", lambda _: 10.0)
    with playing(tmp_path, LATE % 1.5) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        bolt_of(session).send(["x"])
        assert session.wait_quiet(LIMIT)
        assert not session.judge.state.open


CALLS = """\
id: spout.calls
title: answers next
kind: spout
level: must
clause: spout.idle.sync
expected: a sync for each
steps:
  - handshake
  - call: {command: activate}
  - call: {command: next, times: 300, seconds: 0.001}
"""


@pytest.mark.component
def test_a_spout_that_the_machine_does_not_run_is_called_as_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Starved, "lost", lambda _: 10.0)
    monkeypatch.setattr(starving, "STARVED", 1_000_000)
    (tmp_path / "spout.calls.yaml").write_text(CALLS)
    spout, suites = [sys.executable, "-c", ROWS, "0"], (str(tmp_path / "spout.calls.yaml"),)
    run(spout, "spout", tmp_path, include=("spout.calls",), suites=suites, record_all=True)
    assert (tmp_path / "spout.calls.ndjson").read_text().count('"command":"next"') == 300


@pytest.mark.component
def test_last_words_are_waited_for_while_the_machine_does_not_run_the_component(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Starved, "lost", lambda _: 10.0)
    code = "shake()\nsys.stdin.read()\ntime.sleep(1.5)\nos.write(2, b'last')\n"
    with playing(tmp_path, code) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        session.hear_out(1.0)
        assert session.process.stderr_tail == b"last"
