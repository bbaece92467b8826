"""Flux files: what is read from them, and what is said of those that Storm or mlcheck can't run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.topology.flux import FluxError, FluxFile, read_flux, read_properties
from multilang_cli.topology.model import Grouping, OutputStream
from multilang_cli.topology.tasks import lay_out
from tests.flux import FLUX, GOOD, SHELL_BOLT, SHELL_SPOUT, read_topology

if TYPE_CHECKING:
    from collections.abc import Callable

PARTIAL_KEY = """
components:
  - id: key
    className: org.apache.storm.tuple.Fields
    constructorArgs: [[word]]
"""


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., FluxFile]:
    def reads(text: str, **more: str) -> FluxFile:
        for name, content in {"t_yaml": text, **more}.items():
            (tmp_path / name.replace("_", ".")).write_text(content, encoding="utf-8")
        return read_flux(tmp_path / "t.yaml")

    return reads


def edited(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_the_parts_of_a_topology(read: Callable[..., FluxFile], tmp_path: Path) -> None:
    topology = read(GOOD).topology
    assert topology.name == "words"
    assert topology.conf == {"topology.workers": 2, "ratio": 1e3, "on": True}
    source, split, count = topology.components.values()
    assert (source.kind, source.command, source.cwd) == ("spout", ("node", "source.js"), str(tmp_path))
    assert source.streams == {"default": OutputStream(("sentence",))}
    assert (split.parallelism, split.tasks, split.conf["topology.tasks"]) == (2, 5, 5)
    assert split.streams == {"default": OutputStream(("word",)), "odd": OutputStream(("word", "why"), direct=True)}
    assert split.conf["paths"] == ["a", 1]
    assert split.env == {"LANG": "C"}
    assert split.place is not None
    assert GOOD.splitlines()[split.place.line - 1].strip() == "- id: split"
    assert count.kind == "bolt"
    wishes = [(wish.source, wish.stream, wish.target, wish.grouping) for wish in topology.subscriptions]
    assert wishes == [
        ("source", "default", "split", Grouping("SHUFFLE")),
        ("split", "default", "count", Grouping("FIELDS", ("word",))),
        ("split", "odd", "count", Grouping("DIRECT")),
    ]
    assert lay_out(topology, "2.8.3").tasks_of("split") == (5, 6, 7, 8, 9)


def test_components_start_in_the_folder_of_resources(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(GOOD)
    (tmp_path / "resources").mkdir()
    assert read_topology(file).components["split"].cwd == str(tmp_path / "resources")
    assert read_topology(file, resources=tmp_path / "other").components["split"].cwd == str(tmp_path / "other")
    file.write_text(edited("name: setEnv\n        args: [{LANG: C}]", "name: changeChildCWD\n        args: [false]"))
    assert read_topology(file).components["split"].cwd == "."


def test_partial_key_is_a_custom_grouping(read: Callable[..., FluxFile]) -> None:
    custom = "{type: CUSTOM, customClass: {className: CLASS, constructorArgs: [{ref: key}]}}"
    custom = custom.replace("CLASS", "org.apache.storm.grouping.PartialKeyGrouping")
    topology = read(edited("{type: FIELDS, args: [word]}", custom) + PARTIAL_KEY).topology
    assert topology.subscriptions[1].grouping == Grouping("PARTIAL_KEY", ("word",))


def test_classes_with_a_stand_in(read: Callable[..., FluxFile]) -> None:
    text = edited(f"className: {SHELL_SPOUT}\n    constructorArgs: [[node, source.js], [sentence]]", "CLASS")
    text = text.replace("CLASS", "className: backtype.storm.testing.TestWordSpout\n    constructorArgs: [false]")
    spout = read(text.replace("parallelism: 1", "parallelism: 4")).topology.components["source"]
    assert (spout.parallelism, spout.tasks) == (4, 1)
    assert spout.streams["default"].fields == ("word",)
    assert Path(spout.command[-1]).is_file()


def test_what_flux_lets_pass_is_noted(read: Callable[..., FluxFile]) -> None:
    lone = f"  - {{id: lone, className: {SHELL_BOLT}, constructorArgs: [[x]]}}\nstreams:"
    again = "streams:\n  - {from: split, to: count, grouping: {type: FIELDS, args: []}}\n"
    found = read(edited("streams:\n", f"{lone}\n").replace("streams:\n", again))
    assert [note.text for note in found.notes] == [
        "a FIELDS grouping by no fields is a GLOBAL grouping to Storm.",
        "'count' subscribes to this stream again below; only the last grouping counts.",
        "bolt 'lone' is the end of no stream: Flux leaves it out.",
    ]
    assert "lone" not in found.topology.components
    assert found.topology.subscriptions[0].grouping == Grouping("FIELDS", ("word",))


def test_cycles_run(read: Callable[..., FluxFile]) -> None:
    back = "streams:\n  - {from: count, to: split, grouping: {type: ALL}}\n"
    text = edited("streams:\n", back).replace(f"{SHELL_BOLT}\n    constructorArgs: [[count]]", "TestWordCounter")
    text = text.replace("TestWordCounter", "org.apache.storm.testing.TestWordCounter")
    assert read(text).topology.consumers("count", "default")[0].target == "split"


@pytest.mark.parametrize(
    ("override", "name", "command", "workers"),
    [("false", "words", ("node", "source.js"), 2), ("true", "other", ("new",), 9)],
)
def test_an_include_wins_only_if_it_overrides(
    read: Callable[..., FluxFile], override: str, name: str, command: tuple[str, ...], workers: int
) -> None:
    included = "name: other\nconfig: {topology.workers: 9, more: 1}\nspouts:\n  - id: source\n"
    included += f"    className: {SHELL_SPOUT}\n    constructorArgs: [[new], [sentence]]\n"
    found = read(GOOD + f"includes:\n  - {{file: more.yaml, override: {override}}}\n", more_yaml=included)
    assert found.topology.name == name
    assert found.topology.components["source"].command == command
    assert found.topology.conf["topology.workers"] == workers
    assert found.topology.conf["more"] == 1
    ignored = [note.text for note in found.notes if "Ignoring attempt" in note.text]
    assert len(ignored) == (0 if override == "true" else 3)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("to: split", "to: splat", "the stream goes to 'splat', which is no bolt. Known bolts are split, count."),
        ("to: split", "to: source", "May not declare inputs for a spout: 'source' is one."),
        ("from: source", "from: sauce", "Component: [split] subscribes from non-existent component [sauce]. Known are"),
        (
            "streamId: odd",
            "streamId: even",
            "Component: [count] subscribes from non-existent stream: [even] of comp",
        ),
        (
            "args: [word]}",
            "args: [wort]}",
            "[count] subscribes from stream: [default] of component [split] + with non-existent fields: [wort]",
        ),
        ("args: [word]}", "args: [why]}", "why does not exist in stream [default] of component [split]. Storm takes"),
        ("args: [word]}", "args: [word, word]}", "duplicate field 'word'"),
        ("type: SHUFFLE", "type: shuffle", "Unable to find enum value 'shuffle' for enum class: org.apache.storm.flux"),
        ("type: SHUFFLE", "type: PARTIAL_KEY", "Write CUSTOM, with the class PartialKeyGrouping."),
        ("type: SHUFFLE", "type: CUSTOM", "a CUSTOM grouping needs a customClass."),
        ("args: [word]}", "}", "a FIELDS grouping needs args, the names of fields."),
        ("id: source", "id: count", "Spout has already been declared for id count"),
        ("parallelism: 2", "parallelism: 0", "Parallelism must be positive. That of split is 0."),
        ("parallelism: 2", "parallelism: two", "parallelism must be an integer, not 'two'."),
        (
            "parallelism: 2",
            "paralelism: 2",
            "Unable to find property 'paralelism' on class: org.apache.storm.flux.model",
        ),
        ("id: split", "id: __split", "the stream goes to 'split', which is no bolt."),
        ("- odd", "- __odd", "__odd is not a valid stream id."),
        (
            "name: words",
            "name: a/b",
            r"Topology name 'a/b' is not valid. It can't be null and it must match ^[^/.:",
        ),
        ("name: words", "# no name", "name is missing: a topology needs one."),
        (
            "topology.workers: 2",
            "topology.workers: many",
            "Field TOPOLOGY_WORKERS must be an Integer within type",
        ),
        (
            "topology.workers: 2",
            "topology.workers: 0",
            "Field TOPOLOGY_WORKERS must be a Positive Number: topology.workers is 0.",
        ),
        ("ratio: 1e3", "ratio: .nan", "Storm conf is not valid. Must be json-serializable: .nan is no number of JSON."),
        ("ratio: 1e3", "ratio: 2011-09-30", "Storm conf is not valid. Must be json-serializable: 2011-09-30 is a date"),
        ("ratio: 1e3", "ratio: !!javax.script.Engine x", "asks for a Java object: only plain YAML is read."),
        ("ratio: 1e3", "ratio: ${x}", "there is nothing to put in place of ${x}: give --filter FILE."),
        ("ratio: 1e3", "ratio: [", "this is no YAML: "),
        (
            SHELL_SPOUT,
            "com.example.KafkaSpout",
            "'source' is com.example.KafkaSpout, which needs Java: mlcheck runs",
        ),
        (SHELL_SPOUT, SHELL_BOLT, f"this class is no spout, but a bolt: {SHELL_BOLT}"),
        ("[[node, source.js], [sentence]]", "[node]", "Couldn't find a suitable constructor for class"),
        (
            "[[node, source.js], [sentence]]",
            "[[node], []]",
            "Index 0 out of bounds for length 0: Flux can't pass an",
        ),
        ("[[node, source.js], [sentence]]", "[[node, 5]]", "array element type mismatch: 5 is no string; quote it."),
        ("[[node, source.js], [sentence]]", "[[node], ~]", "argument shouldn't be null - index: 1"),
        ("name: addComponentConfig", "name: addConfig", "Unable to find configuration method 'addConfig' in class"),
        ("args: [{LANG: C}]", "args: [{LANG: 5}]", "LANG in setEnv must be a string, not 5; quote it."),
        ("spouts:", "workerHooks: []\nspouts:", "workerHooks: worker hooks can't be run without Java; leave it out."),
        ("spouts:", "includes: [{file: gone.yaml}]\nspouts:", "the included file gone.yaml is in none of "),
        ("spouts:", "includes: [{resource: true, file: /gone.yaml}]\nspouts:", "nor in a jar that was given (--jar "),
        ("config:", "config:\nconfag:", "Unable to find property 'confag' on class"),
    ],
)
def test_what_cannot_run_is_said_in_storms_words_with_its_line(
    read: Callable[..., FluxFile], old: str, new: str, error: str
) -> None:
    text = edited(old, new)
    with pytest.raises(FluxError) as raised:
        read(text)
    assert error in raised.value.sentence
    assert raised.value.place.file.endswith("t.yaml")
    changed = (
        next(at for at, (a, b) in enumerate(zip(GOOD.splitlines(), text.splitlines(), strict=False)) if a != b) + 1
    )
    if "name" not in old and "id:" not in old:
        assert abs(raised.value.place.line - changed) <= 12


@pytest.mark.parametrize(
    "text", ["", "- a\n", "name: a\n---\nname: b\n", "a: &x [*x]\n", "name: \x07\n", "? [a]\n: b\n"]
)
def test_what_is_no_topology_at_all(read: Callable[..., FluxFile], text: str) -> None:
    with pytest.raises(FluxError):
        read(text)


def test_aliases_cannot_blow_a_file_up(read: Callable[..., FluxFile]) -> None:
    levels = "".join(f"  k{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 9))
    with pytest.raises(FluxError, match="more than 100,000 values"):
        read(edited("config:\n", f"config:\n  k0: &a0 [x]\n{levels}"))


def test_the_fields_of_a_grouping_on_old_storms(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(edited("args: [word]}", "args: [why]}"))
    with pytest.raises(FluxError, match=r'of component \[split\] with non-existent fields: #\{"why"\}'):
        read_topology(tmp_path / "t.yaml", storm="1.2.4")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FluxError, match=r"gone\.yaml: can't be read: No such file"):
        read_topology(tmp_path / "gone.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9\n")
    with pytest.raises(FluxError, match="not UTF-8: byte 6 is 0xe9"):
        read_topology(tmp_path / "latin.yaml")


PROPERTIES = r"""
# comment
! another
topology.name = words from properties
tricky\ key:va\u0065lue \
    that goes on
