"""A conversation of now held against the recorded one: messages, findings, and how it ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from multilang_cli.protocol.words.events import End, Event, Exited, Signalled, StdinClosed, StdoutClosed
from multilang_cli.protocol.words.messages import SpoutCommand, TupleMsg
from multilang_cli.replay.matching import MessageDifference, match
from multilang_cli.replay.said import ComparisonOptions, Said, as_text, said_in
from multilang_cli.replay.script import ended_at_once
from multilang_cli.reports.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.protocol.words.verdicts import Finding

SILENT_END = 0.5
"""Seconds without a word before a recording ends, from which on it had surely said all."""


class FindingChange(NamedTuple):
    """A finding that is only there now (`change` new), or that was only there then (gone)."""

    change: Literal["new", "gone"]
    finding: Finding


class Comparison(NamedTuple):
    """Comparison of a conversation. `compared`: messages of the recording. `ends`: how it ended, then and now.

    `input`: where the two were told different things, "" if they were not. `notes`: what is no difference, but worth
    knowing. `lasting`: findings of level must or should that are there then and now. `last`: the last events, then and
    now, that say the same. `open`: which of both were not seen to be ended.
    """

    compared: int
    differences: list[MessageDifference]
    findings: list[FindingChange]
    lasting: list[Finding]
    ends: tuple[str, str]
    input: str
    notes: list[str]
    last: tuple[int, int] = (-1, -1)
    open: tuple[bool, bool] = (False, False)

    @property
    def same(self) -> bool:
        """True if nothing changed that is compared."""
        return not (self.differences or self.findings or self.input) and self.ends[0] == self.ends[1]

    @property
    def told_ends(self) -> list[str]:
        """Ends of both in words."""
        lived = ("it lived as far as is recorded" if each else "it lived until it was ended" for each in self.open)
        return [end or word for end, word in zip(self.ends, lived, strict=True)]

    def may_be_loss(self, *, then: bool, now: bool) -> bool:
        """True if what one side lost may be all that differs. `then`, `now`: whether it has lost some.

        Nothing is read behind what is lost: what stands before the last message of both is no loss, nor is a breach
        that is there now.
        """
        alike = self.ends[0] == self.ends[1] or (now and not self.ends[1]) or (then and not self.ends[0])
        return (
            alike
            and all(self._is_behind(each, then=then, now=now) for each in self.differences)
            and all(now and each.change == "gone" and each.finding.seq > self.last[0] for each in self.findings)
        )

    def _is_behind(self, difference: MessageDifference, *, then: bool, now: bool) -> bool:
        """True if only the side that is whole has the message, and behind all that both have."""
        if difference.now is None and difference.then is not None:
            return now and difference.then.event.seq > self.last[0]
        if difference.then is None and difference.now is not None:
            return then and difference.now.event.seq > self.last[1]
        return False


class Side(NamedTuple):
    """One of the two conversations: its events and what the judge found in them."""

    events: Sequence[Event]
    findings: Sequence[Finding]


def compare(then: Side, now: Side, wanted: ComparisonOptions, *, spout: bool, inputs: bool = False) -> Comparison:
    """Hold `now` against `then`. `inputs`: see that they were told the same, which a replay sees to itself."""
    before, after = (said_in(side.events, wanted, spout=spout) for side in (then, now))
    matching = match(before, after, wanted)
    late, differences = _late(matching.differences, [pair[1] for pair in matching.pairs], then.events)
    notes = []
    if matching.moved:
        told = "not in answer to the same command as then, which the protocol does not fix"
        notes.append(f"{told}: {counted(matching.moved, 'message')}")
    if late:
        notes.append(f"after the point where the recording ends came {counted(len(late), 'message')}")
    unknown = {each.now.event.seq for each in late if each.now is not None}
    turned, lasting = _turned(then.findings, [finding for finding in now.findings if finding.seq not in unknown])
    ends = _ends(then.events, now.events) if "exit" in wanted.aspects else ("", "")
    return Comparison(
        compared=len(before),
        differences=differences,
        findings=turned,
        lasting=lasting,
        ends=ends,
        input=_other_input(then.events, now.events) if inputs else "",
        notes=notes,
        last=(_last(pair[0] for pair in matching.pairs), _last(pair[1] for pair in matching.pairs)),
        open=(_is_open(then.events), _is_open(now.events)),
    )


def _late(
    differences: list[MessageDifference], matched: list[Said], then: Sequence[Event]
) -> tuple[list[MessageDifference], list[MessageDifference]]:
    """Split off what is new only because the recording was ended before it could be said.

    Whoever records ends a component as soon as it has what it waited for; it may have been about to say more.
    """
    said = [event.t for event in then if event.channel == "out"]
    if not then or not said or _ended_itself(then) or then[-1].t - said[-1] >= SILENT_END:
        return [], differences
    last = _last(matched)
    is_late = [each.now is not None and each.then is None and each.now.event.seq > last for each in differences]
    late = [each for each, after in zip(differences, is_late, strict=True) if after]
    return late, [each for each, after in zip(differences, is_late, strict=True) if not after]


def _last(said: Iterable[Said]) -> int:
    return max((each.event.seq for each in said), default=-1)


def _ended_itself(events: Iterable[Event]) -> bool:
    return any(isinstance(event.body, Exited | StdoutClosed | StdinClosed) for event in _before_signal(events))


def _before_signal(events: Iterable[Event]) -> Iterable[Event]:
    for event in events:
        if isinstance(event.body, Signalled | End):
            return
        yield event


def _is_open(events: Iterable[Event]) -> bool:
    return not any(isinstance(event.body, Signalled | End | StdinClosed) for event in events)


class _End(NamedTuple):
    """End of a component: `how`, "" if it lived until it was ended; `after_eof`: its stdin had been closed."""

    how: str = ""
    after_eof: bool = False

    def __str__(self) -> str:
        if not self.how:
            return "lives" if self.after_eof else ""
        return f"{self.how} after its stdin was closed" if self.after_eof else self.how


def end_of(events: Iterable[Event]) -> _End:
    """End of a component by itself, or at the end of its stdin."""
    after_eof = False
    for event in _before_signal(events):
        body = event.body
        if isinstance(body, StdinClosed):
            after_eof = True
        elif isinstance(body, Exited):
            return _End(body.how, after_eof)
        elif isinstance(body, StdoutClosed) and not after_eof:
            return _End("closed its stdout")
    return _End(after_eof=after_eof)


def _ends(then: Sequence[Event], now: Sequence[Event]) -> tuple[str, str]:
    """Ends of both; where one was killed before it could end by itself, what the other did then tells nothing."""
    ends = end_of(then), end_of(now)
    unknown = ended_at_once(then) or ended_at_once(now)
    one, other = ("" if unknown and end.after_eof else str(end) for end in ends)
    return one, other


def _turned(then: Sequence[Finding], now: Sequence[Finding]) -> tuple[list[FindingChange], list[Finding]]:
    """Findings that came and went, by fingerprint, and those that stay. Notes don't count: they are no breach."""
    before, after = ({f.fingerprint: f for f in reversed(side) if f.level != "note"} for side in (then, now))
    new = [FindingChange("new", finding) for mark, finding in after.items() if mark not in before]
    gone = [FindingChange("gone", finding) for mark, finding in before.items() if mark not in after]
    found = sorted([*new, *gone], key=lambda turned: turned.finding.seq)
    return found, sorted((f for mark, f in after.items() if mark in before), key=lambda f: f.seq)


def _other_input(then: Iterable[Event], now: Iterable[Event]) -> str:
    before, after = _told(then), _told(now)
    for place, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if one != other:
            return f"message {place} to the component was {one} and is {other}"
    if len(before) == len(after):
        return ""
    return f"the component was told {len(before)} messages, and now {len(after)}"


def _told(events: Iterable[Event]) -> list[str]:
    return [words for event in events if event.channel == "in" and (words := _words(event.body))]


def _words(body: Any) -> str:
    """A tuple or command as it can be compared: without its id. Task ids are answers, not input."""
    if isinstance(body, TupleMsg):
        if body.is_heartbeat:
            return "a heartbeat"
        return f"a tuple {as_text(body.values)} of {body.comp}, stream {body.stream}"
    return str(body.command) if isinstance(body, SpoutCommand) else ""
