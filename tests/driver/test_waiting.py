from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from multilang_cli.driver.waits import describing, waiting
from multilang_cli.driver.waits.syscalls import MACHINES
from multilang_cli.driver.waits.who_waits import waits_of
from tests.processes import LIMIT, PYTHON, read_line, start, until

pytestmark = [
    pytest.mark.component,
    pytest.mark.skipif(os.uname().machine not in MACHINES or sys.platform != "linux", reason="no table of calls"),
]

RESTLESS = (
    "import time; time.sleep(1000)",
    "import select; select.select([], [], [], 1000)",
    "while True: pass",
    "import os; os.write(1, bytes(5_000_000))",
)


def test_settled_means_read_and_answered() -> None:
    with start("cat") as process:
        assert until(lambda: waiting.settled(process))
        for number in range(200):
            line = b"%d\n" % number
            process.write(line)
            assert until(lambda: process.stdout_unread() == len(line))  # noqa: B023 - called at once
            assert not waiting.settled(process)
            assert process.read_stdout() == line
            assert until(lambda: waiting.settled(process))


WAITS_FOR_A_SIGNAL = (
    "import os, signal as s, threading; s.pthread_sigmask(s.SIG_BLOCK, [14]);"
    "threading.Thread(target=s.sigwait, args=([14],)).start(); s.setitimer(s.ITIMER_REAL, 1000); os.read(0, 10)"
)
HAS_A_DAEMON = (
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    if os.fork() == 0: os.setsid(); time.sleep(1000)\n"
    "    os._exit(0)\n"
    "os.wait(); os.read(0, 10)"
)
POLLS_A_SOCKET_TOO = (
    "import select, socket; p = select.epoll(); s, _ = socket.socketpair();p.register(0, 1); p.register(s, 1); p.poll()"
)

STUCK = {
    "reads": ("import os; os.read(0, 10)", True),
    "reads, and threads wait for it": (
        "import os, threading; e = threading.Event(); threading.Thread(target=e.wait).start(); os.read(0, 10)",
        True,
    ),
    "polls its stdin alone": ("import select; p = select.epoll(); p.register(0, 1); p.poll()", True),
    "has an alarm": ("import os, signal; signal.signal(14, print); signal.alarm(1000); os.read(0, 10)", False),
    "has a thread that waits for a signal": (WAITS_FOR_A_SIGNAL, False),
    "has a daemon that has left the family": (HAS_A_DAEMON, False),
    "has a thread that sleeps": (
        "import os, threading; threading.Timer(1000, print).start(); os.read(0, 10)",
        False,
    ),
    "polls something else too": (
        POLLS_A_SOCKET_TOO,
        False,
    ),
    "polls for a time": ("import select; p = select.epoll(); p.register(0, 1); p.poll(1000)", False),
}


@pytest.mark.parametrize(("script", "stuck"), STUCK.values(), ids=STUCK.keys())
def test_stuck_is_only_who_waits_for_nothing_but_stdin(script: str, stuck: bool) -> None:
    with start(*PYTHON, f"{script}; print('woken')") as process:
        assert until(lambda: waiting.settled(process))
        assert waiting.stuck(process) is stuck


SOON = 31.0
"""Seconds of a wait, as Storm's own."""

SIGNALS_BY_A_DESCRIPTOR = (
    "import fcntl, os, signal as s, socket; s.signal(s.SIGIO, print); a, b = socket.socketpair();"
    "fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC); os.read(0, 10)"
)
FOR_A_TIME = {
    "a timer that ends later": ("import os, threading; threading.Timer(1000, print).start(); os.read(0, 10)", True),
    "a timer that ends before": ("import os, threading; threading.Timer(20, print).start(); os.read(0, 10)", False),
    "polls for longer": ("import select; p = select.epoll(); p.register(0, 1); p.poll(1000)", True),
    "polls for less": ("import select; p = select.epoll(); p.register(0, 1); p.poll(30)", False),
    "selects for longer": ("import select; select.select([0], [], [], 1000)", True),
    "selects for less": ("import select; select.select([0], [], [], 20)", False),
    "a timer of the processor's time": (
        "import os, signal as s; s.signal(s.SIGPROF, print); s.setitimer(s.ITIMER_PROF, 1); os.read(0, 10)",
        True,
    ),
    "signals by a descriptor": (SIGNALS_BY_A_DESCRIPTOR, False),
}


