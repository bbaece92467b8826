"""The pure core of the engine: what holds for every tuple, whatever emits, acks, fails, deaths and ticks come when."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.words.messages import Emit
from multilang_cli.topology.engine.acker_task import AckerTask
from multilang_cli.topology.engine.flow import Flow
from multilang_cli.topology.engine.spout_executor import SpoutExecutor, SpoutTaskCommand
from multilang_cli.topology.engine.wiring import outgoing_of
from multilang_cli.topology.groupings import GroupingError
from multilang_cli.topology.history import Delivered, EmissionEnded, Emitted, Happening, Lost, TupleSettled
from multilang_cli.topology.tasks import lay_out
from tests.topologies.runs import ACKERS, split_count

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = load_rulebook().newest
STEPS = ("spout", "bolt", "take", "ack", "fail", "rotate", "rotate acker", "drop", "ackers")


class Core:
    """A flow of the topology split-count, driven by hand. Tasks: 1 acker, 2 and 3 count, 4 sentences, 5 and 6 split."""

    def __init__(self, ackers: int = 1, seed: int = 0, capacity: int = 100, *, limit: int = 0) -> None:
        topology = split_count(2, **{ACKERS.replace(".", "__"): ackers})
        layout = lay_out(topology, VERSION.id)
        random = Random(seed)  # noqa: S311
        self.history: list[Happening] = []
        (self.spout,) = layout.tasks_of("sentences")
        self.executor = SpoutExecutor([self.spout], limit)
        self.executor.ready.add(self.spout)
        self.flow = Flow(
            layout.components,
            outgoing_of(topology, layout, VERSION, random),
            {self.spout: self.executor},
            map(AckerTask, layout.ackers),
            random=random,
            tell=self.history.append,
            capacity=capacity,
        )
        self.flow.up |= set(layout.components)
        self.bolts = (*layout.tasks_of("split"), *layout.tasks_of("count"))
        self.splits = layout.tasks_of("split")

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.history if isinstance(each, kind)]

    def emit(self, id_: Any = 1) -> None:
        self.flow.spout_emit(self.spout, Emit(values=["a b"], id=id_))

    def work_off(self) -> None:
        """Have every bolt take and ack everything, each split emitting two words first."""
        for _ in range(3):
            for task in self.bolts:
                self.flow.take(task, 1000)
                for id_ in list(self.flow.open[task]):
                    if task in self.splits:
                        self.flow.bolt_emit(task, [Emit(values=["a"], anchors=(id_,))])
                        self.flow.bolt_emit(task, [Emit(values=["b"], anchors=(id_,))])
                    self.flow.settle(task, id_, "ack")
        self.flow.run_ackers()

    def do(self, step: str, number: int, chosen: int) -> None:
        """One of `STEPS`, with some bolt's task."""
        flow, task = self.flow, self.bolts[chosen % len(self.bolts)]
        ids = list(flow.open[task])
        match step:
            case "spout":
                self.emit(number)
            case "bolt":
                flow.bolt_emit(task, [Emit(values=["x"], anchors=tuple(ids[:2]))])
            case "take":
                flow.take(task, chosen % 5)
            case "ack" | "fail":
                flow.settle(task, ids[-1] if ids else "no such tuple", "ack" if step == "ack" else "fail")
            case "rotate":
                flow.rotate(self.executor)
            case "rotate acker":
                for each in flow.ackers:
                    flow.rotate_acker(each)
            case "drop":
                flow.drop([task])
                flow.up.add(task)
            case _:
                flow.run_ackers()


def test_a_tree_is_acked_when_its_last_leaf_is() -> None:
    core = Core()
    core.emit("m")
    core.flow.run_ackers()
    assert core.flow.waiting == 1
    core.work_off()
    assert [(each.how, each.emit) for each in core.of(EmissionEnded)] == [("acked", 1)]
    assert core.flow.waiting == 0
    assert core.flow.unsettled == 0
    assert core.executor.next_command(0.0) == SpoutTaskCommand(core.spout, "ack", "m")


def test_one_fail_fails_the_root_at_once() -> None:
    core = Core()
    core.emit({"any": "json"})
    (task,) = [task for task in core.splits if core.flow.take(task, 1)]
    (id_,) = core.flow.open[task]
    core.flow.bolt_emit(task, [Emit(values=["a"], anchors=(id_,))])
    core.flow.settle(task, id_, "fail")
    core.flow.run_ackers()
    assert [each.how for each in core.of(EmissionEnded)] == ["failed"]
    assert core.executor.next_command(0.0) == SpoutTaskCommand(core.spout, "fail", {"any": "json"})


def test_what_is_not_settled_times_out_between_one_and_two_ticks() -> None:
    core = Core()
    core.emit()
    core.flow.t = 30.0
    core.flow.rotate(core.executor)
    assert not core.of(EmissionEnded)
    core.flow.t = 60.0
    core.flow.rotate(core.executor)
    assert [(each.how, each.latency) for each in core.of(EmissionEnded)] == [("timed out", 60.0)]


