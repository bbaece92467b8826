"""Bolts that wait for the task ids of each emit: they are answered first, and judged and written down as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.protocol.words.messages import Ack, Emit, TaskIds, TupleMsg
from multilang_cli.topology.engine.sides import BoltTask
from multilang_cli.topology.history import Died, Emitted, Lost
from multilang_cli.transcript.read import read
from tests.topologies.runs import SENTENCES, component, run, split_count

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize(("way", "emits"), [("unasked", 1), ("two-at-once", 2)])
def test_a_bolt_may_change_its_way(tmp_path: Path, way: str, emits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is to be told is written at once: nobody else may say anything that it would be written with."""
    left: list[int] = []
    hear_asked = BoltTask.hear_asked

    def heard(side: BoltTask) -> bool:
        done = hear_asked(side)
        left.append(side.session.pump.stdin.unwritten if done else 0)
        return done

    monkeypatch.setattr(BoltTask, "hear_asked", heard)
    topology = split_count(sentences=SENTENCES * TIMES, wrong=way)
    split = component("split", "bolt", "asking_split.py", default=("word",))
    topology = msgspec.structs.replace(topology, components={**topology.components, "split": split})
    ran = run(topology, tmp_path)
    assert ran.result.verdict == "conformant"
    assert set(left) == {0}
    alone = 2 if emits > 1 else 0
    assert len([each for each in ran.of(Emitted) if each.task == 4]) == emits * len(SENTENCES) * TIMES - alone
    ran.check_xor()


@pytest.mark.parametrize(
    ("wrong", "rule", "emits"),
    [("ack-first", "anchor-settled", 2), ("no-values", "arity", 2), ("ack-again", "ack-twice", 4)],
)
def test_what_storm_does_not_survive_is_judged_before_anything_follows(
    tmp_path: Path, wrong: str, rule: str, emits: int
) -> None:
    topology = split_count(sentences=SENTENCES * 2, wrong=wrong)
    split = component("split", "bolt", "asking_split.py", default=("word",))
    topology = msgspec.structs.replace(topology, components={**topology.components, "split": split})
    ran = run(topology, tmp_path, restarts=0)
    (found,) = next(each.findings for each in ran.result.subjects if each.id == "split-4")
    (death,) = ran.of(Died)
    assert found.rule == rule
    assert death.why == f"split, task 4: {found.message}"
    assert len([each for each in ran.of(Emitted) if each.task == 4]) == emits
