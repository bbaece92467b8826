"""The recording side of the tap: the findings of lint, whatever is kept of a conversation, and whatever fails."""

from __future__ import annotations

import errno
import json
import os
import resource
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multilang_cli.catalogue.loader import load_rules
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.words.events import Deadline, Exited, Gap, StdinClosed
from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.tap import feed as tap_feed
from multilang_cli.tap import files as tap_files
from multilang_cli.tap import recorder as tap_recorder
from multilang_cli.tap.cutter import DEAD_WITHIN, Cutter
from multilang_cli.tap.feed import ERR, FACT, IN, OUT, TapRecord, Unpacker
from multilang_cli.tap.files import RING_EVENTS
from multilang_cli.tap.plan import TapPlan
from multilang_cli.tap.recorder import Recorder
from multilang_cli.transcript.read import read
from multilang_cli.transcript.write import TranscriptWriter
from tests import notation
from tests.tapping import BEGIN, STARTED, conversation, handshake, linted, logged, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind, Rule

RULES = list(load_rules().values())
NOT_SEEN = {
    *("pid-wrong", "pid-file-missing", "pid-file-filled", "frame-too-long"),
    *("metric-params", "metric-unregistered"),
}
"""Rules whose examples need a true process, another limit, or metrics that Java code registers."""
TUPLE = '> {"id":"%d","comp":"src","stream":"default","task":2,"tuple":["a",1]}\n'
ACK = '< {"command":"ack","id":"%d"}\n'
EXIT = '! {"event":"exited","code":1}\n'
MANY, SEVERAL = 100, 8_192
"""Records of a conversation from which on no part holds one alone, and the bytes that each holds then."""


def kind_of(rule: Rule) -> Kind:
    return "spout" if rule.kind == "spout" else "bolt"


def acks(count: int, twice: int = -1) -> str:
    """So many tuples, each acked; one of them twice."""
    return "".join(TUPLE % n + ACK % n * (2 if n == twice else 1) for n in range(count)) + EXIT


@pytest.mark.long
@pytest.mark.parametrize(
    ("rule", "ring"),
    [
        pytest.param(rule, ring, id=f"{ring}-{rule.id}")
        for n, rule in enumerate(RULES)
        for ring in (0, (3, 1000)[n % 2])
    ],
)
def test_lint_finds_in_the_files_what_the_tap_has_found(rule: Rule, ring: int, tmp_path: Path) -> None:
    kind = kind_of(rule)
    recorded(tmp_path, [conversation(rule.bad, kind)], ring=ring, kind=kind)
    found = [(name, seq) for name, seq, _ in linted(tmp_path)]
    log = logged(tmp_path)
    assert found == log[len(log) - len(found) :]
    if ring != 3:
        assert found == log
        driven = any(isinstance(event.body, Deadline) for event in notation.parse(rule.bad))
        if not (driven or rule.profile or rule.id in NOT_SEEN):
            assert rule.id in {name for name, _ in found}


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_parts_of_one_message_give_the_findings_of_the_whole(rule: Rule, tmp_path: Path) -> None:
    kind = kind_of(rule)
    records = [[record] for record in conversation(f"{rule.good}\n{rule.bad}", kind)]
    recorded(tmp_path / "whole", records, ring=0, kind=kind)
    recorded(tmp_path / "parts", records, ring=0, rotate_size=1 if len(records) < MANY else SEVERAL, kind=kind)
    alone = [
        finding for path in sorted((tmp_path / "parts").glob("*.ndjson")) for finding in linted_alone(path, tmp_path)
    ]
    assert alone == linted(tmp_path / "parts") == linted(tmp_path / "whole")
    assert logged(tmp_path / "parts") == logged(tmp_path / "whole")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_good_conversation_is_blamed(rule: Rule, tmp_path: Path) -> None:
    if not rule.profile:
        recorded(tmp_path, [conversation(rule.good, kind_of(rule))])
        assert [name for name, _ in logged(tmp_path) if name == rule.id] == []


