"""What is generated is what Storm may say, and nothing that nobody promised; what is found is made small and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from multilang_cli.driver.pump import OutOfTimeError
from multilang_cli.fuzz.finds import FindsDatabase
from multilang_cli.fuzz.fuzzing import NAME
from multilang_cli.fuzz.grammar import GrammarOptions, Scenario, scenarios
from multilang_cli.fuzz.search import ScenarioResult, Search, SearchLimits
from multilang_cli.protocol.wire.context import Sample
from multilang_cli.protocol.words.verdicts import Clause
from multilang_cli.replay.case_files import write_case_file
from multilang_cli.reports.model import SubjectResult
from multilang_cli.subject.options import ACCEPTS, DEFAULT_SAMPLE
from multilang_cli.suite.cases.case import Case, plain_case, read_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.fuzz.grammar import ScenarioStep

SAMPLES: tuple[list[Any], ...] = (["a b", 1, 2.5], ["c", -7, 0.0])
WAITS = {"settle", "unread_work", "heartbeat"}
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def world(
    kind: str, *accepts: str, samples: tuple[list[Any], ...] = SAMPLES, heartbeats: bool = True
) -> GrammarOptions:
    return GrammarOptions(kind, tuple(map(Sample, samples)), (Sample(DEFAULT_SAMPLE),), frozenset(accepts), heartbeats)


def words(scenario: Scenario) -> list[str]:
    """What is done, a word each: a call by its command, a heartbeat that nobody waits for by another."""
    return [word_of(step) for step in scenario.steps]


def word_of(step: ScenarioStep) -> str:
    name, arguments = step
    if name == "call":
        return str(arguments["command"])
    return "beat" if name == "heartbeat" and not arguments.get("wait", True) else name


@pytest.mark.long
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("kind", ["bolt", "spout"])
@given(data=st.data())
@FEW
def test_a_life_has_a_handshake_first_and_its_end_last(data: st.DataObject, kind: str, *, long: bool) -> None:
    said = words(data.draw(scenarios(world(kind), long=long)))
    assert said[0] == "handshake"
    assert "handshake" not in said[1:]
    assert not {"close_stdin", "terminate"} & set(said[:-1])


@given(scenario=scenarios(world("bolt", "ticks"), long=True))
@FEW
def test_nothing_is_waited_for_while_task_ids_are_kept_back(scenario: Scenario) -> None:
    held = False
    for word in words(scenario):
        assert not (held and word in WAITS)
        held = word == "hold_task_ids" or (held and word != "release_task_ids")
    assert not held


@given(scenario=scenarios(world("spout"), long=True))
@FEW
def test_a_spout_is_asked_only_while_it_is_active(scenario: Scenario) -> None:
    active = False
    for word in words(scenario):
        assert active or word != "next"
        if word in {"activate", "deactivate", "unread_work"}:
            assert active == (word == "deactivate")
            active = not active


@given(scenario=scenarios(world("bolt"), long=True))
@FEW
def test_without_a_promise_there_are_samples_only_and_no_ticks(scenario: Scenario) -> None:
    given_tuples = [
        values for name, arguments in scenario.steps for values in arguments.get("these", []) if name == "tuple"
    ]
    assert all(values in SAMPLES for values in given_tuples)
    assert "tick" not in words(scenario)


@pytest.mark.long
@given(scenario=scenarios(world("bolt", samples=()), long=True))
@FEW
def test_without_samples_the_standard_tuple_is_fed_in_turn(scenario: Scenario) -> None:
    assert not any("these" in arguments for _, arguments in scenario.steps)


@pytest.mark.long
@given(scenario=scenarios(world("bolt", "text", "integers", "floats", "large"), long=True))
@FEW
def test_types_and_arity_are_kept(scenario: Scenario) -> None:
    for _, arguments in scenario.steps:
        for values in arguments.get("these", []):
            assert [type(value) for value in values] == [str, int, float]


@pytest.mark.long
@given(scenario=scenarios(world("bolt", heartbeats=False), long=True))
@FEW
def test_a_storm_without_heartbeats_sends_none(scenario: Scenario) -> None:
    assert not {"heartbeat", "beat"} & set(words(scenario))


@pytest.mark.parametrize("kind", ["bolt", "spout"])
@given(data=st.data())
@settings(FEW, phases=[Phase.generate])
def test_a_life_is_a_case_that_can_be_written_and_read(
    data: st.DataObject, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scenario = data.draw(scenarios(world(kind, *ACCEPTS), long=False))
    case = Case(
        id="fuzz.x",
        title="t",
        kind="bolt" if kind == "bolt" else "spout",
        level="must",
        clause=Clause(text="c", source="s"),
        expected="e",
        steps=scenario.steps,
        loose=True,
    )
    path = tmp_path_factory.mktemp("case") / "fuzz.x.yaml"
    write_case_file(path, plain_case(case))
    assert read_case(path) == case


# --- the search ---


def played(rule: str = "", verdict: str = "pass") -> ScenarioResult:
    subject = SubjectResult(id=NAME, title="", verdict="fail" if rule else verdict)  # type: ignore[arg-type]
    return ScenarioResult(subject, rule, 1000, 1)


def searched(
    tmp_path: Path,
    play: Callable[[Scenario], ScenarioResult],
    conversations: int = 60,
    seed: int = 1,
    seconds: float = 1e6,
) -> Search:
    ticking = iter(range(10**9))
    terms = SearchLimits(
        conversations=conversations, seconds=seconds, seed=seed, folder=tmp_path, key="k", clock=lambda: next(ticking)
    )
    search = Search(play, world("bolt", "ticks"), terms)
    search.go()
    return search


def three_ticks(scenario: Scenario) -> ScenarioResult:
    ticks = sum(arguments.get("times", 1) for name, arguments in scenario.steps if name == "tick")
    return played("too-many-ticks" if ticks >= 3 else "")


def test_what_is_found_is_made_small(tmp_path: Path) -> None:
    search = searched(tmp_path, three_ticks)
    assert search.failing is not None
    assert words(search.failing.scenario) == ["handshake", "tick", "settle", "heartbeat"]
    assert (search.steady, search.failing.known, search.failing.played.rule) == (True, False, "too-many-ticks")


@pytest.mark.long
def test_the_same_seed_gives_the_same_hunt(tmp_path: Path) -> None:
    def seen(seed: int, folder: str) -> list[Scenario]:
        lives_seen: list[Scenario] = []

        def play(scenario: Scenario) -> ScenarioResult:
            lives_seen.append(scenario)
            return played()

        searched(tmp_path / folder, play, seed=seed)
        return lives_seen

    first = seen(7, "a")
    assert first == seen(7, "b")
    assert first != seen(8, "c")


@pytest.mark.long
def test_what_was_found_before_is_tried_first(tmp_path: Path) -> None:
    searched(tmp_path, three_ticks, seed=2)
    tried: list[Scenario] = []

    def play(scenario: Scenario) -> ScenarioResult:
        tried.append(scenario)
        return three_ticks(scenario)

    again = searched(tmp_path, play, seed=99)
    assert again.failing is not None
    assert (again.failing.scenario, again.failing.known, again.scenarios) == (tried[0], True, 1)
    assert searched(tmp_path, lambda _: played()).failing is None


def test_a_long_life_is_made_small_block_by_block(tmp_path: Path) -> None:
    def play(scenario: Scenario) -> ScenarioResult:
        tuples = sum(arguments.get("times", 1) for name, arguments in scenario.steps if name == "tuple")
        return played("tired" if tuples >= 100 else "")

    search = searched(tmp_path, play)
    assert search.failing is not None
    blocks = [block for conversation in search.failing.scenario.conversations for block in conversation[:-1]]
    assert blocks
    assert all(any(name == "tuple" for name, _ in block) for block in blocks), "what has no part in it is left out"
    for number in range(len(blocks)):
        rest = (step for block in (*blocks[:number], *blocks[number + 1 :]) for step in block)
        assert sum(arguments.get("times", 1) for name, arguments in rest if name == "tuple") < 100


def test_only_what_was_found_first_is_hunted(tmp_path: Path) -> None:
    def play(scenario: Scenario) -> ScenarioResult:
        return played("large" if len(scenario.steps) > 8 else "small" if len(scenario.steps) > 2 else "")

    search = searched(tmp_path, play)
    assert search.failing is not None
    smallest = {"large": 9, "small": 3}[search.failing.played.rule]
    assert len(search.failing.scenario.steps) == smallest


@pytest.mark.long
def test_the_hunt_ends_by_number_and_by_time(tmp_path: Path) -> None:
    enough = searched(tmp_path / "a", lambda _: played(), conversations=40)
    assert 40 <= enough.conversations < 90
    assert not enough.out_of_time
    short = searched(tmp_path / "b", lambda _: played(), conversations=10**6, seconds=60)
    assert short.out_of_time
    assert 0 < short.scenarios < 60


def test_what_comes_and_goes_is_told(tmp_path: Path) -> None:
    count = iter(range(10**6))
    search = searched(tmp_path, lambda _: played("now-and-then" if next(count) == 9 else ""))
    assert search.failing is not None
    assert not search.steady


def test_what_can_not_be_judged_ends_the_hunt(tmp_path: Path) -> None:
    search = searched(tmp_path, lambda scenario: played(verdict="untestable" if len(scenario.steps) > 3 else "pass"))
    assert search.undecided is not None
    assert search.failing is None


def test_an_interrupt_keeps_what_was_caught(tmp_path: Path) -> None:
    count = iter(range(10**6))

    def play(scenario: Scenario) -> ScenarioResult:
        if next(count) == 40:
            raise KeyboardInterrupt
        return three_ticks(scenario)

    terms = SearchLimits(conversations=10**6, seconds=1e9, seed=1, folder=tmp_path, key="k", clock=lambda: 0.0)
    search = Search(play, world("bolt", "ticks"), terms)
    with pytest.raises(KeyboardInterrupt):
        search.go()
    assert search.failing is not None


def test_a_fault_of_the_player_is_no_find(tmp_path: Path) -> None:
    def play(_: Scenario) -> ScenarioResult:
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more processes"):
        searched(tmp_path, play)


def test_what_whoever_is_told_raises_is_no_find(tmp_path: Path) -> None:
    """Only once, as on a disk that fills up: what fails once and not again would be flaky to Hypothesis."""

    def tell(search: Search) -> None:
        if search.failing is not None and not search.tried:
            raise OSError("the disk is full")

    terms = SearchLimits(conversations=60, seconds=1e9, seed=1, folder=tmp_path, key="k", clock=lambda: 0.0)
    search = Search(three_ticks, world("bolt", "ticks"), terms, tell)
    with pytest.raises(OSError, match="the disk is full"):
        search.go()
    assert search.steady


def test_finds_are_their_owners_alone_and_those_of_hypothesis_are_read(tmp_path: Path) -> None:
    DirectoryBasedExampleDatabase(tmp_path / "examples").save(b"key", b"one")
    kept = FindsDatabase(tmp_path / "examples")
    kept.save(b"key", b"two")
    kept.save(b"other", b"three")
    assert sorted(kept.fetch(b"key")) == [b"one", b"two"]
    kept.delete(b"key", b"one")
    kept.delete(b"key", b"never there")
    assert list(kept.fetch(b"key")) == [b"two"]
    assert list(kept.fetch(b"nothing")) == []
    made = FindsDatabase(tmp_path / "made")
    made.save(b"key", b"value")
    (file,) = (path for path in (tmp_path / "made").rglob("*") if path.is_file())
    assert [oct(path.stat().st_mode & 0o777) for path in (file, *file.parents[:2])] == ["0o600", "0o700", "0o700"]
    assert (kept.failed, made.failed) == ("", "")


def test_finds_that_can_not_be_kept_are_told(tmp_path: Path) -> None:
    (tmp_path / "examples").write_text("")
    search = searched(tmp_path, three_ticks)
    assert search.failing is not None
    assert search.unkept == "File exists"


def test_what_is_played_when_time_ends_is_no_find(tmp_path: Path) -> None:
    count = iter(range(10**6))

    def play(_: Scenario) -> ScenarioResult:
        if next(count) == 7:
            raise OutOfTimeError
        return played()

    search = searched(tmp_path, play)
    assert (search.out_of_time, search.scenarios, search.failing) == (True, 7, None)


@pytest.mark.long
def test_a_find_is_made_small_in_what_is_left_of_the_time(tmp_path: Path) -> None:
    times: list[float] = []

    def play(scenario: Scenario) -> ScenarioResult:
        times.append(len(times))
        return played("wrong" if len(times) > 50 and len(scenario.steps) > 2 else "")

    terms = SearchLimits(
        conversations=10**6, seconds=100.0, seed=1, folder=tmp_path, key="k", clock=lambda: float(len(times))
    )
    search = Search(play, world("bolt", "ticks"), terms)
    search.go()
    assert search.failing is not None
    assert not search.out_of_time
    assert 51 < len(times) <= 105
