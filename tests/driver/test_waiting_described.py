"""What keeps a real component, in words: from one look at its processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from multilang_cli.driver import reaper
from multilang_cli.driver.waits import describing, waiting
from multilang_cli.driver.waits.syscalls import MACHINES
from multilang_cli.driver.waits.who_waits import Debts, State, Waiting, facts, waits_of
from multilang_cli.protocol.words.events import Exited
from tests.processes import LIMIT, PYTHON, start, until

if TYPE_CHECKING:
    from multilang_cli.driver.process import ComponentProcess

pytestmark = [
    pytest.mark.component,
    pytest.mark.skipif(os.uname().machine not in MACHINES or sys.platform != "linux", reason="no table of calls"),
]

STATES: dict[str, tuple[State, str, str]] = {
    "reads": (
        "reading-stdin",
        "import os; os.read(0, 10)",
        "is blocked reading its stdin, which is empty: it waits for Storm",
    ),
    "reads a duplicate": ("reading-stdin", "import os; os.read(os.dup(0), 10)", "is blocked reading its stdin"),
    "writes stdout": (
        "writing-stdout",
        "import os; os.write(1, bytes(5_000_000))",
        "is blocked writing its stdout, which is full (1048576 bytes): it waits for Storm to read it",
    ),
    "writes stderr": (
        "writing-stderr",
        "import os; os.write(2, bytes(5_000_000))",
        "is blocked writing its stderr, which is full (65536 bytes): it waits for Storm to read it",
    ),
    "sleeps": (
        "sleeping",
        "import time; time.sleep(1000)",
        "is asleep (clock_nanosleep): it waits for nobody but the clock",
    ),
    "sleeps in select": ("sleeping", "import select; select.select([], [], [], 1000)", "is asleep (pselect6)"),
    "computes": ("running", "while True: pass", "is busy (running): it waits for nobody"),
    "selects": (
        "idle",
        "import select; select.select([0], [], [])",
        "for its stdin, which is empty: it waits for Storm",
    ),
    "polls": (
        "idle",
        "import select; p = select.poll(); p.register(0); p.unregister(0); p.register(0, 1); p.poll()",
        "for its stdin, which is empty: it waits for Storm",
    ),
    "epolls": (
        "idle",
        "import select; p = select.epoll(); p.register(0, 1); p.poll()",
        "for its stdin, which is empty: it waits for Storm",
    ),
    "waits for a lock": (
        "waiting-lock",
        "import threading; a = threading.Lock(); a.acquire(); a.acquire()",
        "waits for a lock (futex), and has no other thread that could free it",
    ),
    "waits for a child": (
        "waiting-child",
        "import os, signal; p = os.fork() or signal.pause(); os.waitpid(p, 0)",
        "waits for a child process",
    ),
    "waits for a lock and the clock": (
        "waiting-lock",
        "import threading; a = threading.Lock(); a.acquire(); a.acquire(timeout=1000)",
        "waits for a lock or for a time to pass (futex)",
    ),
    "polls for a time": (
        "idle",
        "import select; p = select.epoll(); p.register(0, 1); p.poll(1000)",
        "in epoll_wait for its stdin, which is empty: it waits for Storm, or for 1000000 ms to pass",
    ),
    "selects another": (
        "idle",
        "import os, select; select.select([os.pipe()[0]], [], [])",
        "waits in pselect6, but not for its stdin",
    ),
    "reads another pipe": ("elsewhere", "import os; r, w = os.pipe(); os.read(r, 1)", "is blocked in read of a pipe"),
    "listens": (
        "elsewhere",
        "import socket; s = socket.create_server(('127.0.0.1', 0)); s.accept()",
        "of a TCP socket that listens on 127.0.0.1:",
    ),
    "reads a socket": (
        "elsewhere",
        "import socket as s; a = s.create_server(('127.0.0.1', 0)); s.create_connection(a.getsockname()).recv(1)",
        "is blocked in recvfrom of a TCP connection to 127.0.0.1:",
    ),
    "reads a socket of IPv6": (
        "elsewhere",
        "from socket import *; a = socket(10); a.listen(); s = socket(10); s.connect(a.getsockname()); s.recv(1)",
        "is blocked in recvfrom of a TCP connection to [::1]:",
    ),
    "waits for a signal": ("waiting-signal", "import signal; signal.sigwait([10])", "waits for a signal (rt_sig"),
}


def told(process: ComponentProcess) -> str:
    return str(waits_of(describing.describe(process)))


@pytest.mark.parametrize(("state", "script", "words"), STATES.values(), ids=STATES.keys())
def test_what_a_process_waits_for(state: State, script: str, words: str) -> None:
    with start(*PYTHON, script) as process:
        if state == "waiting-child":
            # The child waits for a signal; of the two, the parent is asked.
            assert until(lambda: any(t.state == state and t.pid == process.pid for t in waiting.threads(process)))
            return
        # It may run for a moment between two looks: one of them shows both.
        looks: list[Waiting] = []

        def shown() -> bool:
            looks.append(describing.describe(process))
            return looks[-1].state == state and words in str(waits_of(looks[-1]))

        assert until(shown), looks[-1]
        seen = looks[-1]
        assert seen.kin == "self"
        assert seen.pid == process.pid


def test_another_thread_may_free_a_lock() -> None:
    script = (
        "import threading; a = threading.Lock(); a.acquire(); threading.Thread(target=a.acquire).start(); a.acquire()"
    )
    with start(*PYTHON, script) as process:

        def both_wait() -> bool:
            seen = describing.describe(process)
            return seen.state == "waiting-lock" and sum(count for _, count in seen.threads) > 1

        assert until(both_wait)
        assert "could free it" not in told(process)


def test_the_facts_count_what_was_said_and_not_read() -> None:
    with start("sh", "-c", "printf 'twelve bytes' >&2; read line; exec sleep 1000") as process:
        assert until(lambda: describing.describe(process).state == "reading-stdin")
        said = "so far 0 bytes of stdout and 12 bytes of stderr; threads: read of descriptor 0 (stdin)"
        pipes = "in the pipes: stdin 0 bytes, stdout 0 bytes, stderr"
        assert facts(describing.describe(process)) == f"{pipes} 12 bytes; {said}"
        process.poll(LIMIT, want_write=False)
        process.read_stderr()
        assert facts(describing.describe(process)) == f"{pipes} 0 bytes; {said}"
        process.write(b"a line\nnever read")
        assert until(lambda: describing.describe(process).state == "sleeping")
        assert facts(describing.describe(process)).startswith("in the pipes: stdin 10 bytes,")


WRAPPED = {
    "reads": ("cat", "is blocked reading its stdin, which is empty: that process waits for Storm"),
    "sleeps": ("sleep 1000", "is asleep (clock_nanosleep): that process waits for nobody but the clock"),
    "is busy": ("cat /dev/zero >/dev/null", "is busy (running): that process waits for nobody"),
    "writes stdout": ("cat /dev/zero", "is blocked writing its stdout, which is full ("),
    "writes stderr": ("cat /dev/zero >&2", "is blocked writing its stderr, which is full ("),
}


@pytest.mark.parametrize(("command", "words"), WRAPPED.values(), ids=WRAPPED.keys())
@pytest.mark.parametrize("depth", ["child", "descendant"])
def test_who_keeps_everybody_waiting_behind_a_shell_is_named(command: str, words: str, depth: str) -> None:
    inner = f"{command}; exit"
    script = inner if depth == "child" else f"sh -c '{inner}'; exit"
    name = command.split(maxsplit=1)[0]
    with start("sh", "-c", script) as process:

        def seen() -> str:
            return told(process)

        named = re.compile(rf"has a {depth} process \d+ \({name}\) that {re.escape(words)}")
        assert until(lambda: named.match(seen()) is not None), seen()


def test_the_other_end_of_a_pipe_is_named() -> None:
    # The child waits for a lock: it tells less than its parent, who reads from it.
    script = """
        import os, threading
        r, w = os.pipe()
        lock = threading.Lock()
        lock.acquire()
        if os.fork() == 0: lock.acquire()
        os.close(w)
        os.read(r, 1)
    """
    with start(*PYTHON, textwrap.dedent(script)) as process:
        named = re.compile(r"is blocked in read of a pipe: it waits for process \d+ \(python\S*\) at its other end$")
        assert until(lambda: bool(named.match(told(process))))


@pytest.mark.parametrize("kind", ["epoll", "poll"])
def test_an_event_loop_that_lets_its_stdin_lie_is_told(kind: str) -> None:
    script = f"import select, socket; s, t = socket.socketpair(); p = select.{kind}(); p.register(s, 1); p.poll()"
    with start(*PYTHON, script) as process:
        process.write(b"never read")
        words = ", but not for its stdin, where 10 bytes stand unread: it waits for a Unix socket"
        assert until(lambda: told(process).endswith(words))


FULL = """
import select, subprocess, sys
writes = "import sys; sys.stderr.write('x' * 200_000)"
child = subprocess.Popen([sys.executable, "-c", writes], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
select.select([child.stdout], [], [])
"""


def test_who_waits_for_one_that_can_not_write_its_stderr_is_told_so() -> None:
    with start(*PYTHON, FULL) as process:
        words = re.compile(
            r": that part of it waits for a pipe of process \d+ \(python\S*\), which is blocked in write of its stderr$"
        )
        assert until(lambda: bool(words.search(told(process)))), told(process)


def test_both_pipes_full() -> None:
    with start("cat") as process:
        process.hold_stdout(hold=True)

        def fed() -> bool:
            process.write(bytes(100_000))
            return describing.describe(process).stdin_full and describing.describe(process).state == "writing-stdout"

        assert until(fed)
        seen = describing.describe(process)
        debts = Debts(unsent=5)
        assert str(waits_of(seen, debts)) == (
            f"is blocked writing its stdout, which is full ({seen.stdout} bytes): it waits for Storm to read it; "
            f"its stdin is full too: {seen.stdin} bytes unread and 5 bytes more wait to be written"
        )


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 3", "has exited with code 3"), ("kill -9 $$", "was ended by signal 9 (SIGKILL)")],
)
def test_a_dead_process_is_said_to_be_dead(script: str, words: str) -> None:
    with start("sh", "-c", script) as process:
        process.wait_exit(LIMIT)
        assert told(process) == words
        assert not waiting.settled(process)


def test_who_holds_the_pipes_of_a_dead_process_is_named() -> None:
    with start("sh", "-c", "sleep 1000 2>/dev/null & exit 3") as process:
        process.wait_exit(LIMIT)
        named = re.compile(
            r"has exited with code 3, but process \d+ \(sleep\), which it left behind, holds its stdout$"
        )
        assert until(lambda: bool(named.match(told(process))))


def test_a_stopped_process_is_said_to_be_stopped() -> None:
    with start("sh", "-c", "cat; exit") as process:
        assert until(lambda: waiting.settled(process))
        child = describing.describe(process).pid
        os.kill(child, signal.SIGSTOP)
        assert until(lambda: "(cat) that is stopped by a signal, such as SIG" in told(process))
        assert not waiting.settled(process)
        os.kill(child, signal.SIGCONT)
        assert until(lambda: waiting.settled(process))
        process.signal(signal.SIGSTOP)
        assert until(lambda: told(process).startswith("is stopped by a signal"))


TRACES_ITS_CHILD = """
import ctypes, os
libc = ctypes.CDLL(None)
if os.fork() == 0:
    libc.ptrace(0, 0, None, None)
    os.kill(os.getpid(), 19)
os.read(0, 1)
"""


def test_a_debugger_is_named() -> None:
    with start(*PYTHON, TRACES_ITS_CHILD) as process:
        words = f"that is stopped by a debugger, process {process.pid} (python"
        assert until(lambda: words in told(process))


BLIND = """
import sys
from multilang_cli.driver.waits import describing
from multilang_cli.driver.waits.who_waits import waits_of
from tests.processes import start, until
shut = "import ctypes, os; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); os.read(0, 1)"
with start(sys.executable, "-I", "-S", "-c", shut) as process:
    print(until(lambda: bool(describing.describe(process).hidden)), waits_of(describing.describe(process)))
"""


def test_where_we_may_not_look_nothing_is_claimed() -> None:
    # Who may look at everything gives that up first.
    powerless = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace") if os.geteuid() == 0 else ()
    ran = subprocess.run([*powerless, sys.executable, "-c", BLIND], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == (
        "True does something that the system does not tell, for it may not be looked into (ptrace is not permitted)"
    ), ran.stderr


def test_a_command_that_runs_the_component_elsewhere_is_named() -> None:
    script = "import os; open('/proc/self/comm', 'w').write('docker'); os.read(0, 1)"
    with start(*PYTHON, script) as process:
        words = "it waits for Storm; what docker runs in another place can't be seen from here"
        assert until(lambda: told(process).endswith(words))


def test_what_is_guessed_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reaper.read_proc
    with start("cat") as process:
        assert until(lambda: waiting.settled(process))
        monkeypatch.setattr(reaper, "read_proc", lambda path: b"" if path.endswith("/syscall") else real(path))
        assert re.fullmatch(r"waits in \w*pipe_read: it reads a pipe, most likely its stdin", told(process))


def test_who_waits_for_a_page_of_memory_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reaper.read_proc
    with start("cat") as process:
        assert until(lambda: waiting.settled(process))
        fault = b"-1 0x7ffc0a0b 0x7f10a0b0\n"
        monkeypatch.setattr(reaper, "read_proc", lambda path: fault if path.endswith("/syscall") else real(path))
        assert describing.describe(process).state == "running"
        assert not waiting.settled(process)


def test_where_nothing_can_be_seen_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    with start("cat") as process:
        with monkeypatch.context() as blind:
            blind.setattr(reaper, "read_proc", lambda _: b"")
            assert describing.describe(process).state == "unknown"
            assert "does not tell, for it may not be looked into" in told(process)
            assert not waiting.settled(process)
        assert process.end() in {Exited(signal=15), Exited(code=0)}  # cat may see the end of its stdin first


def test_a_hostile_process_name_is_escaped() -> None:
    script = "import os; open('/proc/self/comm', 'wb').write(b'\\x1b[31m\\n)'); os.read(0, 1)"
    with start("sh", "-c", '"$0" "$@"; exit', *PYTHON, script) as process:
        assert until(lambda: "(\\x1b[31m" in told(process))
        assert told(process).isprintable()
