from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from multilang_cli.driver import reaper
from multilang_cli.driver.environment import with_additions
from multilang_cli.driver.launch import LaunchError
from multilang_cli.driver.process import READ_SIZE, STDERR_KEPT, BrokenStdin, ComponentProcess, private_pid_dir
from multilang_cli.protocol.words.events import Exited
from tests.processes import LIMIT, PYTHON, gone, read_all, read_line, start, until

pytestmark = [
    pytest.mark.component,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
]

REPOSITORY = Path(__file__).resolve().parents[2]


def test_bytes_go_through_unchanged() -> None:
    sent = bytes(range(256)) * 8192
    with start("cat") as process:
        view, back = memoryview(sent), bytearray()
        while len(back) < len(sent):
            ready = process.poll(LIMIT, want_write=bool(view))
            assert ready.stdin or ready.stdout
            if ready.stdin:
                view = view[process.write(view) :]
            if ready.stdout:
                data = process.read_stdout()
                assert data is not None
                assert len(data) <= READ_SIZE
                back += data
        assert back == sent
        assert process.stdout_total == len(sent)


def test_end_of_file_is_none_and_nothing_now_is_empty() -> None:
    with start("cat") as process:
        assert process.read_stdout() == b""
        assert process.read_stderr() == b""
        process.close_stdin()
        assert read_all(process) == b""
        assert process.read_stdout() is None
        assert process.read_stderr() is None


def test_an_exchange_waits_for_an_answer_that_is_late_as_long_as_it_may() -> None:
    late = """
        import sys, time
        for line in sys.stdin.buffer:
            time.sleep(0.05)
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
        """
    with start(*PYTHON, textwrap.dedent(late)) as process, start("cat") as quick:
        for number in range(8):
            said = b"%d\n" % number
            assert quick.exchange(said, LIMIT) == process.exchange(said, LIMIT) == said
        assert process.exchange(b"not yet\n", 0.0) == b""
        assert process.exchange(b"\n", LIMIT) == b"not yet\n"


def test_a_component_that_does_not_read_takes_what_its_pipe_holds() -> None:
    with start("sleep", "100") as process:
        taken = 0
        while done := process.write(bytes(65536)):
            taken += done
        assert process.stdin_unread() == taken
        assert not process.poll(0, want_write=True).stdin


def test_a_broken_stdin_is_told() -> None:
    with start("sh", "-c", "exec <&-; echo closed; exec sleep 100") as process:
        assert read_line(process) == b"closed\n"
        assert process.poll(LIMIT, want_write=True).stdin
        with pytest.raises(BrokenStdin, match="nobody reads"):
            process.write(b"x")
        process.close_stdin()
        with pytest.raises(BrokenStdin, match="closed"):
            process.write(b"x")


def test_stderr_is_drained_and_its_end_is_kept() -> None:
    script = "import sys; sys.stderr.buffer.write(b'x' * 3_000_000 + b'last words')"
    with start(*PYTHON, script) as process:
        read_all(process)
        assert process.stderr_total == 3_000_010
        assert len(process.stderr_tail) == STDERR_KEPT
        assert process.stderr_tail.endswith(b"xlast words")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("exit 0", Exited(code=0)),
        ("exit 7", Exited(code=7)),
        ("kill -9 $$", Exited(signal=9)),
        ("kill -15 $$", Exited(signal=15)),
        ("exit 137", Exited(code=137)),
    ],
)
def test_how_it_ended_is_told_truly(script: str, expected: Exited) -> None:
    with start("sh", "-c", script) as process:
        assert process.wait_exit(LIMIT) == expected
        assert process.poll(LIMIT, want_write=False).exited
        # Not yet reaped: the pid can't have been given to another process.
        assert reaper.stat_fields(process.pid)[0] == b"Z"
        assert process.relation(process.pid) == "self"
    assert process.exited() == expected
    assert not reaper.stat_fields(process.pid)


def test_what_was_written_before_death_is_still_read() -> None:
    with start("sh", "-c", "echo one; echo two >&2; exit 3") as process:
        assert process.wait_exit(LIMIT) == Exited(code=3)
        assert process.stdout_unread() == 4
        assert read_all(process) == b"one\n"
        assert process.stderr_tail == b"two\n"


def test_a_grandchild_that_holds_stdout_does_not_hide_the_exit() -> None:
    with start("sh", "-c", "sleep 100 & echo $!; exit 4") as process:
        child = int(read_line(process))
        assert process.wait_exit(LIMIT) == Exited(code=4)
        assert process.poll(LIMIT, want_write=False).exited
        assert process.read_stdout() == b""
        assert reaper.start_time(child)
    assert gone(child)
    assert process.swept == 1


