"""The few messages that are kept and shown of a conversation."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from multilang_cli.judging.excerpts import excerpt_of
from multilang_cli.protocol.words.events import Chunk, Deadline, Event, Exited, StdinClosed
from multilang_cli.protocol.words.messages import Ack, Emit, Log, Malformed, SpoutCommand, Sync, TupleMsg
from multilang_cli.protocol.words.verdicts import Finding
from multilang_cli.suite.runner.watch import WATCHED_EVENTS, WATCHED_FIRST, Watch
from multilang_cli.transcript.redact import Redactor

DATA = TupleMsg("src", ["x"], 2, "default", "1")
BEAT = TupleMsg(None, [], -1, "__heartbeat", "9")


def test_heartbeats_drive_no_message_out_but_the_last_is_shown() -> None:
    bodies = [DATA, BEAT, Sync(), BEAT, Sync(), BEAT, BEAT, Exited(code=1)]
    channels = ["in", "in", "out", "in", "out", "in", "in", "process"]
    events = {n: Event(n, float(n), channels[n], body, b"") for n, body in enumerate(bodies)}  # type: ignore[arg-type]
    found = Finding(rule="exited", level="must", seq=7, offset=0, message="dead", fates={})
    assert [line.seq for line in excerpt_of([found], events)] == [0, 6, 7]


@pytest.mark.parametrize("body", [Emit(["y"], anchors=("1",)), Ack("1")])
def test_a_message_is_shown_with_the_tuple_that_it_is_of(body: Emit | Ack) -> None:
    others = [TupleMsg("src", ["z"], 2, "default", str(n)) for n in range(2, 9)]
    bodies = [DATA, *others, Log("here"), body]
    events = {n: Event(n, float(n), "in" if n < 8 else "out", each, b"") for n, each in enumerate(bodies)}
    found = Finding(rule="text-damaged", level="must", seq=9, offset=0, message="wrong", fates={})
    assert [line.seq for line in excerpt_of([found], events)] == [0, 8, 9]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ([], [0]),
        ([Ack("1")], [1]),
        ([Ack("2")], [0]),
        ([Ack("1"), Ack("3"), Ack("2")], [1]),
    ],
    ids=["none settled", "the first settled", "the second settled", "all settled: the last"],
)
def test_a_death_is_shown_with_the_first_tuple_that_was_open(said: list[Ack], shown: list[int]) -> None:
    """Three stand in the pipe at once: who reads the first and dies has not seen the last."""
    fed = [TupleMsg("src", ["z"], 2, "default", str(n)) for n in (1, 2, 3)]
    bodies = [*fed, *said, Exited(code=1)]
    channels = ["in"] * 3 + ["out"] * len(said) + ["process"]
    events = {n: Event(n, float(n), channels[n], body, b"") for n, body in enumerate(bodies)}  # type: ignore[arg-type]
    lines = excerpt_of([], events, about=len(bodies) - 1)
    assert [line.seq for line in lines if line.channel == "in"] == shown


@pytest.mark.parametrize(
    ("said", "salvage", "shown"),
    [
        ([], (), [0]),
        ([Ack("1")], (), [1]),
        ([], (Emit(["y"], anchors=("2",)),), [1]),
        ([], (Ack("3"),), [2]),
    ],
)
def test_what_is_no_message_is_shown_with_the_tuple_that_it_works_on(
    said: list[Ack], salvage: tuple[Emit | Ack, ...], shown: list[int]
) -> None:
    fed = [TupleMsg("src", ["z"], 2, "default", str(n)) for n in (1, 2, 3)]
    bodies: list[Any] = [*fed, BEAT, *said, Malformed("stdout-text", 0, "oops", "no JSON", salvage), Ack("1"), Ack("2")]
    events = {n: Event(n, float(n), "in" if n < 4 else "out", body, b"") for n, body in enumerate(bodies)}
    found = Finding(rule="stdout-text", level="must", seq=len(bodies) - 3, offset=0, message="wrong", fates={})
    lines = excerpt_of([found], events)
    assert [line.seq for line in lines if line.channel == "in"] == shown


def test_what_settled_a_tuple_may_be_among_the_events_that_are_not_kept() -> None:
    fed = [DATA, TupleMsg("src", ["z"], 2, "default", "2")]
    events = {n: Event(n, float(n), "in", body, b"") for n, body in enumerate(fed)}
    events[3] = Event(3, 3.0, "process", Exited(code=1), b"")
    assert [line.seq for line in excerpt_of([], events, about=3)] == [0, 1, 3]


def test_a_flood_drives_out_neither_the_beginning_nor_the_end_of_stdin() -> None:
    watch, flood = Watch(), 2 * WATCHED_EVENTS
    watch.take([Event(0, 0.0, "in", DATA, b""), *(Event(n, 0.0, "out", Log("x"), b"") for n in range(1, 50))], ())
    watch.take([Event(50, 1.0, "process", StdinClosed(), b"")], ())
    watch.take([Event(n, 2.0, "out", Log("EOF"), b"") for n in range(51, flood)], ())
    assert len(watch.events) == WATCHED_EVENTS
    assert list(watch.events)[: WATCHED_FIRST + 1] == [*range(WATCHED_FIRST), 50]
    assert next(reversed(watch.events)) == flood - 1


def test_an_event_that_a_cause_is_about_is_shown_without_any_finding() -> None:
    bodies = [DATA, Log("no"), Sync()]
    events = {n: Event(n, float(n), "out" if n else "in", body, b"") for n, body in enumerate(bodies)}  # type: ignore[arg-type]
    assert excerpt_of([], events) == ()
    assert [(line.seq, line.mark, line.note) for line in excerpt_of([], events, about=1)] == [
        (0, False, ""),
        (1, True, ""),
    ]


def test_who_dies_of_an_id_is_shown_with_its_emits() -> None:
    emits = [Emit([n], id="a" if n in {0, 1} else f"b{n}") for n in range(8)]
    bodies = [*emits, SpoutCommand("ack", "a"), Exited(code=1)]
    channels = ["out"] * 8 + ["in", "process"]
    events = {n: Event(n, float(n), channels[n], body, b"") for n, body in enumerate(bodies)}  # type: ignore[arg-type]
    assert [line.seq for line in excerpt_of([], events, about=9)] == [0, 1, 6, 7, 8, 9]


@pytest.mark.parametrize(("waiting_for", "shown"), [("settle", [0, 1, 4]), ("heartbeat", [1, 2, 3, 4])])
def test_an_answered_heartbeat_says_nothing_of_a_tuple_that_is_open(
    waiting_for: Literal["settle", "heartbeat"], shown: list[int]
) -> None:
    silence = Deadline(waiting_for=waiting_for, limit=1.0)
    bodies = [DATA, Emit(["y"], anchors=("1",)), BEAT, Sync(), silence]
    channels = ["in", "out", "in", "out", "control"]
    events = {n: Event(n, float(n), channels[n], body, b"") for n, body in enumerate(bodies)}  # type: ignore[arg-type]
    lines = excerpt_of([], events, about=4)
    assert {line.seq for line in lines} >= set(shown)
    assert (2 in {line.seq for line in lines}) == (2 in shown)


def test_a_secret_that_chunks_of_stderr_hold_together_is_in_no_excerpt() -> None:
    secrets = Redactor({"db.password": "hunter2/hunter2"})
    texts = ["it is hunter2", "/hunter2\n", *"hunter2/hunter2"]
    events = {seq: Event(seq, 0.1, "err", Chunk(1), text.encode()) for seq, text in enumerate(texts)}
    events[len(texts)] = Event(len(texts), 0.2, "process", Exited(1))
    for about in (1, 2, len(texts)):
        shown = "".join(line.text for line in excerpt_of([], events, secrets, about=about))
        assert "***" in shown
        assert "hunter2" not in shown
