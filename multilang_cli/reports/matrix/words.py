"""The words in the cells of a matrix, and the groups of its rows: the same in every form of it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.matrix.model import TROUBLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.reports.matrix.model import CellTrouble, Library, Matrix, MatrixCase, Score
    from multilang_cli.reports.model import Verdict

WORDS: dict[Verdict | None, str] = {
    "pass": "pass",
    "warn": "warn",
    "skip": "-",
    "fail": "FAIL",
    "xfail": "FAIL",
    "flaky": "FLAKY",
    "stale": "STALE",
    "untestable": "untestable",
    "error": "ERROR",
    None: "",
}
"""What stands in a cell. A known failure is a failure; `-` is what was not tested."""

TREND = ("library", "version", "tested on", "score", "mended by the next", "broken by the next")
"""What the trend over versions has of each."""

LEGEND = (
    "pass: as the protocol has it. FAIL: not so, a bug of the library. warn: allowed, but a Storm version punishes it "
    "or the protocol advises against it. -: not tested: the library does not claim it, or gives no occasion for it. "
    "An empty cell: the testee has no such part."
)


class LibraryFault(NamedTuple):
    """One thing that is wrong with a library: the first trouble that shows it, in which parts and cases it is."""

    first: CellTrouble
    parts: tuple[str, ...]
    cases: tuple[str, ...]

    @property
    def why(self) -> str:
        """The sentence of whoever looked into it, else what mlcheck said."""
        return self.first.known or self.first.reason


def wrong_with(library: Library) -> list[LibraryFault]:
    """Faults of a library, each once."""
    found: dict[tuple[object, ...], list[tuple[str, CellTrouble]]] = {}
    for part in library.parts:
        for trouble in part.troubles:
            key = (trouble.verdict, trouble.known or trouble.reason, trouble.rules)
            found.setdefault(key, []).append((part.name, trouble))
    return [
        LibraryFault(
            all_[0][1], tuple(dict.fromkeys(part for part, _ in all_)), tuple(dict.fromkeys(t.case for _, t in all_))
        )
        for all_ in found.values()
    ]


def library_label(library: Library) -> str:
    """A library as its users know it."""
    return f"{library.name} {library.version}"


def trend_of(matrix: Matrix) -> Iterator[tuple[str, ...]]:
    """The rows of the trend (`TREND`), of libraries that have a past."""
    for library in matrix.libraries:
        for past in library.past:
            score = f"{past.passed} of {past.tested} passed, {past.failed} failed"
            changes = (some_of(ids) if ids else "nothing" for ids in (past.mended, past.broken))
            yield (library.name, past.version, past.made_at[:10], score, *changes)
        if library.past:
            yield (library.name, library.version, matrix.made_at[:10], score_in_words(matrix.score(library)), "", "")


def groups_of(matrix: Matrix) -> Iterator[tuple[str, list[MatrixCase]]]:
    """The rows by what their names begin with."""
    ordered = sorted(matrix.cases, key=lambda case: (case.id.startswith("library."), _lead(case), case.id))
    for name, cases in groupby(ordered, _lead):
        yield name, list(cases)


def _lead(case: MatrixCase) -> str:
    words = case.id.split(".")
    return ".".join(words[:2] if words[0] == "library" else words[:1])


def score_in_words(score: Score) -> str:
    """A score in a sentence."""
    parts = [f"{score.passed} of {score.tested} passed"]
    if score.failed:
        parts.append(f"{score.failed} failed" + (f" ({score.known} of them known)" if score.known else ""))
    if score.warned:
        parts.append(f"{score.warned} gave a warning")
    if score.skipped:
        parts.append(f"{score.skipped} not tested")
    return ", ".join(parts)


def detail_of(library: Library, case: str) -> str:
    """The reason why a cell is as it is; "" for a pass."""
    verdict = library.verdict(case)
    if verdict == "skip":
        return library.untested(case)
    if verdict not in TROUBLES:
        return ""
    said = (f"{part.name}: {trouble.known or trouble.reason}" for part, trouble in library.troubles(case))
    return "; ".join(said)
