"""One recorded conversation as sections of a page, made while it is read: every event is seen, a part of them kept."""

from __future__ import annotations

import shlex
from array import array
from collections import Counter, defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.wire.framing import TERMINATOR
from multilang_cli.protocol.wire.lazy import LazySequence
from multilang_cli.protocol.words.events import Redacted
from multilang_cli.protocol.words.messages import Emit
from multilang_cli.reports.escape import escape
from multilang_cli.reports.failure import exit_in_words
from multilang_cli.reports.html.document import CHANNELS, ConversationSection, FactsSection, SectionColumn, TableSection
from multilang_cli.reports.html.findings import worst_in_words
from multilang_cli.reports.html.keeping import Row, Rows, columns_of
from multilang_cli.reports.html.latency import Latency
from multilang_cli.reports.html.showing import SHOWN_OF_MESSAGE, kinds_of, shown
from multilang_cli.reports.html.threads import Threads
from multilang_cli.reports.html.tree_steps import MOST_TREES, TreeSteps
from multilang_cli.transcript.reader import PackedEvents, without_secrets_in
from multilang_cli.transcript.redact import TOLD, Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.reports.html.document import AnySection
    from multilang_cli.reports.html.findings import Explainer
    from multilang_cli.reports.html.keeping import EventBudget
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.transcript.format import Header

_NUMBERS = {channel: number for number, channel in enumerate(CHANNELS)}
_IN, _OUT = _NUMBERS["in"], _NUMBERS["out"]
_COMMAND_LENGTH = 500
_LARGE = 65_536
"""Bytes of an emit from which on its values are not kept."""
_FEW_TREES = 2


class _SpanRows(LazySequence[Row]):
    """The rows of a span of a recording, the first with the number `place`; `answered`: as `threads` told."""

    __slots__ = ("_answered", "_packed", "_place", "_threads")

    def __init__(self, place: int, span: RecordedEvents, threads: Threads, answered: list[Any]) -> None:
        self._place, self._packed, self._threads, self._answered = place, PackedEvents(span), threads, answered

    def __len__(self) -> int:
        return len(self._packed)

    def _made(self) -> list[Row]:
        events = self._packed.events()
        names = self._threads.names(events.bodies, self._answered)
        return [
            row_of(place, event, name)
            for place, (event, name) in enumerate(zip(events, names, strict=True), self._place)
        ]


def row_of(place: int, event: Event, thread: str) -> Row:
    """An event as it is shown."""
    kind, head, text = shown(event)
    return Row(place, event.seq, event.t, _NUMBERS[event.channel], kind, head, text, len(event.raw), thread)


