"""A hang costs its whole wait once: what the later cases are worth, in the order of the suite."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.protocol.words.events import Deadline, Event, Exited, StdinClosed
from multilang_cli.protocol.words.messages import Ack, SpoutCommand, Sync, TupleMsg
from multilang_cli.protocol.words.verdicts import Finding
from multilang_cli.reports.model import SubjectResult
from multilang_cli.suite.cases.case import Case, load_cases
from multilang_cli.suite.verdict.baseline import apply, parse
from multilang_cli.suite.verdict.repeats import Hang, HangWatch, Repeats, could_only_repeat
from tests.command import mlcheck
from tests.sessions import PID

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.events import Fact
    from multilang_cli.protocol.words.messages import Message
    from multilang_cli.reports.model import Verdict

CASES = {case.id: case for case in load_cases("component")}
THIRD = Hang("next", 3, True, 3.0)
SPOUT = (
    PID
    + r"""
shake()
while True:
    if message()["command"] == "next": time.sleep(1000)
    say('{"command":"sync"}\nend\n')
"""
)
DEAD = Hang("tuple", 1, True, 0.0, "exit code 1, Out of memory!")
BURNING = (
    PID
    + r"""
shake()
while True:
    while message().get("stream") == "__heartbeat": say('{"command":"sync"}\nend\n')
    until = time.process_time() + float(sys.argv[1])
    while time.process_time() < until: pass
    sys.exit(f"no memory for {os.getpid()}")
