"""Explains what is named: a rule, a cause, a case, a sentence of the protocol, or what a worker's log says."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_rulebook
from multilang_cli.catalogue.worker_log import load_index
from multilang_cli.catalogue.written import load_sentences
from multilang_cli.reports.explaining.explain import render_cause, render_rule, render_sentence
from multilang_cli.reports.explaining.worker_log import bounded_lines, process_in, read_log, show_log, show_recognised
from multilang_cli.reports.failure import show_clause
from multilang_cli.reports.page import Page
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.hosts.case import load_host_cases
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import remark, stdout_may_close

if TYPE_CHECKING:
    from rich.console import Console

    from multilang_cli.catalogue.worker_log import Recognised
    from multilang_cli.suite.cases.case import Case

MOST_SHOWN = 3
"""Texts that are shown where a part stands in several."""


class ExplainFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck explain``. `log`: the path of a worker's log, instead of words."""

    words: tuple[str, ...] = ()
    log: str = ""
    as_json: bool = False
    color: str | None = None


def explain_given(flags: ExplainFlags) -> int:
    """Explain what the options name; returns the exit code. Raises CommandError."""
    name = " ".join(flags.words)
    if bool(name) == bool(flags.log):
        raise CommandError("explain: give a rule, a cause, a case or an error's text, or a worker's log by --log FILE.")
    console = console_of(flags.color)
    if flags.log:
        return _explain_log(Page(console), flags.log, as_json=flags.as_json)
    if flags.as_json:
        write_json(_facts(name, _cases()))
        return ExitCode.CONFORMANT
    with stdout_may_close():
        _show(name, console)
    return ExitCode.CONFORMANT


def _show(name: str, console: Console) -> None:
    """Show all that is known of `name`. Raises CommandError."""
    rulebook, cases, sentences = load_rulebook(), _cases(), load_sentences()
    causes = {cause.id: cause for cause in load_causes()}
    if name in rulebook.rules:
        render_rule(rulebook.rules[name], rulebook, console)
    elif name in causes:
        render_cause(causes[name], console)
    elif name in cases:
        _render_case(cases[name], console)
    elif name in sentences:
        render_sentence(sentences[name], _titles(cases), console)
    elif found := _recognised(name):
        show_recognised(Page(console), found, process_in(name), rulebook)
    else:
        raise CommandError(_unknown(name, [*rulebook.rules, *causes, *cases, *sentences]))


def _facts(name: str, cases: dict[str, Case]) -> dict[str, Any]:
    """All that is known of `name`, and of which sort it is. Raises CommandError."""
    rules, causes = load_rulebook().rules, {cause.id: cause for cause in load_causes()}
    sentences, asdict = load_sentences(), msgspec.structs.asdict
    for about, known in (("rule", rules), ("cause", causes), ("case", cases)):
        if name in known:
            return {"about": about, **asdict(known[name])}
    if name in sentences:
        return {"about": "sentence", "section": sentences[name].number, **asdict(sentences[name].sentence)}
    if found := _recognised(name):
        return {"about": "text", "found": found, "process": process_in(name)}
    raise CommandError(_unknown(name, [*rules, *causes, *cases, *sentences]))


def _recognised(text: str) -> list[Recognised]:
    """The texts of Storm's that stand in what was pasted; or those that this is a part of. Raises CommandError."""
    if found := load_index().recognise(text):
        return found
    held = load_index().holding(text)
    if len(held) > MOST_SHOWN:
        raise CommandError(f"explain: {text[:60]!r} stands in {len(held)} texts of Storm's: paste a whole line.")
    return held


def _cases() -> dict[str, Case]:
    return {case.id: case for case in (*load_cases(), *load_cases("library"))}


def _titles(cases: dict[str, Case]) -> dict[str, str]:
    """The titles of all cases, those that hosts are checked with too."""
    return {id_: case.title for id_, case in cases.items()} | {case.id: case.title for case in load_host_cases()}


def _unknown(name: str, known: list[str]) -> str:
    if any(character.isspace() for character in name.strip()) or name.endswith(("Exception", "Error")):
        return (
            f"explain: {name[:60]!r} is no text of Storm's shell classes. Paste an error's whole line, or hand over "
            "the worker's log by --log FILE; `mlcheck docs worker-log` shows how. What hangs: `mlcheck docs hang`."
        )
    if name == "-":
        return "explain: `-` is no text: to read a worker's log from stdin, add --log - to the command."
    hint = did_you_mean(name, known)
    return (
        f"explain: there is no rule, cause, case or sentence {name[:60]!r}{hint} `mlcheck list rules` shows all rules."
    )


def _explain_log(page: Page, name: str, *, as_json: bool) -> int:
    """Explain a log. Exit code 4 if no text of Storm's shell classes stands in it."""
    try:
        with nullcontext(sys.stdin) if name == "-" else Path(name).open(encoding="utf-8", errors="replace") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty() and name != "-":
                raise CommandError(f"explain: {name} is a device, which may have no end: give a worker's log.")
            summary = read_log(bounded_lines(file))
    except OSError as error:
        raise CommandError(f"explain: {name} can't be read: {error.strerror}.") from None
    if not summary.found:
        where = "stdin" if name == "-" else name
        lines = "1 line" if summary.lines == 1 else f"{summary.lines:,} lines"
        remark(
            f"explain: {where}: nothing that Storm's shell classes write stands in it ({lines}). The "
            "worker that lost its component wrote worker.log, below workers-artifacts/TOPOLOGY/PORT in Storm's logs."
        )
        return ExitCode.NOTHING_SELECTED
    if as_json:
        found = [each._asdict() for each in summary.found]
        write_json({"about": "log", "lines": summary.lines, "found": found, "unknown": summary.unknown})
        return ExitCode.CONFORMANT
    with stdout_may_close():
        show_log(page, summary, load_rulebook())
    return ExitCode.CONFORMANT


def _render_case(case: Case, console: Console) -> None:
    page = Page(console)
    kinds = "bolts and spouts" if case.kind == "both" else f"{case.kind}s"
    page.para(case.title, "bold", label=case.id)
    page.para(f"{case.level}, {kinds}{f', since {case.since}' if case.since else ''}", indent=2)
    page.blank()
    show_clause(page, case.clause)
    page.para(case.expected, label="Expected", indent=2, hang=12)
    if case.needs:
        page.para(", ".join(case.needs), label="Needs", indent=2, hang=12)
    page.para("Steps", "bold", indent=2)
    for name, arguments in case.steps:
        page.line(" ".join([name, *(f"{key}={value!r}" for key, value in arguments.items())]), indent=4)
    subject = "--testee DIR" if case.testee else "-- COMMAND"
    page.line(f"Run it:  mlcheck run -k {case.id} {subject}", indent=2)
