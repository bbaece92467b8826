"""Two conversations held against each other: the same is the same in any order, and one change is found."""

from __future__ import annotations

import tracemalloc
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from multilang_cli.protocol.words.events import Deadline, Event, Exited, Signalled, StdinClosed
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Log, Pid, SpoutCommand, Sync, TupleMsg
from multilang_cli.protocol.words.verdicts import Finding, Level
from multilang_cli.replay.comparison import Comparison, Side, compare, end_of
from multilang_cli.replay.said import USUAL, ComparisonOptions
from multilang_cli.replay.sentences import reason_of, summary_of
from tests.talks import WORKS, Work, events_of, talk

if TYPE_CHECKING:
    from collections.abc import Callable

_LITTLE = 200_000
"""Bytes: those of the messages between two looks, and of the places of 100 tuples."""
SEEDS = st.integers(0, 2**32)


def held(then: list[Event], now: list[Event], *, spout: bool = False, **wanted: Any) -> Comparison:
    return compare(Side.of(then, ()), Side.of(now, ()), ComparisonOptions(**wanted), spout=spout, inputs=True)


@given(WORKS, SEEDS)
def test_a_conversation_is_the_same_as_itself(works: list[Work], seed: int) -> None:
    events = talk(works, seed)
    compared = held(events, events, aspects=USUAL | {"order", "logs"})
    assert compared.same
    assert compared.compared == sum(len(work.emits) + bool(work.settle) for work in works) + 1


@given(WORKS, WORKS, SEEDS, st.lists(st.integers(1, 5)), st.sampled_from([set(), {"order", "logs"}]))
def test_however_they_are_read_the_same_is_found(
    works: list[Work], others: list[Work], seed: int, sizes: list[int], more: set[str]
) -> None:
    then, now = talk(works, seed), talk([*works[:2], *others], seed)
    cut = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    spans = [then[begin:end] for begin, end in zip(cut, [*cut[1:], None], strict=True)]
    wanted = ComparisonOptions(aspects=USUAL | more)
    read, other = Side(spans, ()), Side([now[:1], now[1:]], ())
    assert compare(read, other, wanted, spout=False, inputs=True) == held(then, now, aspects=USUAL | more)


def test_what_says_the_same_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multilang_cli.replay.said.MOST_PLACES", 100)
    said = [(Event(2 * n, 0.0, "in", _fed(n)), Event(2 * n + 1, 0.0, "out", Ack(str(n)))) for n in range(5_000)]
    events = list(chain.from_iterable(said))
    spans = [events[place : place + 100] for place in range(0, len(events), 100)]
    tracemalloc.start()
    try:
        assert compare(Side(spans, ()), Side(spans, ()), ComparisonOptions(), spout=False, inputs=True).same
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < _LITTLE


