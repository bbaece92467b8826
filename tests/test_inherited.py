"""What whoever starts mlcheck leaves to it, and to components: ignored and blocked signals, odd sizes and streams."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, ROOT, mlcheck

if TYPE_CHECKING:
    from collections.abc import Callable

STARTED = """
import os, signal, sys
how, numbers, *words = sys.argv[1:]
for number in map(int, numbers.split(",")):
    if how == "ignored":
        signal.signal(number, signal.SIG_IGN)
    else:
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
os.execv(sys.executable, [sys.executable, "-m", "multilang_cli", *words])
"""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM)


@pytest.mark.component
@pytest.mark.parametrize("how", ["ignored", "blocked"])
def test_signals_that_our_parent_ignores_or_blocks_are_none_of_a_components(how: str, tmp_path: Path) -> None:
    words = ("run", "--strict", "--kind", "bolt", "-k", "end.sigterm", BOLT)
    numbers = ",".join(str(int(number)) for number in SIGNALS)
    ran = subprocess.run(
        [sys.executable, "-c", STARTED, how, numbers, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert "1 passed" in ran.stdout


ENDED = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from multilang_cli.__main__ import main
sys.argv[1:] = ["explain", "ack-twice", "--json"]
code = main()
sys.exit(code or signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN)
"""


@pytest.mark.component
def test_what_our_parent_ignores_is_ignored_to_the_end(tmp_path: Path) -> None:
    """As Python ends it has no handlers, and what came then ended it as a signal does, whatever the verdict."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", ENDED], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, check=False)
    assert ran.returncode == 0


@pytest.mark.component
@pytest.mark.parametrize("size", ["9" * 5000, "9" * 12, "\u00b2", "\u0663", "-1", "0", "x"], ids=range(7))
def test_no_size_of_a_terminal_is_a_fault(size: str, tmp_path: Path) -> None:
    ran = mlcheck("explain", "ack-twice", cwd=tmp_path, COLUMNS=size, LINES=size)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert max(map(len, ran.stdout.splitlines())) < 120


@pytest.mark.component
@pytest.mark.parametrize("command", [("list", "rules"), ("explain", "ack-twice"), ("explain", "ack-twice", "--json")])
def test_a_stdout_that_cant_be_written_is_told(command: tuple[str, ...], tmp_path: Path) -> None:
    ran = subprocess.run(
        ["bash", "-c", 'exec "$@" 1</dev/null', "bash", sys.executable, "-m", "multilang_cli", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (2, "mlcheck: stdout can't be written: Bad file descriptor.\n")


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def without_reader() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


def terminal_that_is_gone() -> int:
    master, slave = pty.openpty()
    os.close(master)
    return slave


REFUSING = (full, without_reader, terminal_that_is_gone)
CHECKED = ("run", "--kind", "bolt", "-k", "handshake.pid-first")


def written_to(opened: int, name: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with stdout or stderr as it is `opened`; the other is read."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, name: opened}
    try:
        return subprocess.run(
            [sys.executable, "-m", "multilang_cli", *words],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=streams["stdout"],
            stderr=streams["stderr"],
            text=True,
            check=False,
        )
    finally:
        os.close(opened)


@pytest.mark.component
@pytest.mark.parametrize("refusing", REFUSING)
@pytest.mark.parametrize(
    ("words", "code"), [((*CHECKED, BOLT), 0), ((*CHECKED, "-v", BOLT), 0), ((*CHECKED, "/nowhere"), 3)], ids=range(3)
)
def test_a_stderr_that_cant_be_written_changes_no_verdict(
    words: tuple[str, ...], code: int, refusing: Callable[[], int], tmp_path: Path
) -> None:
    ran = written_to(refusing(), "stderr", *words, cwd=tmp_path)
    assert ran.returncode == code, ran.stdout
    assert not list(tmp_path.glob(".mlcheck/fault-*"))


@pytest.mark.component
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_version_that_cant_be_written_is_told(
    unbuffered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    ran = written_to(full(), "stdout", "--version", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "mlcheck: stdout can't be written: No space left on device.\n")


@pytest.mark.component
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_stream_that_does_not_block_gets_everything(name: str, tmp_path: Path) -> None:
    """As Node's and some terminals' are, for each of the processes that share them."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    while True:
        try:
            os.write(write, bytes(4096))
        except BlockingIOError:
            break
    words = ("schema", "show", "case") if name == "stdout" else ("schema", "show", "nothing")
    command = [sys.executable, "-m", "multilang_cli", *words]
    out, err = (write, subprocess.DEVNULL) if name == "stdout" else (subprocess.DEVNULL, write)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=out, stderr=err) as process:
        os.close(write)
        # It is read once the process sleeps, for want of room, or has ended.
        while process.poll() is None and " S " not in Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8"):
            os.sched_yield()
        with os.fdopen(read, "rb") as reader:
            said = reader.read().lstrip(b"\0").decode()
    assert process.returncode == (0 if name == "stdout" else 2)
    assert json.loads(said)["title"] if name == "stdout" else said.endswith(".\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1:strict", "utf-8"])
def test_what_an_encoding_does_not_have_is_escaped(encoding: str) -> None:
    program = "from multilang_cli.streams import have_usual_output; have_usual_output(); print('5 \\xb5s \\u2192')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    wanted = "5 \xb5s \u2192\n".encode(encoding.partition(":")[0], "backslashreplace")
    assert (ran.stdout, ran.stderr) == (wanted, b"")
