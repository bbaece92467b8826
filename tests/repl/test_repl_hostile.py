"""``mlcheck repl`` where components flood, die badly or do less than is waited for: the screen is short and true."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, ROOT, mlcheck
from tests.repl.test_repl import LOOP, component, said

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

STDERR = """
shake()
message()
os.write(2, b"e" * 2_000_000)
"""
WRONG_OFTEN = LOOP + '    say(\'{"command":"sing"}\\nend\\n\' * 300)\n'
NO_END = "shake()\nmessage()\nwhile True: os.write(1, b'text ' * 10_000)\n"
LEAVES_A_CHILD = "shake()\nmessage()\nif os.fork() == 0: time.sleep(1000)\nos._exit(3)\n"


def test_stderr_without_lines_has_an_end(tmp_path: Path) -> None:
    commands = "set lines 5\ntuple\nwait exit\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, STDERR), code=1)
    # How much of it comes during which command is not certain; each may show five lines.
    for of_one in shown.split("\n> "):
        pieces = len(re.findall(r"s err     e", of_one))
        assert pieces <= 5
        assert of_one.count("more than `set lines` has") <= (pieces > 0)
    assert "more than `set lines` has" in shown


def test_the_same_again_is_told_in_short(tmp_path: Path) -> None:
    commands = "tuple\nset lines 10\ntuple\nfindings\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, WRONG_OFTEN), code=1)
    live, _, listed = shown.partition("> findings")
    assert len(re.findall("--> must   command-unknown", live)) == 200 + 10
    assert live.count("explain command-unknown") == 1
    assert live.count("Storm 2.8.3") == 1
    assert listed.count("must   command-unknown") == 1
    assert re.search(r"the same at 6, 7, 8, 9, 10, 11 and 593 more", listed)


def test_nobody_listens_is_not_called_the_end(tmp_path: Path) -> None:
    arguments = ("--kind", "bolt", "--limit", "frame=65536", component(tmp_path, NO_END))
    shown = said(tmp_path, "tuple\nwait settle 20\n", *arguments)
    assert "no settle: a message is longer than our limit" in shown
    assert "has ended" not in shown


def test_the_end_of_a_process_tells_who_holds_its_pipes(tmp_path: Path) -> None:
    shown = said(tmp_path, "tuple\nwait exit\n", "--kind", "bolt", component(tmp_path, LEAVES_A_CHILD), code=1)
    said_so = r"process the process exited with code 3, but process \d+ \(\S+\), which it left behind, holds its stdin"
    assert re.search(said_so, shown)


@pytest.mark.parametrize(
    ("name", "settles", "tuples"), [("never", "unchecked", 3), ("on-next", "on-next", 2), ("batch-of-5", "after-5", 7)]
)
def test_a_bolt_that_settles_as_declared_is_right(tmp_path: Path, name: str, settles: str, tuples: int) -> None:
    command = (sys.executable, str(ROOT / "tests" / "right" / "bolts.py"), name)
    words = ("--kind", "bolt", "--settles", settles, "--", *command)
    shown = said(tmp_path, f"tuple times={tuples}\nwait settle\nfindings\n", *words)
    assert "nothing is wrong so far" in shown


def test_a_case_does_not_ask_for_what_nobody_did(tmp_path: Path) -> None:
    commands = 'taskids hand\ntuple ["a b"]\nwait settle\ntaskids auto\nsave case bolt.asks-nothing\n'
    said(tmp_path, commands, "--kind", "bolt", BOLT)
    words = (
        "--suite",
        "bolt.asks-nothing.yaml",
        "-k",
        "bolt.asks-nothing",
        "--tuples",
        "bolt.asks-nothing.tuples.ndjson",
    )
    done = mlcheck("run", "--kind", "bolt", *words, "--", BOLT, cwd=tmp_path)
    assert (done.returncode, "PASS  1 passed" in done.stdout) == (0, True), done.stdout


def test_one_tuple_is_one_tuple(tmp_path: Path) -> None:
    shown = said(tmp_path, "tuple\ntree\n", "--kind", "bolt", component(tmp_path, LOOP))
    assert ": 1 tuple open" in shown


def test_a_case_is_played_as_the_session_was(tmp_path: Path) -> None:
    commands = "storm 1.2\ntuple\nwait settle\nsave case bolt.as-it-was\neof\npending\n"
    shown = said(tmp_path, commands, "--kind", "bolt", "--stream", "default:word", "--conf", "a.key=1", BOLT)
    again = shown.partition("play it with\n")[2].split("\n")[0].split()
    assert again[:8] == ["mlcheck", "run", "--kind", "bolt", "--stream", "default:word", "--storm", "1.2.4"]
    done = mlcheck(*again[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Storm 1.2.4" in done.stdout
    assert "The component has exited with code 0. Facts" in shown, "Storm waits for nothing"


def test_half_a_surrogate_pair_is_shown_by_its_code(tmp_path: Path) -> None:
    """JSON may have one, and no UTF-8 has: wherever a message is shown, it is written as in JSON."""
    says = LOOP + '    say(\'{"command":"log","msg":"it is \\\\ud800"}\\nend\\n\')\n'
    commands = 'tuple ["\\ud800"]\nshow 5\nedit 4\nhistory\n'
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, says))
    assert "it is \\ud800" in shown.partition("> show 5")[2]
    assert shown.partition("> edit 4")[2]


def test_the_runner_of_a_workflow_finds_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    says = LOOP + '    os.write(2, b"::error::x\\n##[add-path]/tmp/x ##vso[y]z\\n")\n'
    shown = said(tmp_path, 'tuple ["##[group]a"]\nhistory\nshow 5\n', "--kind", "bolt", component(tmp_path, says))
    assert "add-path" in shown
    assert not re.search(r"^\s*::|##\[|##vso\[", shown, re.MULTILINE)
