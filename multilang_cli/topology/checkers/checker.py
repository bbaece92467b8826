"""Base of all checkers: told a history event by event, each keeps what is still open, and says what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

if TYPE_CHECKING:
    from multilang_cli.topology.history import Died, Faulted

MOST_WRONG = 5
"""Sentences about what is wrong that one checker keeps; the rest is counted."""
TIMER_LATE = 2.0
"""Seconds that a busy machine may be late with a timer."""

CheckVerdict = Literal["pass", "warn", "fail", "unknown"]
"""`unknown`: nothing happened that could break it, or the run was cut before it could be seen."""


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a topology besides its history.

    `components`, `workers`: by task. `spouts`: tasks. `ackers`: tasks, in the order in which roots are shared among
    them. `timeout`: ``topology.message.timeout.secs``, 0 if nothing times out. `limits`: how many emissions may be
    pending, by the tasks that share the limit. `keys`: of each stream of a component with a fields grouping, who
    consumes it, and the places of the key in its values. `expected`: values that each component must have acked, as
    often as they stand there: the first ones of longer tuples. `faults`: of the plan, as written. `idle`: seconds of
    silence after which sources are taken for exhausted. `silences`: seconds of silence after which Storm gives a
    bolt's task up, by task; empty where it sends no heartbeats. `guarantee`: what the topology claims, "" for nothing.
    `unanchored`: streams on which tuples need no anchor, as STREAM or COMPONENT/STREAM. `emitting`: the line of a
    component's source that emits, in words, by component, where there is only one.
    """

    components: dict[int, str]
    workers: dict[int, int]
    spouts: frozenset[int]
    ackers: tuple[int, ...] = ()
    timeout: float = 30.0
    limits: dict[tuple[int, ...], int] = {}
    keys: dict[tuple[str, str], tuple[tuple[str, tuple[int, ...]], ...]] = {}
    expected: dict[str, list[list[Any]]] = {}
    faults: tuple[str, ...] = ()
    idle: float = 1.0
    silences: dict[int, float] = {}
    guarantee: str = ""
    unanchored: frozenset[str] = frozenset()
    emitting: dict[str, str] = {}

    def name(self, task: int) -> str:
        """A task as sentences call it."""
        return f"{self.components.get(task, 'task')}, task {task}"

    def gone(self, death: Died) -> set[int]:
        """The tasks that a death took: an acker's alone, or all of a worker."""
        return {death.task} if death.task else {task for task, at in self.workers.items() if at == death.worker}


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict of a checker. `reason`: a sentence, "" on pass. `emissions`: numbers of those concerned."""

    id: str
    title: str
    verdict: CheckVerdict
    reason: str = ""
    about: Literal["root", "limit"] = "root"
    emissions: tuple[int, ...] = ()


class Checker:
    """One thing that must hold. A subclass has a method for each kind of event that it wants, named as in `HANDLERS`.

    `worst`: what becomes of a run of which it does not hold.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[Literal["root", "limit"]] = "root"
    worst: CheckVerdict = "fail"

    def __init__(self, facts: RunFacts) -> None:
        self.facts = facts
        self.seen = 0
        self.t = 0.0
        self._wrong: list[str] = []
        self._emissions: list[int] = []
        self._count = 0
        self._unknown: list[str] = []

    def wrong(self, sentence: str, emission: int = 0) -> None:
        """It does not hold; `emission`: the number of the one concerned."""
        self._count += 1
        self._keep(self._wrong, sentence, emission)

    def unknown(self, sentence: str, emission: int = 0) -> None:
        """It can't be said whether it holds."""
        self._keep(self._unknown, sentence, emission)

    def _keep(self, sentences: list[str], sentence: str, emission: int) -> None:
        if len(sentences) < MOST_WRONG:
            sentences.append(sentence)
            if emission:
                self._emissions.append(emission)

    def finish(self) -> None:
        """The history is over: look at what is still open."""

    def holds(self) -> CheckResult:
        """Conclude. What does not hold counts more than what is unknown."""
        if self._count:
            more = f" (and {self._count - 1} more)" if self._count > 1 else ""
            return self._holds(self.worst, self._wrong[0] + more)
        if self._unknown:
            return self._holds("unknown", self._unknown[0])
        return self._holds("pass", "")

    def _holds(self, verdict: CheckVerdict, reason: str) -> CheckResult:
        emissions = tuple(dict.fromkeys(self._emissions))
        return CheckResult(
            id=self.id, title=self.title, verdict=verdict, reason=reason, about=self.about, emissions=emissions
        )


class Excusing(Checker):
    """A limit that a fault or a death excuses: what was slow meanwhile, or is soon after, is nobody's doing."""

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._struck: set[int] = set()
        self._trouble = -1.0

    def died(self, event: Died) -> None:
        """Excuse what is late soon after."""
        self._trouble = event.t

    def faulted(self, event: Faulted) -> None:
        """The same holds while a fault lasts."""
        self._trouble = event.t
        (self._struck.add if event.phase == "strikes" else self._struck.discard)(event.plan)

    def excused(self, since: float, after: float = 0.0) -> bool:
        """True if something is wrong now, or was `since` then, or up to so many seconds before."""
        return bool(self._struck) or (self._trouble >= 0 and since <= self._trouble + after)