class PageConversation:
    """A conversation that is read for a page. `lead`: the id of its section, which the ids of others begin with.

    `subject`: what was found in it; `explainer`: for the Storm version that it was judged for; `detailed`: with
    latency, tuple trees and counts; `alone`: it is the only one of its page.
    """

    def __init__(
        self,
        lead: str,
        header: Header,
        subject: SubjectResult,
        explainer: Explainer,
        budget: EventBudget,
        *,
        detailed: bool,
        alone: bool,
    ) -> None:
        self.lead = lead
        self.header = header
        self.subject = subject
        self.detailed = detailed
        self.alone = alone
        rules = {seq: each.rule for each in subject.findings for seq in (*each.related, each.seq)}
        self.events = 0
        self._counts: Counter[tuple[int, str]] = Counter()
        self._sizes: defaultdict[tuple[int, str], int] = defaultdict(int)
        self._explainer = explainer
        self._redactor = Redactor(header.profile.conf)
        self._clean_header = self._redactor.header(header)
        self._keeper = budget.keeper(rules)
        self._threads = Threads(header.profile.kind)
        self._latency = Latency()
        self._trees = TreeSteps(header.profile, rules, MOST_TREES if alone else _FEW_TREES)
        self._t = 0.0
        self._kept: frozenset[int] = frozenset()

    def take(self, events: Sequence[Event]) -> None:
        """Go on with what happened next. Of plain lines that were read together nothing is made that is not shown."""
        if not isinstance(events, RecordedEvents) or not self._leaves(events):
            for event in events:
                self._take(event)
            return
        begin = 0
        if not TOLD.isdisjoint(map(type, events.bodies)):
            # What is told people may look like a secret.
            for place in [place for place, body in enumerate(events.bodies) if type(body) in TOLD]:
                self._take_span(events.part(begin, place))
                self._take(events.part(place, place + 1)[0])
                begin = place + 1
        self._take_span(events.part(begin, len(events)) if begin else events)

    def _leaves(self, events: RecordedEvents) -> bool:
        """True if no secret that is known stands in plain lines."""
        return self._redactor.idle or self._redactor.passes(b"\n".join(events.raws))

    def _take(self, event: Event) -> None:
        """Go on with one. A mark that secrets were hidden bears the number of its frame: it is no row."""
        if isinstance(event.body, Redacted):
            return
        event = event if self._redactor.leaves(event) else without_secrets_in(event, self._redactor)
        body = event.body
        if isinstance(body, Emit) and len(event.raw) > _LARGE:
            body = msgspec.structs.replace(body, values=[])
        answered = self._follow(event.seq, (body,), (event.t,))
        [name] = self._threads.names((body,), answered)
        row = row_of(self.events, event, name)
        self._count((row.ch,), (row.kind,), (row.size,))
        self._keep(Rows.of(row), event.t)

    def _take_span(self, span: RecordedEvents) -> None:
        """Go on with plain lines in which nothing is secret."""
        if not span:
            return
        answered = self._follow(span.seq, span.bodies, span.times)
        sizes = list(map(len, span.raws))
        channels = [_IN if sent else _OUT for sent in span.sent]
        self._count(channels, kinds_of(span.bodies), sizes, len(TERMINATOR))
        rows: Sequence[Row] = _SpanRows(self.events, span, self._threads, answered)
        if max(sizes) > SHOWN_OF_MESSAGE:
            # Longer than what is shown of them: the rows take less memory.
            rows = list(rows)
            sizes = [len(row.text) for row in rows]
        ends = array("Q", accumulate(sizes, initial=0))
        self._keep(Rows(rows, ends, self.events, span.seq, 0, len(span)), span.times[-1])

    def _follow(self, seq: int, bodies: Sequence[Any], times: Sequence[float]) -> list[Any]:
        """Follow what follows each other. Of the answers among it, what each answers."""
        if self.detailed:
            self._latency.take(seq, bodies, times)
            self._trees.take(seq, bodies, times)
        return self._threads.answered(bodies)

    def _count(self, channels: Sequence[int], kinds: Sequence[str], sizes: Sequence[int], besides: int = 0) -> None:
        """Count messages, by their `sizes` in bytes and what stands `besides` each of them."""
        self._counts.update(zip(channels, kinds, strict=True))
        for key, size in zip(zip(channels, kinds, strict=True), sizes, strict=True):
            self._sizes[key] += size + besides

    def _keep(self, rows: Rows, t: float) -> None:
        self._keeper.take(rows)
        self.events += rows.size
        self._t = t

    def sections(self) -> Iterator[AnySection]:
        """Everything there is to show, once all was taken."""
        conversation = self._conversation()
        yield conversation
        if not self.detailed:
            return
        yield self._facts(conversation)
        for section in self._details():
            title = section.title if self.alone else f"{escape(self.subject.id)}: {section.title}"
            yield msgspec.structs.replace(section, title=title)

    def _details(self) -> Iterator[AnySection]:
        yield self._counted()
        table = self._latency.table(self.lead)
        if table is not None:
            yield table
            timeout = storm_timeout(self.header.profile.conf, self._explainer.storm)
            yield from self._latency.plots(self.lead, self._to, timeout)
        yield from self._trees.sections(self.lead, self._to)

    def _conversation(self) -> ConversationSection:
        columns, kinds, threads = columns_of(self._keeper.rows())
        self._kept = frozenset(columns.seq)
        return ConversationSection(
            id=self.lead,
            title=self.title,
            note=" ".join(self._notes()),
            events=columns,
            kinds=kinds,
            threads=threads,
            findings=self._explainer.pinned(self.subject.findings, self._kept, self._clean),
            outlook=self._explainer.outlooks(self.subject.outlook, self._kept),
        )

    @property
    def title(self) -> str:
        """The title of the conversation: by the id of its subject, where there are several."""
        return "Conversation" if self.alone else escape(self.subject.id)

    def _notes(self) -> Iterator[str]:
        if self._keeper.left_out:
            yield (
                f"{self._keeper.left_out:,} of {self.events:,} events are left out: shown are the first, "
                "those around findings, and the last (--events N shows more)."
            )

    def _facts(self, conversation: ConversationSection) -> FactsSection:
        header, profile, ended = self._clean_header, self.header.profile, exit_in_words(self.subject.exit)
        where = f", on {':'.join(filter(None, (header.host, header.worker)))}" if header.host else ""
        rows = {
            "command": shlex.join(header.argv)[:_COMMAND_LENGTH],
            "component": f"{profile.component} ({profile.kind}), task {profile.task}{where}",
            "topology": header.topology,
            "Storm": self._explainer.storm.id,
            "began": header.started_at,
            "lasted": f"{self._t:.3f} s, {self.events:,} events",
            "ended": f"the component {ended}" if ended else "its end is not recorded",
            "found": self.subject.reason or "nothing",
            "each Storm": worst_in_words(conversation.outlook),
            "hidden": ", ".join(header.redacted),
            "recorded in": ", ".join(filter(None, (self.subject.transcript, *self.subject.further_parts))),
        }
        return FactsSection(
            id=f"{self.lead}-facts",
            title=f"About {escape(self.subject.id)}",
            rows=tuple((name, escape(self._clean(value))) for name, value in rows.items() if value),
        )

    def _counted(self) -> TableSection:
        columns = ("kind", "lane", "count", "bytes")
        return TableSection(
            id=f"{self.lead}-kinds",
            title="What was said",
            columns=tuple(
                SectionColumn(name=name, align="right" if place > 1 else "left") for place, name in enumerate(columns)
            ),
            rows=tuple(
                (kind, CHANNELS[channel], count, self._sizes[channel, kind])
                for (channel, kind), count in self._counts.most_common()
            ),
        )

    def _to(self, seq: int) -> str | None:
        return f"{self.lead}/{seq}" if seq in self._kept else None

    def _clean(self, text: str) -> str:
        return self._redactor.text(text.encode("utf-8", "backslashreplace")).decode()
