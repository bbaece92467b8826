"""Implementation of ``mlcheck matrix``: each testee in turn; what comes of them all is written into a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.locate import data_path
from multilang_cli.driver.scratch import scratch
from multilang_cli.reports.counting import counted
from multilang_cli.reports.escape import escape
from multilang_cli.reports.formats.registry import ReportError
from multilang_cli.reports.matrix.files import DATA, read_matrix, write_matrix
from multilang_cli.reports.matrix.words import library_label, score_in_words
from multilang_cli.subject.config import Config, ConfigError
from multilang_cli.subject.outputs import write_json
from multilang_cli.subject.recordings import RecordError
from multilang_cli.subject.settings import Flags, run_options
from multilang_cli.subject.storms import known_storm
from multilang_cli.subject.testee import prepare
from multilang_cli.suite import matrix as suite
from multilang_cli.suite.cases.case import CaseError
from multilang_cli.suite.cases.selection import SelectionError
from multilang_cli.terminal.exits import CommandError, ExitCode, worst
from multilang_cli.terminal.output import progress_line, remark, write

if TYPE_CHECKING:
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.matrix.model import Library, Matrix
    from multilang_cli.subject.options import Component, RunOptions
    from multilang_cli.subject.testee import Testee
    from multilang_cli.suite.runner.playing import Progress


class MatrixFlags(Flags, frozen=True, kw_only=True):
    """Options of the command, besides those of a component."""

    output: str | None = None
    folders: tuple[str, ...] = ()
    brief: bool = False
    add: bool = False
    as_json: bool = False


def matrix_given(flags: MatrixFlags) -> int:
    """Make the matrix that is asked for. Raises CommandError."""
    if flags.output is None:
        raise CommandError("matrix: where to? Give -o DIR.")
    folder = Path(flags.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        options = run_options(flags, os.environ, Config(None, {}, ()))
        rulebook = load_rulebook(known_storm(options.storm))
        options = msgspec.structs.replace(options, storm=known_storm(options.storm) or rulebook.newest.id)
        old = _old(folder) if flags.add else None
        testees = suite.find_testees(flags.folders or [str(data_path("conformance", "testees"))])
        suite.check_patterns(options)
        for testee in testees if flags.prepare else ():
            remark(f"{testee.folder.name}: preparing")
            prepare(testee)
        matrix = _played(testees, options, rulebook, folder, brief=flags.brief)
        matrix = matrix if old is None else matrix.added_to(old)
        write_matrix(matrix, folder, brief=flags.brief)
    except (ConfigError, CaseError, RecordError, SelectionError) as error:
        raise CommandError(f"matrix: {error}", error.code) from None
    except ReportError as error:
        raise CommandError(f"matrix: {error}") from None
    except OSError as error:
        raise CommandError(f"matrix: {error.filename or folder}: {error.strerror}.") from None
    if flags.as_json:
        write_json(matrix)
    else:
        show_scores(matrix, folder, brief=flags.brief)
    return matrix.exit_code


def _old(folder: Path) -> Matrix | None:
    """The matrix that is in a folder, None if there is none. Raises CommandError."""
    try:
        return read_matrix(folder)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise CommandError(f"matrix: {folder / DATA} is no matrix, so nothing can be added to it: {error}") from None


def _played(testees: list[Testee], options: RunOptions, rulebook: Rulebook, folder: Path, *, brief: bool) -> Matrix:
    """Play them all. Raises CommandError after an interrupt, or if no case was selected, besides what `play` raises."""
    libraries: list[Library] = []
    codes: list[int] = []
    with scratch("mlcheck-matrix-") as unkept:
        records = unkept if brief else folder / suite.CELLS
        for testee in testees:
            words = ("mlcheck", "run", "--testee", os.path.relpath(testee.folder))
            chosen = msgspec.structs.replace(options, reproduce=words)
            with progress_line(verbose=False, quiet=False) as progress:
                played = suite.play(testee, chosen, records / testee.folder.name, lambda part: _telling(part, progress))
            codes += [each.result.exit_code for each in played]
            if ExitCode.INTERRUPTED in codes:
                raise CommandError("matrix: interrupted; nothing was written", ExitCode.INTERRUPTED)
            if played:
                libraries.append(suite.library_of(testee, played, rulebook, None if brief else folder))
    if not libraries:
        raise CommandError("matrix: no case of these testees is selected (-k, --exclude)", ExitCode.NOTHING_SELECTED)
    return suite.matrix_of(libraries, options.storm, worst(codes), options)


def _telling(component: Component, progress: Progress | None) -> Progress | None:
    """Name the part on stderr before its first case."""

    def tell(case: str, begun: int, total: int) -> None:
        """A case begins: the first one names the part."""
        if begun == 0:
            remark(f"{component.name}: {counted(total, 'case')}")
        if progress is not None:
            progress(case, begun, total)

    return tell


def show_scores(matrix: Matrix, folder: Path, *, brief: bool) -> None:
    """Print the score of each library, a line each."""
    names = [escape(library_label(library)) for library in matrix.libraries]
    wide = max(map(len, names))
    for name, library in zip(names, matrix.libraries, strict=True):
        why = next((part.why for part in library.parts if part.why), "")
        write(f"{name:{wide}}  {escape(why) or score_in_words(matrix.score(library))}\n")
    remark(f"{folder / ('matrix.md' if brief else 'index.html')}")
