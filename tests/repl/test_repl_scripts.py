"""``mlcheck repl`` in scripts: what can't be done, scripts that call scripts, how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.repl.commands.every import COMMANDS
from multilang_cli.repl.driver import Driver
from multilang_cli.repl.screen import Screen
from multilang_cli.repl.starting import config_of
from multilang_cli.subject.config import Config
from multilang_cli.subject.declared import Declared
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.settings import Flags
from tests.command import BOLT, ROOT, SPOUT, mlcheck, refusal
from tests.repl.test_repl import DIES, component, said

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.component


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A session with a bolt that is right, in which many commands can be tried."""
    folder = tmp_path_factory.mktemp("driver")
    setup = config_of(Declared(Component(command=(BOLT,), kind="bolt"), RunOptions(), Flags(), Config()), limited=True)
    driver = Driver(setup, COMMANDS, Screen(lambda: 160, color=False), folder, waits=True)
    driver.begin()
    yield driver
    driver.end_life()


@pytest.mark.parametrize(
    ("commands", "why"),
    [
        ("nexd\n", "there is no command 'nexd'; did you mean next?"),
        ("next\n", "next: Storm says that to a spout, and this is a bolt"),
        ("tuple {}\n", "expected the values as a JSON array"),
        ("tuple [1,\n", "no JSON: "),
        ("tuple [NaN]\n", "no JSON: NaN is no JSON number"),
        ("tuple [1] times=0\n", "times: expected a whole number from 1"),
        ("tuple [1] tiems=2\n", "there is no 'tiems' here; known are stream="),
        ("tuple file=none.ndjson\n", "none.ndjson: can't be read: No such file"),
        ("show 99\n", "there is no message 99 that can be shown"),
        ("edit 99\n", "there is no message 99 that can be said again"),
        ("edit 2\n", "only what Storm said can be said again"),
        ("show\n", "show: expected a whole number"),
        ("wait forever\n", "wait: expected seconds, not 'forever'"),
        ("wait quiet -1\n", "wait: expected seconds, 0 or more"),
        ("signal NONE\n", "signal: known are TERM"),
        ("set show few\n", "set show: expected all, out"),
        ("set limit bedtime 3\n", "names are pid"),
        ("storm 9.9\n", "there is no Storm version '9.9'"),
        ("conf unset nothing.there\n", "was not set by hand"),
        ("context set taskid 4\n", "taskid is what the profile says"),
        ("tree\n", "there is no tree yet"),
        ("explain\n", "expected a rule"),
        ("save\n", "expected a file"),
        ("save case Words\n", "is no id of a case"),
        ("source none.repl\n", "none.repl: can't be read"),
        ('restart "topology\n', "no closing quotation"),
        ("eof\ntuple\n", "tuple: the component has ended; `restart` starts it again"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    driver: Driver, commands: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = [driver.execute(command) for command in commands.splitlines()]
    assert done == [*([True] * (len(done) - 1)), False]
    assert why in capsys.readouterr().out.replace("\n", " ")


def test_a_command_that_cannot_be_done_ends_a_script(tmp_path: Path) -> None:
    shown = said(tmp_path, "help\n\nnexd\nfindings\n", "--kind", "bolt", BOLT, code=2)
    assert re.search(r"^line 3: this command could not be done$", shown, re.MULTILINE)
    assert "> findings" not in shown


def test_scripts_call_scripts(tmp_path: Path) -> None:
    (tmp_path / "inner.repl").write_text("heartbeat\n", encoding="utf-8")
    (tmp_path / "outer.repl").write_text("source inner.repl\ntuple\nquit\nheartbeat\n", encoding="utf-8")
    shown = said(tmp_path, "", "--kind", "bolt", "--source", "outer.repl", BOLT)
    assert shown.count('"__heartbeat"') == 1
    assert shown.count('"command": "ack"') == 1
    (tmp_path / "inner.repl").write_text("\nheartbeet\n", encoding="utf-8")
    shown = said(tmp_path, "", "--kind", "bolt", "--source", "outer.repl", BOLT, code=2)
    assert "inner.repl:2: this command could not be done" in shown
    (tmp_path / "inner.repl").write_text("source inner.repl\n", encoding="utf-8")
    assert "more than 8 deep" in said(tmp_path, "", "--kind", "bolt", "--source", "inner.repl", BOLT, code=2)


def test_a_component_that_says_no_pid(tmp_path: Path) -> None:
    shown = said(tmp_path, "tuple\n", "--kind", "bolt", component(tmp_path, DIES), code=3)
    assert "no such module" in shown
    assert "the process exited with code 4" in shown
    assert "> tuple" not in shown
    refused = mlcheck("repl", "--kind", "bolt", "./nowhere.py", cwd=tmp_path)
    assert refused.returncode == 3
    assert "does not exist" in refusal(refused)


@pytest.mark.parametrize(
    "arguments",
    [("--kind", "bolt", "--storm", "9", BOLT), ("--source", "none.repl", BOLT), ("--limit", "bed=3", BOLT), ()],
    ids=lambda words: " ".join(words[:2]),
)
def test_misuse_is_told_before_anything_starts(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = mlcheck("repl", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert refusal(done)


def test_which_kind_it_is_is_found_out(tmp_path: Path) -> None:
    assert '"command": "sync"' in said(tmp_path, "next\n", SPOUT)


def started(folder: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "multilang_cli", "repl", "--kind", "bolt", BOLT]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        words, cwd=folder, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_an_interrupt_ends_it_and_its_component(tmp_path: Path) -> None:
    with started(tmp_path) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        pid = int(session.stdout.readline().split()[-1])
        session.stdin.write("heartbeat\n")
        session.stdin.flush()
        assert any('"command": "sync"' in line for line in session.stdout)
        session.send_signal(signal.SIGINT)
        assert session.wait() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_nobody_reads_what_it_says(tmp_path: Path) -> None:
    with started(tmp_path) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        assert session.stderr is not None
        session.stdout.readline()
        session.stdout.close()
        session.stdin.write("heartbeat\n" * 50)
        session.stdin.close()
        assert session.wait() == 0
        assert session.stderr.read() == ""


def test_a_full_disk_behind_stdout_is_not_said_of_the_transcript(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "multilang_cli", "repl", "--kind", "bolt", BOLT]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(
            words,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr == ("mlcheck: stdout: can't write: No space left on device. Make room, or write elsewhere.\n")


def test_who_dies_of_raw_bytes_is_not_blamed(tmp_path: Path) -> None:
    shown = said(tmp_path, "raw {\\nend\\n\nwait exit\nfindings\n", "--kind", "bolt", BOLT)
    assert "exited with code 1" in shown
    assert not re.search(r"(?:must|should|note) +exited", shown)
    died = said(tmp_path, "", "--kind", "bolt", component(tmp_path, DIES), code=3)
    assert re.search(r"must +exited", died)


def test_what_is_set_stands_in_columns(tmp_path: Path) -> None:
    shown = said(tmp_path, "set\n", "--kind", "bolt", BOLT)
    assert "show        all       which messages are shown" in shown
    assert "limit       seconds   pid=31, sync=31" in shown
