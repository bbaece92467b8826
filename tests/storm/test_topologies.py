"""The same Flux file in a real Storm and in our engine: the same counts, tasks of keys, acks and fails."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from multilang_cli.topology.flux import read_flux
from multilang_cli.topology.history import Delivered, Emitted, Launched
from tests.storm import cluster as storm
from tests.topologies.runs import HERE, Ran, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.storm.cluster import Cluster, Run

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

SENTENCES = ["snow white and the seven dwarfs", "the cow jumped over the moon", "人 naïve 人 moon", "1 2 -3 the 1"]
WORDS = Counter(word for sentence in SENTENCES for word in sentence.split())


def split_count(**conf: Any) -> dict[str, Any]:
    """A finite source, sentences split by one task (each fails a sentence by itself), words counted by three."""
    python = sys.executable
    split = storm.shell("split", "Bolt", [python, "split.py"], ["word"])
    count = storm.shell("count", "Bolt", [python, "count.py"], ["word", "count"])
    conf = {key.replace("__", "."): value for key, value in conf.items()}
    return {
        "name": "split-count",
        "config": {"topology.acker.executors": 2, "sentences": SENTENCES, **conf},
        "spouts": [storm.shell("sentences", "Spout", [python, "queue_spout.py"], ["sentence"])],
        "bolts": [split, {**count, "parallelism": 3}],
        "streams": [
            storm.link("sentences", "split"),
            storm.link("split", "count", type="FIELDS", args=["word"]),
        ],
    }


def ours(flux: dict[str, Any], folder: Path) -> Ran:
    path = folder / "topology.yaml"
    path.write_text(yaml.safe_dump(flux, allow_unicode=True), encoding="utf-8")
    return run(read_flux(path, resources=HERE).topology, folder / "run")


def places(pairs: list[tuple[int, str]]) -> dict[str, int]:
    """By key the place of its task among those that got anything; each key has one."""
    tasks = sorted({task for task, _ in pairs})
    found = {key: tasks.index(task) for task, key in pairs}
    assert len(found) == len(set(pairs))
    return found


def keys_of_storm(real: Run) -> list[tuple[int, str]]:
    return [(each["task"], each["values"][0]) for each in real.of("execute", "count")]


def keys_of(ran: Ran) -> list[tuple[int, str]]:
    emits = {each.n: json.loads(each.values)[0] for each in ran.of(Emitted)}
    tasks = {each.task for each in ran.of(Launched) if each.component == "count"}
    return [(each.task, emits[each.emit]) for each in ran.of(Delivered) if each.task in tasks]


def settled_and_counted(ends: int, words: int) -> storm.Until:
    settled, counted = storm.settled(ends), storm.executed("count", words)
    return lambda real: settled(real) and counted(real)


@pytest.mark.parametrize(
    ("conf", "failed"), [({}, []), ({"fails": "cow"}, [2]), ({"topology__acker__executors": 0}, [])]
)
def test_one_file_two_storms(cluster: Cluster, tmp_path: Path, conf: dict[str, Any], failed: list[int]) -> None:
    flux = split_count(**conf)
    real = cluster.run(flux, settled_and_counted(len(SENTENCES) + len(failed), sum(WORDS.values())), resources=(HERE,))
    ran = ours(flux, tmp_path)
    assert ran.result.verdict == "conformant"
    assert Counter(key for _, key in keys_of(ran)) == Counter(key for _, key in keys_of_storm(real)) == WORDS
    assert places(keys_of(ran)) == places(keys_of_storm(real))
    assert sorted(real.acked) == [id_ for id_, how in sorted(ran.ends()) if how == "acked"] == [1, 2, 3, 4]
    assert real.failed == [id_ for id_, how in ran.ends() if how == "failed"] == failed