def test_signal_reaches_the_process_alone() -> None:
    with start("sh", "-c", "sleep 100 & echo $!; wait") as process:
        child = int(read_line(process))
        process.signal(signal.SIGTERM)
        assert process.wait_exit(LIMIT) == Exited(signal=15)
        assert reaper.start_time(child)
    assert gone(child)


def test_end_is_gentle_first() -> None:
    script = "trap 'echo bye >&2; exit 5' TERM; echo up; while :; do sleep 0.01; done"
    process = start("sh", "-c", script)
    assert read_line(process) == b"up\n"
    assert process.end(term_wait=LIMIT) == Exited(code=5)
    assert process.stderr_tail.endswith(b"bye\n")
    assert process.end() == Exited(code=5)


def test_what_ignores_sigterm_is_killed() -> None:
    process = start("sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.01; done")
    assert read_line(process) == b"up\n"
    assert process.end(term_wait=0.05) == Exited(signal=9)


def test_end_is_not_held_up_by_full_pipes() -> None:
    script = """
        import os, signal
        signal.signal(15, lambda *_: (os.write(1, bytes(3_000_000)), os.write(2, bytes(1_000_000)), os._exit(6)))
        print("up")
        signal.pause()
    """
    process = start(*PYTHON, textwrap.dedent(script))
    assert read_line(process) == b"up\n"
    assert process.end(term_wait=LIMIT) == Exited(code=6)


ESCAPES = {
    "own group": ("os.setpgid(0, 0)", "descendant"),
    "own session": ("os.setsid()", "descendant"),
    "double fork": ("os.setsid(); os.fork() and os._exit(0)", "descendant"),
    "session without environment": ("os.setsid(); env = {}", "descendant"),
    "orphan in own group without environment": (
        "os.setpgid(0, 0); os.fork() and os._exit(0); os.setpgid(0, 0); env = {}",
        "foreign",
    ),
    "child of an orphan, session without environment": (
        "os.setsid(); os.fork() and os._exit(0); os.fork() and signal.pause(); os.setsid(); env = {}",
        "foreign",
    ),
}


@pytest.mark.parametrize(("escape", "relation"), ESCAPES.values(), ids=ESCAPES.keys())
def test_descendants_that_leave_are_ended_too(escape: str, relation: str) -> None:
    pause = "import os, signal; signal.signal(15, signal.SIG_IGN); print(os.getpid()); signal.pause()"
    script = f"""
        import os, signal
        env = os.environ
        if os.fork() == 0:
            {escape}
            os.execve({sys.executable!r}, ["python", "-ISuc", {pause!r}], env)
        os.wait()
        signal.pause()
    """
    with start(*PYTHON, textwrap.dedent(script)) as process:
        child = int(read_line(process))
        assert until(lambda: process.relation(child) == relation)
    assert gone(child)


def test_the_pid_folder_is_private_and_goes_with_the_process() -> None:
    with start(
        "sh", "-c", "read line; cd $line; : > $$; echo made; read line; echo x > $$; echo filled; cat"
    ) as process:
        folder = process.pid_dir
        assert folder.stat().st_mode & 0o777 == 0o700
        assert process.pid_file(process.pid) == "missing"
        process.write(str(folder).encode() + b"\n")
        assert read_line(process) == b"made\n"
        assert process.pid_file(process.pid) == "empty"
        process.write(b"\n")
        assert read_line(process) == b"filled\n"
        assert process.pid_file(process.pid) == "filled"
    assert not folder.exists()


def test_relations_of_pids() -> None:
    with start("sh", "-c", "sleep 100 & echo $!; wait") as process:
        child = int(read_line(process))
        assert process.relation(process.pid) == "self"
        assert process.relation(child) == "descendant"
        assert process.relation(os.getpid()) == "foreign"
        assert process.relation(1) == "foreign"
        os.kill(child, signal.SIGKILL)
        assert gone(child)
        assert [process.relation(pid) for pid in (child, 0, -1, 2**31, 10**30)] == ["dead"] * 5


def test_the_environment_is_inherited_and_path_appended() -> None:
    inherited = {"PATH": "/usr/bin:/bin", "A": "1", "B": "1"}
    env = with_additions({"PATH": "/extra", "B": "2"}, inherited)
    assert env == {"PATH": "/usr/bin:/bin:/extra", "A": "1", "B": "2"}
    assert with_additions({"PATH": "/extra"}, {}) == {"PATH": "/extra"}
    with start("/bin/sh", "-c", "echo $PATH $A $B", env=env) as process:
        assert read_line(process) == b"/usr/bin:/bin:/extra 1 2\n"


