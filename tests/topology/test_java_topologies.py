"""Topologies with Java components, as far as no Java is needed: what is refused before one starts, and their values."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.supervisor import Finished
from multilang_cli.protocol.storm.java_hash import java_hash
from multilang_cli.topology.flux import FluxError, NeedsJavaError, read_flux
from multilang_cli.topology.groupings import ChooserContext, GroupingError, chooser
from multilang_cli.topology.java import groupings as java_groupings
from multilang_cli.topology.java import reading
from multilang_cli.topology.java.groupings import CustomGroupings
from multilang_cli.topology.java.program import JavaHostError, JavaOptions, fetched
from multilang_cli.topology.java.reading import JavaFile, read_java_flux
from multilang_cli.topology.java.unknown_keys import without_unknown_keys
from multilang_cli.topology.java.values import JavaValues
from multilang_cli.topology.model import Grouping
from tests.command import mlcheck, refusal
from tests.groupings import dice

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Json

FILE = """name: words
dependencies:
  - org.example:parts:1.0
spouts:
  - id: words
    className: org.apache.storm.testing.TestWordSpout
    config:
      topology.max.spout.pending: 7
bolts:
  - id: parse
    className: {0}
streams:
  - {{from: words, to: parse, grouping: {{type: SHUFFLE}}}}
"""
LOG = "org.apache.storm.flux.wrappers.bolts.LogInfoBolt"
TAG = "java-1"
LONG: Json = {"json": -5, "class": "java.lang.Long", "hash": 4, TAG: "AAA="}
BYTES: Json = {"class": "byte[]", "hash": 31, TAG: "BBB="}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "topology.yaml"
    path.write_text(FILE.format("org.example.Parse"), encoding="utf-8")
    return path


def test_what_a_file_tells_before_java_reads_it(file: Path) -> None:
    with pytest.raises(NeedsJavaError) as caught:
        read_flux(file)
    assert caught.value.dependencies == ("org.example:parts:1.0",)
    assert caught.value.component_conf["words"] == {"topology.max.spout.pending": 7}
    assert [place.line for place in caught.value.unknown] == [2, 7]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("bolts:\n  - {id: a, config: {x: 1}, className: C}\n", {"bolts": [{"id": "a", "className": "C"}]}),
        ("bolts: [{id: a, className: C, config: {x: {y: 1}}}]\n", {"bolts": [{"id": "a", "className": "C"}]}),
        ("bolts:\n- config:\n    x: 1\n  id: a\n- id: b\n", {"bolts": [{"id": "a"}, {"id": "b"}]}),
        (
            "bolts:\n- id: a\n  config:\n  # a comment\n    x:\n    - 1\n\n- id: b\n",
            {"bolts": [{"id": "a"}, {"id": "b"}]},
        ),
        ("dependencies: [a,\n  b]\nspouts: [{id: ${name}}]\n", {"spouts": [{"id": "${name}"}]}),
        (
            "{dependencies: [], spouts: [{id: a, args: [{config: 1}]}]}",
            {"spouts": [{"id": "a", "args": [{"config": 1}]}]},
        ),
        ("config: {config: 1}\nbolts: [{id: a, config: }]\n", {"config": {"config": 1}, "bolts": [{"id": "a"}]}),
    ],
    ids=range(7),
)
def test_keys_that_flux_does_not_know_are_left_out(text: str, left: Json) -> None:
    """However they are written; all others stay in their lines and columns."""
    lines = text.splitlines()
    without = without_unknown_keys(text, range(1, len(lines) + 1))
    assert yaml.safe_load(without.replace("${name}", "'${name}'")) == left
    assert [len(line) for line in without.splitlines()] == [len(line) for line in lines]


def test_conf_of_a_component_needs_no_java(file: Path) -> None:
    file.write_text(FILE.format(LOG), encoding="utf-8")
    topology = read_flux(file).topology
    assert topology.components["words"].conf == {"topology.max.spout.pending": 7}
    assert topology.java is None


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("org.example.Parse", "org.example.Parse: it is in no jar that was given (--jar my-topology.jar"),
        ("org.apache.storm.hbase.bolt.HBaseBolt", "needs HBase, and its module is in no jar that was given"),
        ("org.apache.storm.redis.bolt.RedisStoreBolt", "org.apache.storm:storm-redis:VERSION under dependencies"),
    ],
)
def test_classes_that_are_nowhere(file: Path, name: str, told: str) -> None:
    """Java is not even started."""
    text = FILE.format(name).replace("dependencies:\n  - org.example:parts:1.0\n", "")
    file.write_text(text, encoding="utf-8")
    said = refusal(mlcheck("topology", "plan", "topology.yaml", cwd=file.parent, PATH="/nowhere"))
    assert said.startswith("mlcheck: topology.yaml:8: ")
    assert told in said


def test_no_jdk(file: Path) -> None:
    said = refusal(mlcheck("topology", "plan", "topology.yaml", cwd=file.parent, PATH="/nowhere", JAVA_HOME=""))
    assert "javac was not found on PATH; Java components need a JDK of 17 or later and Maven, on Debian:" in said


def test_a_jar_is_found_from_wherever_a_component_starts(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path is relative to where mlcheck was started; components start in resources."""
    written: list[str] = []

    def read_options(command: list[str], seconds: float) -> Finished:
        del seconds
        written.append((Path(command[0]) / "options").read_text(encoding="utf-8"))
        (Path(command[0]) / "plan.json").write_bytes(b"{}")
        return Finished(0, b"", b"")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(reading, "host_class_path", lambda _: ())
    monkeypatch.setattr(JavaOptions, "command", lambda self, *_: (str(self.folder),))
    monkeypatch.setattr(reading, "finish", read_options)
    with pytest.raises(FluxError):  # an empty plan
        read_java_flux(JavaFile(path=file, storm="2.8.3", jars=("lib", "lib/*"), resources=tmp_path))
    assert f"{tmp_path}/lib:{tmp_path}/lib/*:" in written[0]


