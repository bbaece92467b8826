"""One trouble on a screen: the cause, where it is, what was said, what Storm does, what to do.

For a person who reads one line: the headline is in the component's words. What is less telling goes first where there
is no room.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from itertools import starmap
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.protocol.words.shortening import CUT
from multilang_cli.reports.counting import counted
from multilang_cli.reports.escape import Shown, chunks, width
from multilang_cli.reports.failure import last_stderr_lines, stderr_lines
from multilang_cli.reports.formats.console import WARNED, as_text, style_of
from multilang_cli.reports.grouping import Trouble, fates_of, some_of, troubles_of
from multilang_cli.reports.message_words import channel_of, in_short, leading_to, telling
from multilang_cli.reports.page import MOST_CELLS, Page
from multilang_cli.reports.verdict import FAILURES, FATE_WORDS, headline_word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from multilang_cli.causes.model import Cause, Place
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.reports.model import RunResult, SubjectResult

MOST_LINES = 24
"""Lines of a terminal that nobody has made larger: what is less telling goes first to keep within them."""


class Room(NamedTuple):
    """Lines that each part of any length may take: messages, stderr, other causes, and each of the sentences."""

    rows: int
    stderr: int
    others: int
    sentence: int

    def cut(self, page: Page, text: str, hang: int) -> str:
        """A sentence that may hold a component's own words, in lines that hang at column `hang`."""
        shown, cells = page.fit(text, MOST_CELLS).text, self._cells(page, hang)
        return shown if width(shown) <= cells else _to_a_word(_beginning(shown, cells))

    def cut_sentences(self, page: Page, text: str, hang: int) -> str:
        """As many whole sentences of ours as there is room for, or clauses of the first one."""
        cells = self._cells(page, hang)
        if width(text) <= cells:
            return text
        ends = [found for found in _CLAUSES.finditer(text) if width(text[: found.start()]) < cells]
        last = next((end for end in reversed(ends) if end.group() != ","), ends[-1] if ends else None)
        return self.cut(page, text, hang) if last is None else f"{text[: last.start()]}."

    def _cells(self, page: Page, hang: int) -> int:
        return self.sentence * (page.columns - hang - _SLACK) + _SLACK


