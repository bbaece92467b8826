"""The shortest recording that still shows a finding: each candidate is played to a fresh process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.driver.scratch import scratch
from multilang_cli.replay.replaying import Replayed, ReplayOptions, replay
from multilang_cli.replay.shrink.ddmin import Shrinking
from multilang_cli.replay.shrink.simpler import simplified, simplify
from multilang_cli.replay.shrink.units import part_of, units_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.replay.recording import JudgedRecording
    from multilang_cli.subject.subject import Subject

    Progress = Callable[[int, int, int], None]


class Shrunk(NamedTuple):
    """Result of shrinking. `shown`: the finding was met at all. `units`: tuples and commands, before and after.

    `events` before and after; `simpler`: values that were simplified; `complete`: False if it was interrupted.
    """

    shown: bool
    units: tuple[int, int]
    events: tuple[int, int]
    simpler: int
    tried: int
    seconds: float
    complete: bool


class Shrinker:
    """Shrinks `recording` for the finding with a fingerprint; the best is always in the file `output`.

    `retries`: how often a candidate that does not show it is played again. `progress` is called before each play with
    how many there were, the units of the candidate, and those of the best. A play that shows it is recorded to
    `output`, whole or not at all: whatever interrupts, the best so far stands there. Raises LaunchError, OSError.
    """

    def __init__(
        self,
        recording: JudgedRecording,
        subject: Subject,
        finding: Finding,
        output: Path,
        *,
        retries: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self.recording = recording
        self.plays = 0
        self._subject = subject
        self._fingerprint = finding.fingerprint
        self._output = self._candidate = output
        self._retries = retries
        self._progress = progress
        self._best = recording
        self._least = len(units_of(recording.events))
        self._now: Replayed | None = None

    def run(self) -> Shrunk:
        """Shrink it. Ctrl-C ends it with the best so far. Raises OSError, LaunchError."""
        with scratch(f".{self._output.name}-", self._output.parent) as folder:
            self._candidate = folder / self._output.name
            return self._run()

    def _run(self) -> Shrunk:
        began = time.monotonic()
        shown, complete, before = False, True, self._least
        try:
            shown = self._plays(self.recording, before)
            if shown:
                self._leave_out()
                while self._simplify() and self._leave_out():
                    pass
        except KeyboardInterrupt:
            complete = False
        return Shrunk(
            shown=shown,
            units=(before, self._least),
            events=(len(self.recording.events), len(self._now.events) if self._now is not None else 0),
            simpler=simplified(self.recording, self._best),
            tried=self.plays,
            seconds=time.monotonic() - began,
            complete=complete,
        )

    def _leave_out(self) -> bool:
        """Leave out of the best all units that are not needed; True if there were some."""
        recording, units = self._best, units_of(self._best.events)
        shrinking = Shrinking(len(units), lambda chosen: self._plays(part_of(recording, units, chosen), len(chosen)))
        if recording is self.recording:
            shrinking.test(self._sent_before_the_finding(units))
        return len(shrinking.run()) < len(units)

    def _simplify(self) -> bool:
        """Give the best simpler values; True if there were some. A tuple may be needless then that was needed."""
        best, size = self._best, self._least
        return simplify(best, lambda candidate: self._plays(candidate, size)) is not best

    def _sent_before_the_finding(self, units: list[tuple[int, ...]]) -> tuple[int, ...]:
        """The units without what was sent after the finding: it can't have caused it."""
        now = self._now
        if now is None:
            return tuple(range(len(units)))
        found = next(finding.seq for finding in now.findings if finding.fingerprint == self._fingerprint)
        told = sum(event.channel == "in" for event in now.events if event.seq < found)
        sent = [event.seq for event in self.recording.events if event.channel == "in"][:told]
        last = sent[-1] if sent else -1
        return tuple(n for n, unit in enumerate(units) if unit[0] <= last)

    def _plays(self, candidate: JudgedRecording, size: int) -> bool:
        for _ in range(self._retries + 1):
            if self._progress is not None:
                self._progress(self.plays, size, self._least)
            self.plays += 1
            done = replay(candidate, self._subject, ReplayOptions(until=self._fingerprint, record=self._candidate))
            if done.interrupted:
                raise KeyboardInterrupt
            if any(finding.fingerprint == self._fingerprint for finding in done.findings):
                self._candidate.replace(self._output)
                self._now, self._least, self._best = done, size, candidate
                return True
        return False
