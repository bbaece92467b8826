"""``mlcheck topology explain``: the ack framework step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.topology.acked import NoRootError, a_root_in, steps_of, worked_example
from multilang_cli.topology.model import Grouping, Subscription, Topology
from tests.command import ROOT, mlcheck
from tests.topologies.runs import ACKERS, TIMEOUT, component, run

if TYPE_CHECKING:
    from pathlib import Path


def test_the_worked_example_comes_to_zero_as_the_documents_have_it() -> None:
    told = [(step.before, step.sent, step.after) for step in worked_example() if step.sent is not None]
    assert told == [(0, 0b0100, 0b0100), (0b0100, 0b0110, 0b0010), (0b0010, 0b0010, 0)]
    assert [step.text.rpartition(" ")[2] for step in worked_example() if "__ack" in step.text] == ["__ack_ack"]


@pytest.mark.component
def test_the_command_shows_the_example() -> None:
    ran = mlcheck("topology", "explain", cwd=ROOT)
    assert ran.returncode == 0
    lines = [line.strip() for line in ran.stdout.splitlines() if "XOR" in line and "=" in line]
    assert lines == [
        "acker: 0000 XOR 0100 = 0100",
        "acker: 0100 XOR 0110 = 0010",
        "acker: 0010 XOR 0010 = 0000",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose bolt fails one tuple, which is replayed."""
    place = tmp_path_factory.mktemp("acked")
    bugs = {"numbers": "no_bug", "bolt": "fails_once", "sink": ""}
    made = (
        component("numbers", "spout", "planted_spout.py", default=("number",)),
        component("bolt", "bolt", "planted_bolt.py", default=("number",)),
        component("sink", "bolt", "slow_sink.py"),
    )
    parts = [msgspec.structs.replace(each, command=(*each.command, bugs[each.id])) for each in made]
    topology = Topology(
        name="acked",
        components={each.id: each for each in parts},
        subscriptions=(
            Subscription(source="numbers", target="bolt", grouping=Grouping("GLOBAL")),
            Subscription(source="bolt", target="sink", grouping=Grouping("GLOBAL")),
        ),
        conf={ACKERS: 1, TIMEOUT: 5},
    )
    return run(topology, place).folder


@pytest.mark.component
def test_a_root_of_a_run_is_followed_to_its_end(folder: Path) -> None:
    ran = mlcheck("topology", "explain", str(folder), cwd=folder)
    said = " ".join(ran.stdout.split())
    assert "learns, after " in said
    assert said.endswith(" ms: failed")
    assert "bolt, task " in said
    acked = " ".join(mlcheck("topology", "explain", str(folder), "--emission", "1", cwd=folder).stdout.split())
    assert acked.endswith(" ms: acked")
    assert "= 0 " in acked


@pytest.mark.component
def test_what_is_not_followed_is_said(folder: Path) -> None:
    nowhere = mlcheck("topology", "explain", str(folder), "--emission", "9999", cwd=folder)
    assert (nowhere.returncode, nowhere.stdout) == (2, "")
    assert "there is no emission 9999 in this run" in nowhere.stderr
    assert mlcheck("topology", "explain", "--emission", "1", cwd=folder).returncode == 2
    with pytest.raises(NoRootError, match="none had a message id"):
        a_root_in([])
    with pytest.raises(NoRootError, match="there is no emission 1"):
        list(steps_of([], 1))
