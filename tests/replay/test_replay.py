"""Recordings played again: the same for right components however they work, and what a planted bug changes is named."""

from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.words.messages import Emit, Handshake, Log, SpoutCommand, TaskIds
from multilang_cli.replay.recording import load
from multilang_cli.replay.said import ComparisonOptions
from multilang_cli.replay.sentences import reason_of
from multilang_cli.subject.options import Component, StreamDeclaration
from multilang_cli.transcript.write import TranscriptWriter
from tests.components import EXAMPLE_FILES, copy_examples, examples, unusual
from tests.replays import against, recorded, replayed
from tests.sessions import PID

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.replay.recording import JudgedRecording

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

MUTANTS = Path(__file__).parents[1] / "mutants"
UNUSUAL = unusual()
CASES: dict[str, tuple[str, ...]] = {
    "bolt": (
        "bolt.settle.once",
        "bolt.heartbeat.behind-backlog",
        "bolt.task-ids.late",
        "bolt.tick",
        "end.stdin-closed",
        "end.worker-gone",
    ),
    "spout": ("spout.sync.ack", "spout.sync.fail", "spout.next.nothing", "spout.task-ids.empty", "end.stdin-closed"),
}
FEWER: dict[str, tuple[str, ...]] = {
    "bolt": ("bolt.settle.once", "bolt.heartbeat.behind-backlog"),
    "spout": ("spout.sync.ack", "spout.sync.fail"),
}


def _mutant(kind: Kind, name: str) -> Component:
    return Component(
        command=(sys.executable, str(MUTANTS / f"{kind}.py"), name),
        kind=kind,
        samples=(["a b", 1], ["c d e", 2]),
        streams={"default": StreamDeclaration(("word",))},
    )


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> JudgedRecording:
    """Twenty tuples and a heartbeat, told to the bolt without a bug."""
    (recording,) = recorded(_mutant("bolt", "none"), tmp_path_factory.mktemp("right"), "bolt.settle.once")
    return recording


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Component]:
    return examples(copy_examples(tmp_path_factory.mktemp("examples")))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [name for name, _ in EXAMPLE_FILES])
def test_an_example_is_the_same_in_every_language(name: str, shipped: dict[str, Component], tmp_path: Path) -> None:
    component = shipped[name]
    for recording in recorded(component, tmp_path, *CASES[component.kind]):
        compared = against(recording, component.command)
        assert compared.same, (recording.path, [reason_of(each) for each in compared.differences])


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", UNUSUAL)
def test_a_right_component_is_the_same_however_it_works(name: str, tmp_path: Path) -> None:
    component = UNUSUAL[name]
    for recording in recorded(component, tmp_path, *FEWER[component.kind]):
        compared = against(recording, component.command)
        assert compared.same, (recording.path, [reason_of(each) for each in compared.differences], compared.findings)


HANDLES_SIGTERM = """
import signal
signal.signal(signal.SIGTERM, lambda *_: None)
from multilang_cli.component.bolt import Bolt
class Acks(Bolt):
    def process(self, tup):
        self.ack(tup)
Acks().run()
"""


def test_the_end_of_stdin_behind_a_signal_is_no_end_of_its_own(tmp_path: Path) -> None:
    component = Component(command=(sys.executable, "-c", HANDLES_SIGTERM), kind="bolt")
    [recording] = recorded(component, tmp_path, "end.sigterm")
    compared = against(recording, component.command)
    assert compared.same, [reason_of(each) for each in compared.differences]


