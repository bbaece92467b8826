"""A result as sections of a page: what was run, what is wrong, every subject, what was not tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.bundles import bundles, groups_in, known_failures_in, notes_in, rows_of, untested_in_all
from multilang_cli.reports.combined import parts_of
from multilang_cli.reports.escape import escape_lines, fit
from multilang_cli.reports.formats.console import next_command, summary_of
from multilang_cli.reports.grouping import note_lines, notes_of, place_of
from multilang_cli.reports.html.document import Cell, FactsSection, SectionColumn, TableSection, Text
from multilang_cli.reports.html.troubles import trouble
from multilang_cli.reports.model import VERDICTS
from multilang_cli.reports.verdict import word_of
from multilang_cli.reports.versions import cell_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.html.document import AnySection, Tone
    from multilang_cli.reports.model import RunResult, SubjectResult, Verdict

    To = Callable[[SubjectResult], str | None]

MOST_TROUBLES = 20
"""Troubles of one component that are shown in full."""
_CELL = 300
_LONGEST_COMMAND = 1000
_NUMBERS = frozenset({"seconds"})
TONES: dict[Verdict, Tone] = {
    "pass": "good",
    "fail": "bad",
    "stale": "bad",
    "flaky": "bad",
    "error": "bad",
    "warn": "warn",
    "untestable": "warn",
    "xfail": "muted",
    "skip": "muted",
}
"""What each verdict is worth."""


def line(text: str, most: int = _CELL) -> str:
    """One line of any text, escaped, cut in the middle where it is long."""
    return fit(text.replace("\n", " "), most).text


def about(result: RunResult) -> FactsSection:
    """Facts on what was run, and what came of it."""
    parts = parts_of(result)
    rows = [("verdict", f"{word_of(result)}: {summary_of(result)}")]
    for part in dict.fromkeys((part.component.name, part.component.command, part.component.why) for part in parts):
        name, command, why = part
        rows.append((name or "component", " ".join(command) + (f" ({why})" if why else "")))
    rows += [("where it runs", sentence) for sentence in result.sentences]
    kinds = dict.fromkeys(part.component.kind for part in parts if part.component.kind)
    rows += [
        ("kind", ", ".join(kinds)),
        ("Storm", result.storm),
        ("suite", " ".join(filter(None, (result.suite.name, result.suite.hash[:12])))),
        ("seed", "" if result.seed is None else str(result.seed)),
        ("began", result.started_at),
        ("platform", ", ".join(result.platform.values())),
        ("complete", "" if result.complete else "no: it was interrupted or stopped early"),
        ("next", next_command(result)),
    ]
    shown = tuple((line(name), line(value, 2000)) for name, value in rows if value)
    return FactsSection(id="about", title="About", rows=shown, folded=True)


def folded(section: AnySection) -> AnySection:
    """The same section, closed until a reader wants it."""
    return msgspec.structs.replace(section, folded=True)


def component_sections(result: RunResult, rulebook: Rulebook, to: To) -> Iterator[AnySection]:
    """Each component in turn, on one Storm version or several. `to`: where the conversation of a subject is shown."""
    for number, bundle in enumerate(bundles(result), 1):
        name = f"{line(bundle.label, 60)}: " if bundle.label else ""
        sections = (
            _versions(bundle.parts, to),
            *troubles(bundle.parts, rulebook),
            everything(bundle.parts, to),
            *(folded(each) for each in (_untested(bundle.parts), _notes(bundle.parts)) if each is not None),
        )
        for place, section in enumerate(each for each in sections if each is not None):
            yield msgspec.structs.replace(section, id=f"b{number}-{place}", title=name + section.title)


def troubles(parts: Sequence[RunResult], rulebook: Rulebook) -> Iterator[Text]:
    """Troubles, the gravest first, each with all that is known of it."""
    groups = groups_in(parts)
    for group in groups[:MOST_TROUBLES]:
        yield trouble(group, rulebook)
    if more := groups[MOST_TROUBLES:]:
        lines = (f"{group.verdict} {group.first.id}: {group.first.reason}" for group in more)
        yield Text(id="more", title=f"And {len(more)} more", paragraphs=tuple(map(line, lines)))


def _versions(parts: Sequence[RunResult], to: To) -> TableSection | None:
    """A row for each case that differs among the versions or is no pass, a column a version."""
    rows = rows_of(parts) if len(parts) > 1 else ()
    if not rows:
        return None
    subjects = [{subject.id: subject for subject in part.subjects} for part in parts]

    def cell(place: int, id_: str, verdict: Verdict | None) -> Cell:
        """The cell of a case on the version at this place."""
        subject = subjects[place].get(id_)
        shown = cell_of(verdict)
        return Cell(text=shown, tone=TONES[verdict] if verdict else "muted", to=to(subject) if subject else None)

    return TableSection(
        id="versions",
        title="On each Storm version",
        note="Cases that differ among the versions, or that did not pass.",
        columns=_columns("case", *(part.storm for part in parts)),
        rows=tuple(
            (line(row.id), *(cell(place, row.id, verdict) for place, verdict in enumerate(row.verdicts)))
            for row in rows
        ),
    )


def everything(parts: Sequence[RunResult], to: To, title: str = "Everything that was tested") -> TableSection:
    """Every subject, with where it is shown; a column that says nothing is left out."""
    several = len(parts) > 1
    rows = tuple(
        (
            Cell(text=cell_of(subject.verdict), tone=TONES[subject.verdict], value=VERDICTS.index(subject.verdict)),
            Cell(text=line(subject.id), to=to(subject)),
            *((part.storm,) if several else ()),
            line(subject.reason),
            line(subject.expected),
            ", ".join(dict.fromkeys(finding.rule for finding in subject.findings)),
            round(subject.duration, 3),
            line(subject.reproduce, _LONGEST_COMMAND),
        )
        for part, subject in sorted(
            ((part, subject) for part in parts for subject in part.subjects),
            key=lambda pair: place_of(pair[1].verdict),
        )
    )
    storm = ("Storm",) if several else ()
    columns = _columns("verdict", "subject", *storm, "got", "expected", "rules", "seconds", "again")
    # Nothing was expected of what is only recorded, and nothing plays it again.
    said = [place for place in range(len(columns)) if not rows or any(row[place] != "" for row in rows)]
    return TableSection(
        id="all",
        title=title,
        columns=tuple(columns[place] for place in said),
        rows=tuple(tuple(row[place] for place in said) for row in rows),
    )


def _untested(parts: Sequence[RunResult]) -> TableSection | None:
    untested = untested_in_all(parts)
    if not untested:
        return None
    rows = tuple((line(each.reason), line(", ".join(each.ids), _LONGEST_COMMAND)) for each in untested)
    return TableSection(id="untested", title="Not tested", columns=_columns("why", "what"), rows=rows)


def _notes(parts: Sequence[RunResult]) -> Text | None:
    said = [*notes_in(parts), *note_lines(notes_of(*parts))]
    said += [f"Known failure: {each.id}: {each.reason}" for each in known_failures_in(parts)]
    if parts[-1].verdict == "no-first-message" and parts[-1].component.stderr_tail:
        said.append("The component did not say a first message; its last words on stderr stand below.")
    if not said:
        return None
    code = escape_lines(parts[-1].component.stderr_tail) if parts[-1].verdict == "no-first-message" else ""
    return Text(id="notes", title="Notes", paragraphs=tuple(map(line, said)), code=code)


def _columns(*names: str) -> tuple[SectionColumn, ...]:
    return tuple(SectionColumn(name=line(name, 80), align="right" if name in _NUMBERS else "left") for name in names)
