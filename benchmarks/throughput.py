"""How many tuples a second go through a bolt that echoes and acks them: judged, judged and recorded, only moved."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import sides
from benchmarks.measure import Figure, Result, interleaved
from multilang_cli.host.shell_bolt import ShellBolt
from multilang_cli.protocol import wire
from multilang_cli.protocol.conversation import Conversation
from multilang_cli.protocol.messages import TupleMsg
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.host.process import ComponentProcess
    from multilang_cli.host.pump import Sink

TUPLES = 20_000
WARM_UP = 2_000
WINDOW = 1_000
ROUNDS = 7
STORM = 46_000
"""Tuples a second of the real ShellBolt 2.8.3 with such a bolt, on another machine of this kind."""
_TERMINATOR = b"\nend\n"


def run() -> Result:
    """Measure driving a bolt."""
    try:
        taken = interleaved(ROUNDS, {"moved": moved, "judged": judged, "recorded": recorded})
    finally:
        sides.unplace()
    rates = {name: median(values) for name, values in taken.items()}
    figures = [
        Figure(
            what=f"echo+ack, {what}",
            value=rates[what],
            unit="tuples/s",
            than=than,
            reference=reference,
            better="higher",
            goal=goal,
            elsewhere=elsewhere,
        )
        for what, storm_goal in (("judged", 2.5), ("recorded", 1.5))
        for than, reference, goal, elsewhere in (
            ("moving and splitting the bytes", rates["moved"], None, False),
            ("the real ShellBolt 2.8.3", STORM, storm_goal, True),
        )
    ]
    notes = (
        f"{WINDOW} in flight, 5 values, {TUPLES} tuples a round, median of {ROUNDS} interleaved rounds",
        "moving and splitting: Python, the same pipes and bolt, tuples encoded beforehand, answers split and counted",
    )
    return Result("throughput", sides.told("two CPUs"), tuple(figures), notes)


def judged() -> float:
    """Tuples a second of `ShellBolt.drive`: encoded, validated, judged and answered with task ids."""
    return _driven(())


def recorded(path: Path | None = None) -> float:
    """The same, and each event written to a transcript: a new one at `path`, by default one that is not kept."""
    target = path or sides.folder() / "not-kept.jsonl"
    target.unlink(missing_ok=True)
    with TranscriptWriter(target, Header(conv="1", profile=sides.profile("bolt"))) as writer:
        return _driven((writer,))


def _driven(sinks: tuple[Sink, ...]) -> float:
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    with ShellBolt(sides.started([sides.compiled("echo_bolt")]), judge, sinks) as bolt:
        sides.met(bolt, "two CPUs")
        bolt.keep_emits = False
        bolt.drive((sides.values(number) for number in range(WARM_UP)), WINDOW, sides.LIMIT)
        start = time.perf_counter()
        done = bolt.drive((sides.values(number) for number in range(TUPLES)), WINDOW, sides.LIMIT)
        seconds = time.perf_counter() - start
    if not done or bolt.findings:
        raise RuntimeError(f"the bolt did not settle its tuples, or not well: {bolt.findings[:3]}")
    return TUPLES / seconds


def moved() -> float:
    """Tuples a second where bytes are only written, read, split and counted; task ids are sent all the same."""
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    frames = [
        wire.encode_tuple(TupleMsg(str(number - 2**63), "source", "default", 2, sides.values(number)))
        for number in range(TUPLES)
    ]
    with sides.started([sides.compiled("echo_bolt")]) as process:
        sides.place(process.pid, "two CPUs")
        _move(process, [wire.encode(sides.handshake(process, judge), judge.version)], 1)
        _move(process, frames[:WARM_UP], 2)
        start = time.perf_counter()
        _move(process, frames, 2)
        return TUPLES / (time.perf_counter() - start)


def _move(process: ComponentProcess, frames: list[bytes], answers: int) -> None:
    """Send `frames`, at most WINDOW of them unanswered, and wait for `answers` frames to each, emits before acks."""
    buffer, rest = bytearray(), b""
    sent = heard = 0
    while heard < answers * len(frames):
        settled = heard // answers
        if sent - settled <= WINDOW - WINDOW // 4 and sent < len(frames):
            goal = min(len(frames), settled + WINDOW)
            buffer += b"".join(frames[sent:goal])
            sent = goal
        ready = process.poll(sides.LIMIT, want_write=bool(buffer))
        if ready.stdin and buffer:
            del buffer[: process.write(buffer)]
        data = process.read_stdout() if ready.stdout else b""
        if data is None or ready.exited:
            raise RuntimeError("the bolt ended")
        pieces = (rest + data).split(_TERMINATOR)
        rest = pieces.pop()
        if answers > 1:
            emits = (heard + len(pieces) + 1) // 2 - (heard + 1) // 2
            buffer += b"[4]\nend\n" * emits
        heard += len(pieces)