def test_the_ring_holds_the_last_messages_and_what_came_before_counts(tmp_path: Path) -> None:
    text = TUPLE % 7 + ACK % 7 + acks(3)[: -len(EXIT)] + ACK % 7 + EXIT
    recorder = recorded(tmp_path, [[record] for record in conversation(text)], ring=4)
    [path] = tmp_path.glob("*.ndjson")
    messages = [event for event in read(path) if event.channel in {"in", "out"}]
    assert len(messages) == 4
    assert read(path).header.part == 2
    assert {name for name, *_ in linted(tmp_path)} == {"ack-twice", "exited"}
    assert recorder.status()["findings"]["must"] == 2


def test_the_ring_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap_files, "RING_BYTES", 1000)
    recorded(tmp_path, [conversation(acks(100))])
    [path] = tmp_path.glob("*.ndjson")
    assert 0 < sum(len(event.raw) for event in read(path)) <= 1000


def test_the_ring_is_bounded_whatever_small_pieces_stderr_comes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tap_files, "RING_LEAST", 0)
    small = [TapRecord(ERR, 1.0, b"x") for _ in range(1000)]
    records = conversation(acks(3))
    recorded(tmp_path, [records[:-1], small, records[-1:]], ring=20)
    [path] = tmp_path.glob("*.ndjson")
    assert 20 * RING_EVENTS - 2 <= len(list(read(path))) <= 20 * RING_EVENTS
    assert {name for name, *_ in linted(tmp_path)} == {"exited"}


def test_last_words_in_small_pieces_leave_the_last_messages(tmp_path: Path) -> None:
    records = conversation(acks(3))
    recorded(tmp_path, [records[:-1], [TapRecord(ERR, 1.0, b"x") for _ in range(100)], records[-1:]], ring=2)
    [path] = tmp_path.glob("*.ndjson")
    assert [event.channel for event in read(path) if event.channel in {"in", "out"}][-2:] == ["in", "out"]


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        (
            "bolt.rb:4:in `split': no such word (ArgumentError)\n\tfrom bolt.rb:9:in `<main>'\n",
            "no such word (ArgumentError)",
        ),
        ("panic: no such word\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/bolt.go:9 +0x1d\n", "no such word"),
        ("reading\nno such word\n", "no such word"),
    ],
)
def test_the_log_tells_what_it_died_of_wherever_that_stands_on_stderr(stderr: str, told: str, tmp_path: Path) -> None:
    records = conversation(acks(1))
    recorded(tmp_path, [records[:-1], [TapRecord(ERR, 1.0, stderr.encode())], records[-1:]])
    [log] = tmp_path.glob("*.log")
    assert f"end: the component ended: exited with code 1; last on stderr: {told}\n" in log.read_text(encoding="utf-8")


def test_what_comes_before_the_handshake_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap_recorder, "RING_BYTES", 1000)
    recorder = Recorder(TapPlan(command=("x",), folder=tmp_path), 4711, STARTED)
    judged: list[bool] = []
    message = TapRecord(OUT, 1.0, b"x" * 300 + b"\nend\n")
    for records in ([BEGIN, *[message] * 3], [message]):
        recorder.take(records)
        judged.append(recorder.judge is not None)
    assert judged == [False, True]
    recorder.end()


def test_parts_begin_anew_by_size_and_each_can_be_judged_alone(tmp_path: Path) -> None:
    records = conversation(acks(60, twice=50))
    recorded(tmp_path, [[record] for record in records], ring=0, rotate_size=2000)
    parts = sorted(tmp_path.glob("*.ndjson"))
    assert len(parts) > 3
    assert all(path.stat().st_size < 8000 for path in parts[1:])
    assert [name for name, *_ in linted(tmp_path)] == ["ack-twice", "exited"]
    found = {path: [f for f, *_ in linted_alone(path, tmp_path)] for path in parts}
    assert [rules for rules in found.values() if rules] in ([["ack-twice"], ["exited"]], [["ack-twice", "exited"]])
    assert sum(len(list(read(path))) for path in parts) == len(records) + 2


