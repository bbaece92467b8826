"""The judge on executors: one conversation, line by line, in order; what it finds is given as rows. Pure.

A conversation may have any number of events: nothing of it is kept but the judge's state. The findings are those of
``mlcheck lint``, which reads its lines in the same order.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.diagnosing import RecentEvents
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.transcript.format import decode_header, decode_line
from multilang_cli.transcript.reader import reader_of
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.transcript.format import Header
    from multilang_cli.transcript.reader import ConversationReader

JUDGED_TOGETHER = 128
"""Events that are judged at a time."""
MOST_HELD = 1000
"""Findings of one conversation that are held to its end, when their causes are known; later ones have none."""
_BAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
Row = dict[str, Any]
"""A row of the table findings, or of outlooks: it has a `version` then."""
Place = tuple[str, int, str, bytes]
"""A line of a conversation: its `conv`, its `part`, header, event, damaged or end, and its bytes."""


class _Timed(NamedTuple):
    seq: int
    t: float


def judge_lines(lines: Iterable[Place], storm: str = "") -> Iterator[Row]:
    """Judge conversations that come one after the other; `storm`: the version, "" for the recorded one."""
    judge: LineJudge | None = None
    for conv, part, what, raw in lines:
        if judge is None or conv != judge.conv:
            if judge is not None:
                yield from judge.finish()
            judge = LineJudge(conv, storm)
        yield from judge.take(part, what, raw)
    if judge is not None:
        yield from judge.finish()


class LineJudge:
    """One conversation, judged line by line."""

    def __init__(self, conv: str, storm: str = "") -> None:
        self.conv = conv
        self._storm = storm
        self._judge: Any = None
        self._recent: RecentEvents | None = None
        self._held: list[tuple[Finding, Row]] | None = []
        self._reader: ConversationReader | None = None
        self._redactor = Redactor({})
        self._part = 0
        self._unjudged: list[Event] = []
        self._last = _Timed(0, 0.0)
        self._missing = ""
        self._gap = False
        self._closed = False
        self._behind_cut: tuple[int, dict[str, Any] | None] | None = None
        self._unknown = ""

    def take(self, part: int, what: str, raw: bytes) -> list[Row]:
        """The next line: what is found by it, or by those that waited to be judged."""
        if what == "header":
            return self._take_part(part, raw)
        if what == "end":
            self.close()
        elif what == "damaged":
            self._lack("a line that can't be read")
        elif self._judge is not None and self._reader is not None:
            try:
                line = decode_line(raw)
                if line.seq < self._last.seq:
                    # Where a line is damaged they come as they stand in the file: this one is too late for its place.
                    self._lack("lines are out of order")
                    return []
                if missed := self._reader.missed(line):
                    self._lack(f"{missed} events are missing")
                event = self._reader.event(line)
            except _BAD:
                self._lack("a line that can't be read")
                return []
            if event is not None:
                return [*self._judge_cut(event), *self._miss(), *self._feed(event)]
        return []

    def close(self) -> None:
        """Know that the part has its end: nothing of it is missing there."""
        self._closed = True
        if self._reader is not None:
            self._reader.closed = True

    def _lack(self, why: str) -> None:
        self._missing = why
        if self._reader is not None:
            self._reader.miss()

    def finish(self) -> Iterator[Row]:
        """Yield the last findings, and how the conversation ends on each Storm version."""
        yield from self._judge_cut()
        yield from self._catch_up()
        yield from self._with_causes()
        if self._unknown:
            yield {"conv": self.conv, "version": self._unknown, "fate": "unknown"}
        for outlook in self._judge.outlook() if self._judge is not None else ():
            yield {"conv": self.conv, **msgspec.structs.asdict(outlook)}

    def _take_part(self, part: int, raw: bytes) -> list[Row]:
        header = decode_header(raw)
        found = self.begin(part, header)
        before = self._reader if part > 1 else None
        self._reader = reader_of(header, header.transcript, before)
        return found

    def begin(self, part: int, header: Header) -> list[Row]:
        """Go on with a part: what is found of those that waited to be judged, if parts before it are missing."""
        found = self._judge_cut()
        cut, self._closed = bool(self._part) and not self._closed, False
        if self._judge is None:
            self._redactor = Redactor(header.profile.conf)
            profile = msgspec.structs.replace(header.profile, storm=self._version(header))
            self._judge = self._new_judge(profile)
            if self._judge is not None:
                self._recent = RecentEvents(self._judge.profile, _rulebook(profile.storm), header.argv)
        if header.snapshot is not None and (cut or part > self._part + 1):
            # What the lines before have lost, this part knows.
            self._missing = ""
        if self._judge is not None and part > self._part + 1:
            found += self._take_up(header.snapshot, part)
        elif self._judge is not None and cut and part > self._part:
            self._behind_cut = part, header.snapshot
        self._part = part
        return found

    def _judge_cut(self, event: Event | None = None) -> list[Row]:
        """Know that the part before has no end, unless the next begins with an `event` that is a gap: what is found."""
        behind, self._behind_cut = self._behind_cut, None
        if behind is None or (event is not None and isinstance(event.body, Gap)):
            return []
        part, snapshot = behind
        return self._take_up(snapshot, part)

    def take_events(self, events: Sequence[Event]) -> list[Row]:
        """Take the next events, which were read already: what is found by them, or by those that waited."""
        if self._behind_cut is not None:
            return [*self._judge_cut(events[0]), *self.take_events(events)]
        if isinstance(events, RecordedEvents) and Handshake not in set(map(type, events.bodies)):
            return [*self._catch_up(), *self._judge_all(events)]
        return [row for event in events for row in self._feed(event)]

    def _version(self, header: Any) -> str:
        return self._storm or header.profile.storm

    def _new_judge(self, profile: Any) -> Any:
        try:
            return judge_of(profile, _rulebook(profile.storm), Bound())
        except KeyError:
            self._unknown = profile.storm
            return None

    def _take_up(self, snapshot: dict[str, Any] | None, part: int) -> list[Row]:
        found = self._catch_up()
        try:
            if snapshot is not None:
                self._judge.restore(snapshot)
                self._gap = False
                return found
        except (KeyError, TypeError, *_BAD):
            pass
        self._missing = f"the parts before part {part} are missing"
        return [*found, *self._miss()]

    def _miss(self) -> list[Row]:
        why, self._missing = self._missing, ""
        if not why or self._judge is None:
            return []
        found = self._catch_up()
        return found if self._gap else [*found, *self._feed(Event(self._last.seq, self._last.t, "control", Gap(why)))]

    def _feed(self, event: Event) -> list[Row]:
        self._unjudged.append(event)
        self._last = _Timed(event.seq, event.t)
        self._gap = isinstance(event.body, Gap)
        if isinstance(event.body, Handshake):
            self._redactor.event(event)
        return self._catch_up() if len(self._unjudged) >= JUDGED_TOGETHER else []

    def _catch_up(self) -> list[Row]:
        events, self._unjudged = self._unjudged, []
        return self._judge_all(events)

    def _judge_all(self, events: Sequence[Event]) -> list[Row]:
        if not events or self._judge is None:
            return []
        if self._recent is not None:
            self._recent.take(events)
        findings = self._judge.feed_all(events)
        times = {event.seq: event.t for event in events} if findings else {}
        found = [(finding, self._row(finding, times)) for finding in findings]
        if self._held is None:
            return [row for _, row in found]
        self._held += found
        return self._with_causes() if len(self._held) > MOST_HELD else []

    def _with_causes(self) -> list[Row]:
        """The rows that were held, with what their findings come of; none is held any more."""
        held, self._held = self._held or [], None
        causes = self._recent.causes([finding for finding, _ in held]) if held and self._recent is not None else ()
        by_rule = {rule: cause.id for cause in reversed(causes) for rule in cause.rules}
        return [{**row, "cause": by_rule.get(finding.rule)} for finding, row in held]

    def _row(self, finding: Finding, times: dict[int, float]) -> Row:
        return {
            "conv": self.conv,
            "seq": finding.seq,
            "t": times.get(finding.seq),
            "rule": finding.rule,
            "level": finding.level,
            "subject": self._clean(finding.subject),
            "message": self._clean(finding.message),
            "offset": finding.offset,
            "related": list(finding.related),
            "fates": finding.fates,
            "errors": {version: self._clean(error) for version, error in finding.errors.items()},
            "fingerprint": finding.fingerprint,
        }

    def _clean(self, text: str) -> str:
        cleaned = self._redactor.text(text.encode("utf-8", "surrogatepass"))
        # Arrow takes no half of a character.
        return cleaned.decode("utf-8", "replace")


@cache
def _rulebook(storm: str) -> Rulebook:
    return load_rulebook(storm)
