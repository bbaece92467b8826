"""Each mutant is the smallest bolt or spout with one planted bug: the suite is red on it, by the right rule."""

from __future__ import annotations

import runpy
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.planted import METRICS
from tests.running import LIMIT, rules_of, run

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

MUTANTS = Path(__file__).parents[1] / "mutants"
SILENT = 2.0
"""Seconds that a mutant which is found by its silence is waited for."""

FOUND_BY_SILENCE = {
    "bolt": {
        "ack-heartbeat",
        "drops-while-waiting",
        "handshake-silent",
        "ignore-heartbeat",
        "ignores-eof",
        "ignores-sigterm",
        "late-flush",
        *("leak-first", "leak-tenth", "leak-equal", "leak-value"),
        "never-ack",
        "no-flush",
        "retries-writes",
        "stops-reading",
    },
    "spout": {"ignores-eof", "ignores-sigterm", "pid-late"}
    | {f"no-sync-{command}" for command in ("next", "ack", "fail", "activate", "deactivate")},
}

# What shows as another rule, or needs more than a plain run: a conf (see test_case_mutants), a pipe that fills.
OTHERWISE: dict[str, dict[str, str | None]] = {
    "bolt": {"late-flush": "tuple-unsettled", "stops-reading": "tuple-unsettled", "floods-stderr": None},
    "spout": {"ids-ignored": None, "waits-for-ids-only": None, "emit-burst": "sync-missing"},
}


@cache
def mutants(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = runpy.run_path(str(MUTANTS / f"{kind}.py"), run_name="mutants")["MUTANTS"]
    return found


def rule_of(kind: str, name: str) -> str | None:
    expected: str | None = OTHERWISE[kind].get(name, mutants(kind)[name].rule)
    return expected


# Warnings do not stop a run at its first red case: these need no more than one.
ENOUGH = {
    "tuple-unsettled": "bolt.settle.once",
    "tuple-forgotten": "bolt.settle.once",
    "pid-file-missing": "handshake.pid-file",
    "pid-file-filled": "handshake.pid-file",
    "json-too-deep": "bolt.emit.anchors",
    "outlives-stdin": "end.stdin-closed",
    "outlives-sigterm": "end.sigterm",
    "outlives-worker": "end.worker-gone",
    "stderr-flood": "stderr.flood",
    "holdings-grow": "bolt.heartbeat.behind-backlog",
}

PAIRS = [(kind, name) for kind in ("bolt", "spout") for name in mutants(kind) if rule_of(kind, name) is not None]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=[f"{kind}-{name}" for kind, name in PAIRS])
def test_the_suite_is_red_by_the_right_rule(kind: Any, name: str, tmp_path: Path) -> None:
    rule = rule_of(kind, name)
    assert rule is not None
    result = run(
        [sys.executable, str(MUTANTS / f"{kind}.py"), name],
        kind,
        tmp_path,
        samples=(["a b", 1], ["c d e", 2]),
        streams={"default": ["word"]},
        metrics=METRICS,
        include=(ENOUGH[rule],) if rule in ENOUGH else (),
        timeout=SILENT if name in FOUND_BY_SILENCE[kind] else LIMIT,
        strict=True,
        fail_fast=True,
    )
    assert rule in rules_of(result)
    found = [finding for subject in result.subjects for finding in subject.findings]
    harmless = all(finding.level == "note" and finding.fates["2.8.3"] == "survives" for finding in found)
    assert result.exit_code == (0 if harmless else 3 if rule == "handshake-silent" else 1)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["bolt", "spout"])
def test_the_mutants_without_a_bug_are_green(kind: Any, tmp_path: Path) -> None:
    result = run(
        [sys.executable, str(MUTANTS / f"{kind}.py"), "none"],
        kind,
        tmp_path,
        samples=(["a b", 1], ["c d e", 2]),
        streams={"default": ["word"]},
        strict=True,
    )
    assert rules_of(result) == set()
    assert result.exit_code == 0
