"""The result of a case says what the case says, and a fault of ours costs the case alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from multilang_cli.catalogue.written import clause_of
from multilang_cli.suite.case_result import case_result, our_fault
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.hosts.case import load_host_cases

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.suite.cases.case import Case
    from multilang_cli.suite.hosts.case import HostCase

CASE = next(each for each in load_cases() if each.expected and each.clause)
OF_HOSTS = next(each for each in load_host_cases() if each.expected and each.clause)


@pytest.mark.parametrize("case", [CASE, OF_HOSTS], ids=lambda case: case.id)
def test_a_result_has_what_was_expected_and_the_sentence_behind_it(case: Case | HostCase) -> None:
    found = case_result(case, "untestable", "why", same_cause="another")
    assert (found.id, found.title, found.level, found.verdict) == (case.id, case.title, case.level, "untestable")
    assert (found.reason, found.expected, found.clause) == ("why", case.expected, clause_of(case.clause))
    assert found.same_cause == "another"


def planted() -> NoReturn:
    """Fail with half a character in the message."""
    raise RuntimeError("planted \ud800")


def failed(record: Path) -> SubjectResult:
    """The result where something fails."""
    try:
        planted()
    except RuntimeError as error:
        return our_fault(CASE, error, record)


def test_a_fault_of_ours_is_an_error_wherever_it_can_be_written(tmp_path: Path) -> None:
    found = failed(tmp_path)
    [path] = tmp_path.iterdir()
    assert (path.stat().st_mode & 0o777, str(path) in found.reason) == (0o600, True)
    assert "planted \\ud800" in path.read_text(encoding="utf-8")
    assert [found.verdict, failed(tmp_path / "nowhere").verdict] == ["error", "error"]
