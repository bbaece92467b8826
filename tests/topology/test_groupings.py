"""Groupings and task ids against what real Storm chose (data/groupings.json), and by themselves."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.acking.ids import acker_index
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.storm.java_hash import java_hash, java_values, values_hash
from multilang_cli.protocol.storm.reading import read
from multilang_cli.protocol.words.messages import Emit
from multilang_cli.topology.groupings import LOAD_AWARE_OFF, ChooserContext, GroupingError, Outgoing, chooser
from multilang_cli.topology.model import ComponentSpec, Grouping, GroupingType, Topology
from multilang_cli.topology.tasks import Executor, acker_count, lay_out, task_count
from multilang_cli.verify.oracle_program import answers
from tests.groupings import choices, dice, random_texts

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "groupings.json").read_text())
TASKS = (4, 5, 6, 7)


def where(storm: str = "2.8.3", **more: Any) -> ChooserContext:
    given_ = {"fields": ("key",), "targets": TASKS, "random": dice(), **more}
    return ChooserContext(version=load_rulebook().version(storm), **given_)


def sent(kind: GroupingType, times: int, storm: str = "2.8.3", **more: Any) -> list[int]:
    grouping = Grouping(kind, ("key",) if kind in ("FIELDS", "PARTIAL_KEY") else ())
    made = chooser(grouping, where(storm, **more))
    assert made is not None
    return [task for number in range(times) for task in made([number])]


@pytest.mark.parametrize("storm", RECORDED["answers"])
def test_keys_go_where_real_storm_sent_them(storm: str) -> None:
    for text, ours, theirs in zip(
        RECORDED["texts"], choices(storm, RECORDED["texts"]), RECORDED["answers"][storm], strict=True
    ):
        assert ours["fields"] == theirs["fields"], text
        # Storm 0.9 has no partial key grouping.
        assert not theirs["partial"] or ours["partial"] == theirs["partial"], text


@pytest.mark.sample(1)
@pytest.mark.storm
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("storm", "beyond_long"), [("2.8.3", True), ("2.5.0", False), ("1.2.4", False)])
def test_ten_thousand_random_values_go_where_real_storm_sends_them(storm: str, beyond_long: bool) -> None:
    texts = random_texts(10_000, dice(20), beyond_long=beyond_long)
    theirs = answers(storm, "Choose", texts)
    wrong = [text for text, a, b in zip(texts, choices(storm, texts), theirs, strict=True) if a != b]
    assert wrong == []


def test_negative_integers_move_at_2_6() -> None:
    values = [-1, 1, -7, "a", 1 << 40]
    before, after = ([java_hash(value, dialect) for value in values] for dialect in ("simple", "smart"))
    assert before == [0, 1, 6, 97, 256]
    assert after == [-1, 1, -7, 97, 256]


def test_a_long_fraction_is_a_big_decimal_since_2_6() -> None:
    raw = b'{"command":"emit","tuple":[0.30000000000000004]}\nend\n'
    emit = read(raw[:-5], raw=raw)
    assert isinstance(emit, Emit)
    before, after = (values_hash(java_values(emit, raw, dialect), dialect) for dialect in ("simple", "smart"))
    assert before == values_hash([0.1 + 0.2], "simple")
    assert before != after


@pytest.mark.long
def test_depth_is_no_matter() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    hashed = 1
    for _ in range(100_000):
        hashed = (31 + hashed) & 0xFFFFFFFF
    assert java_hash(deep, "smart") & 0xFFFFFFFF == hashed


@pytest.mark.parametrize("storm", ["0.9.7", "1.2.4", "2.8.3"])
@pytest.mark.parametrize("load_aware", [True, False])
def test_a_shuffle_is_fair(storm: str, load_aware: bool) -> None:
    counts = Counter(sent("SHUFFLE", 4000, storm, conf={LOAD_AWARE_OFF: not load_aware}))
    assert counts.keys() == set(TASKS)
    slack = 200 if storm == "1.2.4" and load_aware else 0
    assert all(abs(count - 1000) <= slack for count in counts.values())


def test_each_round_of_an_old_shuffle_has_an_order_of_its_own() -> None:
    tasks = sent("SHUFFLE", 80, "0.9.7")
    rounds = {tuple(tasks[start : start + 4]) for start in range(0, 80, 4)}
    assert all(sorted(each) == list(TASKS) for each in rounds)
    assert len(rounds) > 5


def test_a_shuffle_of_storm_2_stays_in_the_worker_and_older_ones_do_not() -> None:
    assert set(sent("SHUFFLE", 200, local=(5, 7))) == {5, 7}
    assert set(sent("SHUFFLE", 200, "1.2.4", local=(5, 7))) == set(TASKS)
    assert set(sent("SHUFFLE", 200, local=(5, 7), conf={LOAD_AWARE_OFF: True})) == set(TASKS)


@pytest.mark.parametrize("storm", ["0.9.7", "1.2.4", "2.8.3"])
def test_local_or_shuffle_prefers_its_worker(storm: str) -> None:
    assert set(sent("LOCAL_OR_SHUFFLE", 200, storm, local=(6,))) == {6}
    assert set(sent("LOCAL_OR_SHUFFLE", 200, storm)) == set(TASKS)


def test_groupings_without_dice() -> None:
    assert sent("ALL", 1) == list(TASKS)
    assert sent("GLOBAL", 3, targets=(9, 5, 7)) == [5, 5, 5]
    assert set(sent("NONE", 200)) == set(TASKS)
    assert chooser(Grouping("DIRECT"), where()) is None


def test_partial_key_evens_out_between_two_tasks() -> None:
    made = chooser(Grouping("PARTIAL_KEY", ("key",)), where())
    assert made is not None
    counts = Counter(task for _ in range(100) for task in made(["hot"]))
    assert sorted(counts.values()) == [50, 50]


def test_a_tuple_that_is_too_short_for_its_grouping() -> None:
    made = chooser(Grouping("FIELDS", ("b",)), where(fields=("a", "b")))
    assert made is not None
    with pytest.raises(GroupingError, match="Index 1 out of bounds for length 1"):
        made(["only a"])


def test_an_emit_goes_to_every_consumer_and_a_direct_one_to_who_subscribed_so() -> None:
    plain = Outgoing({"count": ((4, 5), chooser(Grouping("ALL"), where(targets=(4, 5)))), "log": ((6,), None)})
    with pytest.raises(GroupingError, match="Cannot do regular emit to direct stream"):
        plain.tasks(["x"])
    assert plain.direct(6) == (6,)
    assert plain.direct(99) == ()
    with pytest.raises(GroupingError, match="Cannot emitDirect to a task expecting a regular grouping"):
        plain.direct(4)
    both = Outgoing(
        {name: ((task,), chooser(Grouping("ALL"), where(targets=(task,)))) for name, task in (("b", 9), ("a", 3))}
    )
    assert both.tasks(["x"]) == (9, 3)
    assert Outgoing({}).tasks(["x"]) == ()


@given(root=st.integers(-(2**63), 2**63 - 1), ackers=st.integers(1, 9))
def test_an_acker_is_chosen_by_fields_grouping_on_the_root(root: int, ackers: int) -> None:
    # A root id is a Long in every version: it never was JSON.
    assert acker_index(root, ackers) == values_hash([root], "simple") % ackers


def topology(sizes: dict[str, tuple[int, int]], **conf: Any) -> Topology:
    components = {
        name: ComponentSpec(id=name, kind="bolt", command=("x",), parallelism=executors, tasks=tasks)
        for name, (executors, tasks) in sizes.items()
    }
    return Topology(name="t", components=components, conf={key.replace("_", "."): value for key, value in conf.items()})


def test_task_ids_go_by_the_names_of_components_the_ackers_among_them() -> None:
    layout = lay_out(
        topology({"b": (1, 2), "A": (1, 1), "\uff01": (1, 1), "\U0001f600": (1, 1)}, topology_workers=2), "2.8.3"
    )
    assert layout.components == {1: "A", 2: "__acker", 3: "__acker", 4: "b", 5: "b", 6: "\U0001f600", 7: "\uff01"}
    assert layout.ackers == (2, 3)
    assert layout.tasks_of("b") == (4, 5)


def test_executors_share_tasks_and_are_dealt_out_to_workers() -> None:
    layout = lay_out(topology({"b": (3, 8)}, topology_workers=2, topology_acker_executors=0), "2.8.3")
    assert layout.executors == (
        Executor("b", (1, 2, 3), 0),
        Executor("b", (4, 5, 6), 1),
        Executor("b", (7, 8), 0),
    )
    assert layout.workers[5] == 1
    more_executors_than_tasks = lay_out(topology({"b": (5, 2)}, topology_acker_executors=0), "2.8.3")
    assert [each.tasks for each in more_executors_than_tasks.executors] == [(1,), (2,)]


@pytest.mark.parametrize(
    ("own", "conf", "expected"),
    [
        ({}, {}, 3),
        ({"topology.tasks": 7}, {}, 7),
        ({"topology.tasks": 0}, {"topology.tasks": 9}, 0),
        ({}, {"topology.tasks": 9, "topology.max.task.parallelism": 5}, 5),
        ({"topology.max.task.parallelism": 1}, {}, 1),
    ],
)
def test_the_number_of_tasks(own: dict[str, Any], conf: dict[str, Any], expected: int) -> None:
    assert task_count(3, own, conf) == expected


def test_the_number_of_ackers() -> None:
    assert acker_count({"topology.workers": 4, "topology.acker.executors": None}) == 4
    assert acker_count({"topology.workers": 4, "topology.acker.executors": 0}) == 0
