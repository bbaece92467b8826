"""The checkers: silent about every history that the engine can make, and loud about each that was broken on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multilang_cli.protocol.words.messages import Emit
from multilang_cli.topology.checkers.checker import RunFacts
from multilang_cli.topology.checkers.judge import CHECKERS, HANDLERS, check
from multilang_cli.topology.checkers.losses import AtLeastOnce
from multilang_cli.topology.checkers.measures import Measures
from multilang_cli.topology.history import (
    AckerTold,
    Beat,
    DeadLettered,
    Delivered,
    Died,
    EmissionEnded,
    Emitted,
    Faulted,
    Happening,
    Lost,
    PhaseBegun,
    TupleSettled,
)
from tests.topology.test_topology_flow import STEPS, Core

if TYPE_CHECKING:
    from collections.abc import Callable

    History = list[Happening]

replace = msgspec.structs.replace
END = 100.0


def facts_of(core: Core, **more: Any) -> RunFacts:
    return RunFacts(
        **{
            "components": dict(core.flow.components),
            "workers": dict.fromkeys(core.flow.components, 0),
            "spouts": frozenset([core.spout]),
            "ackers": tuple(core.flow.ackers),
            "timeout": 1.0,
            "limits": {(core.spout,): 3},
            "silences": dict.fromkeys(core.bolts, 1.0),
            "keys": {("split", "default"): (("count", (0,)),)},
            **more,
        }
    )


def held(history: History, facts: RunFacts) -> dict[str, str]:
    return {each.id: each.verdict for each in check(history, facts) if each.verdict != "pass"}


def good() -> tuple[Core, History]:
    """Three sentences of two words each; the second fails once, and is replayed."""
    core = Core()
    core.history.append(PhaseBegun(t=0.0, name="run"))
    for number in (1, 2, 3):
        core.emit(number)
    core.flow.t = 0.5
    for task in core.splits:
        for message in core.flow.take(task, 1000):
            if core.flow.open[task][message.id].emit == 2:
                core.flow.settle(task, message.id, "fail")
    core.flow.run_ackers()
    core.emit(2)
    core.work_off()
    return core, [*core.history, PhaseBegun(t=10.0, name="drain"), PhaseBegun(t=END, name="end")]


def test_nothing_is_wrong_with_a_good_history() -> None:
    core, history = good()
    assert held(history, facts_of(core)) == {}
    assert [each.how for each in core.of(EmissionEnded)].count("acked") == 3


def test_a_tree_with_a_tuple_delivered_again_is_done_with_the_first_copy() -> None:
    """The second has emitted by then, and acks later: the acker can't tell."""
    core = Core()
    core.history.append(PhaseBegun(t=0.0, name="run"))
    core.emit(1)
    (split,) = [task for task in core.splits if core.flow.queues[task]]
    core.flow.repeat(core.flow.queues[split][-1])
    core.flow.take(split, 2)
    one, two = core.flow.open[split]
    core.flow.bolt_emit(split, [Emit(values=["late"], anchors=(two,))])
    core.flow.bolt_emit(split, [Emit(values=["a"], anchors=(one,))])
    core.flow.settle(split, one, "ack")
    for task in set(core.bolts) - {split}:
        core.flow.take(task, 9)
        for id_, delivery in list(core.flow.open[task].items()):
            if delivery.message.values == ["a"]:
                core.flow.settle(task, id_, "ack")
    core.flow.run_ackers()
    assert [each.how for each in core.of(EmissionEnded)] == ["acked"]
    assert held([*core.history, PhaseBegun(t=END, name="end")], facts_of(core)) == {}


def first(history: History, kind: type[Any], **wanted: Any) -> Any:
    return next(
        each
        for each in history
        if isinstance(each, kind) and all(getattr(each, key) == value for key, value in wanted.items())
    )


def swapped(history: History, old: Happening, *new: Happening) -> History:
    at = next(at for at, each in enumerate(history) if each is old)
    return [*history[:at], *new, *history[at + 1 :]]


def ended_twice(history: History) -> History:
    end = first(history, EmissionEnded)
    return swapped(history, end, end, end)


