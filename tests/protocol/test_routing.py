"""Which task ids answer an emit: many emits at once are answered as each alone."""

from __future__ import annotations

import pytest

from multilang_cli.driver.shell.routing import Router
from multilang_cli.protocol.words.messages import Emit
from multilang_cli.protocol.words.verdicts import Profile, StreamSpec

TASKS = {1: "__acker", 2: "source", 3: "component", 4: "sink", 5: "sink", 6: "sink", 7: "other"}
SINK: dict[str, tuple[int, ...]] = {"sink": (4, 5, 6)}
SHUFFLED = StreamSpec(("word",), consumers=SINK, groupings={"sink": {"type": "SHUFFLE"}})
BY_WORD = StreamSpec(("word",), consumers=SINK, groupings={"sink": {"type": "FIELDS", "fields": ["word"]}})
TO_TWO = StreamSpec(("word",), consumers={**SINK, "other": (7,)})
TO_ALL = StreamSpec(("word",), consumers=SINK, groupings={"sink": {"type": "ALL"}})
STREAMS = {
    "shuffled": SHUFFLED,
    "by word": BY_WORD,
    "to two": TO_TWO,
    "to all": TO_ALL,
    "to none": StreamSpec(("word",)),
}


def emits(*streams: str) -> list[Emit]:
    return [Emit([f"word {number}"], stream=stream) for number, stream in enumerate(streams * 4)]


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    "streams", [(), *[(name,) for name in STREAMS], ("shuffled", "by word"), ("nope",), (*STREAMS,)]
)
def test_many_emits_are_answered_as_each_alone(streams: tuple[str, ...], declared: bool) -> None:
    profile = Profile(kind="bolt", streams=STREAMS if declared else None, tasks=TASKS, task=3)
    together, alone = Router(profile), Router(profile)
    for said in (emits(*streams), emits("shuffled"), emits(*streams)):
        assert together.answers(said) == [alone.answer(emit) for emit in said]


def test_a_shuffle_takes_turns_whether_emits_come_together_or_not() -> None:
    router = Router(Profile(kind="bolt", streams=STREAMS, tasks=TASKS, task=3))
    said = emits("shuffled")
    tasks = [reply.tasks for reply in [*router.answers(said), router.answer(said[0]), *router.answers(said)]]
    assert [*map(sorted, zip(tasks, tasks[1:], tasks[2:], strict=False))] == [[[4], [5], [6]]] * 7
