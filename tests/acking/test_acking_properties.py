"""What holds for every tuple tree, whatever its shape and whatever the order of the messages."""

from __future__ import annotations

from functools import reduce
from operator import xor
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.acking import collectors
from multilang_cli.acking.acker import Acker
from multilang_cli.acking.collectors import Anchored
from multilang_cli.acking.tracker import Tracker
from multilang_cli.acking.tree import Task

if TYPE_CHECKING:
    from multilang_cli.acking.messages import AckerMessage, AckInit

SPOUT, BOLT = Task("spout", 1), Task("bolt", 2)

seeds = st.integers(0, 2**32)
emits = st.lists(st.tuples(st.lists(st.integers(0, 50), min_size=1, max_size=3), st.integers(0, 3)), max_size=8)
"""What bolts emit: the anchors, as places in the list of tuples so far, and how many tasks get it."""
roots_sent = st.lists(st.integers(0, 3), min_size=1, max_size=3)
"""What spouts emit: how many tasks get each of their tuples."""
deeds = st.lists(st.tuples(st.sampled_from(["spout", "emit", "ack", "fail", "tick", "reset"]), st.integers(0, 50)))


def source(seed: int) -> Random:
    return Random(seed)  # noqa: S311


def grown(seed: int, sent: list[int], made: list[tuple[list[int], int]]) -> tuple[list[AckInit], list[Anchored]]:
    """The init of every root, and every tuple of their trees, after all emits."""
    random = source(seed)
    inits, tuples = [], []
    for root, targets in enumerate(sent, start=1):
        got, init = collectors.spout_emit(root, SPOUT.id, targets, random)
        inits.append(init)
        tuples += got
    for anchors, targets in made:
        if tuples:
            tuples += collectors.bolt_emit([tuples[at % len(tuples)] for at in anchors], targets, random)
    return inits, tuples


def answers(acker: Acker, messages: list[Any]) -> list[tuple[int, str]]:
    told = [acker.execute(message, 0.0) for message in messages]
    return sorted((reply.root, reply.stream) for reply in told if reply)


@given(seeds, roots_sent, emits, st.data())
def test_messages_in_any_order_complete_every_tree_once(
    seed: int, sent: list[int], made: list[tuple[list[int], int]], data: st.DataObject
) -> None:
    inits, tuples = grown(seed, sent, made)
    messages: list[AckerMessage] = [*inits, *(message for tuple_ in tuples for message in collectors.ack(tuple_))]
    acker = Acker()
    assert answers(acker, data.draw(st.permutations(messages))) == [(init.root, "__ack_ack") for init in inits]
    assert acker == Acker()


@given(seeds, roots_sent, emits, st.data())
def test_a_tree_that_misses_any_message_never_completes(
    seed: int, sent: list[int], made: list[tuple[list[int], int]], data: st.DataObject
) -> None:
    inits, tuples = grown(seed, sent, made)
    messages: list[AckerMessage] = [*inits, *(message for tuple_ in tuples for message in collectors.ack(tuple_))]
    lost = data.draw(st.sampled_from(messages))
    messages.remove(lost)
    acker = Acker()
    completed = answers(acker, data.draw(st.permutations(messages)))
    assert completed == [(init.root, "__ack_ack") for init in inits if init.root != lost.root]
    assert acker.val(lost.root) == getattr(lost, "val", None)


@pytest.mark.long
@given(seeds, roots_sent, emits, st.data())
def test_a_failed_tuple_fails_all_its_trees_once_whatever_comes_before_and_after(
    seed: int, sent: list[int], made: list[tuple[list[int], int]], data: st.DataObject
) -> None:
    inits, tuples = grown(seed, sent, made)
    failed = data.draw(st.lists(st.integers(0, max(0, len(tuples) - 1)), min_size=1, max_size=3))
    messages: list[AckerMessage] = list(inits)
    for at, tuple_ in enumerate(tuples):
        messages += collectors.fail(tuple_) if at in failed else collectors.ack(tuple_)
    hit = {root for at, tuple_ in enumerate(tuples) if at in failed for root in tuple_.edges}
    expected = [(init.root, "__ack_fail" if init.root in hit else "__ack_ack") for init in inits]
    assert answers(Acker(), data.draw(st.permutations(messages))) == expected


class Play:
    """A tracker with the tuples that its keeper holds, played deed by deed."""

    def __init__(self, seed: int) -> None:
        self.random = source(seed)
        self.tracker = Tracker()
        self.tuples: list[Anchored] = []
        self.t = 0.0

    def do(self, deed: str, number: int) -> None:
        self.t += 1.0
        chosen = self.tuples[number % len(self.tuples)] if self.tuples else Anchored()
        targets = [BOLT] * (number % 3)
        if deed == "spout":
            self.tuples += self.tracker.spout_emit(SPOUT, {"n": number}, targets, self.t, self.random)[1]
        elif deed == "emit":
            anchors = [chosen, *self.tuples[-1:]]
            self.tuples += self.tracker.bolt_emit(anchors, targets, self.t, self.random)
        elif deed == "tick":
            self.tracker.tick(self.t)
        else:
            settle = {"ack": self.tracker.ack, "fail": self.tracker.fail, "reset": self.tracker.reset_timeout}[deed]
            settle(chosen, self.t)


@given(seeds, deeds)
def test_the_ack_val_is_the_xor_of_the_open_edges(seed: int, played: list[tuple[str, int]]) -> None:
    """And the acker's is the same, but for edges made from a tuple that is not acked yet."""
    play = Play(seed)
    for deed, number in played:
        play.do(deed, number)
        for root, tree in play.tracker.trees.items():
            unacked = [edge for edge, node in tree.nodes.items() if node.state != "acked"]
            assert tree.open_val == reduce(xor, unacked, 0)
            if tree.outcome is None and all(step.before == "open" for step in tree.steps):
                untold = [t.ack_val for t in play.tuples if t.edges.get(root) in unacked]
                assert play.tracker.acker.val(root) ^ reduce(xor, untold, 0) == tree.open_val


@given(seeds, deeds)
def test_every_tuple_of_a_spout_ends_once(seed: int, played: list[tuple[str, int]]) -> None:
    play = Play(seed)
    for deed, number in [*played, ("tick", 0), ("tick", 0)]:
        play.do(deed, number)
    assert len(play.tracker.pending.waiting) == 0
    for tree in play.tracker.trees.values():
        assert tree.outcome is not None
        assert sum(not step.late for step in tree.steps if step.what == "time out") == (
            tree.outcome.kind == "timed out"
        )
