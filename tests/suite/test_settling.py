"""What is said of a bolt that settles late, little or nothing: certain where it is, and never of one that is right."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.causes.model import Cause
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.wire.context import Sample
from multilang_cli.protocol.words.events import Again, Deadline, Event, Exited, Signalled
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Message, TupleMsg
from multilang_cli.reports.formats.console import summary_of
from multilang_cli.reports.model import SubjectResult
from multilang_cli.reports.verdict import Judgement
from multilang_cli.subject.options import Component, InputSource, RunOptions, StreamDeclaration
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.runner import playing
from multilang_cli.suite.runner.case_run import CaseRun
from multilang_cli.suite.runner.learned import Learned
from multilang_cli.suite.runner.suite_run import run_suite
from multilang_cli.suite.steps import settling, stage, unsettled, values
from multilang_cli.suite.steps.equal_ones import ONCE
from multilang_cli.suite.steps.settling import (
    AT_HEARTBEATS,
    AT_THE_NEXT,
    FORGETS,
    SUBJECT,
    FedTuples,
    Proof,
    Settling,
    others_than,
    subject_of,
)
from multilang_cli.suite.verdict.replays import FULL
from tests.running import rules_of
from tests.sessions import PID

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Fact
    from multilang_cli.reports.model import RunResult

HERE = Path(__file__).parents[1]
SAMPLES: tuple[list[Any], ...] = (["a b", 1], ["c d e", 2])
PAIR = (["a b", 1], ["c d", 2])


def fed(feed: FedTuples, *said: Message | Fact) -> FedTuples:
    feed.take([Event(seq, 0.0, "in", body) for seq, body in enumerate(said)])
    return feed


def of(id_: str, *values: Any) -> TupleMsg:
    return TupleMsg("source", list(values or ("x",)), 2, "default", id_)


ONE, TWO, THREE = of("1"), of("2"), of("3")


@pytest.mark.parametrize(
    ("said", "lead", "passed_over"),
    [
        ((), 1, None),
        ((ONE, TWO), 1, None),
        ((ONE, TWO, Ack("1")), 1, None),
        ((ONE, TWO, Ack("2")), 1, "1"),
        ((ONE, TWO, Fail("2")), 1, "1"),
        ((ONE, TWO, Ack("2"), Ack("1")), 1, None),
        ((ONE, TWO, THREE, Ack("2")), 2, None),
        ((ONE, TWO, THREE, Ack("3")), 2, "1"),
        ((ONE, TWO, Signalled(15), Ack("2")), 1, None),
        ((of("1"), TupleMsg("__system", [1], -1, "__tick", "2"), Ack("2")), 1, None),
        ((of("1"), TupleMsg(None, [], -1, "__heartbeat", "2"), Ack("2")), 1, None),
    ],
)
def test_a_tuple_is_passed_over_if_later_ones_are_settled(said: Any, lead: int, passed_over: str | None) -> None:
    found = fed(FedTuples(), *said).passed_over(lead)
    assert (found and found.message.id) == passed_over


STARVED = (ONE, Deadline("settle", 5.0))
DECLARED = Component(command=("x",), samples=(["x"],))


@pytest.mark.parametrize(
    ("component", "said", "verdict"),
    [
        (DECLARED, (ONE,), None),
        (DECLARED, STARVED, "untestable"),
        (msgspec.structs.replace(DECLARED, settles="by-limit"), STARVED, "fail"),
        (msgspec.structs.replace(DECLARED, settles="unchecked"), STARVED, None),
        (msgspec.structs.replace(DECLARED, testee="bolt"), STARVED, None),
        (DECLARED, (ONE, TWO, Ack("1"), Deadline("settle", 5.0)), None),
        (DECLARED, (ONE, TWO, Fail("1")), "warn"),
        (DECLARED, (ONE, TWO, Fail("1"), Ack("2")), None),
        (DECLARED, (of("1", "of ours"), Fail("1")), None),
        (Component(command=("x",)), (ONE, Fail("1")), None),
    ],
)
def test_a_run_as_a_whole_is_judged_by_what_it_settled(component: Component, said: Any, verdict: str | None) -> None:
    samples = [Sample(values) for values in component.samples if isinstance(values, list)]
    settling = Settling()
    settling.add(fed(FedTuples(samples), *said))
    judged = settling.judged(component)
    assert (judged and judged.verdict) == verdict


@pytest.mark.timeout(100)
def test_a_large_tuple_is_compared_with_the_samples_once() -> None:
    seen = FedTuples([Sample(["x"])])
    large = [emit("word", anchor="1") for _ in range(20_000)]
    assert fed(seen, of("1", "x" * 10_000_000), *large).emitted == len(large)
    assert not seen.arities


def test_what_is_emitted_first_to_each_stream_is_shown() -> None:
    settling = Settling()
    settling.add(fed(FedTuples(), ONE, emit(1, anchor="1"), emit(2, anchor="1"), Emit([None], stream="rejects")))
    settling.add(fed(FedTuples(), TWO, emit(3, anchor="2")))
    assert [*settling.emits.values()] == ['[1] to "default", anchored to ["x"]', '[null] to "rejects", without anchors']
    spout = Settling()
    spout.add(fed(FedTuples(), Emit(["\x1b[2Jé", "x" * 1000], id=7), Emit([2], stream="late")))
    first, late = spout.emits.values()
    assert first.endswith(' to "default", with the id 7')
    assert "\\u001b[2Jé" in first
    assert len(first) < 150
    assert late == '[2] to "late", without an id'


@pytest.mark.parametrize(
    "asked", [TupleMsg("__system", [1], -1, "__tick", "5"), TupleMsg(None, [], -1, "__heartbeat", "5")]
)
def test_a_bolt_that_is_fed_nothing_is_not_told_of_as_a_spout(asked: TupleMsg) -> None:
    settling = Settling()
    settling.add(fed(FedTuples(), asked, emit(1, anchor="5"), Emit([2], stream="late")))
    assert [*settling.emits.values()] == ['[1] to "default"', '[2] to "late", without anchors']


BEAT = TupleMsg(None, [], -1, "__heartbeat", "0")


@pytest.mark.parametrize(
    ("said", "times", "told"),
    [
        (((0.0, ONE), (0.3, BEAT), (0.31, Ack("1"))), 3, True),
        (((0.0, ONE), (0.3, BEAT), (0.31, Ack("1"))), 2, False),
        (((0.0, ONE), (0.1, Ack("1")), (0.3, BEAT)), 3, False),
        (((0.0, ONE), (0.01, BEAT), (0.02, Ack("1"))), 3, False),
        (((0.0, ONE), (1.0, BEAT), (1.5, Ack("1"))), 3, False),
        (((0.0, ONE), (0.0, TWO), (0.01, Ack("1")), (0.3, BEAT), (0.31, Ack("2"))), 3, True),
    ],
)
def test_who_settles_only_as_a_heartbeat_comes_is_told_so(said: Any, times: int, told: bool) -> None:
    settling = Settling()
    for _ in range(times):
        feed = FedTuples()
        feed.take([Event(seq, t, "in", body) for seq, (t, body) in enumerate(said)])
        settling.add(feed)
    assert (AT_HEARTBEATS in settling.observations(Component(command=("x",)))) is told


PROMPT = (0.0, ONE), (0.1, Ack("1"))
IN_A_BURST = (0.0, ONE), (0.0, TWO), (0.01, Ack("1"))
WOKEN = *IN_A_BURST, (0.3, BEAT), (0.31, Ack("2"))


@pytest.mark.parametrize(
    ("talks", "told"),
    [
        ([PROMPT, *[WOKEN] * 3], True),
        ([PROMPT, *[WOKEN] * 2], False),
        ([(*IN_A_BURST, (0.02, Ack("2"))), PROMPT, *[WOKEN] * 3], False),
        ([PROMPT, *[WOKEN] * 3, *[(*IN_A_BURST, (0.3, BEAT), (0.6, Ack("2")))] * 2], False),
    ],
)
def test_who_settles_the_rest_of_a_burst_with_the_next_message_is_told_so(talks: Any, told: bool) -> None:
    settling = Settling()
    for said in talks:
        feed = FedTuples()
        feed.take([Event(seq, t, "in", body) for seq, (t, body) in enumerate(said)])
        settling.add(feed)
    assert (AT_THE_NEXT in settling.observations(Component(command=("x",)))) is told


def emit(*values: Any, anchor: str | None = None, stream: str = "default") -> Emit:
    return Emit(list(values), stream, anchors=(anchor,) if anchor else ())


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((ONE, emit("a", 1, anchor="1"), Ack("1"), TWO, emit("a", anchor="2")), True),
        ((ONE, emit("a", 1, anchor="1"), emit("a", anchor="1", stream="other")), False),
        ((of("1", "ours"), emit("a", 1, anchor="1"), emit("a", anchor="1")), False),
        ((emit("a", 1), emit("a")), True),
    ],
)
def test_who_emits_tuples_of_two_lengths_to_a_stream_is_told_so(said: Any, told: bool) -> None:
    seen = Settling()
    seen.add(fed(FedTuples([Sample(["x"])]), *said))
    declared = {"default": StreamDeclaration(("a", "b"))}
    for streams, expected in ((None, told), (declared, False)):
        notes = [each.text for each in seen.observations(Component(command=("x",), streams=streams))]
        assert any("values to the stream 'default'" in note for note in notes) is expected


@pytest.mark.parametrize(
    ("settles", "times", "settled", "verdict"),
    [("", 200, 19, "untestable"), ("", 200, 20, None), ("", 199, 1, None), ("by-limit", 200, 1, None)],
)
def test_who_settles_next_to_nothing_says_when(settles: str, times: int, settled: int, verdict: str | None) -> None:
    feed = fed(FedTuples(), *(of(str(n)) for n in range(times)), *(Ack(str(n)) for n in range(settled)))
    feed.give_up()
    settling = Settling()
    settling.add(feed)
    judged = settling.judged(Component(command=("x",), settles=settles))
    assert (judged and judged.verdict) == verdict


@pytest.mark.parametrize(("last", "verdict"), [("KeyError: 'x'", "warn"), ("", None)])
def test_who_fails_some_samples_of_an_exception_is_warned_of(last: str, verdict: str | None) -> None:
    settling = Settling()
    settling.add(fed(FedTuples([Sample(["x"])]), ONE, TWO, Fail("1"), Ack("2")))
    cause = Cause(id="fails-a-sample", certainty="certain", headline="it fails a declared sample", last=last)
    settling.failing = SubjectResult(id="a", title="a case", verdict="pass", causes=(cause,))
    judged = settling.judged(DECLARED)
    assert (judged and judged.verdict) == verdict
    if judged is not None:
        assert judged.reason == "of 2 times that it was given a declared sample it failed 1: KeyError: 'x'"
        assert [each.headline for each in subject_of(judged, (), settling.failing).causes] == [judged.reason]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((of("1", "a b", 1), Ack("1"), of("2", "a b", 1), Fail("2")), True),
        ((of("1", "a b", 1), Ack("1"), of("2", "c d", 2), Fail("2")), False),
        ((of("1", "a b", 1), Fail("1"), of("2", "a b", 1), Fail("2"), of("3", "c d", 2), Ack("3")), False),
    ],
)
def test_a_sample_that_is_acked_and_failed_is_told(said: Any, told: bool) -> None:
    samples = [Sample(values, "source", "default") for values in PAIR]
    whole = Settling()
    whole.add(fed(FedTuples(samples), *said))
    notes = [each.text for each in whole.observations(Component(name="b", command=("b",), kind="bolt", samples=PAIR))]
    assert (
        any(note.startswith('it fails a sample that it acked before, in one conversation: ["a b",1]') for note in notes)
        is told
    )


ALIKE = tuple(of(str(number)) for number in range(5))
ONCE_ONLY = (*ALIKE, Ack("0"), *(Fail(str(number)) for number in range(1, 5)))


@pytest.mark.parametrize(
    ("conversations", "verdict"),
    [
        ([ONCE_ONLY], "warn"),
        ([ONCE_ONLY, (of("1"), Ack("1"))], "warn"),
        ([ONCE_ONLY, (of("1"), of("2"), Ack("1"), Ack("2"))], None),
        ([(*ALIKE, Ack("0"), Fail("1"), Fail("2"))], None),
        ([(*ALIKE, *(Fail(str(number)) for number in range(4)), Ack("4"))], None),
        ([(*ONCE_ONLY, of("9"), Ack("9"))], None),
        ([(of("0", "another"), Ack("0"), *ALIKE[1:], *(Fail(str(number)) for number in range(1, 5)))], None),
    ],
    ids=["once", "alone elsewhere", "twice elsewhere", "few", "failed first", "again in the end", "unequal"],
)
def test_who_takes_a_tuple_once_and_fails_each_equal_one_is_warned_of(conversations: Any, verdict: str | None) -> None:
    whole = Settling()
    for said in conversations:
        whole.add(fed(FedTuples(), *said))
    judged = whole.judged(Component(command=("b",)))
    assert (judged and judged.verdict) == verdict


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((of("1", "a b", 1), of("2", "c d", 2), emit("c d", 2, anchor="1")), True),
        ((of("1", "a b", 1), of("2", "c d", 2), emit("c d", 2, anchor="2")), False),
        ((of("1", "a b", 1), emit("c", 1, anchor="1")), False),
        ((of("1", "other", 1), emit("c d", 1, anchor="1")), False),
    ],
    ids=["another's", "its own", "of none", "for what is no sample"],
)
def test_a_value_of_another_sample_is_told(said: Any, told: bool) -> None:
    whole = Settling()
    whole.add(fed(FedTuples([Sample(values, "source", "default") for values in PAIR]), *said))
    notes = [each.text for each in whole.observations(Component(name="b", command=("b",), kind="bolt", samples=PAIR))]
    assert (
        any(note.startswith('it emits for ["a b", 1] alone a value of another sample: ["c d"') for note in notes)
        is told
    )


FIRST, *TEXTS = (
    of(str(number), f"text {word}") for number, word in enumerate(("nought", "One", "two", "three", "four"))
)
ALONE = (FIRST, emit("TEXT NOUGHT", anchor="0"), Ack("0"))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((*ALONE, *TEXTS, *(emit("text four", 9, anchor=str(number)) for number in (1, 2, 3, 4))), True),
        ((*TEXTS, *(emit("text four", 9, anchor=str(number)) for number in (1, 2, 3, 4))), False),
        ((*ALONE, *TEXTS, *(emit("text one", 9, anchor=str(number)) for number in (1, 2, 3, 4))), False),
        ((*ALONE, *TEXTS, *(emit(f"text {word}", anchor="1") for word in ("one", "two", "three", "four"))), False),
        ((*ALONE, *TEXTS, *(emit("text four", 9, anchor=str(number)) for number in (2, 3, 4))), False),
        ((*ALONE, *TEXTS, *(Emit(["text four"], anchors=(str(number), "4")) for number in (1, 2, 3))), False),
        (
            (
                *ALONE,
                *TEXTS,
                emit("text two", anchor="1"),
                emit("text three", anchor="2"),
                emit("text four", anchor="3"),
                emit("text one", anchor="4"),
            ),
            False,
        ),
    ],
    ids=[
        "the last for all",
        "never its own",
        "the first of all",
        "all for one",
        "two lost",
        "two anchors",
        "none lost",
    ],
)
def test_texts_of_later_tuples_are_told_where_several_lose_their_own(said: Any, told: bool) -> None:
    whole = Settling()
    whole.add(fed(FedTuples(), *said))
    notes = [each.text for each in whole.observations(Component(name="b", command=("b",), kind="bolt"))]
    found = next((note for note in notes if "their own for none" in note), "")
    assert ("for 3 tuples it emitted" in found and '["text four", 9] of ["text One"]' in found) is told
    assert bool(found) is told


@pytest.mark.parametrize("note", [FULL.text, AT_THE_NEXT.text, ONCE])
def test_what_may_be_meant_is_not_said_to_be_a_mistake(note: str) -> None:
    assert "unless" in note


def test_others_are_fed_between_equal_ones_in_their_order() -> None:
    samples = [Sample(["a"]), Sample(["b"]), Sample(["a"]), Sample(["c"])]
    message = TupleMsg(samples[1].component, ["b"], 2, samples[1].stream, "1")
    assert [each.values for each in others_than(message, samples)] == [["a"], ["c"], ["a"]]
    assert others_than(message, samples[1:2]) == []


@pytest.mark.parametrize(
    ("again", "rule"),
    [
        (Again("1", 20, 20, declared=True), "tuple-forgotten"),
        (Again("1", 20, 19, declared=True), "tuple-unsettled"),
        (Again("1", 200, 0, declared=True), "tuple-forgotten"),
        (Again("1", 199, 0, declared=True), "tuple-unsettled"),
        (Again("1", 200, 200, declared=False), "tuple-unsettled"),
        (Again("1", 200, 0, declared=True, earlier=True), "tuple-forgotten"),
        (Again("1", 50, 0, declared=True, earlier=True), "tuple-unsettled"),
        (Again("2", 200, 200, declared=True), "tuple-unsettled"),
    ],
)
def test_a_tuple_is_forgotten_only_if_equal_ones_show_it(again: Again, rule: str) -> None:
    judge = Conversation(example_profile("bolt", {}), load_rulebook())
    bodies: list[tuple[Any, Any]] = [("in", ONE), ("in", TWO), ("out", Ack("2"))]
    bodies.append(("control", Deadline("settle", 5.0, again=again)))
    found = judge.feed_all([Event(seq, 0.0, channel, body) for seq, (channel, body) in enumerate(bodies)])
    assert [finding.rule for finding in found] == [rule]


def play(
    file: str, name: str, record: Path, *cases: str, options: dict[str, Any] | None = None, **more: Any
) -> RunResult:
    component = Component(
        command=(sys.executable, str(HERE / file), name), kind="bolt", **{"samples": SAMPLES, **(options or {})}
    )
    return run_suite(component, RunOptions(**{"record": str(record), "include": cases, "timeout": 1.0, **more}))


def as_a_whole(result: RunResult) -> SubjectResult | None:
    return next((subject for subject in result.subjects if subject.id == SUBJECT), None)


@pytest.mark.component
@pytest.mark.parametrize(
    ("options", "code", "verdict", "words"),
    [
        ({}, 6, "untestable", 'settles = "after-N"'),
        ({"samples": ()}, 6, "untestable", "--tuple"),
        ({"settles": "by-limit"}, 1, "fail", "although settles = 'by-limit' is declared"),
        ({"settles": "after-30"}, 1, "fail", "although settles = 'after-30' is declared"),
    ],
)
def test_who_settles_nothing_never_passes(
    tmp_path: Path, options: dict[str, Any], code: int, verdict: str, words: str
) -> None:
    result = play("mutants/bolt.py", "never-ack", tmp_path, "bolt.settle", options=options)
    subject = as_a_whole(result)
    assert subject is not None
    assert (result.exit_code, subject.verdict) == (code, verdict)
    assert words in subject.reason


AND_SOME = """
hello, seen, held = shake(), [], []
while True:
    tup = message()
    if isinstance(tup, list): continue
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
        continue
    held.append(tup["id"])
    if %s:
        for id_ in held:
            say('{"command":"ack","id":"%%s"}\\nend\\n' %% id_)
            time.sleep(0.002)  # so that they are not read all at once
        held = []
    seen.append(tup["tuple"])
