"""A long scenario made small: conversations, then blocks, then what is said in these, as long as it still shows.

hypothesis makes small what is short, to the last character; on a long scenario it would need thousands of plays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from multilang_cli.replay.shrink.ddmin import Shrinking

if TYPE_CHECKING:
    from multilang_cli.fuzz.grammar import Scenario, ScenarioStep, ScenarioSteps

T = TypeVar("T")

Shows = Callable[["Scenario"], bool]


def shrunk(scenario: Scenario, shows: Shows) -> Scenario:
    """The smallest scenario that was found on the way from `scenario` and still shows; all of it is as Storm speaks."""
    scenario = _with_conversations(scenario, shows)
    scenario = _first(shows, scenario, scenario._replace(closing=()))
    plain = tuple((name, {} if name == "handshake" else arguments) for name, arguments in scenario.opening)
    scenario = _first(shows, scenario, scenario._replace(opening=plain))
    for place in range(len(scenario.conversations)):
        scenario = _with_blocks(scenario, place, shows)
    return scenario


def _first(shows: Shows, scenario: Scenario, *smaller: Scenario) -> Scenario:
    """The first of those that are smaller and show; `scenario` if none does."""
    return next((each for each in smaller if each != scenario and shows(each)), scenario)


def _with_conversations(scenario: Scenario, shows: Shows) -> Scenario:
    last = scenario._replace(conversations=scenario.conversations[-1:])
    if len(scenario.conversations) > 1 and shows(last):
        return last
    return scenario._replace(
        conversations=fewer(scenario.conversations, lambda kept: shows(scenario._replace(conversations=kept)))
    )


def _with_blocks(scenario: Scenario, place: int, shows: Shows) -> Scenario:
    """Fewer blocks of one conversation, and less in each; how it is settled at its end stays."""

    def having(blocks: tuple[ScenarioSteps, ...]) -> Scenario:
        """The scenario with these blocks in the conversation, its end kept."""
        conversations = list(scenario.conversations)
        conversations[place] = (*blocks, scenario.conversations[place][-1])
        return scenario._replace(conversations=tuple(conversations))

    blocks = fewer(scenario.conversations[place][:-1], lambda kept: shows(having(kept)))
    for number, block in enumerate(blocks):
        for simple in _simpler(block):
            changed = (*blocks[:number], simple, *blocks[number + 1 :])
            if shows(having(changed)):
                blocks = changed
                break
    return having(blocks)


def _simpler(block: ScenarioSteps) -> list[ScenarioSteps]:
    """A block with all numbers one, or halved again and again; the simplest first."""
    times = max((arguments.get("times", 1) for _, arguments in block), default=1)
    halved = [tuple(_at_most(step, times >> shift) for step in block) for shift in range(times.bit_length() - 1, 0, -1)]
    return [each for each in halved if each != block]


def _at_most(step: ScenarioStep, most: int) -> ScenarioStep:
    name, arguments = step
    fewer_times = {key: min(value, most) if key == "times" else value for key, value in arguments.items()}
    return name, {key: value[:most] if key == "these" else value for key, value in fewer_times.items()}


def fewer(items: tuple[T, ...], shows: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Those of `items` of which none can be left out."""
    return tuple(items[n] for n in Shrinking(len(items), lambda part: shows(tuple(items[n] for n in part))).run())
