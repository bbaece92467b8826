"""How many tuples a second go through a bolt that echoes and acks them: judged, judged and recorded, only moved."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import sides
from benchmarks.measure import Figure, Result, interleaved
from benchmarks.storm import VERSION, real_storm
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.words.messages import TupleMsg
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.storm import RealStorm
    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.process import ComponentProcess

TUPLES = 20_000
WARM_UP = 2_000
STORM_TUPLES = 50_000
"""More than ours: Java tells its CPU time in steps of 10 ms."""
STORM_COLD = 100_000
"""The first tuples of a JVM, which take two to three times as long."""
STORM_WARM_UP = 300_000
"""Further ones, until what is hot has been compiled."""
WINDOW = 1_000
ROUNDS = 7
_STORM = f"the real ShellBolt {VERSION}"
_TERMINATOR = b"\nend\n"


class Speed(NamedTuple):
    """How fast tuples went through."""

    rate: float
    """Tuples a second."""
    cpu_rate: float
    """Tuples for each second of CPU time of the driving process."""


def run() -> Result:
    """Measure driving a bolt."""
    try:
        with real_storm("bolt", sides.compiled("echo_bolt")) as real:
            cold = storm(real, "any CPU", STORM_COLD)
            storm(real, "any CPU", STORM_WARM_UP)
            taken = interleaved(
                ROUNDS,
                {
                    "moved": moved,
                    "storm": lambda: storm(real, "two CPUs"),
                    "judged": judged,
                    "recorded": recorded,
                    "storm, free": lambda: storm(real, "any CPU"),
                    "judged, free": lambda: judged("any CPU"),
                },
            )
    finally:
        sides.unplace()
    notes = (
        f"{WINDOW} in flight, 5 values, task ids on; medians of {ROUNDS} interleaved rounds",
        f"a round has {TUPLES} tuples, and {STORM_TUPLES} for ShellBolt",
        f"the JVM is warm; its first {STORM_COLD} tuples, on any CPU, went at {cold.rate:,.0f} tuples/s",
        "free: both sides on any CPU, where the threads of ShellBolt can use several",
        "CPU time: of the driving process alone; busy neighbours on the machine change it little",
        "moving and splitting: Python, the same pipes and bolt, tuples encoded beforehand, answers split and counted",
    )
    return Result("throughput", sides.told("two CPUs"), (*_rates(taken), *_costs(taken)), notes)


def _rates(taken: dict[str, list[Speed]]) -> Iterator[Figure]:
    rates = {name: [speed.rate for speed in speeds] for name, speeds in taken.items()}
    for what, than, reference, goal, stretch in (
        ("judged", _STORM, "storm", 3.0, 5.0),
        ("recorded", _STORM, "storm", 2.0, 3.0),
        ("judged, free", _STORM, "storm, free", None, None),
        ("judged", "moving and splitting", "moved", None, None),
        ("recorded", "moving and splitting", "moved", None, None),
    ):
        yield Figure.of_rounds(
            f"echo+ack, {what}",
            rates[what],
            than,
            rates[reference],
            unit="tuples/s",
            better="higher",
            goal=goal,
            stretch=stretch,
        )


def _costs(taken: dict[str, list[Speed]]) -> Iterator[Figure]:
    for what in ("judged", "recorded"):
        ours, theirs = ([speed.cpu_rate for speed in taken[side]] for side in (what, "storm"))
        what_of = f"echo+ack, {what}, CPU time"
        yield Figure.of_rounds(what_of, ours, _STORM, theirs, unit="tuples/CPU s", better="higher")


def storm(real: RealStorm, where: sides.Place, tuples: int = STORM_TUPLES) -> Speed:
    """The speed of the real ShellBolt."""
    seconds, cpu_seconds = real.tuples(tuples, where)
    return _speed(tuples, seconds, cpu_seconds)


def _speed(tuples: int, seconds: float, cpu_seconds: float) -> Speed:
    return Speed(tuples / seconds, tuples / cpu_seconds)


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float]) -> Speed:
    """The speed if TUPLES tuples went through since `start`."""
    seconds, cpu_seconds = _clocks()
    return _speed(TUPLES, seconds - start[0], cpu_seconds - start[1])


def judged(where: sides.Place = "two CPUs") -> Speed:
    """The speed of `ShellBolt.drive`: encoded, validated, judged and answered with task ids."""
    return _driven((), where)


def recorded(path: Path | None = None) -> Speed:
    """The same, and each event written to a transcript: a new one at `path`, by default one that is not kept."""
    target = path or sides.folder() / "not-kept.jsonl"
    target.unlink(missing_ok=True)
    with TranscriptWriter(target, Header(conv="1", profile=sides.profile("bolt"))) as writer:
        return _driven((writer,), "two CPUs")


def _driven(sinks: tuple[EventSink, ...], where: sides.Place) -> Speed:
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    bolt = ShellBolt(sides.started([sides.compiled("echo_bolt")]), judge, sinks)
    with bolt.session as session:
        sides.met(session, where)
        bolt.kept.keeps = False
        bolt.drive((sides.values(number) for number in range(WARM_UP)), WINDOW, sides.LIMIT)
        start = _clocks()
        done = bolt.drive((sides.values(number) for number in range(TUPLES)), WINDOW, sides.LIMIT)
        speed = _since(start)
    if not done or session.findings:
        raise RuntimeError(f"the bolt did not settle its tuples, or not well: {session.findings[:3]}")
    return speed


def moved() -> Speed:
    """The speed at which bytes are only written, read, split and counted; task ids are sent all the same."""
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    frames = [
        wire.encode_tuple(TupleMsg("source", sides.values(number), 2, "default", str(number - 2**63)))
        for number in range(TUPLES)
    ]
    with sides.started([sides.compiled("echo_bolt")]) as process:
        sides.place(process.pid, "two CPUs")
        _move(process, [wire.encode(sides.handshake(process, judge), judge.version)], 1)
        _move(process, frames[:WARM_UP], 2)
        start = _clocks()
        _move(process, frames, 2)
        return _since(start)


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