"""


@pytest.mark.component
@pytest.mark.parametrize(
    ("when", "options", "ends", "cause"),
    [
        ('tup["tuple"] not in seen', {}, (6, "untestable"), FORGETS),
        ('tup["tuple"] not in seen', {"samples": ()}, (6, "untestable"), FORGETS),
        ("not seen or len(held) == 90", {}, (0, None), "settles-in-batches"),
        ("not seen or len(held) == 90", {"samples": ()}, (0, None), "settles-in-batches"),
    ],
    ids=["a cache", "a cache, undeclared", "a batch behind the first", "a batch behind the first, undeclared"],
)
def test_who_settles_the_first_of_many_alone_never_passes(
    tmp_path: Path, when: str, options: dict[str, Any], ends: tuple[int, str | None], cause: str
) -> None:
    program = tmp_path / "bolt.py"
    program.write_text(PID + AND_SOME % when)
    component = Component(command=(sys.executable, str(program)), kind="bolt", **{"samples": SAMPLES[:1], **options})
    result = run_suite(component, RunOptions(record=str(tmp_path), include=("bolt.settle", "bolt.cut"), timeout=1.0))
    subject = as_a_whole(result)
    assert (result.exit_code, subject and subject.verdict) == ends
    assert {told.id for each in result.subjects for told in each.causes} == {cause}


LOSES_A_THREAD = """import json, os, queue, sys, threading
jobs, lock = queue.Queue(), threading.Lock()