def test_it_runs_in_the_given_folder(tmp_path: Path) -> None:
    with start("pwd", cwd=tmp_path) as process:
        assert read_line(process) == str(tmp_path.resolve()).encode() + b"\n"


@pytest.mark.parametrize(
    ("content", "mode", "reason", "words"),
    [
        (None, 0, "missing", "does not exist"),
        ("echo", 0o755, "bad-format", "no shebang"),
        ("", 0o755, "bad-format", "empty"),
        ("#!/no/such/thing\n", 0o755, "bad-shebang", "names /no/such/thing, which does not exist"),
        ("#!/bin/sh\n", 0o644, "not-executable", "not executable"),
    ],
)
def test_what_the_system_refuses_is_said(
    tmp_path: Path, content: str | None, mode: int, reason: str, words: str
) -> None:
    program = tmp_path / "component"
    if content is not None:
        program.write_text(content)
        program.chmod(mode)
    pid_dir = private_pid_dir()
    with pytest.raises(LaunchError, match=words) as refused:
        ComponentProcess.start([str(program)], cwd=tmp_path, env=os.environ, pid_dir=pid_dir)
    assert refused.value.reason == reason
    assert not pid_dir.exists()


def test_the_pid_directory_is_as_long_as_that_of_a_worker() -> None:
    pid_dir = private_pid_dir()
    pid_dir.rmdir()
    assert len(str(pid_dir)) >= len("/var/lib/storm/workers/00000000-0000-0000-0000-000000000000/pids")


