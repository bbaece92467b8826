"""What comes together is judged as it is one by one: the conversations of every rule, live and as a recording has them.

The judge passes over what is plainly right in a batch or a span. A rule whose breach it passes over is never asked.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.storm.reading import read_frames, read_lines
from multilang_cli.protocol.wire.batches import Batch, RecordedEvents, Usual
from multilang_cli.protocol.wire.encoding import decode_told
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.messages import Handshake, Malformed, Pid
from multilang_cli.transcript.write import is_plain
from tests import notation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from multilang_cli.protocol.words.events import Event

_TUPLE = '> {"comp":"a","tuple":["é at 100 % %s %d of us"],"task":2,"stream":"default","id":"1"}'
_BEAT = '> {"comp":null,"tuple":[],"task":-1,"stream":"__heartbeat","id":"9"}'
_EMIT = '< {"command":"emit","anchors":["1"],"tuple":["%s"]}'
TALKS = {
    "task ids that nobody waits for": ["> [4]", _TUPLE, _EMIT % "", "> [4]", "> [4]", _EMIT % ""],
    "a format that C has printed": [_TUPLE, _EMIT % "é at 100 %s -15 of us"],
    "a format that Go has printed": [_TUPLE, _EMIT % "at 100 %!d(MISSING) of us"],
    "a clock that goes back": [_BEAT, _TUPLE, "@ 99", _EMIT % "", "@ 1", _EMIT % ""],
    "text that was escaped": [_TUPLE, _EMIT % r"\u00c3\u00a9", _EMIT % r"\u00e9 of 100 % \n", _EMIT % "?"],
}
RULES = {name: rule for name, rule in load_rulebook().rules.items() if rule.kind != "spout"}


def runs(events: list[Event], key: Callable[[Event], object]) -> Iterator[list[Event]]:
    """Plain frames that follow on each other and have one `key`; all else one by one."""
    for (plain, _), group in groupby(events, lambda event: (is_together(event), key(event))):
        found = list(group)
        yield from [found] if plain else [[event] for event in found]


def is_together(event: Event) -> bool:
    return is_plain(event) and not isinstance(event.body, Malformed | Handshake | Pid)


def batches(events: list[Event]) -> Iterator[Sequence[Event]]:
    """The same as a live component's pipes bring it."""
    for run in runs(events, lambda event: event.channel):
        first = run[0]
        if not is_together(first):
            yield run
            continue
        assert first.channel in {"in", "out"}
        data = b"".join(event.raw for event in run)
        bodies: Sequence[Any] = [event.body for event in run]
        if first.channel == "out":
            bodies = read_frames(Framer(lengthy=0).feed(data))
        yield Batch(first.seq, first.t, first.channel, bodies, data=data, offset=first.offset)


def spans(events: list[Event]) -> Iterator[Sequence[Event]]:
    """The same as a recording brings it: both pipes in one."""
    for run in runs(events, lambda _: None):
        if not is_together(run[0]):
            yield run
            continue
        sent = [event.channel == "in" for event in run]
        raws = [event.raw for event in run]
        told, said = (
            b"\n".join(raw[:-5] for raw, storm in zip(raws, sent, strict=True) if storm == by_storm)
            for by_storm in (True, False)
        )
        yield RecordedEvents(
            run[0].seq,
            [event.body for event in run],
            [event.t for event in run],
            sent=sent,
            raws=[msgspec.Raw(raw.removesuffix(b"\nend\n")) for raw in raws],
            offsets={way: next((e.offset for e in run if e.channel == way), 0) for way in ("in", "out")},
            is_simple=decode_told(told)[1],
            is_usual=isinstance(read_lines(said), Usual),
        )


@pytest.mark.parametrize("shape", [batches, spans])
@pytest.mark.parametrize("name", RULES)
def test_what_breaks_a_rule_breaks_it_in_any_company(
    name: str, shape: Callable[[list[Event]], Iterator[Sequence[Event]]]
) -> None:
    rule = RULES[name]
    profile = example_profile("bolt", rule.profile)
    for talk in (rule.bad, rule.good):
        together, alone = judge_of(profile, load_rulebook()), judge_of(profile, load_rulebook())
        for company in shape(notation.parse(talk)):
            assert together.feed_all(company) == [found for event in list(company) for found in alone.feed(event)]
        assert together.snapshot() == alone.snapshot()


@pytest.mark.parametrize("shape", [batches, spans])
@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)
def test_what_is_said_is_judged_alike_in_any_company(
    talk: list[str], shape: Callable[[list[Event]], Iterator[Sequence[Event]]]
) -> None:
    profile = example_profile("bolt", {"streams": None})
    together, alone = judge_of(profile, load_rulebook()), judge_of(profile, load_rulebook())
    for company in shape(notation.parse("\n".join(talk))):
        assert together.feed_all(company) == [found for event in list(company) for found in alone.feed(event)]
    assert together.snapshot() == alone.snapshot()
