"""Figures of a run: how much was acked, how late, and what tracking it cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.html.spread import Point, Spread

if TYPE_CHECKING:
    from multilang_cli.topology.checkers.checker import RunFacts
    from multilang_cli.topology.history import AckerTold, Delivered, EmissionEnded, Emitted, Faulted

MOST_FAILED = 3
"""Emissions that were not acked of which the number is kept."""


class Recovery(msgspec.Struct):
    """A fault that struck, and the seconds until a tuple was acked that was emitted behind it; None if none was."""

    fault: str
    at: float
    seconds: float | None = None

    def __str__(self) -> str:
        """A sentence."""
        struck = f"{self.fault} struck at {self.at:.3f} s"
        if self.seconds is None:
            return f"{struck}; no tuple that was emitted afterwards was acked"
        return f"{struck}; a tuple that was emitted afterwards was acked {self.seconds:.3f} s later"


class Measures:
    """`ends`: of reliable emissions, by how. `latencies`: of those that were acked.

    `failed_emissions`: the first emissions that failed or timed out. `streams`: deliveries by component and stream;
    `ackers`: messages by acker's task and kind: what tracking costs. `recoveries`: of the faults, as they struck.
    """

    def __init__(self, facts: RunFacts) -> None:
        self.ends: Counter[str] = Counter()
        self.latencies = Spread()
        self.streams: Counter[tuple[str, str]] = Counter()
        self.ackers: Counter[tuple[int, str]] = Counter()
        self.failed_emissions: list[int] = []
        self.recoveries: list[Recovery] = []
        self._recovering: list[Recovery] = []
        self._facts = facts
        self._stream = ("", "")

    def emitted(self, event: Emitted) -> None:
        """Note the stream on which the next ones are delivered."""
        self._stream = (self._facts.components.get(event.task, ""), event.stream)

    def delivered(self, event: Delivered) -> None:
        """Count a delivery."""
        if event.emit:
            self.streams[self._stream] += 1

    def told(self, event: AckerTold) -> None:
        """Count a message to an acker."""
        self.ackers[event.task, event.what] += 1

    def ended(self, event: EmissionEnded) -> None:
        """Count an end, by how it ended."""
        self.ends[event.how] += 1
        if event.how == "acked":
            self.latencies.add((Point(event.t, event.latency, event.emit),))
            if self._recovering:
                self._recover(event)
        elif len(self.failed_emissions) < MOST_FAILED:
            self.failed_emissions.append(event.emit)

    def faulted(self, event: Faulted) -> None:
        """One struck: the run recovers from now on."""
        if event.phase == "strikes":
            self.recoveries.append(Recovery(event.fault, event.t))
            self._recovering.append(self.recoveries[-1])

    def _recover(self, acked: EmissionEnded) -> None:
        emitted = acked.t - acked.latency
        for each in self._recovering:
            if emitted >= each.at:
                each.seconds = acked.t - each.at
        self._recovering = [each for each in self._recovering if each.seconds is None]

    @property
    def availability(self) -> float | None:
        """The part of the ended emissions that was acked; None if none ended."""
        return self.ends["acked"] / total if (total := self.ends.total()) else None

    @property
    def tracking(self) -> tuple[int, int]:
        """Messages that carry tuples, and messages that follow them: inits, acks and fails, and the answers."""
        answers = self.ends.total() if self.ackers else 0
        return self.streams.total(), self.ackers.total() + answers
