"""Blame: the story of an emission that was not acked, in the terminal and on the page."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from multilang_cli.protocol.words.messages import Emit
from multilang_cli.topology.blame import stories, told
from multilang_cli.topology.flow_graph import FlowGraph
from multilang_cli.topology.history import Died, EmissionEnded, Faulted, Happening, Lost, PhaseBegun
from tests.command import mlcheck
from tests.pages import PageFile
from tests.topologies.runs import split_count
from tests.topologies.workloads import FOLDER, run_workload
from tests.topology.test_topology_flow import Core


def story(core: Core, *more: Happening, emission: int = 1) -> list[str]:
    (one,) = stories([*core.history, *more], [emission], dict(core.flow.components))
    return ["  " * depth + text for depth, text in told(one)]


def test_an_open_edge_is_named_with_who_holds_it_and_its_last_words() -> None:
    core = Core()
    core.emit("m")
    core.flow.run_ackers()
    core.flow.t = 0.5
    (split,) = [task for task in core.splits if core.flow.take(task, 1)]
    (id_,) = core.flow.open[split]
    core.flow.bolt_emit(split, [core_emit(id_)])
    core.flow.settle(split, id_, "ack")
    core.flow.run_ackers()
    for core.flow.t in (30.0, 60.0):
        core.flow.rotate(core.executor)
    count = next(task for task in core.bolts if core.flow.queues[task])
    assert story(core) == [
        'Emission 1 of sentences, task 4 (message id "m"): timed out after 60.000 s',
        '  sentences, task 4 emitted ["a b"] at 0.000 s',
        f"    -> split, task {split}: acked at 0.500 s",
        f"      -> count, task {count}: open",
        f"  count, task {count} holds it: delivery 2, since 0.500 s. The last of that task:",
        "    0.500 s: delivery 2 was queued for it",
    ]


def core_emit(anchor: str) -> Emit:
    return Emit(values=["a"], anchors=(anchor,))


def test_the_tree_is_played_with_the_ack_vals_of_the_acker() -> None:
    core = Core()
    core.emit()
    core.work_off()
    (one,) = stories(core.history, [1], dict(core.flow.components))
    assert [step.what for step in one.tree.steps] == ["emit", "emit", "emit", "init", "ack", "ack", "ack"]
    assert one.tree.steps[-1].acker_val == one.tree.steps[-1].open_val == 0
    assert one.tree.steps[3].sent == one.tree.steps[3].acker_val == next(iter(one.tree.nodes))
    assert not one.held


def test_what_died_with_a_task_is_told_with_its_death() -> None:
    core = Core()
    core.emit()
    core.flow.t = 1.5
    core.history.append(Died(t=1.5, worker=0, why="split, task 5: it was killed"))
    core.flow.drop(core.splits)
    assert [each.delivery for each in core.history if isinstance(each, Lost)] == [1]
    last = story(core)
    assert any("lost at 1.500 s: split, task 5: it was killed" in line for line in last)
    # What the tasks are given afterwards is another life's, and says nothing about it.
    core.flow.t = 2.0
    for _ in core.splits:
        core.emit()
    assert story(core) == last


def test_where_all_is_acked_the_acker_is_to_blame() -> None:
    core = Core()
    core.emit()
    core.flow.ackers[1].held = True
    core.work_off()
    end = EmissionEnded(t=60.0, emit=1, task=4, how="timed out", latency=60.0)
    assert "  Every tuple of it was acked: its acker did not hear of all, or lost its record" in story(core, end)


def test_what_is_anchored_to_nothing_has_a_story_without_a_tree() -> None:
    core = Core()
    core.emit()
    (split,) = [task for task in core.splits if core.flow.take(task, 1)]
    core.flow.bolt_emit(split, [Emit(values=["a"])])
    count = next(task for task in core.bolts if core.flow.queues[task] and task != split)
    core.flow.t = 1.5
    core.history.append(Died(t=1.5, worker=0, why="count: it was killed"))
    core.flow.drop([count])
    core.flow.t = 9.0
    core.flow.up.add(count)
    core.flow.bolt_emit(split, [Emit(values=["a"])])
    assert story(core, emission=2) == [
        f"Emission 2 of split, task {split} (in no tree): nobody waits for its end",
        f'  split, task {split} emitted ["a"] at 0.000 s',
        f"    -> count, task {count}: lost at 1.500 s: count: it was killed",
        f"  count, task {count} had it: delivery 2, since 0.000 s. The last of that task:",
        "    0.000 s: delivery 2 was queued for it",
    ]


def test_what_is_anchored_to_a_loose_tuple_belongs_to_its_story() -> None:
    core = Core()
    core.flow.spout_emit(core.spout, Emit(values=["a b"]))
    (split,) = [task for task in core.splits if core.flow.take(task, 1)]
    (id_,) = core.flow.open[split]
    core.flow.bolt_emit(split, [core_emit(id_)])
    core.flow.t = 0.5
    core.flow.settle(split, id_, "fail")
    count = next(task for task in core.bolts if core.flow.queues[task])
    assert story(core)[2:5] == [
        f"    -> split, task {split}: failed",
        f"      -> count, task {count}: open",
        f"  split, task {split} failed it: delivery 1, since 0.000 s. The last of that task:",
    ]


def test_an_emission_that_is_not_there_has_no_story() -> None:
    assert stories([PhaseBegun(t=0.0, name="run")], [1], {}) == []


@pytest.mark.component
def test_several_anchors_and_faults_are_told(tmp_path: Path) -> None:
    ran = run_workload("diamond", tmp_path, ["kill:acker@5"])
    lines = [text for each in ran.run.stories for _, text in told(each)]
    assert any("timed out after" in line for line in lines)
    assert any("kill:acker@5 strikes" in line for line in lines)
    assert ran.held() == {}


@pytest.mark.component
def test_a_page_has_the_trees_the_plots_and_the_load(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = mlcheck(
        *("topology", "run", str(FOLDER / "explicit-fail.yaml"), "--fault", "pause:sink:0.1@3", "--idle", "0.2"),
        *("--report", "html=page.html", "--record", "run"),
        cwd=tmp_path,
        PATH=path,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "sink, task 3 failed it: delivery 1" in ran.stdout
    sections = {each["id"]: each for each in PageFile((tmp_path / "page.html").read_text()).carried["sections"]}
    assert {"run-numbers", "story-1", "blame-1", "space-time", "complete-latency", "rate", "streams", "ackers"} <= set(
        sections
    )
    assert sections["story-1"]["steps"][-1]["tone"] == "bad"
    numbers = dict(sections["run-numbers"]["rows"])
    assert numbers["account"].startswith("6 sent, 6 completed, 0 lost, 1 sent again (1 failed; the first: [")
    assert numbers["fault"].startswith("pause:sink:0.1@3 struck at ")
    graph = sections["topology"]
    assert [(each["from"], each["to"], each["label"]) for each in graph["graph"]["edges"]] == [
        ("queue", "sink", "SHUFFLE 7")
    ]
    assert {each["id"]: each.get("tone") for each in graph["graph"]["nodes"]} == {"queue": None, "sink": "bad"}
    [step] = graph["steps"]
    assert "pause:sink:0.1@3 strikes sink, task 3, and until the next: " in step["text"]
    drawn = {each["name"]: each for each in sections["space-time"]["series"]}
    assert drawn["pause:sink:0.1@3"]["y"] == [3, 3]
    assert len(drawn["failed"]["x"]) == 1
    begins, ends = drawn["pause:sink:0.1@3"]["x"]
    for plot in ("space-time", "complete-latency", "rate"):
        (band,) = sections[plot]["bands"]
        assert (band["label"], band["along"]) == ("pause:sink:0.1@3", "x")
        assert begins == band["from"] < band["to"] <= ends
    assert sections["ackers"]["rows"] == [["task 1", 7, 6, 1]]


def test_what_came_of_a_fault_is_counted_by_one_or_several() -> None:
    graph = FlowGraph(split_count(), {1: "__acker", 2: "count"})
    graph.take(Faulted(t=1.0, plan=0, fault="kill:count@3", phase="strikes", task=2))
    graph.take(Died(t=1.0, worker=0))
    for number in (1, 2):
        graph.take(EmissionEnded(t=2.0, emit=number, task=3, how="failed", latency=1.0))
    [step] = graph.section().steps
    told = "1.000 s: kill:count@3 strikes count, task 2, and until the next: 1 worker died, 2 emissions failed"
    assert step.text == told
