"""The fixture itself: what it refuses, gives up and leaves behind."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.command import ROOT
from tests.processes import until
from tests.storm import cluster as storm
from tests.storm.build import BuildError, run_tool
from tests.storm.cluster import Cluster, ClusterError

if TYPE_CHECKING:
    from tests.storm.cluster import Run

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

LISTENING = "0A"
TOPOLOGY = {
    "spouts": [storm.source("numbers", ["n"], [[1], [2.5], [None], [["é", {"k": True}]]])],
    "bolts": [storm.sink("sink")],
    "streams": [storm.link("numbers", "sink")],
}
TUPLES = 4
BOLT = ROOT / "examples" / "python" / "split_bolt.py"
STUBBORN = {
    **TOPOLOGY,
    "bolts": [storm.shell("sink", "Bolt", ["sh", "-c", f"sleep 600 & exec {sys.executable} {BOLT}"], ["word"])],
}
"""A right bolt that leaves a process behind."""


def never(run: Run) -> bool:
    return len(run.events) < 0


def test_values_of_every_kind_arrive(cluster: Cluster) -> None:
    run = cluster.run(TOPOLOGY, storm.executed("sink", TUPLES))
    assert run.received("sink") == [[1], [2.5], [None], [["é", {"k": True}]]]
    assert [each["to"] for each in run.of("emit", "numbers")] == [[each["task"]] for each in run.of("execute")]


def test_what_never_happens_is_given_up(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="did not happen in time") as refused:
        cluster.run(TOPOLOGY, never, limit=0)
    assert " INFO " in str(refused.value)  # the end of the log


def test_a_wrong_topology_is_refused(cluster: Cluster) -> None:
    wrong = {**TOPOLOGY, "bolts": [{"id": "sink", "className": "no.such.Bolt"}]}
    with pytest.raises(ClusterError, match=r"Storm refuses the topology: .*no\.such\.Bolt"):
        cluster.run(wrong, never)


def test_a_component_that_cannot_start_is_a_death(cluster: Cluster) -> None:
    bolt = storm.shell("sink", "Bolt", ["./nothing"], ["word"])
    run = cluster.run({**TOPOLOGY, "bolts": [bolt]}, never)
    assert run.death is not None
    assert run.death.component == "sink"
    assert any("Error when launching multilang subprocess" in text for text in run.death.error)


def test_only_this_machine_can_connect(cluster: Cluster) -> None:
    own = _inodes(cluster.pid)
    listening = {address for address, inode in _sockets() if inode in own}
    assert listening
    assert listening <= {"127.0.0.1"}


def _sockets() -> list[tuple[str, str]]:
    """Address and inode of each socket that listens."""
    found = []
    for name in ("tcp", "tcp6"):
        for line in Path("/proc/net", name).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENING:
                raw = bytes.fromhex(words[1].partition(":")[0])
                found.append((socket.inet_ntoa(raw[::-1]) if len(raw) == 4 else raw.hex(), words[9]))
    return found


def _inodes(pid: int) -> set[str]:
    found = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.add(str(each.readlink()))
    return {link.removeprefix("socket:[").rstrip("]") for link in found if link.startswith("socket:")}


def test_what_outlives_its_topology_is_killed(cluster: Cluster) -> None:
    run = cluster.run(STUBBORN, storm.settled(TUPLES))
    assert [line.rpartition("/")[2] for line in run.killed] == ["sleep 600"]
    assert until(lambda: len(_session(cluster.pid)) == 1)


def test_nothing_is_left_of_a_jvm_that_was_killed(tmp_path: Path) -> None:
    own = Cluster(tmp_path / "cluster")

    def kill(run: Run) -> bool:
        if storm.settled(TUPLES)(run):
            os.kill(own.pid, signal.SIGKILL)
        return False

    with pytest.raises(ClusterError, match="the JVM is gone"):
        own.run(STUBBORN, kill)
    assert any("sleep" in each for each in _session(own.pid))
    own.close()
    assert until(lambda: not _session(own.pid))


def _session(leader: int) -> list[str]:
    """The commands of all processes in a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2].split()[3]) == leader:
            found.append(fields[0])
    return found


def test_a_missing_tool_is_named_with_the_line_that_installs_it() -> None:
    with pytest.raises(
        BuildError, match=r"no-such-tool was not found; .* apt-get install openjdk-17-jdk-headless maven"
    ):
        run_tool(["no-such-tool"])


def test_a_failing_tool_shows_what_it_printed() -> None:
    with pytest.raises(BuildError, match="exit code 3:\nno space left"):
        run_tool(["sh", "-c", "echo no space left; exit 3"])