def read():
    lines = []
    for line in sys.stdin:
        if line == "end\\n":
            return json.loads("".join(lines))
        lines.append(line)
    os._exit(0)

def send(message):
    with lock:
        print(json.dumps(message) + "\\nend", flush=True)

def work():
    while True:
        tup = jobs.get()
        int(tup["tuple"][0])
        send({"command": "ack", "id": tup["id"]})

open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
threading.Thread(target=work, daemon=True).start()
while True:
    tup = read()
    if tup["stream"] == "__heartbeat":
        send({"command": "sync"})
    else:
        jobs.put(tup)
"""


NAMES_ANOTHER = f"""{PID}
shake()
while tup := message():
    beat = tup["stream"] == "__heartbeat"
    say('{{"command":"sync"}}\\nend\\n' if beat else '{{"command":"ack","id":"of another"}}\\nend\\n')
"""


@pytest.mark.component
def test_whoever_ended_its_worker_is_not_waited_for_until_the_limit(tmp_path: Path) -> None:
    bolt = tmp_path / "bolt.py"
    bolt.write_text(NAMES_ANOTHER)
    component = Component(command=(sys.executable, "-I", "-S", str(bolt)), kind="bolt", samples=(["a b"],))
    result = run_suite(component, RunOptions(record=str(tmp_path / "kept"), include=("bolt.settle.once",)))
    subject = next(each for each in result.subjects if each.id == "bolt.settle.once")
    assert (subject.verdict, "ack-unknown" in rules_of(result)) == ("fail", True)
    assert subject.duration < 15


@pytest.mark.component
def test_a_bolt_whose_thread_died_fails_without_a_whole_wait(tmp_path: Path) -> None:
    program = tmp_path / "bolt.py"
    program.write_text(LOSES_A_THREAD)
    component = Component(command=(sys.executable, str(program)), kind="bolt", samples=(["7"], ["seven"]))
    result = run_suite(component, RunOptions(record=str(tmp_path / "r"), include=("bolt.settle.once",)))
    (subject,) = [each for each in result.subjects if each.findings]
    assert (rules_of(result), result.exit_code, subject.causes[0].id) == ({"tuple-forgotten"}, 1, "thread-died")
    assert not any("within 30" in each.message for each in subject.findings)


def test_what_keeps_it_from_settling_is_the_cause_of_the_run() -> None:
    known = Cause(id=FORGETS, certainty="likely", headline="it leaves tuples open", rules=("tuple-unsettled",))
    waits = msgspec.structs.replace(known, id="waits-for-unasked-ids", headline="it waits for task ids")
    cases = [
        SubjectResult(id=id_, title="a case", verdict="warn", causes=(cause,))
        for id_, cause in (("a", known), ("b", waits), ("c", known))
    ]
    never = Judgement("untestable", "it settled none of the 3 tuples that it was fed: if that is right, say so")
    assert [each.headline for each in subject_of(never, cases).causes] == ["it waits for task ids"]
    general = [cases[0], cases[2]]
    told = [each.headline for each in subject_of(never, general).causes]
    assert told == ["it settled none of the 3 tuples that it was fed"]


@pytest.mark.component
def test_a_selection_that_feeds_nothing_says_nothing_of_settling(tmp_path: Path) -> None:
    result = play("mutants/bolt.py", "never-ack", tmp_path, "bolt.heartbeat.idle", "handshake.pid-first")
    assert (result.exit_code, as_a_whole(result)) == (0, None)


@pytest.mark.component
def test_what_is_unchecked_is_called_untested_in_the_last_line(tmp_path: Path) -> None:
    result = play("mutants/bolt.py", "never-ack", tmp_path, "bolt.settle", options={"settles": "unchecked"})
    assert result.exit_code == 0
    assert "settling not tested" in summary_of(result)
    assert "settling not tested" not in summary_of(play("mutants/bolt.py", "none", tmp_path, "bolt.settle"))


LEAKS = ("leak-first", "leak-tenth", "leak-equal", "leak-value")
SOURCES = tuple(InputSource(name, samples=SAMPLES) for name in ("left", "right"))


@pytest.mark.component
@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.parametrize(
    ("options", "case", "rule"),
    [
        ({}, "bolt.settle.once", "tuple-forgotten"),
        ({"settles": "after-10"}, "stdout.clean", "tuple-forgotten"),
        ({"samples": (), "sources": SOURCES}, "bolt.settle.once", "tuple-unsettled"),
    ],
    ids=["declared", "within-a-batch", "joins"],
)
def test_a_bolt_that_forgets_tuples_fails(
    tmp_path: Path, name: str, options: dict[str, Any], case: str, rule: str
) -> None:
    result = play("mutants/bolt.py", name, tmp_path, case, options=options)
    assert (rules_of(result), result.exit_code) == ({rule}, int(rule == "tuple-forgotten"))


FORGETS_THE_NEWEST = """
shake()
held = None
while True:
    tup = message()
    if tup["stream"] == "__heartbeat":
        held = None
        say('{"command":"sync"}\\nend\\n')
    else:
        if held: say('{"command":"ack","id":"%s"}\\nend\\n' % held)
        held = tup["id"]
