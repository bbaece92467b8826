"""Every checker over one history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.topology import history
from multilang_cli.topology.checkers.ends import AckedIsDone, EndsOnce, InTime, NotTooEarly
from multilang_cli.topology.checkers.limits import FaultsStruck, HeartbeatsInTime, KeysKeepTheirTask, PendingLimit
from multilang_cli.topology.checkers.losses import AtLeastOnce, ReplayedOnce
from multilang_cli.topology.checkers.measures import Measures
from multilang_cli.topology.checkers.promises import AckedLast, AnchoredEmits, AtMostOnce, Tracked, permitted
from multilang_cli.topology.checkers.xor import SameXor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from multilang_cli.topology.checkers.checker import Checker, CheckResult, RunFacts
    from multilang_cli.topology.checkers.losses import Account
    from multilang_cli.topology.history import Happening

CHECKERS: tuple[type[Checker], ...] = (
    EndsOnce,
    AckedIsDone,
    AtLeastOnce,
    ReplayedOnce,
    SameXor,
    KeysKeepTheirTask,
    PendingLimit,
    NotTooEarly,
    InTime,
    HeartbeatsInTime,
    FaultsStruck,
    AnchoredEmits,
    AckedLast,
)
"""All that every run is judged by, in the order in which they are shown."""

CLAIMED: dict[str, tuple[type[Checker], ...]] = {"at-least-once": (Tracked,), "at-most-once": (AtMostOnce,)}
"""More of them, by the guarantee that a topology claims."""

HANDLERS: dict[type[Happening], str] = {
    history.Launched: "launched",
    history.Emitted: "emitted",
    history.Delivered: "delivered",
    history.TupleSettled: "settled",
    history.AckerTold: "told",
    history.EmissionEnded: "ended",
    history.Beat: "beat",
    history.DeadLettered: "dead_lettered",
    history.Died: "died",
    history.Lost: "lost",
    history.Faulted: "faulted",
    history.PhaseBegun: "phase",
}
"""The method of a checker for each kind of event."""


class Judge:
    """Is told a history as it happens, or later; keeps what is still open, not what was."""

    def __init__(self, facts: RunFacts) -> None:
        self.measures = Measures(facts)
        self._t = 0.0
        self._emitted = False
        self._checkers = tuple(each(facts) for each in (*CHECKERS, *CLAIMED.get(facts.guarantee, ())))
        self._guarantee = facts.guarantee
        hearers: tuple[object, ...] = (*self._checkers, self.measures)
        self._handlers: dict[type[Happening], tuple[Callable[[Any], object], ...]] = {
            kind: tuple(getattr(each, name) for each in hearers if hasattr(each, name))
            for kind, name in HANDLERS.items()
        }

    @property
    def account(self) -> Account:
        """The account of all messages, when the history is over."""
        return next(each.account for each in self._checkers if isinstance(each, AtLeastOnce))

    def take(self, event: Happening) -> None:
        """The next event."""
        self._t = event.t
        for handle in self._handlers[event.__class__]:
            handle(event)

    def finish(self) -> tuple[CheckResult, ...]:
        """The history is over: what holds, and what does not."""
        for each in self._checkers:
            each.t = self._t
            each.finish()
        return tuple(permitted(each.holds(), self._guarantee) for each in self._checkers)


def check(events: Iterable[Happening], facts: RunFacts) -> tuple[CheckResult, ...]:
    """Judge a whole history."""
    judge = Judge(facts)
    for event in events:
        judge.take(event)
    return judge.finish()
