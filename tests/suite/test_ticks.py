"""Ticks as the suite plays them: to whom, how often, what conf and the notes say of it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.suite.runner.suite_run import run_suite
from multilang_cli.suite.steps.ticks import takes_ticks, told, with_ticks
from tests.components import RIGHT

if TYPE_CHECKING:
    from pathlib import Path


def component(**more: Any) -> Component:
    return Component(command=("bolt",), **more)


@pytest.mark.parametrize(
    ("declared", "real", "seconds"),
    [
        ({}, False, None),
        ({"settles": "on-tick"}, False, 1),
        ({"accepts": ("ticks",)}, True, 1),
        ({"conf": {TICK_FREQUENCY: 60}}, False, 1),
        ({"conf": {TICK_FREQUENCY: 60}}, True, 60),
        ({"conf": {TICK_FREQUENCY: None}}, True, None),
        ({"conf": {TICK_FREQUENCY: 60}, "kind": "spout"}, False, 60),
    ],
)
def test_the_interval_stands_in_conf(declared: dict[str, Any], real: bool, seconds: int | None) -> None:
    one = component(**declared)
    assert with_ticks(one, real=real).conf.get(TICK_FREQUENCY) == seconds
    assert bool(told(one, real=real)) == takes_ticks(one)


def test_another_interval_than_the_declared_one_is_told() -> None:
    one = component(conf={TICK_FREQUENCY: 60})
    assert "60 is declared: --real-ticks" in told(one, real=False)
    assert told(one, real=True) == f"ticks were sent every 60 s, and conf said so ({TICK_FREQUENCY})"


@pytest.mark.component
def test_ticks_come_until_the_tuples_are_settled(tmp_path: Path) -> None:
    command = (sys.executable, str(RIGHT / "bolts.py"), "on-third-tick")
    one = Component(command=command, settles="on-tick", samples=(["a b", 1],))
    options = RunOptions(record=str(tmp_path), include=("bolt.settle.once",), record_all=True)
    result = run_suite(one, options)
    assert [subject.verdict for subject in result.subjects] == ["pass"]
    assert any("ticks were sent every second" in note for note in result.notes)
    lines = map(json.loads, (tmp_path / "bolt.settle.once.ndjson").read_text(encoding="utf-8").splitlines())
    ticks = [line["msg"] for line in lines if line.get("ch") == "in" and line["msg"].get("stream") == "__tick"]
    assert [tick["tuple"] for tick in ticks[:3]] == [[1]] * 3
