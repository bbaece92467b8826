"""`--no-input`: at a terminal where nobody types, whatever asks for something else ends by itself."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, ROOT, mlcheck, refusal
from tests.processes import shown_on

if TYPE_CHECKING:
    from pathlib import Path

ENDS = {
    "a script by hand": (("repl", "--kind", "bolt", "--source", "steps.repl", "--no-input", BOLT), 0, "settle, after"),
    "nothing to do by hand": (("repl", "--kind", "bolt", "--no-input", BOLT), 2, "give --source FILE"),
    "a script behind a replay": (
        ("replay", "t/bolt.settle.once.ndjson", "--then", "repl", "--source", "steps.repl", "--no-input", BOLT),
        *(0, "settle, after"),
    ),
    "nothing to do behind a replay": (
        ("replay", "t/bolt.settle.once.ndjson", "--then", "repl", "--no-input", BOLT),
        *(2, "give --source FILE"),
    ),
    "the tour": (("demo", "--no-input"), 0, "(1 of "),
}


@pytest.mark.component
@pytest.mark.parametrize("name", ENDS)
def test_nothing_is_asked_for(name: str, tmp_path: Path) -> None:
    words, code, said = ENDS[name]
    (tmp_path / "steps.repl").write_text('tuple ["snow white"]\nwait settle\n', encoding="utf-8")
    if words[0] == "replay":
        mlcheck("run", "--kind", "bolt", "-k", "bolt.settle.once", "--record-all", "--record", "t", BOLT, cwd=tmp_path)
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "multilang_cli", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    with subprocess.Popen(argv, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = shown_on(ours)
    assert (process.returncode, said in shown) == (code, True), shown


@pytest.mark.component
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--no-input",), "of the session that --then repl opens"),
        (("--source", "steps.repl"), "of the session that --then repl opens"),
        (("--then", "repl", "--source", "none.repl"), "none.repl: can't be read"),
        (("--then", "repl", "--json"), "there is no report"),
        (("--then", "repl", "--report", "junit=x.xml"), "there is no report"),
    ],
)
def test_what_a_replay_does_not_hand_on_is_refused(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    mlcheck("run", "--kind", "bolt", "-k", "bolt.settle.once", "--record-all", "--record", "t", BOLT, cwd=tmp_path)
    ran = mlcheck("replay", "t/bolt.settle.once.ndjson", *words, BOLT, cwd=tmp_path)
    assert ran.returncode == 2
    assert why in refusal(ran)
