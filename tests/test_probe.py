"""What answers tell nothing is not guessed at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.suite.options import Component, RunOptions
from multilang_cli.suite.probe import kind_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

CHATTERS = """
import json, os, sys, threading, time
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: os._exit(0)
        lines.append(line)
    return json.loads("".join(lines))
def send(message): os.write(1, json.dumps(message).encode() + b"\\nend\\n")
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
def chatter():
    while True: time.sleep(0.05); send({"command": "sync"})
threading.Thread(target=chatter, daemon=True).start()
while True: read()
"""
"""Says sync all the time, and settles nothing."""


def test_who_says_sync_all_the_time_and_settles_nothing_is_neither(tmp_path: Path) -> None:
    script = tmp_path / "chatters.py"
    script.write_text(CHATTERS, encoding="utf-8")
    found = kind_of(Component(command=(sys.executable, str(script)), kind="auto"), RunOptions(timeout=2.0))
    assert (found.kind, found.silent) == (None, False)
    assert found.how == "it says sync without being asked, so it can't be told: say --kind bolt or --kind spout"
