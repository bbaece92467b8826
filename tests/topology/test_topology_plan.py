"""``mlcheck topology plan``: what becomes of a topology, and what is not guaranteed and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.topology.engine.wiring import outgoing_of, profile_of
from multilang_cli.topology.history import Beat, Delivered, Emitted, Happening, Launched, Lost, TupleSettled
from multilang_cli.topology.planning import ComponentPlan, Plan, plan, ranges
from multilang_cli.topology.risks import Risk
from multilang_cli.topology.tasks import lay_out
from tests.flux import FLUX, GOOD, SHELL_BOLT, SHELL_SPOUT, read_topology
from tests.groupings import dice

if TYPE_CHECKING:
    from pathlib import Path


def planned(tmp_path: Path, text: str, storm: str = "2.8.3", history: tuple[Happening, ...] = ()) -> Plan:
    file = tmp_path / "t.yaml"
    file.write_text(text, encoding="utf-8")
    return plan(read_topology(file, storm=storm), storm, history)


def risks_of(made: Plan) -> set[tuple[str, str]]:
    return {(risk.id, risk.about) for risk in made.risks}


def test_every_task_is_there_once_in_the_order_of_the_flow(tmp_path: Path) -> None:
    made = planned(tmp_path, GOOD)
    assert [each.id for each in made.components] == ["source", "split", "count"]
    tasks = [task for each in made.components for task in each.tasks]
    assert sorted([*tasks, *made.ackers]) == list(range(1, 10))
    assert made.components[1].executors == 2
    assert made.components[1].streams[0].consumers[0].grouping == "FIELDS word"
    assert set(made.components[1].tasks.values()) == {0, 1}


LONE = f"  - {{id: lone, className: {SHELL_BOLT}, constructorArgs: [[x], [y]]}}\nstreams:\n"
CYCLE = f"{LONE}  - {{from: lone, to: lone, grouping: {{type: ALL}}}}\n"


@pytest.mark.parametrize(
    ("old", "new", "storm", "risk"),
    [
        ("ratio: 1e3", "topology.acker.executors: 0", "2.8.3", ("no-ackers", "")),
        ("ratio: 1e3", "topology.enable.message.timeouts: false", "2.8.3", ("no-timeouts", "")),
        ("ratio: 1e3", "x: 1", "2.8.3", ("no-limit", "")),
        ("ratio: 1e3", "x: 1", "1.1.0", ("acker-leak", "")),
        ("ratio: 1e3", "x: 1", "0.10.2", ("acker-leak", "")),
        ("[node, source.js], [sentence]]", "[node], [sentence]]", "2.8.3", ("direct-dies", "split")),
        ("{type: SHUFFLE}", "{type: GLOBAL}", "2.8.3", ("global", "split")),
        ("ratio: 1e3", "x: 1", "2.8.3", ("idle-tasks", "split")),
        ("streamId: odd", "streamId: default", "2.8.3", ("nobody-listens", "split")),
        ('numTasks: "5"', "numTasks: 0", "2.8.3", ("no-tasks", "split")),
        ('numTasks: "5"', "numTasks: 1", "2.8.3", ("idle-executors", "split")),
        ("args: [paths, [a, 1]]", "args: [topology.message.timeout.secs, 9]", "2.8.3", ("conf-untold", "split")),
        ("streams:\n", CYCLE, "2.8.3", ("cycle", "lone")),
        ("streams:\n", CYCLE, "2.8.3", ("no-input", "lone")),
    ],
)
def test_what_is_not_guaranteed(tmp_path: Path, old: str, new: str, storm: str, risk: tuple[str, str]) -> None:
    assert old in GOOD
    assert risk in risks_of(planned(tmp_path, GOOD.replace(old, new, 1), storm))


def test_a_cycle_is_told_once(tmp_path: Path) -> None:
    back = "streams:\n  - {from: count, to: split, grouping: {type: ALL}}\n"
    text = GOOD.replace("streams:\n", back, 1).replace("constructorArgs: [[count]]", "constructorArgs: [[count], [n]]")
    told = [risk.text for risk in planned(tmp_path, text).risks if risk.id == "cycle"]
    assert told == ["split -> count -> split is a cycle: Storm runs it, and a tuple may go round for ever."]


def test_what_is_guaranteed_is_not_called_a_risk(tmp_path: Path) -> None:
    safe = GOOD.replace("ratio: 1e3", "topology.max.spout.pending: 9").replace("topology.workers: 2", "x: 1")
    safe = safe.replace("args: [paths, [a, 1]]", "args: [topology.debug, true]")
    assert risks_of(planned(tmp_path, safe, "2.5.0")) == set()
    safe = safe.replace("args: [topology.debug, true]", "args: [a.b, c]")
    assert risks_of(planned(tmp_path, safe, "2.5.0")) == set()


TOLD = {"a.b": "yes", "topology.tick.tuple.freq.secs": 7, "topology.max.spout.pending": 5, "topology.debug": True}
UNTOLD = {"topology.message.timeout.secs": 77, "topology.subprocess.timeout.secs": 99, "topology.workers": 3}
"""As a shell bolt of a LocalCluster (2.8.3) was told by the conf of its handshake: the topology's values."""


