from __future__ import annotations

import os
import shutil
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from multilang_cli.host import janitor, waiting
from multilang_cli.host.syscalls import CALLS, NUMBERS
from multilang_cli.host.waiting import State, Waiting
from multilang_cli.protocol.events import Exited
from tests.processes import LIMIT, PYTHON, read_line, start, until

pytestmark = [
    pytest.mark.component,
    pytest.mark.skipif(os.uname().machine not in NUMBERS or sys.platform != "linux", reason="no table of calls"),
]

STATES: dict[str, tuple[State, str, str]] = {
    "reads": ("reading-stdin", "import os; os.read(0, 10)", "is blocked reading its stdin"),
    "reads a duplicate": ("reading-stdin", "import os; os.read(os.dup(0), 10)", "is blocked reading its stdin"),
    "writes stdout": (
        "writing-stdout",
        "import os; os.write(1, bytes(5_000_000))",
        "is blocked writing its stdout, which is full",
    ),
    "writes stderr": (
        "writing-stderr",
        "import os; os.write(2, bytes(5_000_000))",
        "is blocked writing its stderr, which is full",
    ),
    "sleeps": ("sleeping", "import time; time.sleep(1000)", "is sleeping"),
    "sleeps in select": ("sleeping", "import select; select.select([], [], [], 1000)", "is sleeping"),
    "computes": ("running", "while True: pass", "is running"),
    "selects": ("idle", "import select; select.select([0], [], [])", ", its stdin is empty"),
    "polls": (
        "idle",
        "import select; p = select.poll(); p.register(0); p.unregister(0); p.register(0, 1); p.poll()",
        ", its stdin is empty",
    ),
    "epolls": ("idle", "import select; p = select.epoll(); p.register(0, 1); p.poll()", ", its stdin is empty"),
    "waits for a lock": (
        "waiting-lock",
        "import threading; a = threading.Lock(); a.acquire(); a.acquire()",
        "is waiting for another thread",
    ),
    "waits for a child": (
        "waiting-child",
        "import os, signal; p = os.fork() or signal.pause(); os.waitpid(p, 0)",
        "is waiting for a child process",
    ),
    "reads another pipe": ("unknown", "import os; r, w = os.pipe(); os.read(r, 1)", "waits in read of pipe:["),
}


@pytest.mark.parametrize(("state", "script", "words"), STATES.values(), ids=STATES.keys())
def test_what_a_process_waits_for(state: State, script: str, words: str) -> None:
    with start(*PYTHON, script) as process:
        if state == "waiting-child":
            # The child waits for a signal; of the two, the parent is asked.
            assert until(lambda: any(t.state == state and t.pid == process.pid for t in waiting.threads(process)))
            return
        assert until(lambda: waiting.describe(process).state == state)
        seen = waiting.describe(process)
        assert words in seen.sentence
        assert seen.own
        assert seen.pid == process.pid


def test_the_sentence_counts_what_was_said_and_not_read() -> None:
    with start("sh", "-c", "printf 'twelve bytes' >&2; read line; exec sleep 1000") as process:
        assert until(lambda: waiting.describe(process).state == "reading-stdin")
        expected = "has written 0 bytes and 12 bytes of stderr, and is blocked reading its stdin"
        assert waiting.describe(process).sentence == expected
        process.poll(LIMIT, want_write=False)
        process.read_stderr()
        assert waiting.describe(process).sentence == expected
        process.write(b"a line\nnever read")
        assert until(lambda: waiting.describe(process).state == "sleeping")
        assert waiting.describe(process).stdin_unread == 10
        assert waiting.describe(process).sentence.endswith("and is sleeping, with 10 bytes of its stdin unread")


def test_a_child_that_keeps_everybody_waiting_is_named() -> None:
    with start("sh", "-c", "cat; exit") as process:
        assert until(lambda: waiting.describe(process).state == "reading-stdin")
        seen = waiting.describe(process)
        assert not seen.own
        assert f"and its child process {seen.pid} (cat) is blocked reading its stdin" in seen.sentence


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 3", "has exited with code 3"), ("kill -9 $$", "was ended by signal 9 (SIGKILL)")],
)
def test_a_dead_process_is_said_to_be_dead(script: str, words: str) -> None:
    with start("sh", "-c", script) as process:
        process.wait_exit(LIMIT)
        assert waiting.describe(process).sentence == f"has written 0 bytes and 0 bytes of stderr, and {words}"
        assert not waiting.settled(process)


def test_a_stopped_process_is_said_to_be_stopped() -> None:
    with start("cat") as process:
        assert until(lambda: waiting.settled(process))
        process.signal(signal.SIGSTOP)
        assert until(lambda: "waits in a stop" in waiting.describe(process).sentence)
        assert not waiting.settled(process)
        process.signal(signal.SIGCONT)
        assert until(lambda: waiting.settled(process))


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


@pytest.mark.parametrize(
    "script", [s for state, s, _ in STATES.values() if state in ("sleeping", "running", "writing-stdout")]
)
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
        assert waiting.describe(process).state == "idle"
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


def test_where_nothing_can_be_seen_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    with start("cat") as process:
        with monkeypatch.context() as blind:
            blind.setattr(janitor, "read_proc", lambda _: b"")
            assert waiting.describe(process).state == "unknown"
            assert "does not tell" in waiting.describe(process).sentence
            assert not waiting.settled(process)
        assert process.end() == Exited(signal=15)


def test_a_hostile_process_name_is_escaped() -> None:
    script = "import os; open('/proc/self/comm', 'wb').write(b'\\x1b[31m\\n)'); os.read(0, 1)"
    with start("sh", "-c", '"$0" "$@"; exit', *PYTHON, script) as process:
        assert until(lambda: "(\\x1b[31m" in waiting.describe(process).sentence)
        assert waiting.describe(process).sentence.isprintable()


def test_every_number_has_a_call() -> None:
    assert {name for numbers in NUMBERS.values() for name in numbers} == {call.name for call in CALLS}


def test_waiting_is_a_plain_value() -> None:
    seen = Waiting("idle", 1, "node", own=True, call="epoll_wait", written=1, complained=0, stdin_unread=0)
    assert seen.sentence == "has written 1 byte and 0 bytes of stderr, and waits in epoll_wait, its stdin is empty"
