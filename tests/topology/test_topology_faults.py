"""Faults: a plan is read or drawn, strikes at its delivery, is healed; and correct components lose nothing by it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.topology.faults.kinds import KINDS, MOMENTS
from multilang_cli.topology.faults.plan import FaultError, plan_faults
from multilang_cli.topology.history import Delivered, Died, EmissionEnded, Faulted, Launched, Lost, PhaseBegun
from multilang_cli.topology.tasks import lay_out
from tests.command import ROOT
from tests.topologies.runs import TIMEOUT, WORKERS, run, split_count
from tests.topologies.workloads import run_workload

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.topology.faults.plan import Fault

STORM = "2.8.3"


def planned(*wanted: str, seed: int = 0) -> tuple[Fault, ...]:
    """In split-count with two workers: 1 and 2 ackers, 3 and 4 count, 5 sentences, 6 and 7 split."""
    topology = split_count(2, **{WORKERS.replace(".", "__"): 2, "topology__acker__executors": 2})
    return plan_faults(wanted, topology, lay_out(topology, STORM), random.Random(seed))  # noqa: S311


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kill:sentences@7", {"kind": "kill", "task": 5, "at": 7, "worker": 0}),
        ("kill:6@7", {"task": 6, "worker": 1}),
        ("kill:worker-1@3", {"task": None, "worker": 1, "at": 3}),
        ("pause:spout:1.5@3", {"task": 5, "parameter": 1.5}),
        ("pause:sentences@3", {"parameter": 0.5}),
        ("restart-storm:sentences:2@3", {"parameter": 2.0}),
        ("mute:6:0.2@ack-3", {"task": 6, "parameter": 0.2, "at": 3, "moment": "ack"}),
        ("kill:acker@init-2", {"moment": "init"}),
        ("time-out:spout@emit-1", {"task": 5, "moment": "emit"}),
    ],
)
def test_a_fault_is_read(text: str, expected: dict[str, Any]) -> None:
    (fault,) = planned(text)
    assert {key: getattr(fault, key) for key in expected} == expected
    assert planned(str(fault)) == (fault,)


@pytest.mark.parametrize(
    ("target", "tasks"), [("bolt", {3, 4, 6, 7}), ("split", {6, 7}), ("acker", {1, 2}), ("__acker", {1, 2})]
)
def test_of_several_one_is_drawn(target: str, tasks: set[int]) -> None:
    found = {planned(f"kill:{target}", seed=seed)[0].task for seed in range(40)}
    assert found == tasks


def test_one_seed_is_one_plan() -> None:
    assert planned("random:20", seed=4) == planned("random:20", seed=4)
    assert planned("random:20", seed=4) != planned("random:20", seed=5)
    assert {each.kind for seed in range(20) for each in planned("random:20", seed=seed)} == set(KINDS)


def test_a_fault_strikes_while_a_short_queue_lasts() -> None:
    topology = split_count()
    short = msgspec.structs.replace(topology, conf={**topology.conf, "mlcheck.queue": ["a", "b", "c"]})
    plans = [plan_faults(["random:9", "kill:split"], short, lay_out(short, STORM), random.Random(n)) for n in range(9)]  # noqa: S311
    assert {each.at for plan in plans for each in plan} == {1, 2, 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kill", "strike what?"),
        ("kil:split", "there is no fault kil"),
        ("kill:splitt", "there is no splitt to strike; there are the components __acker, count"),
        ("kill:worker-9", "there is no worker 9; the workers: 0, 1"),
        ("pause:worker", "pause strikes bolt or spout, no worker"),
        ("late-acks:sentences", "late-acks strikes bolt, and sentences is none"),
        ("kill:split:3", "kill has no parameter"),
        ("pause:split:long", "long is not seconds"),
        ("pause:split:-1", "-1 is not seconds"),
        ("kill:split@init-1", "init is no moment of a bolt that a fault may come behind; there are got"),
        ("kill:acker@got-1", "got is no moment of an acker"),
        ("kill:worker-0@got-1", "it has none: give the number"),
        ("kill:split@x", "x is not the number of a delivery"),
        ("a:b:c:d:e", "is spelt kind:target[:parameter][@when]"),
        ("", "is spelt"),
    ],
)
def test_a_fault_that_can_not_be_is_a_sentence(text: str, words: str) -> None:
    with pytest.raises(FaultError) as caught:
        planned(text)
    assert words in str(caught.value)


def test_the_page_has_every_kind_and_moment() -> None:
    page = (ROOT / "docs" / "topology-faults.md").read_text(encoding="utf-8")
    for kind, row in KINDS.items():
        unit = {"s": "seconds, ", "times": "times, ", "": ""}[row.unit]
        usual = f"{unit}{row.usual:g}" if unit else ""
        assert f"| `{kind}` | {', '.join(row.targets)} | {usual} | {row.text} |" in page
    told = {
        name for line in page.splitlines() if line.startswith("| `") for name in line.split("|")[1].split("`")[1::2]
    }
    assert told >= set(MOMENTS)


@pytest.mark.component
@pytest.mark.parametrize("kind", KINDS)
def test_correct_components_lose_nothing_by_any_fault(tmp_path: Path, kind: str) -> None:
    row = KINDS[kind]
    short = ":0.2" if row.unit == "s" else ":2" if row.unit else ""
    target = {"acker": "acker", "spout": "queue"}.get(row.targets[0], "split")
    ran = run_workload("split-count", tmp_path, [f"{kind}:{target}{short}@9"])
    assert ran.held() == {}
    assert ran.result.verdict == "conformant"
    phases = [each.phase for each in ran.of(Faulted)]
    assert phases == (["strikes", "heals"] if row.lasts or kind == "restart-storm" else ["strikes"])
    assert [each.name for each in ran.of(PhaseBegun)] == ["run", "heal", "drain", "end"]
    struck = next(at for at, each in enumerate(ran.history) if isinstance(each, Faulted))
    assert [each.n for each in ran.history[:struck] if isinstance(each, Delivered)][-1] >= 9
    ends = {"kill": 1, "restart-storm": 2, "torn-message": 1, "garbage-line": 1, "mute": 1}
    assert len(ran.of(Died)) == ends.get(kind, 0)


@pytest.mark.component
@pytest.mark.parametrize("kind", ["torn-message", "garbage-line"])
def test_a_fault_that_needs_a_message_is_given_one(tmp_path: Path, kind: str) -> None:
    """All is said when it strikes, but for the answer to a heartbeat."""
    last = run_workload("split-count", tmp_path / "whole", []).of(Delivered)[-1].n
    ran = run_workload("split-count", tmp_path / "struck", [f"{kind}:split@{last}"])
    assert [each.phase for each in ran.of(Faulted)] == ["strikes"]
    assert len(ran.of(Died)) == 1
    assert ran.held() == {}


@pytest.mark.component
def test_a_worker_that_dies_takes_its_tasks_and_no_others(tmp_path: Path) -> None:
    ran = run_workload("split-count", tmp_path, ["kill:worker-1@9"], conf={WORKERS: 2})
    assert [(each.worker, each.task) for each in ran.of(Died)] == [(1, None)]
    assert {each.task for each in ran.of(Launched) if each.attempt == 2} == {2, 4, 6}
    assert ran.held() == {}
    assert ran.result.verdict == "conformant"


@pytest.mark.component
def test_a_fault_that_never_strikes_is_inconclusive(tmp_path: Path) -> None:
    ran = run(split_count(), tmp_path, faults=["kill:split@1000"])
    assert ran.held() == {"faults-struck": "unknown"}
    assert (ran.result.verdict, ran.result.exit_code) == ("inconclusive", 6)


@pytest.mark.component
def test_what_an_acker_forgot_times_out_and_is_replayed(tmp_path: Path) -> None:
    topology = split_count(**{TIMEOUT.replace(".", "__"): 1})
    ran = run(topology, tmp_path, faults=["kill:acker@4"])
    assert "timed out" in {each.how for each in ran.of(EmissionEnded)}
    assert not ran.of(Lost)
    assert ran.held() == {}


@pytest.mark.component
def test_restart_storms_of_one_task_come_one_after_the_other(tmp_path: Path) -> None:
    # The second forgot the first, which was never healed: the run had no end.
    ran = run_workload("slow-consumer", tmp_path, ["restart-storm:slow:2@2", "restart-storm:slow:2@3"])
    phases = [(each.plan, each.phase) for each in ran.of(Faulted)]
    assert sorted(phases) == [(0, "heals"), (0, "strikes"), (1, "heals"), (1, "strikes")]
    assert len(ran.of(Died)) == 4
    assert ran.held() == {}