empty
list=["a b", "c"]
"""


def test_properties_are_read_as_java_reads_them() -> None:
    assert read_properties(PROPERTIES) == {
        "topology.name": "words from properties",
        "tricky key": "vaelue that goes on",
        "empty": "",
        "list": '["a b", "c"]',
    }


@pytest.mark.parametrize(
    ("storm", "written", "expected"),
    [
        ("2.8.3", "${a}", "one"),
        ("2.8.3", "${a} ${a}", "one one"),
        ("2.8.3", "${a} ${b}", "${a} two"),  # one name a line, the last
        ("1.2.4", "${a} ${b}", "one two"),
        ("2.8.3", "${list[1]}", "c"),
        ("1.2.4", "${list[1]}", "${list[1]}"),
        ("2.8.3", "${ENV-HERE}", "there"),
        ("1.2.4", "${ENV-HERE}", "there"),
        ("2.8.3", "${gone}", "${gone}"),
        ("2.8.3", "${ENV-HERE} ${a} ${unknown} ${b}", "${ENV-HERE} ${a} ${unknown} two"),
    ],
)
def test_substitution_is_that_of_the_version(tmp_path: Path, storm: str, written: str, expected: str) -> None:
    (tmp_path / "t.yaml").write_text(edited("ratio: 1e3", f"ratio: '{written}'"))
    properties = {"a": "one", "b": "two", "list": '["a b", "c"]'}
    found = read_flux(tmp_path / "t.yaml", properties, {"HERE": "there"}, storm=storm)
    assert found.topology.conf["ratio"] == expected
    notes = [note.text.partition(": since")[0] for note in found.notes]
    gone = ["Could not find replacement for property: gone"] if "gone" in written else []
    known = ("${ENV-HERE}", "${a}", "${b}") if storm == "2.8.3" else ()
    assert notes == [*gone, *(f"{name} stays as it is" for name in known if name in expected)]


@pytest.mark.parametrize("element", ["${list[7]}", "${gone[0]}"])
def test_an_element_that_is_not_there(tmp_path: Path, element: str) -> None:
    (tmp_path / "t.yaml").write_text(edited("ratio: 1e3", f"ratio: {element}"))
    with pytest.raises(FluxError, match=r"element"):
        read_flux(tmp_path / "t.yaml", {"list": '["a"]'})


def test_what_storms_own_example_declares() -> None:
    topology = read_topology(FLUX / "multilang.yaml")
    assert list(topology.components) == ["sentence-spout", "splitsentence", "log", "count"]
    assert topology.components["sentence-spout"].command == ("node", "randomsentence.js")
    assert [wish.grouping.type for wish in topology.subscriptions] == ["SHUFFLE", "FIELDS", "SHUFFLE"]
