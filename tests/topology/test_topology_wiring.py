"""Who is told what, where tuples go, and who waits for whom."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.storm.dialects import BigInteger
from multilang_cli.protocol.storm.java_hash import values_hash
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.messages import Emit
from multilang_cli.topology.ackers import acker_of, rotations
from multilang_cli.topology.engine.acker_task import AckerTask
from multilang_cli.topology.engine.flow import Flow
from multilang_cli.topology.engine.spout_executor import SLOW, SLOW_AT_MOST, SpoutExecutor
from multilang_cli.topology.engine.wiring import downstream, outgoing_of, profile_of
from multilang_cli.topology.history import Delivered, EmissionEnded, Emitted
from multilang_cli.topology.model import Grouping, Subscription
from multilang_cli.topology.tasks import lay_out
from tests.topologies.runs import ACKERS, component, run, split_count

if TYPE_CHECKING:
    from pathlib import Path

VERSION = load_rulebook().newest


def waits_for(*more: Subscription) -> dict[str, set[str]]:
    topology = split_count()
    topology = replace(topology, subscriptions=(*topology.subscriptions, *more))
    layout = lay_out(topology, VERSION.id)
    names = layout.components
    return {names[task]: {names[each] for each in tasks} for task, tasks in downstream(topology, layout).items()}


def test_bolts_wait_for_those_they_emit_to() -> None:
    assert waits_for() == {"sentences": {"split"}, "split": {"count"}, "count": set(), "__acker": set()}


def test_in_a_cycle_nobody_waits() -> None:
    back = Subscription(source="count", target="split", grouping=Grouping("SHUFFLE"))
    assert waits_for(back) == {"sentences": {"split"}, "split": set(), "count": set(), "__acker": set()}


@pytest.mark.parametrize(("ackers", "listed"), [(0, False), (1, True)])
def test_the_context_lists_ackers_only_where_there_are_any(ackers: int, listed: bool) -> None:
    topology = split_count(**{ACKERS.replace(".", "__"): ackers})
    layout = lay_out(topology, VERSION.id)
    (task,) = layout.tasks_of("split")
    shown = context.topology_context(profile_of(topology, layout, VERSION, task), VERSION)
    assert ("__acker" in shown["task->component"].values()) is listed


@pytest.mark.parametrize(("storm", "times"), [("0.9.3", 3), ("0.10.2", 1), ("2.8.3", 1)])
def test_up_to_0_9_each_task_rotates_what_its_executor_waits_for(storm: str, times: int) -> None:
    assert rotations(storm, (4, 5, 6)) == times


def flow_of(executor: SpoutExecutor, history: list[Any], **acker: Any) -> Flow:
    topology = split_count()
    layout = lay_out(topology, VERSION.id)
    random = Random(1)  # noqa: S311
    flow = Flow(
        layout.components,
        outgoing_of(topology, layout, VERSION, random),
        dict.fromkeys(executor.tasks, executor),
        [AckerTask(task, lambda: acker_of(VERSION.id, {}, **acker)) for task in layout.ackers],
        random=random,
        tell=history.append,
    )
    flow.up |= set(layout.components)
    return flow


@pytest.mark.parametrize(("times", "ends"), [(1, 0), (2, 1)])
def test_two_rotations_are_a_time_out(times: int, ends: int) -> None:
    history: list[Any] = []
    executor = SpoutExecutor((3,), rotations=times)
    flow = flow_of(executor, history)
    flow.spout_emit(3, Emit(values=["a"], id=1))
    flow.rotate(executor)
    assert [each.how for each in history if isinstance(each, EmissionEnded)] == ["timed out"] * ends


def test_a_spout_that_is_late_is_waited_for_less_often() -> None:
    executor = SpoutExecutor((3,))
    for times in range(12):
        executor.answered(1.0, at_once=False)
        assert executor.slow_until == 1.0 + min(SLOW_AT_MOST, SLOW * 2**times)
    executor.answered(2.0, at_once=True)
    assert executor.slow_until == 2.0
    executor.answered(3.0, at_once=False)
    assert executor.slow_until == 3.0 + SLOW


def test_values_that_no_encoder_takes_are_shown_too() -> None:
    history: list[Any] = []
    flow = flow_of(SpoutExecutor((3,)), history)
    deep: Any = "x"
    for _ in range(3_000):
        deep = [deep]
    flow.spout_emit(3, Emit(values=["a"], id=1))
    flow.take(4, 1)
    (anchor,) = flow.open[4]
    emits = [
        Emit(values=["b"], anchors=(anchor,)),
        Emit(values=["c", deep], anchors=(anchor,)),
        Emit(values=["\ud800"]),
        Emit(values=[BigInteger(2**70)]),
    ]
    assert len(flow.bolt_emit(4, emits)) == len(emits)
    shown = [each.values for each in history if isinstance(each, Emitted)]
    assert shown == ['["a"]', '["b"]', '["c",' + "[" * 251, '["?"]', f"[{2**70}]"]


@pytest.mark.parametrize(("late", "ends"), [("ignore", []), ("fail", ["failed"])])
def test_a_late_ack_fails_the_tuple_only_by_policy(late: str, ends: list[str]) -> None:
    history: list[Any] = []
    flow = flow_of(SpoutExecutor((3,)), history, late=late)
    flow.spout_emit(3, Emit(values=["a"], id=1))
    flow.run_ackers()
    flow.take(4, 1)
    for _ in range(3):
        flow.rotate_acker(1)
    flow.settle(4, next(iter(flow.open[4])), "ack")
    flow.run_ackers()
    assert [each.how for each in history if isinstance(each, EmissionEnded)] == ends


@pytest.mark.component
@pytest.mark.parametrize(("storm", "key"), [("2.8.3", Decimal), ("1.2.4", float)])
def test_a_long_number_goes_where_that_storm_sends_it(tmp_path: Path, storm: str, key: type) -> None:
    literal = "0.1234567890123456789012"
    spout = component("sentences", "spout", "literal_spout.py", default=("sentence",))
    topology = split_count(2, literal=literal)
    grouped = Subscription(source="sentences", target="count", grouping=Grouping("FIELDS", ("sentence",)))
    parts = {"sentences": spout, "count": topology.components["count"]}
    ran = run(replace(topology, components=parts, subscriptions=(grouped,)), tmp_path, storm=storm)
    dialect = load_rulebook(storm).version(storm).dialect
    (emitted,) = (each for each in ran.of(Emitted) if each.message_id == 1)
    (delivered,) = (each for each in ran.of(Delivered) if each.emit == emitted.n)
    assert delivered.task == (2, 3)[values_hash([key(literal)], dialect) % 2]
    assert (emitted.values == f"[{literal}]") is (key is Decimal)


@pytest.mark.component
def test_half_a_surrogate_pair_goes_on_as_a_question_mark(tmp_path: Path) -> None:
    spout = component("sentences", "spout", "literal_spout.py", default=("sentence",))
    topology = split_count(1, literal=r'"a \ud800"')
    ran = run(replace(topology, components={**topology.components, "sentences": spout}), tmp_path)
    assert ran.ends() == [(1, "acked")]
    assert ran.values("split") == ['["a ?"]']
    assert ran.values("count") == ['["a"]', '["?"]']
