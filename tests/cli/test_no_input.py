"""`--no-input`: at a terminal where nobody types, whatever asks for something else ends by itself."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, ROOT
from tests.processes import shown_on

if TYPE_CHECKING:
    from pathlib import Path

ENDS = {
    "a script by hand": (("repl", "--kind", "bolt", "--source", "steps.repl", "--no-input", BOLT), 0, "settle, after"),
    "nothing to do by hand": (("repl", "--kind", "bolt", "--no-input", BOLT), 2, "give --source FILE"),
    "the tour": (("demo", "--no-input"), 0, "(1 of "),
}


@pytest.mark.component
@pytest.mark.parametrize("name", ENDS)
def test_nothing_is_asked_for(name: str, tmp_path: Path) -> None:
    words, code, said = ENDS[name]
    (tmp_path / "steps.repl").write_text('tuple ["snow white"]\nwait settle\n', encoding="utf-8")
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "multilang_cli", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    with subprocess.Popen(argv, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = shown_on(ours)
    assert (process.returncode, said in shown) == (code, True), shown