"""
)


def hang_of(*said: Message | Fact, confirms: bool = False, apart: float = 1.0, stderr: str = "") -> Hang | None:
    watch = HangWatch(confirms=confirms)
    watch.take([Event(n, n * apart, "control", body) for n, body in enumerate(said)], ())
    watch.hear_last_words(stderr)
    return watch.hang


NEXT = SpoutCommand("next")
TUPLE = [TupleMsg("src", ["x"], 2, "default", str(n)) for n in range(5)]
BEAT = TupleMsg(None, [], -1, "__heartbeat", "9")


def test_where_a_case_hung() -> None:
    assert hang_of(NEXT, Sync(), NEXT, Deadline("sync", 31.0)) == Hang("next", 2, True, 3.0)
    assert hang_of(*TUPLE[:3], Ack("0"), BEAT, Deadline("heartbeat", 31.0)) == Hang("tuple", 2, True, 6.0)
    assert hang_of(BEAT, Sync(), BEAT, Deadline("heartbeat", 31.0)) == Hang("heartbeat", 2, True, 3.0)
    assert hang_of(TUPLE[0], Deadline("settle", 31.0)) == Hang("tuple", 1, False, 3.0)
    assert hang_of(TUPLE[0], BEAT, Deadline("settle", 31.0), Deadline("heartbeat", 31.0)) == Hang("tuple", 1, True, 3.0)


def test_what_was_no_long_wait_is_no_hang() -> None:
    assert hang_of(NEXT, Deadline("sync", 31.0, proven=True)) is None
    assert hang_of(NEXT, Deadline("sync", 3.0)) is None
    assert hang_of(NEXT, Deadline("sync", 31.0, proven=True), apart=4.0) == Hang("next", 1, True, 3.0)
    assert hang_of(NEXT, Deadline("sync", 3.0), confirms=True) == Hang("next", 1, True, 3.0)


@pytest.mark.parametrize(
    ("case", "repeats"),
    [
        ("spout.sync.next", True),
        ("spout.emit.arity", True),
        ("spout.sync.deactivate", False),
        ("spout.cut.next", False),
    ],
)
def test_what_a_case_sends_tells_whether_it_comes_to_that_place(case: str, repeats: bool) -> None:
    assert could_only_repeat(CASES[case], "spout", THIRD) is repeats


def test_a_spout_that_is_asked_to_be_active_is_not_asked_for_a_tuple() -> None:
    (case,) = (case for case in CASES.values() if case.id == "handshake.pid-first")
    assert ("barrier", {}) in case.steps
    hung = {what: Hang(what, 1, True, 3.0) for what in ("activate", "next")}
    assert {what: could_only_repeat(case, "spout", hang) for what, hang in hung.items()} == {
        "activate": True,
        "next": False,
    }


def subject(case: Case, verdict: Verdict) -> SubjectResult:
    return SubjectResult(id=case.id, title=case.title, verdict=verdict, reason="no sync of 'next'")


def note(repeats: Repeats, id_: str, verdict: Verdict, hang: Hang | None) -> str:
    return repeats.note(CASES[id_], subject(CASES[id_], verdict), hang).verdict


@pytest.mark.parametrize(
    ("first", "second", "short"),
    [
        (THIRD, THIRD._replace(ordinal=5, short=8.0), 8.0),
        (THIRD, THIRD._replace(at="ack"), None),
        (THIRD, None, None),
        (THIRD, THIRD._replace(ordinal=5, death="exit code 1"), None),
        (THIRD._replace(at="tuple"), THIRD._replace(at="tuple", ordinal=5), None),
    ],
    ids=["another call", "another command", "once", "died", "a bolt's"],
)
def test_a_command_left_unanswered_twice_is_waited_for_shortly(
    first: Hang, second: Hang | None, short: float | None
) -> None:
    repeats, later = Repeats("spout"), CASES["spout.cut.next"]
    assert note(repeats, "spout.sync.next", "fail", first) == "fail"
    note(repeats, "spout.sync.ack", "fail", second)
    assert repeats.short(later) == short
    assert repeats.confirms(first._replace(ordinal=9)) is (short is not None)
    assert repeats.repeated(later) is None


def test_the_second_confirms_and_the_third_is_not_played() -> None:
    repeats, third = Repeats("spout"), CASES["spout.emit.direct"]
    assert repeats.short(CASES["spout.sync.next"]) is None
    assert note(repeats, "spout.sync.next", "fail", THIRD) == "fail"
    assert (repeats.short(third), repeats.repeated(third)) == (3.0, None)
    assert note(repeats, "spout.emit.arity", "fail", THIRD) == "fail"
    told = repeats.repeated(third)
    assert told is not None
    assert (told.verdict, told.same_cause) == ("untestable", "spout.sync.next")
    assert repeats.repeated(CASES["spout.sync.deactivate"]) is None
    assert note(repeats, "spout.cut.next", "fail", THIRD) == "untestable"
    assert note(repeats, "spout.cut.ack", "fail", THIRD._replace(at="ack")) == "fail"


def test_a_case_that_passes_that_place_refutes_the_cause() -> None:
    repeats = Repeats("spout")
    note(repeats, "spout.sync.next", "fail", THIRD)
    note(repeats, "spout.emit.arity", "pass", None)
    assert repeats.short(CASES["spout.emit.direct"]) is None


def test_a_hang_on_what_only_one_case_sends_says_nothing_of_others() -> None:
    repeats = Repeats("bolt")
    note(repeats, "bolt.value.null", "fail", Hang("tuple", 1, True, 3.0))
    assert repeats.short(CASES["bolt.settle.once"]) is None


def test_open_tuples_shorten_waits_and_skip_nothing() -> None:
    repeats = Repeats("bolt")
    for id_ in ("bolt.settle.once", "bolt.settle.ids", "bolt.emit.anchors"):
        assert note(repeats, id_, "warn", Hang("tuple", 1, False, 3.0)) == "warn"
        assert (repeats.short(CASES[id_]), repeats.repeated(CASES[id_])) == (3.0, None)


def test_who_answers_no_heartbeat_is_not_waited_for_as_long_in_every_case() -> None:
    repeats = Repeats("bolt")
    unanswered = Finding(rule="heartbeat-unanswered", level="must", seq=5, offset=0, message="no sync")
    for id_, short in (("handshake.pid-first", None), ("bolt.settle.once", 3.0), ("bolt.settle.ids", 3.0)):
        case = msgspec.structs.replace(subject(CASES[id_], "fail"), findings=(unanswered,))
        assert repeats.note(CASES[id_], case, None).verdict == "fail"
        assert (repeats.short(CASES["bolt.emit.anchors"]), repeats.repeated(CASES[id_])) == (short, None)


def test_a_bolt_that_hangs_on_a_made_up_tuple_is_waited_for_once() -> None:
    repeats = Repeats("bolt")
    assert note(repeats, "bolt.settle.once", "untestable", Hang("tuple", 1, True, 3.0)) == "untestable"
    assert repeats.short(CASES["bolt.settle.ids"]) == 3.0
    assert repeats.confirms(Hang("tuple", 1, True, 3.0))
    assert repeats.repeated(CASES["bolt.settle.ids"]) is None
    assert note(repeats, "bolt.settle.ids", "untestable", Hang("tuple", 1, True, 3.0)) == "untestable"
    told = repeats.repeated(CASES["bolt.emit.anchors"])
    assert told is not None
    assert told.same_cause == "bolt.settle.once"


def test_a_line_of_known_failures_matches_a_case_that_was_not_played() -> None:
    known = parse("spout.cut.next  sync-missing  # hangs\n", "known.txt", {"sync-missing"})
    told = SubjectResult(
        id="spout.cut.next", title="", verdict="untestable", reason="same", same_cause="spout.sync.next"
    )
    assert apply(known, told, strict=False, storm="2.8.3").verdict == "xfail"


@pytest.mark.component
@pytest.mark.parametrize(("options", "verdicts"), [((), "fail fail untestable"), (("--exhaustive",), "fail fail fail")])
def test_a_hang_costs_its_wait_once(tmp_path: Path, options: tuple[str, ...], verdicts: str) -> None:
    (tmp_path / "spout.py").write_text(SPOUT)
    cases = [word for name in ("sync.next", "sync.activate", "output-after-sync") for word in ("-k", f"spout.{name}")]
    ran = mlcheck(
        "run", "--kind", "spout", *cases, *options, "--conf", "topology.subprocess.timeout.secs=3",
        "--report", "json=report.json", "--", sys.executable, "spout.py", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stderr
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert " ".join(sorted(each["verdict"] for each in report["subjects"])) == verdicts


def test_a_hang_that_is_seen_at_once_costs_no_wait() -> None:
    asleep = Deadline("sync", 31.0, "sleeps; Storm waits for its sync of 'next'", proven=True)
    idle = Deadline("sync", 31.0, "is blocked reading its stdin, which is empty: it waits for Storm", proven=True)
    assert hang_of(NEXT, idle) is None
    assert hang_of(NEXT, asleep) == Hang("next", 1, True, 3.0)


IDLE = Deadline("heartbeat", 31.0, "is blocked reading its stdin, which is empty: it waits for Storm", proven=True)
BEATEN_IN_VAIN = Deadline("settle", 3.0, "is blocked reading its stdin, which is empty: it waits for Storm")
HELD_BACK = Hang("tuple", 1, True, 3.0, held_back=True)


def test_answers_that_come_with_the_end_of_stdin_are_held_back() -> None:
    late = (TUPLE[0], BEAT, BEAT, BEAT, Ack("0"))
    assert hang_of(*late, IDLE, StdinClosed(), Sync()) == HELD_BACK
    assert hang_of(*late, IDLE, StdinClosed()) == Hang("heartbeat", 1, True, 8.0)
    assert hang_of(BEAT, IDLE, StdinClosed(), Sync()) is None
    assert hang_of(TUPLE[0], BEAT, BEAT, BEATEN_IN_VAIN, StdinClosed(), Sync(), confirms=True) == HELD_BACK
    batch = (TUPLE[0], BEAT, Sync(), BEAT, BEATEN_IN_VAIN, StdinClosed(), Sync(), Ack("0"))
    assert hang_of(*batch, confirms=True) == Hang("tuple", 1, False, 3.0)


def test_who_was_waited_for_shortly_and_held_its_answers_back_might_have_passed() -> None:
    repeats = Repeats("bolt")
    assert note(repeats, "bolt.settle.once", "fail", HELD_BACK) == "fail"
    assert note(repeats, "handshake.context", "fail", HELD_BACK) == "untestable"


def test_a_death_that_took_long_is_like_a_hang() -> None:
    words = "a line\nno memory for 4711 at 0x7f\n"
    assert hang_of(*TUPLE[:2], Ack("0"), Exited(code=1), apart=2.0, stderr=words) == Hang(
        "tuple", 2, True, 0.0, "exit code 1, no memory for # at #"
    )
    assert hang_of(TUPLE[0], BEAT, Exited(signal=9), apart=2.0) == Hang("tuple", 1, True, 0.0, "killed by signal 9, ")
    assert hang_of(NEXT, Sync(), NEXT, Exited(code=0), apart=4.0) == Hang("next", 2, True, 0.0, "exit code 0, ")


def test_a_death_that_comes_at_once_is_no_hang() -> None:
    assert hang_of(TUPLE[0], Exited(code=1)) is None
    assert hang_of(Exited(code=1), apart=9.0) is None
    assert hang_of(TUPLE[0], StdinClosed(), Exited(code=0), apart=9.0) is None


@pytest.mark.parametrize("verdict", ["fail", "untestable"])
def test_a_death_is_not_watched_a_third_time(verdict: Verdict) -> None:
    repeats = Repeats("bolt")
    for id_ in ("bolt.settle.once", "bolt.settle.ids"):
        assert repeats.repeated(CASES["bolt.emit.anchors"]) is None
        assert note(repeats, id_, verdict, DEAD) == verdict
        assert repeats.short(CASES["bolt.emit.anchors"]) is None
    told = repeats.repeated(CASES["bolt.emit.anchors"])
    assert told is not None
    assert (told.verdict, told.same_cause) == ("untestable", "bolt.settle.once")
    assert repeats.repeated(CASES["bolt.heartbeat.idle"]) is None


def test_a_death_of_another_kind_confirms_nothing() -> None:
    repeats = Repeats("bolt")
    note(repeats, "bolt.settle.once", "untestable", DEAD)
    note(repeats, "bolt.settle.ids", "untestable", DEAD._replace(death="killed by signal 9, "))
    assert repeats.repeated(CASES["bolt.emit.anchors"]) is None
    note(repeats, "bolt.emit.arity", "pass", None)
    note(repeats, "bolt.emit.before-settling", "untestable", DEAD)
    assert repeats.repeated(CASES["bolt.emit.anchors"]) is None


FLUSHES_SELDOM = (
    PID
    + r"""
