from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from multilang_cli.host import describing, waiting
from multilang_cli.host.syscalls import CALLS, NUMBERS
from tests.processes import LIMIT, PYTHON, read_line, start, until

pytestmark = [
    pytest.mark.component,
    pytest.mark.skipif(os.uname().machine not in NUMBERS or sys.platform != "linux", reason="no table of calls"),
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
        assert describing.describe(process).sentence.endswith("its stdin, which is empty: it waits for Storm")
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


def test_every_number_has_a_call() -> None:
    assert {name for numbers in NUMBERS.values() for name in numbers} == {call.name for call in CALLS}
