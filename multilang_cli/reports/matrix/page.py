"""The matrix as an HTML page of the page kit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.escape import escape_lines
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.html.document import (
    Cell,
    FactsSection,
    MatrixCell,
    MatrixColumn,
    MatrixRow,
    MatrixSection,
    PageDocument,
    PageVerdict,
    SectionColumn,
    TableSection,
    Text,
)
from multilang_cli.reports.html.page_file import load_kit, render
from multilang_cli.reports.html.run_sections import TONES, line
from multilang_cli.reports.matrix.words import (
    LEGEND,
    TREND,
    WORDS,
    detail_of,
    groups_of,
    library_label,
    score_in_words,
    trend_of,
    wrong_with,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.reports.html.document import AnySection, Tone
    from multilang_cli.reports.matrix.model import Library, Matrix, MatrixCase
    from multilang_cli.reports.model import Verdict

TITLE = "Multilang libraries"
_MOST_NAMED = 20
_LONGEST_PARAGRAPH = 2000


def to_html(matrix: Matrix) -> str:
    """The page. Raises KitError."""
    return render(document_of(matrix), load_kit())


def document_of(matrix: Matrix) -> PageDocument:
    """The page document."""
    failing = [library_label(each) for each in matrix.libraries if matrix.score(each).failed or not each.started]
    count = f"{len(matrix.libraries)} libraries, {len(matrix.cases)} cases"
    return PageDocument(
        title=TITLE,
        subtitle=line(
            f"{count}; something failed with {', '.join(failing)}" if failing else f"{count}; nothing failed"
        ),
        made_by=f"{matrix.tool.name} {matrix.tool.version}",
        made_at=matrix.made_at,
        verdict=PageVerdict(text=f"{len(failing)} with failures", tone="bad")
        if failing
        else PageVerdict(text="all right", tone="good"),
        sections=tuple(_sections(matrix)),
    )


def _sections(matrix: Matrix) -> Iterator[AnySection]:
    facts = [("Storm", matrix.storm), ("suite", matrix.suite), ("made", matrix.made_at)]
    yield FactsSection(id="about", title="About", rows=tuple((name, line(value)) for name, value in facts))
    yield _libraries(matrix)
    if trend := [tuple(line(cell) for cell in row) for row in trend_of(matrix)]:
        columns = tuple(SectionColumn(name=name) for name in TREND)
        yield TableSection(id="versions", title="Versions", columns=columns, rows=tuple(trend))
    yield MatrixSection(
        id="matrix",
        title="Every case",
        note=LEGEND,
        corner="case",
        columns=tuple(
            MatrixColumn(name=line(each.name, 40), note=line(f"{each.version}, {each.language}", 40))
            for each in matrix.libraries
        ),
        groups=tuple((name, tuple(_row(matrix, case) for case in cases)) for name, cases in groups_of(matrix)),
    )
    yield from (
        _wrong(library) for library in matrix.libraries if any(part.troubles or part.why for part in library.parts)
    )


def _libraries(matrix: Matrix) -> TableSection:
    names = ("library", "version", "language", "from", "score", "notes")
    return TableSection(
        id="libraries",
        title="Libraries",
        columns=tuple(SectionColumn(name=name) for name in names),
        rows=tuple(
            (
                Cell(text=line(each.name), to=_id(each) if any(p.troubles or p.why for p in each.parts) else None),
                line(each.version),
                line(each.language),
                line(each.source),
                Cell(text=_score(matrix, each), tone=_tone(matrix, each)),
                line(each.notes),
            )
            for each in matrix.libraries
        ),
    )


def _score(matrix: Matrix, library: Library) -> str:
    return score_in_words(matrix.score(library)) if library.started else "could not be started"


def _tone(matrix: Matrix, library: Library) -> Tone:
    score = matrix.score(library)
    if score.failed or not library.started:
        return "bad"
    return "warn" if score.warned else "good"


def _row(matrix: Matrix, case: MatrixCase) -> MatrixRow:
    cells = tuple(_cell(library, case.id, library.verdict(case.id)) for library in matrix.libraries)
    return MatrixRow(name=line(case.id), detail=line(case.title), cells=cells)


def _cell(library: Library, case: str, verdict: Verdict | None) -> MatrixCell | None:
    if verdict is None:
        return None
    page = next((trouble.page for _, trouble in library.troubles(case) if trouble.page), None)
    tone = "bad" if verdict == "xfail" else TONES[verdict]
    return MatrixCell(text=WORDS[verdict], tone=tone, detail=line(detail_of(library, case)), file=page)


def _wrong(library: Library) -> Text:
    """Sentences on what is wrong with a library: the page without its script says it too."""
    said = [f"{part.name}: {part.why}" for part in library.parts if part.why]
    for wrong in wrong_with(library):
        rules = f" ({', '.join(wrong.first.rules)})" if wrong.first.rules else ""
        parts = ", ".join(wrong.parts)
        said.append(
            f"{WORDS[wrong.first.verdict]}, {parts}: {wrong.why}{rules}; in {some_of(wrong.cases, _MOST_NAMED)}"
        )
    code = "\n".join(dict.fromkeys(wrong.first.reproduce for wrong in wrong_with(library) if wrong.first.reproduce))
    return Text(
        id=_id(library),
        title=line(library_label(library)),
        paragraphs=tuple(line(each, _LONGEST_PARAGRAPH) for each in said),
        code=escape_lines(code),
    )


def _id(library: Library) -> str:
    return "library-" + "".join(c if c.isascii() and c.isalnum() else "-" for c in library.id.lower())
