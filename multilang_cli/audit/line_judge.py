"""The judge on executors: one conversation, line by line, in order; what it finds is given as rows. Pure.

A conversation may have any number of events: nothing of it is kept but the judge's state. The findings are those of
``mlcheck lint``, which reads its lines in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.diagnosing import RecentEvents
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.parts import RecordedParts
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Redacted
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.transcript.format import decode_header, decode_line
from multilang_cli.transcript.reader import reader_of
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.transcript.format import Header
    from multilang_cli.transcript.reader import ConversationReader

MOST_HELD = 1000
"""Findings of one conversation that are held to its end, when their causes are known; later ones have none."""
_BAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
Row = dict[str, Any]
"""A row of the table findings, or of outlooks: it has a `version` then."""
Place = tuple[str, int, str, bytes]
"""A line of a conversation: its `conv`, its `part`, header, event, damaged or end, and its bytes."""


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
    """One conversation, judged line by line. Each call gives the rows of what was found by then.

    Nothing is judged of one for a Storm version that is not known.
    """

    def __init__(self, conv: str, storm: str = "") -> None:
        self.conv = conv
        self._storm = storm
        self._parts: RecordedParts | None = None
        self._recent: RecentEvents | None = None
        self._reader: ConversationReader | None = None
        self._redactor = Redactor({})
        self._rows: list[Row] = []
        self._held: list[tuple[Finding, Row]] | None = []
        self._unknown = ""

    def take(self, part: int, what: str, raw: bytes) -> list[Row]:
        """Take the next line."""
        if what == "header":
            return self._take_header(part, decode_header(raw))
        if what == "end":
            self.close()
        elif what == "damaged":
            self._lack("a line that can't be read")
        elif self._parts is not None and self._reader is not None:
            self._take_event(raw, self._parts, self._reader)
        return self._given()

    def _take_header(self, part: int, header: Header) -> list[Row]:
        before = self._reader if part > 1 else None
        reader = reader_of(header, header.transcript, before)
        if before is not None and before.last is not None and reader.last is not None and reader.last > before.last:
            # Its writer had seen them; the part was closed, but its last lines were lost on their way.
            self._lack(f"{reader.last - before.last} events are missing")
            reader = reader_of(header, header.transcript, before)
        self._reader = reader
        return self.begin(part, header)

    def _take_event(self, raw: bytes, parts: RecordedParts, reader: ConversationReader) -> None:
        try:
            line = decode_line(raw)
            if line.seq < parts.seq:
                # Where a line is damaged they come as they stand in the file: this one is too late for its place.
                self._lack("lines are out of order")
                return
            if missed := reader.missed(line):
                self._lack(f"{missed} events are missing")
            event = reader.event(line)
        except _BAD:
            self._lack("a line that can't be read")
            return
        if event is not None:
            parts.feed((event,))

    def close(self) -> None:
        """Know that the part has its end: nothing of it is missing there."""
        if self._parts is not None:
            self._parts.closed = True
        if self._reader is not None:
            self._reader.closed = True

    def _lack(self, why: str) -> None:
        """Know that something is missing here."""
        if self._parts is not None:
            self._parts.note_gap(why)
        if self._reader is not None:
            self._reader.miss()

    def finish(self) -> Iterator[Row]:
        """Yield the last findings, and how the conversation ends on each Storm version."""
        if self._parts is not None:
            self._parts.end_cut()
            self._parts.catch_up()
        yield from self._given()
        yield from self._with_causes()
        if self._unknown:
            yield {"conv": self.conv, "version": self._unknown, "fate": "unknown"}
        for outlook in self._parts.judge.outlook() if self._parts is not None else ():
            yield {"conv": self.conv, **msgspec.structs.asdict(outlook)}

    def begin(self, part: int, header: Header) -> list[Row]:
        """Go on with a part."""
        if self._parts is None:
            self._redactor = Redactor(header.profile.conf)
            self._parts = self._judge_of(header)
        if self._parts is not None:
            self._parts.begin(part, header.snapshot)
        return self._given()

    def take_events(self, events: Sequence[Event]) -> list[Row]:
        """Take the next events, which were read already."""
        if self._parts is not None:
            self._parts.feed(events)
        return self._given()

    def _judge_of(self, header: Header) -> RecordedParts | None:
        profile = msgspec.structs.replace(header.profile, storm=self._storm or header.profile.storm)
        try:
            rulebook = load_rulebook(profile.storm)
            judge = judge_of(profile, rulebook, Bound())
        except KeyError:
            self._unknown = profile.storm
            return None
        self._recent = RecentEvents(judge.profile, rulebook, header.argv)
        return RecordedParts(judge, self._judged, on_lost=_take_as_missing, on_bad_snapshot=_take_as_missing)

    def _judged(self, events: Sequence[Event], found: Sequence[Finding]) -> None:
        if self._recent is not None:
            self._recent.take(events)
        bodies = events.bodies if isinstance(events, RecordedEvents) else [event.body for event in events]
        if Handshake in set(map(type, bodies)):
            for event in events:
                if isinstance(event.body, Handshake):
                    self._redactor.event(event)
        # A mark has the number of another event, and in a damaged file a time of its own.
        times = {event.seq: event.t for event in events if not isinstance(event.body, Redacted)} if found else {}
        rows = [(finding, self._row(finding, times)) for finding in found]
        if self._held is None:
            self._rows += [row for _, row in rows]
            return
        self._held += rows
        if len(self._held) > MOST_HELD:
            self._rows += self._with_causes()

    def _given(self) -> list[Row]:
        rows, self._rows = self._rows, []
        return rows

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


def _take_as_missing(_: object) -> None:
    """Leave it to the gap that is put there."""
