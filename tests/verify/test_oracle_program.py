"""The oracle's program: what is said where it can't be built or asked, and that nothing of it stays behind.

Java and Maven are stood in for by small shell scripts where it is about their failing; see test_verify_storm.py for
the real ones.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.cli.dispatch import dispatch
from multilang_cli.driver import jdk
from multilang_cli.verify import records
from multilang_cli.verify.oracle_program import OracleError, OracleUnavailableError, ask, build, parsed
from oracle import run
from tests.command import ROOT

if TYPE_CHECKING:
    from _pytest.capture import CaptureResult

pytestmark = pytest.mark.component

BUILT = 'for word; do case $word in -Dmdep.outputFile=*) echo a.jar >"${word#*=}";; esac; done'
JAVA = "case $1 in -version) echo 'openjdk version \"17.0.1\"' >&2; exit 0;; esac\n"
CASES = [{"case": name, "kind": "bolt", "steps": []} for name in "abc"]
IN_FOLDER = (
    "import sys; from pathlib import Path; from multilang_cli.driver import jdk;"
    "folder = Path(sys.argv.pop(1)); jdk.builds = lambda _: folder;"
    "from multilang_cli.__main__ import main; sys.exit(main())"
)


def refusal(said: CaptureResult[str]) -> str:
    """The one paragraph on stderr; nothing on stdout."""
    assert said.out == ""
    assert said.err.startswith("mlcheck: verify-storm: ")
    assert said.err.count("\n") == 1
    return said.err


class Machine:
    """A machine with these programs on PATH, and a folder where the oracle is built."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin, self.builds = folder / "bin", folder / "builds"
        self.bin.mkdir()
        self.path = os.pathsep.join([str(self.bin), "/usr/bin", "/bin"])
        self.has("mvn", BUILT)
        self.has("javac", "")
        self.has("java", JAVA)
        monkeypatch.setenv("PATH", self.path)
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setattr(jdk, "builds", lambda _: self.builds)

    def has(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (self.bin / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.8", "'2.8' is no Storm version; expected three numbers, such as 2.8.3"),
        ("2.8.3 -X", "is no Storm version"),
        ("new\x1b[2J", "is no Storm version"),
        ("0.9.2-incubating", "too old for the oracle; the oldest that it can ask is 0.9.3"),
    ],
)
def test_what_is_no_version_that_can_be_asked(capsys: pytest.CaptureFixture[str], version: str, reason: str) -> None:
    assert dispatch(["verify-storm", version]) == 2
    assert reason in refusal(capsys.readouterr())


def test_versions_are_read() -> None:
    assert parsed("2.6.4") < parsed("2.8.3") < parsed("3.0.0")
    assert parsed("0.9.7") < parsed("0.10.0-beta1")


@pytest.mark.parametrize("missing", ["java", "javac", "mvn"])
def test_a_missing_program_is_named_with_the_line_that_installs_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    (machine.bin / missing).unlink()
    monkeypatch.setenv("PATH", str(machine.bin))
    assert dispatch(["verify-storm", "2.8.3"]) == 2
    said = refusal(capsys.readouterr())
    assert f"{missing} was not found on PATH" in said
    assert "apt-get install openjdk-17-jdk-headless maven" in said


@pytest.mark.parametrize(("shown", "said"), [("1.8.0_402", "8"), ("24.0.1", "24"), ("", "of an unknown version")])
def test_a_java_that_cannot_do_it_is_named(machine: Machine, shown: str, said: str) -> None:
    machine.has("java", f"echo 'openjdk version \"{shown}\"' >&2")
    with pytest.raises(OracleUnavailableError, match=f"this Java is {said}; the oracle needs a JDK of 17 to 23"):
        build("2.8.3")


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        (
            "[ERROR] Could not find artifact org.apache.storm:storm-client:jar:9.9.9 in central (https://repo)",
            OracleUnavailableError,
            "there is no Storm 9.9.9 in the repositories",
        ),
        (
            "[ERROR] Could not transfer artifact x:y:pom:1: Unknown host",
            OracleUnavailableError,
            "could not fetch what .*9.9.9",
        ),
        ("[ERROR] Bolt.java:[3,4] cannot find symbol", OracleError, "compiled for Storm 9.9.9: Bolt.java:.3,4. cannot"),
    ],
)
def test_why_maven_failed_is_told(machine: Machine, said: str, kind: type[OracleError], reason: str) -> None:
    machine.has("mvn", f"echo '{said}'\nexit 1")
    with pytest.raises(OracleError, match=reason) as caught:
        build("9.9.9")
    assert type(caught.value) is kind
    assert list(machine.builds.iterdir()) == []


