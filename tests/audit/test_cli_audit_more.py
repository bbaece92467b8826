"""`audit watch` and `audit replay`: what is wrong with the command line is said before Spark is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.console.replaying import AuditReplayFlags, replay_given
from multilang_cli.audit.console.watching import WatchFlags, watch_given
from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_watch_needs_a_folder_that_is_there_and_one_that_is_its_own(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such folder") as nothing:
        watch_given(WatchFlags(source=str(tmp_path / "nowhere"), output=tmp_path / "out"))
    assert nothing.value.code == 4
    with pytest.raises(CommandError, match="HOST:PORT/TOPIC"):
        watch_given(WatchFlags(source="kafka://broker", output=tmp_path / "out"))
    (tmp_path / "something").touch()
    with pytest.raises(CommandError, match="something else"):
        watch_given(WatchFlags(source=str(tmp_path), output=tmp_path))


def test_a_watch_needs_a_spark_that_holds_state_for_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.7")
    with pytest.raises(CommandError, match=r"needs PySpark 4\.0 or newer, and 3\.5\.7 is installed") as old:
        watch_given(WatchFlags(source=str(tmp_path), output=tmp_path / "out"))
    assert old.value.code == 2


def test_a_watch_leaves_what_an_older_one_has_written(tmp_path: Path) -> None:
    (tmp_path / "out" / "state").mkdir(parents=True)
    (tmp_path / "out" / "checkpoint").mkdir()
    with pytest.raises(CommandError, match="older mlcheck"):
        watch_given(WatchFlags(source=str(tmp_path), output=tmp_path / "out"))


def test_a_watch_goes_on_with_the_checkpoint_that_it_began_with(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "checkpoint").mkdir(parents=True)
    there.mkdir()
    (there / "checkpoint-path").write_text("s3a://bucket/watch")
    with pytest.raises(CommandError, match="goes on with its checkpoint in"):
        watch_given(WatchFlags(source=str(tmp_path), output=here, checkpoint="s3a://bucket/watch"))
    with pytest.raises(CommandError, match="goes on with --checkpoint s3a://bucket/watch"):
        watch_given(WatchFlags(source=str(tmp_path), output=there))


def test_a_replay_needs_recordings_and_a_component(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    recording = tmp_path / "bolt.ndjson"
    recording.touch()
    with pytest.raises(CommandError, match="which component"):
        replay_given(AuditReplayFlags(words=(str(recording),), output=tmp_path / "out"))
    with pytest.raises(CommandError, match="no transcripts") as nothing:
        replay_given(AuditReplayFlags(words=("python3", "bolt.py"), output=tmp_path / "out"))
    assert nothing.value.code == 4
    with pytest.raises(CommandError, match="--compare"):
        replay_given(
            AuditReplayFlags(words=(str(recording), "python3"), output=tmp_path / "out", comparing=("colours",))
        )
    with pytest.raises(CommandError, match="nonsense"):
        replay_given(AuditReplayFlags(words=(str(recording), "nonsense"), output=tmp_path / "out"))
    with pytest.raises(CommandError, match="exists already"):
        replay_given(AuditReplayFlags(words=(str(recording), "python3"), output=tmp_path))
