"""A hang costs its whole wait once: which case hung where, and which of the others could only show the same. Pure.

The first case that hangs waits as long as Storm does. A second that has to come to the same place confirms it with a
short wait. The later ones are not played: they can't get past that place. A slow death, such as that of a loop which
ends with the memory, is treated in the same way; a fast one is played in each case.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.causes.tracebacks import last_line
from multilang_cli.protocol.words.events import Deadline, Exited, Signalled, StdinClosed
from multilang_cli.protocol.words.messages import Ack, Fail, SpoutCommand, Sync, TupleMsg
from multilang_cli.suite.case_result import case_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.suite.cases.case import Case

CONFIRMED_WITHIN = 3.0
"""Seconds of the wait that confirms a hang, at least; a component that was seen to be slower gets twice its time."""
SHORTENED = frozenset({"sync", "heartbeat", "settle", "read"})
"""Limits that are shortened for that."""
_UNANSWERED = "heartbeat-unanswered"
"""The rule of who was soon seen to leave heartbeats without an answer: Storm ends it, whatever else it would do."""
_SURE = 2
"""Cases that have to show that."""
DEAR = 3.0
"""Seconds that a death takes at least which is not to be watched in every case."""
MEMORY = "it was killed at the ceiling of its memory"
"""How a component ended that was allowed no more of it."""
_FED = frozenset({"tuple", "heartbeat"})
"""What bolts are sent, in the words of `Hang.at`; all else is a command to a spout."""
_SLOW = 5
"""Tuples that are sent at least where a case looks how fast a bolt is."""
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+")
"""What differs from death to death in the same last words: addresses, sizes, process ids."""


class Hang(NamedTuple):
    """The place where a case hung: at the `ordinal`-th that it was sent (a command, tuple, heartbeat), from 1.

    `final`: nothing comes after it in Storm either; else a tuple is only not settled. `short`: seconds that confirm it.
    `death`: how it died there after long work, with its last words; "" if it lives. `held_back`: it answered once its
    stdin was closed, so a longer wait might have seen the answer.
    """

    at: str
    ordinal: int
    final: bool
    short: float
    death: str = ""
    held_back: bool = False

    def is_like(self, other: Hang) -> bool:
        """True if both are at the same place, and end in the same way."""
        return (self.at, self.ordinal, self.death) == (other.at, other.ordinal, other.death)


class HangWatch:
    """Sees every event of a case, and remembers where it waited in vain for long. `hang`: there, None if nowhere.

    `confirms`: waits of this case are short. `slowest`: seconds that a tuple was seen to take in other cases.
    """

    def __init__(self, *, confirms: bool = False, slowest: float = 0.0) -> None:
        self._confirms = confirms
        self.hang: Hang | None = None
        self._said: Counter[str] = Counter()
        self._open: dict[str, tuple[int, float]] = {}
        self._beats: list[int] = []
        self._command: tuple[str, float] = ("", 0.0)
        self._slowest = slowest
        self._last: tuple[str, float] = ("", 0.0)
        self._dismissed = False
        self._late = False
        self._owes = False

    def take(self, events: Iterable[Event], _: object) -> None:
        """Follow what is pending."""
        for event in events:
            if (handler := _HANDLERS.get(event.body.__class__)) is not None:
                handler(self, event, event.body)

    def sent(self, event: Event, message: TupleMsg) -> None:
        """A tuple or a heartbeat."""
        what = "heartbeat" if message.is_heartbeat else "tuple"
        self._said[what] += 1
        if message.is_heartbeat:
            self._last = self._last if self._last[0] else (what, event.t)
            self._beats.append(self._said[what])
        else:
            self._open[message.id] = (self._said[what], event.t)
            self._last = (what, event.t)

    def commanded(self, event: Event, message: SpoutCommand) -> None:
        """A command."""
        self._said[message.command] += 1
        self._command = self._last = (message.command, event.t)

    def settled(self, event: Event, message: Ack | Fail) -> None:
        """A tuple is no longer open."""
        took = event.t - self._open.pop(message.id, (0, event.t))[1]
        self._slowest = max(self._slowest, took)
        self._late = self._late or took >= DEAR

    def synced(self, event: Event, _: Sync) -> None:
        """A heartbeat or a command is answered."""
        if self._beats:
            self._beats.pop(0)
            if self._dismissed and self._owes:
                self.held_back()
        if self._command[0]:
            self._slowest = max(self._slowest, event.t - self._command[1])

    def held_back(self) -> None:
        """It answers once its stdin is closed: what it writes is held back, for which any tuple may have to wait."""
        if self._late or self._open:
            self.hang = Hang("tuple", 1, True, CONFIRMED_WITHIN, held_back=True)

    def given_up(self, event: Event, fact: Deadline) -> None:
        """A limit ran out: that is a hang, unless it was seen soon that the component waits for Storm."""
        self._owes = fact.waits.at_stdin and bool(self._beats) and (fact.idle or len(self._beats) > 1)
        short = max(CONFIRMED_WITHIN, 2 * self._slowest)
        soon = fact.idle and event.t - self._last[1] < DEAR
        worth = self._confirms or (not soon and fact.limit > short)
        if not worth or (self.hang is not None and self.hang.final):
            return
        if fact.waiting_for == "sync":
            self.hang = Hang(self._command[0], self._said[self._command[0]], True, short)
        elif fact.waiting_for in {"heartbeat", "settle"} and self._open:
            first = min(number for number, _ in self._open.values())
            self.hang = Hang("tuple", first, fact.waiting_for == "heartbeat", short)
        elif fact.waiting_for == "heartbeat" and self._beats:
            self.hang = Hang("heartbeat", self._beats[0], True, short)

    def dismissed(self, _: Event, __: StdinClosed | Signalled) -> None:
        """It was told to end."""
        self._dismissed = True

    def exited(self, event: Event, end: Exited) -> None:
        """It died: like a hang if that took long."""
        self.died(end.how, event.t)

    def died(self, how: str, t: float) -> None:
        """It ended by its own doing at `t`, and not at once."""
        at, since = self._last
        if self._dismissed or self.hang is not None or not at:
            return
        ordinal = self._said[at]
        if self._open:
            at = "tuple"
            ordinal, since = min(self._open.values())
        if t - since >= DEAR:
            self.hang = Hang(at, ordinal, True, 0.0, how)

    def hear_last_words(self, stderr: str) -> None:
        """Take what stands at the end of its stderr: a death with other words is of something else."""
        if self.hang is not None and self.hang.death:
            words = _VARYING.sub("#", last_line(stderr))
            self.hang = self.hang._replace(death=f"{self.hang.death}, {words}")


_HANDLERS: dict[type, Callable[[HangWatch, Event, Any], None]] = {
    TupleMsg: HangWatch.sent,
    SpoutCommand: HangWatch.commanded,
    Ack: HangWatch.settled,
    Fail: HangWatch.settled,
    Sync: HangWatch.synced,
    Deadline: HangWatch.given_up,
    StdinClosed: HangWatch.dismissed,
    Signalled: HangWatch.dismissed,
    Exited: HangWatch.exited,
}


def _times(arguments: dict[str, Any]) -> int:
    return 1 if "seconds" in arguments else int(arguments.get("times", 1))


def _call(arguments: dict[str, Any], _: str) -> dict[str, int]:
    command = arguments["command"]
    return {command: _times(arguments), **({"next": 1} if command in {"ack", "fail"} else {})}


def _work(arguments: dict[str, Any], kind: str) -> dict[str, int]:
    return {"tuple": _times(arguments)} if kind == "bolt" else {"activate": 1, "next": _times(arguments)}


def _cut(arguments: dict[str, Any], kind: str) -> dict[str, int]:
    if arguments["message"] == "heartbeat":
        return {"heartbeat": 1}
    return {"tuple": _SLOW if arguments["message"] == "tuple" else 1} if kind == "bolt" else {"next": 1}


_SENDS: dict[str, Callable[[dict[str, Any], str], dict[str, int]]] = {
    "barrier": lambda _, kind: {"heartbeat": 1} if kind == "bolt" else {},
    "tuple": lambda arguments, _: {} if {"values", "these"} & arguments.keys() else {"tuple": _times(arguments)},
    "tuple_ids": lambda *_: {"tuple": 1},
    "backlog": lambda *_: {"tuple": _SLOW},
    "heartbeat": lambda arguments, _: {"heartbeat": _times(arguments)},
    "call": _call,
    "work": _work,
    "unread_work": lambda _, kind: {"tuple": _SLOW} if kind == "bolt" else {"activate": 1, "next": 1},
    "cut": _cut,
}
"""What an operation sends at least, by what the tables of `Hang.at` call it."""

_PLAIN = frozenset({"handshake", "barrier", "tuple", "heartbeat", "call", "work", "settle", "quiet", "emits"})
"""Operations that send what Storm sends to everybody: a hang in one of them is no matter of the case."""

_SPECIAL = frozenset({"values", "these", "conf", "context", "pad", "piece", "extra", "comp"})
"""Arguments by which they send something else."""


def _is_plain(case: Case) -> bool:
    if case.env:
        return False
    return all(name in _PLAIN and not _SPECIAL & arguments.keys() for name, arguments in case.steps)


def could_only_repeat(case: Case, kind: str, hang: Hang) -> bool:
    """True if the case has to come to where another hung."""
    sent: Counter[str] = Counter()
    for name, arguments in case.steps:
        if name == "barrier" and kind == "spout":
            # The first thing that a spout is asked is to be active.
            sent["next" if sent["activate"] else "activate"] += 1
        elif (sends := _SENDS.get(name)) is not None:
            sent.update(sends(arguments, kind))
    return sent[hang.at] >= hang.ordinal


class _Cause:
    def __init__(self, hang: Hang, case: Case, reason: str) -> None:
        self.hang = hang
        self.first = case.id
        self.reason = reason
        self.confirmed = False
        self.refuted = False


class Repeats:
    """The hangs of a run so far, in the order of its cases. `kind`: of the component.

    A bolt that only leaves tuples open is waited for as long once, and shortly in all later cases: these are played. So
    is one that answers no heartbeats, and a spout that left the same command unanswered twice, at one call or another.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._causes: dict[Hang, _Cause] = {}
        self._unsettled: Hang | None = None
        self._unanswered = 0
        self._silences: dict[str, list[Hang]] = {}

    def _met(self, case: Case) -> list[_Cause]:
        """The hangs to which this case has to come too."""
        known = (cause for cause in self._causes.values() if not cause.refuted)
        return [cause for cause in known if could_only_repeat(case, self._kind, cause.hang)]

    def _like(self, hang: Hang) -> _Cause | None:
        """The cause that shows in the same place."""
        found = (cause for cause in self._causes.values() if not cause.refuted)
        return next((cause for cause in found if cause.hang.is_like(hang)), None)

    def short(self, case: Case) -> float | None:
        """Seconds after which a wait of this case need go no further, None if it is to be waited as Storm does.

        Once a hang is confirmed no other is expected: who shows one all the same is played again. A death is waited
        for, as it would be no death in less.
        """
        known = (*self._met(case), *(cause for cause in self._causes.values() if cause.confirmed))
        if (hang := next((cause.hang for cause in known if not cause.hang.death), None)) is not None:
            return hang.short
        if self._unsettled is not None:
            return self._unsettled.short
        if (silent := next(filter(self._is_sure, self._silences), None)) is not None:
            return max(hang.short for hang in self._silences[silent])
        return CONFIRMED_WITHIN if self._unanswered >= _SURE else None

    def confirms(self, hang: Hang) -> bool:
        """True if a case that was waited for shortly shows what it was to show."""
        if hang.death:
            return True
        alike = self._unsettled is not None and self._unsettled.at == hang.at
        return alike or not hang.final or self._is_sure(hang.at) or self._like(hang) is not None

    def _is_sure(self, command: str) -> bool:
        """True if a command was seen to be left unanswered: which call of it may hang on what came before."""
        return len(self._silences.get(command, ())) >= _SURE

    def repeated(self, case: Case) -> SubjectResult | None:
        """The result of a case that could only show again what is confirmed; None for one to be played."""
        cause = next((cause for cause in self._met(case) if cause.confirmed), None)
        return None if cause is None else _repetition(case, cause)

    def note(self, case: Case, subject: SubjectResult, hang: Hang | None) -> SubjectResult:
        """Take what became of a case, the next in the order of the suite; how it counts.

        What it was waited for in vain in a case that says nothing, it may have refused: so it would in a third.
        """
        if subject.verdict == "skip":
            return subject
        self._unanswered += any(each.rule == _UNANSWERED for each in subject.findings)
        if hang is not None and not hang.death and (not hang.final or subject.verdict == "untestable"):
            self._unsettled = self._unsettled or hang
        if hang is not None and not hang.final:
            return subject
        if hang is not None and not hang.death and hang.at not in _FED and subject.verdict == "fail":
            self._silences.setdefault(hang.at, []).append(hang)
        if hang is None:
            for met in self._met(case) if subject.verdict != "untestable" else ():
                met.refuted = True
        elif subject.verdict not in {"fail", "untestable"}:
            pass
        elif (cause := self._like(hang)) is not None:
            sure, cause.confirmed = cause.confirmed or hang.held_back, True
            return _repetition(case, cause) if sure else subject
        elif _is_plain(case):
            self._causes[hang] = _Cause(hang, case, subject.reason)
        return subject


def _repetition(case: Case, cause: _Cause) -> SubjectResult:
    reason = f"same cause as {cause.first}: {cause.reason} (--exhaustive plays it all the same)"
    return case_result(case, "untestable", reason, same_cause=cause.first)


def shortened(limits: dict[str, float], short: float) -> dict[str, float]:
    """The limits of a case that is to confirm a hang."""
    return {name: min(limit, short) if name in SHORTENED else limit for name, limit in limits.items()}