shake()
out = open(1, "w", 1 << 20, closefd=False)
for n in range(1, 1000):
    said = message()
    out.write('{"command":"sync"}\nend\n' if said["stream"] == "__heartbeat" else
              json.dumps({"command": "ack", "id": said["id"]}) + "\nend\n")
    if n % 16 == 0: out.flush()
"""
)


@pytest.mark.component
def test_who_flushes_each_sixteenth_answer_is_waited_for_once(tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text(FLUSHES_SELDOM)
    cases = [word for name in ("bolt.settle.once", "handshake.context", "bolt.emit.anchors") for word in ("-k", name)]
    ran = mlcheck(
        "run", "--kind", "bolt", *cases, "--report", "json=report.json", "--", sys.executable, "bolt.py", cwd=tmp_path
    )
    assert ran.returncode == 1, ran.stderr
    subjects = json.loads((tmp_path / "report.json").read_bytes())["subjects"]
    assert {each["id"]: (each["verdict"], each["same_cause"]) for each in subjects} == {
        "bolt.settle.once": ("fail", ""),
        "handshake.context": ("untestable", "bolt.settle.once"),
        "bolt.emit.anchors": ("untestable", "bolt.settle.once"),
    }


@pytest.mark.component
@pytest.mark.parametrize(("seconds", "played"), [("5", 2), ("0", 4)])
def test_what_burns_long_and_dies_is_seen_twice(tmp_path: Path, seconds: str, played: int) -> None:
    (tmp_path / "bolt.py").write_text(BURNING)
    cases = [
        word
        for name in ("settle.once", "settle.ids", "emit.anchors", "task-ids.empty")
        for word in ("-k", f"bolt.{name}")
    ]
    ran = mlcheck(
        "run", "--kind", "bolt", *cases, "--report", "json=report.json", "--", sys.executable, "bolt.py", seconds,
        cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 6, ran.stderr
    subjects = json.loads((tmp_path / "report.json").read_bytes())["subjects"]
    assert [each["verdict"] for each in subjects] == ["untestable"] * 4
    assert sum(not each["same_cause"] for each in subjects) == played
