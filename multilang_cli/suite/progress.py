"""Progress of a run, told on stderr: what the suite is about to do, and how long it may take."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from multilang_cli.suite.dry_run import ACKS
from multilang_cli.terminal.output import filled, remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.runner.playing import Progress

TRIED = (3, 10, 20)
"""Cases after which it may be known how long all take."""
LONG_RUN = 120.0
"""Seconds from which on that is told."""
SLOW_TUPLE = 2.0
"""Seconds that a tuple takes, from which on all cases are slow because of that."""


def telling(subjects: Sequence[Subject], progress: Progress | None, pace: Pace) -> list[Progress | None]:
    """Tell on stderr, before the first case, what the suite is about to do to the component; one a version."""
    return [partial(_tell, subject, versions=len(subjects), progress=progress, pace=pace) for subject in subjects]


def _tell(
    subject: Subject, case: str, begun: int, total: int, *, versions: int, progress: Progress | None, pace: Pace
) -> None:
    """Tell of a case that begins, or waits: the first one of all announces the suite."""
    if not pace.told:
        _announce(subject, total, versions)
    if remarked := pace.tell(begun, total * versions):
        remark(remarked)
    if progress is not None:
        progress(f"{case} on Storm {subject.options.storm}" if versions > 1 else case, begun, total)


class Pace:
    """Estimate of the time of a slow component's cases, once some of them were played."""

    def __init__(self) -> None:
        self.told: set[int] = set()
        self._began = self._latest = time.monotonic()
        self._longest = 0.0
        self._said = False
        self._total = 0

    def tell(self, begun: int, total: int) -> str:
        """A sentence when so many cases were begun, "" mostly; `total`: how many there are.

        Where the first few were quick it is looked at again. One long case, as of a hang, tells nothing.
        """
        now = time.monotonic()
        self._total = total
        if begun in self.told:
            return ""
        self.told.add(begun)
        self._longest, self._latest = max(self._longest, now - self._latest), now
        each = (now - self._began - self._longest) / max(1, begun - 1)
        if self._said or begun not in TRIED or each * total < LONG_RUN:
            return ""
        self._said = True
        minutes = each * total / 60
        return (
            f"a case takes {each:.1f} s, to start and to answer: all {total} may take some {minutes:.0f} min"
            " (-j N: N at once; -k PATTERN: some of them)"
        )

    def slow(self, tuple_takes: float) -> None:
        """Tell on stderr of a component that is slow, once."""
        if said := self.told_slow(tuple_takes):
            remark(said)

    def told_slow(self, tuple_takes: float) -> str:
        """The sentence for a component that works for so many seconds on each tuple: as soon as that is known."""
        seconds = tuple_takes * self._total
        if self._said or tuple_takes < SLOW_TUPLE or seconds < LONG_RUN:
            return ""
        self._said = True
        return (
            f"a tuple takes it {tuple_takes:.1f} s, and most of the {self._total} cases wait for one or more:"
            f" all may take some {seconds / 60:.0f} min (-j N: N at once; -k PATTERN: some of them)"
        )


def _announce(subject: Subject, total: int, versions: int) -> None:
    component, options = subject.component, subject.options
    many = total * versions > 1
    if not many and component.kind != "spout":
        return
    cases = f"{total} case{'s' if total > 1 else ''}" + (
        f" on each of {versions} Storm versions" if versions > 1 else ""
    )
    pace = f", {options.jobs} at once" if options.jobs > 1 else ", one after another (-j N: N at once)"
    lead = f"{component.name}: " if component.name else ""
    acks = f"; {ACKS}" if component.kind == "spout" else ""
    remark(filled(f"{lead}{cases}{f', a start of the component for each{pace}' if many else ''}{acks}"))
