"""Planted bugs: each is found by a checker, and none is without its bug."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.topology.model import EXPECTED, Grouping, Subscription, Topology
from tests.topologies.runs import ACKERS, TIMEOUT, component, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

KILL = "kill:sink@9"
PENDING = "topology.max.spout.pending"


def planted(spout: str, bolt: str) -> Topology:
    parts = [
        component("numbers", "spout", "planted_spout.py", default=("number",)),
        component("bolt", "bolt", "planted_bolt.py", default=("number",)),
        component("sink", "bolt", "slow_sink.py"),
    ]
    with_bugs = {
        each.id: msgspec.structs.replace(each, command=(*each.command, bug))
        for each, bug in zip(parts, (spout, bolt, ""), strict=True)
    }
    # One at a time: the 10th delivery, behind five to the bolt and four to the sink, follows on the bolt's fifth ack.
    pending = {PENDING: 1} if bolt == "acks_first" else {}
    # Each in a worker of its own: the others live on.
    return Topology(
        name="planted",
        components=with_bugs,
        subscriptions=(
            Subscription(source="numbers", target="bolt", grouping=Grouping("GLOBAL")),
            Subscription(source="bolt", target="sink", grouping=Grouping("GLOBAL")),
        ),
        conf={
            ACKERS: 1,
            TIMEOUT: 1,
            "topology.workers": 4,
            EXPECTED: {"sink": [[each] for each in range(1, 13)]},
            **pending,
        },
    )


@pytest.mark.parametrize(
    ("spout", "bolt", "faults", "found"),
    [
        ("no_bug", "no_bug", [KILL], {}),
        ("no_bug", "fails_once", [], {}),
        ("no_bug", "anchors_twice", [], {}),
        ("no_bug", "anchors_nothing", [KILL], {"at-least-once": "fail"}),
        ("no_bug", "anchors_another", [KILL], {"at-least-once": "fail"}),
        ("no_bug", "acks_first", ["kill:bolt@10"], {"at-least-once": "fail"}),
        ("no_bug", "acks_first", [], {"acked-last": "warn", "anchored": "warn"}),
        ("no_bug", "acks_late", [], {"settled-in-time": "fail"}),
        ("no_bug", "acks_never", [], {"settled-in-time": "fail"}),
        ("no_bug", "acks_instead_of_failing", [], {"at-least-once": "fail"}),
        ("swallows_fails", "fails_once", [], {"at-least-once": "fail"}),
        ("replays_twice", "fails_once", [], {"replayed-once": "warn"}),
    ],
)
def test_each_bug_is_found(tmp_path: Path, spout: str, bolt: str, faults: list[str], found: dict[str, str]) -> None:
    endless: dict[str, Any] = {"seconds": 5.0, "drain": 0.5} if bolt == "acks_never" else {}
    ran = run(planted(spout, bolt), tmp_path, faults=faults, **endless)
    assert found.items() <= ran.held().items()
    assert found or not ran.held()
    assert ran.result.exit_code == int("fail" in found.values())


@pytest.mark.parametrize(
    ("spout", "bolt", "faults", "said"),
    [
        ("no_bug", "no_bug", [], r"12 sent, 12 completed, 0 lost, 0 sent again"),
        (
            "no_bug",
            "fails_once",
            [],
            r"12 sent, 12 completed, 0 lost, 1 sent again \(1 failed; the first: \[3\] of numb",
        ),
        ("no_bug", "no_bug", [KILL], r"12 sent, 12 completed, 0 lost, (\d+) sent again \(\1 timed out; the first: \["),
        ("swallows_fails", "fails_once", [], r"12 sent, 11 completed, 1 lost, 0 sent again"),
        ("no_bug", "anchors_nothing", [KILL], r"12 sent, 12 completed, 0 lost, \d+ of their tuples lost in no tree, 0"),
    ],
)
def test_the_end_is_one_line(tmp_path: Path, spout: str, bolt: str, faults: list[str], said: str) -> None:
    ran = run(planted(spout, bolt), tmp_path, faults=faults)
    assert re.match(said, ran.run.account.sentence), ran.run.account.sentence
