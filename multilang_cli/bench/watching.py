"""Measurements on a working component: how long each answer took, how long it was silent, what it cost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.bench.histogram import Histogram
from multilang_cli.driver import reaper
from multilang_cli.protocol.words.messages import HEARTBEAT_STREAM, Ack, Fail, Sync, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.events import Event

_NANO = 1e9
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class AnswerTimer:
    """A sink that times answers, from the moment that Storm writes a message.

    `trips`: of tuples until they are settled; `beats`: of heartbeats until their sync; `settled`: so many were,
    `failed` of them failed; `silence`: the longest time in seconds without a word while something was pending.
    """

    def __init__(self) -> None:
        self.trips, self.beats = Histogram(), Histogram()
        self.settled = self.failed = 0
        self.silence = 0.0
        self._open: dict[str, float] = {}
        self._asked: list[float] = []
        self._heard = 0.0

    def forget(self) -> None:
        """Begin anew; what is open stays open."""
        self.trips, self.beats = Histogram(), Histogram()
        self.settled = self.failed = 0
        self.silence = 0.0

    def take(self, events: Sequence[Event], _: object) -> None:
        """Take events that were judged together."""
        for event in events:
            body = event.body
            if event.channel == "in" and isinstance(body, TupleMsg):
                self._said(event.t, body)
            elif event.channel == "out":
                self._answered(event.t, body)

    def _said(self, now: float, message: TupleMsg) -> None:
        if not self._open and not self._asked:
            self._heard = now
        if message.stream == HEARTBEAT_STREAM:
            self._asked.append(now)
        else:
            self._open[message.id] = now

    def _answered(self, now: float, body: object) -> None:
        if self._open or self._asked:
            self.silence = max(self.silence, now - self._heard)
        self._heard = now
        if isinstance(body, Ack | Fail) and (since := self._open.pop(str(body.id), None)) is not None:
            self.trips.add(round((now - since) * _NANO))
            self.settled += 1
            self.failed += isinstance(body, Fail)
        elif isinstance(body, Sync) and self._asked:
            self.beats.add(round((now - self._asked.pop(0)) * _NANO))


class Cost(NamedTuple):
    """Resources used so far by a component and its descendants: seconds of CPU time, bytes of memory now."""

    cpu: float
    memory: int


def cost_of(pid: int) -> Cost:
    """Look at a whole family; 0 where the system does not tell."""
    cpu = memory = 0
    for each in (pid, *reaper.descendants(pid)):
        fields = reaper.stat_fields(each)
        if fields:
            cpu += int(fields[11]) + int(fields[12])
            memory += int(fields[21])
    return Cost(cpu / _TICK, memory * _PAGE)
