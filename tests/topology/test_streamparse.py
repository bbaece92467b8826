"""Projects of streamparse, by the library itself where it was set up for its testee."""

from __future__ import annotations

import json
import venv
from typing import TYPE_CHECKING

import pytest

from multilang_cli.driver.supervisor import Finished
from multilang_cli.topology.streamparse import project as project_reading
from multilang_cli.topology.streamparse.project import ProjectError, read_project
from tests.command import ROOT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = ROOT / "conformance" / "testees" / "streamparse" / "lib"
TOPOLOGY = """
from streamparse import Grouping, Topology
from parts import Count, Words

class WordCount(Topology):
    words = Words.spec()
    count = Count.spec(inputs={words: Grouping.fields("word")}, par={"prod": 3, "beta": 1}, config={"own": 5})
    config = {"topology.message.timeout.secs": 20}
"""
PARTS = """
from streamparse import Bolt, Spout

class Words(Spout):
    outputs = ["word"]

    def initialize(self, conf, context):
        self.left = ["cow", "moon", "cow"]

    def next_tuple(self):
        if self.left:
            word = self.left.pop()
            self.emit([word], tup_id=f"{word}{len(self.left)}")

class Count(Bolt):
    outputs = ["word", "count"]

    def initialize(self, conf, context):
        self.counts = {}

    def process(self, tup):
        word = tup.values[0]
        self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, self.counts[word]])
"""
SETTINGS = {"envs": {"prod": {"options": {"topology.max.spout.pending": 2, "topology.message.timeout.secs": 9}}}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project without a virtual environment."""
    folder = tmp_path / "project"
    (folder / "topologies").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "topologies" / "counting.py").write_text(TOPOLOGY, encoding="utf-8")
    (folder / "src" / "parts.py").write_text(PARTS, encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    return folder


@pytest.mark.parametrize("said", [b"", b"hello\n{}", b"[]", b"\xff", b"[" * 100_000], ids=range(5))
def test_what_a_project_tells_is_a_topology_or_refused(
    said: bytes, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_reading, "finish", lambda *_: Finished(0, said, b""))
    with pytest.raises(ProjectError, match="is no topology"):
        read_project(str(project), "2.8.3", {})


@pytest.mark.library
def test_a_project_runs(project: Path) -> None:
    """With its own virtual environment, its parallelism by environment, its options and its conf."""
    (project / ".venv").symlink_to(LIBRARY)
    topology = read_project(str(project), "2.8.3", {}).topology
    assert (topology.components["count"].tasks, topology.components["count"].conf) == (3, {"own": 5})
    assert topology.conf == {"topology.max.spout.pending": 2, "topology.message.timeout.secs": 20}
    ran = mlcheck("topology", "run", "--streamparse", "project:counting", "--record", "run", cwd=project.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = json.loads((project.parent / "run" / "result.json").read_text(encoding="utf-8"))
    assert result["verdict"] == "conformant"
    assert "3" in ran.stdout


@pytest.mark.library
def test_without_outputs_nothing_is_declared(project: Path) -> None:
    """As ``sparse submit`` has it, though streamparse's Flux files have a default stream: an emit ends the worker."""
    (project / ".venv").symlink_to(LIBRARY)
    parts = project / "src" / "parts.py"
    parts.write_text(PARTS.replace('    outputs = ["word", "count"]\n', ""), encoding="utf-8")
    assert read_project(str(project), "2.8.3", {}).topology.components["count"].streams == {}


def test_a_python_without_streamparse(project: Path) -> None:
    """Its own one, which is named, with what to do."""
    venv.create(project / "venv", symlinks=True)
    with pytest.raises(ProjectError, match=r"needs streamparse, which .*/venv/bin/python has not: .* -m pip install"):
        read_project(str(project), "2.8.3", {})


@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("nowhere", "there is no folder nowhere"),
        ("project:other", "there is no topology other; known are counting"),
        ("nowhere:other", "there is no folder nowhere"),
    ],
)
def test_projects_that_are_not_there(project: Path, asked: str, told: str) -> None:
    assert told in refusal(mlcheck("topology", "plan", "--streamparse", asked, cwd=project.parent))


def test_topologies_are_where_config_json_says(project: Path) -> None:
    (project / "topologies").rename(project / "specs")
    (project / "config.json").write_text('{"topology_specs": "specs/"}', encoding="utf-8")
    with pytest.raises(ProjectError, match="specs: there is no topology other; known are counting"):
        read_project(f"{project}:other", "2.8.3", {})


def test_a_file_and_a_project(project: Path) -> None:
    ran = mlcheck("topology", "plan", "a.yaml", "--streamparse", "project", cwd=project.parent)
    assert "give a Flux file, or --streamparse DIR" in refusal(ran)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "Expected `object`, got `array`"),
        ('{"envs": []}', r"Expected `object`, got `array` - at `\$.envs`"),
        ('{"envs": {"a": {"options": 1}}}', r"options`"),
        ('{"topology_specs": 5}', r"Expected `str`, got `int`"),
        ("{", r"config\.json: no JSON"),
        ('{"a":' * 5000, r"config\.json: nested too deep"),
        ('{"topology_specs": "%s"}' % ("n" * 5000), "its topologies can't be read: .*too long"),
        ('{"topology_specs": "\\u0000"}', "null byte|there is no topology|it is not said which topology"),
    ],
    ids=range(8),
)
def test_settings_that_are_none(project: Path, text: str, told: str) -> None:
    (project / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(ProjectError, match=told):
        read_project(str(project), "2.8.3", {})
