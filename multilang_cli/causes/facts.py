"""Facts of a conversation when it went wrong: how far it came, what was owed, how the process ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.causes.model import Asked, Bytes, Ended, Phase, Place
from multilang_cli.causes.seen import COMMANDS, MOST_LATE, Seen
from multilang_cli.causes.tracebacks import Death, bounded, last_line
from multilang_cli.causes.unheard import what_they_are
from multilang_cli.protocol.words.verdicts import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from multilang_cli.causes.tracebacks import Tracebacks
    from multilang_cli.protocol.words.events import Event, Exited

MOST_WORDS = 80
"""Characters of a log that a sentence shows."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a component. `roots`: folders of the user's own files; `programs`: those started. Absolute."""

    kind: Kind
    language: str = ""
    roots: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that the signatures of causes look at; see `model.Signature` for the words.

    `struck`: what was sent last after a silence, if it died at once of that. `seq`: the last event that shows it.
    `death`: the uncaught exception in its `stderr`. `rest`, `late`: what it wrote that is no message, and what it wrote
    only after its stdin was closed. `words`: the last that it logged. `waits`: what it was doing in a silence.
    `answered`: the tuple, tick or heartbeat that it acked or failed last of all it said, before it ended.
    `uncertain`: it may have died of that, though something else came behind it, or of a heartbeat behind a tuple for
    which it had emitted. `silences`: the events that tell of one. `stood`: where in the user's own file it was in the
    last. `starter`: where it starts the program that wrote the text on stdout. `storm`: the version asked.
    `complaint`: the last that it logged behind a tuple, and settled none since. `sources`: lines of source, by file.
    `failed`: it failed a tuple. `settled_last`: the last that it said settled one. `escaped`: the last tuple that it
    was sent has a backslash in its bytes.
    `misplaced`, `held`: see `facts_of`. `wrote`: the beginning of each message that is found fault with, by its event.
    `late_death`: the exception in `late_stderr`. `loses_pieces`: all that it has not answered came in parts, and it
    answers such messages where they come whole. `repeated`: anchored emits that are those of before once more.
    """

    kind: Kind
    language: str
    findings: tuple[Finding, ...]
    phase: Phase = "handshake"
    asked: Asked = ""
    owed: Asked = ""
    ended: Ended = "no"
    code: int | None = None
    signal: int | None = None
    seq: int | None = None
    death: Death | None = None
    stderr: str = ""
    rest: str = ""
    late: str = ""
    waits: str = ""
    made_up: bool = False
    fed: bool = False
    handled: bool = False
    pieced: bool = False
    loses_pieces: bool = False
    misread: bool = False
    size: int = 0
    words: str = ""
    struck: Asked = ""
    emitted: bool = False
    own_pid: bool = False
    echoed: bool = False
    awaits_unasked: bool = False
    answered: Asked = ""
    uncertain: bool = False
    stood: Place | None = None
    starter: Place | None = None
    storm: str = ""
    stalled: bool = False
    of_ids: bool = False
    repeated: frozenset[int] = frozenset()
    late_stderr: str = ""
    late_death: Death | None = None
    silences: frozenset[int] = frozenset()
    complaint: str = ""
    swallowed: bool = False
    escaped: bool = False
    failed: bool = False
    settled_last: bool = False
    misplaced: bool = False
    held: str = ""
    behind_ids: bool = False
    wrote: dict[int, str] = {}
    sources: dict[str, list[str]] = {}

    @property
    def rest_is(self) -> Bytes:
        """The kind of the unfinished output."""
        return what_they_are(self.rest)

    @property
    def late_is(self) -> Bytes:
        """The kind of output that was held back until stdin was closed."""
        if not self.late:
            return ""
        return "message" if "\nend" in self.late else what_they_are(self.late)

    @property
    def _how_it_ended(self) -> str:
        return f"killed by signal {self.signal}" if self.signal is not None else f"exit code {self.code}"

    @property
    def how(self) -> str:
        """Its end in words: by the exception that nobody caught, else its exit code or signal and its last line."""
        if self.death is not None:
            return self.death.told
        if self.words and not self.stderr.strip():
            return f'{self._how_it_ended}, and its last log is "{self.words.strip()[:MOST_WORDS]}"'
        if self.ended == "closed":
            return "it closed its stdout and lives on"
        how = self._how_it_ended
        said = last_line(self.stderr)
        # What it prints of each message tells nothing, and is another line in each case.
        told = said and said[:1] not in "{["
        return f'{how}, and its last line of stderr is "{said}"' if told else how


def facts_of(
    events: Iterable[Event],
    findings: Sequence[Finding],
    source: Source,
    tracebacks: Tracebacks,
    *,
    stderr: str = "",
    made_up: bool = False,
    handled: bool = False,
    pieced: Collection[int] = (),
    answers: Collection[str] = (),
    late: bool = False,
    stood: Place | None = None,
    starter: Place | None = None,
    sizes: Mapping[int, int] = {},
    storm: str = "",
    sources: Mapping[str, list[str]] = {},
    misplaced: bool = False,
    held: str = "",
) -> Facts:
    """Gather the facts of one conversation from its `events` in their order.

    `stderr`: the last of it, as text. `made_up`: the tuple that it was given last was made up. `handled`: its pid file
    was there while it was silent. `pieced`: the messages, by seq, that were written to it in parts. `answers`: what it
    is known to answer where it comes whole: handshake, tuple, heartbeat, a command by its name. `late`: the beginning
    of the conversation is not among `events`. `stood`: where it was when it was silent for good. `starter`: the line
    that starts the program which wrote the text on stdout. `sizes`: the bytes of those events, by seq, of which not all
    are in `raw`. `storm`: the version asked. `sources`: lines of its source, by file. `misplaced`: a file of its pid's
    name stands beside the pid directory. `held`: the memory at which it was stopped, in words.
    """
    seen = Seen("asked" if late else "handshake", sizes)
    at_fault = {finding.seq for finding in findings}
    wrote: dict[int, str] = {}
    for event in events:
        seen.take(event)
        if event.seq in at_fault and event.channel == "out":
            wrote[event.seq] = event.raw[:MOST_LATE].decode("utf-8", "backslashreplace")
    ended = seen.exited
    stderr, late_stderr = map(bounded, _parted(stderr, seen.late_stderr))
    pending = list(seen.pending.values())
    # Who reads them at all reads them at once, whatever else is open.
    pending = pending[-1:] if pending and pending[-1][0] == "no-ids" else pending
    commands = [asked for asked, _ in pending if asked in COMMANDS or asked == "heartbeat"]
    return Facts(
        kind=source.kind,
        language=source.language,
        findings=tuple(findings),
        phase=seen.phase,
        asked="tuple" if ended and seen.gave_up else pending[0][0] if pending else "",
        owed=commands[0] if commands else "",
        ended="closed" if seen.closed and ended is None else "no" if ended is None else _how(ended),
        code=ended.code if ended else None,
        signal=ended.signal if ended else None,
        seq=seen.last if seen.last is not None else seen.failed_at,
        death=tracebacks.death_in(stderr, source.roots, source.language)
        or _told_death(tracebacks, source, *((seen.words, seen.reported) if ended else (seen.failed_for,))),
        stderr=stderr,
        rest=seen.rest,
        late=seen.late,
        waits=seen.waits,
        made_up=made_up,
        fed=seen.fed,
        handled=handled,
        pieced=bool(pieced),
        loses_pieces=seen.loses(pieced, answers),
        misread=tracebacks.misread_in(stderr),
        size=seen.size,
        words=seen.words if ended else "",
        struck=seen.struck if pending else "",
        emitted=seen.emitted,
        own_pid=seen.own_pid,
        echoed=seen.echoed,
        answered=seen.answered if ended and not pending else "",
        uncertain=bool(ended) and _is_uncertain(pending, seen),
        stood=stood,
        starter=starter,
        storm=storm,
        complaint=seen.complaint,
        wrote=wrote,
        swallowed=seen.naive.lost,
        escaped=seen.escaped,
        failed=seen.failed_at is not None,
        settled_last=seen.answered == "tuple",
        misplaced=misplaced,
        held=held,
        behind_ids=bool(ended) and seen.behind_ids,
        sources=dict(sources),
        stalled=seen.stalled,
        repeated=frozenset(seen.repeated),
        of_ids=bool(ended) and seen.of_ids and not pending,
        late_stderr=late_stderr,
        late_death=tracebacks.death_in(late_stderr, source.roots, source.language),
        silences=frozenset(seen.silences),
        awaits_unasked=seen.emitting.awaits_unasked,
    )


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


def _is_uncertain(pending: Sequence[tuple[Asked, str]], seen: Seen) -> bool:
    """True if it may have died of something else than the first that it had not answered."""
    if not pending:
        return False
    went_on = seen.emitted and {asked for asked, _ in pending} >= {"tuple", "heartbeat"}
    return went_on or seen.answered not in {"", pending[0][0]}


def _in_lines(words: str) -> str:
    """A log in lines: Storm's own storm.rb joins those of a backtrace with the two characters of an escape."""
    return words.replace("\\n", "\n")


def _how(ended: Exited) -> Ended:
    return "code" if ended.signal is None else "signal"
