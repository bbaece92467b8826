"""Lines for people about events, with their numbers and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.reports.escape import decode
from multilang_cli.reports.event_sentences import sentence_of
from multilang_cli.reports.grouping import fates_of
from multilang_cli.transcript.format import FRAMES
from multilang_cli.transcript.key_block import KeylessEvents

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.repl.screen import Screen, Style

SHOWN_BYTES = 4096
"""Bytes of one event that a line is made of."""
MOST_LINES = 3
"""Lines that one message may take; longer ones are cut in the middle, and `show` has them whole."""
STDERR_LINES = 50
"""Lines of one piece of stderr that are shown."""
MOST_FATES = 3
"""Groups of Storm versions that a finding is shown with."""
_STYLES: dict[str, Style] = {"in": "in", "out": "out", "err": "err", "process": "dim", "control": "dim"}


class EventLines:
    """Events as they happen, a line each; what comes in pieces on stderr is put together to whole lines."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._lead = ""
        self._rest = b""
        self._keyless = KeylessEvents()

    def show(self, event: Event) -> int:
        """Show an event, and stderr as far as its lines are whole; how many messages, or lines of stderr, that were."""
        event = self._keyless.event(event)
        if event.channel != "err":
            self.finish()
            show_event(self._screen, event)
            return 1
        self._lead = self._lead if self._rest else lead_of(event)
        *lines, self._rest = (self._rest + event.raw).split(b"\n")
        show_stderr(self._screen, self._lead, lines)
        self._lead = lead_of(event) if lines else self._lead
        if len(self._rest) > SHOWN_BYTES:
            self.finish()
            return len(lines[:STDERR_LINES]) + 1
        return len(lines[:STDERR_LINES])

    def finish(self) -> None:
        """Show what is left of stderr: nothing more of its line comes for now."""
        rest, self._rest = self._rest, b""
        if rest:
            show_stderr(self._screen, self._lead, [rest])


def show_event(screen: Screen, event: Event) -> None:
    """An event in a line; stderr in as many as it has."""
    if event.channel == "err":
        show_stderr(screen, lead_of(event), event.raw.removesuffix(b"\n").split(b"\n"))
    elif event.channel in FRAMES:
        screen.line(line_of(event), _STYLES[event.channel], lead=lead_of(event), most=MOST_LINES)
    else:
        screen.hang(line_of(event), _STYLES[event.channel], lead=lead_of(event))


def lead_of(event: Event) -> str:
    """Beginning of an event's line: its number, time and channel."""
    return f"{event.seq:>5} {event.t:>8.3f}s {event.channel:<7} "


def show_stderr(screen: Screen, lead: str, lines: list[bytes]) -> None:
    """Lines of stderr, the first so many."""
    for line in lines[:STDERR_LINES]:
        screen.line(decode(line), _STYLES["err"], lead=lead, most=MOST_LINES)
    if len(lines) > STDERR_LINES:
        screen.line(f"({len(lines) - STDERR_LINES} more lines)", "dim", lead=lead)


def show_finding(screen: Screen, finding: Finding, *, numbered: bool = False) -> None:
    """Show a finding under its event, and what each Storm does about it. `numbered`: with that event."""
    show_breach(screen, finding, f"{finding.seq:>5} " if numbered else "  --> ")
    for group in fates_of(finding.fates, finding.errors)[:MOST_FATES]:
        if group.fate != "unknown":
            screen.hang(f"Storm {', '.join(group.versions)}: {group.text}", "dim", lead=" " * 13)


def show_breach(screen: Screen, finding: Finding, lead: str = "  --> ") -> None:
    """Show a finding alone, for what was told before."""
    screen.hang(f"{finding.rule}: {finding.message}", finding.level, lead=f"{lead}{finding.level:<6} ")


def line_of(event: Event) -> str:
    """An event in a line. Not yet escaped."""
    if isinstance(event.body, Handshake):
        conf, context = len(event.body.conf), len(event.body.context)
        return f"handshake: conf of {conf} keys, context of {context}, pidDir {event.body.pid_dir}"
    if event.channel in FRAMES:
        return decode(frame_text(event.raw[:SHOWN_BYTES])) or "(an empty message)"
    return sentence_of(event.body)