BUGS: dict[str, tuple[str, str]] = {
    "ack-twice": ("ack-twice", "ack of tuple 1: it is new"),
    "leak-first": ("tuple-unsettled", "ack of tuple 1: it is missing now"),
    "wrong-arity": ("arity", "emit on default for tuple 1: its values"),
    "undeclared-stream": ("stream-undeclared", "emit on default for tuple 1: stream: 'default' became 'nope'"),
    "print-to-stdout": ("stdout-text", "emit on default for tuple 1: its frame: right became stdout-text"),
    "exits-after-10": ("exited", "emit on default for tuple 11: it is missing now"),
    "ignore-heartbeat": ("heartbeat-unanswered", "sync: it is missing now"),
    "drops-while-waiting": ("tuple-unsettled", "emit on default for tuple 1: asks for task ids"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_what_a_bug_changes_is_named(bug: str, right: JudgedRecording) -> None:
    rule, reason = BUGS[bug]
    compared = against(right, _mutant("bolt", bug).command)
    assert reason_of(compared.differences[0]) == reason
    assert ("new", rule) in {(turned.change, turned.finding.rule) for turned in compared.findings}


@pytest.mark.parametrize("bug", ["ack-twice", "invalid-json", "never-ack", "anchor-unknown"])
def test_a_bug_is_the_same_as_itself_and_gone_when_mended(bug: str, tmp_path: Path) -> None:
    component = msgspec.structs.replace(_mutant("bolt", bug), limits={"settle": 1.0})
    (recording,) = recorded(component, tmp_path, "bolt.settle.once")
    again = against(recording, component.command)
    assert again.same
    assert again.lasting
    mended = against(recording, _mutant("bolt", "none").command)
    assert {turned.change for turned in mended.findings} == {"gone"}
    assert not mended.same


def test_a_worker_dies_again_with_the_same_work_unread(tmp_path: Path) -> None:
    component = msgspec.structs.replace(_mutant("bolt", "retries-writes"), limits={"exit-after-eof": 1.0})
    (recording,) = recorded(component, tmp_path, "end.worker-gone")
    again = against(recording, component.command)
    assert (again.same, [finding.rule for finding in again.lasting]) == (True, ["outlives-worker"])
    mended = against(recording, _mutant("bolt", "none").command)
    assert [(turned.change, turned.finding.rule) for turned in mended.findings] == [("gone", "outlives-worker")]


def test_the_same_bytes_are_sent(right: JudgedRecording) -> None:
    now = replayed(right, _mutant("bolt", "none").command)
    then_sent, now_sent = ([e for e in events if e.channel == "in"] for events in (right.events, now.events))
    assert [event.raw for event in then_sent[1:]] == [event.raw for event in now_sent[1:]]
    shakes = [wire.decode(sent[0].raw[:-5]) for sent in (then_sent, now_sent)]
    confs = [shake.conf for shake in shakes if isinstance(shake, Handshake)]
    assert confs[0] == confs[1]
    assert len({shake.pid_dir for shake in shakes if isinstance(shake, Handshake)}) == 2


def _component(tmp_path: Path, code: str, name: str = "component.py") -> tuple[str, ...]:
    script = tmp_path / name
    script.write_text(PID + code)
    return (sys.executable, "-I", "-S", str(script))


# Its ids are of this start alone.
SPOUT = """
shake()
number = 0
while True:
    command = message()
    if isinstance(command, list): continue
    me = "%d-" % os.getpid()
    if command["command"] == "next":
        number += 1
        id = "%s%d" % (me, number)
        say('{"command":"emit","id":"%s","tuple":["word %d"],"need_task_ids":false}\\nend\\n' % (id, number))
    elif command["command"] in ("ack", "fail"):
        say('{"command":"log","msg":"%s"}\\nend\\n' % command["id"].startswith(me))
    say('{"command":"sync"}\\nend\\n')
"""


def test_a_spout_is_acked_by_the_ids_of_now(tmp_path: Path) -> None:
    component = Component(command=_component(tmp_path, SPOUT), kind="spout")
    (recording,) = recorded(component, tmp_path / "rec", "spout.sync.ack")
    compared = against(recording, component.command, ComparisonOptions(aspects=ComparisonOptions().aspects | {"logs"}))
    assert compared.same
    now = replayed(recording, component.command)
    acks = [event.body for event in now.events if isinstance(event.body, SpoutCommand) and event.body.command == "ack"]
    emitted = [event.body.id for event in now.events if isinstance(event.body, Emit)]
    assert acks
    assert {ack.id for ack in acks} <= set(emitted)


# Asks for the task ids of each of its emits in turn, and says them.
ASKING = """
shake()
later = []
def tasks():
    while not isinstance(got := message(), list): later.append(got)
    return got
def emit(text, more=""):
    say('{"command":"emit","anchors":["%s"],"tuple":["%s"]%s}\\nend\\n' % (tup["id"], text, more))
while True:
    tup = later.pop(0) if later else message()
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
        continue
    for word in WORDS:
        emit(word)
        emit("%s to %s" % (word, tasks()), ',"need_task_ids":false')
    say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
"""


def test_task_ids_answer_the_emit_that_looks_alike(tmp_path: Path) -> None:
    streams = {"default": StreamDeclaration(("word",))}
    then = Component(command=_component(tmp_path, "WORDS = 'abc'\n" + ASKING), streams=streams)
    (recording,) = recorded(then, tmp_path / "rec", "bolt.settle.once")
    assert len({event.raw for event in recording.events if isinstance(event.body, TaskIds)}) > 1
    compared = against(recording, _component(tmp_path, "WORDS = 'cab'\n" + ASKING, "other.py"))
    assert compared.same
    more = against(recording, _component(tmp_path, "WORDS = 'abcd'\n" + ASKING, "more.py"))
    assert {difference.change for difference in more.differences} == {"new"}


def test_what_was_answered_is_waited_for(tmp_path: Path) -> None:
    """A bolt that is slow now is told nothing before it has answered what was answered then."""
    code = """
import time
shake()
while True:
    tup = message()
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
    else:
        time.sleep(PACE)
        say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
"""
    fast = Component(command=_component(tmp_path, f"PACE = 0{code}"))
    slow = _component(tmp_path, f"PACE = 0.03{code}", "slow.py")
    (recording,) = recorded(fast, tmp_path / "rec", "bolt.settle.once")
    now = replayed(recording, slow)
    assert now.in_vain == 0
    order = [json.loads(event.raw[:-5]).get("command") for event in now.events if event.channel == "out"]
    assert order[-1] == "sync"
    beats = [n for n, event in enumerate(now.events) if b"__heartbeat" in event.raw]
    acks = [n for n, event in enumerate(now.events) if b'"ack"' in event.raw]
    assert max(acks) < min(beats)


def test_secrets_are_filled_in(tmp_path: Path) -> None:
    code = """
hand = message()
open(os.path.join(hand["pidDir"], str(os.getpid())), "w").close()
say('{"pid":%d}\\nend\\n' % os.getpid())
say('{"command":"log","msg":"%s"}\\nend\\n' % (hand["conf"]["db.password"] == "sesame street"))
while True: message()
"""
    command = _component(tmp_path, code)
    component = Component(command=command, conf={"db.password": "sesame street"})
    (recording,) = recorded(component, tmp_path / "rec", "handshake.pid-first")
    assert recording.redacted == ("db.password",)
    wanted = ComparisonOptions(aspects=ComparisonOptions().aspects | {"logs"})
    said = [replayed(recording, command, wanted=wanted, conf=conf).events for conf in ({}, dict(component.conf))]
    logs = [[e.body.msg for e in events if isinstance(e.body, Log)] for events in said]
    assert logs == [["False"], ["True"]]


def test_secrets_that_were_filled_in_are_not_told(tmp_path: Path) -> None:
    code = """
hand = message()
open(os.path.join(hand["pidDir"], str(os.getpid())), "w").close()
say('{"pid":%d}\\nend\\n' % os.getpid())
said = hand["conf"]["db.password"] + " and " + os.environ.get("API_TOKEN", "")
say('{"command":"log","msg":"%s"}\\nend\\n{"command":"%s"}\\nend\\n' % (said, said))
os.write(2, said.encode())
while True: message()
"""
    command, conf, env = _component(tmp_path, code), {"db.password": "sesame street"}, {"API_TOKEN": "tutti frutti"}
    component = Component(command=command, conf=conf, env=env)
    (recording,) = recorded(component, tmp_path / "rec", "handshake.pid-first")
    done = replayed(recording, command, conf=conf, settings=env)
    told = repr(done.events) + repr(done.findings) + repr(done.stderr_tail)
    assert "sesame" not in told
    assert "frutti" not in told
    assert told.count("*** and ***") > 2
    assert [finding.rule for finding in done.findings] == [finding.rule for finding in recording.findings()]


def test_it_stops_at_a_finding(right: JudgedRecording) -> None:
    done = replayed(right, _mutant("bolt", "ack-twice").command, until_finding=True)
    assert done.stopped_at is not None
    assert replayed(right, _mutant("bolt", "none").command, until_finding=True).stopped_at is None


def test_what_is_replayed_can_be_replayed(right: JudgedRecording, tmp_path: Path) -> None:
    path = tmp_path / "now.ndjson"
    command = _mutant("bolt", "none").command
    replayed(right, command, record=path)
    assert against(load(path), command).same


def test_what_stands_behind_a_gap_is_not_kept(right: JudgedRecording, tmp_path: Path) -> None:
    path = tmp_path / "damaged.ndjson"
    with TranscriptWriter(path, right.header) as writer:
        for event in right.events:
            writer.write(event)
    load(path)
    with path.open("ab") as file:
        file.write(b'{"conv":"nobody","seq":1}\n' * 50_000)
    tracemalloc.start()
    try:
        damaged = load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert damaged.events == right.events
    assert damaged.damage
    assert peak < 10_000_000


def test_a_recording_without_its_end_is_played(right: JudgedRecording, tmp_path: Path) -> None:
    path = tmp_path / "killed.ndjson"
    with TranscriptWriter(path, right.header) as writer:
        writer.take(right.events[:40])
    path.write_bytes(path.read_bytes().rpartition(b'{"conv"')[0][:-9])
    recording = load(path)
    assert recording.notes[0].startswith("the recording was not closed")
    assert against(recording, _mutant("bolt", "none").command).same
