"""Judging recordings: what they do not hold, and which file a conversation came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.events import Event
from multilang_cli.protocol.messages import Handshake, Pid
from multilang_cli.suite.linting import judge_transcripts, lint_result
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from pathlib import Path

HANDSHAKE = Event(0, 0.0, "in", Handshake({}, "/pids", {}), b'{"conf":{},"pidDir":"/pids","context":{}}\nend\n')
PID = Event(1, 0.1, "out", Pid(7), b'{"pid":7}\nend\n')


def record(path: Path, events: list[Event]) -> Path:
    with TranscriptWriter(path, Header(conv=path.stem, profile=example_profile("bolt"))) as writer:
        for event in events:
            writer.write(event)
    return path


def test_a_recording_of_nothing_is_inconclusive(tmp_path: Path) -> None:
    path = record(tmp_path / "empty.ndjson", [])
    result = lint_result(judge_transcripts([path], load_rulebook()), strict=False)
    assert [(subject.verdict, subject.reason) for subject in result.subjects] == [
        ("untestable", "the recording holds nothing that the component said")
    ]
    assert result.exit_code == 6


def test_each_conversation_names_its_own_file(tmp_path: Path) -> None:
    paths = [record(tmp_path / f"{name}.ndjson", [HANDSHAKE, PID]) for name in ("one", "two")]
    result = lint_result(judge_transcripts(paths, load_rulebook()), strict=False)
    assert [(subject.id, subject.transcript) for subject in result.subjects] == [
        ("one", str(paths[0])),
        ("two", str(paths[1])),
    ]
    assert result.exit_code == 0
