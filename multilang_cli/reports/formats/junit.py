"""RunResult as JUnit XML, for CI: fail, stale and flaky are failures; error and untestable are errors."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from multilang_cli.reports.bundles import labelled
from multilang_cli.reports.escape import escape, escape_lines, fit
from multilang_cli.reports.formats.console import group_text, summary_of
from multilang_cli.reports.grouping import Group, told_first
from multilang_cli.reports.page import MOST_CELLS
from multilang_cli.reports.verdict import decisive, word_of
from multilang_cli.workflow import disarmed

if TYPE_CHECKING:
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult, SubjectResult, Verdict

TAGS: dict[Verdict, str | None] = {
    "pass": None,
    "warn": None,
    "fail": "failure",
    "stale": "failure",
    "flaky": "failure",
    "error": "error",
    "untestable": "error",
    "skip": "skipped",
    "xfail": "skipped",
}
"""The element by which each verdict is told; None for a test that passes."""

NOT_REQUIRED = "this Storm version is not required"
"""What the message of a test begins with that fails on a version whose verdict does not count."""

_OF_ALL = ("tests", "failures", "errors")
"""Totals of all suites together: the schema of Jenkins (xunit-plugin, junit-10.xsd) knows no more of them."""
_TOTALS = {
    "tests": "testcase",
    "failures": "testcase/failure",
    "errors": "testcase/error",
    "skipped": "testcase/skipped",
}


def to_junit(result: RunResult, rulebook: Rulebook) -> str:
    """One testsuite a component and Storm version, one testcase a subject.

    A run that is not green always holds a failure or an error; one that is green never does.
    """
    suites = [_suite(part, rulebook, label if result.parts else "") for label, part in labelled(result)]
    root = ET.Element("testsuites", name="mlcheck")
    for name in _OF_ALL:
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", f"{result.duration:.3f}")
    root.extend(suites)
    ET.indent(root)
    text = disarmed(ET.tostring(root, encoding="unicode"), lambda character: f"&#{ord(character)};")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(result: RunResult, rulebook: Rulebook, label: str) -> ET.Element:
    """The suite of one part. `label`: what tells it from others, whose subjects have the same ids; "" for the only."""
    name = label or f"mlcheck {result.suite.name}"
    suite = ET.Element("testsuite", name=fit(name, MOST_CELLS).text, timestamp=result.started_at)
    _add_properties(suite, result)
    for subject in result.subjects:
        _add_subject(suite, subject, result, rulebook)
    _add_untested(suite, result)
    if result.exit_code and suite.find("testcase/failure") is None and suite.find("testcase/error") is None:
        _add_run(suite, result)
    if not result.gates:
        _excuse(suite)
    _add_totals(suite, result)
    for case in suite.findall("testcase") if label else ():
        case.set("classname", f"{suite.get('name')}.{case.get('classname')}")
    return suite


def _add_properties(suite: ET.Element, result: RunResult) -> None:
    values = {
        "tool": f"{result.tool.name} {result.tool.version}",
        "suite.hash": result.suite.hash,
        "storm": result.storm,
        "component": " ".join(result.component.command),
        "component.name": result.component.name,
        "kind": result.component.kind or "",
        "seed": "" if result.seed is None else str(result.seed),
        "verdict": result.verdict,
        "exit_code": str(result.exit_code),
        "complete": str(result.complete).lower(),
        **{f"platform.{name}": value for name, value in result.platform.items()},
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", name=name, value=escape(value))
    for note in result.notes:
        ET.SubElement(properties, "property", name="note", value=escape(note))


def _add_subject(suite: ET.Element, subject: SubjectResult, result: RunResult, rulebook: Rulebook) -> None:
    case = _testcase(suite, subject.id, subject.duration)
    tag = TAGS[subject.verdict]
    finding = decisive(subject, result.storm)
    group = Group(subject.verdict, (subject,), finding)
    if tag == "skipped":
        ET.SubElement(case, tag, message=fit(subject.reason, MOST_CELLS).text)
    elif tag:
        kind = finding.rule if finding else subject.verdict
        message = fit(told_first(subject), MOST_CELLS).text
        element = ET.SubElement(case, tag, message=message, type=escape(kind))
        element.text = escape_lines(group_text(group, rulebook))
    elif subject.verdict == "warn":
        ET.SubElement(case, "system-out").text = escape_lines(group_text(group, rulebook))
    if subject.stderr_tail and tag in {"failure", "error"}:
        ET.SubElement(case, "system-err").text = escape_lines(subject.stderr_tail)


def _add_untested(suite: ET.Element, result: RunResult) -> None:
    judged = {subject.id for subject in result.subjects}
    for untested in result.untested:
        for name in untested.ids:
            if name not in judged:
                ET.SubElement(_testcase(suite, name, 0.0), "skipped", message=escape(untested.reason))


def _add_run(suite: ET.Element, result: RunResult) -> None:
    """Add what no single subject tells: nothing selected, interrupted, warnings that count."""
    case = _testcase(suite, "mlcheck.run", 0.0)
    tag = "failure" if result.exit_code == 1 else "error"
    element = ET.SubElement(case, tag, message=f"{word_of(result)}: {escape(summary_of(result))}", type=result.verdict)
    element.text = escape_lines("\n".join((*result.notes, result.component.stderr_tail)).strip())


def _excuse(suite: ET.Element) -> None:
    """Make what is wrong a test that is skipped: on this version it does not count."""
    for case in suite.findall("testcase"):
        for wrong in (*case.findall("failure"), *case.findall("error")):
            wrong.set("message", f"{NOT_REQUIRED}: {wrong.get('message')}")
            wrong.attrib.pop("type", None)
            wrong.tag = "skipped"


def _add_totals(suite: ET.Element, result: RunResult) -> None:
    for name, path in _TOTALS.items():
        suite.set(name, str(len(suite.findall(path))))
    suite.set("time", f"{result.duration:.3f}")


def _testcase(suite: ET.Element, identity: str, duration: float) -> ET.Element:
    family = identity.rpartition(".")[0] or "mlcheck"
    return ET.SubElement(suite, "testcase", classname=escape(family), name=escape(identity), time=f"{duration:.3f}")
