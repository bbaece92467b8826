"""What happened, in lines for people: events with their numbers, and what is wrong with them."""

from __future__ import annotations

import shlex
import signal
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol import events as facts
from multilang_cli.protocol.framing import frame_text
from multilang_cli.protocol.messages import Handshake
from multilang_cli.reports.escape import decode
from multilang_cli.reports.grouping import fates_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.protocol.events import Event
    from multilang_cli.protocol.verdicts import Finding
    from multilang_cli.workbench.repl.screen import Screen, Style

SHOWN = 4096
"""Bytes of one event that a line is made of."""
STDERR_LINES = 50
"""Lines of one piece of stderr that are shown."""
MOST_FATES = 3
"""Groups of Storm versions that a finding is shown with."""
_STYLES: dict[str, Style] = {"in": "in", "out": "out", "err": "err", "process": "dim", "control": "dim"}


def show_event(screen: Screen, event: Event) -> None:
    """An event in a line; stderr in as many as it has."""
    lead = f"{event.seq:>5} {event.t:>8.3f}s {event.channel:<7} "
    lines = lines_of(event)
    for line in lines[:STDERR_LINES]:
        screen.line(line, _STYLES[event.channel], lead=lead)
    if len(lines) > STDERR_LINES:
        screen.line(f"({len(lines) - STDERR_LINES} more lines)", "dim", lead=lead)


def show_finding(screen: Screen, finding: Finding, *, numbered: bool = False) -> None:
    """What is wrong, under the event it is about, and what each Storm does about it. `numbered`: with that event."""
    lead = f"{finding.seq:>5} " if numbered else "  --> "
    screen.line(f"{finding.rule}: {finding.message}", finding.level, lead=f"{lead}{finding.level:<6} ")
    for group in fates_of(finding.fates, finding.errors)[:MOST_FATES]:
        if group.fate != "unknown":
            screen.line(f"Storm {', '.join(group.versions)}: {group.text}", "dim", lead=" " * 13)


def lines_of(event: Event) -> list[str]:
    """What an event says, in a line; stderr in several. Not yet escaped."""
    if isinstance(event.body, Handshake):
        context = ", ".join(event.body.context)
        return [f"handshake: conf of {len(event.body.conf)} keys, context {{{context}}}, pidDir {event.body.pid_dir}"]
    if event.channel in {"in", "out"}:
        return [decode(frame_text(event.raw[:SHOWN])) or "(an empty message)"]
    if event.channel == "err":
        return decode(event.raw).removesuffix("\n").split("\n")
    return [sentence_of(event.body)]


def sentence_of(fact: Any) -> str:
    """What happened to the process, or what was waited for in vain."""
    tell = _SENTENCES.get(fact.__class__)
    return tell(fact) if tell is not None else type(fact).__name__


def _deadline(fact: Any) -> str:
    who = f": the component {fact.blocked}" if fact.blocked else ""
    if fact.proven:
        return f"no {fact.waiting_for} will come{who}"
    return f"no {fact.waiting_for} within {fact.limit:g} s{who}"


def _checked(fact: Any) -> str:
    return f"pid {fact.pid}: {fact.relation}; its file: {fact.file}"


def name_of(number: int) -> str:
    """The name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_SENTENCES: dict[type, Callable[[Any], str]] = {
    facts.Started: lambda fact: f"started {shlex.join(fact.argv)} as process {fact.pid}",
    facts.PidChecked: _checked,
    facts.Exited: lambda fact: (
        f"the process exited with code {fact.code}"
        if fact.signal is None
        else f"the process was killed by {name_of(fact.signal)}"
    ),
    facts.StdinClosed: lambda _: "its stdin was closed",
    facts.Signalled: lambda fact: f"{name_of(fact.signal)} was sent",
    facts.StdoutClosed: lambda _: "it closed its stdout",
    facts.WriteFailed: lambda fact: f"writing to its stdin failed: {fact.error}",
    facts.Deadline: _deadline,
    facts.Activation: lambda fact: (
        f"{'activated' if fact.active else 'deactivated'}: this Storm tells no component of it"
    ),
    facts.End: lambda _: "the conversation is over",
}
