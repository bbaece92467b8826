"""One measure: a fresh process, a handshake, a warm-up, and then as much work as it does in some seconds."""

from __future__ import annotations

import os
import time
from collections import deque
from itertools import cycle
from typing import TYPE_CHECKING, Literal

import msgspec

from multilang_cli.bench.histogram import Histogram
from multilang_cli.bench.watching import AnswerTimer, cost_of
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.driver import reaper
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.either import shell_of
from multilang_cli.protocol.words.verdicts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.driver.shell.spout import ShellSpout
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.subject.subject import Subject

CpuPlacement = Literal["any", "one", "two"]

WARM_UP = 0.25
"""Of the time that is measured, so much is worked before."""
BEAT = 0.1
"""Seconds between heartbeats: more often than Storm, so that a short measure has some."""


class NoFirstMessageError(Exception):
    """The component said no first message."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one measure. Times in microseconds but for `seconds` and `silence`.

    `rate`: tuples settled a second, or calls of next. `trips`, `beats`: round trips of tuples or calls, and of
    heartbeats. `cpu`: seconds of CPU time of the component for each second. `memory`: bytes. `emits`: a second.
    """

    window: int
    seconds: float
    rate: float
    emits: float
    trips: Histogram
    beats: Histogram
    silence: float
    cpu: float
    memory: int
    failed: int
    findings: tuple[Finding, ...]


def measure(subject: Subject, window: int, seconds: float, place: CpuPlacement) -> Measured:
    """Work for some `seconds` with `window` tuples in flight, or pending. Raises LaunchError, NoFirstMessageError."""
    process, profile = subject.start(), subject.profile
    answers = AnswerTimer()
    judge = judge_of(profile, subject.rulebook)
    shell = shell_of(process, judge, (answers,), timer=BEAT, seed=subject.options.seed)
    with shell.session as session:
        _bind(process.pid, place)
        if not session.handshake(subject.handshake(process), profile.limits["pid"]):
            raise NoFirstMessageError(
                "it ended before its pid" if session.exit is not None else "it did not answer the handshake"
            )
        work = _bolt_work(shell, subject, window) if isinstance(shell, ShellBolt) else _spout_work(shell, window)
        work(seconds * WARM_UP, Histogram())
        answers.forget()
        before, began = cost_of(process.pid), time.perf_counter()
        calls = Histogram()
        emits = work(seconds, calls)
        took, after = time.perf_counter() - began, cost_of(process.pid)
        trips = answers.trips if isinstance(shell, ShellBolt) else calls
        return Measured(
            window=window,
            seconds=took,
            rate=trips.count / took,
            emits=emits / took,
            trips=trips,
            beats=answers.beats,
            silence=answers.silence,
            cpu=max(0.0, after.cpu - before.cpu) / took,
            memory=after.memory,
            failed=answers.failed,
            findings=tuple(session.findings),
        )


def _bolt_work(bolt: ShellBolt, subject: Subject, window: int) -> Callable[[float, Histogram], int]:
    limit, samples = bolt.profile.limits["settle"], subject.samples
    bolt.kept.keeps = False

    def work(seconds: float, _: Histogram) -> int:
        """Drive the bolt for so many seconds; 0, since its emits are not counted."""
        values = [sample.values for sample in samples]
        sources = [(sample.component, sample.stream) for sample in samples]
        bolt.drive(_until(time.perf_counter() + seconds, values), window, limit, sources)
        return 0

    return work


def _until(end: float, samples: list[list[Json]]) -> Iterator[list[Json]]:
    for values in cycle(samples):
        if time.perf_counter() >= end:
            return
        yield values


def _spout_work(spout: ShellSpout, window: int) -> Callable[[float, Histogram], int]:
    """Calls of next; as soon as more than `window` tuples are pending, the oldest are acked."""
    pending: deque[Json] = deque()
    limit = spout.profile.limits["sync"]
    spout.call("activate", limit=limit)

    def work(seconds: float, calls: Histogram) -> int:
        """Call next for so many seconds, each call timed; how many tuples it emitted."""
        end, emits = time.perf_counter() + seconds, 0
        while spout.session.running and time.perf_counter() < end:
            began = time.perf_counter_ns()
            if not spout.call("next", limit=limit):
                break
            calls.add(time.perf_counter_ns() - began)
            emits += len(spout.kept.emits)
            pending.extend(emit.id for emit in spout.kept.emits if emit.id is not None)
            spout.kept.emits.clear()
            while len(pending) > window and not spout.acks_at_once and spout.call("ack", pending.popleft(), limit):
                pass
        return emits

    return work


def _bind(pid: int, place: CpuPlacement) -> None:
    """Put ourselves and the component on CPUs."""
    ours, theirs = cpus(place)
    if not hasattr(os, "sched_setaffinity"):
        return
    os.sched_setaffinity(0, ours)
    for each in (pid, *reaper.descendants(pid)):
        for task in reaper.entries(f"/proc/{each}/task"):
            os.sched_setaffinity(int(task), theirs)


_CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def cpus(place: CpuPlacement) -> tuple[list[int], list[int]]:
    """The CPUs for our side, and for the component."""
    if place == "any":
        return _CPUS, _CPUS
    return _CPUS[:1], _CPUS[:1] if place == "one" else _CPUS[-1:]


def told(place: CpuPlacement) -> str:
    """Describe for people on which CPUs `place` puts both sides."""
    ours, theirs = cpus(place)
    if place == "any":
        return f"both sides on any of {len(_CPUS)} CPUs"
    return f"mlcheck on CPU {ours[0]}, the component on CPU {theirs[0]}"
