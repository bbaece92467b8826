"""``mlcheck init``: what it writes is a configuration that says what the project says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.locate import data_path
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.subject import config
from multilang_cli.subject.options import InputSource, StreamDeclaration
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.subject.options import Component

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
    assert bolt.sources == (InputSource("lines", "default", ("line", "number")),)


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
        InputSource("words", "default", ("word",)),
        InputSource("words", "late", ("word", "at")),
    )
    assert found["count"].cwd == str(here / "src")


def test_a_resources_folder(here: Path) -> None:
    (here / "resources").mkdir()
    for name, text in (("a.py", ""), ("storm.py", ""), ("b", "#!/bin/sh\n"), ("words.txt", "a\n"), ("c.rb", "")):
        (here / "resources" / name).write_text(text, encoding="utf-8")
    found = made(here)
    assert {name: each.command for name, each in found.items()} == {"a": ("a.py",), "b": ("b",), "c": ("c.rb",)}
    assert {each.kind for each in found.values()} == {"auto"}
    assert {each.cwd for each in found.values()} == {str(here / "resources")}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nothing.yaml"], "nothing.yaml is neither a Flux file (.yaml) nor a folder."),
        (["."], "no shell component was found in the folder"),
        (["bad"], "x.py:1: this is not Python 3"),
        (["there", "-o", "there"], "there is there already, and nothing is overwritten"),
    ],
)
def test_what_is_refused(words: list[str], why: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "there").touch()
    (here / "bad" / "topologies").mkdir(parents=True)
    (here / "bad" / "topologies" / "x.py").write_text("print 1\n", encoding="utf-8")
    assert dispatch(["init", *words]) == 2
    assert why in capsys.readouterr().err
    assert not (here / "mlcheck.toml").exists()


@pytest.mark.component
def test_the_demo_shows_each_of_its_steps(here: Path) -> None:
    ran = mlcheck("demo", "--no-input", cwd=here, TMPDIR=str(here))
    assert (ran.returncode, list(here.iterdir())) == (0, []), ran.stderr
    shown = ran.stdout
    for what in (
        "$ mlcheck new bolt",
        "PASS",
        "FAIL  it settles a tuple twice",
        "must, bolts",
        "must ack-twice",
        "Means ",
    ):
        _, found, shown = shown.partition(what)
        assert found, what
