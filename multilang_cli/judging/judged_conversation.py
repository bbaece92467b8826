"""One recorded conversation, judged as it is read."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NoReturn

import msgspec

from multilang_cli.catalogue.bound import Bound
from multilang_cli.catalogue.diagnosing import causes_of_events
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.parts import RecordedParts
from multilang_cli.judging.quotes import Quotes
from multilang_cli.protocol.judge.coverage import Coverage
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.protocol.words.events import Event, Exited, Gap, Signalled
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.protocol.words.shortening import ends
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import Exit, SubjectResult
from multilang_cli.reports.verdict import verdict_of
from multilang_cli.transcript.format import Header, TranscriptError
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.causes.model import Cause
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding

MOST_FINDINGS = 10_000
"""Findings of one conversation that are kept; of more, the number is given."""
MOST_QUOTED = 50
"""Findings of one conversation whose messages are quoted."""
STDERR_SHOWN = 4096
"""Bytes of a component's last stderr that a result keeps, where something is wrong."""
UNBOUND = "a JSON Schema of its values computes too long: those behind event {seq} were not held to it"
_ASIDE = frozenset({"process", "err", "control"})
_SHOWN_OF_GAP = 100
"""Characters of what a writer says of a gap that are shown."""


class JudgedConversation:
    """One recorded conversation, fed with its events and parts as they are read, and its result.

    `late`: its first parts are missing; `stop`: the byte at which its file ends, if its last part has no end.
    `damage`: a loss that its writer did not declare, in a sentence, "" if there is none: it can't pass then.
    """

    def __init__(self, header: Header, path: str, rulebook: Rulebook, storm: str, *, coverage: bool) -> None:
        self.header = header
        self.path = path
        self.further: list[str] = []
        self.stop = 0
        self.damage = ""
        self._gap = ""
        self._gaps = 0
        self._bound = Bound()
        profile = msgspec.structs.replace(header.profile, storm=storm or header.profile.storm)
        try:
            self.rulebook = rulebook if not profile.storm else load_rulebook(profile.storm)
            judge = judge_of(profile, self.rulebook, self._bound)
        except KeyError as known:
            why = f"Storm {profile.storm!r} is not known here; choose one of {known.args[0]} with --storm"
            raise TranscriptError(path, 0, why) from None
        self.profile = judge.profile
        self.version = judge.version.id
        self._parts = RecordedParts(judge, self._judged, self._lose, self._refuse_snapshot)
        self._result: SubjectResult | None = None
        self._remembered = b""
        self._coverage = Coverage(self.profile) if coverage else None
        self._findings: list[Finding] = []
        self._more = 0
        self._exit: Exit | None = None
        self._stderr = b""
        self._asked = False
        self._said = False
        self._redactor = Redactor(header.profile.conf)
        self._quotes = Quotes(self._redactor)

    @property
    def late(self) -> bool:
        """True if its first parts are missing; known once its result is."""
        return self._parts.late

    @property
    def closed(self) -> bool:
        """True if its last part has its end."""
        return self._parts.closed

    def close(self) -> None:
        """Know that the part has its end."""
        self._parts.closed = True

    def begin(self, header: Header, path: str) -> None:
        """Go on with a part that stands in `path`."""
        self._parts.begin(header.part, header.snapshot)
        if path not in {self.path, *self.further}:
            self.further.append(path)

    def feed(self, events: Sequence[Event]) -> None:
        """Take what happened next."""
        if events.__class__ is not RecordedEvents:
            for event in events:
                if event.channel in _ASIDE:
                    self._note(event)
        self._parts.feed(events)

    def note_damage(self, why: str) -> None:
        """Know that something is missing here which nobody declared."""
        self._lose(why)
        self.resume()
        self._parts.note_gap(why)

    def _lose(self, why: str) -> None:
        self.damage = self.damage or why

    def _refuse_snapshot(self, error: Exception) -> NoReturn:
        raise TranscriptError(self.path, 0, f"the snapshot of {self.header.conv!r} is none: {error}") from None

    @property
    def last(self) -> int:
        """The seq of the last event that was read; -1 before the first."""
        return -1 if self._quotes.last is None else self._quotes.last.seq

    def _note(self, event: Event) -> None:
        """Look at what is no message."""
        if isinstance(event.body, Exited):
            self._exit = Exit(code=event.body.code, signal=event.body.signal)
        elif isinstance(event.body, Gap):
            self._declare_gap(f"events are missing at {event.seq} ({ends(event.body.why, _SHOWN_OF_GAP)})")
        elif isinstance(event.body, Signalled):
            self._asked = event.body.asks
        elif event.channel == "err" and not self._asked:
            self._stderr = (self._stderr + event.raw)[-STDERR_SHOWN:]

    def catch_up(self) -> None:
        """Judge what was taken so far."""
        self._parts.catch_up()

    def _judged(self, events: Sequence[Event], found: Sequence[Finding]) -> None:
        self._quotes.keep(events)
        if not self._said:
            self._begin(events)
        if self._bound.spent and not self.damage:
            self.damage = UNBOUND.format(seq=self._quotes.last.seq if self._quotes.last else 0)
        if self._coverage is not None:
            self._coverage.take(events, found)
        for finding in found:
            if len(self._findings) == MOST_FINDINGS:
                self._more += 1
                continue
            self._findings.append(finding)
            if len(self._findings) <= MOST_QUOTED:
                self._quotes.quote(finding)

    def suspend(self) -> None:
        """Keep little until there is more: no event but the last, and of one that was closed no judge."""
        self.catch_up()
        result = self.result() if self.closed else None
        self._quotes.drop_events()
        if result is not None:
            self._result = result
            self._remembered = zlib.compress(msgspec.json.encode(self._parts.judge.snapshot()))
            self._findings, self._stderr = [], b""
            self._quotes.replace_excerpt(())
            del self._parts.judge

    def resume(self) -> None:
        """Go on after it was suspended."""
        if self._result is not None:
            judge = judge_of(self.profile, self.rulebook, self._bound)
            judge.restore(msgspec.json.decode(zlib.decompress(self._remembered)))
            self._parts.judge = judge
            self._findings = list(self._result.findings)
            self._quotes.replace_excerpt(self._result.excerpt)
            self._result = None

    def _begin(self, events: Sequence[Event]) -> None:
        """Look at what comes before the component's first message, and with it."""
        self._said = any(event.channel == "out" for event in events)
        for event in events:
            if isinstance(event.body, Handshake):
                # What was recorded here hides them already.
                self._redactor.event(event)

    @property
    def seen(self) -> frozenset[str]:
        """The occasions that it gave, as far as somebody counts them."""
        return frozenset(self._coverage.seen) if self._coverage is not None else frozenset()

    @property
    def broken(self) -> frozenset[str]:
        """The rules that were broken, likewise."""
        return frozenset(self._coverage.broken) if self._coverage is not None else frozenset()

    def _clean(self, finding: Finding) -> Finding:
        """A finding without secrets."""
        clean = self._redactor.line
        errors = {version: clean(error) for version, error in finding.errors.items()}
        return msgspec.structs.replace(
            finding, message=clean(finding.message), subject=clean(finding.subject), errors=errors
        )

    def _declare_gap(self, told: str) -> None:
        """Know of a gap that the recording itself tells of: it is no damage."""
        self._gap = self._gap or told
        self._gaps += 1

    @property
    def declared(self) -> str:
        """A sentence on the gaps that the recording tells of; "" if there is none."""
        more = f", and there are {self._gaps - 1} gaps more" if self._gaps > 1 else ""
        return f"{self.header.conv}: {self._gap}, as it says itself{more}; what needs them is not judged" * bool(
            self._gap
        )

    @property
    def unlisted(self) -> str:
        """The number of findings that are not in the result, in a sentence; "" if all are."""
        return f"{self.header.conv}: {self._more} more findings are not listed" if self._more else ""

    def result(self) -> SubjectResult:
        """The result of the conversation."""
        if self._result is not None:
            return self._damaged(self._result)
        self._parts.end_cut()
        findings = tuple(map(self._clean, self._findings))
        verdict, reason = verdict_of(findings, self.version)
        if verdict == "pass" and not self._said:
            verdict, reason = "untestable", "the recording holds nothing that the component said"
        profile, stderr = self.profile, decode(self._redactor.text(self._stderr))
        result = SubjectResult(
            id=self.header.conv,
            title=f"{profile.kind} {profile.component}, Storm {self.version}",
            kind="conversation",
            verdict=verdict,
            reason=reason,
            duration=self._parts.t,
            findings=findings,
            outlook=self._parts.judge.outlook(),
            excerpt=self._quotes.excerpt,
            stderr_tail=stderr if findings else "",
            causes=self._causes(findings, stderr) if verdict in {"fail", "warn"} else (),
            exit=self._exit,
            transcript=self.path,
            further_parts=tuple(self.further),
            storm=self.version,
        )
        return self._damaged(result)

    def _causes(self, findings: Sequence[Finding], stderr: str) -> tuple[Cause, ...]:
        """The causes of what went wrong, as far as what is kept tells."""
        return causes_of_events(
            self._quotes.events,
            findings,
            self.profile,
            self.rulebook,
            argv=self.header.argv,
            stderr=stderr,
            late=self.late,
            sizes=self._quotes.sizes,
        )

    def _damaged(self, result: SubjectResult) -> SubjectResult:
        """A result without a pass, if something was lost."""
        if not self.damage or result.verdict not in {"pass", "untestable"}:
            return result
        return msgspec.structs.replace(result, verdict="untestable", reason=self.damage)
