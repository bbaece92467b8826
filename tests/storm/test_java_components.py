"""Java components of a jar, hosted beside a shell bolt: every kind; and the same file in a real Storm."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from multilang_cli.topology.history import Delivered, Emitted, Launched
from multilang_cli.topology.history_file import read_history
from multilang_cli.topology.java.program import TOOLS, host_class_path
from multilang_cli.topology.java.reading import JavaFile, read_java_flux
from multilang_cli.transcript.naming import HISTORY
from tests.command import mlcheck, refusal
from tests.storm import cluster as storm
from tests.storm.build import CLASSES, STORM
from tests.topologies.runs import HERE, run

if TYPE_CHECKING:
    from tests.storm.cluster import Cluster

pytestmark = [pytest.mark.storm, pytest.mark.timeout(900)]

SOURCES = Path(__file__).parent / "components" / "src"
COUNT = 20
KINDS = f"""
name: kinds
config:
  mlcheck.unanchored: [direct]
components:
  - id: two
    className: org.apache.storm.topology.base.BaseWindowedBolt$Count
    constructorArgs: [2]
spouts:
  - id: numbers
    className: mlcheck.components.NumberSpout
    constructorArgs: [{COUNT}]
    properties: [{{name: prefix, value: n}}]
    configMethods: [{{name: withSuffix, args: ["!"]}}]
bolts:
  - id: types
    className: mlcheck.components.TypesBolt
    parallelism: 2
  - id: window
    className: mlcheck.components.SumWindow
    configMethods: [{{name: withTumblingWindow, args: [{{ref: two}}]}}]
    parallelism: 2
  - id: tick
    className: mlcheck.components.TickBolt
    constructorArgs: [{{told: hello}}]
    config:
      topology.tick.tuple.freq.secs: 1
  - id: shell
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs: [[{sys.executable}, echo.py], [text, number]]
streams:
  - {{from: numbers, to: types, grouping: {{type: FIELDS, args: [bytes, decimal]}}}}
  - {{from: types, to: window, grouping: {{type: DIRECT, streamId: direct}}}}
  - {{from: types, to: shell, grouping: {{type: CUSTOM, customClass: {{
      className: org.apache.storm.testing.NGrouping, constructorArgs: [1]}}}}}}
  - {{from: shell, to: tick, grouping: {{type: SHUFFLE}}}}
"""
ECHO = """
from multilang_cli.component.bolt import BasicBolt

class Echo(BasicBolt):
    def process(self, tup):
        self.emit([tup.values[1], tup.values[0]])

Echo().run()
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The components, in a jar with a folder `resources`."""
    folder = tmp_path_factory.mktemp("jar")
    resources = folder / "classes" / "resources"
    resources.mkdir(parents=True)
    (resources / "echo.py").write_text(ECHO, encoding="utf-8")
    made = folder / "components.jar"
    class_path = ":".join(host_class_path(STORM))
    sources = [str(each) for each in sorted(SOURCES.rglob("*.java"))]
    javac = [TOOLS.java_program("javac"), "-proc:none", "-nowarn", "-cp", class_path, "-d", str(folder / "classes")]
    subprocess.run([*javac, *sources], check=True)
    subprocess.run(
        [TOOLS.java_program("jar"), "--create", "--file", str(made), "-C", str(folder / "classes"), "."], check=True
    )
    return made


def emitted(folder: Path, component: str, stream: str = "default") -> list[list[Any]]:
    """The values that a component emitted in a run, as its history shows them."""
    tasks: dict[int, str] = {}
    found = []
    for event in read_history(folder / HISTORY):
        if isinstance(event, Launched):
            tasks[event.task] = event.component
        elif isinstance(event, Emitted) and tasks[event.task] == component and event.stream == stream:
            found.append(json.loads(event.values))
    return found


@pytest.mark.parametrize("version", ["2.5", "2.8"])
def test_every_kind_of_component(jar: Path, tmp_path: Path, version: str) -> None:
    """Types are kept between Java components, the shell bolt gets JSON; what is failed once is emitted again.

    With either Storm: the Flux of 2.5.0 was never published.
    """
    (tmp_path / "kinds.yaml").write_text(KINDS, encoding="utf-8")
    ran = mlcheck(
        *("topology", "run", "kinds.yaml", "--jar", str(jar), "--messages", str(2 * COUNT), "--record", "run"),
        *("--storm", version, "--drain", "3"),
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    findings = [finding["rule"] for subject in result["subjects"] for finding in subject["findings"]]
    assert findings == []
    # Each is acked as often as it is failed, and was emitted again with the same message id.
    assert "40 " in ran.stdout
    assert sorted(emitted(tmp_path / "run", "shell")) == sorted([f"n{n}!", n] for n in range(COUNT))
    windows = emitted(tmp_path / "run", "window")
    assert {count for _, count in windows} == {2}
    assert sum(total for total, _ in windows) == sum(range(COUNT))
    told = emitted(tmp_path / "run", "tick")
    assert {text for _, text in told} == {"hello"}


def test_a_run_begins_when_all_are_open(jar: Path, tmp_path: Path) -> None:
    """A JVM takes longer to be ready than half a second, which is not part of the seconds of a run."""
    (tmp_path / "kinds.yaml").write_text(KINDS, encoding="utf-8")
    ran = mlcheck(
        *("topology", "run", "kinds.yaml", "--jar", str(jar), "--seconds", "0.5", "--record", "run"), cwd=tmp_path
    )
    assert emitted(tmp_path / "run", "numbers"), ran.stdout + ran.stderr


STAND_IN = """
includes:
  - {file: kinds.yaml, resource: false, override: false}