def test_without_ackers_a_tuple_ends_in_its_emit() -> None:
    core = Core(ackers=0)
    core.emit()
    assert [each.how for each in core.of(EmissionEnded)] == ["acked"]
    assert core.executor.quiet  # the session itself tells the spout, inside the emit
    core.work_off()
    assert len(core.of(EmissionEnded)) == 1


def test_a_tuple_that_goes_nowhere_is_acked() -> None:
    core = Core()
    core.flow.spout_emit(core.spout, Emit(values=["a"], id=1, stream="nobody"))
    core.flow.run_ackers()
    assert [each.how for each in core.of(EmissionEnded)] == ["acked"]


def test_what_is_sent_to_the_dead_is_lost() -> None:
    core = Core()
    core.flow.drop(core.bolts)
    core.emit()
    assert [each.delivery for each in core.of(Lost)] == [each.n for each in core.of(Delivered)]
    assert core.flow.unsettled == 0


def test_emits_in_a_row_are_those_one_by_one() -> None:
    def emitted(*, together: bool) -> tuple[list[Happening], list[tuple[int, ...]], int]:
        """What is told of some emits of a bolt, where each goes, and what its anchor is worth then."""
        core = Core(seed=3)
        core.emit("m")
        core.emit("n")
        (task, *_) = [each for each in core.splits if core.flow.queues[each]]
        core.flow.take(task, 9)
        first, *_ = known = list(core.flow.open[task])
        anchors = [(first,), (first,), (), tuple(known), ("unknown", first), ("unknown",)]
        emits = [Emit(values=[f"word {number}"], anchors=each) for number, each in enumerate(anchors)]
        parts = [emits] if together else [[each] for each in emits]
        targets = [each for part in parts for each in core.flow.bolt_emit(task, part)]
        return core.history, targets, core.flow.open[task][first].ack_val

    assert emitted(together=True) == emitted(together=False)


def test_of_emits_in_a_row_those_before_one_that_storm_refuses_are_sent() -> None:
    core = Core()
    with pytest.raises(GroupingError, match="Index 0 out of bounds for length 0"):
        core.flow.bolt_emit(core.splits[0], [Emit(values=["a"]), Emit(values=[]), Emit(values=["b"])])
    assert [each.values for each in core.of(Emitted)] == ['["a"]']
    assert len(core.of(Delivered)) == 1


LETTER = "given up: m: written to letters.ndjson (message id m)"
AFTER: dict[str, Callable[[Core, int], object]] = {
    "an emit of a bolt": lambda core, task: core.flow.bolt_emit(task, [Emit(values=["x"])]),
    "an emit of a spout": lambda core, _: core.emit("other"),
    "a tick": lambda core, task: core.flow.tick(task, 1),
    "a taking": lambda core, task: core.flow.take(task, 1),
    "an ack": lambda core, task: core.flow.settle(task, next(iter(core.flow.open[task])), "ack"),
    "a heartbeat": lambda core, task: core.flow.beat(task, "sent"),
    "a dead letter": lambda core, _: core.flow.logged_by(core.spout, "sentences", LETTER, 4),
    "the ackers' work": lambda core, _: core.flow.run_ackers(),
    "a timeout": lambda core, _: core.flow.rotate(core.executor),
    "a death": lambda core, task: core.flow.drop([task]),
}


@pytest.mark.parametrize("what", AFTER)
def test_what_bolts_were_told_the_tasks_of_is_sent_before_anything_else(what: str) -> None:
    core = Core(seed=3)
    core.emit("m")
    (task,) = [each for each in core.splits if core.flow.queues[each]]
    core.flow.take(task, 1)
    (id_,) = core.flow.open[task]
    before = len(core.history)
    told = []
    for core.flow.t, word in ((1.0, "a"), (2.0, "b")):
        told.append(core.flow.bolt_answer(task, Emit(values=[word], anchors=(id_,))))
    core.flow.t = 3.0
    assert len(core.history) == before
    AFTER[what](core, task)
    sent = core.history[before : before + 4]
    assert [(each.__class__, each.t) for each in sent] == [(Emitted, 1), (Delivered, 1), (Emitted, 2), (Delivered, 2)]
    assert [(each.task,) for each in sent if isinstance(each, Delivered)] == told
    assert {each.t for each in core.history[before + 4 :]} <= {3.0}
    assert core.flow.t == 3.0


def test_queues_that_are_full_are_told_until_they_are_half_empty() -> None:
    core = Core(capacity=4)
    for number in range(8):
        core.emit(number)
    (task, *_) = sorted(core.flow.full)
    assert len(core.flow.queues[task]) >= 4
    core.flow.take(task, len(core.flow.queues[task]) - 2)
    assert task in core.flow.full
    core.flow.take(task, 1)
    assert task not in core.flow.full


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_a_small_queue_that_is_empty_is_not_full(capacity: int) -> None:
    core = Core(capacity=capacity)
    for number in range(8):
        core.emit(number)
    for task in tuple(core.flow.full):
        core.flow.take(task, 8)
    assert not core.flow.full


