"""The same Flux files in mlcheck and in the real thing: what is refused, which task ids there are, where keys go."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.topology.flux import FluxError
from multilang_cli.topology.groupings import ChooserContext, chooser
from multilang_cli.topology.model import ComponentSpec
from multilang_cli.topology.tasks import lay_out, own_conf
from tests.command import ROOT
from tests.flux import GOOD, SHELL_BOLT, SHELL_SPOUT, read_topology
from tests.groupings import dice
from tests.storm import cluster as storm
from tests.storm.build import STORM
from tests.storm.cluster import Cluster, ClusterError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.storm.cluster import Run

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

EXECUTED = 30
WORDS = f"""name: words
config:
  topology.workers: 1
  topology.acker.executors: 2
spouts:
  - id: Words
    className: org.apache.storm.testing.TestWordSpout
    parallelism: 2
bolts:
  - id: split
    className: {SHELL_BOLT}
    constructorArgs: [[{sys.executable}, split_bolt.py], [word]]
    numTasks: 3
  - id: log
    className: org.apache.storm.flux.wrappers.bolts.LogInfoBolt
    parallelism: 2
    numTasks: 5
streams:
  - {{from: Words, to: split, grouping: {{type: SHUFFLE}}}}
  - {{from: split, to: log, grouping: {{type: FIELDS, args: [word]}}}}
"""
"""Ids that show the order: capital letters come before the ackers."""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("from: source", "from: sauce", "Component: [split] subscribes from non-existent component [sauce]"),
        (
            "streamId: odd",
            "streamId: even",
            "Component: [count] subscribes from non-existent stream: [even] of component [split]",
        ),
        (
            "args: [word]}",
            "args: [wort]}",
            "[count] subscribes from stream: [default] of component [split] + with non-existent fields: [wort]",
        ),
        ("args: [word]}", "args: [word, word]}", "duplicate field 'word'"),
        ("parallelism: 2", "parallelism: 0", "Parallelism must be positive."),
        ("paths, [a, 1]", "paths, [a], b", "Unable to find configuration method 'addComponentConfig' in class"),
        ("[[node, source.js], [sentence]]", "[node]", "Couldn't find a suitable constructor for class"),
        ("[[node, source.js], [sentence]]", "[[node], ~]", "argument shouldn't be null - index: 1"),
        ("[[node, source.js], [sentence]]", "[[node], []]", "Index 0 out of bounds for length 0"),
        ("[[node, source.js], [sentence]]", "[[node, 5]]", "array element type mismatch"),
        ("type: SHUFFLE", "type: shuffle", "Unable to find enum value 'shuffle' for enum class"),
        ("parallelism: 2", "paralelism: 2", "Unable to find property 'paralelism' on class"),
        ("- odd", "- __odd", "__odd is not a valid stream id."),
        ("topology.workers: 2", "topology.workers: 0", "Field TOPOLOGY_WORKERS must be a Positive Number"),
        (
            "topology.workers: 2",
            "topology.workers: many",
            "Field TOPOLOGY_WORKERS must be an Integer within",
        ),
        (SHELL_SPOUT, "com.example.KafkaSpout", "com.example.KafkaSpout"),
    ],
)
def test_storm_and_mlcheck_refuse_in_the_same_words(
    cluster: Cluster, tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in GOOD
    file = tmp_path / "t.yaml"
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FluxError) as ours:
        read_topology(file, storm=STORM)
    with pytest.raises(ClusterError, match="Storm refuses the topology") as theirs:
        cluster.run(file, _at_once)
    assert words in ours.value.sentence
    assert words in str(theirs.value)


@pytest.mark.parametrize("comment", ["# ${x}", "# ${ENV-X}"])
def test_without_properties_flux_dies_of_a_placeholder_in_a_comment(
    cluster: Cluster, tmp_path: Path, comment: str
) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(f"{WORDS}{comment}\n", encoding="utf-8")
    with pytest.raises(FluxError, match="dies here of a NullPointerException"):
        read_topology(file, storm=STORM)
    with pytest.raises(ClusterError, match="NullPointerException"):
        cluster.run(file, _at_once)


def _at_once(run: Run) -> bool:
    del run
    return True


def test_storm_has_the_same_tasks_and_sends_keys_to_the_same(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(WORDS, encoding="utf-8")
    topology = read_topology(file, storm=STORM)
    layout = lay_out(topology, STORM)
    run = cluster.run(file, storm.executed("log", EXECUTED), resources=(ROOT / "examples" / "python",))
    assert run.death is None
    assert {each["task"] for each in run.of("execute", "log")} <= set(layout.tasks_of("log"))
    assert {each["task"] for each in run.of("emit", "Words")} <= set(layout.tasks_of("Words")) == {1, 2}
    where = ChooserContext(("word",), layout.tasks_of("log"), load_rulebook().version(STORM), dice())
    made = chooser(topology.subscriptions[1].grouping, where)
    assert made is not None
    words = [each for each in run.of("emit", "split") if each["stream"] == "default"]
    assert len(words) >= EXECUTED
    assert [each["to"] for each in words] == [list(made(each["values"])) for each in words]


ODD = WORDS.replace("numTasks: 3", "numTasks: 1").replace("{type: FIELDS, args: [word]}", "{type: FIELDS, args: []}")
ODD = ODD.replace(
    "streams:\n",
    f"""  - id: lone
    className: {SHELL_BOLT}
    constructorArgs: [[./nothing]]
  - id: pairs
    className: org.apache.storm.flux.wrappers.bolts.LogInfoBolt
    numTasks: 4
