"""How fast a recording is played again, against the driver that made it; and how a long one is made short."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks import sides, throughput
from benchmarks.measure import Figure, Result, interleaved
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.replay.recording import load
from multilang_cli.replay.replaying import ReplayOptions, replay
from multilang_cli.replay.shrink.shrinker import Shrinker, Shrunk
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.subject import Subject
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from multilang_cli.replay.recording import JudgedRecording

ROUNDS = 3
TUPLES = 3_333
"""With an emit and an ack each, 10,000 events."""
PLANTED = 2_345
WINDOW = 100
TUPLES_PLAYED = throughput.TUPLES + throughput.WARM_UP

# Acks one of its tuples twice.
BOLT = f"""
import json, os, sys
def say(message): sys.stdout.write(json.dumps(message) + "\\nend\\n"); sys.stdout.flush()
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: sys.exit(0)
        lines.append(line)
    return json.loads("".join(lines))
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
say({{"pid": os.getpid()}})
while True:
    message = read()
    if isinstance(message, list): continue
    if message["stream"] == "__heartbeat": say({{"command": "sync"}}); continue
    say({{"command": "emit", "anchors": [message["id"]], "tuple": message["tuple"], "need_task_ids": False}})
    for _ in range(1 + (message["tuple"] == {sides.values(PLANTED)!r})): say({{"command": "ack", "id": message["id"]}})
"""


def run() -> Result:
    """Measure replay and shrink."""
    path = sides.folder() / "played-again.ndjson"
    try:
        throughput.recorded(path)
        recording = load(path)
        target = _target([sides.compiled("echo_bolt")])
        taken = interleaved(
            ROUNDS,
            {
                "recorded": lambda: throughput.recorded().rate,
                "replayed": lambda: replayed(recording, target),
            },
        )
    finally:
        sides.unplace()
    shrunk = shrink_one()
    figures = (
        Figure.of_rounds(
            "echo+ack, replayed and recorded",
            taken["replayed"],
            "the driver, recording",
            taken["recorded"],
            unit="tuples/s",
            better="higher",
        ),
    )
    notes = (
        f"a replay begins with the start of the component and ends with its quiet; {TUPLES_PLAYED} tuples",
        _told(shrunk),
    )
    return Result("replay", sides.told("any CPU"), figures, notes)


def _told(shrunk: Shrunk) -> str:
    fewer = f"{shrunk.events[0]} events with one planted bug to {shrunk.units[1]} of {shrunk.units[0]} tuples"
    return f"shrink: {fewer}, values simpler: {shrunk.simpler}, in {shrunk.tried} plays and {shrunk.seconds:.1f} s"


def _target(argv: list[str]) -> Subject:
    component = Component(command=tuple(map(str, argv)), limits={"settle": sides.LIMIT})
    return Subject.of(component, RunOptions())


def replayed(recording: JudgedRecording, target: Subject) -> float:
    """Tuples a second, from the first to the last that the component was told."""
    done = replay(recording, target, ReplayOptions(record=sides.folder() / "not-kept.ndjson"))
    told = [event.t for event in done.events if event.channel in {"in", "out"}]
    assert not done.findings
    return TUPLES_PLAYED / (told[-1] - told[2])


def shrink_one() -> Shrunk:
    """A recording of 10,000 events, of which one tuple shows a bug, made as short as can be."""
    folder = sides.folder()
    script, path = folder / "planted.py", folder / "planted.ndjson"
    script.write_text(BOLT)
    path.unlink(missing_ok=True)
    argv = [sys.executable, "-I", "-S", str(script)]
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    with TranscriptWriter(path, Header(conv="planted", profile=sides.profile("bolt"))) as writer:
        bolt = ShellBolt(sides.started(argv), judge, (writer,))
        with bolt.session as session:
            sides.met(session, "any CPU")
            bolt.drive((sides.values(number) for number in range(TUPLES)), WINDOW, sides.LIMIT)
    recording = load(path)
    (finding,) = [each for each in recording.findings() if each.rule == "ack-twice"]
    shrunk = Shrinker(recording, _target(argv), finding, folder / "small.ndjson").run()
    assert shrunk.units[1] == 1
    return shrunk
