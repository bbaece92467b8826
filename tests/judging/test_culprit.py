"""The message that went wrong in a recording: named by the component, or the first that it did not answer."""

from __future__ import annotations

import pytest

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.judging.culprit import went_wrong_at
from tests import notation

TUPLE = '> {"id":"%d","comp":"src","stream":"default","task":2,"tuple":["a",1]}\n'
BURST = "".join(TUPLE % n for n in range(1, 5))
ACK = '< {"command":"ack","id":"%d"}\n'
BEAT = '> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}\n'
END = '! {"event": "exited", "code": 1}\n'
TALKS = {
    "it dies of the third of four": (BURST + ACK % 1 + ACK % 2 + END, "3"),
    "it acks the second of four twice": (BURST + ACK % 1 + ACK % 2 + ACK % 2, "2"),
    "it dies of a heartbeat": (TUPLE % 1 + ACK % 1 + BEAT + END, "9"),
    "it dies when all is answered": (TUPLE % 1 + ACK % 1 + END, "1"),
}


@pytest.mark.parametrize(("talk", "id_"), TALKS.values(), ids=TALKS)
def test_the_message_is(talk: str, id_: str) -> None:
    events = notation.parse(talk)
    findings = judge_of(example_profile("bolt"), load_rulebook()).feed_all(events)
    event = went_wrong_at(events, findings)
    assert event is not None
    assert getattr(event.body, "id", "") == id_


def test_nothing_is_named_where_nothing_went_wrong() -> None:
    events = notation.parse(BURST + "".join(ACK % n for n in range(1, 5)))
    assert went_wrong_at(events, judge_of(example_profile("bolt"), load_rulebook()).feed_all(events)) is None
