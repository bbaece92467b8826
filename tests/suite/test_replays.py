"""A spout that never emits again what failed is told so; by an id or by its values a tuple is known again."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.causes.model import Place
from multilang_cli.protocol.words.verdicts import Finding
from multilang_cli.reports.model import SubjectResult
from multilang_cli.subject.options import Component
from multilang_cli.suite.verdict.replays import (
    CALLS,
    CALLS_BEHIND,
    FAILED_FOR_GOOD,
    IN_VAIN,
    NO_IDS,
    Replays,
    ReplayWatch,
)
from tests import notation
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

SPOUT = Component(name="s", command=("s",), kind="spout")


def after(*later: dict[str, object], command: str = "fail") -> tuple[str, ...]:
    """The notes behind three tuples that were settled so, and what was emitted then."""
    ids = [f"m{number}" for number in range(FAILED_FOR_GOOD)]
    lines = ["< " + json.dumps({"command": "emit", "id": id_, "tuple": [id_, 1]}) for id_ in ids]
    lines += [f'> {{"command":"{command}","id":"{id_}"}}' for id_ in ids]
    lines += ['> {"command":"next"}'] * CALLS
    lines += ["< " + json.dumps({"command": "emit", **emit}) for emit in later]
    seen = Replays()
    ReplayWatch(seen).take(notation.parse("\n".join(lines)))
    return tuple(each.text for each in seen.observations(SPOUT))


@pytest.mark.parametrize(
    ("source", "settled", "told"),
    [
        ("MAX_INFLIGHT = 6", 6, True),
        ("if (pending.size >= 6) return;", 6, True),
        ("MAX_INFLIGHT = 6", 5, False),
        ("MAX_INFLIGHT = 60", 6, False),
        ("READINGS = 6", 6, False),
    ],
)
def test_a_spout_that_stops_at_what_may_be_under_way_is_told(source: str, settled: int, told: bool) -> None:
    emits = [f'> {{"command":"next"}}\n< {{"command":"emit","id":"{n}","tuple":[{n}]}}' for n in range(6)]
    acks = [f'> {{"command":"ack","id":"{n}"}}' for n in range(settled)]
    seen = Replays()
    ReplayWatch(seen).take(notation.parse("\n".join([*emits, *acks, *['> {"command":"next"}'] * IN_VAIN])))
    found = seen.observations(SPOUT, lambda like: Place("s.py", 3) if re.search(like, source) else None)
    assert [each.id for each in found] == ["stops-at-its-limit"] * told


ONE = '< {"command":"emit","id":"m1","tuple":["a"]}'
TWO = ONE.replace("m1", "m2")
ACTIVATE, CALL = '> {"command":"activate"}', '> {"command":"next"}'
ACKED = '> {"command":"ack","id":"m1"}'


@pytest.mark.parametrize(
    ("talk", "told"),
    [
        ([ACTIVATE, CALL, ONE, ACTIVATE, CALL, ONE], True),
        ([ACTIVATE, CALL, ONE, '> {"command":"fail","id":"m1"}', ACTIVATE, CALL, ONE], False),
        ([ACTIVATE, CALL, ONE, ACKED, ACTIVATE, CALL, ONE], False),
        ([ACTIVATE, CALL, ONE, CALL, ONE], False),
        # It goes back to what was acked last, or to its very beginning.
        ([ACTIVATE, ONE, TWO, ACKED, ACTIVATE, CALL, TWO], False),
        ([ACTIVATE, ONE, TWO, ACKED, ACTIVATE, CALL, ONE, CALL, TWO], True),
    ],
)
def test_a_spout_that_begins_anew_when_it_is_activated_again_is_told(talk: list[str], told: bool) -> None:
    seen = Replays()
    ReplayWatch(seen).take(notation.parse("\n".join(talk)))
    assert [each.id for each in seen.observations(SPOUT)] == ["begins-anew-at-activate"] * told


@pytest.mark.parametrize(
    ("talk", "told"),
    [
        ([CALL, ONE, CALL, ONE, CALL, ONE, CALL, ONE], True),
        ([CALL, ONE, CALL, ONE, CALL, ONE], False),
        ([CALL, ONE, *[CALL, CALL, ONE] * 4], False),
        ([CALL, ONE, ONE, ONE, ONE], False),
        ([CALL, ONE, CALL, ONE, ACKED, CALL, ONE, CALL, ONE, ACKED, CALL, ONE, CALL, ONE], False),
        ([CALL, ONE, *[CALL, '< {"command":"emit","id":"m1","tuple":["b"]}'] * 4], False),
    ],
    ids=["at each call", "three times", "by a clock of its own", "in one call", "acked between", "other values"],
)
def test_a_spout_that_emits_what_is_pending_at_each_call_is_told(talk: list[str], told: bool) -> None:
    seen = Replays()
    ReplayWatch(seen).take(notation.parse("\n".join([ACTIVATE, *talk])))
    assert [each.id for each in seen.observations(SPOUT)] == ["repeats-what-is-pending"] * told


def test_a_spout_that_emits_none_again_is_told() -> None:
    (note,) = after()
    assert "its ids are numbers" not in note
    assert f"none of the {FAILED_FOR_GOOD} tuples again that failed" in note


@pytest.mark.parametrize(("id_", "told"), [("{}", True), ("m{}", False)])
def test_ids_of_digits_may_be_kept_as_numbers(id_: str, told: bool) -> None:
    ids = [id_.format(number) for number in range(FAILED_FOR_GOOD)]
    talk = [f'< {{"command":"emit","id":"{id_}","tuple":["{id_}"]}}' for id_ in ids]
    talk += [f'> {{"command":"fail","id":"{id_}"}}' for id_ in ids]
    (note,) = run_of("\n".join([*talk, *['> {"command":"next"}'] * CALLS]))
    assert ("texts of digits" in note) is told


@pytest.mark.parametrize("idle", [False, True])
def test_what_may_wait_behind_new_tuples_is_not_said_to_be_lost(idle: bool) -> None:
    ids = [f"m{number}" for number in range(FAILED_FOR_GOOD)]
    emits = [f'< {{"command":"emit","id":"{id_}","tuple":["{id_}"]}}' for id_ in ids]
    fails = [f'> {{"command":"fail","id":"{id_}"}}' for id_ in ids]
    calls = [f'> {{"command":"next"}}\n< {{"command":"emit","id":"n{n}","tuple":["n{n}"]}}' for n in range(CALLS)]
    seen = Replays()
    talk = [*emits, '> {"command":"next"}', *fails, *calls, *(['> {"command":"next"}'] * 2 if idle else ())]
    ReplayWatch(seen).take(notation.parse("\n".join(talk)))
    (note,) = seen.observations(SPOUT)
    assert ("unless they wait behind those" in note.text) is not idle


@pytest.mark.parametrize("emit", [{"id": "m1", "tuple": ["x"]}, {"id": "other", "tuple": ["m1", 1]}])
def test_one_that_comes_again_by_its_id_or_values_is_enough(emit: dict[str, object]) -> None:
    assert after(emit) == ()


@pytest.mark.parametrize(("id_", "told"), [(2**62 + 2**20, True), (2**62 + 1, False), (7, False)])
def test_an_id_that_a_double_holds_by_chance_is_no_replay(id_: int, told: bool) -> None:
    seen, lost = Replays(), [*range(FAILED_FOR_GOOD - 1), id_]
    lines = [json.dumps({"command": "emit", "id": each, "tuple": [f"row {each}"]}) for each in lost]
    talk = [f"< {line}" for line in lines] + [f'> {{"command":"fail","id":{each}}}' for each in lost]
    talk += ['> {"command":"next"}'] * CALLS + [f"< {lines[-1]}"]
    ReplayWatch(seen).take(notation.parse("\n".join(talk)))
    assert all("its ids are numbers" in each.text for each in seen.observations(SPOUT))
    assert any(seen.observations(SPOUT)) is told


def test_other_tuples_are_none_of_those_that_failed() -> None:
    assert after({"id": "m9", "tuple": ["m9", 1]}) != ()


def test_who_is_only_acked_loses_nothing() -> None:
    assert after(command="ack") == ()


@pytest.mark.parametrize(("id_", "left"), [("m1", ()), (None, (NO_IDS,))])
def test_who_gives_ids_in_one_case_is_not_said_to_give_none(id_: str | None, left: tuple[str, ...]) -> None:
    seen = Replays()
    emit = {"command": "emit", "id": id_, "tuple": ["x"]}
    ReplayWatch(seen).take(notation.parse("< " + json.dumps({k: v for k, v in emit.items() if v is not None})))
    noted = SubjectResult(
        id="c",
        title="c",
        verdict="pass",
        findings=(Finding(rule=NO_IDS, level="note", seq=3, offset=0, message="none"),),
    )
    assert tuple(each.rule for each in seen.without_contradiction(noted).findings) == left


def run_of(*talks: str) -> tuple[str, ...]:
    """The notes behind conversations of one run."""
    seen = Replays()
    for talk in talks:
        ReplayWatch(seen).take(notation.parse(talk))
    return tuple(each.text for each in seen.observations(SPOUT))


def many(command: str, times: int, then: str = "") -> str:
    """As many tuples, each settled as it comes, and calls that bring nothing."""
    rounds = [
        f'@ {n / 10}\n> {{"command":"next"}}\n< {{"command":"emit","id":"m{n}","tuple":[{n}]}}\n'
        f'> {{"command":"{command}","id":"m{n}"}}'
        for n in range(times)
    ]
    vain = [f'@ {times / 10 + n}\n> {{"command":"next"}}' for n in range(20)]
    return "\n".join([*rounds, *([] if then == "goes on" else vain)])


CALL = '> {"command":"next"}'
OPEN = f'{CALL}\n< {{"command":"emit","id":"open","tuple":["x"]}}'
"""One that is not settled: a spout may well wait for it."""


def waited() -> str:
    """Tuples that fail all together, behind many calls that brought nothing, for all were under way."""
    emits = [f'{CALL}\n< {{"command":"emit","id":"m{n}","tuple":[{n}]}}' for n in range(20)]
    pauses = [f"@ {n + 1}\n{CALL}" for n in range(20)]
    return "\n".join([*emits, *pauses, *(f'> {{"command":"fail","id":"m{n}"}}' for n in range(20)), CALL])


@pytest.mark.parametrize(
    ("acked", "failed", "told"),
    [
        pytest.param(many("ack", 60), many("fail", 20), True, id="a bound that no fail lowers"),
        pytest.param(many("ack", 20), many("fail", 20), False, id="a source that has no more"),
        pytest.param(many("ack", 60), many("fail", 20, "goes on"), False, id="it goes on"),
        pytest.param(many("ack", 60).replace("@ 5.", "@ 50."), many("fail", 20), False, id="it is slow at times"),
        pytest.param(many("ack", 60), f"{OPEN}\n{many('fail', 20)}", False, id="one is under way"),
        pytest.param(many("ack", 60), waited(), False, id="it waited before"),
    ],
)
def test_a_spout_that_stops_once_many_failed_is_told(acked: str, failed: str, told: bool) -> None:
    assert any("nothing more once 20 of its tuples had failed" in note for note in run_of(acked, failed)) is told


CYCLE = "\n".join(f'< {{"command":"emit","id":"m{n}","tuple":["{n % 3}"]}}' for n in range(6))
FAILED = "\n".join(f'> {{"command":"fail","id":"m{n}"}}' for n in range(3))
AGAIN = "\n".join(f'< {{"command":"emit","id":"n{n}","tuple":["{n}"]}}' for n in range(3))


def test_values_that_come_again_of_themselves_are_no_replay() -> None:
    failed = "\n".join([*CYCLE.splitlines()[:3], FAILED, *['> {"command":"next"}'] * CALLS, AGAIN])
    assert run_of(failed) == ()
    (note,) = run_of(CYCLE, failed)
    assert "their values come again of themselves" in note


@pytest.mark.parametrize(
    ("words", "told"),
    [("fail of m1, which is not pending", True), ("m1 failed, and comes again", False), ("m7 is unknown", False)],
)
def test_what_it_logs_of_its_own_id_is_told(words: str, told: bool) -> None:
    talk = f'{CYCLE}\n> {{"command":"fail","id":"m1"}}\n< ' + json.dumps({"command": "log", "msg": words})
    assert any(words in note for note in run_of(talk)) is told


@pytest.mark.parametrize(("value", "told"), [("2", True), ("0", False), ("0, second try", False)])
def test_an_id_that_comes_again_with_the_values_of_another_is_told(value: str, told: bool) -> None:
    again = json.dumps({"command": "emit", "id": "m0", "tuple": [value]})
    talk = f'{CYCLE}\n> {{"command":"fail","id":"m0"}}\n< {again}'
    assert any("with the values of another one" in note for note in run_of(talk)) is told


EMITTED = [f'< {{"command":"emit","id":"m{n}","tuple":[{n}]}}' for n in range(6)]
NEXT = ['> {"command":"next"}']


@pytest.mark.parametrize(
    ("settled", "again", "told"),
    [
        ("fail 0, ack 4, fail 1, fail 2, fail 3", "0", True),
        ("fail 0, ack 4, fail 1, fail 2, fail 3", "0 2", False),
        ("fail 0, fail 1, fail 2, fail 3, ack 4", "0", False),
        ("ack 4, fail 0, fail 1, fail 2, fail 3", "", False),
    ],
    ids=["an ack of a later one forgets them", "one comes again", "none was acked before", "it replays nothing"],
)
def test_who_forgets_what_stood_before_an_ack_is_told(settled: str, again: str, told: bool) -> None:
    said = [f'> {{"command":"{how}","id":"m{n}"}}' for how, n in (each.split() for each in settled.split(", "))]
    comes = [EMITTED[int(n)] for n in again.split()]
    talk = [*EMITTED, *said, *NEXT, *comes, "@ 1", *NEXT * CALLS_BEHIND]
    assert any("does an ack or fail take" in note for note in run_of("\n".join(talk))) is told


@pytest.mark.parametrize(
    ("talk", "told"),
    [
        ("E F E E", True),
        ("E F E F E", False),
        ("E E", False),
        ("E F E A E", False),
        ("E F E S", False),
        ("O E F E V E", False),
    ],
    ids=[
        "twice",
        "once for each fail",
        "by a clock of its own",
        "acked between",
        "on another stream",
        "back to its last commit",
    ],
)
def test_who_emits_twice_for_one_fail_is_told(talk: str, told: bool) -> None:
    words = {
        "E": EMITTED[0],
        "S": '< {"command":"emit","id":"m0","stream":"other","tuple":[0]}',
        "F": '> {"command":"fail","id":"m0"}',
        "A": '> {"command":"ack","id":"m0"}',
        "O": EMITTED[1] + '\n> {"command":"ack","id":"m1"}',
        "V": ACTIVATE,
    }
    assert any("twice for one fail" in note for note in run_of("\n".join(words[w] for w in talk.split()))) is told


def fails(*numbers: int) -> list[str]:
    return [f'> {{"command":"fail","id":"m{n}"}}' for n in numbers]


@pytest.mark.parametrize(
    ("came", "told"),
    [(EMITTED[0], True), (EMITTED[3], False), (EMITTED[0].replace("[0]", "[9]"), False)],
    ids=["one that did not fail", "the one that did", "other values"],
)
def test_a_tuple_that_comes_again_and_did_not_fail_is_told(came: str, told: bool) -> None:
    talk = [*NEXT, *EMITTED, *fails(3), *NEXT, came]
    assert any("tuples that did not fail" in note for note in run_of("\n".join(talk))) is told


@pytest.mark.parametrize(("id_", "told"), [("", True), ('"id":"x7",', False)])
def test_what_comes_again_without_an_id_is_told(id_: str, told: bool) -> None:
    again = f'< {{"command":"emit",{id_}"tuple":[2]}}'
    assert any("again without an id" in note for note in run_of("\n".join([*EMITTED, *fails(2), *NEXT, again]))) is told


@pytest.mark.parametrize(
    ("seconds", "came", "told"),
    [(3, EMITTED[0], True), (0.01, EMITTED[0], False), (3, "", False)],
    ids=["one came, others had time", "too soon", "none came"],
)
def test_who_emits_one_again_of_several_that_failed_is_told(seconds: float, came: str, told: bool) -> None:
    vain = [f"@ {1 + seconds * n / IN_VAIN}\n{NEXT[0]}" for n in range(IN_VAIN + 2)]
    talk = [*EMITTED, *fails(0, 1, 2, 3), "@ 1", *NEXT, *([came] if came else []), *vain]
    assert any("it emitted one again, and 3 not" in note for note in run_of("\n".join(talk))) is told


def test_what_came_again_and_was_acked_is_not_lost_and_its_id_is_free() -> None:
    settled = [f'> {{"command":"ack","id":"m{n}"}}' for n in range(6)]
    vain = [f"@ {1 + 3 * n / IN_VAIN}\n{NEXT[0]}" for n in range(IN_VAIN + 2)]
    talk = [*EMITTED, *fails(0, 1, 2, 3), *NEXT, *EMITTED[:4], *settled, "@ 1", *vain]
    assert run_of("\n".join(talk)) == ()
    circle = [*EMITTED, *settled, *EMITTED, *fails(3), *NEXT, *settled[:1], EMITTED[0], EMITTED[3]]
    assert run_of("\n".join(circle)) == ()


def test_the_same_values_without_an_id_beside_a_replay_are_no_replay() -> None:
    beside = '< {"command":"emit","stream":"log","tuple":[2]}'
    assert run_of("\n".join([*EMITTED, *fails(2), *NEXT, beside, EMITTED[2], beside])) == ()


METERS = [f'< {{"command":"emit","id":"m{n}","tuple":["meter {n % 2}",{n}]}}' for n in range(6)]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ('["meter 0",2,1]', False),
        ('["meter 5",2]', False),
        ('["meter 0",7]', True),
        ('["meter 5",7]', True),
        ('["meter 5",7,2]', True),
    ],
    ids=["one value more", "one changed", "one that all have", "new ones", "new ones, one more"],
)
def test_a_tuple_that_comes_again_with_a_value_more_or_changed_is_not_lost(values: str, told: bool) -> None:
    came = f'< {{"command":"emit","id":"x1","tuple":{values}}}'
    notes = run_of("\n".join([*METERS, *fails(1, 2, 3), *NEXT * CALLS, came, *NEXT * CALLS]))
    assert any("it emitted none of the" in note for note in notes) is told


TURNED = ['> {"command":"deactivate"}', '> {"command":"activate"}']


@pytest.mark.parametrize(
    ("behind", "came", "told"),
    [
        (TURNED, [], True),
        (TURNED, ['< {"command":"emit","id":"m7","tuple":[7]}'], True),
        ([], [], False),
        (TURNED, [EMITTED[2]], False),
        (TURNED, [EMITTED[5]], False),
        (TURNED, ['< {"command":"emit","id":"x5","tuple":[5]}'], False),
    ],
    ids=["none came", "new ones came", "never inactive", "one came", "its source anew", "its source anew by other ids"],
)
def test_who_forgets_at_activate_what_is_pending_is_told(behind: list[str], came: list[str], told: bool) -> None:
    usual = [*EMITTED, *fails(0, 1), *NEXT, *EMITTED[:2]]
    talk = ['> {"command":"activate"}', *usual, *behind, *fails(1, 2, 3, 4), *NEXT, *came, "@ 1", *NEXT * CALLS_BEHIND]
    assert any("does `activate` empty" in note for note in run_of("\n".join(talk))) is told


def test_what_failed_while_inactive_and_comes_behind_an_activate_says_nothing_of_what_was_pending() -> None:
    off, on = TURNED
    inactive = ['> {"command":"activate"}', *EMITTED, off, *fails(0, 1), on, *NEXT, *EMITTED[:2]]
    later = [off, on, *fails(2, 3, 4), "@ 1", *NEXT * CALLS_BEHIND]
    assert any("does `activate` empty" in note for note in run_of("\n".join([*inactive, *later])))


@pytest.mark.parametrize(
    ("told_off", "came", "told"),
    [
        (True, [], True),
        (True, ['< {"command":"emit","id":"m7","tuple":[7]}'], True),
        (False, [], False),
        (True, [EMITTED[3]], False),
        (True, ['< {"command":"emit","id":"m3","tuple":[3,"again"]}'], False),
        (True, ['< {"command":"emit","id":"x3","tuple":[3]}'], False),
    ],
    ids=["none came", "new ones came", "never inactive", "one came", "one of other values", "one by another id"],
)
def test_who_forgets_what_failed_while_it_was_inactive_is_told(told_off: bool, came: list[str], told: bool) -> None:
    off, on = TURNED if told_off else ("", "")
    usual = [*EMITTED, *fails(0, 1), *NEXT, *EMITTED[:2]]
    talk = [ACTIVATE, *usual, off, *fails(2, 3, 4), on, *NEXT, *came, "@ 1", *NEXT * CALLS_BEHIND]
    assert any("while it was deactivated" in note for note in run_of("\n".join(filter(None, talk)))) is told


JOBS = """
import json, os, sys
jobs, pending, failed, active = iter(range(100)), {}, [], True
def message(): return json.loads("".join(iter(sys.stdin.readline, "end\\n")))
def say(**said): print(json.dumps(said), "end", sep="\\n", flush=True)
pid_dir = message()["pidDir"]
say(pid=os.getpid())
open(f"{pid_dir}/{os.getpid()}", "w").close()
while True:
    told = message()
    command, job = told["command"], told.get("id")
    if command in ("activate", "deactivate"):
        active = command == "activate"
    if command == "activate" and "keeps" not in sys.argv:
        pending = {}
    if not active and "sleeps" in sys.argv:
        say(command="sync")
        continue
    if command == "next":
        job = failed.pop(0) if failed else next(jobs)
        pending[job] = f"job {job}"
        say(command="emit", tuple=[pending[job]], id=job, need_task_ids=False)
    elif command == "ack":
        pending.pop(job, None)
    elif command == "fail" and job in pending:
        failed.append(job)
    say(command="sync")
