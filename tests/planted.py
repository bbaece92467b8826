"""Every mutant of the repository, as what can be run: those of the testees, and those of ``tests/mutants``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import yaml

from multilang_cli.catalogue.loader import load_rules
from multilang_cli.catalogue.locate import data_path
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.subject.testee import VARIABLE, read_mutants, read_testee
from multilang_cli.suite.cases.selection import fitting
from multilang_cli.suite.runner.suite_run import available_for, run_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import SubjectResult

PATIENCE = 10.0
"""Seconds for an answer: a mutant that gives none is not waited for as long as Storm waits."""

MUTANTS = Path(__file__).parent / "mutants"
FILES: dict[str, Kind] = {"bolt": "bolt", "bolt_input": "bolt", "spout": "spout", "spout_more": "spout"}
METRICS = {"counted": "count"}
SCHEMA = {"prefixItems": [{"type": "string"}, {"type": "integer"}]}
WORDS = {"default": StreamDeclaration(("word",))}
NUMBERED = {
    "default": StreamDeclaration(("word", "n"), schema=SCHEMA),
    "strict": StreamDeclaration(("word", "n"), schema=SCHEMA),
    "jobs": StreamDeclaration(("word", "n"), direct=True),
}


class Planted(NamedTuple):
    """A mutant: its `home` (a testee's folder, a file of mutants), what to start, the cases it is said to break."""

    home: str
    name: str
    about: str
    components: tuple[Component, ...]
    claims: dict[str, str]


def planted() -> Iterator[Planted]:
    """All of them."""
    for folder in sorted(path.parent for path in data_path("conformance", "testees").glob("*/mutants.yaml")):
        yield from of_testee(folder)
    for file in FILES:
        yield from of_file(file)


def of_testee(folder: Path) -> Iterator[Planted]:
    """The mutants of a testee: each of its parts has the bug."""
    parts = read_testee(folder).components()
    for name, mutant in read_mutants(folder).items():
        conf = {"topology.subprocess.timeout.secs": int(PATIENCE)}
        mutated = tuple(
            msgspec.structs.replace(part, conf={**conf, **part.conf}, env={**part.env, VARIABLE: name})
            for part in parts
        )
        yield Planted(folder.name, name, mutant.about, mutated, mutant.kills)


def of_file(file: str) -> Iterator[Planted]:
    """The mutants of a file of ``tests/mutants``; what they are said to break stands in them, or in kills.yaml."""
    claims = yaml.safe_load((MUTANTS / "kills.yaml").read_bytes()).get(file, {})
    for name, mutant in bugs_of(file).items():
        accepts = (mutant.accepts,) if getattr(mutant, "accepts", "") else ()
        component = Component(
            command=(sys.executable, str(MUTANTS / f"{file}.py"), name),
            kind=FILES[file],
            streams=WORDS if file in {"bolt", "spout"} else NUMBERED,
            metrics=METRICS,
            samples=(["a b", 1], ["c d e", 2]),
            accepts=accepts,
            conf={"topology.subprocess.timeout.secs": 1} if name.startswith("slow-") else {},
        )
        broken = {mutant.case: mutant.rule} if hasattr(mutant, "case") else claims.get(name, {})
        yield Planted(file, name, mutant.about, (component,), broken)


def bugs_of(file: str) -> dict[str, Any]:
    """The mutants of a file of ``tests/mutants`` as they stand there: each has the `rule` that it breaks."""
    found: dict[str, Any] = runpy.run_path(str(MUTANTS / f"{file}.py"), run_name="mutants")["MUTANTS"]
    return found


def missed(mutant: Planted, record: Path) -> dict[str, str]:
    """Play the cases that are said to show a mutant, in one run a part: those that do not, and why."""
    seen: dict[str, SubjectResult] = {}
    for component in mutant.components:
        own = {case.id for case in fitting(available_for(component, ()), component.kind)}
        wanted = [case for case in mutant.claims if case in own and case not in seen]
        while wanted:
            options = RunOptions(record=str(record), include=tuple(wanted), timeout=PATIENCE, jobs=2, exhaustive=True)
            seen |= {subject.id: subject for subject in run_suite(component, options).subjects}
            # A run ends at the first case in which there is no first message.
            wanted = [case for case in wanted if case not in seen]
    return {case: why for case, rule in mutant.claims.items() if (why := _spared(seen[case], rule))}


def _spared(subject: SubjectResult, rule: str) -> str:
    """Why a case does not show what it is said to, "" if it does."""
    if rule not in {finding.rule for finding in subject.findings}:
        return f"{subject.verdict}, without {rule}: {subject.reason}"
    level = load_rules()[rule].level
    enough = {"must": {"fail"}, "should": {"fail", "warn"}, "note": {"pass", "warn", "fail"}}[level]
    return "" if subject.verdict in enough else f"{subject.verdict}: {subject.reason}"
