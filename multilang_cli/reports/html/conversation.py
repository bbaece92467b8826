"""One recorded conversation as sections of a page, made while it is read: every event is seen, a part of them kept."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.words.events import Redacted
from multilang_cli.reports.escape import escape
from multilang_cli.reports.failure import exit_in_words
from multilang_cli.reports.html.document import CHANNELS, ConversationSection, FactsSection, SectionColumn, TableSection
from multilang_cli.reports.html.findings import worst_in_words
from multilang_cli.reports.html.keeping import Row, columns_of
from multilang_cli.reports.html.latency import Latency
from multilang_cli.reports.html.showing import shown
from multilang_cli.reports.html.threads import Threads
from multilang_cli.reports.html.tree_steps import MOST_TREES, TreeSteps
from multilang_cli.transcript.reader import without_secrets_in
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.reports.html.document import AnySection
    from multilang_cli.reports.html.findings import Explainer
    from multilang_cli.reports.html.keeping import EventBudget
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.transcript.format import Header

_NUMBERS = {channel: number for number, channel in enumerate(CHANNELS)}
_COMMAND_LENGTH = 500
_FEW_TREES = 2


class Count(NamedTuple):
    """Events of one kind, and their bytes."""

    events: int = 0
    size: int = 0


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
        self.counts: dict[tuple[int, str], Count] = {}
        self._explainer = explainer
        self._redactor = Redactor(header.profile.conf)
        self._clean_header = self._redactor.header(header)
        self._keeper = budget.keeper(rules)
        self._threads = Threads(header.profile.kind)
        self._latency = Latency()
        self._trees = TreeSteps(header.profile, rules, MOST_TREES if alone else _FEW_TREES)
        self._t = 0.0
        self._kept: frozenset[int] = frozenset()

    def take(self, event: Event) -> None:
        """Go on with the next event. A mark that secrets were hidden bears the number of its frame: it is no row."""
        if isinstance(event.body, Redacted):
            return
        self._t = event.t
        event = event if self._redactor.leaves(event) else without_secrets_in(event, self._redactor)
        thread = self._threads.of(event)
        if self.detailed:
            self._latency.take(event)
            self._trees.take(event)
        kind, head, text = shown(event)
        channel = _NUMBERS[event.channel]
        count = self.counts.get((channel, kind), Count())
        self.counts[channel, kind] = Count(count.events + 1, count.size + len(event.raw))
        self._keeper.take(Row(self.events, event.seq, event.t, channel, kind, head, text, len(event.raw), thread))
        self.events += 1

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
                (kind, CHANNELS[channel], count.events, count.size)
                for (channel, kind), count in sorted(self.counts.items(), key=lambda each: -each[1].events)
            ),
        )

    def _to(self, seq: int) -> str | None:
        return f"{self.lead}/{seq}" if seq in self._kept else None

    def _clean(self, text: str) -> str:
        return self._redactor.text(text.encode("utf-8", "backslashreplace")).decode()