def ended_elsewhere(history: History) -> History:
    end = first(history, EmissionEnded)
    return swapped(history, end, replace(end, task=2))


def never_ended(history: History) -> History:
    return swapped(history, first(history, EmissionEnded, how="acked"))


def a_leaf_is_open(history: History) -> History:
    leaf = [each for each in history if isinstance(each, TupleSettled)][-1]
    return swapped(history, leaf)


def a_leaf_failed(history: History) -> History:
    leaf = [each for each in history if isinstance(each, TupleSettled)][-1]
    return swapped(history, leaf, replace(leaf, how="fail"))


def another_val(history: History) -> History:
    told = first(history, AckerTold, what="ack")
    return swapped(history, told, replace(told, val=told.val ^ 1))


def told_of_nothing(history: History) -> History:
    told = first(history, AckerTold, what="init")
    return swapped(history, told, told, told)


def no_replay(history: History) -> History:
    again = [each for each in history if isinstance(each, Emitted) and each.message_id == 2][-1]
    return swapped(history, again, replace(again, message_id=7, values='["others"]'))


def lost_loose(history: History) -> History:
    return [Delivered(t=0.0, n=900, emit=900, task=2, id="x"), Lost(t=0.0, delivery=900), *history]


def failed_loose(history: History) -> History:
    return [Delivered(t=0.0, n=900, emit=900, task=2, id="x"), TupleSettled(t=0.0, delivery=900, how="fail"), *history]


def lost_with_its_spout(history: History) -> History:
    emitted = Emitted(t=9.0, n=900, task=4, stream="default", values='["z"]', message_id=9, root=5)
    at = next(at for at, each in enumerate(history) if isinstance(each, PhaseBegun) and each.name == "drain")
    return [*history[:at], emitted, Died(t=9.0, worker=0, why="killed"), *history[at:]]


def replayed_twice(history: History) -> History:
    again = [each for each in history if isinstance(each, Emitted) and each.message_id == 2][-1]
    return swapped(history, again, again, replace(again, n=900, root=None))


def another_task(history: History) -> History:
    made = [each for each in history if isinstance(each, Delivered)][-1]
    return swapped(history, made, replace(made, task=5 - made.task))


def too_early(history: History) -> History:
    end = first(history, EmissionEnded, how="failed")
    return swapped(history, end, Faulted(t=0.5, plan=0, fault="", phase="strikes"), replace(end, how="timed out"))


def late_for_no_reason(history: History) -> History:
    end = first(history, EmissionEnded, how="failed")
    return swapped(history, end, replace(end, how="timed out", latency=2.0))


def beats(*said: tuple[float, str]) -> History:
    return [Beat(t=t, task=2, what=what) for t, what in said]  # type: ignore[arg-type]


def answered_late(history: History) -> History:
    return [*beats((0.0, "sent"), (1.0, "sent"), (3.5, "answered"), (3.5, "answered")), *history]


def never_answered(history: History) -> History:
    return [*beats((0.0, "sent")), *history]


def given_up(history: History) -> History:
    return [*beats((0.0, "sent"), (1.5, "missed")), Died(t=1.5, worker=0, why="silent"), *history]


def no_message_ids(history: History) -> History:
    return [
        replace(each, message_id=None, root=None) if isinstance(each, Emitted) and not each.anchors else each
        for each in history
        if not isinstance(each, AckerTold | EmissionEnded)
    ]


def unanchored(history: History) -> History:
    child = next(each for each in history if isinstance(each, Emitted) and each.anchors)
    return swapped(history, child, replace(child, anchors=()))


def unanchored_later(history: History) -> History:
    """By a task that has acked another tuple before, and holds this one."""
    task_of = {each.n: each.task for each in history if isinstance(each, Delivered)}
    acks = [
        (at, task_of[each.delivery])
        for at, each in enumerate(history)
        if isinstance(each, TupleSettled) and each.how == "ack"
    ]
    child = next(
        each
        for now, each in enumerate(history)
        if isinstance(each, Emitted) and each.anchors and any(at < now and task == each.task for at, task in acks)
    )
    return swapped(history, child, replace(child, anchors=()))


