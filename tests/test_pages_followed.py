"""Pages whose commands a reader types from top to bottom: each runs, in a folder that has the files the page names.

Tutorials, the first run and recipes for libraries are followed by tests of their own; every other command line is
parsed at least (``test_docs_users``).
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.command import BOLT, ROOT, mlcheck
from tests.test_docs import BLOCK

FOLLOWED = ("acking", "replay", "report", "transcripts", "worker-log")
ELSEWHERE = {
    "audit": "Spark: tests/audit",
    "audit-trees": "Spark and Kafka: tests/audit",
    "bench": "tests/cli and tests/bench",
    "ci": "tests/test_docs_users.py",
    "ci-libraries": "tests/test_library_recipes.py",
    "debugging": "debuggers at a terminal",
    "features": "tests/test_features.py",
    "first-run": "tests/test_docs_users.py",
    "fuzz": "minutes each: tests/fuzz",
    "host": "tests/suite/test_host.py",
    "index": "a whole suite: tests/cli",
    "json": "a whole suite: tests/cli/test_json.py",
    "kafka": "a broker: tests/kafka",
    "known-failures": "tests/cli/test_cli_gate.py",
    "libraries": "libraries that are fetched: tests/test_libraries.py",
    "repl": "tests/repl/test_repl_docs.py",
    "not-tested": "a whole suite: tests/cli",
    "reports": "tests/reports",
    "samples-and-settles": "components of the reader's",
    "storm-versions": "tests/cli/test_cli_versions.py",
    "tap": "Kafka, and Storm's side: tests/tap",
    "topology": "minutes each: tests/topology",
    "topology-java": "Java: tests/storm",
    "verify-storm": "real Storm: tests/verify",
}
"""Pages with commands that are not typed here: who runs them, or why nobody does."""
LOG = "java.lang.RuntimeException: Pipe to subprocess seems to be broken! No output read.\n"
ACK = '    send({"command": "ack", "id": message["id"]})\n'


def typed(page: Path) -> list[str]:
    """The command lines of a page's blocks, in their order."""
    text = page.read_text(encoding="utf-8")
    blocks = [(language, body.replace("\\\n", " ")) for _, language, body in BLOCK.findall(text)]
    lines = [
        line.removeprefix("$ ")
        for language, body in blocks
        for line in body.splitlines()
        if language == "sh" or (language == "console" and line.startswith("$ "))
    ]
    return [line for line in lines if line.startswith("mlcheck ")]


def prepare(folder: Path) -> None:
    """A bolt that acks twice, recordings of it, and a worker's log."""
    code = Path(BOLT).read_text(encoding="utf-8")
    assert code.count(ACK) == 1
    for name in ("bolt.py", "my_bolt.py"):
        (folder / name).write_text(code.replace(ACK, 2 * ACK), encoding="utf-8")
    (folder / "worker.log").write_text(LOG, encoding="utf-8")
    assert mlcheck("run", "-k", "bolt.settle.once", "--kind", "bolt", "bolt.py", cwd=folder).returncode == 1
    recorded = folder / ".mlcheck" / "last" / "bolt.settle.once.ndjson"
    for name in ("incident", "later", "talk-1", "recordings/a", ".mlcheck/tap/bolt-3"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(recorded, folder / f"{name}.ndjson")
    mlcheck("run", "-k", "bolt.emit.anchors", "--kind", "bolt", "--record", "t", "bolt.py", cwd=folder)
    shutil.copy(folder / "t" / "bolt.emit.anchors.ndjson", folder / "talk-2.ndjson")


def test_no_page_with_commands_escapes() -> None:
    pages = {page.stem for page in (ROOT / "docs").glob("*.md") if typed(page)}
    assert pages - {*FOLLOWED, *ELSEWHERE} == set()
    assert {*FOLLOWED} <= pages
    named = {word for reason in ELSEWHERE.values() for word in reason.split() if word.startswith("tests/")}
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.component
@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FOLLOWED)
def test_each_command_of_a_page_runs(name: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    for line in typed(ROOT / "docs" / f"{name}.md"):
        ran = mlcheck(*shlex.split(line, comments=True)[1:], cwd=tmp_path)
        assert ran.returncode in {0, 1}, f"$ {line}\n{ran.stdout}{ran.stderr}"
