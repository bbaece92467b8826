"""Changes in words: for the terminal and for every format of reports. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.reports.counting import counted
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import ExcerptLine

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.replay.comparison import Comparison, FindingChange
    from multilang_cli.replay.matching import MessageDifference
    from multilang_cli.replay.said import Said

SHOWN_OF_MESSAGE = 400
"""Bytes of one message that are shown, at most."""
_FIRST_NAMED = 3


def name_of(said: Said) -> str:
    """Name a message: ``ack of tuple 3``, ``emit on default for tuple 3``."""
    place = _place(said)
    if said.what == "emit":
        return f"emit on {said.stream}{f' for {place}' if place else ''}"
    if said.what == "malformed":
        return f"a frame that is no message{f', {place}' if place else ''}"
    if said.what in {"ack", "fail"}:
        return f"{said.what} of {place}"
    return f"{said.what}{f', {place}' if place else ''}"


def _place(said: Said) -> str:
    if said.about:
        numbers = [f"tuple {number}" if number != "?" else "an unknown tuple" for number in said.about[:_FIRST_NAMED]]
        more = len(said.about) - _FIRST_NAMED
        return ", ".join(numbers) + (f" and {more} more" if more > 0 else "")
    return f"command {said.turn}" if said.turn else ""


def title_of(difference: MessageDifference) -> str:
    """The message that changed, in words."""
    said = difference.then or difference.now
    return name_of(said) if said is not None else ""


def reason_of(difference: MessageDifference) -> str:
    """Describe a difference."""
    return f"{title_of(difference)}: {difference.what}"


def lines_of(difference: MessageDifference) -> tuple[ExcerptLine, ...]:
    """The message as it was and as it is."""
    shown = []
    if difference.then is not None:
        shown.append(_line(difference.then, "then", mark=False))
    if difference.now is not None:
        shown.append(_line(difference.now, "now", mark=True))
    return tuple(shown)


def _line(said: Said, note: str, *, mark: bool) -> ExcerptLine:
    text = decode(frame_text(said.raw)[:SHOWN_OF_MESSAGE])
    return ExcerptLine(seq=said.seq, t=round(said.t, 6), channel="out", text=text, mark=mark, note=note)


def finding_text(finding: Finding) -> str:
    """A finding in a line."""
    return f"{finding.rule} ({finding.level}, event {finding.seq}): {finding.message}"


def turned_text(turned: FindingChange) -> str:
    """A finding that came or went, in a line."""
    lead = "found now, and not then" if turned.change == "new" else "found then, and not now"
    return f"{lead}: {finding_text(turned.finding)}"


def end_text(comparison: Comparison) -> str:
    """Describe the ends, then and now; "" if alike."""
    then, now = comparison.told_ends
    return "" if comparison.ends[0] == comparison.ends[1] else f"how it ended: then {then}, now {now}"


def summary_of(comparison: Comparison) -> str:
    """The counts in a line: ``2 changed, 1 missing of 12 messages; 1 finding is gone``."""
    parts = []
    changes = [difference.change for difference in comparison.differences]
    words = {"changed": "changed", "missing": "missing", "new": "new", "order": "at another place"}
    counts = [f"{changes.count(each)} {word}" for each, word in words.items() if each in changes]
    of = counted(comparison.compared, "message")
    parts.append(f"{', '.join(counts)} of {of}" if counts else f"{of} as then")
    for change in ("new", "gone"):
        found = sum(turned.change == change for turned in comparison.findings)
        if found:
            parts.append(f"{counted(found, 'finding')} {'is' if found == 1 else 'are'} {change}")
    if comparison.lasting:
        parts.append(f"{counted(len(comparison.lasting), 'finding')} as then")
    if end := end_text(comparison):
        parts.append(end)
    if comparison.input:
        parts.append("they were told different things")
    return "; ".join(parts)
