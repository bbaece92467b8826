"""Events of one conversation, in the order in which they happened: judged, then told to sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.driver.clock import Clock
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.wire.batches import Batch
    from multilang_cli.protocol.words.events import Channel, Fact
    from multilang_cli.protocol.words.verdicts import Finding

MOST_FINDINGS = 10_000
"""Findings after which a component is not listened to any longer."""


class EventSink(Protocol):
    """Something that wants every event as it happens: a recorder, a display."""

    def take(self, events: Sequence[Event], findings: Sequence[Finding], /) -> None:
        """Take events that were judged together, and what was found in them. A finding's `seq` says in which."""


class EventLog:
    """Gives events their numbers and has them judged.

    `seq`: the number of the next event. `findings` so far; `flooded`: so much is wrong that more says nothing new.
    `sinks` see every event. `sift`: from the first finding on, chooses which of the new ones, maybe none, are kept.
    """

    __slots__ = ("_clock", "_offsets", "_put_off", "_told", "findings", "flooded", "judge", "seq", "sift", "sinks")

    def __init__(self, judge: Conversation, clock: Clock, sinks: Iterable[EventSink]) -> None:
        self.judge = judge
        self.seq = 0
        self.findings: list[Finding] = []
        self.flooded = False
        self.sinks = tuple(sinks)
        self.sift: Callable[[Sequence[Finding]], Sequence[Finding]] | None = None
        self._clock = clock
        self._put_off: list[tuple[Sequence[Any], Sequence[bytes], float, bool]] = []
        self._told: Batch | None = None
        self._offsets = (0, 0)

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Something happened that is no message."""
        return self.judged((Event(self.seq, self._clock.now, channel, fact, raw),))

    def judged(self, events: Sequence[Event]) -> list[Finding]:
        """Have the next events judged, many at a time: it is several times faster than one by one."""
        if self._put_off or self._told is not None:
            self.take_put_off()
        self.seq += len(events)
        found = self.judge.feed_all(events)
        if found or self.findings:
            self.found(found)
        for sink in self.sinks:
            sink.take(events, found)
        return found

    # Called for every message: no keyword arguments on this path.
    def put_off(
        self,
        messages: Sequence[Any],
        texts: Sequence[bytes],
        t: float,
        offsets: tuple[int, int],
        sent: bool,
    ) -> None:
        """Plain messages went through a pipe, of which Storm does not die: they are judged before any other event.

        `texts`: their bytes, without the terminators. `offsets`: where the streams of stdin and stdout stood before.
        `sent`: Storm said them.
        """
        if not self._put_off:
            self._offsets = offsets
        self._put_off.append((messages, texts, t, sent))
        self.seq += len(messages)

    def take_put_off(self) -> None:
        """Have judged what was put off."""
        if (told := self._told) is not None:
            self._told = None
            self.seq = told.seq
            self.judged(told)
        if not self._put_off:
            return
        bodies, raws, times, sent = list[Any](), list[Any](), list[float](), list[bool]()
        for messages, texts, t, by_storm in self._put_off:
            bodies += messages
            raws += texts
            times += [t] * len(messages)
            sent += [by_storm] * len(messages)
        self._put_off.clear()
        offsets: dict[Channel, int] = {"in": self._offsets[0], "out": self._offsets[1]}
        seq = self.seq = self.seq - len(bodies)
        self.judged(RecordedEvents(seq, bodies, times, sent=sent, raws=raws, offsets=offsets, is_simple=True))

    def put_off_told(self, told: Batch) -> None:
        """Storm's next messages went into the pipe: they are judged with their answer, or before any other event."""
        self._told = told
        self.seq += len(told)

    def take_answer(self, said: Batch) -> bool:
        """Take what was said next if it is the whole answer to `put_off_told`, and plainly right; else do nothing."""
        told = self._told
        if told is None or not self.judge.pass_turn(told, said):
            return False
        self._told = None
        self.seq = told.seq
        self.passed(told)
        self.passed(said)
        return True

    @property
    def awaits_answer(self) -> bool:
        """True after `put_off_told`, until that is judged."""
        return self._told is not None

    def passed(self, events: Sequence[Event], found: Sequence[Finding] = ()) -> None:
        """Take the next events, which the judge has taken already: nothing may be put off."""
        self.seq += len(events)
        for sink in self.sinks:
            sink.take(events, found)
        if found:
            self.found(found)

    def found(self, found: Sequence[Finding]) -> None:
        """Take the findings of the last events, maybe none: called from the first finding on."""
        self.findings += found if self.sift is None else self.sift(found)
        self.flooded = len(self.findings) >= MOST_FINDINGS
