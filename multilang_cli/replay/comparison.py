"""A conversation of now held against the recorded one: messages, findings, and how it ended. Pure."""

from __future__ import annotations

from collections import deque
from itertools import compress, zip_longest
from operator import not_
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Deadline, End, Event, Exited, Signalled, StdinClosed, StdoutClosed
from multilang_cli.protocol.words.messages import SpoutCommand, TupleMsg
from multilang_cli.replay.matching import Matcher, Matching, MessageDifference
from multilang_cli.replay.said import ComparisonOptions, Listener, Said, as_text
from multilang_cli.replay.script import ended_at_once
from multilang_cli.reports.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.verdicts import Finding

_TURNS = Deadline | End | Exited | Signalled | StdinClosed | StdoutClosed
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
    now, that say the same. `open`: which of both were not seen to be ended; `silent`: nothing was
    said then.
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
    silent: bool = False

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
            return now and difference.then.seq > self.last[0]
        if difference.then is None and difference.now is not None:
            return then and difference.now.seq > self.last[1]
        return False


class Side(NamedTuple):
    """One of the two conversations: its events, as they are read, and what the judge has found once all are."""

    spans: Iterable[Sequence[Event]]
    findings: Sequence[Finding]

    @classmethod
    def of(cls, events: Sequence[Event], findings: Sequence[Finding]) -> Side:
        """One whose events are there."""
        return cls((events,), findings)


class _Course:
    """The course of one conversation. `turns`: what happened to its process; `said`, `over`: times of the last events.

    `says`: something was said on its stdout.
    """

    def __init__(self, wanted: ComparisonOptions, *, spout: bool) -> None:
        self.turns: list[Event] = []
        self.said = self.over = 0.0
        self.says = False
        self._listener = Listener(wanted, spout=spout)

    def hear(self, events: Sequence[Event]) -> Iterator[Said]:
        """Go on with the next events; the messages of the component in them."""
        if isinstance(events, RecordedEvents):
            said = list(compress(events.times, map(not_, events.sent)))
            self.over = events.times[-1]
        else:
            self.turns += [event for event in events if isinstance(event.body, _TURNS)]
            said = [event.t for event in events if event.channel == "out"]
            self.over = events[-1].t if events else self.over
        if said:
            self.said, self.says = said[-1], True
        return self._listener.hear(events)


def compare(then: Side, now: Side, wanted: ComparisonOptions, *, spout: bool, inputs: bool = False) -> Comparison:
    """Hold `now` against `then`. `inputs`: see that they were told the same, which a replay sees to itself.

    Both are read in turns, and what says the same is not kept.
    """
    before, after = _Course(wanted, spout=spout), _Course(wanted, spout=spout)
    matcher, told = Matcher(wanted), _Inputs()
    for one, other in zip_longest(then.spans, now.spans, fillvalue=()):
        for said in before.hear(one):
            matcher.take_then(said)
        for said in after.hear(other):
            matcher.take_now(said)
        if inputs:
            told.take(one, other)
    matching = matcher.matching()
    late, differences = _late(matching, before)
    notes = []
    if matching.moved:
        moved = "not in answer to the same command as then, which the protocol does not fix"
        notes.append(f"{moved}: {counted(matching.moved, 'message')}")
    if late:
        notes.append(f"after the point where the recording ends came {counted(len(late), 'message')}")
    unknown = {each.now.seq for each in late if each.now is not None}
    turned, lasting = _turned(then.findings, [finding for finding in now.findings if finding.seq not in unknown])
    return Comparison(
        compared=matching.compared,
        differences=differences,
        findings=turned,
        lasting=lasting,
        ends=_ends(before.turns, after.turns) if "exit" in wanted.aspects else ("", ""),
        input=told.difference,
        notes=notes,
        last=matching.last,
        open=(_is_open(before.turns), _is_open(after.turns)),
        silent=not before.says,
    )


def _late(matching: Matching, then: _Course) -> tuple[list[MessageDifference], list[MessageDifference]]:
    """Split off what is new only because the recording was ended before it could be said.

    Whoever records ends a component as soon as it has what it waited for; it may have been about to say more.
    """
    differences, last = matching.differences, matching.last[1]
    if not then.says or _ended_itself(then.turns) or then.over - then.said >= SILENT_END:
        return [], differences
    is_late = [each.now is not None and each.then is None and each.now.seq > last for each in differences]
    late = [each for each, after in zip(differences, is_late, strict=True) if after]
    return late, [each for each, after in zip(differences, is_late, strict=True) if not after]


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


class _Inputs:
    """The tuples and commands of both, by what they say beside their ids. Task ids are answers, not input."""

    def __init__(self) -> None:
        self._counts = [0, 0]
        self._waiting: tuple[deque[Any], deque[Any]] = (deque(), deque())
        self._place = 0
        self._difference = ""

    @property
    def difference(self) -> str:
        """The first thing that they were told differently, in a sentence; "" if there is none, once both are over."""
        then, now = self._counts
        if self._difference or then == now:
            return self._difference
        return f"the component was told {then} messages, and now {now}"

    def take(self, then: Sequence[Event], now: Sequence[Event]) -> None:
        """Go on with the next events of both. Behind the first difference nothing is looked at."""
        if self._difference:
            return
        for side, events in enumerate((then, now)):
            told = list(_told(events))
            self._counts[side] += len(told)
            self._waiting[side].extend(told)
        before, after = self._waiting
        while before and after:
            one, other = before.popleft(), after.popleft()
            self._place += 1
            if not _is_same(one, other) and (words := _words(one)) != (others := _words(other)):
                self._difference = f"message {self._place} to the component was {words} and is {others}"
                return
        # A side that is over has nothing for which the other's would wait.
        if not then:
            after.clear()
        if not now:
            before.clear()


def _told(events: Sequence[Event]) -> Iterator[Any]:
    bodies = events.bodies if isinstance(events, RecordedEvents) else [e.body for e in events if e.channel == "in"]
    return (body for body in bodies if isinstance(body, TupleMsg | SpoutCommand))


def _is_same(one: Any, other: Any) -> bool:
    """True of what is surely told alike; equal numbers may be written differently."""
    if one.__class__ is SpoutCommand:
        return other.__class__ is SpoutCommand and bool(one.command == other.command)
    return (
        other.__class__ is TupleMsg
        and (one.stream, one.comp, one.is_heartbeat) == (other.stream, other.comp, other.is_heartbeat)
        and repr(one.values) == repr(other.values)
    )


def _words(body: Any) -> str:
    """A tuple or command as it can be compared: without its id."""
    if isinstance(body, SpoutCommand):
        return str(body.command)
    if body.is_heartbeat:
        return "a heartbeat"
    return f"a tuple {as_text(body.values)} of {body.comp}, stream {body.stream}"
