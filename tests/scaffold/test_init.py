"""``mlcheck init``: what it writes is a configuration that says what the project says."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.texts import toml_value
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.scaffold.config_file import config_text
from multilang_cli.subject import config
from multilang_cli.subject.options import Component, InputSource, StreamDeclaration
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

FLUX = """\
name: t
components: []
spouts:
  - id: lines
    className: org.apache.storm.flux.wrappers.spouts.FluxShellSpout
    constructorArgs: [[node, lines.js], [line, number]]
bolts:
  - id: "split: \\"it\\""
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs: [[python3, split.py, --flag], [word]]
streams:
  - {from: lines, to: "split: \\"it\\"", grouping: {type: FIELDS, args: [line]}}
"""
TOPOLOGY = """\
from streamparse import Grouping, Topology
from bolts.wordcount import WordCountBolt
from spouts.words import WordSpout

class WordCount(Topology):
    words = WordSpout.spec()
    count = WordCountBolt.spec(inputs={words: Grouping.fields('word'), words["late"]: Grouping.SHUFFLE}, par=2)
"""
SPOUT = """\
import sys
sys.exit("this is run by nobody")
class WordSpout(Spout):
    outputs = ['word', Stream(fields=['word', 'at'], name='late')]
"""


def made(home: Path, *words: str) -> dict[str, Component]:
    """The components of the file that is written, by name."""
    assert dispatch(["init", *words]) == 0
    return {each.name: each for each in config.load(home / "mlcheck.toml").components}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_flux_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "topology.yaml").write_text(FLUX, encoding="utf-8")
    found = made(here, "topology.yaml")
    assert "2 components: lines, split" in capsys.readouterr().out
    assert (found["lines"].kind, found["lines"].command) == ("spout", ("node", "lines.js"))
    assert found["lines"].streams == {"default": StreamDeclaration(("line", "number"))}
    bolt = found["split-it"]
    assert (bolt.kind, bolt.command) == ("bolt", ("python3", "split.py", "--flag"))
    by_line = {"type": "FIELDS", "fields": ["line"]}
    assert bolt.sources == (InputSource("lines", "default", ("line", "number"), grouping=by_line),)


def test_a_folder_with_a_flux_file_is_read_from_that(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "resources").mkdir()
    (here / "resources" / "other.py").touch()
    (here / "docker-compose.yaml").write_text("services: {}\n", encoding="utf-8")
    for name in ("topology.yaml", "later.yml"):
        (here / name).write_text(FLUX, encoding="utf-8")
    assert dispatch(["init"]) == 2
    assert "several Flux files: later.yml, topology.yaml; name one" in capsys.readouterr().err
    (here / "later.yml").unlink()
    assert [*made(here)] == ["lines", "split-it"]


def test_stand_ins_are_nobody_s_components(here: Path) -> None:
    assert [*made(here, str(data_path("examples", "topologies", "split-count.yaml")))] == ["split", "count"]


def test_a_streamparse_project(here: Path) -> None:
    for name, text in (("topologies/count.py", TOPOLOGY), ("src/spouts/words.py", SPOUT), ("src/bolts/x.py", "")):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text, encoding="utf-8")
    found = made(here)
    assert found["words"].streams == {
        "default": StreamDeclaration(("word",)),
        "late": StreamDeclaration(("word", "at")),
    }
    assert (found["words"].kind, found["count"].kind) == ("spout", "bolt")
    assert found["count"].command == ("streamparse_run", "bolts.wordcount.WordCountBolt")
    assert found["count"].sources == (
        InputSource("words", "default", ("word",), grouping={"type": "FIELDS", "fields": ["word"]}),
        InputSource("words", "late", ("word", "at")),
    )
    assert found["count"].cwd == str(here / "src")


def written(home: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")


LATE = """\
from streamparse import Grouping, JavaBolt, ShellBolt, Topology
from bolts import base
import spouts.words

class Late(Topology):
    config = {"least": 3, "db.password": "x"}
    words = spouts.words.WordSpout.spec(name="the-words")
    count = base.Late.spec(inputs=words)
    upper = ShellBolt.spec(command="node", script="upper.js -v", inputs=[count["rare"]], outputs=["word"])
    log = JavaBolt.spec(full_class_name="a.Log", args_list=[], inputs=[upper])
"""
BASE = """\
class Counting(Bolt):
    outputs = [Stream(["word", "n"]), Stream(["word"], "rare")]
class Late(Counting):
    pass