"""


@pytest.mark.component
@pytest.mark.parametrize(
    ("samples", "rules"), [(PAIR, {"tuple-forgotten", "tuple-unsettled"}), ((), {"tuple-unsettled"})]
)
def test_what_was_the_newest_is_forgotten_if_it_stays_open_though_equal_ones_are_settled(
    tmp_path: Path, samples: tuple[list[Any], ...], rules: set[str]
) -> None:
    program = tmp_path / "bolt.py"
    program.write_text(PID + FORGETS_THE_NEWEST)
    component = Component(command=(sys.executable, str(program)), kind="bolt", samples=samples)
    options = RunOptions(record=str(tmp_path / "r"), include=("bolt.settle.once",), timeout=1.0)
    result = run_suite(component, options)
    assert (rules_of(result), result.exit_code) == (rules, int("tuple-forgotten" in rules))


@pytest.mark.component
@pytest.mark.parametrize(("name", "most"), [("leak-equal", 200), ("leak-value", 20)])
def test_what_was_proven_once_is_not_proven_by_as_many_tuples_again(tmp_path: Path, name: str, most: int) -> None:
    result = play("mutants/bolt.py", name, tmp_path, "bolt.settle.once", "bolt.settle.ids")
    recorded = [Path(each.transcript or "").read_text("utf-8") for each in result.subjects if each.findings]
    first, second = (
        sum('"tuple"' in line and '"__heartbeat"' not in line for line in text.splitlines()) for text in recorded
    )
    assert second <= most < first


@pytest.mark.parametrize(("proof", "seconds"), [(None, 30.0), (Proof(ONE, Again("1", 200, 0)), 1.2)])
def test_who_is_proven_to_forget_is_waited_for_as_long_as_what_is_open_needs(
    proof: Proof | None, seconds: float
) -> None:
    settling = Settling()
    settling.waited_out, settling.slowest, settling.delay, settling.proof = True, 20.0, 0.2, proof
    assert settling.patience(30.0, 3) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("again", "message", "told"),
    [
        (Again("1", 200, 0), of("9"), True),
        (Again("1", 200, 0), of("9", "y"), False),
        (Again("1", 200, 0), TupleMsg("other", ["x"], 2, "default", "9"), False),
        (Again("1", 200, 40), of("9"), False),
    ],
)
def test_an_equal_tuple_stays_open_too_if_none_was_settled(again: Again, message: TupleMsg, told: bool) -> None:
    assert Proof(ONE, again).tells_of(message) is told


@pytest.mark.component
def test_a_long_run_tells_once_what_fails_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(playing, "TOLD_AFTER", 0.0)
    component = Component(
        command=(sys.executable, str(HERE / "mutants/bolt.py"), "leak-value"), kind="bolt", samples=SAMPLES
    )
    options = RunOptions(record=str(tmp_path), include=("bolt.settle.once", "bolt.settle.ids"), timeout=1.0)
    run_suite(component, options, lambda *_: None)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed so far: ")]
    assert line.startswith("failed so far: bolt.settle.once: it leaves tuples open")


@pytest.mark.component
def test_what_is_told_early_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(playing, "TOLD_AFTER", 0.0)
    program = tmp_path / "bolt.py"
    program.write_text(f"{PID}\nhello = shake()\nmessage()\nraise ValueError(hello['conf']['db.password'])\n")
    component = Component(
        command=(sys.executable, str(program)), kind="bolt", samples=(["x"],), conf={"db.password": "sesame-open-77"}
    )
    run_suite(component, RunOptions(record=str(tmp_path / "r"), include=("bolt.settle.once",)), lambda *_: None)
    said = capsys.readouterr().err
    assert "failed so far: bolt.settle.once: it dies of" in said
    assert "sesame" not in said


@pytest.mark.component
@pytest.mark.parametrize("name", ["leak-first", "leak-tenth"])
def test_what_is_forgotten_of_our_own_making_is_a_warning(tmp_path: Path, name: str) -> None:
    result = play("mutants/bolt.py", name, tmp_path, "bolt.settle.once", options={"samples": ()})
    assert (rules_of(result), result.exit_code) == ({"tuple-unsettled"}, 0)


@pytest.mark.component
@pytest.mark.parametrize("name", ["batch-of-5", "batch-by-value", "window-of-3", "joins", "on-next"])
def test_who_collects_tuples_is_told_to_say_so(tmp_path: Path, name: str) -> None:
    result = play("right/bolts.py", name, tmp_path, "bolt.emit.before-settling", options={"samples": PAIR})
    assert rules_of(result) <= {"tuple-unsettled"}
    assert result.exit_code in {0, 6}


@pytest.mark.component
@pytest.mark.parametrize(
    ("name", "told"),
    [("batch-of-5", "it settles its tuples 5 at a time"), ("batch-by-value", ""), ("window-of-3", ""), ("joins", "")],
)
def test_the_size_of_a_batch_is_told(tmp_path: Path, name: str, told: str) -> None:
    result = play("right/bolts.py", name, tmp_path, "bolt.emit.before-settling", "bolt.idle", options={"samples": PAIR})
    headlines = {cause.headline.partition(", and")[0] for each in result.subjects for cause in each.causes}
    assert {headline for headline in headlines if "at a time" in headline} == ({told} if told else set())


@pytest.mark.component
def test_who_settles_on_some_heartbeats_is_right(tmp_path: Path) -> None:
    cases = ("bolt.settle.once", "bolt.emit.before-settling")
    result = play("right/bolts.py", "on-late-heartbeat", tmp_path, *cases, timeout=20.0)
    assert (rules_of(result), result.exit_code, as_a_whole(result)) == (set(), 0, None)


@pytest.mark.component
def test_who_fails_every_sample_is_warned_of(tmp_path: Path) -> None:
    subject = as_a_whole(play("right/bolts.py", "fails-all", tmp_path, "bolt.settle"))
    assert subject is not None
    assert (subject.verdict, "every declared sample" in subject.reason) == ("warn", True)


@pytest.mark.component
@pytest.mark.parametrize(("name", "noted"), [("acks-then-emits", True), ("threads", False), ("polls", False)])
def test_who_acks_and_never_anchors_is_told_what_replay_loses(tmp_path: Path, name: str, noted: bool) -> None:
    result = play("right/bolts.py", name, tmp_path, "bolt.settle.once", timeout=20.0)
    assert result.exit_code == 0
    assert any("never anchors" in note for note in result.notes) == noted


@pytest.mark.component
def test_settling_can_be_a_known_failure(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    cases = "bolt.settle.ids tuple-unsettled, expectation\nbolt.settle.once tuple-unsettled, expectation\n"
    file.write_text(f"{cases}{SUBJECT} expectation\n", encoding="utf-8")
    options = {"settles": "by-limit", "known_failures": str(file)}
    listed = play("mutants/bolt.py", "never-ack", tmp_path, "bolt.settle", options=options)
    assert {subject.id: subject.verdict for subject in listed.subjects}[SUBJECT] == "xfail"
    assert listed.exit_code == 0
    mended = play("mutants/bolt.py", "none", tmp_path, "bolt.settle", options=options)
    assert {subject.id: subject.verdict for subject in mended.subjects}[SUBJECT] == "stale"


def test_an_emit_without_anchors_is_told_from_one_with() -> None:
    feed = fed(FedTuples(), ONE, Emit(["x"]), Emit(["x"], anchors=("1",)))
    assert (feed.emitted, feed.anchored) == (2, 1)


@pytest.mark.component
def test_who_works_slowly_is_given_as_long_for_what_it_may_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (unsettled, settling, stage):
        monkeypatch.setattr(module, "TRIAL", 0.02)
    command = (sys.executable, str(HERE / "right" / "bolts.py"), "later")
    cases = ("bolt.settle.once", "bolt.emit.unicode", "bolt.emit.unicode-c-locale", "bolt.value.integers")
    options = RunOptions(record=str(tmp_path), include=cases)
    result = run_suite(Component(command=command, kind="bolt", samples=(["a b", 1],)), options)
    assert {each.id: each.verdict for each in result.subjects} == dict.fromkeys(cases, "pass")


PIECEWISE = """
import json, os, sys
def hear():
    lines = []
    for line in iter(sys.stdin.readline, ""):
        if line == "end\\n":
            return json.loads("".join(lines))
        lines.append(line)
    sys.exit()
