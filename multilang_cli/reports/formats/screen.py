"""The one screen of what went wrong: the cause first, then where, what was said, what Storm does, what to do.

For a person who reads one line: the headline is in the component's words, the verdict and the exit code come last.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from multilang_cli.reports.bundles import untested_in_all
from multilang_cli.reports.counting import counted
from multilang_cli.reports.escape import width
from multilang_cli.reports.formats.console import WARNED, style_of, summary_of
from multilang_cli.reports.formats.trouble import SCREEN_HANG, counted_of, fitting, head, is_common, show_first
from multilang_cli.reports.grouping import SHOWN_FIRST, note_lines, notes_of, some_of, troubles_of
from multilang_cli.reports.page import Page
from multilang_cli.reports.verdict import word_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from multilang_cli.reports.formats.trouble import Room
    from multilang_cli.reports.grouping import Trouble
    from multilang_cli.reports.model import RunResult, SubjectResult

RUN = "mlcheck run -v"
"""The command that shows all that was seen of a component."""
_LONG_PATH = 24
"""Cells from which on a path is told by its last name."""


def fits_one_screen(result: RunResult) -> bool:
    """True if one screen tells it: nothing went wrong, or a cause is known for what did or for what is warned of."""
    return not result.parts and (_is_plain(result) or bool(troubles_of(result)))


def _is_plain(result: RunResult) -> bool:
    """True if there is nothing to be told of any case: all that were played passed, or fail as is known."""
    return result.exit_code == 0 and result.gates and not any(each.verdict in SHOWN_FIRST for each in result.subjects)


def render_screen(result: RunResult, console: Console) -> None:
    """Show the first cause in full, the others in a line each, and the verdict last, on one screen."""
    if _is_plain(result):
        _show_plain(Page(console), result)
    else:
        _show_trouble(console, result, _header(result), RUN)


def render_recordings(result: RunResult, console: Console, all_seen: str) -> None:
    """Show what is wrong in recordings as of a run. `all_seen`: the command that shows all of it."""
    only = result.subjects[0] if len(result.subjects) == 1 else None
    recorded = f"{only.id}: {only.title}" if only else counted_of(result.subjects[0].kind, len(result.subjects))
    storm = f"Storm {result.storm}"
    _show_trouble(console, result, recorded if storm in recorded else f"{recorded}, judged as {storm} does", all_seen)


def _show_trouble(console: Console, result: RunResult, header: str, all_seen: str) -> None:
    def show(page: Page, room: Room) -> None:
        """The whole screen in this room."""
        page.para(header)
        page.blank()
        show_first(page, result, room, all_seen)
        _show_end(page, troubles_of(result)[0], result, all_seen)

    show(Page(console), fitting(show, console.width))


def _show_plain(page: Page, result: RunResult) -> None:
    """Show a pass: what is known to fail, what was not tested in one sentence, and the verdict last."""
    page.para(_header(result))
    page.blank()
    known = [subject.id for subject in result.subjects if subject.verdict == "xfail"]
    if known:
        page.para(some_of(known), label="Known failures", hang=SCREEN_HANG + 6)
    for told in result.emits:
        page.para(told, label="Emits", hang=len("Emits") + 2)
    observed = {each.text for each in result.observations}
    for note in (*result.notes, *note_lines(notes_of(result))):
        label, style = ("But ", WARNED) if note in observed else ("Note", "bold")
        page.para(note, label=label, label_style=style, hang=len("Note") + 2)
    if untested := _untested(result):
        page.para(f"{untested} (all of it: {RUN})", label="Not tested", hang=len("Not tested") + 2)
    _show_verdict(page, result)
    for sentence in result.sentences:
        page.para(sentence, label="Storm:", hang=len("Storm: "))
    if result.next_command:
        page.line(f"Next: {result.next_command}")


def _in_brief(result: RunResult) -> str:
    """The notes, counted, and what was not tested, as the part of one sentence; "" for nothing of them."""
    notes = len(result.notes)
    told = counted(notes, "note") if notes else ""
    untested = _untested(result)
    return "; ".join(filter(None, (told, untested and f"not tested: {untested}")))


def _untested(result: RunResult) -> str:
    """Name the cases that a pass did not test: those of the reason that most have, and a count of the others."""
    untested = untested_in_all((result,)) if result.exit_code == 0 else ()
    if not untested:
        return ""
    first = max(untested, key=lambda each: len(each.ids))
    others = sum(len(each.ids) for each in untested if each is not first)
    more = f", and {counted(others, 'case')} more" if others else ""
    return f"{some_of(first.ids)}: {first.reason}{more}"


def _header(result: RunResult) -> str:
    kind = f"a {result.component.kind}, " if result.component.kind else ""
    cases = counted(len(_apart(result.subjects)), "case") if result.subjects else "no case"
    took = f" in {result.duration:.1f} s" if result.duration else ""
    name = result.component.name or _program(result.component.command)
    asked = "given the handshake" if result.verdict == "no-first-message" else "asked as a bolt and as a spout"
    how = f"{kind}played" if kind else asked
    told = f"; {cases}{took}" if kind else ""
    return f"{name}: {how} as Storm {result.storm} plays it{told}"


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


def _apart(subjects: Sequence[SubjectResult]) -> Sequence[SubjectResult]:
    """The cases alone, without what is said of all of them together; that, if there is nothing else."""
    return [subject for subject in subjects if subject.kind != "run"] or subjects


def _show_end(page: Page, first: Trouble, result: RunResult, all_seen: str) -> None:
    page.blank()
    told, alike, every = [], _apart(first.subjects), _apart(result.subjects)
    if is_common(first, result) and len(every) > 1:
        told = [f"{len(alike)} of {counted_of(alike[0].kind, len(every))} end so"]
    told += filter(None, [_in_brief(result)])
    if told and (result.component.kind or all_seen != RUN):
        page.para(f"{head(page, ', '.join(told), page.columns)} (all that was seen: {all_seen})")
    _show_verdict(page, result)


def _show_verdict(page: Page, result: RunResult) -> None:
    word = word_of(result)
    warned = result.exit_code == 0 and any(subject.verdict == "warn" for subject in result.subjects)
    lead = f"{summary_of(result)}; exit code {result.exit_code}{', 1 with --strict' if warned else ''}"
    page.para(lead, label=word, label_style=style_of(result), hang=len(word) + 2)