def linted_alone(path: Path, folder: Path) -> list[tuple[str, int, str]]:
    alone = folder / f"alone-{path.stem}"
    alone.mkdir()
    (alone / path.name).write_bytes(path.read_bytes())
    return linted(alone)


def test_parts_begin_anew_by_age_and_old_ones_go(tmp_path: Path) -> None:
    text = "".join(f"@ {n * 10}\n" + TUPLE % n + ACK % n for n in range(1, 10))
    recorded(tmp_path, [[r] for r in conversation(text + EXIT)], ring=0, rotate_age=15.0, rotate_size=0, keep=2)
    parts = sorted(tmp_path.glob("*.ndjson"))
    assert len(parts) == 2
    assert [read(path).header.part for path in parts] == [4, 5]
    assert [name for name, *_ in linted(tmp_path)] == ["exited"]


def test_secrets_of_the_seen_conf_stand_nowhere(tmp_path: Path) -> None:
    hidden = "sesame-open-up"
    text = TUPLE % 1 + f'< {{"command":"log","msg":"{hidden}"}}\n< {hidden}\n' + EXIT
    for name, ring in (("ring", 1000), ("wrapped", 2), ("all", 0)):
        folder = tmp_path / name
        records = conversation(text, conf={"db.password": hidden})
        recorded(folder, [records], ring=ring, command=("component", hidden))
        files = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
        assert len(files) == 3
        assert not any(hidden in content for content in files)
        assert any("***" in content for content in files)


def test_a_fault_of_the_judge_is_a_gap_and_the_recording_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = Conversation.feed_all

    def fail_once(judge: Conversation, events: Any) -> Any:
        if any(b'"id":"5"' in event.raw for event in events) and not (tmp_path / "failed").exists():
            (tmp_path / "failed").touch()
            raise ZeroDivisionError("injected")
        return judged(judge, events)

    monkeypatch.setattr(Conversation, "feed_all", fail_once)
    recorder = recorded(tmp_path, [[record] for record in conversation(acks(9, twice=8))], ring=0)
    assert recorder.status()["faults"] == 1
    assert recorder.status()["gaps"] == 1
    [path] = tmp_path.glob("*.ndjson")
    events = list(read(path))
    assert sum(event.channel == "out" for event in events) == 11
    assert [event.body for event in events if isinstance(event.body, Gap)]
    assert [name for name, _ in logged(tmp_path)] == ["ack-twice", "exited"]
    assert "ZeroDivisionError: injected" in next(tmp_path.glob("*.fault.txt")).read_text(encoding="utf-8")