def acked_first(history: History) -> History:
    """The last word of a sentence comes behind the sentence's ack."""
    child = [each for each in history if isinstance(each, Emitted) and each.anchors][-1]
    made = [each for each in history if isinstance(each, Delivered) and each.emit == child.n]
    ack = first(history, TupleSettled, delivery=child.anchors[0])
    rest = [each for each in history if each is not child and each not in made]
    return swapped(rest, ack, ack, replace(child, anchors=()), *made)


BROKEN: list[tuple[Callable[[History], History], str, str]] = [
    (ended_twice, "ends-once", "fail"),
    (ended_elsewhere, "ends-once", "fail"),
    (never_ended, "ends-once", "fail"),
    (a_leaf_is_open, "acked-is-done", "fail"),
    (a_leaf_failed, "acked-is-done", "fail"),
    (another_val, "same-xor", "fail"),
    (told_of_nothing, "same-xor", "fail"),
    (no_replay, "at-least-once", "fail"),
    (lost_loose, "at-least-once", "fail"),
    (failed_loose, "at-least-once", "fail"),
    (lost_with_its_spout, "at-least-once", "fail"),
    (replayed_twice, "replayed-once", "warn"),
    (another_task, "keys-keep-their-task", "fail"),
    (too_early, "no-early-expiry", "fail"),
    (late_for_no_reason, "settled-in-time", "fail"),
    (answered_late, "heartbeats-in-time", "warn"),
    (never_answered, "heartbeats-in-time", "warn"),
    (given_up, "heartbeats-in-time", "fail"),
    (unanchored, "anchored", "warn"),
    (acked_first, "acked-last", "warn"),
]


@pytest.mark.parametrize(("spoil", "id_", "verdict"), BROKEN, ids=[each[0].__name__ for each in BROKEN])
def test_what_was_broken_is_found(spoil: Callable[[History], History], id_: str, verdict: str) -> None:
    core, history = good()
    assert held(spoil(history), facts_of(core)).get(id_) == verdict


CLAIMS: list[tuple[Callable[[History], History], dict[str, Any], dict[str, str]]] = [
    (unanchored, {"guarantee": "at-least-once"}, {"anchored": "fail"}),
    (acked_first, {"guarantee": "at-least-once"}, {"anchored": "fail", "acked-last": "fail"}),
    (unanchored_later, {}, {"anchored": "warn"}),
    (acked_first, {"guarantee": "none"}, {}),
    (acked_first, {"unanchored": frozenset(["default"])}, {}),
    (unanchored, {"guarantee": "at-most-once"}, {"at-most-once": "fail"}),
    (unanchored, {"guarantee": "none"}, {}),
    (unanchored, {"unanchored": frozenset(["default"])}, {}),
    (unanchored, {"unanchored": frozenset(["split/default"])}, {}),
    (unanchored, {"unanchored": frozenset(["count/default"])}, {"anchored": "warn"}),
    (no_message_ids, {"guarantee": "at-least-once"}, {"tracked": "fail"}),
    (no_replay, {"guarantee": "at-most-once"}, {}),
    (lost_loose, {"guarantee": "none"}, {}),
]


@pytest.mark.parametrize(("spoil", "claim", "wrong"), CLAIMS)
def test_a_run_is_judged_by_the_guarantee_that_it_claims(
    spoil: Callable[[History], History], claim: dict[str, Any], wrong: dict[str, str]
) -> None:
    core, history = good()
    found = held(spoil(history), facts_of(core, **claim))
    found.pop("same-xor", None)  # the history was changed, not what the acker had been told
    assert found == wrong


def test_an_unanchored_tuple_is_told_with_its_share_and_the_first_one() -> None:
    core, history = good()
    [found] = [each for each in check(unanchored(history), facts_of(core)) if each.id == "anchored"]
    assert "1 of 6 tuples of split on stream default are unanchored" in found.reason
    assert "The first: split, task " in found.reason
    assert "mlcheck.unanchored: [default]" in found.reason
    assert f" s (emission {found.emissions[0]});" in found.reason


