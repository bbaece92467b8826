"""Implementation of ``mlcheck audit run``."""

from __future__ import annotations

import os
import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import msgspec

from multilang_cli.audit import inputs
from multilang_cli.audit.console.spark import holds_anything, pairs_of, running
from multilang_cli.audit.inputs import AuditPlan, TableFormat
from multilang_cli.audit.session import SUBMITTED
from multilang_cli.audit.store.manifest import FOLDER, ManifestError, format_before, trees_before
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.reports.counting import counted
from multilang_cli.reports.formats.registry import STDOUT, Report, ReportError, put
from multilang_cli.reports.page import Page
from multilang_cli.subject.config import load_nearest
from multilang_cli.subject.outputs import checked_reports, console_of, write_reports
from multilang_cli.subject.storms import known_storm
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import on_terminal, progress_line, remark, stdout_may_close
from multilang_cli.transcript.given import GIVEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from multilang_cli.audit.inputs import Inputs
    from multilang_cli.audit.pages.answer import AuditAnswer
    from multilang_cli.reports.model import RunResult

_WHAT = "audit run"
_NEEDED = tuple(f"multilang_cli.audit.{name}" for name in ("pipeline", "page", "result", "pages.answer"))
"""Modules that need Spark, or some that it needs."""


class AuditFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck audit run``."""

    inputs: tuple[str, ...]
    output: str
    overwrite: bool = False
    table_format: str | None = None
    storm: str = ""
    master: str = "local[*]"
    spark_conf: tuple[str, ...] = ()
    spark_log: bool = False
    report: tuple[str, ...] = ()
    color: str | None = None


def audit_given(flags: AuditFlags) -> int:
    """Audit what the options say; returns the exit code. Raises CommandError."""
    reports = checked_reports(flags.report)
    storm = known_storm(flags.storm)
    _limits()
    _check_folder(flags.output, overwrite=flags.overwrite)
    table_format = _format(flags)
    settings = _settings(table_format) | pairs_of(_WHAT, flags.spark_conf)
    found = _found(flags.inputs, None)
    started = "by spark-submit" if SUBMITTED in os.environ else flags.master
    remark(f"{counted(len(found.transcripts), 'file')}; starting Spark: {started}")
    files = (*found.transcripts, *found.histories)
    size = inputs.size(files) if files else inf
    with running(
        _WHAT, flags.master, settings, quiet=not flags.spark_log, size=size, keep=True, meanwhile=_NEEDED
    ) as spark:
        plan = AuditPlan(_found(flags.inputs, spark), storm, GIVEN.told(), table_format)
        try:
            result = _audit(spark, plan, flags, reports)
        except ManifestError as error:
            raise CommandError(f"{_WHAT}: {error}.") from None
    return result.exit_code


def _format(flags: AuditFlags) -> TableFormat:
    """The format that was asked for, else that of the tables that are there. Raises CommandError."""
    if flags.table_format is not None and flags.table_format not in get_args(TableFormat):
        raise CommandError(
            f"{_WHAT}: --format {flags.table_format[:60]!r}: tables are {' or '.join(get_args(TableFormat))}."
        )
    asked = cast("TableFormat | None", flags.table_format)
    return asked or (None if flags.overwrite else format_before(flags.output)) or "parquet"


def _settings(table_format: TableFormat) -> dict[str, str]:
    if table_format == "parquet":
        return {}
    try:
        from multilang_cli.audit.store.delta_tables import (  # noqa: PLC0415 (needs Spark)
            DeltaMissingError,
            delta_settings,
        )
    except ImportError:
        return {}  # the session says what is missing
    try:
        return delta_settings()
    except DeltaMissingError as error:
        raise CommandError(f"{_WHAT}: {error}.") from None


def _audit(spark: SparkSession, plan: AuditPlan, flags: AuditFlags, reports: Sequence[Report]) -> RunResult:
    from multilang_cli.audit import pipeline  # noqa: PLC0415 (needs Spark)
    from multilang_cli.audit.page import page_of  # noqa: PLC0415
    from multilang_cli.audit.pages.answer import answer_of  # noqa: PLC0415
    from multilang_cli.audit.result import result_of  # noqa: PLC0415

    folder, limits = flags.output, _limits()
    with progress_line(verbose=False, quiet=not on_terminal()) as progress:
        known = pipeline.run(spark, plan, folder, remark, overwrite=flags.overwrite, progress=progress)
    answer = answer_of(known)
    result = result_of(known, plan, folder, limits, answer)
    for report in reports:
        if report.format == "html":
            _put(report, page_of(result, known))
    write_reports([each for each in reports if each.format != "html"], result, load_rulebook(plan.storm))
    if all(each.path != STDOUT for each in reports):
        with stdout_may_close():
            _show(Page(console_of(flags.color)), result, answer, folder)
    return result


def _put(report: Report, text: str) -> None:
    try:
        put(report.path, text, sys.stdout)
    except (OSError, ReportError) as error:
        raise CommandError(f"--report html: can't write {report.path}: {error}") from None


def _found(names: Sequence[str], spark: SparkSession | None) -> Inputs:
    """The files. URLs are listed once Spark is there. Raises CommandError, exit code 4, if there are none."""
    found = inputs.find(names, spark)
    later = spark is None and any("://" in name for name in names)
    if found.transcripts or later:
        return found
    why = f" ({'; '.join(found.notes)})" if found.notes else ""
    raise CommandError(
        f"audit run: there are no transcripts (*{', *'.join(inputs.SUFFIXES)}) in {', '.join(names)}{why}.",
        ExitCode.NOTHING_SELECTED,
    )


def _limits() -> dict[str, int]:
    limits: dict[str, int] = load_nearest().settings.get("audit", {})
    return limits


def _check_folder(folder: str, *, overwrite: bool) -> None:
    path = Path(folder)
    if "://" in folder:
        return
    if holds_anything(_WHAT, path) and not (path / FOLDER).is_dir() and not overwrite:
        raise CommandError(
            f"audit run: {folder} holds no tables that this mlcheck can add to; choose another with -o, or give"
            " --overwrite."
        )


def _show(page: Page, result: RunResult, answer: AuditAnswer, folder: str) -> None:
    page.para(answer.sentence(), "bold")
    before = trees_before(folder)
    if before is not None and (changed := answer.since(before)):
        page.para(changed)
    for line in answer.tasks:
        page.line(line, indent=2)
    for number, (what, command) in enumerate(answer.worst, 1):
        page.para(what, label=f"worst {number}:")
        if command:
            page.line(command, indent=2)
    for note in result.notes:
        page.para(note, label="Note:")
    for subject in result.subjects:
        text = f"{subject.verdict:5} {subject.title}"
        page.para(f"{text}: {subject.reason}" if subject.reason else text)
    noted = f", {len(result.notes)} note{'s' * (len(result.notes) > 1)}" if result.notes else ""
    page.para(f"{result.verdict.replace('-', ' ')}{noted}; the tables are in {folder}", "bold")
