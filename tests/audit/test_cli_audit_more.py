"""`audit watch` and `audit replay`: what is wrong with the command line is said before Spark is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.cli.audit.replay import replay
from multilang_cli.cli.audit.watch import watch
from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_watch_needs_a_folder_that_is_there_and_one_that_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such folder") as nothing:
        watch(str(tmp_path / "nowhere"), tmp_path / "out")
    assert nothing.value.code == 4
    with pytest.raises(CommandError, match="HOST:PORT/TOPIC"):
        watch("kafka://broker", tmp_path / "out")
    (tmp_path / "something").touch()
    with pytest.raises(CommandError, match="something else"):
        watch(str(tmp_path), tmp_path)


def test_a_replay_needs_recordings_and_a_component(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    recording = tmp_path / "bolt.ndjson"
    recording.touch()
    with pytest.raises(CommandError, match="which component"):
        replay([str(recording)], output=tmp_path / "out")
    with pytest.raises(CommandError, match="no transcripts") as nothing:
        replay(["python3", "bolt.py"], output=tmp_path / "out")
    assert nothing.value.code == 4
    with pytest.raises(CommandError, match="--compare"):
        replay([str(recording), "python3"], output=tmp_path / "out", comparing=["colours"])
    with pytest.raises(CommandError, match="nonsense"):
        replay([str(recording), "nonsense"], output=tmp_path / "out")
    with pytest.raises(CommandError, match="exists already"):
        replay([str(recording), "python3"], output=tmp_path)