@pytest.mark.parametrize("now_is_longer", [True, False])
def test_what_a_longer_one_was_told_is_not_kept(now_is_longer: bool) -> None:
    spans = [[Event(n, 0.0, "in", TupleMsg("src", ["a" * 100, n], 2, "default", "7"))] for n in range(5_000)]
    tracemalloc.start()
    try:
        lazily = ([Event(event.seq, 0.0, "in", msgspec.structs.replace(event.body))] for (event,) in spans)
        sides = Side(spans[:10], ()), Side(lazily, ())
        then, now = sides if now_is_longer else reversed(sides)
        compared = compare(then, now, ComparisonOptions(), spout=False, inputs=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    told = (10, 5000) if now_is_longer else (5000, 10)
    assert compared.input == "the component was told {} messages, and now {}".format(*told)
    assert peak < _LITTLE


def test_a_tuple_on_the_stream_of_heartbeats_is_none() -> None:
    asked, tuple_ = (TupleMsg("__system", [], task, "__heartbeat", "1") for task in (-1, 2))
    compared = held([Event(0, 0.0, "in", asked)], [Event(0, 0.0, "in", tuple_)])
    assert compared.input == (
        "message 1 to the component was a heartbeat and is a tuple [] of __system, stream __heartbeat"
    )


def test_the_places_of_older_tuples_are_known_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multilang_cli.replay.said.MOST_PLACES", 2)
    told = [Event(n, 0.0, "in", _fed(n)) for n in range(3)]
    (difference,) = held([*told, Event(3, 0.0, "out", Ack("0"))], [*told, Event(3, 0.0, "out", Fail("0"))]).differences
    assert difference.then is not None
    assert (difference.change, difference.then.about) == ("changed", ("1",))


def test_of_several_that_may_have_changed_the_oldest_has() -> None:
    then, now = [said([value], place) for place, value in enumerate("ab")], [said(["x"], 0)]
    changed, missing = held(then, now).differences
    assert (changed.change, changed.place, missing.change, missing.place) == ("changed", 0, "missing", 1)


def _fed(number: int) -> TupleMsg:
    return TupleMsg("src", [1], 2, "default", str(number))


@given(WORKS, SEEDS, SEEDS)
def test_order_and_ids_are_no_difference(works: list[Work], one: int, other: int) -> None:
    assert held(talk(works, one), talk(works, other, ids="other")).same


@given(WORKS, SEEDS, SEEDS, st.data())
def test_one_changed_value_is_found_and_named(works: list[Work], one: int, other: int, data: st.DataObject) -> None:
    places = [(t, e) for t, work in enumerate(works) for e in range(len(work.emits))]
    assume(places)
    t, e = data.draw(st.sampled_from(places))
    emits = [list(values) for values in works[t].emits]
    emits[e][0] = "another"
    changed = [*works[:t], Work(emits, works[t].settle), *works[t + 1 :]]
    (difference,) = held(talk(works, one), talk(changed, other)).differences
    assert (difference.change, difference.what) == ("changed", "value 0")
    assert difference.now is not None
    assert difference.now.message.values[0] == "another"
    assert difference.now.about == (str(t + 1),)


@given(WORKS, SEEDS, SEEDS, st.data())
def test_a_missing_and_a_new_message_are_found(works: list[Work], one: int, other: int, data: st.DataObject) -> None:
    t = data.draw(st.integers(0, len(works) - 1))
    assume(works[t].settle)
    open_ = [*works[:t], Work(works[t].emits, ""), *works[t + 1 :]]
    (missing,) = held(talk(works, one), talk(open_, other)).differences
    (new,) = held(talk(open_, other), talk(works, one)).differences
    assert (missing.change, new.change) == ("missing", "new")
    assert reason_of(missing) == f"{works[t].settle} of tuple {t + 1}: it is missing now"


CHANGES: list[tuple[Emit | Ack, Emit | Ack, str]] = [
    (Emit(["a"]), Emit(["a"], stream="more"), "stream: 'default' became 'more'"),
    (Emit(["a"]), Emit(["a"], task=4), "task: None became 4; does not ask for task ids any more"),
    (Emit(["a"], anchors=("id0",)), Emit(["a"]), "anchors: tuple 1 became none"),
    (Emit(["a"]), Emit(["a"], need_task_ids=False), "does not ask for task ids any more"),
    (Emit(["a", 1]), Emit(["a"]), "its values"),
    (Emit(["a", 1]), Emit(["a", 1.0]), "value n"),
]


@pytest.mark.parametrize(("then", "now", "what"), CHANGES)
def test_what_changed_is_said(then: Any, now: Any, what: str) -> None:
    before, after = (_with(message) for message in (then, now))
    (difference,) = held(before, after, fields={"default": ("word", "n")}).differences
    assert (difference.change, difference.what) == ("changed", what)


def _with(message: Any, way: str = "out") -> list[Event]:
    events = talk([Work([], "")])
    return events_of([(each.channel, each.body) for each in events[:-1]] + [(way, message)])


def test_an_ack_that_became_a_fail() -> None:
    (difference,) = held(talk([Work([], "ack")]), talk([Work([], "fail")])).differences
    assert reason_of(difference) == "ack of tuple 1: ack became fail"


IGNORED: list[tuple[frozenset[str], bool]] = [
    (frozenset({"at"}), True),
    (frozenset({"1"}), True),
    (frozenset({"default.at"}), True),
    (frozenset({"default.1"}), True),
    (frozenset({"word"}), False),
    (frozenset({"more.at"}), False),
]


@pytest.mark.parametrize(("ignored", "same"), IGNORED)
def test_a_value_can_be_ignored(ignored: frozenset[str], *, same: bool) -> None:
    then, now = (talk([Work([["a", at]], "ack")]) for at in (1, 2))
    assert held(then, now, ignored=ignored, fields={"default": ("word", "at")}).same is same


def test_a_key_tells_which_emit_changed() -> None:
    then = talk([Work([["a", 1], ["b", 2], ["c", 3]], "ack")])
    now = talk([Work([["c", 3], ["b", 9], ["a", 8]], "ack")])
    wanted: dict[str, Any] = {"fields": {"default": ("word", "n")}, "key": frozenset({"word"})}
    changed = held(then, now, **wanted).differences
    pairs = [(d.then.message.values, d.now.message.values) for d in changed if d.then and d.now]
    assert sorted(pairs) == [(["a", 1], ["a", 8]), (["b", 2], ["b", 9])]


def test_order_counts_if_it_is_asked_for() -> None:
    then, now = (events_of([("out", Pid(1)), *[("out", Emit([word])) for word in words]]) for words in ("ab", "ba"))
    assert held(then, now).same
    (difference,) = held(then, now, aspects=USUAL | {"order"}).differences
    assert difference.change == "order"


def test_logs_count_if_they_are_asked_for() -> None:
    then, now = _with(Log("one")), _with(Log("two"))
    assert held(then, now).same
    assert [d.what for d in held(then, now, aspects=USUAL | {"logs"}).differences] == ["its text"]


def _spout(answers: list[list[Any]]) -> list[Event]:
    said: list[tuple[str, Any]] = [("out", Pid(7))]
    for answer in answers:
        said += [("in", SpoutCommand("next")), *[("out", each) for each in answer], ("out", Sync())]
    return events_of(said)


def test_a_spout_may_emit_a_call_later() -> None:
    one = Emit(["a"], id="1")
    compared = held(_spout([[one], []]), _spout([[], [one]]), spout=True)
    assert compared.same
    assert compared.notes == ["not in answer to the same command as then, which the protocol does not fix: 1 message"]
    assert not held(_spout([[one], []]), _spout([[], []]), spout=True).same


def test_ids_of_a_spout_count_if_they_are_asked_for() -> None:
    then, now = (_spout([[Emit(["a"], id=id_)]]) for id_ in ("1", "2"))
    assert held(then, now, spout=True).same
    assert not held(then, now, spout=True, aspects=USUAL | {"ids"}).same
    without = _spout([[Emit(["a"])]])
    assert [d.what for d in held(then, without, spout=True).differences] == ["has no id any more"]


def test_a_different_input_is_said() -> None:
    then, now = talk([Work([], "ack")] * 2), talk([Work([], "ack")])
    compared = held(then, now)
    assert compared.input == "message 2 to the component was a tuple [1] of source, stream default and is a heartbeat"
    assert not compared.same
    assert "they were told different things" in summary_of(compared)


def test_nobody_is_said_to_have_been_ended_where_that_is_not_recorded() -> None:
    whole = talk([Work([["a"]], "ack")])
    died = Event(len(whole), 9.0, "process", Exited(code=1))
    cut = [event for event in whole if event.channel in {"in", "out"}]
    ended = Event(len(whole), 9.0, "process", Signalled(15))
    told = [summary_of(held(then, [*cut, died])).rpartition("then ")[2] for then in (cut, [*cut, ended])]
    assert told == [
        "it lived as far as is recorded, now exit code 1",
        "it lived until it was ended, now exit code 1",
    ]


def test_what_comes_after_the_end_of_a_recording_is_no_difference() -> None:
    whole = talk([Work([["a"]], "ack")])
    cut = [*whole[:-3], msgspec.structs.replace(whole[-1], t=whole[-4].t + 0.01)]
    compared = compare(Side.of(cut, ()), Side.of(whole, ()), ComparisonOptions(), spout=False)
    assert compared.same
    assert compared.notes == ["after the point where the recording ends came 1 message"]
    (late,) = [event.seq for event in whole[:-1] if event not in cut and event.channel == "out"]
    found = [msgspec.structs.replace(_found(str(seq)), seq=seq) for seq in (0, late)]
    told = compare(Side.of(cut, ()), Side.of(whole, found), ComparisonOptions(), spout=False)
    assert [turned.finding for turned in told.findings] == found[:1]
    patient = [*cut[:-1], msgspec.structs.replace(whole[-1], t=whole[-4].t + 10)]
    assert not compare(Side.of(patient, ()), Side.of(whole, ()), ComparisonOptions(), spout=False).same


def _found(fingerprint: str, level: Level = "must") -> Finding:
    return Finding(rule=fingerprint, level=level, seq=1, offset=0, message="wrong", fingerprint=fingerprint)


def test_findings_that_come_and_go() -> None:
    events = talk([Work([], "ack")])
    then = Side.of(events, [_found("old"), _found("stays"), _found("stays")])
    now = Side.of(events, [_found("stays"), _found("new"), _found("harmless", "note")])
    compared = compare(then, now, ComparisonOptions(), spout=False)
    assert {(turned.change, turned.finding.rule) for turned in compared.findings} == {("new", "new"), ("gone", "old")}
    assert [finding.rule for finding in compared.lasting] == ["stays"]
    assert not compared.same
    assert summary_of(compared) == "2 messages as then; 1 finding is new; 1 finding is gone; 1 finding as then"


ENDS: list[tuple[list[Any], str]] = [
    ([], ""),
    ([Exited(code=1)], "exit code 1"),
    ([Exited(signal=11)], "killed by signal 11"),
    ([Signalled(15), Exited(signal=15)], ""),
    ([StdinClosed(), Exited(code=0)], "exit code 0 after its stdin was closed"),
    ([StdinClosed(), Signalled(15), Exited(signal=15)], "lives"),
]


AT_ONCE = [StdinClosed(), Signalled(15), Exited(signal=15)]
WAITED = [StdinClosed(), Deadline("exit-after-eof", 1.0), *AT_ONCE[1:]]
BY_ITSELF = [StdinClosed(), Exited(code=0)]


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        (AT_ONCE, BY_ITSELF, True),
        (BY_ITSELF, AT_ONCE, True),
        (AT_ONCE, AT_ONCE, True),
        (WAITED, BY_ITSELF, False),
        (AT_ONCE, [Exited(code=1)], False),
        (BY_ITSELF, [StdinClosed(), Exited(code=1)], False),
    ],
)
def test_whoever_is_killed_at_once_could_not_end_by_itself(then: list[Any], now: list[Any], *, same: bool) -> None:
    one, other = (
        Side.of([Event(n, 0.0, "process", fact) for n, fact in enumerate(facts)], []) for facts in (then, now)
    )
    assert compare(one, other, ComparisonOptions(), spout=False).same == same


@pytest.mark.parametrize(("facts", "told"), ENDS)
def test_how_a_component_ended(facts: list[Any], told: str) -> None:
    assert str(end_of([Event(n, 0.0, "process", fact) for n, fact in enumerate(facts)])) == told


HUGE = "x" * 1_000_000


def told(values: list[Any], seq: int) -> Event:
    return Event(seq, 0.0, "in", TupleMsg("s", values, 1, "default", str(seq)), b"{}", 0)


def said(values: list[Any], seq: int) -> Event:
    return Event(seq, 0.0, "out", Emit(values), b"{}", 0)


@pytest.mark.parametrize("event", [told, said])
def test_a_huge_value_is_compared_whole_and_kept_by_its_ends(event: Callable[[list[Any], int], Event]) -> None:
    one, other = ([event([f"{HUGE}{middle}{HUGE}"], 0)] for middle in "ab")
    compared = held(one, other)
    assert held(one, one).same
    assert not compared.same
    assert len(compared.input) < 1000
    assert all(len(each.then.body) < 1000 for each in compared.differences if each.then is not None)
