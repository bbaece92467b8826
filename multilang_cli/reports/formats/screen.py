"""The one screen of what went wrong: the cause first, then where, what was said, what Storm does, what to do.

For a person who reads one line: the headline is in the component's words, the verdict and the exit code come last.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import starmap
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.protocol.words.shortening import CUT
from multilang_cli.reports.bundles import untested_in_all
from multilang_cli.reports.escape import Shown, chunks, width
from multilang_cli.reports.failure import stderr_lines
from multilang_cli.reports.formats.console import as_text, summary_of
from multilang_cli.reports.grouping import SHOWN_FIRST, Trouble, fates_of, some_of, troubles_of
from multilang_cli.reports.message_words import channel_of, in_short, telling
from multilang_cli.reports.page import MOST_CELLS, Page
from multilang_cli.reports.verdict import FATE_WORDS, word_of

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.causes.model import Cause, Place
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.reports.model import RunResult, SubjectResult

MOST_LINES = 24
"""Lines of a terminal that nobody has made larger: what is less telling goes first to keep within them."""


class _Room(NamedTuple):
    """Lines that each part of any length may take: messages, stderr, other causes, and each of the sentences."""

    rows: int
    stderr: int
    others: int
    sentence: int

    def cut(self, page: Page, text: str, hang: int) -> str:
        """A sentence that may hold a component's own words, in lines that hang at column `hang`."""
        return _head(page, text, self.sentence * (page.columns - hang - _SLACK) + _SLACK)


_ROOMS = tuple(
    starmap(
        _Room,
        [
            (6, 6, 4, 4),
            (6, 6, 2, 3),
            (5, 5, 2, 3),
            (4, 4, 1, 3),
            (4, 4, 1, 2),
            (3, 3, 1, 2),
            (2, 2, 1, 2),
            (2, 1, 1, 2),
            (2, 1, 1, 1),
        ],
    )
)
"""From the most that is shown to the least."""
_HEADLINE = 2
"""Lines that the headline may take in any room."""
_SLACK = 8
"""Cells that a line may lose to a word which doesn't fit in it."""
_BEFORE = 3
"""Of the cells of a message, one in so many stands before the place that is marked in it."""
_PART_OF_CASES = 4
"""Of the cases played, this part at most are few."""
MADE_UP = "    <- made up by mlcheck"
_OR = "  Or      the tuple was made up: say what yours look like (--tuple JSON)"
_LONG_PATH = 24
"""Cells from which on a path is told by its last name."""
_ROLE = "Say what it is: --kind bolt or --kind spout. Asked as both it showed neither; one of them is not its role."
_JVM = re.compile(r" \((?:java|org)\.[\w.$]+ (?:is|and) ")
"""Where a JVM begins to tell of modules and class loaders."""
SCREEN_HANG = 10
_WARNED = "bold yellow"
_STYLES = {0: "bold green", 6: _WARNED}
_LEVELS = {"warn": "warning", "untestable": "not judged"}


def fits_one_screen(result: RunResult) -> bool:
    """True if one screen tells it: nothing went wrong, or a cause is known for what did or for what is warned of."""
    return not result.parts and (_is_plain(result) or bool(troubles_of(result)))


def _is_plain(result: RunResult) -> bool:
    """True if there is nothing to be told of any case: all that were played passed, or fail as is known."""
    return result.exit_code == 0 and result.gates and not any(each.verdict in SHOWN_FIRST for each in result.subjects)


def render_screen(result: RunResult, console: Console) -> None:
    """Show the first cause in full, the others in a line each, and the verdict last, in no more than `MOST_LINES`."""
    if _is_plain(result):
        _show_plain(Page(console), result)
        return
    fitting = (room for room in _ROOMS if _height(result, room, console.width) <= MOST_LINES)
    _show(Page(console), result, next(fitting, _ROOMS[-1]))


def _height(result: RunResult, room: _Room, columns: int) -> int:
    return as_text(lambda console: _show(Page(console), result, room), columns).count("\n")


