"""A result as one HTML page: of a run, or of recorded conversations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from multilang_cli.reports.bundles import groups_in
from multilang_cli.reports.combined import label_of, parts_of
from multilang_cli.reports.formats.console import summary_of
from multilang_cli.reports.grouping import some_of, told_first
from multilang_cli.reports.html.document import PageDocument, PageVerdict, Text
from multilang_cli.reports.html.keeping import PAGE_EVENTS, EventBudget
from multilang_cli.reports.html.page_file import load_kit, render
from multilang_cli.reports.html.recordings import Recordings
from multilang_cli.reports.html.run_sections import about, component_sections, everything, folded, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.html.document import AnySection, Tone
    from multilang_cli.reports.model import RunResult

_TONES: dict[int, Tone] = {0: "good", 1: "bad", 6: "warn", 130: "warn"}
_NEVER = "1970-01-01T00:00:00Z"
_NOTHING_WRONG = "Nothing that must not be was found."
_RECORDED = "lint"
_MOST_OF_A_HEAD = 240
"""Characters of the sentence below the title, but for the rule and the count behind it."""


def to_html(
    result: RunResult, rulebook: Rulebook, sections: Sequence[AnySection] = (), events: int = PAGE_EVENTS
) -> str:
    """The page of a result, with its recorded conversations, and more `sections`. Raises KitError."""
    kit = load_kit()
    return render(document_of(result, rulebook, events, sections), kit)


def document_of(
    result: RunResult, rulebook: Rulebook, events: int = PAGE_EVENTS, more: Sequence[AnySection] = ()
) -> PageDocument:
    """The page document of a result; `events`: how many it shows at most. The same for the same result.

    The conversations are read from where the subjects' `transcript` says, as seen from the working directory.
    """
    recorded = result.suite.name == _RECORDED
    recordings = Recordings(result, rulebook, EventBudget(events), detailed=recorded)
    sections = list(_recorded(result, recordings) if recorded else _run(result, rulebook, recordings, more))
    began = next((told.header.started_at for told in recordings.told), "") if recorded else result.started_at
    return PageDocument(
        title=_title(result),
        subtitle=_cause(result),
        made_by=f"{result.tool.name} {result.tool.version}",
        made_at=_rfc3339(began),
        verdict=PageVerdict(text=result.verdict.replace("-", " "), tone=_TONES.get(result.exit_code, "bad")),
        sections=tuple(sections),
    )


def _run(
    result: RunResult, rulebook: Rulebook, recordings: Recordings, more: Sequence[AnySection]
) -> Iterator[AnySection]:
    yield from more
    yield from component_sections(result, rulebook, recordings.section_of)
    yield from _notes(recordings.notes)
    yield about(result)
    for told in recordings.told:
        yield from map(folded, told.sections())


def _recorded(result: RunResult, recordings: Recordings) -> Iterator[AnySection]:
    yield from _notes([*result.notes, *recordings.notes])
    if len(result.subjects) > 1:
        yield everything(parts_of(result), recordings.section_of, "Conversations")
    for number, told in enumerate(recordings.told):
        # Those in trouble come first. All open, twenty conversations are forty screens.
        yield from map(folded, told.sections()) if number else told.sections()


def _notes(notes: Sequence[str]) -> Iterator[Text]:
    if notes:
        yield Text(id="notes", title="Notes", paragraphs=tuple(map(line, notes)))


def _title(result: RunResult) -> str:
    """The title of the page: the components that were played, or whose conversations were recorded."""
    commands = ", ".join(filter(None, dict.fromkeys(label_of(part) for part in parts_of(result))))
    if result.suite.name != _RECORDED:
        return line(commands, 120)
    return line(f"Recorded: {commands or some_of((each.id for each in result.subjects), 3)}", 120)


def _cause(result: RunResult) -> str:
    """The gravest trouble in a sentence; if there is none, the counts."""
    groups = groups_in(parts_of(result))
    if not groups:
        return line(_NOTHING_WRONG if result.suite.name == _RECORDED else summary_of(result))
    first = groups[0]
    rule = f" (rule {first.finding.rule})" if first.finding else ""
    count = f", in {len(first.subjects)} {first.first.kind}s" if len(first.subjects) > 1 else ""
    return line(f"{_whole_sentences(told_first(first.first))}{rule}{count}{first.only_on}")


def _whole_sentences(text: str) -> str:
    """As many sentences of a long text as a head has room for; all of it where the first is too long already."""
    room, end, _ = text[:_MOST_OF_A_HEAD].rpartition(". ")
    return f"{room}." if end and len(text) > _MOST_OF_A_HEAD else text


def _rfc3339(text: str) -> str:
    """A time as the page has it. When a page is made changes nothing in it, so this is when it began."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return _NEVER
