from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.terminal.exits import ExitCode
from multilang_cli.transcript.naming import HISTORY
from tests.command import BOLT, MUTANT_BOLT, SPOUT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["absent.py"], 3, "absent.py is neither a file here nor on PATH."),
        (["--kind", "bolt", "absent.py"], 3, "absent.py"),
        (["--kind", "bolt", "-k", "bolt.hartbeat", BOLT], 4, "bolt.heartbeat"),
        (["--kind", "bolt", "-k", "bolt.heartbeat", "--exclude", "bolt", BOLT], 4, "leaves no case"),
    ],
)
def test_run_that_cannot_begin(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    ran = mlcheck("run", *arguments, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert words in refusal(ran)


def test_what_ends_before_its_first_message_is_diagnosed(tmp_path: Path) -> None:
    ran = mlcheck("run", "--report", "json=r.json", "--", "sh", "-c", "echo boom >&2; exit 3", cwd=tmp_path)
    assert ran.returncode == ExitCode.NO_FIRST_MESSAGE
    assert ran.stderr.startswith("mlcheck: no first message: ")
    assert "--kind" not in ran.stderr, "as the other kind it would end as soon"
    said = " ".join(ran.stdout.split())
    assert 'it ends before its first message: exit code 3, and its last line of stderr is "boom"' in said
    assert said.endswith("NO FIRST MESSAGE 1 failed; exit code 3")
    subject = json.loads((tmp_path / "r.json").read_text())["subjects"][0]
    assert subject["causes"][0]["id"] == "exits-at-start"


@pytest.mark.parametrize(("component", "kind"), [(BOLT, "bolt"), (SPOUT, "spout")])
def test_run_asks_what_the_component_is(tmp_path: Path, component: str, kind: str) -> None:
    ran = mlcheck("run", "-k", "handshake.pid-first", "--report", "json=r.json", component, cwd=tmp_path)
    assert ran.returncode == 0
    acks = "1 case; what a spout emits is acked and failed, real messages too\n"
    assert ran.stderr == (acks if kind == "spout" else "")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["component"]["kind"] == kind
    assert f": a {kind}" in report["component"]["why"]
    assert "PASS  1 passed" in ran.stdout
    assert list((tmp_path / ".mlcheck" / "last").iterdir()) == []


def test_run_of_a_broken_bolt_and_lint_of_its_recording(tmp_path: Path) -> None:
    ran = mlcheck(
        *("run", "--kind", "bolt", "-k", "bolt.settle.once", "--report", "json=-", "--record", "rec", "--"),
        *("python3", MUTANT_BOLT, "ack-twice"),
        cwd=tmp_path,
    )
    assert ran.returncode == 1
    (subject,) = json.loads(ran.stdout)["subjects"]
    assert subject["reproduce"].startswith("mlcheck run --kind bolt -k bolt.settle.once -- python3 ")
    linted = mlcheck("lint", "--report", "json=-", subject["transcript"], cwd=tmp_path)
    assert linted.returncode == 1
    assert json.loads(linted.stdout)["subjects"][0]["findings"] == subject["findings"]
    shown = mlcheck("lint", subject["transcript"], cwd=tmp_path)
    assert shown.returncode == 1
    assert "FAIL  it settles a tuple twice: ack of a tuple that is settled already" in shown.stdout
    older = mlcheck("lint", "--storm", "1.2", "--report", "json=-", subject["transcript"], cwd=tmp_path)
    assert json.loads(older.stdout)["storm"] == "1.2.4"


def test_lint_of_a_cut_recording(tmp_path: Path) -> None:
    mlcheck("run", "--kind", "bolt", "-k", "handshake.pid-first", "--record-all", BOLT, cwd=tmp_path)
    (path,) = (tmp_path / ".mlcheck" / "last").iterdir()
    whole = mlcheck("lint", str(path), cwd=tmp_path)
    assert (whole.returncode, "Note" in whole.stdout) == (0, False)
    assert mlcheck("lint", str(path.parent), cwd=tmp_path).stdout == whole.stdout
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / HISTORY).write_text('{"k":"phase"}\n', encoding="utf-8")
    assert "no transcripts" in refusal(mlcheck("lint", "empty", cwd=tmp_path))
    (tmp_path / "empty" / "transcripts").symlink_to(path.parent)
    assert "no transcripts" in refusal(mlcheck("lint", "empty", cwd=tmp_path))
    assert mlcheck("lint", ".mlcheck", cwd=tmp_path).stdout == whole.stdout
    path.write_bytes(path.read_bytes()[:-30])
    cut = mlcheck("lint", str(path), cwd=tmp_path)
    assert cut.returncode == ExitCode.INCONCLUSIVE
    assert "was cut here" in " ".join(cut.stdout.split())
    path.write_bytes(b"no transcript\n")
    ran = mlcheck("lint", str(path), cwd=tmp_path)
    assert ran.returncode == ExitCode.MISUSE
    assert f"{path}:1: " in refusal(ran)


def test_run_of_all_components_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(
        f"record = 'rec'\njobs = 2\n[[component]]\nname = 'good'\nkind = 'bolt'\ncommand = '{BOLT}'\n"
        f"[[component]]\nname = 'bad'\nkind = 'bolt'\ncommand = ['python3', '{MUTANT_BOLT}', 'ack-twice']\n"
        "[[component]]\nname = 'absent'\ncommand = 'absent.py'\n"
    )
    below = tmp_path / "below"
    below.mkdir()
    ran = mlcheck("run", "-q", "-k", "bolt.settle.once", "--report", "json=r.json", cwd=below)
    assert ran.returncode == 3
    assert "mlcheck: absent: absent.py is neither a file here nor on PATH.\n" in ran.stderr
    words = ["good: PASS", "bad: FAIL", "NO FIRST MESSAGE"]
    assert [line.split("  ")[0] for line in ran.stdout.splitlines()] == words
    report = json.loads((below / "r.json").read_text())
    assert [path.name for path in below.iterdir()] == ["r.json"]
    assert (report["exit_code"], report["verdict"], report["complete"]) == (3, "no-first-message", False)
    parts = {part["component"]["name"]: part for part in report["parts"]}
    assert {name: part["exit_code"] for name, part in parts.items()} == {"good": 0, "bad": 1, "absent": 3}
    assert parts["absent"]["notes"] == ["absent.py is neither a file here nor on PATH."]
    (subject,) = parts["bad"]["subjects"]
    assert (below / subject["transcript"]).resolve() == tmp_path / "rec" / "bad" / "bolt.settle.once.ndjson"
    again = mlcheck(*shlex.split(subject["reproduce"])[1:], cwd=below)
    assert again.returncode == 1
    assert mlcheck("run", "-q", "--component", "good", "-k", "bolt.settle", cwd=below).returncode == 0


def test_nobody_reads_stdout(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        ran = subprocess.run(
            [sys.executable, "-m", "multilang_cli", "run", "--kind", "bolt", "-k", "handshake.pid-first", BOLT],
            cwd=tmp_path,
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    arguments = ["run", "-v", "--kind", "bolt", "--report", "json=r.json", BOLT]
    with subprocess.Popen(
        [sys.executable, "-m", "multilang_cli", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"3/"):
                process.send_signal(signal.SIGINT)
                break
        process.stderr.read()
    assert process.returncode == ExitCode.INTERRUPTED
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["complete"] is False
    assert {subject["verdict"] for subject in report["subjects"]} <= {"pass", "skip"}
    assert report["subjects"]
