"""Who waits on whom as mlcheck says it where it waits: real components, the deadline's event and the finding."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.driver import session as session_module
from multilang_cli.driver.shell import bolt as shell_bolt
from multilang_cli.driver.waits import describing, starving
from multilang_cli.driver.waits.starving import Starved
from multilang_cli.reports.event_sentences import awaiting
from tests.command import mlcheck
from tests.sessions import LIMIT, PID, bolt_of, deadline, playing, spout_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

SOON = 0.5
"""Seconds of a limit that is to run out."""


def of_bolt(tmp_path: Path, code: str, *, hold: bool = False) -> str:
    """Send a bolt one tuple that it does not settle; return who waits on whom."""
    with playing(tmp_path, f"shake()\n{code}") as (session, handshake):
        bolt = bolt_of(session)
        session.pump.stdin.hold_task_ids = hold
        assert session.handshake(handshake, LIMIT)
        bolt.send(["x"])
        assert not bolt.settle_all(SOON)
        said = deadline(session).blocked
        assert session.findings[-1].message.endswith(said)
    return said


def of_spout(tmp_path: Path, code: str, *, at_once: bool = False) -> str:
    with playing(tmp_path, f"shake()\n{code}", "spout") as (session, handshake):
        spout = spout_of(session)
        if at_once:
            conf = {"topology.acker.executors": 0}
            session.judge.profile = session.judge.profile = msgspec.structs.replace(session.judge.profile, conf=conf)
        assert session.handshake(handshake, LIMIT)
        assert not spout.call("next", limit=SOON)
        return deadline(session).blocked


READS = "is blocked reading its stdin, which is empty: it waits for Storm, and Storm waits for"
SETTLING = f"{READS} the ack or fail of a tuple"
EMITS = r"""message(); say('{"command":"emit","tuple":["x"]%s}\nend\n'); message()"""

BOLTS = {
    "reads": (
        "message(); message()",
        SETTLING,
    ),
    "waits for task ids of a direct emit": (
        EMITS % ',"task":9',
        f"{SETTLING}; no task ids are on their way: its last emit was direct, and Storm never answers those with",
    ),
    "waits for task ids that it declined": (
        EMITS % ',"need_task_ids":false',
        f"{SETTLING}; no task ids are on their way: its last emit asked for none",
    ),
    "sleeps": (
        "message(); time.sleep(1000)",
        "is asleep (clock_nanosleep): it waits for nobody but the clock, and Storm",
    ),
    "is busy": ("message()\nwhile True: pass", "is busy (running): it waits for nobody, and Storm waits for the ack"),
    "is stopped": (
        "message(); os.kill(os.getpid(), 19)",
        "is stopped by a signal, such as SIGSTOP, and does nothing until",
    ),
    "reads a socket": (
        "message(); import socket; a, b = socket.socketpair(); a.recv(1)",
        "is blocked in recvfrom of a Unix socket: it waits for whoever is at the other end, and Storm waits for",
    ),
    "has a child that reads": (
        "message(); import subprocess; subprocess.run(['cat'])",
        "(cat) that is blocked reading its stdin, which is empty: that process waits for Storm, and Storm waits for",
    ),
    "writes half a message": (
        "message(); say('{\"command\":'); message()",
        "no whole message, it ends in '{\"command\":'",
    ),
}


@pytest.mark.parametrize(("code", "words"), BOLTS.values(), ids=BOLTS.keys())
def test_who_waits_on_whom_stands_in_the_finding(tmp_path: Path, code: str, words: str) -> None:
    assert words in of_bolt(tmp_path, code)


@pytest.mark.parametrize("starved", [False, True])
def test_a_heartbeat_on_its_way_does_not_make_a_bolt_that_waits_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starved: bool
) -> None:
    code = """
    message(), message()
    began = time.process_time()
    while time.process_time() < began + 0.5: pass
    say('{"command":"sync"}\\nend\\n')
    while time.process_time() < began + 0.6: pass
    message()
    """
    monkeypatch.setattr(shell_bolt, "ANSWERS", 0.25 if starved else LIMIT)
    monkeypatch.setattr(describing, "ON_ITS_WAY", 0.01 if starved else LIMIT)
    if starved:
        monkeypatch.setattr(starving, "STARVED", 10_000)
        monkeypatch.setattr(Starved, "lost", lambda _: 10.0)
    with playing(tmp_path, f"shake()\n{textwrap.dedent(code)}") as (session, handshake):
        bolt = bolt_of(session)
        assert session.handshake(handshake, LIMIT)
        bolt.send(["x"])
        bolt.heartbeat()
        assert not bolt.settle_all(0.01)
        assert deadline(session).blocked == SETTLING


def test_task_ids_that_mlcheck_holds_back(tmp_path: Path) -> None:
    said = of_bolt(tmp_path, EMITS % "", hold=True)
    assert f"{SETTLING}; mlcheck holds back the task ids of an emit" in said


def test_a_direct_emit_of_a_spout(tmp_path: Path) -> None:
    said = of_spout(tmp_path, EMITS % ',"task":9')
    assert f"{READS} its sync of 'next'; no task ids are on their way: its last emit was direct" in said


def test_an_ack_inside_the_emit(tmp_path: Path) -> None:
    said = of_spout(tmp_path, EMITS % ',"id":"1"' + "; message()", at_once=True)
    inside = "Storm acks inside the emit, and sends its task ids only after the sync of that ack"
    assert f"{READS} its sync of 'ack'; {inside}" in said


def test_a_handshake_that_never_ends(tmp_path: Path) -> None:
    with playing(tmp_path, "message(); message()") as (session, handshake):
        assert not session.handshake(handshake, SOON)
        assert f"{READS} its pid" in session.findings[-1].message


def test_a_component_that_outlives_its_stdin(tmp_path: Path) -> None:
    with playing(tmp_path, "shake(); time.sleep(1000)") as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        assert not session.close_stdin(SOON)
        said = session.findings[-1].message
        facts = deadline(session).facts
    assert said.endswith("it waits for nobody but the clock, and Storm waits for its end")
    assert facts.startswith("in the pipes: stdin closed,")


def test_both_pipes_full_while_mlcheck_reads_nothing(tmp_path: Path) -> None:
    with playing(tmp_path, "shake()\nwhile True: message(); say(b' ' * 10_000)") as (session, handshake):
        bolt = bolt_of(session)
        assert session.handshake(handshake, LIMIT)
        session.process.hold_stdout(hold=True)
        for _ in range(30):
            bolt.send(["x" * 100_000])
        assert not session.flush(SOON)
        said = deadline(session).blocked
    assert "is blocked writing its stdout, which is full (" in said
    assert "it waits for Storm to read it, and Storm waits for the ack or fail of" in said
    assert "its stdin is full too: " in said


def test_a_dead_component_whose_child_holds_the_pipe(tmp_path: Path) -> None:
    code = "shake()\nif os.fork() == 0: time.sleep(1000)\nos._exit(3)"
    with playing(tmp_path, code) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        session.wait(lambda: session.exit is not None, LIMIT, "output")
        said = str(session.look().waits)
        assert session.exit is not None
        (holder,) = session.exit.holders
    assert holder.endswith("which it left behind, holds its stdin and stdout and stderr")
    assert said.startswith(f"has exited with code 3, but {holder}")


NEVER_SETTLES = r"""
shake()
while True:
    if message()["stream"] == "__heartbeat": say('{"command":"sync"}\nend\n')
