"""What is generated is what Storm may say, and nothing that nobody promised; what is found is made small and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from multilang_cli.catalogue import schemas
from multilang_cli.driver.pump import OutOfTimeError
from multilang_cli.fuzz.fuzzing import NAME
from multilang_cli.fuzz.grammar import GrammarOptions, Scenario, lives
from multilang_cli.fuzz.search import ScenarioResult, Search, SearchLimits
from multilang_cli.protocol.wire.context import Sample
from multilang_cli.protocol.words.verdicts import Clause
from multilang_cli.reports.model import SubjectResult
from multilang_cli.subject.options import ACCEPTS, DEFAULT_SAMPLE
from multilang_cli.suite.cases.case import Case, read_case
from multilang_cli.suite.cases.case_writing import document, write_case

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


def words(life: Scenario) -> list[str]:
    """What is done, a word each: a call by its command, a heartbeat that nobody waits for by another."""
    return [word_of(step) for step in life.steps]


def word_of(step: ScenarioStep) -> str:
    name, arguments = step
    if name == "call":
        return str(arguments["command"])
    return "beat" if name == "heartbeat" and not arguments.get("wait", True) else name


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("kind", ["bolt", "spout"])
@given(data=st.data())
@FEW
def test_a_life_has_a_handshake_first_and_its_end_last(data: st.DataObject, kind: str, *, long: bool) -> None:
    said = words(data.draw(lives(world(kind), long=long)))
    assert said[0] == "handshake"
    assert "handshake" not in said[1:]
    assert not {"close_stdin", "terminate"} & set(said[:-1])


@given(life=lives(world("bolt", "ticks"), long=True))
@FEW
def test_nothing_is_waited_for_while_task_ids_are_kept_back(life: Scenario) -> None:
    held = False
    for word in words(life):
        assert not (held and word in WAITS)
        held = word == "hold_task_ids" or (held and word != "release_task_ids")
    assert not held


@given(life=lives(world("spout"), long=True))
@FEW
def test_a_spout_is_asked_only_while_it_is_active(life: Scenario) -> None:
    active = False
    for word in words(life):
        assert active or word != "next"
        if word in {"activate", "deactivate", "unread_work"}:
            assert active == (word == "deactivate")
            active = not active


@given(life=lives(world("bolt"), long=True))
@FEW
def test_without_a_promise_there_are_samples_only_and_no_ticks(life: Scenario) -> None:
    given_tuples = [
        values for name, arguments in life.steps for values in arguments.get("these", []) if name == "tuple"
    ]
    assert all(values in SAMPLES for values in given_tuples)
    assert "tick" not in words(life)


@given(life=lives(world("bolt", samples=()), long=True))
@FEW
def test_without_samples_the_standard_tuple_is_fed_in_turn(life: Scenario) -> None:
    assert not any("these" in arguments for _, arguments in life.steps)


@given(life=lives(world("bolt", "text", "integers", "floats", "large"), long=True))
@FEW
def test_types_and_arity_are_kept(life: Scenario) -> None:
    for _, arguments in life.steps:
        for values in arguments.get("these", []):
            assert [type(value) for value in values] == [str, int, float]


@given(life=lives(world("bolt", heartbeats=False), long=True))
@FEW
def test_a_storm_without_heartbeats_sends_none(life: Scenario) -> None:
    assert not {"heartbeat", "beat"} & set(words(life))


@pytest.mark.parametrize("kind", ["bolt", "spout"])
@given(data=st.data())
@settings(FEW, phases=[Phase.generate])
def test_a_life_is_a_case_that_can_be_written_and_read(
    data: st.DataObject, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    life = data.draw(lives(world(kind, *ACCEPTS), long=False))
    case = Case(
        id="fuzz.x",
        title="t",
        kind="bolt" if kind == "bolt" else "spout",
        level="must",
        clause=Clause(text="c", source="s"),
        expected="e",
        steps=life.steps,
        loose=True,
    )
    assert schemas.explain(document(case), "case") == []
    path = tmp_path_factory.mktemp("case") / "fuzz.x.yaml"
    write_case(case, path)
    assert read_case(path) == case


# --- the hunt ---


def played(rule: str = "", verdict: str = "pass") -> ScenarioResult:
    subject = SubjectResult(id=NAME, title="", verdict="fail" if rule else verdict)  # type: ignore[arg-type]
    return ScenarioResult(subject, rule, 1000, 1)


def hunted(
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
    hunt = Search(play, world("bolt", "ticks"), terms)
    hunt.go()
    return hunt


def three_ticks(life: Scenario) -> ScenarioResult:
    ticks = sum(arguments.get("times", 1) for name, arguments in life.steps if name == "tick")
    return played("too-many-ticks" if ticks >= 3 else "")


def test_what_is_found_is_made_small(tmp_path: Path) -> None:
    hunt = hunted(tmp_path, three_ticks)
    assert hunt.caught is not None
    assert words(hunt.caught.life) == ["handshake", "tick", "settle", "heartbeat"]
    assert (hunt.steady, hunt.caught.known, hunt.caught.played.rule) == (True, False, "too-many-ticks")


def test_the_same_seed_gives_the_same_hunt(tmp_path: Path) -> None:
    def seen(seed: int, folder: str) -> list[Scenario]:
        lives_seen: list[Scenario] = []

        def play(life: Scenario) -> ScenarioResult:
            lives_seen.append(life)
            return played()

        hunted(tmp_path / folder, play, seed=seed)
        return lives_seen

    first = seen(7, "a")
    assert first == seen(7, "b")
    assert first != seen(8, "c")


def test_what_was_found_before_is_tried_first(tmp_path: Path) -> None:
    hunted(tmp_path, three_ticks, seed=2)
    tried: list[Scenario] = []

    def play(life: Scenario) -> ScenarioResult:
        tried.append(life)
        return three_ticks(life)

    again = hunted(tmp_path, play, seed=99)
    assert again.caught is not None
    assert (again.caught.life, again.caught.known, again.lives) == (tried[0], True, 1)
    assert hunted(tmp_path, lambda _: played()).caught is None


def test_a_long_life_is_made_small_block_by_block(tmp_path: Path) -> None:
    def play(life: Scenario) -> ScenarioResult:
        tuples = sum(arguments.get("times", 1) for name, arguments in life.steps if name == "tuple")
        return played("tired" if tuples >= 100 else "")

    hunt = hunted(tmp_path, play)
    assert hunt.caught is not None
    blocks = [block for conversation in hunt.caught.life.conversations for block in conversation[:-1]]
    assert blocks
    assert all(any(name == "tuple" for name, _ in block) for block in blocks), "what has no part in it is left out"
    for number in range(len(blocks)):
        rest = (step for block in (*blocks[:number], *blocks[number + 1 :]) for step in block)
        assert sum(arguments.get("times", 1) for name, arguments in rest if name == "tuple") < 100


def test_only_what_was_found_first_is_hunted(tmp_path: Path) -> None:
    def play(life: Scenario) -> ScenarioResult:
        return played("large" if len(life.steps) > 8 else "small" if len(life.steps) > 2 else "")

    hunt = hunted(tmp_path, play)
    assert hunt.caught is not None
    smallest = {"large": 9, "small": 3}[hunt.caught.played.rule]
    assert len(hunt.caught.life.steps) == smallest


def test_the_hunt_ends_by_number_and_by_time(tmp_path: Path) -> None:
    enough = hunted(tmp_path / "a", lambda _: played(), conversations=40)
    assert 40 <= enough.conversations < 90
    assert not enough.out_of_time
    short = hunted(tmp_path / "b", lambda _: played(), conversations=10**6, seconds=60)
    assert short.out_of_time
    assert 0 < short.lives < 60


def test_what_comes_and_goes_is_told(tmp_path: Path) -> None:
    count = iter(range(10**6))
    hunt = hunted(tmp_path, lambda _: played("now-and-then" if next(count) == 9 else ""))
    assert hunt.caught is not None
    assert not hunt.steady


def test_what_can_not_be_judged_ends_the_hunt(tmp_path: Path) -> None:
    hunt = hunted(tmp_path, lambda life: played(verdict="untestable" if len(life.steps) > 3 else "pass"))
    assert hunt.undecided is not None
    assert hunt.caught is None


def test_an_interrupt_keeps_what_was_caught(tmp_path: Path) -> None:
    count = iter(range(10**6))

    def play(life: Scenario) -> ScenarioResult:
        if next(count) == 40:
            raise KeyboardInterrupt
        return three_ticks(life)

    terms = SearchLimits(conversations=10**6, seconds=1e9, seed=1, folder=tmp_path, key="k", clock=lambda: 0.0)
    hunt = Search(play, world("bolt", "ticks"), terms)
    with pytest.raises(KeyboardInterrupt):
        hunt.go()
    assert hunt.caught is not None


def test_a_fault_of_the_player_is_no_find(tmp_path: Path) -> None:
    def play(_: Scenario) -> ScenarioResult:
        raise OSError("no more processes")

    with pytest.raises(OSError, match="no more processes"):
        hunted(tmp_path, play)


def test_what_is_played_when_time_ends_is_no_find(tmp_path: Path) -> None:
    count = iter(range(10**6))

    def play(_: Scenario) -> ScenarioResult:
        if next(count) == 7:
            raise OutOfTimeError
        return played()

    hunt = hunted(tmp_path, play)
    assert (hunt.out_of_time, hunt.lives, hunt.caught) == (True, 7, None)


def test_a_find_is_made_small_in_what_is_left_of_the_time(tmp_path: Path) -> None:
    times: list[float] = []

    def play(life: Scenario) -> ScenarioResult:
        times.append(len(times))
        return played("wrong" if len(times) > 50 and len(life.steps) > 2 else "")

    terms = SearchLimits(
        conversations=10**6, seconds=100.0, seed=1, folder=tmp_path, key="k", clock=lambda: float(len(times))
    )
    hunt = Search(play, world("bolt", "ticks"), terms)
    hunt.go()
    assert hunt.caught is not None
    assert not hunt.out_of_time
    assert 51 < len(times) <= 105
