"""Lines of a worker's log explained: causes, what tells them apart, and the command that does (``mlcheck explain``)."""

from __future__ import annotations

import shlex
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.catalogue.worker_log import load_index, process_of
from multilang_cli.transcript.secrets import hide, hide_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO

    from multilang_cli.catalogue.worker_log import ProcessInfo, Recognised
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.page import Page

MOST_CAUSES = 6
"""Causes of one text that are shown; of more, the number is."""
MOST_LINE = 65_536
"""Characters of a line of a log that are looked at."""
CONTEXT = 60
"""Lines behind the first of a kind that belong to it: the stack, and what the component had written."""
_SHELL_CLASSES = ("ShellBolt", "ShellSpout", "ShellProcess", "JsonSerializer")


class Found(NamedTuple):
    """A text of Storm's in a log: the first time with the lines behind it, its line number, and how often in all."""

    what: Recognised
    process: ProcessInfo | None
    line: int
    times: int


class LogSummary(NamedTuple):
    """The summary of a log: each text once, the most telling first; `unknown`: unrecognised errors of shell classes."""

    found: list[Found]
    lines: int
    unknown: list[int]


def process_in(text: str) -> ProcessInfo | None:
    """Find what a text says of the process that was lost, without secrets; None if it says nothing."""
    process = process_of(text)
    if process is None:
        return None
    command, said, place = tuple(hide_words(process.command)), hide(process.stderr, "text"), hide(process.place, "text")
    return msgspec.structs.replace(process, command=command, stderr=said, place=place)


def show_recognised(page: Page, found: list[Recognised], process: ProcessInfo | None, rulebook: Rulebook) -> None:
    """Show what the texts that were recognised mean, the most telling in full, and the command that finds the cause."""
    first, *others = found
    page.para(first.entry.text, "bold")
    _show_meaning(page, first)
    _show_process(page, process)
    _show_causes(page, first, rulebook)
    for other in others:
        page.para(f"{other.entry.text}  {other.entry.means}", label="Beside it", indent=2, hang=12)
    _show_commands(page, first, process)


def bounded_lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, of which no more is held than is looked at: what a component writes may have no line end."""
    while line := file.readline(MOST_LINE):
        yield line
        while line and not line.endswith("\n"):
            line = file.readline(MOST_LINE)


def read_log(lines: Iterable[str]) -> LogSummary:
    """Sum up a log. Each kind of text is kept once, with the lines behind its first."""
    index = load_index()
    found: dict[str, Found] = {}
    unknown: list[int] = []
    window: deque[tuple[int, str]] = deque()
    number = 0

    def take() -> None:
        """Recognise what stands at the head of the window."""
        at, head = window.popleft()
        if not index.may_hold(head):
            if "ERROR" in head and any(name in head for name in _SHELL_CLASSES):
                unknown.append(at)
            return
        whole = "\n".join([head, *(line for _, line in window)])
        for what in index.recognise(head):
            seen = found.get(what.entry.text)
            if seen is None:
                fuller = next((each for each in index.recognise(whole) if each.entry.text == what.entry.text), what)
                found[what.entry.text] = Found(fuller, process_in(whole), at, 1)
            else:
                found[what.entry.text] = seen._replace(times=seen.times + 1, process=seen.process or process_in(head))

    for number, line in enumerate(lines, start=1):
        window.append((number, line[:MOST_LINE].rstrip("\r\n")))
        if len(window) > CONTEXT:
            take()
    while window:
        take()
    ranked = sorted(found.values(), key=lambda each: (not each.what.entry.rules, len(each.what.rules), each.line))
    return LogSummary(ranked, number, unknown)


def show_log(page: Page, summary: LogSummary, rulebook: Rulebook) -> None:
    """Show what a log tells: each text with its count and its first line, the most telling in full."""
    for each in summary.found:
        times = "once" if each.times == 1 else f"{each.times} times, first"
        page.para(each.what.entry.text, label=f"{times} in line {each.line}")
    if summary.unknown:
        count, line = len(summary.unknown), summary.unknown[0]
        page.para(f"{count} errors of Storm's shell classes are not known here, first in line {line}")
    page.blank()
    first = summary.found[0]
    others = [each.what for each in summary.found[1:] if each.what.entry.rules and each.what.certain]
    known = [each.process for each in summary.found if each.process]
    process = next((each for each in known if each.name), known[0] if known else None)
    show_recognised(page, [first.what, *others], process, rulebook)


def _show_meaning(page: Page, found: Recognised) -> None:
    entry = found.entry
    if entry.means:
        page.para(entry.means, label="Means", indent=2, hang=12)
    versions = list(dict.fromkeys(version for each in entry.rules.values() for version in each))
    if versions:
        span = versions[0] if len(versions) == 1 else f"{min(versions, key=_order)} to {max(versions, key=_order)}"
        page.para(f"written by {span}{f' ({entry.where})' if entry.where else ''}", label="Storm", indent=2, hang=12)
    elif entry.where:
        page.para(f"written by {entry.where}", label="Storm", indent=2, hang=12)


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def _show_process(page: Page, process: ProcessInfo | None) -> None:
    if process is None:
        return
    how = "how it ended is not known: Storm asked too early" if process.code == -1 else f"exit code {process.code}"
    command = f" {shlex.join(process.command)};" if process.command else ""
    if process.name:
        page.para(f"{process.name}:{command} {how}", label="Process", indent=2, hang=12)
    if process.place:
        page.para(process.place, label="Line", indent=2, hang=12)
    if process.stderr:
        page.para(process.stderr, label="It said", indent=2, hang=12)


def _show_causes(page: Page, found: Recognised, rulebook: Rulebook) -> None:
    if found.certain and found.rules:
        rule = rulebook.rules[found.rules[0]]
        page.para(f"{rule.title} ({rule.id}; {found.certain})", label="Cause", indent=2, hang=12)
        page.para(rule.mend.strip().split("\n\n")[0], label="Mend", label_style="bold green", indent=2, hang=12)
        return
    causes = (f"{name}: {rulebook.rules[name].title}" for name in found.rules[:MOST_CAUSES])
    page.listed(causes, "Causes", indent=2, hang=12)
    if len(found.rules) > MOST_CAUSES:
        page.para(f"and {len(found.rules) - MOST_CAUSES} rarer ones", indent=12)
    if found.entry.look:
        page.para(found.entry.look, label="Look", indent=2, hang=12)


def _show_commands(page: Page, found: Recognised, process: ProcessInfo | None) -> None:
    command = shlex.join(process.command) if process and process.command else "COMMAND"
    page.line(f"Find out  mlcheck run -- {command}", indent=2)
    page.line("          mlcheck tap --help    to record it in the real worker", indent=2)
    if found.rules:
        page.line(f"More      mlcheck explain {found.rules[0]}", indent=2)
