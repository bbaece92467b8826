"""What befalls a run besides its cases: faults of ours, interruption, secrets, samples that are not understood."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.recordings import RecordError
from multilang_cli.suite.steps import bolt_steps
from multilang_cli.suite.steps import operations as steps
from multilang_cli.terminal.fault import without_values
from tests.processes import until
from tests.running import run

if TYPE_CHECKING:
    from multilang_cli.suite.steps.stage import Stage

pytestmark = pytest.mark.component

ROOT = Path(__file__).parents[2]
BOLT = [sys.executable, str(ROOT / "examples" / "python" / "split_bolt.py")]
MUTANT = [sys.executable, str(ROOT / "tests" / "mutants" / "bolt.py")]
SECRET = "hunter2hunter2"  # noqa: S105


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_fault_of_ours_costs_a_case_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    def broken(_: Stage, __: dict[str, object]) -> None:
        raise RuntimeError("planted")

    monkeypatch.setitem(steps.OPERATIONS, "quiet", broken)
    result = run(BOLT, "bolt", tmp_path, include=("bolt.heartbeat.idle", "stdout.clean"), jobs=jobs)
    verdicts = {subject.id: subject.verdict for subject in result.subjects}
    assert verdicts == {"bolt.heartbeat.idle": "pass", "stdout.clean": "error"}
    assert (result.exit_code, result.verdict) == (5, "harness-fault")
    assert "planted" in (tmp_path / "stdout.clean.fault.txt").read_text()


def test_an_interrupt_that_breaks_the_cleaning_up_is_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Stage, __: dict[str, object]) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("planted")

    monkeypatch.setitem(steps.OPERATIONS, "quiet", broken)
    result = run(BOLT, "bolt", tmp_path, include=("bolt.heartbeat.idle", "stdout.clean"))
    assert [subject.id for subject in result.subjects] == ["bolt.heartbeat.idle"]
    assert (result.exit_code, result.complete, list(tmp_path.glob("*.fault.txt"))) == (130, False, [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_a_partial_report_and_no_component(tmp_path: Path, number: int) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "multilang_cli", "run", "--kind", "bolt", "--tuple", '["x"]', "--report"]
    child = subprocess.Popen(
        [*command, f"json={report}", "--record", str(tmp_path / "r"), "--", *MUTANT, "never-ack"],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "MLCHECK_TIMEOUT": "60"},
    )
    waiting = tmp_path / "r" / "bolt.settle.once.ndjson"
    assert until(waiting.exists)
    assert child.poll() is None
    child.send_signal(number)
    assert child.wait(90) == 130
    told = json.loads(report.read_text())
    assert (told["verdict"], told["complete"], told["exit_code"]) == ("interrupted", False, 130)
    assert told["untested"][0]["reason"] == "interrupted"


def test_secrets_that_a_component_prints_are_in_no_report(tmp_path: Path) -> None:
    leak = tmp_path / "leak.py"
    leak.write_text(
        "import json, os, sys\n"
        "lines = iter(sys.stdin.readline, 'end\\n')\n"
        "hand = json.loads(''.join(lines))\n"
        "sys.stderr.write('password is ' + hand['conf']['db.password'])\n"
        "print('password is', hand['conf']['db.password'], flush=True)\n"
    )
    files = [tmp_path / name for name in ("r.json", "r.xml", "r.txt")]
    reports = [f"--report={kind}={path}" for kind, path in zip(("json", "junit", "pretty"), files, strict=True)]
    command = [sys.executable, "-m", "multilang_cli", "run", "--kind=bolt", f"--conf=db.password={SECRET}", *reports]
    record = tmp_path / "rec"
    done = subprocess.run(
        [*command, f"--record={record}", "-k", "handshake.pid-first", "--", sys.executable, str(leak)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"password is" in files[0].read_bytes()
    written = [done.stdout, done.stderr, *(p.read_bytes() for p in [*files, *record.iterdir()])]
    assert not any(SECRET.encode() in text for text in written)


def test_a_secret_is_hidden_before_a_message_is_cut(tmp_path: Path) -> None:
    leak = tmp_path / "leak.py"
    leak.write_text(
        "import json, sys\n"
        "hand = json.loads(''.join(iter(sys.stdin.readline, 'end\\n')))\n"
        "print('x' * 390 + hand['conf']['db.password'], flush=True)\n"
        "print('end', flush=True)\n"
        "sys.stdin.read()\n"
    )
    result = run(
        [sys.executable, str(leak)], "bolt", tmp_path, include=("handshake.pid-first",), conf={"db.password": SECRET}
    )
    shown = [line.text for subject in result.subjects for line in subject.excerpt]
    assert any("xxx" in text for text in shown)
    assert not any(SECRET[:8] in text for text in shown)


@pytest.mark.parametrize(
    "message",
    [
        "json.dumps({'command': 'ack', 'id': 'x' * 545 + secret + 'x' * 300})",
        "json.dumps({'command': 'ack', 'id': 'x' * 600 + secret + 'x' * 192})",
        "json.dumps({'command': 'ack', 'id': 'x' * 145 + secret + 'x' * 100})",
        "'p' * 50 + secret",
        "json.dumps({'command': 'p' * 25 + secret})",
        "'{' + 'p' * 33 + secret + ': 1}'",
    ],
)
def test_a_secret_across_a_cut_is_in_no_finding(message: str, tmp_path: Path) -> None:
    leak = tmp_path / "leak.py"
    leak.write_text(
        "import json, os, sys\n"
        "hand = json.loads(''.join(iter(sys.stdin.readline, 'end\\n')))\n"
        "secret = hand['conf']['db.password']\n"
        "open(f'{hand[\"pidDir\"]}/{os.getpid()}', 'w')\n"
        "print(json.dumps({'pid': os.getpid()}), 'end', sep='\\n', flush=True)\n"
        f"print({message}, 'end', sep='\\n', flush=True)\n"
    )
    conf = {"db.password": SECRET}
    result = run([sys.executable, str(leak)], "bolt", tmp_path, include=("bolt.settle.once",), conf=conf)
    found = [finding for subject in result.subjects for finding in subject.findings]
    said = [text for each in found for text in (each.message, each.subject, *each.errors.values())]
    assert any("***" in text for text in said), said
    assert [text for text in said if SECRET[:4] in text or SECRET[-4:] in text] == []


@pytest.mark.parametrize(("slow", "verdict"), [(11, "pass"), (1000, "skip")])
def test_a_bolt_that_is_slow_for_a_while_is_no_slow_bolt(slow: int, verdict: str, tmp_path: Path) -> None:
    bolt = tmp_path / "bolt.py"
    bolt.write_text(
        "import time\n"
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from multilang_cli.component.bolt import Bolt\n"
        "class Slow(Bolt):\n"
        "    seen = 0\n"
        "    def process(self, tup):\n"
        "        self.seen += 1\n"
        f"        time.sleep(0.2 if self.seen <= {slow} else 0)\n"
        "        self.ack(tup)\n"
        "Slow().run()\n"
    )
    cases = ("bolt.heartbeat.behind-backlog",)
    [subject] = run([sys.executable, str(bolt)], "bolt", tmp_path, include=cases, timeout=100.0).subjects
    assert (subject.verdict, subject.findings) == (verdict, ())
    assert ("outlast" in subject.reason) == (verdict == "skip")


def test_transcripts_need_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="--record"):
        run(BOLT, "bolt", tmp_path / "file" / "below")


@pytest.mark.parametrize(("name", "verdict"), [("bolt.settle.once", "pass"), ("handshake.pid-first", "fail")])
def test_a_full_disk_costs_the_transcript_and_not_the_verdict(
    name: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    component = BOLT if verdict == "pass" else [*MUTANT, "heartbeat-to-user-code"]
    for case in (name, "stdout.clean"):
        full = tmp_path / f"{case}.ndjson"
        full.mkdir()
        (full / "in-the-way").touch()
    result = run(component, "bolt", tmp_path, include=(name, "stdout.clean"), record_all=True)
    assert {subject.id: subject.verdict for subject in result.subjects}[name] == verdict
    assert [subject.transcript for subject in result.subjects if subject.transcript] == []
    assert [note for note in result.notes if "transcripts can't be written" in note] == [
        f"transcripts can't be written to {tmp_path}: Is a directory (--record DIR)"
    ]
    assert capsys.readouterr().err.count("transcripts can't be written") == 1


def test_dying_of_what_it_took_before_is_a_failure_with_and_without_samples(tmp_path: Path) -> None:
    for samples in ((), (["a b c"],)):
        for bug, case in (("heartbeat-to-user-code", "handshake.pid-first"), ("exits-after-10", "bolt.settle")):
            result = run([*MUTANT, bug], "bolt", tmp_path, include=(case,), samples=samples)
            assert (result.exit_code, result.verdict) == (1, "not-conformant"), (bug, samples)


@pytest.mark.parametrize("include", [(), ("handshake.unknown-keys",)])
def test_no_first_message_in_one_case_only_is_a_failure_of_that_case(tmp_path: Path, include: tuple[str, ...]) -> None:
    result = run([*MUTANT, "exits-on-unknown-key"], "bolt", tmp_path, include=include)
    assert [subject.id for subject in result.subjects if subject.verdict == "fail"] == ["handshake.unknown-keys"]
    assert (result.exit_code, result.complete) == (1, True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_at_any_moment_ends_with_130_and_no_traceback(tmp_path: Path, times: int) -> None:
    bolt = [sys.executable, "-m", "multilang_cli", "run", "--kind", "bolt", "--limit", "settle=3"]
    command = [*bolt, "--record", str(tmp_path / "r"), "--"]
    for early in (True, False):
        with subprocess.Popen([*command, *MUTANT, "never-ack"], cwd=ROOT, stderr=-1, stdout=-1, text=True) as child:
            assert until((tmp_path / "r").exists)
            assert early or until((tmp_path / "r" / "bolt.emit.anchors.ndjson").exists)
            for _ in range(times):
                child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=90)
        assert child.returncode == 130, out + err
        assert "Traceback" not in err
        shutil.rmtree(tmp_path / "r")


def test_what_the_environment_hides_is_hidden_in_transcripts_and_faults(tmp_path: Path) -> None:
    leak = tmp_path / "leak.py"
    leak.write_text('import os; print(\'{"command":"log","msg":"%s"}\\nend\' % os.environ[\'MY_TOKEN\'], flush=True)')
    record = tmp_path / "rec"
    run([sys.executable, str(leak)], "bolt", record, env={"MY_TOKEN": SECRET}, include=("stdout.clean",))
    (text,) = [path.read_bytes() for path in record.iterdir()]
    assert b"***" in text
    assert SECRET.encode() not in text
    words = without_values(["run", "--env", f"MY_TOKEN={SECRET}", f"--conf=a.password={SECRET}", "bolt.py"])
    assert words == ["run", "--env", "MY_TOKEN=***", "--conf=a.password=***", "bolt.py"]


def test_a_file_name_that_is_no_utf8_is_a_name_like_any_other(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/b_\xff.py"
    shutil.copy(os.fsencode(BOLT[1]), odd)
    report = tmp_path / "r.json"
    command = [sys.executable, "-m", "multilang_cli", "run", "-k", "handshake.pid-first", f"--report=json={report}"]
    done = subprocess.run([*command, "--kind=bolt", "--", odd], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "b_\\\\xff.py" in report.read_text()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--tuple", "[1e999]"], 2, "too large"),
        (["--cwd", "/nowhere"], 2, "not a directory"),
        (["--conf", b"a=\xff"], 2, "not UTF-8"),
        (["--kind", "auto"], 3, 'exit code 3, and its last line of stderr is "boom"'),
    ],
)
def test_misuse_is_told_from_silence(words: list[str], code: int, message: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "multilang_cli", "run", *words, "--", "sh", "-c", "echo boom >&2; exit 3"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.decode().split())


LARGE = """
import json, os, sys
def read(): return json.loads("".join(iter(sys.stdin.readline, "end\\n")))
def send(message): print(json.dumps(message) + "\\nend", flush=True)
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
while True:
    message = read()
    if message["stream"] == "__heartbeat":
        send({"command": "sync"})
    else:
        send({"command": "emit", "anchors": [message["id"]], "tuple": ["x" * 400_000], "need_task_ids": False})
        send({"command": "ack", "id": message["id"]})
"""


@pytest.mark.parametrize("looks", [(5,), (5, 20)], ids=["an idle machine", "a busy one"])
def test_a_slow_reader_has_no_more_to_read_than_fills_pipes(
    looks: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pace(stage: Stage, _: float) -> float:
        for times in looks:
            bolt_steps._pace_once(stage, times)
        return 0.0

    monkeypatch.setattr(bolt_steps, "pace", pace)
    (tmp_path / "large.py").write_text(LARGE)
    record = tmp_path / "rec"
    run([sys.executable, str(tmp_path / "large.py")], "bolt", record, include=("stdout.slow-reader",), record_all=True)
    (file,) = record.iterdir()
    fed = sum(b'"comp":"' in line and b'"ch":"in"' in line for line in file.read_bytes().splitlines())
    assert fed - sum(looks) == steps.SLOWLY_READ // 400_000