@pytest.mark.parametrize(("script", "stuck"), FOR_A_TIME.values(), ids=FOR_A_TIME.keys())
def test_a_time_that_ends_after_the_wait_wakes_nobody_in_it(script: str, stuck: bool) -> None:
    with start(*PYTHON, f"{script}; print('woken')") as process:
        assert until(lambda: waiting.settled(process))
        assert waiting.stuck(process, SOON) is stuck
        assert not waiting.stuck(process) or "PROF" in script


RUNTIMES = {
    "ruby": ("-e", "STDIN.read"),
    "php": ("-r", "fgets(STDIN);"),
    "perl": ("-e", "<STDIN>"),
    "node": ("-e", "process.stdin.on('data', d => {})"),
    "java": ("Reads.java",),
    "go": ("run", "reads.go"),
    "mono": ("reads.exe",),
}
SOURCES = {
    "java": ("Reads.java", "class Reads { static { try { System.in.read(); } catch (Exception e) { } } }"),
    "go": ("reads.go", 'package main\nimport "os"\nfunc main() { os.Stdin.Read(make([]byte, 9)) }\n'),
    "mono": ("reads.cs", "class Reads { static void Main() { System.Console.In.ReadLine(); } }"),
}


@pytest.mark.parametrize("program", RUNTIMES)
def test_what_a_runtime_keeps_for_itself_wakes_nobody(program: str, tmp_path: Path) -> None:
    if shutil.which(program) is None or (program == "mono" and shutil.which("mcs") is None):
        pytest.skip(f"no {program}")
    arguments = RUNTIMES[program]
    if program in SOURCES:
        name, text = SOURCES[program]
        (tmp_path / name).write_text(text)
    if program == "mono":
        subprocess.run(["mcs", "reads.cs"], cwd=tmp_path, check=True, timeout=60)
    if program == "go":
        subprocess.run(["go", "build", "reads.go"], cwd=tmp_path, check=True, timeout=120)
        program, arguments = "./reads", ()
    with start(program, *arguments, cwd=tmp_path) as process:
        assert until(lambda: waiting.stuck(process, SOON))


HANGS = {
    "waits for a lock": (
        "import threading; threading.Lock().acquire(); l = threading.Lock(); l.acquire(); l.acquire()",
        True,
    ),
    "sleeps for longer": ("import time; time.sleep(1000)", True),
    "sleeps for less": ("import time; time.sleep(20)", False),
    "waits for a child that sleeps": ("import subprocess; subprocess.run(['sleep', '1000'])", True),
    "waits for a child that works": (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])",
        False,
    ),
    "fills a pipe of its own": ("import os; a, b = os.pipe(); os.write(b, bytes(1 << 20))", True),
    "is stopped": ("import os, signal; os.kill(0, signal.SIGSTOP)", True),
    "waits for a network": ("import socket; a, b = socket.socketpair(); a.recv(1)", False),
    "fills its stdout": ("import os; os.write(1, bytes(5_000_000))", False),
    "reads its stdin": ("import os; os.read(0, 1)", False),
    "has an alarm": ("import os, signal, time; signal.signal(14, print); signal.alarm(1000); time.sleep(1000)", False),
}


@pytest.mark.parametrize(("script", "hangs"), HANGS.values(), ids=HANGS.keys())
def test_a_standstill_is_only_what_nobody_can_end(script: str, hangs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MOTIONLESS", 0.0)
    with start(*PYTHON, f"import os; os.write(1, b'1\\n'); {script}; print('woken')") as process:
        standstill = waiting.Standstill(process)
        assert process.poll(LIMIT, want_write=False).stdout
        assert process.read_stdout(2) == b"1\n"
        if hangs:
            assert until(lambda: standstill.is_seen(SOON))
        else:
            assert not any(standstill.is_seen(SOON) for _ in range(50))


def test_what_moves_between_two_looks_does_not_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: now))
    script = "import signal, time; signal.signal(signal.SIGUSR1, lambda *_: 0); print(1, flush=True); time.sleep(1000)"
    with start(*PYTHON, script) as process:
        standstill = waiting.Standstill(process)
        assert read_line(process) == b"1\n"
        assert until(lambda: not standstill.is_seen(SOON) and bool(standstill.mark))
        before = standstill.mark
        process.signal(signal.SIGUSR1)
        now = 10.0
        assert until(lambda: not standstill.is_seen(SOON) and standstill.mark not in ((), before))
        now = 20.0
        assert standstill.is_seen(SOON)


