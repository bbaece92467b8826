"""Facts of a conversation when it went wrong: how far it came, what was not answered, how the process ended. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.causes.model import Asked, Bytes, Ended, Place
from multilang_cli.causes.seen import COMMANDS, MOST_LATE, Seen
from multilang_cli.causes.tracebacks import Death, bounded, with_last_line
from multilang_cli.causes.unheard import what_they_are
from multilang_cli.protocol.words.verdicts import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.causes.tracebacks import Tracebacks
    from multilang_cli.protocol.words.events import Event

PIPE = 64 * 1024
"""Bytes that a pipe holds: of a longer message so many stand in it, whoever reads."""
_TEXT = "stdout-text"
AGAIN = "fail-twice"
"""The rule that is broken by a fail of what is settled."""
END_LINE = b"\nend\n"
"""What stands behind a message."""
_LEAST_BUFFER, _ROUND = 64, 100
"""Bytes of a buffer, at least, whose size is no chance: a power of two, or a multiple of a hundred."""


def is_a_buffer(size: int) -> bool:
    """True if a programmer may have chosen the size for a buffer."""
    return size >= _LEAST_BUFFER and (size & (size - 1) == 0 or size % _ROUND == 0)


MOST_WORDS = 80
"""Characters of a log that a sentence shows."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a component. `roots`: folders of the user's own files; `programs`: those started. Absolute."""

    kind: Kind
    language: str = ""
    roots: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Knowledge of a component besides the events of its conversation.

    `stderr`: the last of it, as text. `made_up`: the tuple that it was given last was made up. `handled`: its pid file
    was there while it was silent. `pieced`: the messages, by seq, that were written to it in parts. `answers`: what it
    is known to answer where it comes whole: handshake, tuple, heartbeat, a command by its name. `forgets`: of
    which it was seen to leave whole ones unanswered. `late`: the beginning of the conversation is not among its events.
    `stood`: where in the user's own file it was when it was silent for good. `starter`: the line that starts the
    program which wrote the text on stdout. `sizes`: the bytes of those events, by seq, of which not all are in `raw`.
    `storm`: the version asked. `sources`: lines of its source, by file. `misplaced`: a file of its pid's name stands
    beside the pid directory. `held`: the memory at which it was stopped, in words. `batch`: the tuples that it was
    seen to settle together, 0 if that is not known.
    """

    stderr: str = ""
    made_up: bool = False
    handled: bool = False
    pieced: Collection[int] = ()
    answers: Collection[str] = ()
    forgets: Collection[str] = ()
    late: bool = False
    stood: Place | None = None
    starter: Place | None = None
    sizes: Mapping[int, int] = {}
    storm: str = ""
    sources: Mapping[str, Sequence[str]] = {}
    misplaced: bool = False
    held: str = ""
    batch: int = 0


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that the signatures of causes look at; see `model.Signature` for the words.

    `seen`: the conversation. `asked`: the first that it had not answered, `unanswered`: the first command or heartbeat.
    `death`: the uncaught exception in its `stderr`, or in what it told Storm before it ended; `late_death`: that in
    `late_stderr`, what it wrote only after it was told to end; `printed`: that in text on its stdout.
    `refusal`: that of which it failed a tuple, and if it failed one twice, that between the two. `wrote`: the
    beginning of each message that is found fault with, by its event; `lengths`: their bytes. `misread`: a JSON parser
    of it refused a text.
    """

    source: Source
    findings: tuple[Finding, ...]
    seen: Seen
    known: Known
    pending: tuple[tuple[Asked, str], ...] = ()
    stderr: str = ""
    late_stderr: str = ""
    death: Death | None = None
    refusal: Death | None = None
    late_death: Death | None = None
    printed: Death | None = None
    misread: bool = False
    wrote: dict[int, str] = {}
    lengths: dict[int, int] = {}

    @property
    def thrown(self) -> Death | None:
        """The exception of which it ended, or failed a tuple."""
        return self.death or self.refusal

    @property
    def ended(self) -> Ended:
        """Its end, if it had one."""
        ended = self.seen.exited
        if ended is None:
            return "closed" if self.seen.closed else "no"
        return "code" if ended.signal is None else "signal"

    @property
    def is_over(self) -> bool:
        """True if its process ended."""
        return self.seen.exited is not None

    @property
    def code(self) -> int | None:
        """The exit code."""
        return self.seen.exited.code if self.seen.exited else None

    @property
    def signal(self) -> int | None:
        """The signal that ended it."""
        return self.seen.exited.signal if self.seen.exited else None

    @property
    def seq(self) -> int | None:
        """The last event that shows what went wrong."""
        return self.seen.last if self.seen.last is not None else self.seen.complaints.failed_at

    @property
    def asked(self) -> Asked:
        """The first that it had not answered."""
        if self.is_over and self.seen.complaints.gave_up:
            return "tuple"
        return self.pending[0][0] if self.pending else ""

    @property
    def unanswered(self) -> Asked:
        """The first command or heartbeat that it had not answered."""
        return next((asked for asked, _ in self.pending if asked in COMMANDS or asked == "heartbeat"), "")

    @property
    def answered(self) -> Asked:
        """The tuple, tick or heartbeat that it acked or failed last of all it said, before it ended."""
        return self.seen.unanswered.answered if self.is_over and not self.pending else ""

    @property
    def struck(self) -> Asked:
        """The last that was sent after a silence, if it died at once of that."""
        return self.seen.unanswered.struck if self.pending else ""

    @property
    def uncertain(self) -> bool:
        """True if it may have died of something else than the first that it had not answered."""
        if not (self.is_over and self.pending):
            return False
        went_on = self.seen.emitted and {asked for asked, _ in self.pending} >= {"tuple", "heartbeat"}
        return went_on or self.seen.unanswered.answered not in {"", self.pending[0][0]}

    @property
    def of_ids(self) -> bool:
        """True if it ended with nothing but task ids unanswered."""
        return self.is_over and self.seen.of_ids and not self.pending

    @property
    def loses_pieces(self) -> bool:
        """True if all that it has not answered came in parts, and it answers such messages where they come whole."""
        return self.seen.loses(self.known.pieced, self.known.answers, forgets=self.known.forgets)

    @property
    def partly_read(self) -> bool:
        """True if it has read some of its handshake and not all: more than a pipe holds tells it, or a short one."""
        unread = self.seen.waits.unread
        reads = self.seen.size <= PIPE or "handshake" in self.known.answers
        return reads and unread is not None and unread < self.seen.size

    @property
    def words(self) -> str:
        """The last that it logged before it ended."""
        return self.seen.complaints.words if self.is_over else ""

    @property
    def trace(self) -> str:
        """Its stderr, and what it told Storm last, or of what it failed: where the text of an exception may stand."""
        complaints = self.seen.complaints
        told = (complaints.words, complaints.failed_for, complaints.reported if self.is_over else "")
        return "\n".join((self.stderr, *map(_in_lines, told)))

    @property
    def rest_is(self) -> Bytes:
        """The kind of the unfinished output."""
        return what_they_are(self.seen.rest)

    @property
    def late_is(self) -> Bytes:
        """The kind of output that was held back until stdin was closed: logs alone are no answer that was."""
        late = self.seen.late
        if not late or self.seen.only_logs_late:
            return ""
        return "message" if "\nend" in late else what_they_are(late)

    @property
    def how(self) -> str:
        """Its end in words: by the exception that nobody caught, else its exit code or signal and its last line."""
        if self.thrown is not None:
            return self.thrown.told
        how = self.seen.exited.how if self.seen.exited else "it says nothing more"
        if self.words and not self.stderr.strip():
            return f'{how}, and its last log is "{self.words.strip()[:MOST_WORDS]}"'
        return "it closed its stdout and lives on" if self.ended == "closed" else with_last_line(how, self.stderr)


