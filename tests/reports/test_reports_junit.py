"""The JUnit report as others read it: by junitparser, a library of its own that many CI tools are made of."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import junitparser
import msgspec
import pytest

from multilang_cli.reports import model
from multilang_cli.reports.combined import combine
from multilang_cli.reports.formats.junit import TAGS, to_junit
from multilang_cli.reports.model import ComponentReport, SubjectResult
from tests.results import GREEN, HOSTILE, HOSTILE_BYTES, RESULTS, RULEBOOK, SKIPPED, WARNED, result

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import RunResult

KINDS = {"failure": junitparser.Failure, "error": junitparser.Error, "skipped": junitparser.Skipped}
EACH = [
    SubjectResult(
        id=f"bolt.made.{verdict}", title=f"It is {verdict}", verdict=verdict, reason=f"because it is {verdict}"
    )
    for verdict in model.VERDICTS
]
NAMED = [
    msgspec.structs.replace(run, component=ComponentReport(name=name, command=("bolt", name)))
    for name, run in [("counter", result(*GREEN, SKIPPED)), ("splitter", result(*EACH)), ("small", RESULTS["silent"])]
]
ALL: dict[str, RunResult] = {**RESULTS, "each": result(*EACH), "several": combine(NAMED)}

TEXT = ({"type", "message"}, set[str](), set[str]())
JENKINS: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}, set()),
    "testsuite": (
        {"name", "time", "tests", "failures", "errors", "skipped", "timestamp"},
        {"properties", "testcase"},
        {"name", "tests", "failures", "errors"},
    ),
    "testcase": (
        {"name", "time", "classname"},
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
    ),
    "properties": (set(), {"property"}, set()),
    "property": ({"name", "value"}, set(), {"name", "value"}),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
    **dict.fromkeys(("failure", "error", "skipped"), TEXT),
}
"""By element: attributes it may have, elements it may hold, attributes it must have."""


def read(run: RunResult, folder: Path) -> junitparser.JUnitXml:
    """The report, written to a file and read back as a CI tool does."""
    file = folder / "mlcheck.xml"
    file.write_text(to_junit(run, RULEBOOK), encoding="utf-8")
    return junitparser.JUnitXml.fromfile(str(file))


@pytest.mark.parametrize("subject", EACH, ids=model.VERDICTS)
def test_each_verdict_is_read_as_what_it_is(subject: SubjectResult, tmp_path: Path) -> None:
    (suite,) = read(result(*GREEN, subject), tmp_path)
    (case,) = [case for case in suite if case.name == subject.id]
    wanted = TAGS[subject.verdict]
    assert [type(each) for each in case.result] == ([KINDS[wanted]] if wanted else [])
    assert [each.message for each in case.result] == ([subject.reason] if wanted else [])
    assert case.is_passed == (wanted is None)
    assert bool(case.system_out) == (subject.verdict == "warn")
    assert case.classname == "bolt.made"


@pytest.mark.parametrize("name", ALL)
def test_what_is_counted_is_what_is_said(name: str, tmp_path: Path) -> None:
    xml = read(ALL[name], tmp_path)
    said = (xml.tests, xml.failures, xml.errors)
    of_suites = [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in xml]
    junitparser.JUnitXml.update_statistics(xml)  # type: ignore[no-untyped-call]
    assert (xml.tests, xml.failures, xml.errors) == said
    assert [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in xml] == of_suites


@pytest.mark.parametrize("name", ALL)
def test_jenkins_knows_every_element_and_attribute(name: str) -> None:
    """What the schema of its xunit-plugin (junit-10.xsd) allows, as far as it is told here."""
    for element in ET.fromstring(to_junit(ALL[name], RULEBOOK)).iter():  # noqa: S314  # made here
        allowed, children, needed = JENKINS[element.tag]
        assert needed <= set(element.attrib) <= allowed
        assert {child.tag for child in element} <= children
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))


@pytest.mark.component
@pytest.mark.parametrize("name", ALL)
def test_a_gate_that_reads_it_is_red_exactly_when_the_run_is(name: str, tmp_path: Path) -> None:
    read(ALL[name], tmp_path)
    verify = [sys.executable, "-m", "junitparser", "verify", str(tmp_path / "mlcheck.xml")]
    assert bool(subprocess.run(verify, check=False).returncode) is bool(ALL[name].exit_code)


def test_several_components_are_suites_whose_cases_are_told_apart(tmp_path: Path) -> None:
    xml = read(ALL["several"], tmp_path)
    assert [suite.name for suite in xml] == ["counter", "splitter", "small"]
    cases = [(case.classname, case.name) for suite in xml for case in suite]
    assert len(cases) == len(set(cases))
    values = [{each.name: each.value for each in suite.properties()} for suite in xml]  # type: ignore[no-untyped-call]
    assert [each["component.name"] for each in values] == ["counter", "splitter", "small"]
    merged = xml + read(result(*GREEN, WARNED), tmp_path)
    assert merged.tests == xml.tests + len(GREEN) + 1


def test_hostile_text_is_read_and_moves_nothing(tmp_path: Path) -> None:
    assert b"\x1b" in HOSTILE_BYTES
    (suite,) = read(result(HOSTILE), tmp_path)
    (case,) = suite
    texts = [case.result[0].text or "", case.result[0].message or "", case.system_err or ""]
    assert "\\x1b[2J" in "".join(texts)
    assert not [char for text in texts for char in text if not (char.isprintable() or char == "\n")]