"""


@pytest.mark.parametrize(
    ("rule", "case", "code", "words"),
    [
        (
            "handshake-silent",
            "bolt.settle.once",
            "message(); message()",
            f"{READS} its pid",
        ),
        ("tuple-unsettled", "bolt.settle.once", NEVER_SETTLES, f"{READS} the ack or fail of"),
    ],
)
def test_a_user_reads_it_in_the_report(tmp_path: Path, rule: str, case: str, code: str, words: str) -> None:
    (tmp_path / "hangs.py").write_text(f"{PID}{code}\n")
    words_of_run = ("--kind", "bolt", "-k", case, "--timeout", "1", "--", "python3", "hangs.py")
    ran = mlcheck("run", "-v", *words_of_run, cwd=tmp_path)
    said = " ".join(ran.stdout.split())
    assert rule in said, ran.stderr
    assert ("in the pipes: stdin 0" in said) == (rule == "handshake-silent")  # a warning is shown in short
    assert words in said


def test_a_user_reads_in_the_report_who_still_holds_the_pipes(tmp_path: Path) -> None:
    code = "shake()\nif os.fork() == 0: time.sleep(1000)\nos._exit(3)\n"
    (tmp_path / "leaves.py").write_text(f"{PID}{code}")
    words = ("-v", "--kind", "bolt", "-k", "handshake.pid-first")
    ran = mlcheck("run", *words, "--", "python3", "leaves.py", cwd=tmp_path, COLUMNS="300")
    assert re.search(r"exit code 3; but process \d+ \(python\S*\), which it left behind, holds its stdin", ran.stdout)


def test_a_long_wait_is_told_while_it_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "ON_WAIT_AFTER", 0.1)
    told: list[tuple[str, str]] = []
    with playing(tmp_path, "shake()\nmessage(); time.sleep(1000)", "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        session.on_wait = lambda *wait: told.append((wait[0], awaiting(*wait)))
        spout.ask("next")
        session.wait(lambda: bool(told), LIMIT, "sync")
    assert told == [("sync", "waiting 0 s for its sync; it is asleep (clock_nanosleep)")]
