"""Bolts that wait for the task ids of each emit: they are answered first, and judged and written down as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.protocol.words.messages import Ack, Emit, TaskIds, TupleMsg
from multilang_cli.topology.engine.engine import Engine
from multilang_cli.topology.history import Died, Emitted, Lost
from multilang_cli.transcript.read import read
from tests.topologies.runs import SENTENCES, component, run, split_count

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.topology.engine.sides import BoltTask
    from multilang_cli.topology.model import Topology
    from tests.topologies.runs import Ran

pytestmark = pytest.mark.component

TIMES = 40


def test_all_that_a_bolt_says_and_is_answered_is_judged_and_written_in_its_order(tmp_path: Path) -> None:
    ran = run(split_count(sentences=SENTENCES * TIMES, waits=True), tmp_path)
    assert ran.result.verdict == "conformant"
    assert [how for _, how in ran.ends()] == ["acked"] * len(SENTENCES) * TIMES
    assert not ran.of(Lost)
    ran.check_xor()
    path = tmp_path / "transcripts" / "split-4.ndjson"
    events = list(read(path))
    assert [event.seq for event in events] == list(range(len(events)))
    assert sorted(event.t for event in events) == [event.t for event in events]
    words = sum(len(sentence.split()) for sentence in SENTENCES) * TIMES
    messages = [event.body for event in events]
    kinds = [each.__class__ for each in messages if not (isinstance(each, TupleMsg) and each.is_heartbeat)]
    assert [kinds.count(kind) for kind in (TupleMsg, Emit, TaskIds, Ack)] == [120, words, words, 120]
    said = [kind for kind in kinds if kind in {Emit, TaskIds, Ack}]
    assert all(said[at + 1] is TaskIds for at, kind in enumerate(said) if kind is Emit)


EMIT = {"command": "emit", "anchors": ["$ID"], "tuple": ["word"]}
UNASKED = {**EMIT, "need_task_ids": False}
FREE = {"command": "emit", "tuple": ["word"]}
ACK = {"command": "ack", "id": "$ID"}
STRANGE = {"command": "ack", "id": "17"}


def asking(says: list[Any], times: int) -> Topology:
    """The topology with a bolt that says this of each tuple but the first two."""
    topology = split_count(sentences=SENTENCES * times, says=says)
    split = component("split", "bolt", "asking_split.py", default=("word",))
    return msgspec.structs.replace(topology, components={**topology.components, "split": split})


@pytest.mark.parametrize(("says", "emits"), [([[UNASKED, ACK]], 1), ([[EMIT, EMIT], 2, [ACK]], 2)])
def test_a_bolt_may_change_its_way(
    tmp_path: Path, says: list[Any], emits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is to be told is written at once: nobody else may say anything that it would be written with."""
    left: list[int] = []
    hear_asked = Engine._hear_asked

    def heard(engine: Engine, side: BoltTask) -> bool:
        done = hear_asked(engine, side)
        left.append(side.session.pump.stdin.unwritten if done else 0)
        return done

    monkeypatch.setattr(Engine, "_hear_asked", heard)
    ran = run(asking(says, TIMES), tmp_path)
    assert ran.result.verdict == "conformant"
    assert set(left) == {0}
    usual = 2
    assert len(of_split(ran)) == usual + emits * (len(SENTENCES) * TIMES - usual)
    ran.check_xor()


def test_a_number_is_what_storm_makes_of_it_whoever_asks(tmp_path: Path) -> None:
    long = '{"command":"emit","tuple":[0.12345678901234567890],"need_task_ids":%s}'
    ran = run(asking([long % "true", 1, long % "false", [EMIT], 1, [ACK]], 1), tmp_path)
    values = {each.values for each in of_split(ran)}
    assert values == {'["word"]', "[0.12345678901234567890]"}


@pytest.mark.parametrize(
    ("says", "rule", "emits"),
    [
        ([[ACK], [EMIT], 1], "anchor-settled", 2),
        ([[ACK, EMIT], 1], "anchor-settled", 2),
        ([[{**EMIT, "tuple": []}], 1], "arity", 2),
        ([[{**EMIT, "anchors": ["17"]}], 1], "anchor-unknown", 2),
        ([[EMIT], 1, [ACK], [FREE], 1, [ACK]], "ack-twice", 4),
        ([[ACK, ACK]], "ack-twice", 2),
        ([[ACK, ACK, FREE], 1], "ack-twice", 2),
        ([[STRANGE]], "ack-unknown", 2),
        ([[STRANGE, EMIT], 1], "ack-unknown", 2),
    ],
)
def test_what_storm_does_not_survive_is_judged_before_anything_follows(
    tmp_path: Path, says: list[Any], rule: str, emits: int
) -> None:
    ran = run(asking(says, 2), tmp_path, restarts=0)
    (found,) = next(each.findings for each in ran.result.subjects if each.id == "split-4")
    (death,) = ran.of(Died)
    assert found.rule == rule
    assert death.why == f"split, task 4: {found.message}"
    assert len(of_split(ran)) == emits


def of_split(ran: Ran) -> list[Emitted]:
    """All emits of that bolt."""
    return [each for each in ran.of(Emitted) if each.task == 4]
