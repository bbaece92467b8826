"""Running the suite over one component, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import RunResult

LIMIT = 20.0
"""Seconds: long enough for a busy machine."""


def run(
    command: list[str], kind: Kind, record: Path, *, streams: dict[str, list[str]] | None = None, **options: Any
) -> RunResult:
    declared = None if streams is None else {n: StreamDeclaration(tuple(f)) for n, f in streams.items()}
    samples: tuple[list[Any], ...] = options.pop("samples", ())
    more = {name: options.pop(name) for name in ("env", "conf", "metrics") if name in options}
    component = Component(command=tuple(command), kind=kind, streams=declared, samples=samples, **more)
    return run_suite(component, RunOptions(**{"record": str(record), "timeout": LIMIT, "exhaustive": True, **options}))


def rules_of(result: RunResult) -> set[str]:
    """Every rule that was broken."""
    return {finding.rule for subject in result.subjects for finding in subject.findings}
