"""Recordings that are not whole: rings, which begin in the middle, and parts of one conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.protocol.words.messages import Ack, Handshake, SpoutCommand, Sync, TupleMsg
from multilang_cli.replay.recording import JudgedRecording, load
from multilang_cli.transcript.write import TranscriptWriter
from tests.command import mlcheck, refusal
from tests.components import unusual
from tests.replays import against, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from multilang_cli.protocol.words.events import Event

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

CASES = {
    "bolt-talks": "bolt.settle.once",
    "bolt-threads": "bolt.settle.once",
    "bolt-one-byte": "bolt.settle.once",
    "spout-reads-ids": "spout.sync.ack",
}


def written(
    recording: JudgedRecording, path: Path, events: Sequence[Event], part: int, *, with_snapshot: bool = True
) -> Path:
    """Some `events` of a recording as the part of one, as the tap writes it."""
    judge = judge_of(recording.profile, recording.rulebook)
    judge.feed_all([event for event in recording.events if event.seq < events[0].seq])
    snapshot = judge.snapshot() if with_snapshot and part > 1 else None
    header = msgspec.structs.replace(recording.header, part=part, snapshot=snapshot)
    with TranscriptWriter(path, header) as writer:
        for event in events:
            writer.write(event)
    return path


@pytest.mark.parametrize("name", CASES)
def test_a_ring_of_a_right_component_is_the_same(name: str, tmp_path: Path) -> None:
    component = unusual()[name]
    (whole,) = recorded(component, tmp_path / "rec", CASES[name])
    total = 0
    for number, share in enumerate((0.2, 0.45, 0.7)):
        begin = max(int(len(whole.events) * share), 8) + number
        for with_snapshot in (True, False):
            path = tmp_path / f"ring-{begin}-{with_snapshot}.ndjson"
            ring = load(written(whole, path, whole.events[begin:], 2, with_snapshot=with_snapshot))
            assert isinstance(ring.events[0].body, Handshake)
            assert any("begins in the middle" in note for note in ring.notes)
            compared = against(ring, component.command)
            assert compared.same, (begin, with_snapshot, compared)
            total += compared.compared
    assert total > 0


def test_what_is_about_the_past_is_left_out(tmp_path: Path) -> None:
    """Cut anywhere: whatever is played or awaited is about what was sent."""
    (bolt,) = recorded(unusual()["bolt-threads"], tmp_path / "bolt", "bolt.settle.once")
    (spout,) = recorded(unusual()["spout-reads-ids"], tmp_path / "spout", "spout.sync.ack")
    for whole in (bolt, spout):
        for begin in range(8, len(whole.events) - 1, 5):
            ring = load(written(whole, tmp_path / whole.profile.kind / f"{begin}.ndjson", whole.events[begin:], 2))
            bodies = [event.body for event in ring.events]
            sent = {body.id for body in bodies if isinstance(body, TupleMsg)}
            assert {body.id for body in bodies if isinstance(body, Ack)} <= sent
            asked = sum(isinstance(b, SpoutCommand) or (isinstance(b, TupleMsg) and b.is_heartbeat) for b in bodies)
            assert sum(isinstance(body, Sync) for body in bodies) <= asked
            assert [event.seq for event in ring.events] == sorted({event.seq for event in ring.events})
            assert ring.findings() == [f for f in whole.findings() if f.seq >= begin]


def test_parts_are_one_recording(tmp_path: Path) -> None:
    component = unusual()["bolt-talks"]
    (whole,) = recorded(component, tmp_path / "rec", "bolt.settle.once")
    folder = tmp_path / "parts"
    folder.mkdir()
    third = len(whole.events) // 3
    pieces = (whole.events[:third], whole.events[third : 2 * third], whole.events[2 * third :])
    paths = [
        written(whole, folder / f"talk.{part:05d}.ndjson", piece, part) for part, piece in enumerate(pieces, start=1)
    ]
    for name in (paths[0], paths[2], folder):
        ran = mlcheck("replay", str(name), "--", *component.command, cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "read from its 3 parts" in ran.stdout
    assert load(paths[1]).events == whole.events
    ran = mlcheck("diff", str(folder), str(tmp_path / "rec" / "bolt.settle.once.ndjson"), "-q", cwd=tmp_path)
    assert ran.stdout.startswith("SAME")
    paths[1].unlink()
    left = load(paths[0])
    assert left.events == pieces[0]
    assert any("events are missing at" in note for note in left.notes)


def test_a_directory_of_several_conversations_is_misuse(tmp_path: Path) -> None:
    component = unusual()["bolt-talks"]
    recorded(component, tmp_path / "rec", "bolt.settle.once", "bolt.heartbeat.behind-backlog")
    ran = mlcheck("replay", "rec", "--", *component.command, cwd=tmp_path)
    assert "a second conversation" in refusal(ran)
    assert ran.returncode == 2


@pytest.mark.parametrize("with_snapshot", [True, False])
def test_a_part_that_is_missing_is_no_alarm_and_no_pass(tmp_path: Path, *, with_snapshot: bool) -> None:
    """What the last part answers was asked in the one that is gone, of which nobody said that it would be."""
    (whole,) = recorded(unusual()["bolt-batch-of-5"], tmp_path / "rec", "bolt.settle.once")
    first = next(place for place, event in enumerate(whole.events) if isinstance(event.body, TupleMsg))
    ack = next(place for place, event in enumerate(whole.events) if isinstance(event.body, Ack))
    pieces = {1: whole.events[:first], 3: whole.events[ack:]}
    for part, events in pieces.items():
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir(exist_ok=True)
            written(whole, tmp_path / folder / f"x.{part:05d}.ndjson", events, part, with_snapshot=with_snapshot)
    linted = mlcheck("lint", "a", "--report", "json=report.json", cwd=tmp_path)
    assert (linted.returncode, linted.stderr) == (6, "")
    (subject,) = json.loads((tmp_path / "report.json").read_bytes())["subjects"]
    assert (subject["findings"], subject["verdict"]) == ([], "untestable")
    compared = mlcheck("diff", "a", "b", cwd=tmp_path)
    assert compared.returncode == 6
    assert "part 2 is missing" in compared.stdout


@pytest.mark.parametrize("known", [None, 0, 12], ids=str)
def test_a_later_part_that_holds_the_beginning_is_played_as_it(known: int | None, tmp_path: Path) -> None:
    """Whatever state its header tells of."""
    (whole,) = recorded(unusual()["bolt-talks"], tmp_path / "rec", "bolt.settle.once")
    judge = judge_of(whole.profile, whole.rulebook)
    judge.feed_all(whole.events[: known or 0])
    header = msgspec.structs.replace(whole.header, part=2, snapshot=None if known is None else judge.snapshot())
    with TranscriptWriter(tmp_path / "t.ndjson", header) as writer:
        for event in whole.events:
            writer.write(event)
    part = load(tmp_path / "t.ndjson")
    assert (part.events, part.findings(), part.notes) == (whole.events, whole.findings(), ())
