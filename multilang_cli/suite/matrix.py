"""Plays every case with every library: testees in, a matrix out, with the conversations of what went wrong."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli import __version__
from multilang_cli.driver.launch import LaunchError
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.reports.html.page import to_html
from multilang_cli.reports.matrix.model import TROUBLES, CellTrouble, Library, Matrix, MatrixCase, Part
from multilang_cli.reports.model import Tool, Verdict
from multilang_cli.reports.verdict import Circumstances, conclude
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.testee import FILE, read_testee
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.cases.selection import select
from multilang_cli.suite.runner.suite_run import for_part, not_run, run_suite, suite_hash
from multilang_cli.suite.verdict import known_failures
from multilang_cli.suite.verdict.baseline import broken, rule_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import RunResult, SubjectResult
    from multilang_cli.subject.options import Component, RunOptions
    from multilang_cli.subject.testee import Testee
    from multilang_cli.suite.runner.playing import Progress

CELLS = "cells"
"""The folder of the pages and transcripts of what went wrong, below that of the matrix."""


HINT = "was it prepared? `mlcheck matrix --prepare` runs the commands that its testee.yaml names for that"


class PlayedTestee(NamedTuple):
    """A part of a testee, and what came of it."""

    component: Component
    result: RunResult


def find_testees(names: Iterable[str]) -> list[Testee]:
    """The testees in folders that are one, or hold some. Raises ConfigError."""
    found: dict[Path, Testee] = {}
    for name in names:
        folder = Path(name)
        here = [folder] if (folder / FILE).is_file() else sorted(path.parent for path in folder.glob(f"*/{FILE}"))
        if not here:
            raise ConfigError(f"{name}: no testee is in it; expected {FILE} in this folder, or in folders in it.")
        found |= {path.resolve(): read_testee(path) for path in here}
    ids = [testee.folder.name for testee in found.values()]
    if twice := sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        raise ConfigError(f"{twice[0]}: two testees are in folders of this name; a matrix has a column for each.")
    return list(found.values())


def check_patterns(options: RunOptions) -> None:
    """See that each pattern selects something of some kind. Raises SelectionError."""
    cases = [*load_cases("component", options.suites), *load_cases("library")]
    for pattern in (*options.include, *options.exclude):
        select(cases, "auto", (pattern,), ())


def play(
    testee: Testee, options: RunOptions, record: Path, tell: Callable[[Component], Progress | None]
) -> list[PlayedTestee]:
    """Play a testee's parts for which a case is selected; transcripts go to a folder for each below `record`.

    A part that can't be started is told as such. After an interrupt no other part is played. Raises ConfigError,
    CaseError, RecordError.
    """
    played: list[PlayedTestee] = []
    for component in testee.components():
        fitting = for_part(component, options)
        if fitting is None:
            continue
        where = msgspec.structs.replace(fitting, record=str(record / str(component.testee)))
        try:
            result = run_suite(component, where, tell(component))
        except LaunchError as error:
            why = f"{error.message}{f' ({error.hint})' if error.hint else ''}"
            result = not_run(component, where, Circumstances(no_first_message=True), why)
        played.append(PlayedTestee(component, result))
        if result.verdict == "interrupted":
            break
    return played


def library_of(testee: Testee, played: Sequence[PlayedTestee], rulebook: Rulebook, folder: Path | None) -> Library:
    """A testee's results as a column. `folder`: that of the matrix, if its conversations are to have pages there.

    Raises ReportError, OSError.
    """
    return Library(
        id=testee.folder.name,
        name=testee.library.name,
        version=testee.library.version,
        language=testee.language,
        source=testee.library.source,
        notes=testee.notes,
        parts=tuple(_part(testee, each, rulebook, folder) for each in played),
    )


def _part(testee: Testee, played: PlayedTestee, rulebook: Rulebook, folder: Path | None) -> Part:
    component, result = played
    name = str(component.testee)
    if result.verdict == "no-first-message":
        said = (*result.notes, *(each.reason for each in result.subjects[-1:] if each.reason))
        why = f"it could not be started: {' '.join(said)}{f'; {HINT}' if testee.prepare else ''}"
        return Part(name=name, verdict=result.verdict, exit_code=result.exit_code, verdicts={}, why=why)
    comments = _comments(component, rulebook)
    troubles = []
    for subject in result.subjects:
        if subject.verdict in TROUBLES:
            shown = None if folder is None else _page(result, subject, rulebook, folder)
            troubles.append(_trouble(subject, result.storm, comments.get(subject.id, ""), shown))
    return Part(
        name=name,
        verdict=result.verdict,
        exit_code=result.exit_code,
        verdicts={subject.id: subject.verdict for subject in result.subjects},
        troubles=tuple(troubles),
        untested=result.untested,
    )


def _comments(component: Component, rulebook: Rulebook) -> dict[str, str]:
    """Comments that stand in the file of known failures beside each case."""
    if not component.known_failures:
        return {}
    known = known_failures.read(component.known_failures, rulebook)
    return {entry.id: entry.comment or known.at(entry) for entry in known.entries.values()}


def _page(result: RunResult, subject: SubjectResult, rulebook: Rulebook, folder: Path) -> tuple[str, str] | None:
    """Write the page of a conversation beside its transcript; both as seen from `folder`. None if there is none."""
    if subject.transcript is None:
        return None
    transcript = Path(subject.transcript)
    page = transcript.with_suffix(".html")
    alone = conclude(msgspec.structs.replace(result, subjects=(subject,), untested=(), coverage=()))
    write_whole(page, to_html(alone, rulebook).encode("utf-8", "backslashreplace"))
    return os.path.relpath(page, folder), os.path.relpath(transcript, folder)


def _trouble(subject: SubjectResult, storm: str, known: str, shown: tuple[str, str] | None) -> CellTrouble:
    plain: Verdict = "fail" if subject.verdict == "xfail" else subject.verdict
    rules = broken(msgspec.structs.replace(subject, verdict=plain), storm)
    return CellTrouble(
        case=subject.id,
        verdict=subject.verdict,
        reason=subject.reason,
        rules=tuple(dict.fromkeys(map(rule_of, rules))),
        known=known if subject.verdict == "xfail" else "",
        page=shown and shown[0],
        transcript=shown and shown[1],
        reproduce=subject.reproduce,
    )


def matrix_of(libraries: Sequence[Library], storm: str, exit_code: int, options: RunOptions) -> Matrix:
    """The columns put together; the rows are the cases that were selected."""
    cases = [*load_cases("component", options.suites), *load_cases("library")]
    played = {case for library in libraries for part in library.parts for case in part.verdicts}
    return Matrix(
        tool=Tool(version=__version__),
        storm=storm,
        suite=suite_hash(cases),
        made_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        exit_code=exit_code,
        cases=tuple(
            MatrixCase(id=case.id, title=case.title, level=case.level, kind=case.kind, part=case.testee)
            for case in cases
            if case.id in played
        ),
        libraries=tuple(libraries),
    )
