"""Tuple trees: who holds what, what happened to it, and how the spout's tuple ended."""

from __future__ import annotations

from random import Random

from multilang_cli.acking.collectors import Anchored
from multilang_cli.acking.tracker import Tracker
from multilang_cli.acking.tree import Step, Task, Tree
from tests.acking.test_acking import Given

SPOUT, SPLIT, COUNT, STORE = Task("sentences", 1), Task("split", 2), Task("count", 3), Task("store", 4)
A, B, C, D = 1, 2, 4, 8
ROOT = 0x700


def seeded() -> Random:
    return Random(3)  # noqa: S311


def started(*edges: int) -> tuple[Tracker, Tree, Anchored, Given]:
    """A tracker with one tuple from the spout to `SPLIT`, of edge A."""
    source = Given(ROOT, A, *edges)
    tracker = Tracker()
    root, (tuple_,) = tracker.spout_emit(SPOUT, "m1", [SPLIT], 0.0, source)
    return tracker, tracker.trees[root], tuple_, source


def vals(tree: Tree) -> list[tuple[str, int, int, int, int]]:
    return [(step.what, step.edge, step.sent, step.acker_val, step.open_val) for step in tree.steps]


def test_the_steps_of_a_tree_with_its_ack_vals() -> None:
    tracker, tree, sentence, source = started(B, C)
    snow, white = tracker.bolt_emit([sentence], [COUNT, STORE], 1.0, source)
    assert tracker.ack(sentence, 2.0) == []
    assert tracker.ack(white, 3.0) == []
    assert [(node.edge, node.holder, node.emitted) for node in tree.open()] == [(B, COUNT, 1.0)]
    (outcome,) = tracker.ack(snow, 4.0)
    assert (outcome.kind, outcome.message_id, outcome.latency) == ("acked", "m1", 4.0)
    assert tree.outcome == outcome
    assert vals(tree) == [
        ("emit", A, 0, 0, A),
        ("init", 0, A, A, A),
        ("emit", B, 0, A, A ^ B),
        ("emit", C, 0, A, A ^ B ^ C),
        ("ack", A, A ^ B ^ C, B ^ C, B ^ C),
        ("ack", C, C, B, B),
        ("ack", B, B, 0, 0),
    ]
    assert all(step.before == "open" and not step.late for step in tree.steps)
    assert tree.open() == []


def test_the_story_of_one_bolts_tuple() -> None:
    tracker, tree, sentence, source = started(B, C, D)
    word, _ = tracker.bolt_emit([sentence], [COUNT, COUNT], 1.0, source)
    tracker.ack(sentence, 2.0)
    tracker.bolt_emit([word], [STORE], 3.0, source)
    tracker.ack(word, 4.0)
    assert [(step.what, step.edge) for step in tree.story(A)] == [("emit", A), ("emit", B), ("emit", C), ("ack", A)]
    assert [(step.what, step.edge) for step in tree.story(B)] == [("emit", B), ("emit", D), ("ack", B)]
    assert [node.edge for node in tree.children(A)] == [B, C]
    assert tree.nodes[D].anchors == (B,)


def test_a_tuple_anchored_to_several_trees_settles_all_of_them() -> None:
    tracker, source = Tracker(), seeded()
    roots = [tracker.spout_emit(SPOUT, message, [SPLIT], 0.0, source) for message in ("m1", "m2")]
    (first, (one,)), (second, (other,)) = roots
    (joined,) = tracker.bolt_emit([one, other], [STORE], 1.0, source)
    assert set(joined.edges) == {first, second}
    assert tracker.trees[first].nodes[joined.edges[first]].anchors == (one.edges[first],)
    assert [*tracker.ack(one, 2.0), *tracker.ack(other, 2.0)] == []
    assert [node.holder for root in (first, second) for node in tracker.trees[root].open()] == [STORE, STORE]
    assert {outcome.message_id for outcome in tracker.fail(joined, 3.0)} == {"m1", "m2"}


def test_a_tuple_with_two_anchors_in_one_tree_has_one_edge_there() -> None:
    tracker, tree, sentence, source = started(B, C, 16, 32)
    words = tracker.bolt_emit([sentence], [COUNT, COUNT], 1.0, source)
    tracker.ack(sentence, 1.0)
    (joined,) = tracker.bolt_emit(words, [STORE], 2.0, source)
    assert tree.nodes[16 ^ 32].anchors == (B, C)
    assert tracker.ack(words[0], 3.0) == tracker.ack(joined, 3.0) == []
    assert [outcome.kind for outcome in tracker.ack(words[1], 3.0)] == ["acked"]