HOSTILE_PLANS = [
    (b'{"conf": {"topology.worker.childopts": "-Dx=\'y"}}', "topology.worker.childopts: expected"),
    (b'{"conf": {"topology.worker.childopts": 5}}', "topology.worker.childopts: expected"),
    (b'{"conf": {"topology.worker.childopts": ["-Xmx1g", null]}}', "topology.worker.childopts: expected"),
    (b'{"components": [{"id": 5}]}', "what Java made of it is no topology"),
    (b'{"name": "\xff"}', "what Java made of it is no topology"),
    (b'{"conf": ', "what Java made of it is no topology"),
    (b'{"conf": {"a": ' + b"[" * 100_000, "what Java made of it is no topology"),
]
"""What the classes of a jar can have the program in Java tell."""


@pytest.mark.parametrize(("plan", "told"), HOSTILE_PLANS, ids=range(len(HOSTILE_PLANS)))
def test_a_plan_that_is_none_is_refused(
    plan: bytes, told: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_plan(command: list[str], seconds: float) -> Finished:
        del seconds
        (Path(command[0]) / "plan.json").write_bytes(plan)
        return Finished(0, b"", b"")

    monkeypatch.setattr(reading, "host_class_path", lambda _: ())
    monkeypatch.setattr(JavaOptions, "command", lambda self, *_: (str(self.folder),))
    monkeypatch.setattr(reading, "finish", write_plan)
    with pytest.raises((FluxError, JavaHostError)) as refused:
        read_java_flux(JavaFile(path=file, storm="2.8.3", resources=tmp_path))
    assert told in str(refused.value)


def test_an_included_resource_of_a_jar(file: Path) -> None:
    """As Storm finds it: on the class path."""
    jar = file.parent / "parts.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("more.yaml", FILE.format(LOG))
    file.write_text("includes:\n  - {file: /more.yaml, resource: true, override: false}\n", encoding="utf-8")
    assert read_flux(file, jars=(str(jar),)).topology.components.keys() == {"words", "parse"}


def test_an_included_resource_of_a_dependency(file: Path) -> None:
    """Its jar is on the class path of a Flux that reads the file; Maven is asked for nothing else."""
    jar, asked = file.parent / "parts-1.0.jar", []

    def fetch(coordinates: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(coordinates)
        return (str(jar),)

    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("more.yaml", FILE.format(LOG))
    text = "dependencies: ['org.example:parts:1.0']\nincludes:\n  - {file: /NAME, resource: true, override: false}\n"
    file.write_text(text.replace("NAME", "more.yaml"), encoding="utf-8")
    assert read_flux(file, fetch=fetch).topology.components.keys() == {"words", "parse"}
    (file.parent / "beside.yaml").write_text(FILE.format(LOG), encoding="utf-8")
    file.write_text(text.replace("NAME", "beside.yaml"), encoding="utf-8")
    assert read_flux(file, fetch=fetch).topology.components.keys() == {"words", "parse"}
    assert asked == [("org.example:parts:1.0",)]


def test_storm_1(file: Path) -> None:
    with pytest.raises(JavaHostError, match=r"run on Storm 2 only, not on 1\.2\.4"):
        read_java_flux(JavaFile(path=file, storm="1.2.4"))


def test_a_jar_that_is_not_there(file: Path) -> None:
    with pytest.raises(JavaHostError, match=r"gone\.jar: there is no such file"):
        read_java_flux(JavaFile(path=file, storm="2.8.3", jars=("gone.jar",)))


def test_what_is_no_coordinate() -> None:
    with pytest.raises(JavaHostError, match="'parts' is no Maven coordinate; expected group:artifact:version"):
        fetched(("parts",))


def test_values_for_java_and_for_shell_components() -> None:
    values = JavaValues(TAG, frozenset({2, 3}))
    assert values.given(["a", LONG], 2) == ["a", LONG]
    assert values.given(["a", LONG], 4) == ["a", -5]
    assert values.shown(["a", BYTES]) == ["a", "byte[]"]
    values.check(["a", BYTES], (2, 3))
    with pytest.raises(GroupingError, match=r"value 2 of its tuple: byte\[\] has no JSON form"):
        values.check(["a", BYTES], (2, 4))


def test_an_object_with_another_key_is_an_object() -> None:
    """The tag is not known to shell components, so what they make up is handed on as it is."""
    values = JavaValues("java-2", frozenset({2}))
    assert values.given([LONG], 4) == [LONG]


@pytest.mark.parametrize("storm", ["2.8.3", "2.5.0"])
def test_the_hash_of_a_java_value_is_the_one_that_java_told(storm: str) -> None:
    """That of the Long -5 is 4, that of an Integer -5 is -5."""
    version = load_rulebook().version(storm)
    where = ChooserContext(("key",), (1, 2, 3, 4, 5), version, dice(), java_tag=TAG)
    made = chooser(Grouping("FIELDS", ("key",)), where)
    assert made is not None
    assert made([LONG]) == ((31 + 4) % 5 + 1,)
    assert made(["word"]) == ((31 + java_hash("word", version.dialect)) % 5 + 1,)


@pytest.mark.component
@pytest.mark.parametrize(
    ("program", "patience", "told"),
    [
        ("import sys; [*sys.stdin]", 0.1, "the custom grouping of parse did not choose within 0.1 s"),
        ("import sys; print('\\x22no\\x22', flush=True); [*sys.stdin]", 30, "the custom grouping of parse throws: no"),
        ("", 30, "is gone"),
    ],
    ids=["silent", "throws", "gone"],
)
def test_a_custom_grouping_that_gives_no_tasks(
    program: str, patience: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the worker that asked; nobody waits for it for ever."""
    monkeypatch.setattr(java_groupings, "CHOICE_SECONDS", patience)
    with CustomGroupings([sys.executable, "-c", program], {}, {2: "parse"}) as asked:
        with pytest.raises(GroupingError, match=told):
            asked.choose({"target": "parse"}, ["a"])
        with pytest.raises(GroupingError):
            asked.choose({"target": "parse"}, ["a"])
