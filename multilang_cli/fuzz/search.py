"""Search: scenarios are played until one shows something wrong, which is then made as small as it can be.

hypothesis draws the scenarios, makes the failing one smaller, and keeps it in a database, where the next search looks
first. The caller plays each scenario.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, seed, settings
from hypothesis.errors import Flaky

from multilang_cli.driver.pump import OutOfTimeError
from multilang_cli.fuzz.finds import FindsDatabase
from multilang_cli.fuzz.grammar import GrammarOptions, Scenario, scenarios
from multilang_cli.fuzz.shrink import shrunk

if TYPE_CHECKING:
    from multilang_cli.reports.model import SubjectResult

MORE = 0.05
"""Of the time, so much more for a scenario that fails at its end to be made smaller."""
_PHASES = (Phase.reuse, Phase.generate, Phase.shrink)
"""The last phase, explain, would vary what is small already, in words that nobody reads here: most of the time."""
A_ROUND = 25
"""Lives that are drawn before it is begun anew, from another seed: the first of a search are always small."""


class ScenarioResult(NamedTuple):
    """Result of one scenario. `rule`: what is wrong, "" if nothing; `steps`: how many were played."""

    subject: SubjectResult
    rule: str
    steps: int
    events: int


PlayScenario = Callable[[Scenario], ScenarioResult]


class SearchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a search: so many `conversations`, at most so many `seconds`, those to shrink one among them.

    `seed`: where the scenarios come from. `folder`: the database. `key`: the component's place in it. `clock`: seconds.
    """

    conversations: int
    seconds: float
    seed: int
    folder: Path
    key: str
    clock: Callable[[], float]


class FailingScenario(NamedTuple):
    """A scenario that shows something wrong, and what became of it. `known`: it was in the database."""

    scenario: Scenario
    played: ScenarioResult
    known: bool


class _FoundError(Exception):
    """Failure that hypothesis is to make small."""


class SearchOver(KeyboardInterrupt):
    """The search is over. An interrupt to hypothesis, which takes anything else for something it has found."""


class Search:
    """One search. `failing`: the smallest scenario so far that shows what was found first; `steady`: it always does.

    `until`: when it is over, on the clock of its terms; `play` raises OutOfTimeError then. `undecided`: what became of
    a scenario that could not be judged, for want of a sample. `tried`: scenarios played since one failed, to shrink
    it. `seconds`: until then. `out_of_time`: the time was over before all conversations were played. `tell`: is
    called after each scenario.
    """

    def __init__(
        self,
        play: PlayScenario,
        world: GrammarOptions,
        terms: SearchLimits,
        tell: Callable[[Search], None] = lambda _: None,
    ) -> None:
        self.failing: FailingScenario | None = None
        self.steady = True
        self.undecided: SubjectResult | None = None
        self.conversations = 0
        self.scenarios = 0
        self.events = 0
        self.tried = 0
        self.seconds = 0.0
        self.out_of_time = False
        self._play = play
        self._world = world
        self._terms = terms
        self._tell = tell
        self._database = FindsDatabase(terms.folder / "examples")
        self._began = terms.clock()
        self.until = self._began + terms.seconds
        self._known = 0
        self._is_over = False
        self._fault: Exception | None = None

    def go(self) -> None:
        """Search. Raises what `play` raises, KeyboardInterrupt as well: what has failed by then stays."""
        terms = self._terms
        configuration.set_hypothesis_home_dir(terms.folder)
        database = self._database
        keys = {long: f"{terms.key}.{'long' if long else 'short'}".encode() for long in (False, True)}
        rounds = 0
        # Short scenarios first, but for long ones that are known to show something.
        for long in sorted(keys, key=lambda each: not any(database.fetch(keys[each]))):
            self._known = self.scenarios + sum(1 for _ in database.fetch(keys[long]))
            self._search(keys[long], rounds, long=long)
        while not self._is_over:
            rounds += 1
            self._search(keys[True], rounds, long=True)

    @property
    def unkept(self) -> str:
        """The reason that what was found could not be kept for the next search, "" if it could."""
        return self._database.failed

    def _search(self, key: bytes, rounds: int, *, long: bool) -> None:
        """Search one kind of scenarios for a while, unless the search is over."""
        if self._is_over:
            return

        def test(scenario: Scenario) -> None:
            """Fail for a scenario in which something is wrong, as hypothesis wants it."""
            if self._is_wrong(scenario):
                raise _FoundError

        searching = settings(
            database=self._database,
            max_examples=A_ROUND,
            deadline=None,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            phases=(Phase.reuse, Phase.generate) if long else _PHASES,
            print_blob=False,
        )
        # In this order: a seed without settings after it forbids the database.
        search = searching(seed(f"{self._terms.seed}.{rounds}")(given(scenarios(self._world, long=long))(test)))
        # As `hypothesis.find` does, which takes a seed or a database, not both.
        search._hypothesis_internal_database_key = key  # type: ignore[attr-defined]  # noqa: SLF001
        try:
            search()
        except _FoundError:
            self._is_over = True
            if long:
                self._shrink()
        except Flaky:
            self._is_over, self.steady = True, False
        except SearchOver:
            self._is_over = True
            if self._fault is not None:
                raise self._fault from None

    def _shrink(self) -> None:
        """Make a long scenario small by hand, while there is time."""
        assert self.failing is not None  # noqa: S101 (hypothesis has found something)
        try:
            shrunk(self.failing.scenario, self._is_wrong)
        except SearchOver:
            if self._fault is not None:
                raise self._fault from None

    def _is_wrong(self, scenario: Scenario) -> bool:
        """Play a scenario. Raises SearchOver."""
        if self.failing is None and self.conversations >= self._terms.conversations:
            raise SearchOver
        if self._terms.clock() >= self.until:
            raise self._over()
        try:
            return self._weigh(scenario, self._play(scenario))
        except OutOfTimeError:
            raise self._over() from None
        except Exception as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                # What an interrupt left half done can fail when it is cleaned up; it is an interrupt all the same.
                raise KeyboardInterrupt from error
            # To hypothesis an exception is something found.
            self._fault = error
            raise SearchOver from error

    def _over(self) -> SearchOver:
        self.out_of_time = self.failing is None
        return SearchOver()

    def _weigh(self, scenario: Scenario, played: ScenarioResult) -> bool:
        if self.failing is None:
            self.scenarios += 1
            self.conversations += scenario.begun(played.steps)
            self.events += played.events
            self.seconds = self._terms.clock() - self._began
        else:
            self.tried += 1
        wrong = self._keep(scenario, played)
        self._tell(self)
        if self.undecided is not None:
            raise SearchOver
        return wrong

    def _keep(self, scenario: Scenario, played: ScenarioResult) -> bool:
        """Keep what is smaller; True if it shows what is searched."""
        if played.subject.verdict == "untestable" and self.failing is None:
            self.undecided = played.subject
            return False
        if not played.rule or (self.failing is not None and played.rule != self.failing.played.rule):
            return False
        if self.failing is None:
            self.until += self._terms.seconds * MORE
            self.failing = FailingScenario(scenario, played, self.scenarios <= self._known)
        elif size_of(scenario) < size_of(self.failing.scenario):
            self.failing = FailingScenario(scenario, played, self.failing.known)
        return True


def size_of(scenario: Scenario) -> tuple[int, int, Any]:
    """Size of a scenario: fewer steps first, then what is said in them."""
    text = msgspec.json.encode(scenario.steps)
    return len(scenario.steps), len(text), text
