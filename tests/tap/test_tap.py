"""The tap as a process in place of a component: what comes out is what went in, and it ends as the component does."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.command import BOLT, ROOT, SPOUT, mlcheck, refusal
from tests.dialogue import HEARTBEAT, SYNC, Dialogue, tuple_message
from tests.processes import gone, until
from tests.tapping import handshake, linted, logged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.component

TAP = (sys.executable, "-m", "multilang_cli", "tap")
CODE = (sys.executable, "-I", "-S", "-u", "-c")
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
TELLS_SIGNALS = """
import os, signal
def tell(number, frame): os.write(1, signal.Signals(number).name.encode() + b"\\n")
for name in %r: signal.signal(signal.Signals[name], tell)
os.write(1, b"ready\\n")
while os.read(0, 100): pass
"""
WRITE = {"x86_64": "1 ", "aarch64": "64 "}.get(platform.machine(), "no such number")
"""How /proc tells of a process that is blocked in write."""


class Tapped:
    """A tapped command, its three pipes in our hands. As a context manager it leaves nothing behind."""

    def __init__(self, folder: Path, *command: str, options: tuple[str, ...] = (), **more: Any) -> None:
        self.folder = folder / "record"
        argv = [*TAP, "--record", str(self.folder), *options, "--", *command]
        pipe = subprocess.PIPE
        more = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "bufsize": 0, **more}
        self.process: subprocess.Popen[bytes] = subprocess.Popen(argv, cwd=folder, env=environment(), **more)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        assert until(lambda: self.state() in {"", "ended", "killed"})

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout
        return self.process.stdout

    def state(self) -> str:
        return str(self.status().get("state", ""))

    def status(self) -> dict[str, Any]:
        """The status file, {} as long as there is none."""
        found = list(self.folder.glob("*.status.json")) if self.folder.is_dir() else []
        return json.loads(found[0].read_text(encoding="utf-8")) if found else {}

    def ended(self) -> dict[str, Any]:
        assert until(lambda: self.state() in {"ended", "killed"})
        return self.status()

    def component(self) -> int:
        """The pid of the component: the only child of the tap that is no recorder."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        assert until(lambda: len(children.read_text().split()) == 2)
        return max(map(int, children.read_text().split()))

    def recorder(self) -> int:
        self.component()
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return min(map(int, children.read_text().split()))


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def tapped(tmp_path: Path) -> Iterator[Callable[..., Tapped]]:
    made: list[Tapped] = []

    def start(*command: str, options: tuple[str, ...] = (), **more: Any) -> Tapped:
        made.append(Tapped(tmp_path, *command, options=options, **more))
        return made[-1]

    yield start
    for each in made:
        each.__exit__()


# --- bytes ------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.binary(min_size=1, max_size=3000), max_size=12), st.sampled_from(["cat", "cat >&2", "tee /dev/stderr"])
)
@settings(max_examples=12, deadline=None)
def test_what_comes_out_is_what_went_in(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], command: str
) -> None:
    with Tapped(tmp_path_factory.mktemp("tap"), "sh", "-c", command) as tap:
        for piece in pieces:
            tap.stdin.write(piece)
        out, err = tap.process.communicate()
        whole = b"".join(pieces)
        assert out == (b"" if command == "cat >&2" else whole)
        assert err == (b"" if command == "cat" else whole)
        assert tap.process.returncode == 0
        assert tap.ended()["bytes"] == {"in": len(whole), "out": len(out), "err": len(err)}


def test_a_message_beyond_every_limit_passes(tapped: Callable[..., Tapped]) -> None:
    size = 68 * 1024 * 1024
    tap = tapped(*CODE, f"import os, sys; sys.stdout.buffer.write(b'x' * {size} + b'\\nend\\n' + b'{{}}\\nend\\n')")
    digest = hashlib.sha256()
    while data := tap.stdout.read(1 << 20):
        digest.update(data)
    assert digest.digest() == hashlib.sha256(b"x" * size + b"\nend\n{}\nend\n").digest()
    assert tap.process.wait() == 0
    assert tap.ended()["bytes"]["out"] == size + 12


