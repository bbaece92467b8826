"""What lies in a reader's folder before a page is followed, by name."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.command import BOLT, ROOT, SPOUT, mlcheck

if TYPE_CHECKING:
    from collections.abc import Callable

ACK = '    send({"command": "ack", "id": message["id"]})\n'
FORGETS = '        if message["command"] != "ack":\n            send({"command": "sync"})\n'
LEAVES = """\
        beats = beats + 1 if message["stream"] == "__heartbeat" else 0
        if beats == 2:
            break
        if message["stream"] == "__heartbeat" and"""
LOG = "java.lang.RuntimeException: Pipe to subprocess seems to be broken! No output read.\n"
CONFIG = """\
[[component]]
name = "split"
kind = "bolt"
command = ["python3", "bolt.py"]
samples = [["snow white"]]

[component.streams.default]
fields = ["word"]
"""
FOLDERS: dict[str, Callable[[Path], None]] = {}


def _named(lay: Callable[[Path], None]) -> Callable[[Path], None]:
    FOLDERS[lay.__name__.replace("_", "-")] = lay
    return lay


def _changed(old: str, new: str, source: str = BOLT) -> str:
    code = Path(source).read_text(encoding="utf-8")
    assert code.count(old) == 1, old
    return code.replace(old, new)


@_named
def bolts(folder: Path) -> None:
    """Bolts that keep to the protocol, under the names that pages give them."""
    for name in ("bolt.py", "my_bolt.py", "my_join.py", "split_bolt.py"):
        shutil.copy(BOLT, folder / name)
    for name in ("bolt.rb", "new_bolt.rb"):
        shutil.copy(ROOT / "examples" / "ruby" / "split_bolt.rb", folder / name)


@_named
def config(folder: Path) -> None:
    """A configuration of one of them."""
    (folder / "mlcheck.toml").write_text(CONFIG, encoding="utf-8")


@_named
def ruby_spout(folder: Path) -> None:
    """A spout, which takes a flag."""
    shutil.copy(ROOT / "examples" / "ruby" / "sentence_spout.rb", folder / "spout.rb")


@_named
def splitters(folder: Path) -> None:
    """Bolts where the libraries of Storm have them."""
    (folder / "resources").mkdir()
    for language, suffix in {"python": "py", "ruby": "rb", "javascript": "js"}.items():
        shutil.copy(
            ROOT / "examples" / language / f"split_bolt.{suffix}", folder / "resources" / f"splitsentence.{suffix}"
        )


@_named
def testee(folder: Path) -> None:
    """A testee that is written by mlcheck."""
    assert mlcheck("new", "testee", "--language", "perl", "my_testee", cwd=folder).returncode == 0


@_named
def samples(folder: Path) -> None:
    """Tuples in a file, and a component behind a script, as behind a container."""
    (folder / "samples.ndjson").write_text('["snow white", 7]\n', encoding="utf-8")
    script = folder / "in_container.sh"
    script.write_text("#!/bin/sh\nexec python3 my_bolt.py\n", encoding="utf-8")
    script.chmod(0o755)


@_named
def incident(folder: Path) -> None:
    """A bolt that acks twice, recordings of it, and a worker's log."""
    for name in ("bolt.py", "my_bolt.py"):
        (folder / name).write_text(_changed(ACK, 2 * ACK), encoding="utf-8")
    (folder / "worker.log").write_text(LOG, encoding="utf-8")
    assert mlcheck("run", "-k", "bolt.settle.once", "--kind", "bolt", "bolt.py", cwd=folder).returncode == 1
    recorded = folder / ".mlcheck" / "last" / "bolt.settle.once.ndjson"
    for name in ("incident", "later", "talk-1", "recordings/a", ".mlcheck/tap/bolt-3"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(recorded, folder / f"{name}.ndjson")
    mlcheck("run", "-k", "bolt.emit.anchors", "--kind", "bolt", "--record", "t", "bolt.py", cwd=folder)
    shutil.copy(folder / "t" / "bolt.emit.anchors.ndjson", folder / "talk-2.ndjson")


@_named
def fragile_bolt(folder: Path) -> None:
    """A bolt that leaves when two heartbeats come with no tuple between them."""
    code = _changed('        if message["stream"] == "__heartbeat" and', LEAVES)
    code = code.replace("    handshake()\n", "    handshake()\n    beats = 0\n")
    (folder / "my_bolt.py").write_text(code, encoding="utf-8")


@_named
def direct_bolt(folder: Path) -> None:
    """A bolt that emits directly, to a task of the stream's only consumer that its context names."""
    code = _changed('"need_task_ids": False', '"stream": "jobs", "task": 4', BOLT)
    (folder / "direct.py").write_text(code, encoding="utf-8")


@_named
def host(folder: Path) -> None:
    """A host: mlcheck's own, which takes a flag."""
    words = [sys.executable, "-m", "multilang_cli.driver"]
    code = f"import os, sys\nos.execv({sys.executable!r}, [*{words!r}, *sys.argv[2:]])\n"
    (folder / "my_host.py").write_text(code, encoding="utf-8")


@_named
def topology(folder: Path) -> None:
    """Topologies of the examples, with their components."""
    shutil.copytree(ROOT / "examples" / "topologies" / "resources", folder / "resources")
    shutil.copytree(ROOT / "multilang_cli" / "component", folder / "resources" / "multilang_cli" / "component")
    shutil.copy(BOLT, folder / "resources")
    for name, example in {"topology": "split-count", "no-anchor": "no-anchor"}.items():
        text = (ROOT / "examples" / "topologies" / f"{example}.yaml").read_text(encoding="utf-8")
        (folder / f"{name}.yaml").write_text(
            text.replace("../../python/split_bolt.py", "split_bolt.py"), encoding="utf-8"
        )
    shutil.copy(ROOT / "tests" / "data" / "flux" / "multilang.yaml", folder)
    (folder / "my.properties").write_text("word=snow\n", encoding="utf-8")


@_named
def forgetful_spout(folder: Path) -> None:
    """A spout that forgets the sync of an ack."""
    code = _changed('        send({"command": "sync"})\n', FORGETS, SPOUT)
    (folder / "sentences.py").write_text(code, encoding="utf-8")


@_named
def repository(folder: Path) -> None:
    """A clone, as far as its own commands need one."""
    for name in ("dev.py", "examples", "conformance"):
        (folder / name).symlink_to(ROOT / name)


@_named
def audited(folder: Path) -> None:
    """A run of a topology, and recordings of its tasks."""
    topology(folder)
    run = folder / ".mlcheck" / "topology" / "word-count"
    assert mlcheck("topology", "run", "-q", "--record", str(run), "topology.yaml", cwd=folder).returncode == 0
    (folder / "recordings").mkdir()
    for recording in (run / "transcripts").glob("split-*.ndjson"):
        shutil.copy(recording, folder / "recordings")
