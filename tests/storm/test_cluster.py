"""What mlcheck says of a component beforehand is what happens to it in a real Storm."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.components import ROOT, copy_examples
from tests.storm import cluster as storm
from tests.storm.cluster import Run
from tests.storm.judged import Said, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.storm.cluster import Cluster

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
SENTENCES = [f"the {number} cows" for number in range(1, 13)]
IDS = list(range(1, len(SENTENCES) + 1))
WORDS = sorted(word for sentence in SENTENCES for word in sentence.split())
SPOUT_SENTENCES = 5
"""How many the example spouts have."""


class Row(NamedTuple):
    """A component, the options of mlcheck that show what is wrong with it, and the rule that it breaks, if it does."""

    kind: str
    command: list[str]
    options: list[str]
    rule: str = ""
    fate: str = "survives"


SETTLE = ["-k", "bolt.settle.once", "--limit", "settle=3"]
BACKLOG = ["-k", "bolt.heartbeat.behind-backlog"]
DIRECT = ["-k", "bolt.emit.direct", "--stream", "direct:word!direct"]
MUTANT = ["python3", "bolt.py"]
BOLTS = {
    "bolt on storm.py": Row("bolt", ["python3", "split_bolt.py"], ["-k", "bolt.settle"]),
    "bolt in C": Row("bolt", ["./split_bolt"], ["-k", "bolt.settle"]),
    "acks twice": Row("bolt", [*MUTANT, "ack-twice"], SETTLE, "ack-twice", "dies"),
    "prints": Row("bolt", [*MUTANT, "print-to-stdout"], SETTLE, "stdout-text", "dies"),
    "exits": Row("bolt", [*MUTANT, "exits-after-10"], BACKLOG, "exited", "dies"),
    "misspells emit": Row("bolt", [*MUTANT, "misspelt-command"], SETTLE, "command-unknown", "loses-data"),
    "adds text": Row("bolt", [*MUTANT, "text-after-object"], SETTLE, "text-after-object"),
    "never acks": Row("bolt", [*MUTANT, "never-ack"], SETTLE, "tuple-unsettled", "fails-tuple"),
}
EMITS_DIRECTLY = Row("bolt", [sys.executable, "direct_bolt.py"], DIRECT, "direct-emit", "dies")
ACK = ["-k", "spout.sync.ack"]
SPOUTS = {
    "spout on storm.py": Row("spout", ["python3", "sentence_spout.py"], ACK),
    "spout in C": Row("spout", ["./sentence_spout"], ACK),
    "unknown command": Row("spout", ["python3", "spout.py", "unknown-command"], ACK, "command-unknown", "dies"),
}
ROWS = {**BOLTS, "emits directly": EMITS_DIRECTLY, **SPOUTS}


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All components in one folder, as in a topology's jar."""
    folder = tmp_path_factory.mktemp("components")
    copy = copy_examples(folder)
    mutants = [ROOT / "tests" / "mutants" / name for name in ("bolt.py", "spout.py")]
    programs = [copy / "c" / name for name in ("split_bolt", "sentence_spout")]
    gathered = folder / "resources"
    gathered.mkdir()
    for each in [*(copy / "storm_py").glob("*.py"), *mutants, *programs, HERE / "direct_bolt.py"]:
        shutil.copy(each, gathered)
    return gathered


@pytest.fixture(scope="module")
def judged(resources: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Said]]]:
    """What mlcheck says of each row: it is asked while the cluster, which mostly waits, runs earlier rows."""
    pool = ThreadPoolExecutor(2)
    records = {name: tmp_path_factory.mktemp("record") for name in ROWS}
    yield {
        name: pool.submit(judge, row.kind, row.command, resources, records[name], *row.options)
        for name, row in ROWS.items()
    }
    pool.shutdown(cancel_futures=True)


def foretold(judged: dict[str, Future[Said]], name: str) -> Said:
    """What mlcheck says: the rule and the fate that the row names, and nothing else."""
    row, said = ROWS[name], judged[name].result()
    assert said.fates == ({row.rule: row.fate} if row.rule else {})
    return said


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", BOLTS)
def test_a_bolt_fares_as_foretold(
    cluster: Cluster, resources: Path, judged: dict[str, Future[Said]], name: str
) -> None:
    row, said = BOLTS[name], foretold(judged, name)
    split = storm.shell("split", "Bolt", row.command, ["word"])
    seconds = 1 if row.fate == "fails-tuple" else 60
    topology = splitting(split, storm.link("split", "sink"), seconds)
    confirm(row, said, cluster.run(topology, over(row), resources=(resources,)))