def test_an_ack_before_the_emit_is_told_with_its_share_and_the_first_one() -> None:
    core, history = good()
    [found] = [each for each in check(acked_first(history), facts_of(core)) if each.id == "acked-last"]
    assert "1 or more of 6 tuples of split on stream default came behind the ack" in found.reason
    assert "The first: split, task " in found.reason


def test_every_checker_but_those_of_facts_has_a_broken_history() -> None:
    assert {each.id for each in CHECKERS} == {id_ for _, id_, _ in BROKEN} | {"pending-limit", "faults-struck"}


def test_every_event_reaches_somebody() -> None:
    wanted = {name for checker in (*CHECKERS, Measures) for name in HANDLERS.values() if hasattr(checker, name)}
    assert wanted == set(HANDLERS.values())


@pytest.mark.parametrize(
    "said",
    [
        beats((0.0, "sent"), (1.0, "sent"), (1.5, "answered"), (1.5, "answered")),
        [
            *beats((0.0, "sent")),
            Faulted(t=0.5, plan=0, fault="pause:2", phase="strikes", task=2),
            *beats((9.0, "answered")),
        ],
        [*beats((0.0, "sent")), Died(t=0.5, worker=0, why="killed"), *beats((9.0, "sent"), (9.5, "answered"))],
        beats((9.0, "answered")),
    ],
    ids=["in time", "excused by a fault", "dead meanwhile", "unasked"],
)
def test_a_heartbeat_may_be_late_for_a_reason(said: History) -> None:
    core, _ = good()
    assert held(said, facts_of(core)) == {}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"limits": {(4,): 2}}, {"pending-limit": "warn"}),
        ({"faults": ("kill:split@9",)}, {"faults-struck": "unknown"}),
        ({"expected": {"count": [["a"]] * 3 + [["b"]] * 3}}, {}),
        ({"expected": {"count": [["a"]] * 4}}, {"at-least-once": "fail"}),
        ({"expected": {"count": [["c"]]}}, {"at-least-once": "fail"}),
    ],
)
def test_what_the_facts_ask_for(more: dict[str, Any], expected: dict[str, str]) -> None:
    core, history = good()
    assert held(history, facts_of(core, **more)) == expected


def test_a_run_that_was_cut_is_not_judged() -> None:
    core, history = good()
    cut = history[: history.index(first(history, EmissionEnded, how="failed")) + 1]
    assert held(cut, facts_of(core)) == {"ends-once": "unknown", "at-least-once": "unknown"}


def test_a_reason_counts_what_it_does_not_tell() -> None:
    core, history = good()
    for end in [each for each in history if isinstance(each, EmissionEnded)]:
        history = swapped(history, end, end, end)
    (once,) = [each for each in check(history, facts_of(core)) if each.id == "ends-once"]
    assert once.reason.endswith("(and 3 more)")
    assert len(once.emissions) == 4


@given(
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 50)), max_size=60), st.integers(0, 2), st.integers(0, 9)
)
@settings(deadline=None, max_examples=60)
def test_no_false_alarm_whatever_happens(steps: list[tuple[str, int]], ackers: int, seed: int) -> None:
    core = Core(ackers, seed)
    for number, (step, chosen) in enumerate(steps):
        core.flow.t = float(number)
        core.do(step, number, chosen)
    found = {each.id: each for each in check(core.history, facts_of(core, limits={})) if each.verdict != "pass"}
    # Whoever fails, loses or times out here has no source that replays, no clock, and no fault for an excuse.
    assert found.keys() <= {"ends-once", "at-least-once", "settled-in-time", "anchored", "acked-last"}
    loose = [each for each in core.of(Emitted) if each.task in core.bolts and not each.anchors]
    assert loose or not {"anchored", "acked-last"} & found.keys()
    assert "ends-once" not in found or "never ended" in found["ends-once"].reason or core.flow.waiting


def test_what_tracking_costs() -> None:
    core, history = good()
    measures = Measures(facts_of(core))
    for event in history:
        name = HANDLERS[event.__class__]
        if hasattr(measures, name):
            getattr(measures, name)(event)
    assert measures.streams == {("sentences", "default"): 4, ("split", "default"): 6}
    assert measures.availability == 0.75
    # 4 inits, a fail, 3 acks of sentences and 6 of words, and 4 answers.
    assert measures.tracking == (10, 18)