_CLAUSES = re.compile(r"[.;,](?= )")
_ROOMS = tuple(
    starmap(
        Room,
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
_NOTE = 4
"""Lines that a note may take which stands first."""
_HEADLINE = 2
"""Lines that the headline may take in any room."""
_SLACK = 8
"""Cells that a line may lose to a word which doesn't fit in it."""
_ROWS_OF_A_MARK = 4
"""Messages that there must be room for where a mark is shown in a line that has a caller."""
_LONGEST_WORD = 16
"""Cells of a word that is left out whole where its end is cut."""
_MOST_OF_ERROR = 84
"""Characters of an error text of Storm's that tell it from others."""
_LEAST_CODE = 20
"""Cells that a line of source is given, however long the name of its file is."""
_BEFORE = 3
"""Of the cells of a message, one in so many stands before the place that is marked in it."""
_PART_OF_CASES = 4
"""Of the cases played, this part at most are few."""
CALLS = "    <- calls it"
MADE_UP = "    <- made up by mlcheck"
_OR = "  Or      the tuple was made up: say what yours look like (--tuple JSON)"
_ROLE = "Say what it is: --kind bolt or --kind spout. Asked as both it showed neither; one of them is not its role."
_JVM = re.compile(r" \((?:java|org)\.[\w.$]+ (?:is|and) ")
"""Where a JVM begins to tell of modules and class loaders."""
SCREEN_HANG = 10
_LEVELS = {"warn": "warning", "untestable": "not judged"}
_KINDS = {"task": ("process", "processes")}
"""Subjects that have another name on a screen, for one and for many."""


def fitting(show: Callable[[Page, Room], None], columns: int, most: int = MOST_LINES) -> Room:
    """The largest room in which `show` needs no more than `most` lines; the least if it always does."""
    return next((room for room in _ROOMS if _height(show, room, columns) <= most), _ROOMS[-1])


def _height(show: Callable[[Page, Room], None], room: Room, columns: int) -> int:
    return as_text(lambda console: show(Page(console), room), columns).count("\n")


def show_first(page: Page, result: RunResult, room: Room, all_seen: str) -> None:
    """Show the first cause in full, the others in a line each. `all_seen`: the command that shows all."""
    troubles = list(troubles_of(result))
    first = troubles[0]
    # Of what is graver beside it, such as a loss that has no cause, this is no cause either.
    warns = first.verdict == "warn" and _is_graver(result)
    label = "WARN" if warns else headline_word(result)
    hang = len(label) + 2
    noted = _noted_first(result)
    if noted:
        # Beside a mere warning a note may tell of the worse mistake.
        note_hang = len("Note") + 2
        told = room._replace(sentence=_NOTE).cut(page, noted, note_hang)
        page.para(told, label="Note", label_style=WARNED, hang=note_hang)
        page.blank()
    headline = room._replace(sentence=max(room.sentence, _HEADLINE)).cut(page, first.cause.told, hang)
    style = style_of(result) if result.exit_code and not warns else WARNED
    page.para(headline, "bold", label=label, label_style=style, hang=hang)
    page.blank()
    declared = result.profile is not None and bool(result.profile.samples)
    show_story(page, first.first, first.cause, room, declared=declared)
    page.blank()
    _show_case(page, first, result, room)
    _show_waits(page, first, room)
    _show_storm(page, first, result, room)
    _show_way_out(page, first, room, result)
    _show_others(page, troubles, result, room, all_seen)


def _noted_first(result: RunResult) -> str:
    """The first note, where nothing is worse than a warning; else ""."""
    return result.observations[0].text if result.observations and not _is_graver(result) else ""


def _is_graver(result: RunResult) -> bool:
    """True if something failed, or could not be judged."""
    return any(each.verdict in {*FAILURES, "untestable"} for each in result.subjects)


def counted_of(kind: str, number: int) -> str:
    """So many cases, conversations or processes."""
    return counted(number, *_KINDS.get(kind, (kind,)))


def show_story(
    page: Page, subject: SubjectResult, cause: Cause, room: Room = _ROOMS[0], *, declared: bool = False
) -> None:
    """Show the place in the user's own file, and the few messages that led to it. `declared`: tuples of it were."""
    if cause.place is not None:
        # Who called it tells more than which part of the line it was.
        _show_place(page, cause.place, marked=cause.also is None or room.rows >= _ROWS_OF_A_MARK)
        if cause.also is not None:
            _show_place(page, cause.also, CALLS, marked=False)
    stderr = [] if cause.last else stderr_lines(subject.stderr_tail)
    apart = len(stderr) > 1
    led = leading_to(cause, subject)
    rows = telling((row for row in led if row.mark or row.channel != "err" or not apart), cause, room.rows)
    fed = [row.seq for row in rows if row.channel == "in" and in_short(row, cause).startswith("tuple  ")]
    made_up = fed[-1:] if subject.verdict == "untestable" and not declared else []
    number = max((len(str(row.seq)) for row in rows), default=0)
    for row in rows:
        lead = f"    {'-->' if row.mark else '   '} {row.seq:>{number}}  {channel_of(row):4}  "
        whose = MADE_UP if row.seq in made_up else ""
        cells = page.columns - len(lead) - len(whose)
        shown = (
            _around(page, row.text, cells, row.at) if row.at else Shown(head(page, in_short(row, cause), cells), None)
        )
        page.line(lead + shown.text + whose, "bold red" if row.mark else "")
        if shown.column is not None:
            page.line(" " * (len(lead) + shown.column) + "^")
    if apart or not any(row.channel == "err" for row in rows):
        page.lines(last_stderr_lines(stderr, room.stderr), indent=8, bar="| ")


def _around(page: Page, text: str, cells: int, at: int) -> Shown:
    """The text around the index `at` of a component's text, as much as fits."""
    begin = max(0, at - cells // _BEFORE) if len(text) > cells else 0
    lead = CUT if begin else ""
    shown = page.fit(lead + text[begin : begin + cells], MOST_CELLS, len(lead) + at - begin)
    cut = width(shown.text) > cells or len(text) - begin > cells
    return Shown(chunks(shown.text, cells - len(CUT))[0] + CUT, shown.column) if cut else shown


def head(page: Page, text: str, cells: int) -> str:
    """The beginning of a component's text, as much as fits."""
    return _beginning(page.fit(text, MOST_CELLS).text, cells)


def _to_a_word(shown: str) -> str:
    """A sentence that was cut, without the beginning of a word at its end."""
    words = shown.removesuffix(CUT)
    last = words.rfind(" ", max(len(words) - _LONGEST_WORD, 0))
    return shown if last < 0 else f"{words[:last]} {CUT}"


def _beginning(shown: str, cells: int) -> str:
    return shown if width(shown) <= cells else chunks(shown, cells - len(CUT))[0] + CUT


def around(page: Page, place: Place, cells: int) -> str:
    """As much of a line of source as fits: of one that is too long, from a word before its mark on."""
    at = len(place.mark) - len(place.mark.lstrip())
    if width(page.fit(place.code, MOST_CELLS).text) <= cells or at < cells // 2:
        return head(page, place.code, cells)
    begin = place.code.rfind(" ", 0, at) + 1
    return CUT + head(page, place.code[begin:], cells - len(CUT))


def _show_place(page: Page, place: Place, role: str = "", *, marked: bool = True) -> None:
    """Show a line of source: with `marked` its mark too, or a second row of what is too long for one."""
    # Of a recording the folder is not known that its user works in: a whole path would leave the code no room.
    file = PurePosixPath(place.file)
    lead = f"    {file.name if file.is_absolute() else file}:{place.line}    "
    cells = max(page.columns - len(lead) - len(role), _LEAST_CODE)
    shown = page.fit(place.code, MOST_CELLS).text
    has_mark = place.mark and len(place.mark) <= cells
    if marked and not has_mark and cells < width(shown):
        first = chunks(shown, cells)[0]
        rest = around(page, place, cells) if place.mark else _beginning(shown[len(first) :], cells)
        page.line(lead + first, "bold")
        page.line(" " * len(lead) + rest + role, "bold")
        return
    page.line(lead + head(page, place.code, cells) + role, "bold")
    if marked and has_mark:
        page.line(" " * len(lead) + place.mark)


def is_common(trouble: Trouble, result: RunResult) -> bool:
    """True if most cases that were played have it."""
    played = sum(subject.verdict != "skip" for subject in result.subjects)
    return played == 1 or len(trouble.subjects) > max(1, played // _PART_OF_CASES)


def _show_case(page: Page, trouble: Trouble, result: RunResult, room: Room) -> None:
    """Show where it was met: of cases only if few have it, for what the case does may be what brings it out.

    Where several have it, what one of them does is not what brings it out.
    """
    shown, ids = trouble.first, [subject.id for subject in trouble.subjects]
    if len(result.subjects) == 1 or (shown.kind == "case" and is_common(trouble, result)):
        return
    named = some_of(ids, 2) if len(ids) > 1 or shown.kind == "task" else f"{shown.id}: {shown.title}"
    label = "In" if shown.kind != "case" else "Case" if len(ids) == 1 else "Cases"
    page.para(room.cut(page, named, SCREEN_HANG), label=label, indent=2, hang=SCREEN_HANG)


def _show_waits(page: Page, trouble: Trouble, room: Room) -> None:
    """Show who waits on whom, where a silence is what went wrong."""
    waits = trouble.finding.waits if trouble.finding else None
    if waits is None:
        return
    told = [room.cut(page, f"the component {each}", SCREEN_HANG) for each in waits.shorter]
    whole = next((text for text in told if not text.endswith(CUT)), told[-1])
    page.para(whole, label="Waits", indent=2, hang=SCREEN_HANG)


def _show_storm(page: Page, trouble: Trouble, result: RunResult, room: Room) -> None:
    """Show what Storm does, in one sentence for the version asked and all that do the same."""
    if trouble.finding is None:
        return
    finding = _met_first(trouble, trouble.finding, result.storm)
    groups = fates_of(finding.fates, finding.errors)
    own = next((group for group in groups if result.storm in group.versions), None)
    if own is None:
        return
    alike = {version for group in groups if group.fate == own.fate for version in group.versions}
    versions = _span(alike, [*reversed(finding.fates)])
    if trouble.cause.since and len(alike) == len(finding.fates):
        versions = f"{trouble.cause.since} and newer"
    does = "the worker dies with all its tasks" if own.fate == "dies" else FATE_WORDS[own.fate]
    if own.fate == "survives" and trouble.verdict == "fail":
        does = "goes on; a failure all the same, for the protocol forbids it"
    error = head(page, _JVM.split(own.error, maxsplit=1)[0], min(30 * room.sentence, _MOST_OF_ERROR))
    of = f"of message {finding.seq} " if error and finding is not trouble.finding else ""
    says = f'; its log {of}says "{error}"' if error else ""
    page.para(f"{versions}: {does}{says}", label="Storm", indent=2, hang=SCREEN_HANG)


def _span(alike: Collection[str], versions: Sequence[str]) -> str:
    """Those of the `versions`, the newest first, that are `alike`, in a few words."""
    if len(alike) == len(versions):
        return "every version"
    if set(versions[: len(alike)]) == set(alike) and len(alike) > 1:
        return f"{versions[len(alike) - 1]} and newer"
    if set(versions[-len(alike) :]) == set(alike) and len(alike) > 1:
        return f"{versions[-len(alike)]} and older"
    return ", ".join(version for version in versions if version in alike)


def _met_first(trouble: Trouble, finding: Finding, storm: str) -> Finding:
    """The finding that Storm dies of, if it comes before the one shown, or of the same cause: its log tells of that."""
    musts = [each for each in trouble.first.findings if each.level == "must" and each.fates.get(storm) == "dies"]
    deadly = [each for each in musts if each.seq <= finding.seq or each.rule in trouble.cause.rules]
    if not deadly and trouble.verdict == "fail" and finding.fates.get(storm) in {"survives", "loses-data"}:
        deadly = musts  # what it does later ends the worker that this leaves alive
    return min(deadly, key=lambda each: each.seq, default=finding)


def _show_way_out(page: Page, trouble: Trouble, room: Room, result: RunResult) -> None:
    cause, subject = trouble.cause, trouble.first
    if result.verdict == "misuse":
        _advise(page, "First", _ROLE)
    looks = (cause.suspect, cause.also) if cause.place is None else ()
    for label, place in zip(("Look", "and"), looks, strict=False):
        if place is not None:
            lead = f"  {label:<8}{place.file}:{place.line}    "
            page.line(lead + around(page, place, max(page.columns - len(lead), 20)))
    if cause.mend:
        _advise(page, "Do", room.cut_sentences(page, cause.mend, SCREEN_HANG))
    for line in cause.code.splitlines():
        page.line(line, "bold", indent=SCREEN_HANG)
    if result.takes is not None:
        given = shlex.quote(result.takes.values)
        told = f"{result.takes.option} {given}; with that {result.takes.told}"
        _advise(page, "Takes", room.cut(page, told, SCREEN_HANG))
    if subject.verdict == "untestable" and "--tuple" in subject.reason and "--tuple" not in cause.mend:
        page.line(_OR)
    page.line(f"  More    mlcheck explain {cause.id}")
    _show_again(page, subject, result)


def _advise(page: Page, label: str, text: str) -> None:
    page.para(text, label=label, label_style="bold green", indent=2, hang=SCREEN_HANG)


def _show_again(page: Page, subject: SubjectResult, result: RunResult) -> None:
    again = again_of(subject, page.columns - SCREEN_HANG, named=bool(result.component.name))
    label = "  Again   "
    for line in again.splitlines():
        page.line(f"{label}{line}")
        label = " " * len(label)
    if not again and subject.transcript and len(result.subjects) > 1:
        page.line(f"  Record  {subject.transcript}")


def again_of(subject: SubjectResult, cells: int, *, named: bool) -> str:
    """The one command that shows it again: the recording's where that of the case is longer than a line, in two lines.

    `named`: the component stands in mlcheck.toml, so a replay needs no command.
    """
    if not subject.transcript or width(subject.reproduce) <= cells:
        return subject.reproduce
    replay = f"mlcheck replay {subject.transcript}"
    if named:
        return replay
    command = f"-- {subject.reproduce.partition(' -- ')[2]}"
    whole = f"{replay} {command}"
    parted = f"{replay} \\\n{command if width(command) <= cells else '-- COMMAND'}"
    return whole if width(whole) <= cells else parted


def _beside(page: Page, label: str, text: str, lines: int) -> None:
    """Show what stands beside the first cause, in as many lines."""
    shown, cells = page.fit(text, MOST_CELLS).text, page.columns - SCREEN_HANG
    most = lines * (cells - _SLACK // 2) if lines > 1 else cells
    told = shown if width(shown) <= most else _to_a_word(_beginning(shown, most))
    page.para(told, label=label, label_style="", indent=2, hang=SCREEN_HANG)


def _show_others(page: Page, troubles: list[Trouble], result: RunResult, room: Room, all_seen: str) -> None:
    first, *others = troubles
    told = {subject.id for trouble in troubles for subject in trouble.subjects}
    rest = [subject for subject in result.subjects if subject.verdict in {"fail", "stale", "flaky", "error"}]
    counts: Counter[tuple[str, str]] = Counter()
    for trouble in others:
        counts[trouble.verdict, trouble.cause.headline] += len(trouble.subjects)
    counts.update((subject.verdict, f"{subject.id}: {subject.reason}") for subject in rest if subject.id not in told)
    lines, beside_lines = list(counts.items()), min(room.others, 2)
    if lines and room.others > 1:
        page.blank()
    for (verdict, text), count in lines[: room.others]:
        beside = f"{_LEVELS.get(verdict, verdict)}, {counted_of(first.first.kind, count)}: {text}"
        _beside(page, "Also", beside, beside_lines)
    if len(lines) > room.others:
        page.line(f"  and {len(lines) - room.others} more: {all_seen}")
    if result.observations and len(lines) < room.others and not _noted_first(result):
        _beside(page, "Note", result.observations[0].text, beside_lines)
