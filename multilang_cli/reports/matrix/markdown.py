"""The matrix in markdown: the libraries, what is wrong with each, and one table of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.formats.markdown import code, prose, table
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.matrix.words import (
    LEGEND,
    TREND,
    WORDS,
    groups_of,
    library_label,
    score_in_words,
    trend_of,
    wrong_with,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.reports.matrix.model import Library, Matrix

BADGES = "badges"
MOST_NAMED = 8
"""Cases that are named where one thing is wrong in many."""


def to_markdown(matrix: Matrix) -> str:
    """The whole."""
    return "\n".join(_blocks(matrix))


def _blocks(matrix: Matrix) -> Iterator[str]:
    yield "# Multilang libraries\n"
    day = matrix.made_at[:10]
    yield f"{matrix.tool.name} {prose(matrix.tool.version)}, Storm {prose(matrix.storm)}, {prose(day)}. {LEGEND}\n"
    yield table(
        [["library", "language", "score", "badge"], ["---"] * 4, *(_about(matrix, each) for each in matrix.libraries)]
    )
    if trend := [[prose(cell) for cell in row] for row in trend_of(matrix)]:
        yield "## Versions\n"
        yield table([list(TREND), ["---"] * len(TREND), *trend])
    for library in matrix.libraries:
        yield from _wrong(library)
    yield "## Every case\n"
    yield _table(matrix)


def _about(matrix: Matrix, library: Library) -> list[str]:
    name = prose(library_label(library)) + (f" ({prose(library.source)})" if library.source else "")
    score = score_in_words(matrix.score(library)) if library.started else "could not be started"
    return [name, prose(library.language), score, f"![{prose(library.id)}]({BADGES}/{library.id}.svg)"]


def _wrong(library: Library) -> Iterator[str]:
    lines = [f"- {part.name}: {prose(part.why)}\n" for part in library.parts if part.why]
    for wrong in wrong_with(library):
        why = f"known: {prose(wrong.why)}" if wrong.first.known else code(wrong.why)
        rules = ", ".join(map(code, wrong.first.rules)) or "what had to come back did not"
        cases = some_of(wrong.cases, MOST_NAMED)
        lines.append(f"- {WORDS[wrong.first.verdict]}, {', '.join(wrong.parts)}: {rules}: {why}; in {code(cases)}\n")
    if lines:
        yield f"## {prose(library_label(library))}\n"
        if library.notes:
            yield f"{prose(library.notes)}\n"
        yield "".join(lines)


def _table(matrix: Matrix) -> str:
    rows = [["case", *(prose(library_label(each)) for each in matrix.libraries)], ["---"] * (len(matrix.libraries) + 1)]
    rows += [
        [code(case.id), *(WORDS[library.verdict(case.id)] for library in matrix.libraries)]
        for _, cases in groups_of(matrix)
        for case in cases
    ]
    return table(rows)