"""
"""A spout of jobs that emits again what fails; it forgets at activate what is pending, unless it ``keeps`` that.

One that ``sleeps`` hears nothing of acks and fails while it is inactive.
"""


@pytest.mark.component
@pytest.mark.parametrize(
    ("arguments", "told"),
    [([], "forgets-at-activate"), (["keeps"], ""), (["keeps", "sleeps"], "forgets-while-inactive")],
)
def test_the_case_of_an_inactive_spout_shows_what_it_forgets(tmp_path: Path, arguments: list[str], told: str) -> None:
    command = [sys.executable, "-c", JOBS, *arguments]
    result = run(command, "spout", tmp_path, include=("spout.id.again", "spout.reactivate"), exhaustive=False)
    assert [subject.verdict for subject in result.subjects] == ["pass", "pass"]
    notes = {"forgets-at-activate": "does `activate` empty", "forgets-while-inactive": "while it was deactivated"}
    assert [id_ for id_, words in notes.items() if any(words in note for note in result.notes)] == [told] * bool(told)


@pytest.mark.parametrize(("back", "told"), [(False, True), (True, False)])
def test_a_spout_that_never_emits_its_first_tuple_again_is_told(back: bool, told: bool) -> None:
    seen = Replays()
    for process in range(FAILED_FOR_GOOD):
        again = ["m1", *(["m0"] if back and not process else [])]
        talk = [f'< {{"command":"emit","id":"{id_}","tuple":["{id_}"]}}' for id_ in ("m0", "m1")]
        talk += [f'> {{"command":"fail","id":"{id_}"}}' for id_ in ("m0", "m1")]
        talk += [f'> {{"command":"next"}}\n< {{"command":"emit","id":"{id_}","tuple":["{id_}"]}}' for id_ in again]
        talk += ["@ 5", *['> {"command":"next"}'] * CALLS_BEHIND]
        ReplayWatch(seen).take(notation.parse("\n".join(talk)))
    notes = [each.id for each in seen.observations(SPOUT)]
    assert ("forgets-the-first" in notes) is told