@pytest.mark.parametrize("ring", [0, 1000])
def test_a_fault_in_writing_is_told_whatever_is_kept(
    ring: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = TranscriptWriter.write

    def fail(writer: TranscriptWriter, event: Any, plain: bool | None = None) -> None:
        if b'"id":"5"' in event.raw:
            # Whoever shares the folder knows what the file with the details will be called.
            [log] = tmp_path.glob("*.log")
            log.with_suffix(".fault.txt").symlink_to(tmp_path / "letter")
            raise ZeroDivisionError("injected")
        written(writer, event, plain)

    monkeypatch.setattr(TranscriptWriter, "write", fail)
    recorder = recorded(tmp_path, [conversation(acks(9))], ring=ring)
    assert recorder.status()["faults"] == 1
    assert recorder.status()["gaps"] == (not ring)
    assert not (tmp_path / "letter").exists()
    assert "ZeroDivisionError: injected" in next(tmp_path.glob("*.fault.txt")).read_text(encoding="utf-8")
    assert next(tmp_path.glob("*.log")).read_text(encoding="utf-8").count("the component ended") == 1
    assert next(tmp_path.glob("*.status.json")).exists()


@pytest.mark.parametrize("ring", [0, 1000])
def test_half_a_message_at_the_end_of_stdin_is_kept_and_nobody_is_blamed(ring: int, tmp_path: Path) -> None:
    half = b'{"id":"2","comp":"src","stre'
    begun = conversation(TUPLE % 1 + ACK % 1)
    closed = TapRecord(FACT, 1.9, msgspec.json.encode(StdinClosed()))
    exited = TapRecord(FACT, 2.0, msgspec.json.encode(Exited(0, None)))
    recorder = recorded(tmp_path, [[*begun, TapRecord(IN, 1.9, half), closed, exited]], ring=ring)
    [path] = tmp_path.glob("*.ndjson")
    said = [event for event in read(path) if event.channel == "in"]
    assert b"".join(event.raw for event in said[-1:]) == half
    assert sum(len(event.raw) for event in said) == recorder.status()["bytes"]["in"]
    assert isinstance(said[-1].body, Malformed)
    assert linted(tmp_path) == []


def test_a_full_disk_is_a_gap_and_writing_goes_on_when_there_is_room(tmp_path: Path) -> None:
    records = conversation("".join(f"@ {n}\n" + TUPLE % n + ACK % n for n in range(1, 40)) + EXIT)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full_at_first() -> Iterator[list[TapRecord]]:
        for number, record in enumerate(records):
            resource.setrlimit(resource.RLIMIT_FSIZE, (512 if number < 5 else soft, hard))
            yield [record]

    try:
        recorder = recorded(tmp_path, full_at_first(), ring=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    status = recorder.status()
    assert (status["failed"], status["gaps"]) == ("", 1)
    [path] = tmp_path.glob("*.00002.ndjson")
    assert "00001.ndjson can't be written: File too large" in next(tmp_path.glob("*.log")).read_text(encoding="utf-8")
    [gap] = [event.body for event in read(path) if isinstance(event.body, Gap)]
    assert "could not be written" in gap.why
    assert [name for name, *_ in linted_alone(path, tmp_path)] == ["exited"]


@pytest.mark.parametrize("full", ["from the first", "later"])
def test_a_ring_without_room_is_told_while_there_is_somebody_to_tell(
    full: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its end, when it is written, the tap has closed its stderr, and the log has no room either."""
    told: list[str] = []
    monkeypatch.setattr(tap_recorder, "say_on_stderr_of", lambda _, text: told.append(text))
    recorder = Recorder(TapPlan(command=("component",), folder=tmp_path, ring=10), 4711, STARTED)
    if full == "later":
        recorder.take(conversation(TUPLE % 1 + ACK % 1))
        recorder.flush()
        assert told == []
    there = set(tmp_path.iterdir())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tap_files, "open_afresh", refuse)
    recorder.take(conversation(TUPLE % 1 + ACK % 1) if not there else conversation("@ 60\n" + ACK % 1)[-1:])
    recorder.flush()
    recorder.flush()
    [line] = told
    assert line.endswith(".ndjson can't be written: No space left on device")
    monkeypatch.undo()
    recorder.end()
    assert recorder.status()["failed"] == ""
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_ring_is_told_that_there_is_less_room_than_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk on which a byte can be written has no room yet for a megabyte."""
    told: list[str] = []
    monkeypatch.setattr(tap_recorder, "say_on_stderr_of", lambda _, text: told.append(text))
    whole = os.statvfs(tmp_path)
    little = os.statvfs_result([1 if at == 4 else value for at, value in enumerate(whole)])
    monkeypatch.setattr(os, "fstatvfs", lambda _: little)
    recorder = Recorder(TapPlan(command=("component",), folder=tmp_path, ring=100), 4711, STARTED)
    recorder.take(conversation(TUPLE % 1 + ACK % 1))
    recorder.flush()
    assert told == []
    recorder.take(conversation("@ 1\n" + (TUPLE % 1).replace('"tuple":["', f'"tuple":["{"x" * 1_000_000}'))[-1:])
    recorder.flush()
    recorder.end()
    [line] = told
    assert line.endswith(".ndjson can't be written: No space left on device")


def test_a_folder_that_can_not_be_made_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for ring in (0, 10):
        status = recorded(tmp_path / "file" / "folder", [conversation(acks(3, twice=1))], ring=ring).status()
        assert (status["messages"], status["findings"]["must"]) == ({"in": 4, "out": 5}, 2)
        assert "can't be written" in status["failed"]


def test_the_status_is_json_and_tells_all(tmp_path: Path) -> None:
    recorder = recorded(tmp_path, [conversation(acks(3, twice=1))], status=tmp_path / "status.json")
    status = json.loads((tmp_path / "status.json").read_text(encoding="utf-8"))
    assert status["state"] == "ended"
    assert (status["pid"], status["component_pid"]) == (4711, 1)
    assert status["rules"] == {"ack-twice": 1, "exited": 1}
    assert status["bytes"]["out"] == recorder.status()["bytes"]["out"] > 0
    assert status["conversation"] == "comp-3-20260102T030405-4711"


def test_nothing_is_written_before_there_is_a_component(tmp_path: Path) -> None:
    recorder = Recorder(TapPlan(command=("no-such-program",), folder=tmp_path / "record"), 4711, STARTED)
    recorder.flush()
    recorder.end()
    assert not (tmp_path / "record").exists()


def test_the_log_says_what_storm_makes_of_a_finding_and_what_to_type_next(tmp_path: Path) -> None:
    recorded(tmp_path, [conversation(acks(3, twice=1))])
    [log] = tmp_path.glob("*.log")
    text = log.read_text(encoding="utf-8")
    assert "ack of a tuple that is settled already (Storm 2.8.3: worker dies)\n" in text
    assert f" next: mlcheck lint {log.with_suffix('')}*.ndjson\n" in text


def test_the_log_names_a_cause_once_however_often_it_shows(tmp_path: Path) -> None:
    recorded(tmp_path, [conversation(acks(3, twice=1) + acks(2, twice=0))])
    [log] = tmp_path.glob("*.log")
    causes = [line for line in log.read_text(encoding="utf-8").splitlines() if " cause " in line]
    assert len([line for line in causes if " cause settles-twice: it settles a tuple twice" in line]) == 1
    assert causes[0].endswith("; mlcheck explain settles-twice")


def test_a_status_that_can_not_be_written_leaves_the_last_one_and_nothing_else(tmp_path: Path) -> None:
    recorder = recorded(tmp_path, [conversation(acks(3))], status=tmp_path / "status.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        recorder.show()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_status_that_is_a_pipe_or_a_device_stays_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    recorded(tmp_path / "here", [conversation(acks(3))], status=tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_what_it_is_storm_tells(tmp_path: Path) -> None:
    for kind in ("bolt", "spout"):
        told = handshake(kind)
        recorder = recorded(tmp_path / kind, [conversation(EXIT, kind)])
        assert recorder.judge
        profile = recorder.judge.profile
        assert (profile.kind, profile.component, profile.task) == (kind, "comp", 3)
        assert profile.conf == told.conf
        assert profile.streams
        assert profile.streams["fld"].consumers == {"fsink": (7,)}
        assert profile.streams["dir"].direct
        assert profile.tasks[7] == "fsink"


def test_without_a_context_the_first_command_tells(tmp_path: Path) -> None:
    hello = TapRecord(IN, 0.0, b'{"conf":{},"pidDir":"/p"}\nend\n')
    start = TapRecord(FACT, 0.0, b'{"event":"started","argv":["x"],"pid":1}')
    first = {
        "spout": b'{"command":"next"}\nend\n',
        "bolt": b'{"id":"1","comp":"a","stream":"s","task":1,"tuple":[]}\nend\n',
    }
    for name, text in first.items():
        recorder = recorded(
            tmp_path / name, [[start, hello, TapRecord(OUT, 0.1, b'{"pid":1}\nend\n'), TapRecord(IN, 1, text)]]
        )
        assert recorder.judge
        assert recorder.judge.profile.kind == name


@given(st.lists(st.tuples(st.sampled_from([IN, OUT, 2]), st.binary(max_size=60)), max_size=20), st.data())
@settings(max_examples=60, deadline=None)
def test_records_arrive_in_any_pieces(records: list[tuple[int, bytes]], data: st.DataObject) -> None:
    whole = [TapRecord(kind, float(n), text) for n, (kind, text) in enumerate(records)]
    stream = b"".join(tap_feed.pack(*record) for record in whole)
    unpacker, found = Unpacker(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        found += unpacker.feed(stream[:cut])
        stream = stream[cut:]
    assert found == whole


@given(st.lists(st.integers(0, 400), max_size=8), st.integers(0, 300))
@settings(max_examples=80, deadline=None)
def test_frames_are_cut_alike_in_any_pieces_and_go_on_behind_a_gap(cuts: list[int], lost: int) -> None:
    frames = [b'{"pid":1}\nend\n', *(b'{"command":"ack","id":"%d"}\nend\n' % n for n in range(9))]
    stream = b"".join(frames)
    lost = min(lost, len(stream))
    edges = sorted({0, lost, len(stream), *(cut for cut in cuts if lost < cut < len(stream))})
    pieces = [stream[a:b] for a, b in pairwise(edges)]
    cutter = Cutter()
    events = []
    if lost:
        cutter.bytes["out"] += lost
        events += cutter.gap("left out")
        pieces = pieces[1:]
    for piece in pieces:
        events += cutter.take(TapRecord(OUT, 1.0, piece))
    heard = [event for event in events if event.channel == "out"]
    assert b"".join(event.raw for event in heard) == (stream[heard[0].offset :] if heard else b"")
    assert [event.raw for event in heard] == frames[len(frames) - len(heard) :]
    assert len(heard) >= len(stream[lost:].split(b"\nend\n")) - 2 - (lost > 0)


def test_a_message_that_is_too_long_is_no_end_of_the_recording() -> None:
    cutter = Cutter(limit=100)
    events = cutter.take(TapRecord(OUT, 0.0, b'{"pid":1}\nend\n' + b"x" * 200))
    events += cutter.take(TapRecord(OUT, 0.0, b'y\nend\n{"command":"sync"}\nend\n'))
    kinds = [getattr(event.body, "kind", type(event.body).__name__) for event in events]
    assert kinds == ["Pid", "frame-too-long", "Gap", "Sync"]


def test_a_closed_stdout_counts_only_if_the_component_lives_on() -> None:
    closed = TapRecord(FACT, 1.0, b'{"event":"stdout-closed"}')
    dead = TapRecord(FACT, 1.0 + DEAD_WITHIN / 2, b'{"event":"exited","code":0}')
    late = TapRecord(2, 1.0 + DEAD_WITHIN * 2, b"x")

    def facts(*records: TapRecord) -> list[str]:
        cutter = Cutter()
        return [type(event.body).__name__ for record in records for event in cutter.take(record)]

    assert facts(closed, dead) == ["Exited"]
    assert facts(closed, late) == ["StdoutClosed", "Chunk"]


@pytest.mark.parametrize("junk", [b"\xff\x00", b"end\n", b"{}\nend\n", b'{"conf":1}\nend\n', b"\nend\n" * 5])
def test_what_is_no_protocol_at_all_is_recorded_too(junk: bytes, tmp_path: Path) -> None:
    start = TapRecord(FACT, 0.0, b'{"event":"started","argv":["x"],"pid":1}')
    records = [start, *(TapRecord(kind, 0.1, junk) for kind in (IN, OUT, 2) for _ in range(3))]
    status = recorded(tmp_path, [records]).status()
    assert status["bytes"] == dict.fromkeys(("in", "out", "err"), 3 * len(junk))
    assert status["faults"] == 0
    assert [name for name, _ in logged(tmp_path)] == [name for name, *_ in linted(tmp_path)]