def _show(page: Page, result: RunResult, room: _Room) -> None:
    first, *others = troubles_of(result)
    _show_header(page, result)
    page.blank()
    label = word_of(result) if result.exit_code else "WARN"
    sure = "" if first.cause.certainty == "certain" else "likely: "
    hang = len(label) + 2
    headline = room._replace(sentence=max(room.sentence, _HEADLINE)).cut(page, f"{sure}{first.cause.headline}", hang)
    style = _style(result) if result.exit_code else _WARNED
    page.para(headline, "bold", label=label, label_style=style, hang=hang)
    page.blank()
    declared = result.profile is not None and bool(result.profile.samples)
    show_story(page, first.first, first.cause, room, declared=declared)
    page.blank()
    _show_case(page, first, result, room)
    _show_waits(page, first, room)
    _show_storm(page, first, result, room)
    _show_way_out(page, first, room, undecided=result.verdict == "misuse")
    _show_others(page, first, others, result, room)
    _show_end(page, first, result)


def _show_plain(page: Page, result: RunResult) -> None:
    """Show a pass: what is known to fail, what was not tested in one sentence, and the verdict last."""
    _show_header(page, result)
    page.blank()
    known = [subject.id for subject in result.subjects if subject.verdict == "xfail"]
    if known:
        page.para(some_of(known), label="Known failures", hang=SCREEN_HANG + 6)
    told = _in_brief(result)
    if told:
        page.para(f"{told} (all that was seen: mlcheck run -v)")
    _show_verdict(page, result)
    for sentence in result.sentences:
        page.para(sentence, label="Storm:", hang=len("Storm: "))
    if result.next_command:
        page.line(f"Next: {result.next_command}")


def _in_brief(result: RunResult) -> str:
    """The notes, counted, and what was not tested, as the part of one sentence; "" for nothing of them."""
    notes = len(result.notes)
    untested = untested_in_all((result,)) if result.exit_code == 0 else ()
    told = [f"{notes} note{'s' if notes > 1 else ''}"] if notes else []
    if untested:
        first = max(untested, key=lambda each: len(each.ids))
        more = f", and for {len(untested) - 1} more reasons" if len(untested) > 1 else ""
        told.append(f"not tested: {first.reason}{more}")
    return "; ".join(told)


def show_story(
    page: Page, subject: SubjectResult, cause: Cause, room: _Room = _ROOMS[0], *, declared: bool = False
) -> None:
    """Show the place in the user's own file, and the few messages that led to it. `declared`: tuples of it were."""
    if cause.place is not None:
        _show_place(page, cause.place)
    stderr = [] if cause.last else stderr_lines(subject.stderr_tail)
    apart = len(stderr) > 1
    rows = telling((row for row in subject.excerpt if row.mark or row.channel != "err" or not apart), cause, room.rows)
    fed = [row.seq for row in rows if row.channel == "in" and in_short(row, cause).startswith("tuple  ")]
    made_up = fed[-1:] if subject.verdict == "untestable" and not declared else []
    number = max((len(str(row.seq)) for row in rows), default=0)
    for row in rows:
        lead = f"    {'-->' if row.mark else '   '} {row.seq:>{number}}  {channel_of(row):4}  "
        whose = MADE_UP if row.seq in made_up else ""
        cells = page.columns - len(lead) - len(whose)
        shown = (
            _around(page, row.text, cells, row.at) if row.at else Shown(_head(page, in_short(row, cause), cells), None)
        )
        page.line(lead + shown.text + whose, "bold red" if row.mark else "")
        if shown.column is not None:
            page.line(" " * (len(lead) + shown.column) + "^")
    if apart or not any(row.channel == "err" for row in rows):
        page.lines(stderr[-room.stderr :], indent=8, bar="| ")


