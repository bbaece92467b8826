"""The result of one case, whether a component or a host was given it."""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.written import clause_of
from multilang_cli.reports.model import SubjectResult
from multilang_cli.transcript.private import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import Verdict
    from multilang_cli.suite.cases.case import Case
    from multilang_cli.suite.hosts.case import HostCase


def case_result(case: Case | HostCase, verdict: Verdict, reason: str, **seen: Any) -> SubjectResult:
    """The result of `case`. `seen`: more fields of it, of what was played."""
    return SubjectResult(
        id=case.id,
        title=case.title,
        level=case.level,
        verdict=verdict,
        reason=reason,
        expected=case.expected,
        clause=clause_of(case.clause),
        **seen,
    )


def our_fault(case: Case | HostCase, error: Exception, record: Path) -> SubjectResult:
    """The result of `case` where mlcheck failed: a fault of ours costs the case, not the run.

    Called where `error` is handled; its traceback goes into the folder `record`.
    """
    path = record / f"{case.id}.fault.txt"
    with suppress(OSError), whole_file(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(traceback.format_exc())
    reason = f"a fault of mlcheck's own ({type(error).__name__}: {error}); please report it with {path}"
    return SubjectResult(id=case.id, title=case.title, level=case.level, verdict="error", reason=reason)