def test_a_component_hears_its_own_conf_but_for_what_is_the_topologys_alone(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(GOOD, encoding="utf-8")
    topology = read_topology(tmp_path / "t.yaml")
    split = topology.components["split"]
    topology.components["split"] = msgspec.structs.replace(split, conf={**TOLD, **UNTOLD})
    layout, version = lay_out(topology, "2.8.3"), load_rulebook().newest
    conf = profile_of(topology, layout, version, layout.tasks_of("split")[0]).conf
    assert TOLD.items() <= conf.items()
    assert not UNTOLD.items() & conf.items()


def test_a_spout_may_have_its_own_limit(tmp_path: Path) -> None:
    spout = f"className: {SHELL_SPOUT}\n"
    own = GOOD.replace(spout, f"{spout}    config: {{topology.max.spout.pending: 3}}\n", 1)
    assert own != GOOD
    made = planned(tmp_path, own)
    assert (made.max_spout_pending, made.components[0].max_spout_pending) == (None, 3)
    assert "no-limit" not in {name for name, _ in risks_of(made)}


def test_no_direct_emit_dies_before_2_6_and_no_shuffle_stays_at_home_before_2_0(tmp_path: Path) -> None:
    found = {name for name, _ in risks_of(planned(tmp_path, GOOD, "1.2.4"))}
    assert not found & {"direct-dies", "idle-tasks"}


HISTORY: tuple[Happening, ...] = (
    Launched(t=0, task=4, component="source", worker=0),
    Launched(t=0, task=5, component="split", worker=0),
    Launched(t=0, task=3, component="count", worker=0),
    Emitted(t=1, n=1, task=4, stream="default", message_id="a", root=7),
    Emitted(t=1, n=2, task=4, stream="default"),
    Delivered(t=1, n=1, emit=1, task=5, id="1"),
    Delivered(t=1, n=2, emit=2, task=5, id="2"),
    Delivered(t=1, n=3, emit=2, task=5, id="3"),
    Emitted(t=2, n=3, task=5, stream="default", anchors=(1,)),
    Emitted(t=2, n=4, task=5, stream="default"),
    Emitted(t=2, n=5, task=5, stream="default"),
    Emitted(t=2, n=6, task=4, stream="default"),
    TupleSettled(t=3, delivery=1, how="ack"),
    Lost(t=3, delivery=2),
)


def test_what_a_run_tells(tmp_path: Path) -> None:
    made = planned(tmp_path, GOOD, "2.5.0", HISTORY)
    assert [risk.text for risk in made.risks if risk.id in ("untracked", "unanchored", "unsettled")] == [
        "2 of 3 emits of source had no message id: losses are silent.",
        "2 of 3 emits of split were unanchored: losses are silent.",
        "1 of 3 tuples given to split were never acked or failed: what waits for them times out.",
    ]
    assert not [risk for risk in planned(tmp_path, GOOD, history=HISTORY[:4]).risks if risk.id == "untracked"]


def test_a_consumer_without_tasks_gets_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(GOOD.replace('numTasks: "5"', "numTasks: 0"))
    topology = read_topology(tmp_path / "t.yaml", storm="2.8.3")
    layout = lay_out(topology, "2.8.3")
    [source] = layout.tasks_of("source")
    version = load_rulebook().version("2.8.3")
    assert outgoing_of(topology, layout, version, dice())[source]["default"].tasks(["x"]) == ()


def test_numbers_in_short() -> None:
    assert ranges((1, 2, 3, 7, 9, 10)) == "1-3, 7, 9-10"
    assert ranges(()) == ""


def test_the_command_draws_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert dispatch(["topology", "plan", str(FLUX / "multilang.yaml")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "shell-topology, Storm 2.8.3"
    assert "splitsentence  bolt, task 5: python3 splitsentence.py" in shown
    assert "log  bolt, task 3: mlcheck's own log_info_bolt.py" in shown
    assert "    --FIELDS word--> count 2" in shown
    assert "worker 0  __acker 1, sentence-spout 4, splitsentence 5, count 2, log 3" in shown
    assert shown[-1].lstrip().startswith("only a run tells") or "only a run tells" in shown[-2]


def test_the_command_tells_of_a_run_in_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(GOOD)
    lines = b"".join(msgspec.json.encode(event) + b"\n" for event in HISTORY)
    (tmp_path / "history.ndjson").write_bytes(lines + b'{"k":"emit","t"')
    assert dispatch(["topology", "plan", "--json", "--run", str(tmp_path), str(tmp_path / "t.yaml")]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert "unanchored" in {risk["id"] for risk in told["risks"]}
    assert told["components"][0]["tasks"] == {"4": 1}
    assert schemas.explain(told, "plan") == []


@pytest.mark.parametrize(("kind", "at"), [(Plan, []), (ComponentPlan, ["component"]), (Risk, ["risk"])])
def test_the_schema_has_the_fields_of_the_struct(kind: type[msgspec.Struct], at: list[str]) -> None:
    schema = schemas.load("plan")
    found = schema["$defs"][at[0]] if at else schema
    assert set(found["properties"]) == set(found["required"]) == set(kind.__struct_fields__)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{}/gone.yaml"], "mlcheck: {}/gone.yaml: can't be read: No such file or directory."),
        (["{}/t.yaml"], "t.yaml:3: there is nothing to put in place of ${{workers}}: give --filter FILE."),
        (["--filter", "{}/gone", "{}/t.yaml"], "--filter {}/gone: it can't be read: No such file or directory."),
        (["--property", "workers=0", "{}/t.yaml"], "t.yaml:3: Field TOPOLOGY_WORKERS must be a Positive Number"),
        (["--property", "workers", "{}/t.yaml"], "--property"),
        (["--property", "workers=2", "--conf", "topology.workers=-1", "{}/t.yaml"], "topology.workers is -1."),
        (
            ["--property", "workers=2", "--conf", "topology.executor.receive.buffer.size=0", "{}/t.yaml"],
            "topology.executor.receive.buffer.size is 0.",
        ),
        (["--property", "workers=2", "--run", "{}", "{}/t.yaml"], "history.ndjson can't be read"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "t.yaml").write_text(GOOD.replace("topology.workers: 2", "topology.workers: ${workers}"))
    assert dispatch(["topology", "plan", *(each.format(tmp_path) for each in arguments)]) == 2
    told = capsys.readouterr()
    assert said.format(tmp_path) in told.err
    assert told.out == ""


def test_filters_and_the_environment_fill_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE", "there")
    text = GOOD.replace("topology.workers: 2", "topology.workers: ${workers}").replace(
        "name: words", "name: ${ENV-HERE}"
    )
    (tmp_path / "t.yaml").write_text(text)
    (tmp_path / "t.properties").write_text("workers = 3\n")
    filled = ["--filter", str(tmp_path / "t.properties"), "--env-filter"]
    assert dispatch(["topology", "plan", *filled, str(tmp_path / "t.yaml")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("there, Storm 2.8.3\n  3 workers, 3 ackers")
    over = ["--ackers", "0", "--conf", "topology.workers=1", "--conf", "topology.max.task.parallelism=2"]
    assert dispatch(["topology", "plan", *filled, *over, str(tmp_path / "t.yaml")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("there, Storm 2.8.3\n  1 worker, 0 ackers")
    assert "split  bolt, tasks 3-4: python3 split.py" in out


def syncing(*beats: str, settled: int, lives: int = 1) -> tuple[Happening, ...]:
    """A run in which split settles so many tuples, with what it says and hears of heartbeats."""
    return (
        *(Launched(t=0, task=5, component="split", worker=0, attempt=each + 1) for each in range(lives)),
        *(Delivered(t=1, n=n, emit=1, task=5, id=str(n)) for n in range(settled)),
        *(TupleSettled(t=2, delivery=n, how="ack") for n in range(settled)),
        *(Beat(t=2, task=5, what=cast("Any", what)) for each in beats for what in each.split()),
    )


UNASKED = "(3 syncs that no heartbeat asked for)"


@pytest.mark.parametrize(
    ("history", "told"),
    [
        (
            syncing("answered " * 3, settled=3),
            f"split syncs after each tuple, as bolts did before Storm 0.7.1 {UNASKED}",
        ),
        (syncing("answered " * 2, settled=2), ""),
        (syncing("sent answered " * 9, settled=3), ""),
        (syncing("sent sent answered answered " * 3, settled=3), ""),
        (syncing("sent answered answered " * 3, settled=3), f"{UNASKED}: Storm needs none, and takes any for"),
        (
            syncing("answered " * 3, "sent " * 3, settled=3),
            f"{UNASKED}: Storm needs none, and no other sync came for 3 h",
        ),
        (syncing("answered " * 3, "sent " * 2, settled=3), f"{UNASKED}: Storm needs none, and takes any for"),
        (syncing("answered " * 3, "sent " * 3, settled=3, lives=2), f"{UNASKED}: Storm needs none, and takes any for"),
        (syncing("answered " * 3, settled=9), "split sends 3 syncs that no heartbeat asked for: Storm needs none"),
        (syncing("answered " * 3, settled=0), "split sends 3 syncs that no heartbeat asked for: Storm needs none"),
        (syncing("missed " * 3, settled=3), ""),
    ],
)
def test_a_bolt_that_syncs_after_each_tuple_is_noted(tmp_path: Path, history: Any, told: str) -> None:
    made = planned(tmp_path, GOOD, "2.5.0", history)
    texts = [risk.text for risk in made.risks if risk.id == "syncs-unasked"]
    assert len(texts) == bool(told)
    assert told in "".join(texts)