def test_a_reader_that_is_slow_is_waited_for_on_either_side(tapped: Callable[..., Tapped]) -> None:
    tap = tapped(*CODE, "import os, sys; os.write(1, b'ready\\n'); os.read(0, 1); print(len(sys.stdin.buffer.read()))")
    assert tap.stdout.readline() == b"ready\n"
    os.set_blocking(tap.stdin.fileno(), False)
    os.kill(tap.component(), signal.SIGSTOP)
    taken = 0

    def fill() -> int:
        nonlocal taken
        while size := tap.stdin.write(b"x" * 4096):
            taken += size
        return taken

    assert until(lambda: fill() > 128 * 1024)
    assert not any(fill() > 512 * 1024 for _ in range(1000))
    os.kill(tap.component(), signal.SIGCONT)
    os.set_blocking(tap.stdin.fileno(), True)
    tap.stdin.write(b"x" * 100_000)
    tap.stdin.close()
    assert tap.stdout.read() == b"%d\n" % (taken + 100_000 - 1)
    flood = tapped("yes")
    component = flood.component()
    assert until(lambda: Path(f"/proc/{component}/syscall").read_text().startswith(WRITE))
    assert flood.stdout.read(4) == b"y\ny\n"


def test_both_directions_at_once_do_not_wait_for_each_other(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat")
    data = os.urandom(3 * 1024 * 1024)
    out, _ = tap.process.communicate(data)
    assert out == data


def test_stdout_may_be_shared_a_file_or_a_terminal(tmp_path: Path, tapped: Callable[..., Tapped]) -> None:
    data = os.urandom(300_000)
    (tmp_path / "in").write_bytes(data)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
        sink.write(b"before")
        sink.flush()
        tap = tapped("cat", stdin=source, stdout=sink)
        assert tap.process.wait() == 0
    assert (tmp_path / "out").read_bytes() == b"before" + data
    read, write = os.pipe()
    tap = tapped("cat", stdout=write)
    tap.stdin.write(b"x")
    assert os.read(read, 10) == b"x"
    assert os.get_blocking(write), "the flags of a pipe are those of all who write to it"
    for fd in (read, write):
        os.close(fd)


# --- the end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(7)", 7),
        ("raise SystemExit(143)", 143),
        ("import os; os.kill(os.getpid(), 9)", 137),
        ("import os; os.kill(os.getpid(), 15)", 143),
    ],
)
def test_the_exit_code_is_that_of_the_component(code: str, expected: int, tapped: Callable[..., Tapped]) -> None:
    tap = tapped(*CODE, f"import sys; sys.stdout.write('last words'); sys.stdout.flush(); {code}")
    assert tap.stdout.read() == b"last words"
    assert tap.process.wait() == expected
    assert tap.ended()["rules"] == {"message-cut": 1}


def test_what_can_not_be_started_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x", encoding="utf-8")
    for command, words in (("no-such-program", "neither a file"), ("./plain", "not executable")):
        ran = mlcheck("tap", "--", command, "x", cwd=tmp_path)
        assert ran.returncode == 3
        assert words in refusal(ran)
    assert not list(tmp_path.glob(".mlcheck/tap/*"))


def test_a_script_without_a_shebang_is_given_to_sh_as_java_does_it(
    tmp_path: Path, tapped: Callable[..., Tapped]
) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$1"', encoding="utf-8")
    script.chmod(0o755)
    assert tapped(str(script), "word").stdout.read() == b"word\n"


def test_the_last_words_of_the_dead_pass_however_slowly(tmp_path: Path, tapped: Callable[..., Tapped]) -> None:
    for _ in range(5):
        with (tmp_path / "out").open("wb") as sink:
            tap = tapped(*CODE, "import os; os.write(1, b'x' * 131072)", stdout=sink)
            assert tap.process.wait() == 0
        assert (tmp_path / "out").stat().st_size == 131072


