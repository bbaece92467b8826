"""State that the operations of a case work on, and the ways in which a case ends early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.driver.shell.either import HasShell
from multilang_cli.subject.samples import samples_of
from multilang_cli.suite.steps import values as made_up
from multilang_cli.suite.steps.settling import AMPLE, TRIAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.driver.memory import Holding
    from multilang_cli.driver.shell.either import Shell
    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.protocol.words.messages import Handshake
    from multilang_cli.reports.model import Verdict
    from multilang_cli.subject.options import Component
    from multilang_cli.suite.steps.idling import Idle
    from multilang_cli.suite.steps.settling import FedTuples, Settling

LISTENED_TO = 1.0
"""Seconds for which a component that is never quiet is listened to."""

TELL_THE_PACE = 5
"""Tuples, or calls, that tell how fast a component works."""


class Stop(Exception):  # noqa: N818 (no error: the judge's findings are)
    """The case is over before its last step."""


class NotExercised(Exception):  # noqa: N818 (no error)
    """The component gave no occasion: the message says what it never did.

    `verdict`: on the case, if nothing is wrong in it.
    """

    verdict: Verdict = "skip"


class WentSilent(NotExercised):
    """The component no longer does what it did before, and may have a reason that is not seen from here."""

    verdict = "warn"


class Stage(HasShell):
    """State that an operation works on: the session, the samples, and the case's own memory.

    `handshake`: builds the handshake message from a step's arguments. `accepts`: what the component says it takes
    besides tuples like its samples. `fed`: True once a sample was delivered. `made_up`: the seq from which on it was
    given what we made up, None if it was not; `trying`: what it was given is a trial, which it may refuse; `refusable`:
    it may refuse all that is made up, and `may_refuse` that it was given such. `settled`: ids that a spout's acks and
    fails were about. `feed`: what a bolt was fed so far, `settling`: how it settles, in all of the run;
    `settles_declared`: somebody said so. `idle`: what is known of a spout's empty calls; `idled`: seconds of those
    since it emitted last; `calls`: of next, so far, of which the first `fruitful` brought something each; `paused`:
    calls, and tuples, before it was deactivated first; `has_failed`: it was told of a fail. `held`: what it
    held when that was first looked at, and how much it was given until then.
    """

    def __init__(
        self,
        shell: Shell,
        component: Component,
        handshake: Callable[[dict[str, Any]], Handshake],
        *,
        refusable: bool,
        feed: FedTuples,
        settling: Settling,
        idle: Idle,
    ) -> None:
        self.shell = shell
        self.session = shell.session
        self.idle = idle
        self.idled = 0.0
        self.calls = self.fruitful = 0
        self.has_failed = False
        self.held: tuple[Holding, int] | None = None
        self.paused: tuple[int, int] | None = None
        self.samples = samples_of(component)
        self.handshake = handshake
        self.accepts = frozenset(component.accepts)
        self.limits = shell.profile.limits
        self.fed = False
        self.said_pid = False
        self.made_up: int | None = None
        self.trying = ""
        self.refusable = refusable
        self.feed = feed
        self.settling = settling
        self.settles_declared = bool(component.settles)
        self.may_refuse = False
        self.settled: set[str] = set()
        self._next_sample = 0

    def sample(self) -> Sample:
        """The next sample, in turn, to be fed."""
        self.fed = True
        self._next_sample += 1
        return self.samples[(self._next_sample - 1) % len(self.samples)]

    @property
    def given(self) -> int:
        """Samples that it was fed, or calls of next, so far."""
        return self._next_sample + self.calls

    def send(self, sample: Sample) -> None:
        """Queue a tuple, as one of its source."""
        self.bolt.send(sample.values, sample.component, sample.stream)

    def made(self, shape: str) -> list[Sample]:
        """The tuples that a shape makes of the samples. Raises NotExercised if it makes none."""
        tuples = [
            msgspec.structs.replace(sample, values=values)
            for sample in self.samples
            for values in made_up.shaped(sample.values, shape)
        ]
        if not tuples:
            raise NotExercised(f"no sample has a value for this ({shape})")
        return tuples

    def go_on(self, *, if_: bool) -> None:
        """End the case here unless it makes sense to go on. Raises Stop."""
        if not if_ or not self.session.running:
            raise Stop

    def patience(self, waiting_for: str) -> float:
        """Seconds to wait: not long for what the component may refuse, since no finding comes of it."""
        limit = self.limits[waiting_for]
        enough = max(TRIAL, self.settling.ample, AMPLE * self.feed.slowest)
        return min(limit, enough) if self.may_refuse or self.trying else limit

    def making_up(self) -> None:
        """From now on the component is given values that nobody declared it to take."""
        if self.made_up is None:
            self.made_up = self.session.pump.events.seq
            self.may_refuse = self.refusable