components:
  - id: key
    className: org.apache.storm.tuple.Fields
    constructorArgs: [[word]]
streams:
  - from: split
    to: pairs
    grouping:
      type: CUSTOM
      customClass:
        className: org.apache.storm.grouping.PartialKeyGrouping
        constructorArgs: [{{ref: key}}]
""",
)
"""A bolt that could not start, but is in no stream; a fields grouping by nothing; partial key grouping."""


def test_flux_is_as_odd_as_is_said(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(ODD, encoding="utf-8")
    topology = read_topology(file, storm=STORM)
    layout = lay_out(topology, STORM)
    run = cluster.run(file, storm.executed("log", EXECUTED), resources=(ROOT / "examples" / "python",))
    assert run.death is None
    assert "lone" not in topology.components
    assert {each["task"] for each in run.of("execute", "log")} == {layout.tasks_of("log")[0]}
    pairs = layout.tasks_of("pairs")
    made = chooser(
        topology.subscriptions[0].grouping, ChooserContext(("word",), pairs, load_rulebook().version(STORM), dice())
    )
    assert made is not None
    words = [each for each in run.of("emit", "split") if each["stream"] == "default"]
    theirs = [tuple(task for task in each["to"] if task in pairs) for each in words]
    assert theirs == [made(each["values"]) for each in words]


def test_storm_takes_a_field_of_another_stream_and_dies_at_the_first_tuple(cluster: Cluster, tmp_path: Path) -> None:
    more = "    configMethods: [{name: setNamedStream, args: [odd, [why]]}]\n    numTasks: 3"
    file = tmp_path / "t.yaml"
    file.write_text(WORDS.replace("    numTasks: 3", more).replace("args: [word]}", "args: [why]}"), encoding="utf-8")
    with pytest.raises(FluxError, match="why does not exist in stream"):
        read_topology(file, storm=STORM)
    run = cluster.run(file, storm.executed("log", 1), resources=(ROOT / "examples" / "python",))
    assert run.death is not None
    assert run.death.component == "split"
    assert any("why does not exist" in text for text in run.death.error)


TELLS_ITS_CONF = """import json, sys
conf = json.loads(sys.stdin.readline())["conf"]
with open(sys.argv[1], "w") as file:
    json.dump(conf, file)
"""
OWN = {
    "a.b": "yes",
    "topology.tick.tuple.freq.secs": 7,
    "topology.max.spout.pending": 5,
    "topology.debug": True,
    "topology.message.timeout.secs": 77,
    "topology.subprocess.timeout.secs": 99,
    "topology.workers": 3,
}


def test_storm_tells_a_component_the_same_of_its_own_conf(cluster: Cluster, tmp_path: Path) -> None:
    """A bolt that writes down its handshake, and ends."""
    (tmp_path / "bolt.py").write_text(TELLS_ITS_CONF, encoding="utf-8")
    told = tmp_path / "told.json"
    calls = [{"name": "addComponentConfig", "args": list(each)} for each in OWN.items()]
    bolt = storm.shell("bolt", "Bolt", [sys.executable, str(tmp_path / "bolt.py"), str(told)], ["x"])
    flux = {
        "name": "own",
        "spouts": [storm.source("source", ["x"], [["a"]])],
        "bolts": [{**bolt, "configMethods": calls}],
        "streams": [storm.link("source", "bolt")],
    }
    cluster.run(flux, lambda run: run.death is not None)
    theirs = json.loads(told.read_text(encoding="utf-8"))
    ours = own_conf(ComponentSpec(id="bolt", kind="bolt", command=(), conf=OWN), STORM)
    assert {key for key in OWN if theirs.get(key) == OWN[key]} == ours.keys()