def say(**message):
    print(json.dumps(message), "end", sep="\\n", flush=True)
open(os.path.join(hear()["pidDir"], str(os.getpid())), "w").close()
say(pid=os.getpid())
open_ones = []
while True:
    heard = hear()
    if heard["stream"] == "__heartbeat":
        say(command="sync")
    else:
        open_ones.append([heard["id"], 7 if '"words"' in heard["tuple"][0] else 0])
    for each in open_ones:
        say(command="emit", tuple=[each[1]], anchors=[each[0]], need_task_ids=False)
        each[1] -= 1
        if each[1] < 0:
            say(command="ack", id=each[0])
    open_ones = [each for each in open_ones if each[1] >= 0]
"""


@pytest.mark.component
def test_who_does_a_piece_at_each_heartbeat_is_waited_for(tmp_path: Path) -> None:
    program = tmp_path / "bolt.py"
    program.write_text(PIECEWISE)
    options = RunOptions(record=str(tmp_path), include=("bolt.settle.once", "bolt.emit.unicode"))
    result = run_suite(Component(command=(sys.executable, str(program)), kind="bolt"), options)
    assert {each.id: each.verdict for each in result.subjects} == dict.fromkeys(options.include, "pass")


def test_what_is_given_up_early_says_nothing_of_a_whole_limit() -> None:
    seen = Settling()
    seen.waited_out, seen.slowest = True, 5.0
    assert seen.patience(31.0) == 2 * 5.0
    assert seen.patience(4.0) == 4.0


def test_the_pace_of_a_bolt_is_that_of_its_quickest_conversation() -> None:
    seen = Settling()
    for gap in (5.0, 2.0, 9.0):
        feed = FedTuples()
        said: tuple[Message | Fact, ...] = (ONE, TWO, Ack("1"), Ack("2"))
        feed.take([Event(seq, 0.0 if seq < 2 else gap * (seq - 1), "in", body) for seq, body in enumerate(said)])
        seen.add(feed)
    assert (seen.pace, seen.slowest) == (2.0, 18.0)
    seen.add(fed(FedTuples(), ONE))
    assert seen.pace == 2.0


@pytest.mark.component
@pytest.mark.parametrize(
    ("pace", "settles", "fed_in_all"), [(0.0, "", 50), (5.0, "", 3), (1.0, "", 10), (5.0, "after-2", 50)]
)
def test_a_slow_bolt_is_fed_no_more_than_tells(tmp_path: Path, pace: float, settles: str, fed_in_all: int) -> None:
    subject = Subject.of(
        Component(command=(sys.executable, str(HERE / "right" / "bolts.py"), "threads"), kind="bolt", settles=settles),
        RunOptions(record=str(tmp_path), include=("stdout.clean",)),
    )
    (case,) = (case for case in load_cases("component") if case.id == "stdout.clean")
    learned = Learned()
    learned.settling.pace = learned.settling.slowest = pace
    run = CaseRun(subject, case, learned=learned)
    run.run()
    assert run.feed.fed == fed_in_all


@pytest.mark.parametrize(("last", "noted"), [(Exited(3, None), True), (Ack("1"), False), (Signalled(15), False)])
def test_who_ends_before_it_settles_anything_is_told_what_else_was_seen(last: Message | Fact, noted: bool) -> None:
    seen = Settling()
    seen.add(fed(FedTuples(), ONE, Emit(["x"]), last, Exited(0, None)))
    notes = [each.text for each in seen.observations(Component(command=("x",), kind="bolt"))]
    assert any("none of the 1 that it was fed was settled" in note for note in notes) == noted


@pytest.mark.component
def test_one_trial_of_text_is_enough_for_a_run(tmp_path: Path) -> None:
    command = (sys.executable, str(HERE / "right" / "bolts.py"), "later")
    cases = ("bolt.emit.unicode", "bolt.emit.unicode-c-locale")
    options = RunOptions(record=str(tmp_path), include=cases, record_all=True)
    run_suite(Component(command=command, kind="bolt", samples=(["a b", 1],)), options)
    assert [(tmp_path / f"{case}.ndjson").read_text().count(f'"{values.PLAIN}"') for case in cases] == [1, 0]


@pytest.mark.component
def test_who_collects_by_value_gets_as_many_of_each_that_is_made_up(tmp_path: Path) -> None:
    command = (sys.executable, str(HERE / "right" / "bolts.py"), "batch-by-value")
    component = Component(command=command, kind="bolt", samples=(["a b", 1],), settles="after-3")
    result = run_suite(component, RunOptions(record=str(tmp_path), include=("bolt.emit.unicode",)))
    assert [(subject.id, subject.verdict) for subject in result.subjects] == [("bolt.emit.unicode", "pass")]


def test_of_many_numbers_of_values_the_lowest_are_named() -> None:
    seen = Settling()
    seen.arities["default"] = set(range(2, 70))
    (note,) = seen.observations(Component(name="s", command=("s",), kind="spout"))
    assert "of 2 and 3 and 4 and 65 more numbers of values" in note.text


def test_of_who_declares_no_sample_every_emit_tells_its_length() -> None:
    seen = Settling()
    seen.add(fed(FedTuples(), ONE, emit("a", 1, anchor="1"), emit("a", anchor="1"), Ack("1")))
    notes = [each.text for each in seen.observations(Component(command=("x",)))]
    assert any("it emits tuples of 1 and 2 values to the stream 'default'" in note for note in notes)