def _around(page: Page, text: str, cells: int, at: int) -> Shown:
    """The text around the index `at` of a component's text, as much as fits."""
    begin = max(0, at - cells // _BEFORE) if len(text) > cells else 0
    lead = CUT if begin else ""
    shown = page.fit(lead + text[begin : begin + cells], MOST_CELLS, len(lead) + at - begin)
    cut = width(shown.text) > cells or len(text) - begin > cells
    return Shown(chunks(shown.text, cells - len(CUT))[0] + CUT, shown.column) if cut else shown


def _head(page: Page, text: str, cells: int) -> str:
    """The beginning of a component's text, as much as fits."""
    shown = page.fit(text, MOST_CELLS).text
    return shown if width(shown) <= cells else chunks(shown, cells - len(CUT))[0] + CUT


def _show_header(page: Page, result: RunResult) -> None:
    kind = f"a {result.component.kind}, " if result.component.kind else ""
    count = len(result.subjects)
    cases = f"{count} case{'s' if count != 1 else ''}" if count else "no case"
    took = f" in {result.duration:.1f} s" if result.duration else ""
    name = result.component.name or _program(result.component.command)
    how = f"{kind}played" if kind else "asked as a bolt and as a spout"
    told = f"; {cases}{took}" if kind else ""
    page.para(f"{name}: {how} as Storm {result.storm} plays it{told}")


_PATHS = frozenset({"-cp", "-classpath", "--class-path", "-I", "-L"})
"""Options that a path follows, which is no program."""


def _program(command: tuple[str, ...]) -> str:
    """The word of a command that a reader knows it by: that of the program, not of its interpreter."""
    words = [
        word for before, word in zip(("", *command), command, strict=False) if word[:1] != "-" and before not in _PATHS
    ]
    # A suffix tells a file; a dot alone is a folder, as in a class path.
    named = [word for word in words[1:] if PurePosixPath(word).suffix]
    # Java's words are options and then the class, which needs no package.
    word = (named or (words[1:] if PurePosixPath(words[0]).name == "java" else []) or words)[0]
    return word if width(word) <= _LONG_PATH else word.rpartition("/")[2]


def _show_place(page: Page, place: Place) -> None:
    lead = f"    {place.file}:{place.line}    "
    page.line(lead + _head(page, place.code, max(page.columns - len(lead), 20)), "bold")
    if place.mark and len(lead) + len(place.mark) <= page.columns:
        page.line(" " * len(lead) + place.mark)


def _is_common(trouble: Trouble, result: RunResult) -> bool:
    """True if most cases that were played have it."""
    played = sum(subject.verdict != "skip" for subject in result.subjects)
    return played == 1 or len(trouble.subjects) > max(1, played // _PART_OF_CASES)


def _show_case(page: Page, trouble: Trouble, result: RunResult, room: _Room) -> None:
    """Show what the case did, if few have the trouble: it may be what brings it out."""
    shown, more = trouble.first, len(trouble.subjects) - 1
    if shown.kind != "case" or _is_common(trouble, result):
        return
    others = f"; and in {more} other{'s' if more > 1 else ''}" if more else ""
    told = room.cut(page, f"{shown.id}: {shown.title}{others}", SCREEN_HANG)
    page.para(told, label="Case", indent=2, hang=SCREEN_HANG)


def _show_waits(page: Page, trouble: Trouble, room: _Room) -> None:
    """Show who waits on whom, where a silence is what went wrong."""
    waits = trouble.finding.waits if trouble.finding else None
    if waits is not None:
        page.para(room.cut(page, f"the component {waits}", SCREEN_HANG), label="Waits", indent=2, hang=SCREEN_HANG)


def _show_storm(page: Page, trouble: Trouble, result: RunResult, room: _Room) -> None:
    """Show what Storm does, in one sentence for the version asked and all that do the same."""
    if trouble.finding is None:
        return
    finding = _met_first(trouble, trouble.finding, result.storm)
    groups = fates_of(finding.fates, finding.errors)
    own = next((group for group in groups if result.storm in group.versions), None)
    if own is None:
        return
    one = len({group.fate for group in groups}) == 1
    every = f"since {trouble.cause.since}" if trouble.cause.since else "every version"
    versions = every if one else ", ".join(own.versions)
    does = "the worker dies with all its tasks" if own.fate == "dies" else FATE_WORDS[own.fate]
    if own.fate == "survives" and trouble.verdict == "fail":
        does = "goes on; a failure all the same, for the protocol forbids it"
    error = _head(page, _JVM.split(own.error, maxsplit=1)[0], 30 * room.sentence)
    of = f"of message {finding.seq} " if error and finding is not trouble.finding else ""
    says = f'; its log {of}says "{error}"' if error else ""
    more = "" if one else f"; others differ: mlcheck explain {finding.rule}"
    page.para(f"{versions}: {does}{says}{more}", label="Storm", indent=2, hang=SCREEN_HANG)


def _met_first(trouble: Trouble, finding: Finding, storm: str) -> Finding:
    """The finding that Storm dies of, if it comes before the one shown, or of the same cause: its log tells of that."""
    musts = [each for each in trouble.first.findings if each.level == "must" and each.fates.get(storm) == "dies"]
    deadly = [each for each in musts if each.seq <= finding.seq or each.rule in trouble.cause.rules]
    if not deadly and trouble.verdict == "fail" and finding.fates.get(storm) in {"survives", "loses-data"}:
        deadly = musts  # what it does later ends the worker that this leaves alive
    return min(deadly, key=lambda each: each.seq, default=finding)


def _show_way_out(page: Page, trouble: Trouble, room: _Room, *, undecided: bool) -> None:
    cause, subject = trouble.cause, trouble.first
    if undecided:
        page.para(_ROLE, label="First", label_style="bold green", indent=2, hang=SCREEN_HANG)
    if cause.suspect is not None and cause.place is None:
        lead = f"  Look    {cause.suspect.file}:{cause.suspect.line}    "
        page.line(lead + _head(page, cause.suspect.code, max(page.columns - len(lead), 20)))
    if cause.mend:
        page.para(
            room.cut(page, cause.mend, SCREEN_HANG), label="Do", label_style="bold green", indent=2, hang=SCREEN_HANG
        )
    for line in cause.code.splitlines():
        page.line(line, "bold", indent=SCREEN_HANG)
    if subject.verdict == "untestable" and "--tuple" in subject.reason and "--tuple" not in cause.mend:
        page.line(_OR)
    page.line(f"  More    mlcheck explain {cause.id}")
    again = again_of(subject, page.columns - SCREEN_HANG)
    if again:
        page.line(f"  Again   {again}")


def again_of(subject: SubjectResult, cells: int) -> str:
    """The one command that shows it again: the recording's where that of the case is longer than a line."""
    if subject.transcript and width(subject.reproduce) > cells:
        return f"mlcheck replay {subject.transcript}"
    return subject.reproduce


def _show_others(page: Page, first: Trouble, others: list[Trouble], result: RunResult, room: _Room) -> None:
    told = {subject.id for trouble in (first, *others) for subject in trouble.subjects}
    rest = [subject for subject in result.subjects if subject.verdict in {"fail", "stale", "flaky", "error"}]
    counts: Counter[tuple[str, str]] = Counter()
    for trouble in others:
        counts[trouble.verdict, trouble.cause.headline] += len(trouble.subjects)
    counts.update((subject.verdict, f"{subject.id}: {subject.reason}") for subject in rest if subject.id not in told)
    lines = list(counts.items())
    if lines and room.others > 1:
        page.blank()
    for (verdict, text), count in lines[: room.others]:
        lead = f"  Also    {_LEVELS.get(verdict, verdict)}, {count} case{'s' if count != 1 else ''}: "
        page.line(lead + _head(page, text, max(page.columns - len(lead), 20)))
    if len(lines) > room.others:
        page.line(f"  and {len(lines) - room.others} more: mlcheck run -v")


def _show_end(page: Page, first: Trouble, result: RunResult) -> None:
    page.blank()
    common = _is_common(first, result) and len(result.subjects) > 1
    told = [f"{len(first.subjects)} of {len(result.subjects)} cases end so"] if common else []
    told += filter(None, [_in_brief(result)])
    if told and result.component.kind:
        page.para(f"{_head(page, ', '.join(told), page.columns)} (all that was seen: mlcheck run -v)")
    _show_verdict(page, result)


def _show_verdict(page: Page, result: RunResult) -> None:
    word = word_of(result)
    lead = f"{summary_of(result)}; exit code {result.exit_code}"
    page.para(lead, label=word, label_style=_style(result), hang=len(word) + 2)


def _style(result: RunResult) -> str:
    return _STYLES.get(result.exit_code, "bold red")