def over(row: Row) -> storm.Until:
    """When every tuple has its fate. Tuples may time out before the bolt is up: then all must pass it too."""
    settled, passed = storm.settled(len(IDS)), storm.executed("sink", len(WORDS))
    return lambda run: settled(run) and (row.fate != "fails-tuple" or passed(run))


def splitting(split: dict[str, Any], link: dict[str, Any], seconds: int = 60) -> dict[str, Any]:
    """A topology that splits the sentences; their tuples time out after `seconds`."""
    return {
        "config": {"topology.message.timeout.secs": seconds},
        "spouts": [storm.source("sentences", ["sentence"], [[sentence] for sentence in SENTENCES])],
        "bolts": [split, storm.sink("sink")],
        "streams": [storm.link("sentences", "split"), link],
    }


def confirm(row: Row, said: Said, run: Run) -> None:
    """That the cluster shows the fate, and nothing worse."""
    words = sorted(values[0] for values in run.received("sink"))
    if row.fate == "dies":
        assert run.death is not None
        assert run.death.component == "split"
        assert said.foretold(row.rule, run.death.error), (said, run.death)
        assert len(run.acked) < len(IDS)
        return
    assert (run.death, run.errors, run.killed) == (None, [], [])
    if row.fate == "fails-tuple":
        assert (run.acked, sorted(run.failed)) == ([], IDS)
    else:
        assert (sorted(run.acked), run.failed) == (IDS, [])
    assert words == ([] if row.fate == "loses-data" else WORDS)


def test_a_direct_emit_is_right_and_kills_the_worker(
    cluster: Cluster, resources: Path, judged: dict[str, Future[Said]]
) -> None:
    row, said = EMITS_DIRECTLY, foretold(judged, "emits directly")
    assert said.code == 0
    split = {
        "id": "split",
        "className": "mlcheck.cluster.DirectShellBolt",
        "constructorArgs": [row.command, ["word"]],
    }
    topology = splitting(split, storm.link("split", "sink", type="DIRECT", streamId="direct"))
    confirm(row, said, cluster.run(topology, storm.settled(len(IDS)), resources=(resources,)))


@pytest.mark.parametrize("name", SPOUTS)
def test_a_spout_fares_as_foretold(
    cluster: Cluster, resources: Path, judged: dict[str, Future[Said]], name: str
) -> None:
    row, said = SPOUTS[name], foretold(judged, name)
    run = cluster.run(
        {
            "spouts": [storm.shell("sentences", "Spout", row.command, ["sentence"])],
            "bolts": [storm.shell("split", "Bolt", ["./split_bolt"], ["word"]), storm.sink("sink")],
            "streams": [storm.link("sentences", "split"), storm.link("split", "sink")],
        },
        storm.settled(SPOUT_SENTENCES),
        resources=(resources,),
    )
    if row.fate == "dies":
        assert run.death is not None
        assert run.death.component == "sentences"
        assert said.foretold(row.rule, run.death.error), (said, run.death)
        return
    assert (run.death, run.errors, run.failed, run.killed) == (None, [], [], [])
    emitted = [each["values"][0] for each in run.of("emit", "sentences")]
    assert len(set(run.acked)) == len(emitted) == SPOUT_SENTENCES
    assert sorted(values[0] for values in run.received("sink")) == sorted(" ".join(emitted).split())


def test_the_comparison_can_fail() -> None:
    run = Run()
    for identity in IDS:
        run.add({"event": "ack", "component": "sentences", "id": identity})
    said = Said({}, {"ack-twice": "id: 7"}, 0)
    for fate in ("survives", "fails-tuple", "dies"):
        with pytest.raises(AssertionError):
            confirm(Row("bolt", [], [], "ack-twice", fate), said, run)
    run.add({"event": "death", "component": "split", "status": 11, "error": ["id: -12"]})
    for fate in ("survives", "fails-tuple", "loses-data"):
        with pytest.raises(AssertionError):
            confirm(Row("bolt", [], [], "ack-twice", fate), said, run)
    assert run.death is not None
    assert said.foretold("ack-twice", run.death.error)
    assert not said.foretold("ack-twice", ("java.lang.RuntimeException",))