_NOTHING = Known()


def facts_of(
    events: Iterable[Event],
    findings: Sequence[Finding],
    source: Source,
    tracebacks: Tracebacks,
    known: Known = _NOTHING,
) -> Facts:
    """Gather the facts of one conversation from its `events` in their order, and what is `known` besides."""
    seen = Seen("asked" if known.late else "handshake", known.sizes)
    at_fault = {finding.seq for finding in findings}
    wrote: dict[int, str] = {}
    lengths: dict[int, int] = {}
    for event in events:
        seen.take(event)
        if event.seq in at_fault and event.channel == "out":
            wrote[event.seq] = event.raw[:MOST_LATE].decode("utf-8", "backslashreplace")
            size = known.sizes.get(event.seq)
            lengths[event.seq] = len(event.raw.removesuffix(END_LINE)) if size is None else size - len(END_LINE)
    stderr, late_stderr = map(bounded, _parted(known.stderr, seen.late_stderr))
    pending = tuple(seen.unanswered.pending.values())
    of_again = {finding.seq for finding in findings if finding.rule == AGAIN}
    failed = seen.complaints.failed_for, bounded(seen.complaints.failed_err)
    failed = (seen.complaints.again_for, "") if seen.complaints.again_at in of_again else failed
    texts = (wrote[finding.seq] for finding in findings if finding.rule == _TEXT and finding.seq in wrote)
    told = (seen.complaints.words, seen.complaints.reported) if seen.exited else ()
    return Facts(
        source=source,
        findings=tuple(findings),
        seen=seen,
        known=known,
        # Who reads an empty list of ids at all reads it at once, whatever else is open.
        pending=pending[-1:] if pending and pending[-1][0] == "no-ids" else pending,
        stderr=stderr,
        late_stderr=late_stderr,
        death=tracebacks.death_in(stderr, source.roots, source.language) or _told_death(tracebacks, source, *told),
        refusal=_told_death(tracebacks, source, *failed),
        late_death=tracebacks.death_in(late_stderr, source.roots, source.language),
        printed=tracebacks.death_in(next(texts, ""), source.roots, source.language),
        misread=any(map(tracebacks.misread_in, (stderr, *told))),
        wrote=wrote,
        lengths=lengths,
    )