def test_the_end_of_stdin_passes_and_what_follows_too(tapped: Callable[..., Tapped]) -> None:
    tap = tapped(*CODE, "import sys; n = len(sys.stdin.buffer.read()); print('read', n); sys.exit(3)")
    tap.stdin.write(b"x" * 100_000)
    tap.stdin.close()
    assert tap.stdout.read() == b"read 100000\n"
    assert tap.process.wait() == 3


def test_a_closed_stdin_and_stdout_of_the_component_are_noticed(tapped: Callable[..., Tapped]) -> None:
    tap = tapped(*CODE, "import os; os.close(1); os.read(0, 1)")
    assert tap.stdout.read() == b""
    assert tap.process.poll() is None
    tap.stdin.write(b"x")
    assert tap.process.wait() == 0
    tap = tapped(*CODE, "import os; os.close(0); os.write(1, b'closed'); os.read(2, 1)", stderr=subprocess.DEVNULL)
    assert tap.stdout.read(6) == b"closed"
    with pytest.raises(BrokenPipeError):
        until(lambda: not tap.stdin.write(b"x"))


def test_a_reader_that_goes_is_noticed_before_the_next_write(tapped: Callable[..., Tapped]) -> None:
    wait = "import os, select; p = select.poll(); p.register(1, 0); p.poll(); os.write(1, b'x')"
    tap = tapped(*CODE, f"import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL); {wait}")
    tap.component()
    tap.stdout.close()
    assert tap.process.wait() == 128 + signal.SIGPIPE
    assert tap.ended()["findings"]["must"] == 0


