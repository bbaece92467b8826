"""The condition of a case in the first sentence, where nothing else has the trouble."""

from __future__ import annotations

import msgspec
import pytest

from multilang_cli.causes.model import Cause
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.conditions import with_conditions
from tests.results import passed

CASES = load_cases()
DEATH = Cause(id="dies-of-a-tuple", certainty="certain", headline="it dies of a tuple: ValueError")
TOLD = {
    "one case": (["bolt.value.large"], "; only with a word of many MB"),
    "one condition within another": (
        ["bolt.emit.unicode", "bolt.emit.unicode-c-locale"],
        "; only with text that has escapes or is not all ASCII",
    ),
    "two conditions": (
        ["bolt.value.null", "bolt.value.nested"],
        "; only with nested values, or with null as a value",
    ),
    "three conditions": (["bolt.value.null", "bolt.value.nested", "bolt.tick"], ""),
    "a case without a condition": (["bolt.value.large", "bolt.settle.once"], ""),
}


@pytest.mark.parametrize(("ids", "more"), TOLD.values(), ids=TOLD)
def test_it_is_told(ids: list[str], more: str) -> None:
    failed = [msgspec.structs.replace(each, verdict="fail", causes=(DEATH,)) for each in passed(*ids)]
    for subject in with_conditions([*failed, *passed("bolt.emit.anchors")], CASES)[: len(ids)]:
        assert subject.causes[0].headline == DEATH.headline + more


def test_nothing_is_told_where_nothing_passed() -> None:
    failed = [msgspec.structs.replace(each, verdict="fail", causes=(DEATH,)) for each in passed("bolt.value.large")]
    assert with_conditions(failed, CASES) == failed


@pytest.mark.parametrize("id_", ["line-too-long", "map-shared-by-threads", "buffer-too-small"])
def test_a_cause_that_is_about_the_condition_or_of_chance_is_told_alone(id_: str) -> None:
    cause = msgspec.structs.replace(DEATH, id=id_)
    failed = [msgspec.structs.replace(each, verdict="fail", causes=(cause,)) for each in passed("handshake.large-conf")]
    assert with_conditions([*failed, *passed("bolt.emit.anchors")], CASES)[0] == failed[0]