def test_a_tick_is_settled_like_a_tuple_and_is_nobodys() -> None:
    core = Core()
    core.flow.tick(core.bolts[0], 5)
    (message,) = core.flow.take(core.bolts[0], 1)
    assert (message.comp, message.stream, message.task, message.values) == ("__system", "__tick", -1, [5])
    core.flow.settle(core.bolts[0], message.id, "ack")
    assert core.history == []
    assert core.flow.unsettled == 0


@given(
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 50)), max_size=60), st.integers(0, 2), st.integers(0, 9)
)
@settings(deadline=None)
def test_whatever_happens_every_emission_ends_once_and_nothing_is_forgotten(
    steps: list[tuple[str, int]], ackers: int, seed: int
) -> None:
    core = Core(ackers, seed)
    flow = core.flow
    for number, (step, chosen) in enumerate(steps):
        flow.t = float(number)
        core.do(step, number, chosen)
    deliveries, settled, lost = core.of(Delivered), core.of(TupleSettled), core.of(Lost)
    ends = Counter(each.emit for each in core.of(EmissionEnded))
    assert not ends or max(ends.values()) == 1
    reliable = {each.n for each in core.of(Emitted) if each.message_id is not None}
    assert set(ends) <= reliable
    assert len(reliable) - len(ends) == flow.waiting == len(core.executor.emissions)
    # Each delivery is settled, lost, or still with somebody.
    over = Counter([each.delivery for each in settled] + [each.delivery for each in lost])
    assert not over or max(over.values()) == 1
    assert len(deliveries) - len(over) == flow.unsettled
    acked = {each.delivery for each in settled if each.how == "ack"}
    roots = {each.n: each.root for each in core.of(Emitted)}
    open_roots = {root for each in deliveries if each.n not in acked for root in each.edges}
    for each in core.of(EmissionEnded):
        if each.how == "acked" and ackers:
            assert roots[each.emit] not in open_roots


# --- the executor of a spout ------------------------------------------------------------------------------------


def ready(tasks: list[int], limit: int = 0) -> SpoutExecutor:
    executor = SpoutExecutor(tasks, limit, sleep=0.5)
    executor.ready |= set(tasks)
    executor.active = True
    return executor


def says(executor: SpoutExecutor, t: float) -> tuple[int, str] | None:
    command = executor.next_command(t)
    if command is None:
        return None
    executor.synced(t)
    return command.task, command.what


def test_activation_comes_first_then_rounds_of_next_and_a_pause_after_an_empty_one() -> None:
    executor = ready([3, 4])
    assert [says(executor, 0.0) for _ in range(4)] == [(3, "activate"), (4, "activate"), (3, "next"), (4, "next")]
    assert says(executor, 0.4) is None
    assert executor.wakes(9.0) == 0.5
    assert says(executor, 0.5) == (3, "next")
    executor.active = False
    assert [says(executor, 1.0) for _ in range(4)] == [(4, "next"), (3, "deactivate"), (4, "deactivate"), None]


def test_one_command_at_a_time() -> None:
    executor = ready([3])
    assert executor.next_command(0.0) == SpoutTaskCommand(3, "activate")
    assert executor.next_command(0.0) is None
    executor.synced(0.0)
    assert executor.next_command(0.0) == SpoutTaskCommand(3, "next")


def test_acks_come_between_rounds_even_at_the_limit_and_when_inactive() -> None:
    core = Core(limit=1)
    core.executor.active = True
    assert says(core.executor, 0.0) == (core.spout, "activate")
    assert core.executor.next_command(0.0) == SpoutTaskCommand(core.spout, "next")
    core.emit("m")
    core.executor.synced(0.0)
    assert says(core.executor, 0.0) is None
    core.work_off()
    assert says(core.executor, 0.0) == (core.spout, "ack")
    core.executor.active = False
    assert says(core.executor, 0.0) == (core.spout, "deactivate")
    assert core.executor.inactive


def test_a_round_that_emitted_is_followed_by_the_next_at_once() -> None:
    executor = ready([3])
    assert says(executor, 0.0) == (3, "activate")
    for _ in range(3):
        assert executor.next_command(0.0) == SpoutTaskCommand(3, "next")
        executor.emitted()
        executor.synced(0.0)
    assert executor.idle_since is None


@pytest.mark.parametrize("held_back", [True, False])
def test_full_queues_hold_spouts_back(held_back: bool) -> None:
    executor = ready([3])
    assert says(executor, 0.0) == (3, "activate")
    assert (executor.next_command(0.0, held_back=held_back) is None) is held_back
