"""Recordings made short, and made cases: the way from an incident to a regression test, as its user walks it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest
import yaml

from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.protocol.words.messages import SpoutCommand, TaskIds, TupleMsg
from multilang_cli.replay.command_line import choose, finding_in
from multilang_cli.replay.promoting import promote
from multilang_cli.replay.recording import JudgedRecording, load
from multilang_cli.replay.shrink.shrinker import Shrinker
from multilang_cli.replay.shrink.units import part_of, units_of
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.cases.case import read_case
from tests.command import MUTANT_BOLT, ROOT, mlcheck, refusal
from tests.components import unusual
from tests.replays import LIMITS, against, recorded
from tests.sessions import PID

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

SAMPLES = tuple([f"word {number}", number] for number in range(40))
# Acks what holds its number twice, once it has seen another number before.
PLANTED = """
shake()
seen = set()
while True:
    tup = message()
    if isinstance(tup, list): continue
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
        continue
    seen.add(tup["tuple"][1])
    for _ in range(TIMES if tup["tuple"][1] == 13 and 7 in seen else 1):
        say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
"""


def _bolt(folder: Path, name: str, times: int) -> tuple[str, ...]:
    script = folder / name
    script.write_text(f"{PID}\nTIMES = {times}\n{PLANTED}")
    return (sys.executable, "-I", "-S", str(script))


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> tuple[JudgedRecording, Path]:
    """Hundreds of tuples and a bolt that acks one twice, if another came before; the folder has it, and it mended."""
    folder = tmp_path_factory.mktemp("incident")
    component = Component(command=_bolt(folder, "wrong.py", 2), samples=SAMPLES, limits={"settle": 20.0})
    _bolt(folder, "mended.py", 1)
    (recording,) = recorded(component, folder / "rec", "bolt.heartbeat.behind-backlog")
    return recording, folder


def _played_to(recording: JudgedRecording, folder: Path, script: str, **options: object) -> Shrinker:
    argv = (sys.executable, "-I", "-S", str(folder / script))
    finding = choose(recording.findings(), "ack-twice")
    assert finding is not None
    subject = Subject.of(Component(command=argv, cwd=str(folder), limits=LIMITS), RunOptions())
    return Shrinker(recording, subject, finding, folder / "small.ndjson", **options)  # type: ignore[arg-type]


def test_only_what_is_needed_is_left(incident: tuple[JudgedRecording, Path]) -> None:
    recording, folder = incident
    told: list[tuple[int, int, int]] = []
    shrunk = _played_to(recording, folder, "wrong.py", progress=lambda *now: told.append(now)).run()
    assert shrunk.shown
    assert shrunk.complete
    assert shrunk.units[0] > 100
    assert shrunk.units[1] == 2
    assert shrunk.tried == len(told) < 80
    small = load(folder / "small.ndjson")
    tuples = [event.body.values for event in small.events if isinstance(event.body, TupleMsg)]
    assert [values[1] for values in tuples] == [7, 13]
    assert tuples == [["", 7], ["", 13]]
    assert [finding.rule for finding in small.findings()] == ["ack-twice"]
    assert not list(folder.glob(".small*"))


# Dies where the sum of the numbers so far is none: of 2 and -2, and of a single 0.
DIVIDES = """
shake()
total = 0
while True:
    tup = message()
    if tup["stream"] == "__heartbeat":
        say('{"command":"sync"}\\nend\\n')
        continue
    total += tup["tuple"][0]
    100 / total
    say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