def said_in_time(stderr: str, events: Mapping[int, Event], sizes: Mapping[int, int], about: int | None) -> str:
    """The stderr without what came of the end that it was told to make, where `about`, an event, was before that.

    Of a silence all is kept: what it complains of once its stdin is closed tells why it was silent. What was read once
    it had ended is among no events. `sizes`: see `Known`.
    """
    if about is None or not stderr:
        return stderr
    seen, heard = Seen("asked", sizes), 0
    for event in events.values():
        seen.take(event)
        heard += sizes.get(event.seq, len(event.raw)) if event.channel == "err" else 0
    if about in seen.silences or seen.exited is not None:
        return stderr
    all_are_there = len(events) == max(events) - min(events) + 1
    unheard = max(0, len(stderr.encode()) - heard) if all_are_there else 0
    return _parted(stderr, seen.late_stderr + unheard)[0]


def _told_death(tracebacks: Tracebacks, source: Source, *texts: str) -> Death | None:
    """The exception in what it told Storm before it ended, in a log or as an error; if one has a place, that."""
    found = [tracebacks.death_in(_in_lines(text), source.roots, source.language) for text in texts if text]
    deaths = [death for death in found if death is not None]
    return next((death for death in deaths if death.place is not None), deaths[0] if deaths else None)


def _parted(stderr: str, late: int) -> tuple[str, str]:
    """Split stderr into what came before it was told to end, and the last `late` bytes: an end it was told to make."""
    if not late:
        return stderr, ""
    raw = stderr.encode()
    return raw[:-late].decode("utf-8", "ignore"), raw[-late:].decode("utf-8", "ignore")


def _in_lines(words: str) -> str:
    """A log in lines: Storm's own storm.rb joins those of a backtrace with the two characters of an escape."""
    return words.replace("\\n", "\n")
