"""The workloads: what holds of each, with nothing wrong and with what must not hurt it; and what is lost if nobody
tracks it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from multilang_cli.topology.blame import told
from multilang_cli.topology.history import Died, EmissionEnded, Emitted, Faulted, Launched
from tests.command import ROOT
from tests.topologies.workloads import RELIABLE, UNRELIABLE, run_workload

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

UNANCHORED = {"no-anchor": {"anchored": "warn"}}
DEATHS = ("kill:split@9", "kill:acker@9", "kill:queue@9")


@pytest.mark.parametrize("name", [*RELIABLE, *UNRELIABLE])
def test_with_nothing_wrong_everything_holds(tmp_path: Path, name: str) -> None:
    ran = run_workload(name, tmp_path)
    assert ran.held() == UNANCHORED.get(name, {})
    assert ran.result.verdict == "conformant"
    assert ran.run.outcome.drained
    assert not ran.of(Died)
    reasons = [each.reason for each in ran.run.held if each.id == "anchored" and each.verdict == "warn"]
    assert all("(loose_split.py:9: self.emit([word]))" in reason for reason in reasons)


@pytest.mark.parametrize("fault", DEATHS)
def test_a_task_an_acker_or_a_spout_may_die(tmp_path: Path, fault: str) -> None:
    ran = run_workload("split-count", tmp_path, [fault])
    assert len(ran.of(Died)) == 1
    assert [each.phase for each in ran.of(Faulted)] == ["strikes"]
    assert ran.held() == {}
    assert ran.result.verdict == "conformant"


@pytest.mark.parametrize("name", UNRELIABLE)
def test_what_nobody_tracks_is_lost_and_that_is_found(tmp_path: Path, name: str) -> None:
    # Behind split-count, the same death loses nothing: see above.
    ran = run_workload(name, tmp_path, ["kill:count@9"])
    assert ran.held() == {"at-least-once": "fail", **UNANCHORED.get(name, {})}
    assert ran.result.exit_code == 1
    (lost,) = [each for each in ran.run.held if each.id == "at-least-once"]
    assert "stands in no tree: nobody replays it" in lost.reason
    assert all(any("lost at" in text for _, text in told(each)) for each in ran.run.stories if each.loose)
    assert any(each.loose for each in ran.run.stories)


def test_four_languages_in_one_topology_and_the_one_in_c_may_die(tmp_path: Path) -> None:
    examples = tmp_path / "examples"
    for part in ("c", "topologies"):
        shutil.copytree(ROOT / "examples" / part, examples / part)
    subprocess.run(["make", "-s", "-C", examples / "c", "split_bolt"], check=True)
    (tmp_path / "conformance").symlink_to(ROOT / "conformance")
    ran = run_workload("languages", tmp_path / "run", ["kill:split@9"], examples=examples / "topologies")
    assert ran.held() == {}
    assert ran.result.verdict == "conformant"


def test_a_pair_that_fails_is_replayed_above_both_its_roots(tmp_path: Path) -> None:
    ran = run_workload("join", tmp_path)
    failed = [each.emit for each in ran.of(EmissionEnded) if each.how == "failed"]
    assert len(failed) == 2
    replayed = Counter(each.message_id for each in ran.of(Emitted) if each.message_id is not None)
    ids = {each.n: each.message_id for each in ran.of(Emitted)}
    assert {number for number, times in replayed.items() if times == 2} == {ids[number] for number in failed}


def test_what_is_failed_is_replayed_before_it_could_time_out(tmp_path: Path) -> None:
    ran = run_workload("explicit-fail", tmp_path)
    assert Counter(how for _, how in ran.ends()) == {"acked": 6, "failed": 1}
    assert all(each.latency < 30 for each in ran.of(EmissionEnded))


def test_an_aggregation_acks_nothing_before_its_tick(tmp_path: Path) -> None:
    ran = run_workload("aggregate", tmp_path)
    totals = {each.task for each in ran.of(Launched) if each.component == "count"}
    emitted = next(at for at, each in enumerate(ran.history) if isinstance(each, Emitted) and each.task in totals)
    ended = next(at for at, each in enumerate(ran.history) if isinstance(each, EmissionEnded))
    assert emitted < ended
    assert max(len(each.anchors) for each in ran.of(Emitted) if each.task in totals) > 2


@pytest.mark.parametrize("seed", range(101, 105))
def test_a_sample_of_the_soak(tmp_path: Path, seed: int) -> None:
    # python -m benchmarks.faults has all of it: a fault that comes too late to strike is all that may be unknown.
    ran = run_workload(RELIABLE[seed % len(RELIABLE)], tmp_path, ["random:2"], seed)
    assert set(ran.held().items()) <= {("faults-struck", "unknown")}
    assert ran.result.exit_code in (0, 6)