def test_a_fail_ends_the_tree_at_once_and_its_siblings_go_on() -> None:
    tracker, tree, sentence, source = started(B, C)
    word, sibling = tracker.bolt_emit([sentence], [COUNT, STORE], 1.0, source)
    tracker.ack(sentence, 1.0)
    (outcome,) = tracker.fail(word, 2.0)
    assert (outcome.kind, outcome.latency) == ("failed", 2.0)
    assert tree.nodes[B].state == "failed"
    assert tracker.ack(sibling, 3.0) == []
    assert tree.steps[-1] == Step(3.0, "ack", C, C, C, B, "open", late=True)
    assert tree.outcome == outcome


def test_a_tuple_anchored_twice_to_the_same_one_hangs_below_it_once() -> None:
    tracker, tree, sentence, source = started(B, C)
    (word,) = tracker.bolt_emit([sentence, sentence], [COUNT], 1.0, source)
    assert tree.nodes[B ^ C].anchors == (A,)
    assert [*tracker.ack(sentence, 2.0), *(outcome.kind for outcome in tracker.ack(word, 3.0))] == ["acked"]


def test_an_edge_acked_twice_is_seen_and_hangs_the_tree() -> None:
    tracker, tree, sentence, source = started(B, C)
    words = tracker.bolt_emit([sentence], [COUNT, COUNT], 1.0, source)
    for tuple_ in (sentence, words[0], words[0], words[1]):
        assert tracker.ack(tuple_, 2.0) == []
    assert [step.before for step in tree.steps[-4:]] == ["open", "open", "acked", "open"]
    assert not tree.open()
    assert (tree.steps[-1].acker_val, tree.steps[-1].open_val) == (B, 0)
    assert tracker.tick(30.0) == []
    (outcome,) = tracker.tick(60.0)
    assert (outcome.kind, tree.steps[-1].what, tree.steps[-1].acker_val) == ("timed out", "time out", B)
    assert tracker.tick(90.0) == []
    assert tracker.acker.val(tree.root) == 0


def test_settling_after_completion_is_seen_and_ends_nothing() -> None:
    tracker, tree, sentence, _ = started()
    (outcome,) = tracker.ack(sentence, 1.0)
    assert tracker.ack(sentence, 2.0) == tracker.fail(sentence, 3.0) == []
    assert tree.steps[-2:] == [
        Step(2.0, "ack", A, A, A, 0, "acked", late=True),
        Step(3.0, "fail", A, 0, A, 0, "acked", late=True),
    ]
    assert tree.outcome == outcome
    assert (tree.nodes[A].state, tree.nodes[A].settled) == ("acked", 1.0)


def test_an_emit_onto_a_settled_anchor_is_seen() -> None:
    tracker, tree, sentence, source = started(B, C)
    (word,) = tracker.bolt_emit([sentence], [COUNT], 1.0, source)
    tracker.ack(sentence, 2.0)
    tracker.bolt_emit([word, sentence], [STORE], 3.0, Given(C, D))
    assert (tree.steps[-1].what, tree.steps[-1].before) == ("emit", "acked")


def test_an_ack_after_the_timeout_is_late() -> None:
    tracker, tree, sentence, _ = started()
    assert [tracker.tick(30.0), [outcome.kind for outcome in tracker.tick(60.0)]] == [[], ["timed out"]]
    assert tracker.ack(sentence, 61.0) == []
    assert tree.steps[-1] == Step(61.0, "ack", A, A, 0, 0, "open", late=True)
    assert tree.outcome is not None
    assert tree.outcome.kind == "timed out"


def test_a_reset_keeps_acker_and_spout_waiting() -> None:
    tracker, tree, sentence, _ = started()
    tracker.tick(30.0)
    tracker.reset_timeout(sentence, 31.0)
    assert tracker.tick(60.0) == []
    assert [outcome.latency for outcome in tracker.ack(sentence, 61.0)] == [61.0]
    assert [step.what for step in tree.steps] == ["emit", "init", "reset timeout", "ack"]


def test_an_emit_to_nobody_is_acked_at_once() -> None:
    tracker = Tracker()
    root, tuples = tracker.spout_emit(SPOUT, "m1", [], 5.0, seeded())
    outcome = tracker.trees[root].outcome
    assert outcome is not None
    assert (tuples, outcome.kind, outcome.latency) == ([], "acked", 0.0)


def test_without_a_message_id_nothing_is_tracked() -> None:
    tracker = Tracker()
    assert tracker.spout_emit(SPOUT, None, [SPLIT, COUNT], 0.0, Given()) == (0, [Anchored(), Anchored()])
    assert tracker == Tracker()


def test_a_dropped_tree_is_still_acked() -> None:
    tracker, tree, sentence, source = started(B)
    del tracker.trees[tree.root]
    (word,) = tracker.bolt_emit([sentence], [COUNT], 1.0, source)
    assert tracker.ack(sentence, 2.0) == []
    assert [outcome.kind for outcome in tracker.ack(word, 3.0)] == ["acked"]
    assert [step.what for step in tree.steps] == ["emit", "init"]
