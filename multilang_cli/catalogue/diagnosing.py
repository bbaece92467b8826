"""Diagnosis of a conversation that is recorded: of its last events, with nothing read from disk."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.diagnosis import diagnose
from multilang_cli.causes.facts import Known, Source, facts_of
from multilang_cli.causes.languages import language_of
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.causes.model import Cause
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding, Profile

DIAGNOSED_EVENTS = 512
"""Events of a conversation that are kept, at most."""
MOST_BYTES = 1 << 20
"""Bytes of them that are kept, about."""
_STDERR = 4096
"""Bytes of stderr in which a traceback is looked for."""


def causes_of_events(
    events: Sequence[Event],
    findings: Sequence[Finding],
    profile: Profile,
    rulebook: Rulebook,
    *,
    argv: Iterable[str] = (),
    source: Source | None = None,
    stderr: str = "",
    late: bool = False,
    sizes: Mapping[int, int] = {},
    lines: Mapping[str, Sequence[str]] = {},
) -> tuple[Cause, ...]:
    """Name the causes of `findings`, as far as `events`, the last of a conversation, tell.

    `argv`: the component's command, by which its language is known; `source`: what else is known of its files.
    `late`: the beginning is not among `events`. `sizes`: see `Known`. `lines`: of its source, by file.
    """
    source = source or Source(kind=profile.kind, language=language_of(argv))
    made_up = profile.samples is not None and not profile.samples
    late = late or not events or events[0].seq > 0 or isinstance(events[0].body, Gap)
    storm = rulebook.version(profile.storm).id
    known = Known(stderr=stderr, made_up=made_up, late=late, storm=storm, sizes=sizes, sources=lines)
    facts = facts_of(events, findings, source, load_tracebacks(), known)
    return diagnose(facts, load_causes(), rulebook.rules)


class RecentEvents:
    """The last events of a conversation that goes on, to name causes by. What it keeps is bounded.

    `argv`, `source`, `lines`: as for `causes_of_events`.
    """

    def __init__(
        self,
        profile: Profile,
        rulebook: Rulebook,
        argv: Iterable[str] = (),
        source: Source | None = None,
        lines: Mapping[str, Sequence[str]] = {},
    ) -> None:
        self._profile = profile
        self._rulebook = rulebook
        self._argv = tuple(argv)
        self._source = source
        self._lines = lines
        self._kept: deque[Event] = deque()
        self._size = 0
        self._recorded: deque[RecordedEvents] = deque()

    def take(self, events: Iterable[Event]) -> None:
        """Keep what happened next. Of a batch no event is made until causes are asked for."""
        if isinstance(events, RecordedEvents):
            self._recorded.append(events)
            while sum(map(len, self._recorded)) - len(self._recorded[0]) >= DIAGNOSED_EVENTS:
                self._recorded.popleft()
            return
        self._keep_recorded()
        self._keep(events)

    def _keep_recorded(self) -> None:
        """Keep the events of the batches that came last."""
        for batch in self._recorded:
            self._keep(batch)
        self._recorded.clear()

    def _keep(self, events: Iterable[Event]) -> None:
        for event in events:
            self._kept.append(event)
            self._size += len(event.raw)
        while len(self._kept) > DIAGNOSED_EVENTS or (self._size > MOST_BYTES and len(self._kept) > 1):
            self._size -= len(self._kept.popleft().raw)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that are kept, the oldest first."""
        self._keep_recorded()
        return tuple(self._kept)

    def causes(self, findings: Sequence[Finding]) -> tuple[Cause, ...]:
        """Name the causes of these findings, the one that explains most first."""
        events = self.events
        stderr = b"".join(event.raw for event in events if event.channel == "err")[-_STDERR:]
        text = stderr.decode("utf-8", "backslashreplace")
        return causes_of_events(
            events,
            findings,
            self._profile,
            self._rulebook,
            argv=self._argv,
            source=self._source,
            stderr=text,
            lines=self._lines,
        )