"""


def test_what_a_streamparse_project_may_write_otherwise(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(
        here,
        {
            "topologies/count.py": TOPOLOGY,
            "topologies/late.py": LATE,
            "src/spouts/words.py": SPOUT,
            "src/bolts/base.py": BASE,
        },
    )
    found = made(here)
    assert "streamparse_run is not on PATH: activate" in capsys.readouterr().out
    assert [*found] == ["words", "count", "the-words", "late.count", "upper"]
    assert found["the-words"].command == ("streamparse_run", "spouts.words.WordSpout")
    assert found["the-words"].conf == {"least": 3}
    late = found["late.count"]
    assert late.command == ("streamparse_run", "bolts.base.Late")
    assert late.sources == (InputSource("the-words", "default", ("word",)),)
    assert late.streams == {"default": StreamDeclaration(("word", "n")), "rare": StreamDeclaration(("word",))}
    # Storm hands on the script as one word.
    assert found["upper"].command == ("node", "upper.js -v")
    assert found["upper"].sources == (InputSource("count", "rare", ("word",)),)
    assert found["upper"].streams == {"default": StreamDeclaration(("word",))}


def test_the_config_json_of_a_streamparse_project_is_heeded(here: Path) -> None:
    options = {"least": 1, "topology.max.spout.pending": 7, "nimbus.token": "s3cret"}
    envs = {"prod": {"options": options}, "beta": {"options": {"least": 2}}}
    written(
        here,
        {
            "specs/late.py": LATE,
            "src/spouts/words.py": SPOUT,
            "src/bolts/base.py": BASE,
            "config.json": json.dumps({"topology_specs": "specs/", "envs": envs}),
        },
    )
    found = made(here)
    assert [*found] == ["the-words", "count", "upper"]
    assert found["count"].conf == {"least": 3, "topology.max.spout.pending": 7}


@pytest.mark.parametrize("text", ['{"envs": []}', "{", '{"topology_specs": "."}', '{"topology_specs": "\\u0000"}'])
def test_the_config_json_of_something_else_is_none_of_ours(here: Path, text: str) -> None:
    written(here, {"config.json": text})
    shutil.copy(data_path("examples", "python", "split_bolt.py"), here)
    assert [*made(here)] == ["split_bolt"]


def test_the_runner_is_that_of_the_project_s_own_environment(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(here, {"topologies/count.py": TOPOLOGY, "src/spouts/words.py": SPOUT, ".venv/bin/streamparse_run": ""})
    assert made(here)["words"].command == ("../.venv/bin/streamparse_run", "spouts.words.WordSpout")
    assert "PATH" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flux", "folder"),
    [
        ("topology.yaml", "multilang/resources"),
        ("topology.yaml", "resources"),
        ("src/main/resources/flux/topology.yaml", "src/main/resources/resources"),
        ("conf/topology.yaml", "multilang"),
    ],
)
def test_the_programs_of_a_flux_file_are_looked_for_where_they_are_usual(flux: str, folder: str, here: Path) -> None:
    config = FLUX.replace("components: []", "config: {least: 3, db.password: x}")
    written(here, {flux: config, f"{folder}/lines.js": "", f"{folder}/split.py": ""})
    found = made(here, flux)
    assert {each.cwd for each in found.values()} == {str(here / folder)}
    assert found["lines"].conf == found["split-it"].conf == {"least": 3}


def test_a_flux_file_without_its_programs_is_read_as_it_stands(here: Path) -> None:
    written(here, {"topology.yaml": FLUX})
    assert {each.cwd for each in made(here, "topology.yaml").values()} <= {None, str(here)}


@pytest.mark.parametrize(
    "loads",
    [
        "from shared import *",
        "import os, shared",
        "const x = require('./shared');",
        "require_relative 'shared'",
        'require "./shared.pl";',
        "  . ./shared.sh",
        "use shared qw(a);",
        "import x from '../resources/shared.js'",
    ],
)
def test_what_another_program_loads_is_no_component(loads: str, here: Path) -> None:
    written(here, {"split.py": f"{loads}\n", "shared.py": "# from split to count\n", "test_split.py": "import split\n"})
    assert [*made(here)] == ["split"]


@pytest.mark.parametrize(
    "says", ["# words from shared to count", "print('shared')", "import shared_words", "x = shared"]
)
def test_a_program_that_is_only_named_is_a_component(says: str, here: Path) -> None:
    written(here, {"split.py": f"{says}\n", "shared.py": ""})
    assert [*made(here)] == ["shared", "split"]


@pytest.mark.parametrize(
    ("written", "grouping"),
    [
        ("{words: Grouping.fields(['word', 'at'])}", {"type": "FIELDS", "fields": ["word", "at"]}),
        ("{words: Grouping.GLOBAL}", {"type": "FIELDS", "fields": []}),
        ("{words: Grouping.LOCAL_OR_SHUFFLE}", {"type": "LOCAL_OR_SHUFFLE"}),
        ("{words: Grouping.custom_object('a.B', [])}", {"type": "CUSTOM_OBJECT"}),
        ("{words: Grouping.fields(*NAMES)}", None),
        ("{words: by()}", None),
        ("[words]", None),
        ("[words['chosen']]", {"type": "DIRECT"}),
    ],
)
def test_groupings_of_streamparse(written: str, grouping: dict[str, Any] | None, here: Path) -> None:
    topology = f"class T:\n    words = Words.spec()\n    count = Count.spec(inputs={written})\n"
    spout = "class Words:\n    outputs = [Stream(fields=['x'], name='chosen', direct=True)]\n"
    for name, text in (
        ("topologies/t.py", f"from spouts.words import Words\n{topology}"),
        ("src/spouts/words.py", spout),
    ):
        (here / name).parent.mkdir(parents=True)
        (here / name).write_text(text, encoding="utf-8")
    assert [each.grouping for each in made(here)["count"].sources] == [grouping]


def test_a_resources_folder(here: Path) -> None:
    (here / "resources").mkdir()
    for name, text in (("a.py", ""), ("storm.py", ""), ("b", "#!/bin/sh\n"), ("words.txt", "a\n"), ("c.rb", "")):
        (here / "resources" / name).write_text(text, encoding="utf-8")
    found = made(here)
    assert {name: each.command for name, each in found.items()} == {"a": ("a.py",), "b": ("b",), "c": ("c.rb",)}
    assert {each.kind for each in found.values()} == {"auto"}
    assert {each.cwd for each in found.values()} == {str(here / "resources")}


@pytest.mark.parametrize("folder", ["multilang/resources", "multilang", "src/main/resources", "src/main/multilang"])
def test_a_project_s_programs_are_found_where_its_build_puts_them(folder: str, here: Path) -> None:
    written(here, {f"{folder}/split.py": "", "setup.py": "", "build.sh": ""})
    assert {name: each.cwd for name, each in made(here).items()} == {"split": str(here / folder)}


@pytest.mark.parametrize("folder", ["src/main/resources", "src/main/resources/flux", "flux", "conf"])
def test_a_project_s_flux_file_is_found_where_it_is_usual(folder: str, here: Path) -> None:
    written(here, {f"{folder}/topology.yaml": FLUX, "multilang/resources/lines.js": "", "multilang/resources/a.py": ""})
    assert [*made(here)] == ["lines", "split-it"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nothing.yaml"], "nothing.yaml is neither a Flux file (.yaml) nor a folder."),
        (["."], "no shell component was found in the folder"),
        (["bad"], "x.py:1: this is not Python 3"),
        (["deep"], "nested too deep"),
        (["odd"], "odd/topologies/x.py: it can't be read"),
        (["there", "-o", "there"], "there is there already, and nothing is overwritten"),
    ],
)
def test_what_is_refused(words: list[str], why: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "there").touch()
    for name, text in (("bad", b"print 1\n"), ("deep", b"a = B" + b".c" * 50_000 + b".spec()"), ("odd", b"a = 1\0")):
        (here / name / "topologies").mkdir(parents=True)
        (here / name / "topologies" / "x.py").write_bytes(text)
    assert dispatch(["init", *words]) == 2
    assert why in capsys.readouterr().err
    assert not (here / "mlcheck.toml").exists()


def test_what_only_a_run_of_the_project_would_tell_is_left_out(here: Path) -> None:
    for name, text in (
        ("topologies/x.py", "from parts import A\na = A.spec()\n"),
        (
            "src/parts.py",
            "class A:\n    outputs = [Stream(fields=NAMES, name='x'), Stream(fields=5), Stream(name=ONE)]\n",
        ),
    ):
        (here / name).parent.mkdir(parents=True)
        (here / name).write_text(text, encoding="utf-8")
    assert made(here)["a"].streams == {"x": StreamDeclaration(), "default": StreamDeclaration()}


@given(
    name=st.text(max_size=20),
    conf=st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.floats() | st.integers() | st.booleans()),
    fields=st.lists(st.text(max_size=9), max_size=3),
)
@example(name="a\x7f\n", conf={"\x7f": math.nan, "\ud800": -math.inf}, fields=["\x7f\ud800\r\n'\"", "\U0001f600"])
@example(name="b.py\u202e\U000e0041", conf={}, fields=[])
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_found_is_written_as_toml(name: str, conf: dict[str, Any], fields: list[str]) -> None:
    streams = {name: StreamDeclaration(tuple(fields))}
    found = Component(command=("a", name), kind="bolt", name=name, conf=conf, streams=streams)
    text = config_text([found], f"the file {name}")
    (said,) = toml_value(text, "mlcheck.toml")["component"]
    assert said["command"] == ["a", name.encode("utf-8", "replace").decode()]
    assert len(said.get("conf", {})) == len(conf)
    # Who reads the command before it is run sees all of it.
    assert text.replace("\n", "").isprintable()


@pytest.mark.component
def test_the_demo_shows_each_of_its_steps(here: Path) -> None:
    ran = mlcheck("demo", "--no-input", cwd=here, TMPDIR=str(here))
    assert [line for line in (ran.stdout + ran.stderr).splitlines() if len(line) > 80] == []
    assert (ran.returncode, list(here.iterdir())) == (0, []), ran.stderr
    shown = ran.stdout
    for what in (
        "$ mlcheck new bolt",
        "PASS",
        "FAIL  it settles a tuple twice",
        "must, bolts",
        "FAIL  it settles a tuple twice",
        "Means ",
    ):
        _, found, shown = shown.partition(what)
        assert found, what