def test_a_fault_is_over_when_what_was_emitted_behind_it_is_acked() -> None:
    measures = Measures(facts_of(Core()))
    strikes = Faulted(t=2.0, plan=0, fault="kill:split@9", phase="strikes")
    ends = [EmissionEnded(t=t, emit=n, task=1, how="acked", latency=2.0) for n, t in enumerate((3.0, 5.5, 7.0), 1)]
    measures.faulted(strikes)
    measures.ended(ends[0])  # it was emitted before the fault
    assert str(*measures.recoveries) == "kill:split@9 struck at 2.000 s; no tuple that was emitted afterwards was acked"
    for end in ends[1:]:
        measures.ended(end)
    assert [each.seconds for each in measures.recoveries] == [3.5]


def test_what_a_reborn_spout_sends_again_is_no_new_message() -> None:
    """The first was completed, and not stored by its spout; with other values it is another message of the same id."""
    core = Core()

    def emission(n: int, id_: str, values: str) -> Emitted:
        return Emitted(t=0.0, n=n, task=core.spout, stream="default", values=values, message_id=id_, root=n)

    def acked(n: int) -> EmissionEnded:
        return EmissionEnded(t=0.0, emit=n, task=core.spout, how="acked", latency=0.0)

    checker = AtLeastOnce(facts_of(core))
    for event in (emission(1, "a", "[1]"), acked(1), emission(2, "a", "[1]"), acked(2)):
        checker.emitted(event) if isinstance(event, Emitted) else checker.ended(event)
    assert checker.account.sentence == "2 sent, 2 completed, 0 lost, 0 sent again"
    checker.emitted(emission(3, "b", "[2]"))
    checker.died(Died(t=1.0, worker=0, why="it was killed"))
    for event in (emission(4, "a", "[1]"), emission(5, "b", "[2]"), emission(6, "a", "[3]")):
        checker.emitted(event)
    for n in (4, 5, 6):
        checker.ended(acked(n))
    checker.finish()
    assert checker.account.sentence == (
        "4 sent, 4 completed, 0 lost, 2 sent again (1 completed before their spout died, 1 with a worker "
        "that died; the first: [1] of sentences, task 4)"
    )


@pytest.mark.parametrize("kept", [False, True])
def test_what_a_reborn_spout_sends_again_has_the_id_of_its_first_attempt(kept: bool) -> None:
    """The Kafka spout counts attempts in its ids. `kept`: the second failed too, and is in the dead letters."""
    core = Core()
    checker = AtLeastOnce(facts_of(core))
    for n, id_ in enumerate(["m:0", "m:1"] * 2, 1):
        emission = Emitted(t=n, n=n, task=core.spout, stream="default", values="[1]", message_id=id_, root=n)
        checker.emitted(emission)
        end = EmissionEnded(t=n, emit=n, task=core.spout, how="failed", latency=0.0)
        checker.ended(end if id_ == "m:0" or kept else replace(end, how="acked"))
        if id_ == "m:1":
            if kept:
                checker.dead_lettered(DeadLettered(t=n, task=core.spout, ids=(id_,)))
            checker.died(Died(t=n, worker=0, why="it was killed"))
    checker.finish()
    told = "0 completed, 0 lost, 1 in the dead letters" if kept else "1 completed, 0 lost"
    assert checker.account.sentence.startswith(f"1 sent, {told}, 3 sent again")