def test_a_killed_component_is_told_at_once(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat")
    tap.stdin.write(b"some")
    assert tap.stdout.read(4) == b"some"
    os.kill(tap.component(), signal.SIGKILL)
    assert tap.process.wait() == 137
    assert tap.stdout.read() == b""
    assert tap.ended()["state"] == "ended"


@pytest.mark.parametrize("command", ["cat", "sleep 1000"])
def test_a_killed_tap_takes_the_component_along_and_leaves_its_recording(
    command: str, tapped: Callable[..., Tapped]
) -> None:
    tap = tapped("sh", "-c", f"echo ready; exec {command}")
    component, recorder = tap.component(), tap.recorder()
    assert tap.stdout.readline() == b"ready\n"
    assert until(lambda: tap.status().get("bytes", {}).get("out", 0) > 0)
    tap.process.kill()
    assert tap.process.wait() == -9
    assert gone(component)
    assert gone(recorder)
    assert tap.ended()["state"] == "killed"
    assert tap.status()["bytes"]["out"] == len(b"ready\n")


def test_when_storm_dies_the_component_sees_the_end_and_nothing_stays(
    tmp_path: Path, tapped: Callable[..., Tapped]
) -> None:
    worker = (
        "import subprocess, sys, time; subprocess.Popen(sys.argv[1:], stdin=-1, stdout=-1, stderr=-1); time.sleep(1000)"
    )
    seen = tmp_path / "seen"
    code = f"import os, sys; sys.stdin.read(); open({str(seen)!r}, 'w').write(str(os.getpid()))"
    argv = [*TAP, "--record", str(tmp_path / "record"), "--", *CODE, code]
    with subprocess.Popen([*CODE, worker, *argv], env=environment()) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        assert until(lambda: bool(children.read_text().split()))
        tap = int(children.read_text().split()[0])
        under = Path(f"/proc/{tap}/task/{tap}/children")
        assert until(lambda: len(under.read_text().split()) == 2)
        family = [tap, *map(int, under.read_text().split())]
        process.kill()
    assert all(gone(pid) for pid in family)
    assert int(seen.read_text()) in family
    del tapped


def test_a_descendant_that_holds_the_pipes_does_not_hold_the_tap(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("sh", "-c", "sleep 1000 & echo $!")
    sleeper = int(tap.stdout.readline())
    assert tap.process.wait() == 0
    os.kill(sleeper, signal.SIGKILL)


# --- signals, environment ---------------------------------------------------------------------------------------


def test_signals_reach_the_component_once(tapped: Callable[..., Tapped]) -> None:
    tap = tapped(*CODE, TELLS_SIGNALS % (SIGNALS,))
    lines = iter(tap.stdout.readline, b"")
    assert next(lines) == b"ready\n"
    for name in SIGNALS:
        tap.process.send_signal(signal.Signals[name])
        assert next(lines).decode().strip() == name
    tap.stdin.close()
    assert list(lines) == []
    assert tap.process.wait() == 0


def test_storms_sigterm_ends_the_component(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat")
    tap.component()
    tap.process.terminate()
    assert tap.process.wait() == 128 + signal.SIGTERM
    assert tap.ended()["findings"]["must"] == 0


def test_a_signal_that_was_ignored_stays_so(tapped: Callable[..., Tapped]) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    tap = tapped("cat", preexec_fn=ignore)
    component = tap.component()
    tap.process.send_signal(signal.SIGHUP)
    tap.stdin.write(b"x")
    assert tap.stdout.read(1) == b"x"
    ignored = int(
        next(li for li in Path(f"/proc/{component}/status").read_text().splitlines() if "SigIgn" in li)[8:], 16
    )
    assert ignored == 1 << (signal.SIGHUP - 1) | 1 << (signal.SIGCHLD - 1)
    os.kill(component, signal.SIGUSR1)
    assert tap.process.wait() == 128 + signal.SIGUSR1


def test_the_component_sees_the_same_world(tmp_path: Path) -> None:
    show = (
        "import os; s = open('/proc/self/status').read();"
        "print(sorted(os.listdir('/proc/self/fd')), os.getcwd(), os.umask(0), open('/proc/self/cmdline').read());"
        "print([l for l in s.splitlines() if l[:3] == 'Sig' and l[:4] != 'SigQ']);"
        "print(open('/proc/self/environ').read())"
    )
    poor = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "ODD": "a=b"}
    for command in ((*CODE, show), ("env", sys.executable, "-c", show)):
        run = partial(subprocess.run, cwd=tmp_path, env=poor, capture_output=True, check=True, stdin=subprocess.PIPE)
        plain = run(command)
        tapped = run([*TAP, "--record", str(tmp_path / "r"), "--", *command])
        assert (tapped.stdout, tapped.stderr) == (plain.stdout, plain.stderr)


# --- real components --------------------------------------------------------------------------------------------


def talk(tap: Dialogue, component: str) -> None:
    """A short conversation, as Storm leads it."""
    kind = "bolt" if component == BOLT else "spout"
    hello = handshake(kind)  # type: ignore[arg-type]
    tap.send({"pidDir": str(tap.pid_dir), "conf": hello.conf, "context": hello.context})
    pid = tap.read()["pid"]
    assert (tap.pid_dir / str(pid)).exists()
    assert pid != tap.process.pid
    if kind == "bolt":
        tap.send(HEARTBEAT, tuple_message("7", "snow white"))
        assert tap.read() == SYNC
        assert [message["command"] for message in tap.read_some(3)] == ["emit", "emit", "ack"]
    else:
        tap.send({"command": "next", "id": ""})
        while tap.read() != SYNC:
            pass


@pytest.mark.parametrize("component", [BOLT, SPOUT], ids=["bolt", "spout"])
@pytest.mark.parametrize("options", [(), ("--record-all", "--rotate", "500")], ids=["ring", "all"])
def test_a_real_component_is_recorded_and_lint_agrees(component: str, options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    folder = tmp_path / "record"
    argv = [*TAP, "--record", str(folder), *options, "--", "python3", component]
    with Dialogue(argv, tmp_path / "pids", environment()) as tap:
        talk(tap, component)
        assert tap.finish() == []
        assert tap.stderr == ""
    assert [name for name, *_ in linted(folder)] == [name for name, _ in logged(folder)]
    assert {name for name, _ in logged(folder)} <= {"arity"}, "but for that, it does what it should"
    ran = mlcheck("lint", str(folder), cwd=tmp_path)
    assert ran.returncode in {0, 1}
    assert ("spout" if component == SPOUT else "bolt") + " comp" in ran.stdout
    assert (len(list(folder.glob("*.ndjson"))) > 1) == bool(options)


def test_the_last_messages_are_there_when_the_component_crashes(tmp_path: Path) -> None:
    folder = tmp_path / "record"
    code = Path(BOLT).read_text(encoding="utf-8").replace('message["tuple"]', 'message["no such key"]')
    (tmp_path / "bolt.py").write_text(code, encoding="utf-8")
    argv = [*TAP, "--record", str(folder), "--ring", "2", "--", "python3", str(tmp_path / "bolt.py")]
    with Dialogue(argv, tmp_path, environment()) as tap:
        hello = handshake("bolt")
        tap.send({"pidDir": str(tmp_path), "conf": hello.conf, "context": hello.context})
        tap.read()
        tap.send(HEARTBEAT, tuple_message("7", "snow white"))
        assert tap.process.wait() == 1
        assert "no such key" in tap.stderr
    assert until(lambda: bool(list(folder.glob("*.ndjson"))) and '"end":{' in next(folder.glob("*.ndjson")).read_text())
    text = next(folder.glob("*.ndjson")).read_text(encoding="utf-8")
    assert "snow white" in text
    assert "exited" in {name for name, *_ in linted(folder)}
    how = "end: the component ended: exited with code 1; last on stderr: KeyError: 'no such key'\n"
    assert until(lambda: how in next(folder.glob("*.log")).read_text(encoding="utf-8"))


def test_a_death_is_recorded_where_mlcheck_plays_storm(tmp_path: Path) -> None:
    code = Path(BOLT).read_text(encoding="utf-8").replace('message["tuple"]', 'message["no such key"]')
    (tmp_path / "bolt.py").write_text(code, encoding="utf-8")
    tapped = (*TAP, "--record", str(tmp_path / "record"), "--", "python3", "bolt.py")
    ran = mlcheck("run", "--kind", "bolt", "-k", "bolt.settle.once", "--tuple", '["a"]', "--", *tapped, cwd=tmp_path)
    assert "KeyError: 'no such key'" in ran.stdout
    files = sorted((tmp_path / "record").glob("*.ndjson"))
    assert files
    assert all('"end":{' in file.read_text(encoding="utf-8") for file in files)


# --- recording fails --------------------------------------------------------------------------------------------


def test_bytes_go_on_where_nothing_can_be_recorded(tmp_path: Path, tapped: Callable[..., Tapped]) -> None:
    (tmp_path / "record").touch()
    tap = tapped("cat", options=("--record-all",))
    out, err = tap.process.communicate(b'{"command":"next"}\nend\n' * 1000)
    said = f"mlcheck tap: nothing is recorded: {tmp_path / 'record'}: File exists\n".encode()
    assert (out, err, tap.process.returncode) == (b'{"command":"next"}\nend\n' * 1000, said, 0)


def test_bytes_go_on_when_no_file_may_grow(tapped: Callable[..., Tapped]) -> None:
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (20_000, 20_000))
    tap = tapped("cat", options=("--record-all",), preexec_fn=limit)
    data = b'{"command":"next"}\nend\n' * 3_000
    out, err = tap.process.communicate(data)
    assert (out, tap.process.returncode) == (data, 0)
    assert b"there is room for 20000 bytes alone" in err
    assert "File too large" in tap.ended()["failed"]


def test_where_memory_runs_out_the_recorder_goes_first(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat")
    recorder, others = tap.recorder(), (tap.process.pid, tap.component())
    assert until(lambda: Path(f"/proc/{recorder}/oom_score_adj").read_text() == "1000\n")
    own = Path("/proc/self/oom_score_adj").read_text()
    assert [Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in others] == [own, own]


def test_bytes_go_on_without_the_recorder(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat")
    os.kill(tap.recorder(), signal.SIGKILL)
    for _ in range(100):
        tap.stdin.write(b"x" * 1000)
        assert len(tap.stdout.read(1000)) > 0
    tap.stdin.close()
    tap.stdout.read()
    assert tap.process.wait() == 0


def test_a_recorder_that_stands_still_delays_nothing_and_the_gap_is_told(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat")
    recorder = tap.recorder()
    os.kill(recorder, signal.SIGSTOP)
    data = (b'{"command":"log","msg":"%s"}\nend\n' % (b"x" * 100_000)) * 10
    size = 0
    for _ in range(80):
        size += _through(tap, data)
    assert size == 80 * len(data)
    os.kill(recorder, signal.SIGCONT)
    tap.stdin.close()
    assert tap.process.wait() == 0
    status = tap.ended()
    assert status["gaps"] >= 1
    assert status["bytes"] == {"in": size, "out": size, "err": 0}
    assert 0 < status["messages"]["in"] < 800


def _through(tap: Tapped, data: bytes) -> int:
    """Write data in pieces that every pipe holds, reading what comes back."""
    size = 0
    for at in range(0, len(data), 32768):
        piece = data[at : at + 32768]
        tap.stdin.write(piece)
        left = len(piece)
        while left:
            left -= len(tap.stdout.read(left))
        size += len(piece)
    return size


# --- options ----------------------------------------------------------------------------------------------------


def test_what_is_not_sampled_is_not_tapped_at_all(tapped: Callable[..., Tapped]) -> None:
    tap = tapped(*CODE, "import os; print(os.getpid())", options=("--sample", "0"))
    assert int(tap.stdout.read()) == tap.process.pid
    assert not tap.folder.exists()


def test_verbose_tells_findings_on_stderr(tapped: Callable[..., Tapped]) -> None:
    tap = tapped("cat", options=("--verbose",))
    _, err = tap.process.communicate(b"stray\nend\n")
    assert b"mlcheck tap: " in err


def test_a_stand_in_is_one_file_that_takes_its_own_words(tmp_path: Path) -> None:
    made = mlcheck("tap", "--record", "record", "--write-wrapper", "tapped", "--", sys.executable, cwd=tmp_path)
    assert (made.returncode, made.stdout) == (0, "tapped\n")
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.stdin.read(), sys.argv[1:], flush=True); sys.exit(5)", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run(
        [str(tmp_path / "tapped"), str(script), "--record", "x y"],
        cwd=elsewhere,
        input=b"in",
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (5, b"in ['--record', 'x y']\n", b"")
    assert list((tmp_path / "record").glob("*.ndjson"))
    (tmp_path / "mine").write_text("x", encoding="utf-8")
    assert "no stand-in" in refusal(mlcheck("tap", "--write-wrapper", "mine", "--", "cat", cwd=tmp_path))


def test_a_stand_in_without_mlcheck_is_the_command(tmp_path: Path) -> None:
    assert mlcheck("tap", "--write-wrapper", "tapped", "--", "echo", "a", cwd=tmp_path).returncode == 0
    text = (tmp_path / "tapped").read_text(encoding="utf-8")
    assert "multilang_cli.__main__" in text
    (tmp_path / "tapped").write_text(text.replace("multilang_cli.__main__", "no_such_module"), encoding="utf-8")
    ran = subprocess.run([str(tmp_path / "tapped"), "b"], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"a b\n", b"")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--storm", "9.9"], "no Storm version"),
        (["--kind", "bold"], "expected bolt, spout or auto"),
        (["--record-all", "--rotate", "many"], "as in 64MiB/1h"),
        (["--rotate", "1MB"], "for --record-all"),
        (["--keep", "3"], "for --record-all"),
        (["--record-all", "--ring", "5"], "leave out one"),
        (["--sample", "2"], "less than"),
        (["--ring", "0"], "greater than"),
        (["--recrod", "x"], "arguments of the component come after --"),
    ],
)
def test_misuse_is_a_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    ran = mlcheck("tap", *options, "--", "cat", cwd=tmp_path)
    assert ran.returncode == 2
    assert words in refusal(ran)
