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
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase
from hypothesis.errors import Flaky

from multilang_cli.driver.pump import OutOfTimeError
from multilang_cli.fuzz.grammar import GrammarOptions, Scenario, lives
from multilang_cli.fuzz.shrink import shrunk

if TYPE_CHECKING:
    from multilang_cli.reports.model import SubjectResult

MORE = 0.05
"""Of the time, so much more for a life that is caught at its end to be made smaller."""
A_ROUND = 25
"""Lives that are drawn before it is begun anew, from another seed: the first of a search are always small."""


class ScenarioResult(NamedTuple):
    """Result of one life. `rule`: what is wrong, "" if nothing; `steps`: how many were played."""

    subject: SubjectResult
    rule: str
    steps: int
    events: int


PlayScenario = Callable[[Scenario], ScenarioResult]


class SearchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a search: so many `conversations`, at most so many `seconds`, those to make a life smaller among them.

    `seed`: where the lives come from. `folder`: the database. `key`: the component's place in it. `clock`: seconds.
    """

    conversations: int
    seconds: float
    seed: int
    folder: Path
    key: str
    clock: Callable[[], float]


class FailingScenario(NamedTuple):
    """A life that shows something wrong, and what became of it. `known`: it was in the database."""

    life: Scenario
    played: ScenarioResult
    known: bool


class _FoundError(Exception):
    """Failure that hypothesis is to make small."""


class Enough(KeyboardInterrupt):
    """The search is over. An interrupt to hypothesis, which takes anything else for something it has found."""


class Search:
    """One search. `caught`: the smallest life so far that shows what was found first; `steady`: it does so every time.

    `until`: when it is over, on the clock of its terms; `play` raises OutOfTimeError then. `undecided`: what became of
    a life that could not be judged, for want of a sample. `tried`: lives played since one was caught, to make it
    smaller. `seconds`: until then. `out_of_time`: the time was over before all conversations were played. `tell`: is
    called after each life.
    """

    def __init__(
        self,
        play: PlayScenario,
        world: GrammarOptions,
        terms: SearchLimits,
        tell: Callable[[Search], None] = lambda _: None,
    ) -> None:
        self.caught: FailingScenario | None = None
        self.steady = True
        self.undecided: SubjectResult | None = None
        self.conversations = 0
        self.lives = 0
        self.events = 0
        self.tried = 0
        self.seconds = 0.0
        self.out_of_time = False
        self._play = play
        self._world = world
        self._terms = terms
        self._tell = tell
        self._began = terms.clock()
        self.until = self._began + terms.seconds
        self._known = 0
        self._is_over = False
        self._fault: Exception | None = None

    def go(self) -> None:
        """Hunt. Raises what `play` raises, KeyboardInterrupt as well: what was caught by then stays."""
        terms = self._terms
        configuration.set_hypothesis_home_dir(terms.folder)
        database = DirectoryBasedExampleDatabase(terms.folder / "examples")
        keys = {long: f"{terms.key}.{'long' if long else 'short'}".encode() for long in (False, True)}
        rounds = 0
        # Short lives first, but for long ones that are known to show something.
        for long in sorted(keys, key=lambda each: not any(database.fetch(keys[each]))):
            self._known = self.lives + sum(1 for _ in database.fetch(keys[long]))
            self._search(database, keys[long], rounds, long=long)
        while not self._is_over:
            rounds += 1
            self._search(database, keys[True], rounds, long=True)

    def _search(self, database: ExampleDatabase, key: bytes, rounds: int, *, long: bool) -> None:
        """Search one kind of lives for a while, unless the search is over."""
        if self._is_over:
            return

        def test(life: Scenario) -> None:
            """Fail for a life in which something is wrong, as hypothesis wants it."""
            if self._is_wrong(life):
                raise _FoundError

        searching = settings(
            database=database,
            max_examples=A_ROUND,
            deadline=None,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            phases=(Phase.reuse, Phase.generate) if long else tuple(Phase),
            print_blob=False,
        )
        # In this order: a seed without settings after it forbids the database.
        search = searching(seed(f"{self._terms.seed}.{rounds}")(given(lives(self._world, long=long))(test)))
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
        except Enough:
            self._is_over = True
            if self._fault is not None:
                raise self._fault from None

    def _shrink(self) -> None:
        """Make a long life small by hand, while there is time."""
        assert self.caught is not None  # noqa: S101 (hypothesis has found something)
        try:
            shrunk(self.caught.life, self._is_wrong)
        except Enough:
            if self._fault is not None:
                raise self._fault from None

    def _is_wrong(self, life: Scenario) -> bool:
        """Play a life. Raises Enough."""
        if self.caught is None and self.conversations >= self._terms.conversations:
            raise Enough
        if self._terms.clock() >= self.until:
            raise self._over()
        try:
            played = self._play(life)
        except OutOfTimeError:
            raise self._over() from None
        except Exception as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                # What an interrupt left half done can fail when it is cleaned up; it is an interrupt all the same.
                raise KeyboardInterrupt from error
            # To hypothesis an exception is something found.
            self._fault = error
            raise Enough from error
        return self._weigh(life, played)

    def _over(self) -> Enough:
        self.out_of_time = self.caught is None
        return Enough()

    def _weigh(self, life: Scenario, played: ScenarioResult) -> bool:
        if self.caught is None:
            self.lives += 1
            self.conversations += life.begun(played.steps)
            self.events += played.events
            self.seconds = self._terms.clock() - self._began
        else:
            self.tried += 1
        wrong = self._keep(life, played)
        self._tell(self)
        if self.undecided is not None:
            raise Enough
        return wrong

    def _keep(self, life: Scenario, played: ScenarioResult) -> bool:
        """Keep what is smaller; True if it shows what is hunted."""
        if played.subject.verdict == "untestable" and self.caught is None:
            self.undecided = played.subject
            return False
        if not played.rule or (self.caught is not None and played.rule != self.caught.played.rule):
            return False
        if self.caught is None:
            self.until += self._terms.seconds * MORE
            self.caught = FailingScenario(life, played, self.lives <= self._known)
        elif size_of(life) < size_of(self.caught.life):
            self.caught = FailingScenario(life, played, self.caught.known)
        return True


def size_of(life: Scenario) -> tuple[int, int, Any]:
    """Size of a life: fewer steps first, then what is said in them."""
    text = msgspec.json.encode(life.steps)
    return len(life.steps), len(text), text
