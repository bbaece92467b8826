"""The shipped examples pass the whole suite without a single finding, whoever else uses the machine."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts, lint_result
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.runner.suite_run import run_suite
from tests.components import EXAMPLE_FILES, copy_examples
from tests.components import examples as declared
from tests.running import rules_of, run

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

COMPONENTS = list(EXAMPLE_FILES)
NAMES = [name for name, _ in COMPONENTS]
JOBS = 2


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_examples(tmp_path_factory.mktemp("all"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_with_no_finding_at_all(examples: Path, name: str, tmp_path: Path) -> None:
    component = declared(examples)[name]
    result = run_suite(component, RunOptions(record=str(tmp_path), strict=True, jobs=JOBS))
    assert {s.id: (s.verdict, s.reason) for s in result.subjects if s.verdict not in {"pass", "skip"}} == {}
    assert rules_of(result) == set()
    assert (result.verdict, result.exit_code, result.complete) == ("conformant", 0, True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("storm", ["0.9.7", "0.10.2", "1.2.4", "2.5.0"])
@pytest.mark.parametrize(("name", "kind"), [COMPONENTS[0], COMPONENTS[1]], ids=NAMES[:2])
def test_an_example_passes_on_every_verified_storm(
    examples: Path, name: str, kind: Kind, storm: str, tmp_path: Path
) -> None:
    result = run([str(examples / name)], kind, tmp_path, strict=True, storm=storm)
    assert (rules_of(result), result.exit_code, result.storm) == (set(), 0, storm)


@pytest.mark.parametrize(("name", "kind"), COMPONENTS, ids=NAMES)
def test_the_probe_tells_bolts_from_spouts(examples: Path, name: str, kind: Kind) -> None:
    assert kind_of(Component(command=(str(examples / name),), kind="auto"), RunOptions()).kind == kind


MUTANTS = Path(__file__).parents[1] / "mutants"
DOORS: list[tuple[str, Kind]] = [
    ("ack-twice", "bolt"),
    ("print-to-stdout", "bolt"),
    ("end-with-space", "bolt"),
    ("ack-heartbeat", "bolt"),
    ("cut-at-exit", "bolt"),
    ("utf-16", "bolt"),
    ("no-pid-file", "bolt"),
    ("never-ack", "bolt"),
    ("sync-twice", "spout"),
    ("no-sync-ack", "spout"),
    ("stderr-flood", "spout"),
    ("none", "bolt"),
    ("none", "spout"),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("mutant", "kind"), DOORS, ids=[f"{kind}-{name}" for name, kind in DOORS])
def test_lint_finds_in_a_recording_what_run_found(mutant: str, kind: Kind, tmp_path: Path) -> None:
    command = [sys.executable, str(MUTANTS / f"{kind}.py"), mutant]
    samples = (["a b", 1],)
    cases = ("handshake.pid-file", "stdout.clean", "end.sigterm", "bolt.settle" if kind == "bolt" else "spout.sync.ack")
    result = run(command, kind, tmp_path, samples=samples, timeout=2.0, record_all=True, include=cases)
    for subject in result.subjects:
        if subject.transcript is None:
            continue
        linted = lint_result(judge_transcripts([Path(subject.transcript)], load_rulebook()), strict=False)
        found = [finding for conversation in linted.subjects for finding in conversation.findings]
        assert found == list(subject.findings)
        assert [conversation.outlook for conversation in linted.subjects] == [subject.outlook]


def test_mutants_have_names() -> None:
    table = {kind: runpy.run_path(str(MUTANTS / f"{kind}.py"), run_name="m")["MUTANTS"] for kind in ("bolt", "spout")}
    assert {name for name, kind in DOORS if name != "none" and name not in table[kind]} == set()
