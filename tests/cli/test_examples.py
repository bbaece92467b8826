"""The examples in the help of each command run as they stand, in a folder that has what they name."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from multilang_cli.cli.commands import COMMANDS
from multilang_cli.cli.examples import EXAMPLES
from tests.command import BOLT, ROOT, mlcheck

ELSEWHERE = {"audit", "kafka", "verify-storm", "host", "matrix"}
"""Commands that need Spark, a broker, real Storm, somebody's host, or an hour: tests of their own run them."""
LINES = [line for name, lines in EXAMPLES.items() if name.split()[0] not in ELSEWHERE for line in lines]
FLUX = ROOT / "examples" / "topologies" / "split-count.yaml"
TOML = f'[[component]]\nname = "bolt"\ncommand = ["{sys.executable}", "bolt.py"]\n'
LOG = "java.lang.RuntimeException: Pipe to subprocess seems to be broken! No output read.\n"
STEPS = 'tuple ["snow white"]\nwait settle 2\n'
PROJECT = """\
from streamparse import Topology
from spouts.words import WordSpout

class WordCount(Topology):
    words = WordSpout.spec()
"""
SPOUT = "class WordSpout(Spout):\n    outputs = ['word']\n"


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with a bolt that acks twice, a recording of it, a spout, a topology and a worker's log."""
    ack = '    send({"command": "ack", "id": message["id"]})\n'
    code = Path(BOLT).read_text(encoding="utf-8")
    assert code.count(ack) == 1
    (tmp_path / "bolt.py").write_text(code.replace(ack, 2 * ack), encoding="utf-8")
    shutil.copy(ROOT / "examples" / "ruby" / "sentence_spout.rb", tmp_path / "spout.rb")
    for name, text in {
        "worker.log": LOG,
        "steps.repl": STEPS,
        "my-streamparse-project/topologies/wordcount.py": PROJECT,
        "my-streamparse-project/src/spouts/words.py": SPOUT,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    record(tmp_path, str(request.node.callspec.params["line"]))
    if "mlcheck init" not in request.node.name:
        (tmp_path / "mlcheck.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def record(folder: Path, line: str) -> None:
    """Record what an example begins with."""
    if any(word in line for word in (".ndjson", ".mlcheck/last")):
        assert mlcheck("run", "-k", "bolt.settle.once", "--kind", "bolt", "bolt.py", cwd=folder).returncode == 1
        for name in ("incident", "later", "small"):
            shutil.copy(folder / ".mlcheck" / "last" / "bolt.settle.once.ndjson", folder / f"{name}.ndjson")
    if ".zip" in line:
        run = mlcheck("run", "-k", "bolt.settle.once", "--kind", "bolt", "--record", "t", "bolt.py", cwd=folder)
        assert run.returncode == 1
        assert mlcheck("report", "t", "--bundle", "incident.zip", cwd=folder).returncode in {0, 1}
    if "topology/NAME" in line:
        assert mlcheck("topology", "run", str(FLUX), cwd=folder).returncode in {0, 1}


def test_every_command_has_an_example() -> None:
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.component
@pytest.mark.sample(6)
@pytest.mark.parametrize("line", LINES)
def test_an_example_runs(line: str, folder: Path) -> None:
    words = shlex.split(line, comments=True)[1:]
    words = [word.replace("/NAME", "/split-count").replace("/var/tmp/", "") for word in words]
    words = [str(FLUX) if word == "topology.yaml" else word for word in words]
    ran = mlcheck(*words, cwd=folder)
    assert ran.returncode in {0, 1}, ran.stdout + ran.stderr
