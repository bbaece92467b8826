"""The real libraries: what is found in each is what findings.yaml lists, with its evidence; no more, and no less."""

from __future__ import annotations

import fnmatch
import shutil
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite
from tests.libraries import install

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import RunResult

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

HERE = Path(install.__file__).parent
FINDINGS: dict[str, list[dict[str, Any]]] = yaml.safe_load((HERE / "findings.yaml").read_text(encoding="utf-8"))
PYTHON = str(install.PYTHON / "python")
STREAMPARSE = str(install.PYTHON / "streamparse_run")
VALUES = ("text", "large", "integers", "floats", "arity")
"""What each of these bolts takes: they split the first value, a text, and leave the others alone."""


class Subject(NamedTuple):
    """A component on a library. `command` is run where its files and the library's are; `limits` in seconds.

    `include`: patterns of cases, where a few show all that there is to see; empty: the whole suite.
    """

    library: str
    kind: Kind
    command: tuple[str, ...]
    accepts: tuple[str, ...] = ()
    limits: Mapping[str, float] = MappingProxyType({})
    include: tuple[str, ...] = ()


NO_SYNC = {"sync": 1.0}
"""For spouts whose library never answers `activate`, the first command: to wait longer for it changes nothing."""

PRINTS = ("bolt.settle.once", "stdout.clean")
"""Cases in which a bolt has tuples to process: where it prints, each such case says the same."""

SUBJECTS = {
    "storm_py bolt": Subject("storm_py", "bolt", (sys.executable, "splitsentence.py"), VALUES),
    "storm_py spout": Subject("storm_py", "spout", (sys.executable, "sentences.py")),
    "storm_rb bolt": Subject("storm_rb", "bolt", ("ruby", "splitsentence.rb"), VALUES),
    "storm_rb spout": Subject("storm_rb", "spout", ("ruby", "sentences.rb")),
    "storm_js bolt": Subject("storm_js", "bolt", ("node", "splitsentence.js"), VALUES),
    "storm_js spout": Subject("storm_js", "spout", ("node", "sentences.js"), limits=NO_SYNC),
    "storm_js spout, active": Subject("storm_js", "spout", ("node", "sentences_active.js")),
    "pystorm bolt": Subject("pystorm", "bolt", (PYTHON, "split_bolt.py"), (*VALUES, "ticks")),
    "pystorm bolt, printing": Subject("pystorm", "bolt", (PYTHON, "printing_bolt.py"), include=PRINTS),
    "pystorm spout": Subject("pystorm", "spout", (PYTHON, "sentence_spout.py")),
    "streamparse bolt": Subject("streamparse", "bolt", (STREAMPARSE, "bolts.SentenceSplitterBolt"), (*VALUES, "ticks")),
    "streamparse spout": Subject("streamparse", "spout", (STREAMPARSE, "spouts.SentenceSpout")),
    "node_storm bolt": Subject("node_storm", "bolt", ("node", "topology.js"), VALUES),
    "node_storm spout": Subject("node_storm", "spout", ("node", "topology.js"), limits=NO_SYNC),
    "node_storm spout, synced": Subject("node_storm", "spout", ("node", "topology_synced.js")),
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For each library a directory with its files and our components, as Storm unpacks resources."""
    install.install()
    target = tmp_path_factory.mktemp("resources")
    for library in {subject.library for subject in SUBJECTS.values()}:
        shutil.copytree(HERE / library, target / library)
        for path in (install.CACHE / library).glob("*"):
            (target / library / path.name).symlink_to(path)
    return target


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_library_has_the_findings_that_are_listed(resources: Path, name: str, tmp_path: Path) -> None:
    subject = SUBJECTS[name]
    result = _run(subject, resources, tmp_path)
    tested = [case.id for case in result.subjects if case.verdict != "skip"]
    assert len(tested) == len(subject.include) or len(tested) > 20
    assert result.complete
    assert _found(result) == _listed(FINDINGS[name], tested)


def _run(subject: Subject, resources: Path, record: Path) -> RunResult:
    field = "word" if subject.kind == "bolt" else "sentence"
    text = {"type": "array", "items": {"type": "string"}}
    component = Component(
        command=subject.command,
        kind=subject.kind,
        cwd=str(resources / subject.library),
        streams={"default": StreamDeclaration((field,), schema=text)},
        samples=(["snow white", 7],) if subject.kind == "bolt" else (),
        accepts=subject.accepts,
        limits=dict(subject.limits),
    )
    return run_suite(component, RunOptions(record=str(record), timeout=20.0, jobs=2, include=subject.include))


def _found(result: RunResult) -> set[tuple[str, str]]:
    """Pairs of a case and a broken rule, notes left out; the verdict stands for a rule where a case broke none."""
    found = set()
    for case in result.subjects:
        rules = {finding.rule for finding in case.findings if finding.level in {"must", "should"}}
        if not rules and case.verdict not in {"pass", "skip"}:
            rules = {case.verdict}
        found |= {(case.id, rule) for rule in rules}
    return found


def _listed(findings: list[dict[str, Any]], tested: list[str]) -> set[tuple[str, str]]:
    """The same pairs as findings.yaml lists them; each of its patterns has to name a case that was tested."""
    listed = set()
    for finding in findings:
        for pattern in finding["cases"]:
            cases = fnmatch.filter(tested, pattern)
            assert cases, f"no case that was tested is a {pattern}"
            listed |= {(case, finding["rule"]) for case in cases}
    return listed


def test_each_entry_has_its_evidence() -> None:
    assert set(FINDINGS) == set(SUBJECTS)
    entries = [entry for findings in FINDINGS.values() for entry in findings]
    assert {key for entry in entries for key in entry} == {"rule", "cases", "why"}
    assert {entry["rule"] for entry in entries} <= set(load_rulebook().rules)
    assert all(len(entry["why"]) > 100 for entry in entries)
