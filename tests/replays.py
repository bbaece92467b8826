"""Recordings of the components in this repository, and replays of them, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.replay.comparison import Comparison, Side, compare
from multilang_cli.replay.recording import JudgedRecording, load
from multilang_cli.replay.replaying import Replayed, ReplayOptions, replay
from multilang_cli.replay.said import ComparisonOptions
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.runner.suite_run import run_suite

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = dict.fromkeys(("pid", "sync", "heartbeat", "settle", "read", "output", "exit-after-eof"), 20.0)


def recorded(component: Component, folder: Path, *cases: str) -> list[JudgedRecording]:
    """What `mlcheck run` records of some cases, the right ones too."""
    options = RunOptions(record=str(folder), record_all=True, include=cases, timeout=20.0)
    ids = [subject.id for subject in run_suite(component, options).subjects if subject.verdict != "skip"]
    paths = [folder / f"{case}.ndjson" for case in ids]
    return [load(path) for path in paths if path.exists()]


def replayed(recording: JudgedRecording, command: tuple[str, ...], **how: Any) -> Replayed:
    conf, settings = how.pop("conf", {}), how.pop("settings", {})
    component = Component(command=command, limits=LIMITS, conf=conf, env=settings)
    return replay(recording, Subject.of(component, RunOptions()), ReplayOptions(**how))


def against(
    recording: JudgedRecording, command: tuple[str, ...], wanted: ComparisonOptions | None = None
) -> Comparison:
    wanted = wanted or ComparisonOptions()
    done = replayed(recording, command, wanted=wanted)
    then, now = Side.of(recording.events, recording.findings()), Side.of(done.events, done.findings)
    return compare(then, now, wanted, spout=recording.profile.kind == "spout")