@pytest.mark.parametrize(
    ("limit", "later", "verdict"),
    [
        # A spout at its limit all the time until the drain can't replay.
        (2, [(2.0, 2, None), (2.0, 3, "[3]")], "unknown"),
        # It had room for longer than the idle time, without a limit or below it.
        (0, [(2.0, 2, None), (2.0, 3, "[3]")], "fail"),
        (3, [(2.0, 2, None), (2.0, 3, "[3]")], "fail"),
        (2, [(2.0, 2, None), (2.0, 3, "[3]"), (5.0, 1, None)], "fail"),
        # It sent something new long after the failure: it was asked, and preferred that.
        (2, [(2.0, 2, None), (2.0, 3, "[3]"), (4.0, 1, None), (4.0, 4, "[4]")], "fail"),
        # What it sent meanwhile was another's replay.
        (2, [(2.0, 2, None), (2.0, 3, "[3]"), (4.0, 1, "fail"), (4.0, 5, "[1]")], "unknown"),
    ],
)
def test_a_spout_at_its_limit_is_not_blamed_for_a_replay_not_made(
    limit: int, later: list[tuple[float, int, str | None]], verdict: str
) -> None:
    """Emission 2 fails at 2 s, the drain begins at 9 s. `later`: what is emitted; None: an end, "fail": failed."""
    core = Core()
    checker = AtLeastOnce(facts_of(core, limits={(core.spout,): limit} if limit else {}))

    def emit(t: float, n: int, values: str) -> None:
        checker.emitted(Emitted(t=t, n=n, task=core.spout, stream="default", values=values, message_id=values, root=n))

    emit(0.0, 1, "[1]")
    emit(0.0, 2, "[2]")
    for t, n, what in later:
        if what is None or what == "fail":
            failed = n == 2 or what
            checker.ended(EmissionEnded(t=t, emit=n, task=core.spout, how="failed" if failed else "acked", latency=t))
        else:
            emit(t, n, what)
    checker.phase(PhaseBegun(t=9.0, name="drain"))
    checker.finish()
    assert checker.holds().verdict == verdict
    told = "1 lost" if verdict == "fail" else "0 lost"
    assert told in checker.account.sentence
    assert ("1 not replayed before the run ended" in checker.account.sentence) == (verdict == "unknown")


def in_the_dead_letters(*events: str) -> tuple[str, str]:
    """What is said of message "a", 7 seconds before the drain: emit, fail, ack, kept, died."""
    core = Core()
    checker = AtLeastOnce(facts_of(core))
    emitted = 0
    for t, what in enumerate(events):
        if what == "emit":
            emitted += 1
            values, root = "[1]", emitted
            emission = Emitted(
                t=t, n=emitted, task=core.spout, stream="default", values=values, message_id="a", root=root
            )
            checker.emitted(emission)
        elif what == "kept":
            checker.dead_lettered(DeadLettered(t=t, task=core.spout, ids=("a",)))
        elif what == "died":
            checker.died(Died(t=t, worker=0, why="it was killed"))
        else:
            end = EmissionEnded(t=t, emit=emitted, task=core.spout, how="failed", latency=1.0)
            checker.ended(replace(end, how="acked") if what == "ack" else end)
    checker.phase(PhaseBegun(t=len(events) + 7.0, name="drain"))
    checker.finish()
    return checker.holds().verdict, checker.account.sentence


@pytest.mark.parametrize(
    ("events", "verdict", "told"),
    [
        ("emit fail", "fail", "1 sent, 0 completed, 1 lost, 0 sent again"),
        ("emit fail kept", "pass", "1 sent, 0 completed, 0 lost, 1 in the dead letters, 0 sent again"),
        # One tuple of a message failed, and another of them ends behind that.
        ("emit kept fail", "pass", "1 sent, 0 completed, 0 lost, 1 in the dead letters, 0 sent again"),
        ("emit kept ack", "pass", "1 sent, 1 completed, 0 lost, 0 sent again"),
        # Its spout did not store it in time, and comes back with it.
        ("emit fail kept died emit fail kept", "pass", "1 sent, 0 completed, 0 lost, 1 in the dead letters, 1 sent"),
        ("emit fail kept died emit ack", "pass", "1 sent, 1 completed, 0 lost, 1 sent again (1 given up before; "),
        ("emit fail kept emit fail", "fail", "1 sent, 0 completed, 1 lost, 1 sent again"),
    ],
)
def test_what_is_in_the_dead_letters_is_neither_lost_nor_completed(events: str, verdict: str, told: str) -> None:
    found = in_the_dead_letters(*events.split())
    assert (found[0], found[1][: len(told)]) == (verdict, told)
