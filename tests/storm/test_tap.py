"""The tap between a real Storm and its components: nothing changes, and what was said is in its files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.transcript.read import read
from tests.components import ROOT, copy_examples
from tests.processes import until
from tests.storm import cluster as storm
from tests.tapping import linted

if TYPE_CHECKING:
    from tests.storm.cluster import Cluster, Run

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

MLCHECK = str(Path(sys.executable).parent / "mlcheck")
SPOUT_SENTENCES = 5
"""How many the example spout has."""


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The components, in one folder as in a topology's jar."""
    copy = copy_examples(tmp_path_factory.mktemp("components")) / "python"
    for name in ("bolt.py", "bolt_input.py"):
        shutil.copy(ROOT / "tests" / "mutants" / name, copy)
    return copy


def tapped(folder: Path, *words: str) -> list[str]:
    return [MLCHECK, "tap", "--record", str(folder), "--record-all", "--", *words]


def topology(spout: list[str], bolt: list[str]) -> dict[str, Any]:
    return {
        "spouts": [storm.shell("sentences", "Spout", spout, ["sentence"])],
        "bolts": [storm.shell("split", "Bolt", bolt, ["word"]), storm.sink("sink")],
        "streams": [storm.link("sentences", "split"), storm.link("split", "sink")],
    }


def statuses(folder: Path, taps: int) -> dict[str, dict[str, Any]]:
    """What so many taps tell, by component; once they have ended."""
    found: dict[str, dict[str, Any]] = {}

    def ended() -> bool:
        texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.status.json")]
        found.update({each["conversation"].split("-")[0]: each for each in map(json.loads, texts)})
        return len(texts) == taps and all(each["state"] == "ended" for each in found.values())

    assert until(ended), found
    return found


def test_a_tapped_spout_and_bolt_do_what_they_do_untapped(cluster: Cluster, resources: Path, tmp_path: Path) -> None:
    plain = topology(["python3", "sentence_spout.py"], ["python3", "split_bolt.py"])
    with_taps = topology(tapped(tmp_path, "python3", "sentence_spout.py"), tapped(tmp_path, "python3", "split_bolt.py"))
    words = []
    for each in (plain, with_taps):
        run = cluster.run(each, storm.settled(SPOUT_SENTENCES), resources=(resources,))
        assert (run.death, run.errors, run.failed, run.killed) == (None, [], [], [])
        assert len(set(run.acked)) == SPOUT_SENTENCES
        words.append(sorted(values[0] for values in run.received("sink")))
    assert words[0] == words[1]
    told = statuses(tmp_path, 2)
    assert {name: each["gaps"] for name, each in told.items()} == {"sentences": 0, "split": 0}
    assert linted(tmp_path) == []
    for name, kind in (("sentences", "spout"), ("split", "bolt")):
        transcript = read(told[name]["transcript"])
        assert (transcript.header.profile.kind, transcript.header.component) == (kind, name)
        assert told[name]["component_pid"] != told[name]["pid"]
        assert transcript.header.profile.streams
    lines = Path(told["sentences"]["transcript"]).read_text(encoding="utf-8").splitlines()
    heard = [each["msg"] for each in map(json.loads, lines) if each.get("ch") == "in" and "msg" in each]
    calls = {each["command"]: each for each in heard if isinstance(each, dict) and "command" in each}
    ids = {name: each["id"] for name, each in calls.items() if name not in {"ack", "fail"}}
    assert ids.keys() >= {"next", "activate"}
    assert set(ids.values()) == {""}


def test_a_tapped_bolt_that_dies_takes_the_worker_along_and_leaves_its_last_words(
    cluster: Cluster, resources: Path, tmp_path: Path
) -> None:
    sentences = storm.source("sentences", ["sentence"], [[f"the {number} cows"] for number in range(12)])
    split = storm.shell("split", "Bolt", tapped(tmp_path, "python3", "bolt.py", "exits-after-10"), ["word"])
    run = cluster.run(
        {"spouts": [sentences], "bolts": [split, storm.sink("sink")],
         "streams": [storm.link("sentences", "split"), storm.link("split", "sink")]},
        storm.settled(12),
        resources=(resources,),
    )  # fmt: skip
    assert run.death is not None
    assert run.death.component == "split"
    assert statuses(tmp_path, 1)["split"]["rules"] == {"exited": 1}
    assert [rule for rule, *_ in linted(tmp_path)] == ["exited"]


@pytest.mark.parametrize("whom", ["component_pid", "pid"])
def test_killed_and_started_again_it_is_another_conversation(
    cluster: Cluster, resources: Path, tmp_path: Path, whom: str
) -> None:
    folder = tmp_path / "record"
    sentences = storm.source("sentences", ["sentence"], [[f"the {number} cows"] for number in range(12)])
    split = storm.shell("split", "Bolt", tapped(folder, "python3", "split_bolt.py"), ["word"])
    whole = {
        "spouts": [sentences],
        "bolts": [split, storm.sink("sink")],
        "streams": [storm.link("sentences", "split"), storm.link("split", "sink")],
    }

    def kill(run: Run) -> bool:
        """Kill it once it has worked; then Storm notices."""
        if len(run.of("ack")) >= 12 and not (tmp_path / "killed").exists():
            assert until(lambda: any(folder.glob("split-*.status.json")))
            [path] = folder.glob("split-*.status.json")
            os.kill(json.loads(path.read_text(encoding="utf-8"))[whom], signal.SIGKILL)
            (tmp_path / "killed").touch()
        return False

    run = cluster.run(whole, kill, resources=(resources,))
    assert run.death is not None
    assert (run.death.component, len(run.acked)) == ("split", 12)
    run = cluster.run(whole, storm.settled(12), resources=(resources,))
    assert (run.death, run.errors, len(run.acked), run.killed) == (None, [], 12, [])
    assert until(lambda: len(list(folder.glob("*.status.json"))) == 2)
    assert until(lambda: {json.loads(p.read_text())["state"] for p in folder.glob("*.json")} <= {"ended", "killed"})