"""


def test_a_tuple_that_simpler_values_made_needless_is_left_out(tmp_path: Path) -> None:
    script = tmp_path / "divides.py"
    script.write_text(f"{PID}{DIVIDES}")
    argv = (sys.executable, "-I", "-S", str(script))
    component = Component(command=argv, samples=([2], [-2]), limits={"settle": 20.0})
    (recording,) = recorded(component, tmp_path / "rec", "bolt.settle.once")
    finding = choose(recording.findings(), "exited")
    assert finding is not None
    subject = Subject.of(Component(command=argv, cwd=str(tmp_path), limits=LIMITS), RunOptions())
    shrunk = Shrinker(recording, subject, finding, tmp_path / "small.ndjson").run()
    small = load(tmp_path / "small.ndjson")
    assert [event.body.values for event in small.events if isinstance(event.body, TupleMsg)] == [[0]]
    assert (shrunk.units[1], shrunk.simpler) == (1, 1)


def test_what_does_not_show_is_said(incident: tuple[JudgedRecording, Path]) -> None:
    recording, folder = incident
    shrinker = _played_to(recording, folder, "mended.py", retries=2)
    assert not shrinker.run().shown
    assert shrinker.plays == 3


def test_from_an_incident_to_a_regression_test(incident: tuple[JudgedRecording, Path]) -> None:
    """Shrunk, promoted, red on the bug, green when it is mended: by the command line alone."""
    recording, folder = incident
    wrong, mended = ([sys.executable, "-I", "-S", str(folder / name)] for name in ("wrong.py", "mended.py"))
    ran = mlcheck("shrink", recording.path, "-o", "short.ndjson", "-q", "--", *wrong, cwd=folder)
    assert ran.returncode == 0
    assert re.search(r"^short.ndjson: ack-twice with 2 of \d+ tuples \(\d+ of \d+ events\), ", ran.stdout)
    assert "Next: mlcheck promote short.ndjson" in ran.stdout
    ran = mlcheck("promote", "short.ndjson", "-o", "bolt.thirteen.yaml", cwd=folder)
    assert ran.returncode == 0
    case = read_case(folder / "bolt.thirteen.yaml")
    assert (case.id, case.level, case.clause) == ("bolt.thirteen", "must", "bolt.ack.once")
    words = ["run", "--kind", "bolt", "--suite", "bolt.thirteen.yaml", "-k", "bolt.thirteen", "--"]
    red, green = mlcheck(*words, *wrong, cwd=folder), mlcheck(*words, *mended, cwd=folder)
    assert (red.returncode, green.returncode) == (1, 0)
    assert "FAIL  it settles a tuple twice" in red.stdout
    assert "1 passed" in green.stdout
    ran = mlcheck("promote", "short.ndjson", "-o", "bolt.thirteen.yaml", cwd=folder)
    assert "nothing is overwritten" in refusal(ran)


# A rule that is found by its kind of occasion: anchors, values, heartbeats, what never comes, what comes after the ack.
PROMOTED = [
    "ack-twice",
    "pid-as-string",
    "ack-before-emit",
    "cut-at-exit",
    "anchor-unknown",
    "wrong-arity",
    "ack-heartbeat",
    "invalid-json",
    "leak-first",
]


@pytest.mark.sample(3)
@pytest.mark.parametrize("bug", PROMOTED)
def test_a_promoted_case_is_red_on_the_bug_and_green_without(bug: str, tmp_path: Path) -> None:
    wrong, right = ([sys.executable, MUTANT_BOLT, name] for name in (bug, "none"))
    component = Component(
        command=tuple(wrong),
        streams={"default": StreamDeclaration(("word",))},
        samples=(["snow white"],),
        limits={"settle": 20.0},
    )
    (recording,) = recorded(component, tmp_path / "rec", "bolt.settle.once")
    ran = mlcheck("promote", recording.path, "-o", "bolt.it.yaml", cwd=tmp_path)
    assert ran.returncode == 0
    words = [
        "run",
        "--kind",
        "bolt",
        "--stream",
        "default:word",
        "--suite",
        "bolt.it.yaml",
        "-k",
        "bolt.it",
        "--strict",
    ]
    codes = [mlcheck(*words, "--", *command, cwd=tmp_path).returncode for command in (wrong, right)]
    assert codes == [1, 0]
    case = yaml.safe_load((tmp_path / "bolt.it.yaml").read_text(encoding="utf-8"))
    assert case["steps"][-1] in {"quiet", "close_stdin"}
    again = against(recording, tuple(wrong))
    assert not again.findings


def test_a_promoted_case_has_the_conf_that_no_cluster_has_by_itself(tmp_path: Path) -> None:
    component = Component(command=(sys.executable, MUTANT_BOLT, "ack-twice"), samples=(["snow white"],))
    (recording,) = recorded(component, tmp_path, "bolt.settle.once")
    base, own = base_conf("2.8.3"), {"word.limit": 7, "topology.message.timeout.secs": 31}
    tapped = msgspec.structs.replace(
        recording, profile=msgspec.structs.replace(recording.profile, storm="2.8.3", conf={**base, **own})
    )
    case = promote(tapped, finding_in("promote", tapped, ""), "bolt.it", "bolt.it.yaml", base).case
    assert case["steps"][0] == {"handshake": {"conf": own}}


def test_a_spout_is_promoted_too(tmp_path: Path) -> None:
    mutant = str(ROOT / "tests" / "mutants" / "spout.py")
    component = Component(command=(sys.executable, mutant, "sync-twice"), kind="spout")
    (recording,) = recorded(component, tmp_path / "rec", "spout.sync.ack")
    assert mlcheck("promote", recording.path, "-o", "spout.it.yaml", cwd=tmp_path).returncode == 0
    words = ["run", "--kind", "spout", "--suite", "spout.it.yaml", "-k", "spout.it", "--", sys.executable, mutant]
    assert [mlcheck(*words, name, cwd=tmp_path).returncode for name in ("sync-twice", "none")] == [1, 0]


def test_units_hold_what_belongs_together(tmp_path: Path) -> None:
    component = unusual()["spout-reads-ids"]
    (recording,) = recorded(component, tmp_path, "spout.sync.ack")
    units = units_of(recording.events)
    events = {event.seq: event.body for event in recording.events}
    kinds = [[type(events[seq]) for seq in unit] for unit in units]
    assert all(unit[0] is SpoutCommand and unit.count(TaskIds) in {0, 3} for unit in kinds)
    acked = [[body.command for seq in unit if isinstance(body := events[seq], SpoutCommand)] for unit in units]
    assert any(set(commands) == {"next", "ack"} for commands in acked)
    assert part_of(recording, units, range(len(units))) == recording
    assert not units_of(part_of(recording, units, ()).events)


def test_ctrl_c_keeps_the_best_so_far(incident: tuple[JudgedRecording, Path]) -> None:
    recording, folder = incident
    words = [sys.executable, "-m", "multilang_cli", "shrink", recording.path, "-o", "best.ndjson", "--"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*words, sys.executable, "-I", "-S", str(folder / "wrong.py")],
        cwd=folder,
        env=env,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        # Each line tells of something shorter: at the second there is a best.
        lines = [process.stderr.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
    assert process.returncode == 130
    assert all(line.startswith("play ") for line in lines)
    assert "best.ndjson: ack-twice with " in said
    assert {finding.rule for finding in load(folder / "best.ndjson").findings()} == {"ack-twice"}
    assert not list(folder.glob(".best*"))


MISUSES = [
    (["promote", "right.ndjson"], "nothing is wrong in it", 4),
    (["promote", "wrong.ndjson", "--finding", "arity"], "found are ack-twice (", 2),
    (["promote", "wrong.ndjson", "-o", "Case 1.yaml"], "such as bolt.case-1.yaml", 2),
    (["shrink", "wrong.ndjson", "-o", "wrong.ndjson", "--", "true"], "that is the recording itself", 2),
    (["shrink", "wrong.ndjson", "-o", ".", "--", "true"], "that is a directory; name a file", 2),
    (["report", "wrong.ndjson", "-o", "wrong.ndjson"], "that is the recording itself", 2),
    (["report", "wrong.ndjson", "--bundle", "wrong.ndjson"], "that is the recording itself", 2),
    (["lint", "x" * 300], "can't be read: File name too long", 2),
    (["lint", "wrong.ndjson", "--report", "json=wrong.ndjson"], "that is the recording itself", 2),
    (["diff", "wrong.ndjson", "right.ndjson", "--report", "json=right.ndjson"], "that is the recording itself", 2),
    (["replay", "wrong.ndjson", "--report", "json=wrong.ndjson", "--", "true"], "that is the recording itself", 2),
    (["bench", "--kind", "bolt", "--compare", "'unclosed", "--", "true"], "No closing quotation", 2),
    (["replay", "wrong.ndjson", "--ignore", "nosuch", "--", "true"], "'nosuch' is no field of a declared stream", 2),
    (["shrink", "right.ndjson", "--", "true"], "nothing is wrong in it", 4),
    (["shrink", "wrong.ndjson", "--", "./nothing"], "does not exist", 3),
    (["shrink", "wrong.ndjson", "--", "cat", "/dev/null"], "does not show", 6),
]


@pytest.mark.parametrize(("words", "why", "code"), MISUSES, ids=[" ".join(words[:5]) for words, *_ in MISUSES])
def test_misuse_is_a_sentence(words: list[str], why: str, code: int, incident: tuple[JudgedRecording, Path]) -> None:
    recording, folder = incident
    if not (folder / "wrong.ndjson").exists():
        (folder / "wrong.ndjson").write_bytes((folder / "rec" / "bolt.heartbeat.behind-backlog.ndjson").read_bytes())
        healthy = msgspec.structs.replace(recording, events=recording.events[:6])
        lines = (folder / "wrong.ndjson").read_bytes().splitlines(keepends=True)
        end = json.loads(lines[-1])
        end["end"]["events"] = Counter(json.loads(line)["ch"] for line in lines[1 : len(healthy.events)])
        (folder / "right.ndjson").write_bytes(b"".join([*lines[: len(healthy.events)], json.dumps(end).encode()]))
    ran = mlcheck(*words, cwd=folder)
    assert why in ran.stderr
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