def test_a_missing_folder_and_a_nul_byte_are_said(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="working directory"):
        start("true", cwd=tmp_path / "nowhere")
    with pytest.raises(LaunchError, match="null byte"):
        start("echo", "a\0b")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def test_an_interrupt_while_it_starts_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with start("true"):
        pass
    before, pid_dir = open_files(), private_pid_dir()
    monkeypatch.setattr("multilang_cli.driver.process.subprocess.Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ComponentProcess.start(["cat"], cwd=REPOSITORY, env=dict(os.environ), pid_dir=pid_dir)
    assert not pid_dir.exists()
    assert open_files() == before


def test_no_descriptor_and_no_process_is_leaked() -> None:
    with start("true"):
        pass
    before = open_files()
    for _ in range(100):
        start("true").end()
        with contextlib.suppress(LaunchError):
            start("/no/such/program")
    assert open_files() == before
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert children == [str(reaper.REAPER._pid)]


def test_a_component_inherits_three_descriptors() -> None:
    # The fourth is that of ls itself, which reads the folder.
    with start("cat"), start("ls", "/proc/self/fd") as process:
        assert read_all(process).split() == [b"0", b"1", b"2", b"3"]


MLCHECK = """
    import os, sys, signal
    from pathlib import Path
    from multilang_cli.driver.process import ComponentProcess, private_pid_dir
    folder = private_pid_dir()
    process = ComponentProcess.start(
        ["sh", "-c", sys.argv[1]], cwd=Path.cwd(), env=os.environ, pid_dir=folder
    )
    while not process.poll(None, want_write=False).stdout:
        pass
    print(process.read_stdout().decode().strip(), process.pid, folder, flush=True)
    signal.pause()
"""

FAMILIES = {
    "child": "trap '' TERM; sleep 1000 & echo $!; wait",
    "own session": "trap '' TERM; setsid sleep 1000 & echo $!; wait",
    "own session without environment": "trap '' TERM; setsid env -i sleep 1000 & echo $!; wait",
    "orphan in own session": "trap '' TERM; (setsid sh -c 'echo $$; exec sleep 1000' &); cat; sleep 1000",
    "orphan without its environment": "trap '' TERM; (env -i sh -c 'echo $$; exec sleep 1000' &); cat; sleep 1000",
}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_nothing_is_left_when_mlcheck_itself_ends(family: str, number: signal.Signals) -> None:
    argv = [sys.executable, "-c", textwrap.dedent(MLCHECK), family]
    with subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as mlcheck:
        assert mlcheck.stdout is not None
        child, pid, folder = mlcheck.stdout.readline().split()
        assert reaper.start_time(int(child))
        assert reaper.start_time(int(pid))
        mlcheck.send_signal(number)
        mlcheck.wait(LIMIT)
    assert gone(int(pid))
    assert gone(int(child))
    assert until(lambda: not os.path.exists(folder))  # noqa: PTH110


def test_the_helper_goes_with_mlcheck_and_is_replaced_if_killed() -> None:
    with start("cat") as first:
        os.kill(reaper.REAPER._pid, signal.SIGKILL)
        killed = reaper.REAPER._pid
        assert until(lambda: not reaper.start_time(killed))
        with start("cat"):
            assert reaper.REAPER._pid != killed
            assert first.cookie in reaper.REAPER._records
        reaper.REAPER.close()
        assert first.wait_exit(LIMIT) == Exited(signal=9)


STRAY = "setsid env -i sh -c '(setsid sh -c \"echo \\$\\$; exec sleep 1000\" &)'; cat"
"""A daemon that nothing ties to the component: neither session nor environment nor parent."""
COMMAND = """
    import os, sys
    from multilang_cli.driver import reaper
    from multilang_cli.driver.process import ComponentProcess, private_pid_dir
    from pathlib import Path
    reaper.REAPER.adopts = True
    if sys.argv[2:] == ["unlisted"]:
        reaper.entries = lambda folder: []
    own = os.posix_spawn("/bin/sleep", ["sleep", "1000"], os.environ)
    with ComponentProcess.start(
        ["sh", "-c", sys.argv[1]], cwd=Path.cwd(), env=os.environ, pid_dir=private_pid_dir()
    ) as process:
        while not process.poll(None, want_write=False).stdout:
            pass
        stray = process.read_stdout().decode().strip()
        parent = reaper.stat_fields(stray)[1].decode()
    print(stray, parent == str(os.getpid()), own, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("children", ["listed", "unlisted"])
def test_a_command_ends_daemons_that_left_everything(children: str) -> None:
    """Also where /proc lists no children; what the command itself has started lives on."""
    argv = [sys.executable, "-c", textwrap.dedent(COMMAND), STRAY, children]
    with subprocess.Popen(argv, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as mlcheck:
        assert mlcheck.stdout is not None
        stray, adopted, own = mlcheck.stdout.readline().split()
        assert adopted == b"True"
        assert not reaper.start_time(int(stray))
        assert reaper.start_time(int(own))
        os.kill(int(own), signal.SIGKILL)
        assert mlcheck.stdin is not None
        mlcheck.stdin.close()
        mlcheck.wait(LIMIT)


def nested(folder: Path, depth: int) -> None:
    """Nest folders deeper than a path can be, each with a file."""
    above = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=above)
        below = os.open("d", os.O_RDONLY, dir_fd=above)
        os.close(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=above))
        os.close(above)
        above = below
    os.close(above)


def test_a_pid_folder_goes_whatever_was_made_of_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    # If it fails: what is left is too deep for pytest's own cleaning.
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", tmp_path / "deep"], check=True))
    deep, link, locked, target = (tmp_path / name for name in ("deep", "link", "locked", "target"))
    for folder in (deep, locked, target):
        folder.mkdir()
    nested(deep, 3000)
    link.symlink_to(target)
    (target / "kept").write_text("")
    (deep / "out").symlink_to(target)
    (locked / "a").mkdir()
    (locked / "a" / "b").mkdir()
    (locked / "a").chmod(0)
    locked.chmod(0)
    for folder in (deep, link, locked, tmp_path / "none"):
        reaper.remove_tree(str(folder))
    assert [path.name for path in tmp_path.rglob("*")] == ["target", "kept"]


SCRATCH = """
    import signal
    from multilang_cli.driver.scratch import scratch
    with scratch("mlcheck-x-") as folder:
        (folder / "a").mkdir()
        print(folder, flush=True)
        signal.pause()
"""


LASTING = """
    import signal
    from multilang_cli.driver.scratch import lasting_scratch
    folder = lasting_scratch("mlcheck-x-")
    (folder / "a").mkdir()
    print(folder, flush=True)
    signal.pause()
"""


SUPERVISED = """
    import signal
    from multilang_cli.driver.supervisor import Supervisor
    supervisor = Supervisor("mlcheck-x-")
    (supervisor.folder / "a").mkdir()
    print(supervisor.folder, flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("program", [SCRATCH, LASTING, SUPERVISED], ids=["scratch", "lasting", "supervised"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda s: s.name)
def test_temporary_folders_go_with_a_mlcheck_that_is_killed(number: signal.Signals, program: str) -> None:
    argv = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as mlcheck:
        assert mlcheck.stdout is not None
        folder = mlcheck.stdout.readline().decode().strip()
        assert Path(folder, "a").is_dir()
        mlcheck.send_signal(number)
        mlcheck.wait(LIMIT)
    assert until(lambda: not os.path.exists(folder))  # noqa: PTH110


def test_temporary_folders_are_made_in_no_other_way() -> None:
    makes = re.compile(r"mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile")
    sources = (REPOSITORY / "multilang_cli").rglob("*.py")
    assert [str(path) for path in sources if makes.search(path.read_text(encoding="utf-8"))] == []