def test_who_still_has_to_answer_is_never_stuck() -> None:
    script = """
        import os, threading
        while True:
            data = os.read(0, 100)
            threading.Event().wait(0.0005)
            os.write(1, data)
    """
    with start(*PYTHON, textwrap.dedent(script)) as process:
        for number in range(300):
            process.write(b"%d\n" % number)
            while not process.stdout_unread():
                assert not waiting.stuck(process)
            process.read_stdout()


def test_settled_is_never_said_too_early() -> None:
    script = """
        import sys, queue, threading
        def work():
            while True:
                line = todo.get()
                sum(range(20_000))
                print(line, end="", flush=True)
        todo = queue.Queue()
        threading.Thread(target=work, daemon=True).start()
        for line in sys.stdin:
            todo.put(line)
    """
    with start(*PYTHON, textwrap.dedent(script)) as process:
        assert until(lambda: waiting.settled(process))
        for number in range(100):
            line = b"%d\n" % number
            process.write(line)
            heard = b""
            assert until(lambda: waiting.settled(process) or bool(process.stdout_unread()))
            assert process.stdout_unread() == len(line), "settled before the answer"
            heard += process.read_stdout() or b""
            assert heard == line


def test_work_that_wanders_from_thread_to_thread_is_not_settled() -> None:
    # Each thread is seen waiting now and then, never all of them in one moment.
    script = """
        import os, threading
        (a, b), (c, d) = os.pipe(), os.pipe()
        def pass_on(source, sink):
            while True:
                os.write(sink, os.read(source, 1))
        threading.Thread(target=pass_on, args=(a, d), daemon=True).start()
        threading.Thread(target=pass_on, args=(c, b), daemon=True).start()
        os.write(b, b"x")
        print()
        os.read(0, 1)
    """
    with start(*PYTHON, textwrap.dedent(script)) as process:
        assert read_line(process) == b"\n"
        assert not any(waiting.settled(process) for _ in range(2000))


@pytest.mark.parametrize("script", RESTLESS)
def test_what_sleeps_works_or_writes_is_not_settled(script: str) -> None:
    with start(*PYTHON, "print(1); " + script if "while" not in script else "print(1)\n" + script) as process:
        assert process.poll(LIMIT, want_write=False).stdout
        process.read_stdout()
        assert not any(waiting.settled(process) for _ in range(20))


def test_a_chain_of_processes_settles() -> None:
    with start("sh", "-c", "cat | cat; exit") as process:
        assert until(lambda: waiting.settled(process))
        process.write(b"through both\n")
        assert read_line(process) == b"through both\n"
        assert until(lambda: waiting.settled(process))


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_node_is_idle_and_settles() -> None:
    with start("node", "-e", "process.stdin.on('data', d => process.stdout.write(d))") as process:
        assert until(lambda: waiting.settled(process))
        # Not the pipe with which its event loop wakes itself.
        assert waits_of(describing.describe(process)).at_stdin
        process.write(b"x\n")
        assert read_line(process) == b"x\n"
        assert until(lambda: waiting.settled(process))


def test_the_kernel_function_tells_where_the_call_is_hidden() -> None:
    with start("cat") as process:
        assert until(lambda: waiting.settled(process))
        folder = f"/proc/{process.pid}/task/{process.pid}"
        call = waiting._kernel_function(folder)
        assert call is not None, (Path(folder) / "wchan").read_text()
        names = tuple(f"pipe:[{inode}]" for inode in process.inodes)
        state, _, quiet = waiting._judge(call, [], process.pid, names, stdin_empty=True)
        assert (state, quiet) == ("reading-stdin", True)
