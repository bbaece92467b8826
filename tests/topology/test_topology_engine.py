"""Whole topologies, run: real processes, what became of every tuple, and of those that were to be lost."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.topology.engine.fault_actions import FaultActions
from multilang_cli.topology.history import (
    AckerTold,
    Beat,
    Delivered,
    Died,
    EmissionEnded,
    Emitted,
    Launched,
    Lost,
    PhaseBegun,
    TupleSettled,
)
from tests.topologies.runs import ACKERS, SENTENCES, TIMEOUT, WORKERS, component, run, split_count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.topology.engine.engine import Engine
    from multilang_cli.topology.model import Topology
from multilang_cli.topology.history import Happening

pytestmark = pytest.mark.component

WORDS = Counter(word for sentence in SENTENCES for word in sentence.split())


def words(values: list[str]) -> Counter[str]:
    return Counter(json.loads(each)[0] for each in values)


def test_every_sentence_is_split_counted_and_acked(tmp_path: Path) -> None:
    ran = run(split_count(2), tmp_path)
    assert ran.result.verdict == "conformant"
    assert sorted(ran.ends()) == [(1, "acked"), (2, "acked"), (3, "acked")]
    assert words(ran.values("count")) == WORDS
    ran.check_xor()
    assert [each.name for each in ran.of(PhaseBegun)] == ["run", "drain", "end"]
    assert not ran.of(Lost)


def test_a_word_keeps_its_task(tmp_path: Path) -> None:
    ran = run(split_count(3), tmp_path)
    emits = {each.n: each.values for each in ran.of(Emitted)}
    tasks = {each.task for each in ran.of(Launched) if each.component == "count"}
    at: dict[str, set[int]] = {}
    for each in ran.of(Delivered):
        if each.task in tasks:
            at.setdefault(emits[each.emit], set()).add(each.task)
    assert {len(each) for each in at.values()} == {1}
    assert len(set.union(*at.values())) > 1


def test_what_is_failed_is_told_at_once_and_replayed(tmp_path: Path) -> None:
    ran = run(split_count(fails="cow"), tmp_path)
    assert sorted(ran.ends()) == [(1, "acked"), (2, "acked"), (2, "failed"), (3, "acked")]
    assert words(ran.values("count")) == WORDS
    assert ran.result.verdict == "conformant"


def test_what_nobody_settles_times_out(tmp_path: Path) -> None:
    def first_timeout(engine: Engine) -> Callable[[Happening], object]:
        """One timeout is enough: then the run may end."""
        engine.busy.add("timeout")
        return lambda event: engine.busy.discard("timeout") if isinstance(event, EmissionEnded) else None

    ran = run(split_count(keeps="cow", **{TIMEOUT.replace(".", "__"): 1}), tmp_path, first_timeout, seconds=2.5)
    timed_out = [each for each in ran.of(EmissionEnded) if each.how == "timed out"]
    assert timed_out
    assert all(each.latency >= 1.0 for each in timed_out)
    assert {(1, "acked"), (3, "acked"), (2, "timed out")} <= set(ran.ends())


def test_what_nobody_ever_settles_is_not_replayed_for_ever(tmp_path: Path) -> None:
    ran = run(split_count(keeps="cow", **{TIMEOUT.replace(".", "__"): 1}), tmp_path, drain=0.1)
    assert [how for _, how in ran.ends()].count("timed out") > 1
    assert ran.result.notes[0].startswith("no tuple was acked in 5 s of waiting for some; split, task 4: ")
    assert ran.held()["settled-in-time"] == "fail"


def test_with_no_ackers_everything_is_acked_in_the_emit(tmp_path: Path) -> None:
    # storm.py's and our own loop answer acks inside an emit; see the rule ackers-zero for those that do not.
    ran = run(split_count(**{ACKERS.replace(".", "__"): 0}), tmp_path)
    assert sorted(ran.ends()) == [(1, "acked"), (2, "acked"), (3, "acked")]
    assert words(ran.values("count")) == WORDS
    assert not ran.of(AckerTold)
    assert all(not each.edges for each in ran.of(Delivered))


def test_without_ids_nothing_is_tracked(tmp_path: Path) -> None:
    ran = run(split_count(ids=False), tmp_path)
    assert not ran.of(EmissionEnded)
    assert words(ran.values("count")) == WORDS


def test_an_aggregation_settles_on_its_tick(tmp_path: Path) -> None:
    ran = run(split_count(topology__tick__tuple__freq__secs=1), tmp_path)
    assert sorted(ran.ends()) == [(1, "acked"), (2, "acked"), (3, "acked")]
    assert ran.result.verdict == "conformant"


def test_a_death_takes_the_whole_worker_and_it_is_started_again(tmp_path: Path) -> None:
    def kill(engine: Engine) -> Callable[[Happening], object]:
        def listen(event: Happening) -> None:
            if isinstance(event, Delivered) and event.n == 4:
                engine.soon(lambda: FaultActions(engine).kill_worker(1, "a test kills it"))

        return listen

    topology = split_count(2, **{WORKERS.replace(".", "__"): 2, TIMEOUT.replace(".", "__"): 1})
    ran = run(topology, tmp_path, kill)
    (death,) = ran.of(Died)
    assert (death.worker, death.why) == (1, "a test kills it")
    lives = Counter((each.task, each.attempt) for each in ran.of(Launched))
    mine = {each.task for each in ran.of(Launched) if each.worker == 1}
    assert set(lives) == {(task, 1) for each in ran.of(Launched) for task in [each.task]} | {(t, 2) for t in mine}
    assert set(Counter(ran.ends())) >= {(1, "acked"), (2, "acked"), (3, "acked")}
    assert words(ran.values("count")) >= WORDS
    assert ran.result.verdict == "conformant"


def test_a_component_that_dies_again_and_again_is_given_up(tmp_path: Path) -> None:
    ran = run(split_count(dies="cow"), tmp_path)
    assert ran.result.verdict == "not-conformant"
    assert ran.result.subjects[-1].verdict == "fail"
    assert "died" in ran.result.subjects[-1].reason
    assert all("code 7" in each.why for each in ran.of(Died))
    assert any("no such word" in each.stderr_tail for each in ran.result.subjects)
    assert "no such word" in (tmp_path / "stderr" / "split-4.txt").read_text()


def test_an_acker_that_dies_loses_its_records(tmp_path: Path) -> None:
    def kill(engine: Engine) -> Callable[[Happening], object]:
        todo = [lambda: FaultActions(engine).kill_acker(1, "a test kills it")]

        def listen(event: Happening) -> None:
            if isinstance(event, AckerTold) and event.what == "init" and todo:
                engine.soon(todo.pop())

        return listen

    ran = run(split_count(**{TIMEOUT.replace(".", "__"): 1}), tmp_path, kill)
    assert [each.task for each in ran.of(Died)] == [1]
    assert (1, "timed out") in ran.ends()
    assert {(1, "acked"), (2, "acked"), (3, "acked")} <= set(ran.ends())


def with_split(how: str, *arguments: str, **conf: Any) -> Topology:
    """The topology with a split that misbehaves."""
    topology = split_count(misbehaves=how, **conf)
    split = component("split", "bolt", "misbehaves.py", default=("word",))
    split = msgspec.structs.replace(split, command=(*split.command, *arguments))
    return msgspec.structs.replace(topology, components={**topology.components, "split": split})


def test_what_storm_does_not_survive_kills_the_worker_and_is_found(tmp_path: Path) -> None:
    ran = run(with_split("ack-twice"), tmp_path, restarts=0)
    (death,) = ran.of(Died)
    assert death.why == "split, task 4: ack of a tuple that is settled already"
    split = next(each for each in ran.result.subjects if each.id == "split-4")
    assert [finding.rule for finding in split.findings] == ["ack-twice"]
    assert ran.result.exit_code == 1
    # Of what a component says after that, Storm hears nothing.
    assert len(ran.of(TupleSettled)) == 1


def test_a_bolt_that_answers_no_heartbeat_is_given_up_after_storms_timeout(tmp_path: Path) -> None:
    ran = run(with_split("deaf", topology__subprocess__timeout__secs=1), tmp_path, restarts=0)
    (death,) = ran.of(Died)
    assert death.why.startswith("split, task 4: no sync of a heartbeat within 1 s")
    split = next(each for each in ran.result.subjects if each.id == "split-4")
    assert "heartbeat-unanswered" in {finding.rule for finding in split.findings}
    assert ran.held()["heartbeats-in-time"] == "fail"
    assert [each.what for each in ran.of(Beat) if each.task == 4][-1] == "missed"


@pytest.mark.parametrize(
    ("how", "words"),
    [("silent", "no pid after the handshake, and that will not change"), ("dies", "exited with code 3 before its pid")],
)
def test_a_component_without_a_first_message_is_exit_code_3(tmp_path: Path, how: str, words: str) -> None:
    ran = run(with_split(how, how), tmp_path)
    assert ran.result.exit_code == 3
    assert ran.result.notes[0].startswith("split, task 4: no complete first message: ")
    assert words in ran.result.notes[0]


def test_no_more_is_pending_than_storm_would_let(tmp_path: Path) -> None:
    topology = split_count(sentences=SENTENCES * 20, topology__max__spout__pending=2)
    ran = run(topology, tmp_path)
    pending = most = 0
    for event in ran.history:
        pending += isinstance(event, Emitted) and event.root is not None
        pending -= isinstance(event, EmissionEnded)
        most = max(most, pending)
    assert most == 2
    assert len(ran.of(EmissionEnded)) == 60


def test_a_full_queue_holds_the_spout_back_and_loses_nothing(tmp_path: Path) -> None:
    topology = split_count(sentences=SENTENCES * 30, topology__executor__receive__buffer__size=8)
    ran = run(topology, tmp_path)
    assert words(ran.values("count")) == Counter({word: 30 * times for word, times in WORDS.items()})


@pytest.mark.parametrize("storm", ["0.9.2", "0.9.7", "1.2.4", "2.5.0"])
def test_every_storm_has_its_own_conversation(tmp_path: Path, storm: str) -> None:
    ran = run(split_count(), tmp_path, storm=storm)
    assert ran.result.verdict == "conformant"
    assert ran.result.storm == storm
    assert sorted(ran.ends()) == [(1, "acked"), (2, "acked"), (3, "acked")]


def test_a_run_may_end_after_so_many_messages(tmp_path: Path) -> None:
    ran = run(split_count(sentences=SENTENCES * 1000), tmp_path, messages=5)
    assert ran.ends() == [(number, "acked") for number in range(1, 6)]


def test_a_task_that_is_killed_is_not_to_blame(tmp_path: Path) -> None:
    def kill(engine: Engine) -> Callable[[Happening], object]:
        todo = [lambda: FaultActions(engine).kill_task(4, "a test kills it")]

        def listen(event: Happening) -> None:
            if isinstance(event, Delivered) and todo:
                engine.soon(todo.pop())

        return listen

    ran = run(split_count(), tmp_path, kill)
    assert [each.why for each in ran.of(Died)] == ["split, task 4: a test kills it"]
    assert ran.result.verdict == "conformant"
    assert {1, 2, 3} <= {id_ for id_, how in ran.ends() if how == "acked"}


@pytest.mark.parametrize(
    ("script", "waits", "awaiting"),
    [("split.py", True, {"split"}), ("split.py", False, set()), ("eager_split.py", False, set())],
)
def test_it_is_known_who_waits_for_task_ids(tmp_path: Path, script: str, waits: bool, awaiting: set[str]) -> None:
    engines: list[Engine] = []
    topology = split_count(waits=waits)
    split = component("split", "bolt", script, default=("word",))
    ran = run(
        msgspec.structs.replace(topology, components={**topology.components, "split": split}), tmp_path, engines.append
    )
    assert ran.result.verdict == "conformant"
    flow = engines[0].flow
    assert {flow.components[task] for task in flow.ids_awaited} == awaiting