spouts:
  - id: numbers
    className: mlcheck.QueueSpout
    constructorArgs: [[bytes, decimal]]
bolts:
  - id: types
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs: [[python3, echo.py], [atomic, text]]
    configMethods: [{name: setNamedStream, args: [direct, [long, target]]}]
config:
  mlcheck.queue: [[1, 2], [3, 4]]
"""


def test_stand_ins_for_what_needs_a_service(jar: Path, tmp_path: Path) -> None:
    """A file that includes the other one, with components of its own in place of two of its; that has a tick's conf."""
    (tmp_path / "kinds.yaml").write_text(KINDS, encoding="utf-8")
    (tmp_path / "stubbed.yaml").write_text(STAND_IN, encoding="utf-8")
    ran = mlcheck(
        "topology", "run", "stubbed.yaml", "--jar", str(jar), "--messages", "2", "--record", "run", cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert sorted(emitted(tmp_path / "run", "types")) == [[2, 1], [4, 3]]
    assert sorted(emitted(tmp_path / "run", "shell")) == [[1, 2], [3, 4]]


def test_a_bolt_that_is_killed(jar: Path, tmp_path: Path) -> None:
    """The faults need to know nothing of Java: nothing is lost."""
    flux = KINDS.replace("parallelism: 2\n  - id: window", "\n  - id: window")
    (tmp_path / "kinds.yaml").write_text(flux, encoding="utf-8")
    ran = mlcheck(
        *("topology", "run", "kinds.yaml", "--jar", str(jar), "--messages", str(2 * COUNT), "--record", "run"),
        *("--fault", "kill:types@5", "--conf", "topology.message.timeout.secs=3", "--guarantee", "none"),
        cwd=tmp_path,
    )
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    verdicts = {subject["id"]: subject["verdict"] for subject in result["subjects"]}
    assert verdicts["faults-struck"] == "pass", ran.stdout
    assert verdicts["same-xor"] == "pass", ran.stdout
    assert verdicts["run"] == "pass", ran.stdout


def test_one_file_two_storms(cluster: Cluster, tmp_path: Path) -> None:
    """Keys of Java values go to the very tasks, and the same is acked, as in a LocalCluster."""
    keys: list[list[Any]] = [
        ["a", 1], ["b", -1], ["人", 5_000_000_000], ["c", 1.5], ["d", True], ["e", [1, "x"]], ["f", {"k": 2}],
    ]  # fmt: skip
    flux = {
        "name": "keys",
        "spouts": [storm.source("numbers", ["text", "key"], [*keys, *keys])],
        "bolts": [
            {"id": "count", "className": "org.apache.storm.testing.TestWordCounter", "parallelism": 3},
            {**storm.shell("shell", "Bolt", [sys.executable, "count.py"], ["word", "count"]), "parallelism": 2},
        ],
        "streams": [
            storm.link("numbers", "count", type="FIELDS", args=["key"]),
            storm.link("count", "shell", type="FIELDS", args=["word"]),
        ],
    }
    real = cluster.run(flux, storm.settled(2 * len(keys)), resources=(HERE,))
    path = tmp_path / "topology.yaml"
    path.write_text(yaml.safe_dump(flux, allow_unicode=True), encoding="utf-8")
    read = read_java_flux(JavaFile(path=path, storm=STORM, jars=(str(CLASSES),), resources=HERE))
    ran = run(read.topology, tmp_path / "run")
    assert ran.result.verdict == "conformant"
    assert sorted(int(id_) for id_, how in ran.ends() if how == "acked") == sorted(real.acked)
    emits = {each.n: json.loads(each.values) for each in ran.of(Emitted)}
    for name in ("count", "shell"):
        tasks = {each.task for each in ran.of(Launched) if each.component == name}
        given = [each for each in ran.of(Delivered) if each.task in tasks]
        ours = Counter((each.task, json.dumps(emits[each.emit])) for each in given)
        theirs = Counter((each["task"], json.dumps(each["values"])) for each in real.of("execute", name))
        assert ours == theirs


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mlcheck.components.TypesBolt", "org.example.Gone", "org.example.Gone: it is in no jar that was given"),
        ("constructorArgs: [20]", "constructorArgs: [twenty]", "suitable constructor"),
        ("name: withSuffix", "name: withPrefix", "Unable to find configuration method 'withPrefix'"),
        (
            "echo.py], [text, number]]",
            "echo.py], [text, number]]\n    properties: [{name: nope, value: 1}]",
            "no public field for the property 'nope'",
        ),
        ("type: SHUFFLE", "type: FIELDS, args: [words]", "non-existent fields: [words]"),
    ],
)
def test_what_java_says_against_a_file(jar: Path, tmp_path: Path, old: str, new: str, told: str) -> None:
    assert KINDS.count(old) == 1
    (tmp_path / "kinds.yaml").write_text(KINDS.replace(old, new), encoding="utf-8")
    assert told in refusal(mlcheck("topology", "plan", "kinds.yaml", "--jar", str(jar), cwd=tmp_path))


def test_a_builder_in_java(jar: Path, tmp_path: Path) -> None:
    """Who is given no parallelism has one task, as in Storm: Flux writes it always, a builder need not."""
    (tmp_path / "built.yaml").write_text("name: built\ntopologySource: {className: mlcheck.components.Built}\n")
    planned = mlcheck("topology", "plan", "built.yaml", "--jar", str(jar), "--json", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    components = {each["id"]: each for each in json.loads(planned.stdout)["components"]}
    assert {name: len(each["tasks"]) for name, each in components.items()} == {"numbers": 1, "types": 1, "tick": 3}