def test_it_is_built_once_and_whole(machine: Machine) -> None:
    classpath = build("2.99.0")
    folder = Path(classpath.split(os.pathsep)[0]).parent
    assert classpath.split(os.pathsep)[1] == "a.jar"
    assert [folder] == list(machine.builds.iterdir())
    machine.has("mvn", "exit 1")
    assert build("2.99.0") == classpath
    with pytest.raises(OracleError):
        build("2.99.1")


def answering(*lines: str, then: str = "") -> str:
    return JAVA + "\n".join(f"echo '{line}'" for line in lines) + "\n" + then


def answer(case: str) -> str:
    return json.dumps({"case": case, "verdict": {"verdict": "accepted", "events": [], "received": []}})


def test_verdicts_come_in_the_order_of_the_cases(machine: Machine) -> None:
    machine.has("java", answering(answer("c"), answer("a"), answer("b")))
    told: list[str] = []
    assert list(ask("2.99.0", CASES, tell=told.append)) == ["a", "b", "c"]
    assert told == ["c", "a", "b"]


@pytest.mark.parametrize("last", ["", '{"case": "c", "verd'])
def test_a_case_without_a_verdict_is_an_error_that_says_what_java_said(machine: Machine, last: str) -> None:
    machine.has("java", answering(answer("a"), last, then="echo 'Error: no stage' >&2; exit 1"))
    with pytest.raises(OracleError, match=r"Storm 2\.99\.0 gave no verdict on b and 1 more: Error: no stage"):
        ask("2.99.0", CASES)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_nothing_outlives_it(machine: Machine, tmp_path: Path, number: int, code: int) -> None:
    held, pids = tmp_path / "held", tmp_path / "pids"
    os.mkfifo(held)
    os.mkfifo(pids)
    # Who holds the fifo open lives: the program, and what it started in a session of its own.
    machine.has("java", f"{JAVA}exec 9>'{held}'\nsetsid sleep 600 &\necho on >'{pids}'\nsleep 600")
    command = [sys.executable, "-c", IN_FOLDER, str(machine.builds), "verify-storm", "2.99.0", "bolt-ack"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": machine.path, "JAVA_HOME": "", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    with held.open("rb") as alive:
        assert pids.read_text(encoding="utf-8") == "on\n"
        process.send_signal(number)
        _, said = process.communicate()
        assert process.returncode == code
        assert alive.read() == b""  # the end of the file: nobody is left
    assert said == ("" if code < 0 else "mlcheck: interrupted.\n")


def test_scripts_are_chosen_by_name_and_called_once(tmp_path: Path) -> None:
    assert [case["case"] for case in run.choose(CASES, ["c", "a"])] == ["a", "c"]
    with pytest.raises(OracleError, match="there is no script 'z'"):
        run.choose(CASES, ["z"])
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(CASES), encoding="utf-8")
    assert run.read_cases([file]) == CASES
    with pytest.raises(OracleError, match="two cases are called a"):
        run.read_cases([file, file])


def test_records_are_updated_newest_version_first(tmp_path: Path) -> None:
    old: dict[str, Any] = {"a": {"2.8.3": {"n": 1}, "0.9.7": {"n": 2}}, "b": {"2.8.3": {"n": 3}}}
    new = records.updated(old, {"a": {"0.10.2": {"n": 4}, "2.8.3": {"n": 5}}})
    assert new == {"a": {"2.8.3": {"n": 5}, "0.10.2": {"n": 4}, "0.9.7": {"n": 2}}, "b": {"2.8.3": {"n": 3}}}
    assert list(new["a"]) == ["2.8.3", "0.10.2", "0.9.7"]
    records.write_whole(tmp_path / "a.json", records.render(new))
    assert json.loads((tmp_path / "a.json").read_bytes()) == new
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
