"""A component that leaks does not take the machine: it is killed, and nothing is said against it."""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.driver import memory
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.suite.runner.suite_run import run_suite
from tests.command import BOLT, mlcheck

if TYPE_CHECKING:
    from pathlib import Path

LEAKS = """
import json, os, sys
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: os._exit(0)
        lines.append(line)
    return json.loads("".join(lines))
def send(message): os.write(1, json.dumps(message).encode() + b"\\nend\\n")
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
while True:
    message = read()
    if message["stream"] == "__heartbeat":
        send({"command": "sync"})
        continue
    CHILD
    held = bytearray(300 << 20)
    for at in range(0, len(held), 4096): held[at] = 1
    sys.stdin.read()
"""
"""Holds 300 MiB after its first tuple, and says nothing more."""
WHERE = {"in the process": "", "in a child": "if os.fork(): os.wait()"}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("10K", 10240),
        ("1.5M", 1572864),
        ("2G", 2 << 30),
        ("2GiB", 2 << 30),
        ("3gb", 3 << 30),
        ("none", math.inf),
    ],
)
def test_sizes(text: str, size: float) -> None:
    assert memory.size_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "x", "-1", "1 2", "G", "1P"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(text)}$"):
        memory.size_of(text)


def test_the_share_is_parted_among_jobs_but_not_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine", lambda: 16 << 30)
    assert [memory.ceiling("", jobs) / (1 << 30) for jobs in (1, 4, 64)] == [8, 2, 1]
    monkeypatch.setattr(memory, "machine", lambda: 1 << 30)
    assert memory.ceiling("", 8) == 1 << 29
    monkeypatch.setattr(memory, "machine", lambda: 0)
    assert memory.ceiling("") == math.inf
    assert memory.ceiling("3M", 8) == 3 << 20


@pytest.mark.component
@pytest.mark.parametrize("where", WHERE)
def test_who_holds_more_is_killed_and_not_blamed(where: str, tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text(LEAKS.replace("CHILD", WHERE[where]), encoding="utf-8")
    component = Component(command=(sys.executable, str(tmp_path / "bolt.py")), kind="bolt", samples=(["a"],))
    options = RunOptions(memory="100M", include=("bolt.settle.once",), record=str(tmp_path / "record"))
    result = run_suite(component, options)
    (subject,) = result.subjects
    assert (result.exit_code, subject.verdict, subject.findings) == (6, "untestable", ())
    assert subject.reason.startswith("it held ")
    assert subject.reason.endswith("of memory, more than 100 MiB, and was killed (--memory SIZE allows more)")


@pytest.mark.component
def test_who_holds_little_passes_under_a_ceiling(tmp_path: Path) -> None:
    words = ["--kind", "bolt", "-k", "bolt.settle.once", "-q", "--memory", "200M", "--", sys.executable, BOLT]
    assert mlcheck("run", *words, cwd=tmp_path).returncode == 0
    refused = mlcheck("run", *words[:-3], "--", BOLT, cwd=tmp_path, MLCHECK_MEMORY="much")
    assert refused.returncode == 2
    assert "MLCHECK_MEMORY: expected a size such as 512M or 2G, or none, not 'much'." in refused.stderr
