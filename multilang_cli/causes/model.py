"""The values that a diagnosis is made of: what is looked for, and what is found."""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.protocol.words.verdicts import Kind

Certainty = Literal["certain", "likely"]
"""How sure a cause is: it follows from what was seen, or it is the best explanation of it."""

Phase = Literal["handshake", "unasked", "asked"]
"""How far a conversation came: before the pid, after it but before anything was asked, or further."""

Ended = Literal["no", "code", "signal", "closed"]
"""How the component's output ended by itself: by an exit code, by a signal, or closed by a living process."""

Asked = Literal["", "heartbeat", "tick", "tuple", "no-ids", "next", "ack", "fail", "activate", "deactivate"]
"""What the component was given last that it has not answered; `no-ids`: an empty list of task ids."""

Bytes = Literal[
    "",
    "object-without-end",
    "end-with-blanks",
    "end-unfinished",
    "cut-object",
    "bare-pid",
    "python-repr",
    "msgpack",
    "message",
    "text",
]
"""What the bytes are that a component wrote instead of a message; "" for none."""


class Place(msgspec.Struct, frozen=True):
    """A line of the user's own source. `code`: that line, where it is known. `mark`: what a runtime points at in it."""

    file: str
    line: int
    code: str = ""
    mark: str = ""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A reason why something went wrong, as a reader is told first.

    `id`: of its file in ``conformance/causes``. `rank`: of several for one thing, the lowest tells most. `headline`: a
    sentence about "it", the component. `place`: the nearest frame of the user's own file. `first`, `last`: the first
    line of the traceback, and the exception it ends with. `seq`: the event that shows it. `rules`: the findings that
    are consequences of it. `since`: the first Storm version that sends what brings it about, "" for all. `suspect`: the
    only line of the source that looks as what does such things; no proof. `also`: the line that called `place`, or
    another that does the same as `suspect`. `mend`: what to do; `code`: a line of code
    that does it, in `language`.
    """

    id: str
    certainty: Certainty
    rank: int = 0
    headline: str
    place: Place | None = None
    first: str = ""
    last: str = ""
    seq: int | None = None
    rules: tuple[str, ...] = ()
    since: str = ""
    suspect: Place | None = None
    also: Place | None = None
    mend: str = ""
    code: str = ""
    language: str = ""

    @property
    def told(self) -> str:
        """The headline, and how sure it is."""
        return self.headline if self.certainty == "certain" else f"likely: {self.headline}"


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions that must hold for a cause; a key that is not given is not looked at.

    `struck`: it was silent, got this, and died at once. `rules`: one of these was broken. `matches`: a pattern that
    the message of such a finding has. `exception`, `stderr`: patterns found in the uncaught exception and in stderr;
    `trace`: one found in stderr, or in what it told Storm last of all.
    `waits`: a pattern found in what it was seen to be doing in a silence. `late`: what it wrote only after its stdin
    was closed. `made_up`: what it was given last was made up by us. `fed`: a tuple was sent to it before. `handled`:
    its pid file proves that it had read the handshake before its stdin was closed. `pieced`: a message was written to
    it in parts. `loses_pieces`: all that it has not answered was, and it answers such messages where they come whole.
    `misread`: a JSON parser of it says that it can't read a text. `over`: what it was given and has not
    answered has more bytes. `awaits_unasked`: behind emits that get no task ids it goes on only when others come, if
    at all. `went_on_unasked`: behind one it emitted for the same tuple, or settled it, before any ids came.
    `silent_when_idle`: it answered each `next` for which it emitted, and the first without an emit stays open.
    `by_child`: what stands on stdout was written by a program that it starts. `stalled`: it answered
    something, and then nothing of what came behind, tuples and heartbeats. `late_stderr`: a pattern found in what it
    complained of only after its stdin was closed. `of_ids`: what it had not answered but task ids when it ended.
    `since`: the first Storm version that sends what brings it about, "" for all. `repeated`: such a finding is an
    anchored emit of before once more. `code`: a pattern found in the line of source that the exception names.
    `behind_ids`: task ids came since it said anything.
    `swallowed`: what it never answered are just those messages that it read behind an emit that asks for task ids;
    `swallowed_unasked`: behind any emit.
    `threw`: an uncaught exception is known; `printed`: one stands in the text on its stdout.
    `complained`: of a tuple that it settled never it logged something.
    `muttered`: the last that it wrote to stderr of such a tuple says that something is wrong. `only_ticks`: ticks stay
    open, and no other tuple.
    `failed`: it failed a tuple. `threw_then`: an exception is known of which it failed that; `said_why`: it told Storm
    something of it. `swallows`: a tuple or heartbeat stood where it would read task ids. `partly_read`: it has read
    some of its handshake, and not all. `clean`: nothing was found. `settled_last`: the last that it said settled a
    tuple.
    `fills_a_buffer`: such a message has as many bytes as a buffer of a usual size takes. `before_ids`: all tuples that
    stay open came between an emit and its task ids; `dropped`: so they did, and it went on behind them.
    `of_a_text`: what such a finding names is a piece of a tuple's text.
    `escaped`: a tuple that it was sent has a backslash in its bytes.
    `lone_end`: it wrote a line `end` with nothing, or an empty line, before it. `last_word`: it ended, and the last
    that it wrote is no message. `answers_ids`: it said no more syncs that nobody asked for than task ids came.
    `misplaced`: a file of its pid's name stands beside the pid directory. `overgrown`: it was stopped for the memory
    that it held. `languages`: it is written in one of these, "" where that is not known.
    `source`, `wrote`: patterns found in a line of its source, and in the message that is found fault with. `also`: one
    that is found in its source as well; `lacks`: one that is in none of its lines. One with a line feed in it is looked
    for in the whole file. `mislays`: a tuple stays open, and one with the same values was settled. `overwritten`: the
    last that it was sent was named once more when it was settled, and an older one is open. `half_done`: a tuple
    stays open that an emit was anchored to. `of_own_id`: Storm brought back last an id that the spout emitted;
    `misses_its_id`: the exception names that; `shares_an_id`: it was given to several tuples, and brought back before.
    `complained_last`: the last that it said is a log that says that something is wrong.
    `held_behind_unasked`: it emitted for one tuple, unasked for ids, and did no more though others came. `batches`: it
    was seen to settle so many tuples together.
    `certainty`, `sentence`: those of this signature, if they are not the cause's.
    """

    phase: tuple[Phase, ...] = ()
    kind: Kind | None = None
    ended: tuple[Ended, ...] = ()
    codes: tuple[int, ...] = ()
    signals: tuple[int, ...] = ()
    asked: tuple[Asked, ...] = ()
    unanswered: tuple[Asked, ...] = ()
    struck: tuple[Asked, ...] = ()
    rules: tuple[str, ...] = ()
    matches: str = ""
    exception: str = ""
    stderr: str = ""
    trace: str = ""
    code: str = ""
    waits: str = ""
    rest: tuple[Bytes, ...] = ()
    late: tuple[Bytes, ...] = ()
    made_up: bool | None = None
    fed: bool | None = None
    handled: bool | None = None
    pieced: bool | None = None
    loses_pieces: bool | None = None
    misread: bool | None = None
    emitted: bool | None = None
    own_pid: bool | None = None
    echoed: bool | None = None
    went_on_unasked: bool | None = None
    silent_when_idle: bool | None = None
    awaits_unasked: bool | None = None
    by_child: bool | None = None
    stalled: bool | None = None
    late_stderr: str = ""
    of_ids: bool | None = None
    repeated: bool | None = None
    threw: bool | None = None
    printed: bool | None = None
    complained: bool | None = None
    muttered: bool | None = None
    only_ticks: bool | None = None
    swallowed: bool | None = None
    swallowed_unasked: bool | None = None
    behind_ids: bool | None = None
    escaped: bool | None = None
    of_a_text: bool | None = None
    fills_a_buffer: bool | None = None
    before_ids: bool | None = None
    dropped: bool | None = None
    failed: bool | None = None
    threw_then: bool | None = None
    said_why: bool | None = None
    swallows: bool | None = None
    partly_read: bool | None = None
    clean: bool | None = None
    settled_last: bool | None = None
    misplaced: bool | None = None
    lone_end: bool | None = None
    answers_ids: bool | None = None
    last_word: bool | None = None
    overgrown: bool | None = None
    mislays: bool | None = None
    half_done: bool | None = None
    of_own_id: bool | None = None
    misses_its_id: bool | None = None
    shares_an_id: bool | None = None
    complained_last: bool | None = None
    held_behind_unasked: bool | None = None
    overwritten: bool | None = None
    batches: bool | None = None
    languages: tuple[str, ...] = ()
    source: str = ""
    also: str = ""
    lacks: str = ""
    wrote: str = ""
    since: str = ""
    over: int = 0
    certainty: Certainty | None = None
    sentence: str = ""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest conversation that shows a cause, in the notation of ``tests/notation.py``."""

    talk: str
    kind: Kind = "bolt"
    made_up: bool = False
    handled: bool = False
    pieced: tuple[int, ...] = ()
    answers: tuple[str, ...] = ()
    by_child: bool = False
    source: str = ""
    language: str = ""
    misplaced: bool = False
    held: str = ""
    batch: int = 0
    headline: str = ""


class KnownCause(msgspec.Struct, frozen=True, kw_only=True):
    """One file of ``conformance/causes``. `alike`: more conversations that show it. `unlike`: those that do not.

    `rank`: of several that fit, the lowest is told. `sentence`: its headline, with ``{how}`` and other words of
    ``diagnosis.words_of``. `by_source`: its line is the one that `suspects` find, whatever an exception names.
    `in_adapter`: that line may stand in an adapter that was copied beside the component.
    `by_place`: in one place of the source it is one trouble, whatever its exceptions
    say. `by_chance`: it shows in some runs and not in others, or with many tuples under way, whatever the case.
    `folds`: rules whose findings are consequences. `mend`, `code`: as in `Cause`, by language.
    `suspects`: patterns of lines that do such things, by language, the surest first.
    """

    id: str
    title: str
    rank: int
    certainty: Certainty
    when: tuple[Signature, ...]
    sentence: str
    why: str
    mend: str
    code: dict[str, str] = {}
    folds: tuple[str, ...] = ()
    by_place: bool = False
    by_source: bool = False
    in_adapter: bool = False
    by_chance: bool = False
    suspects: dict[str, tuple[str, ...]] = {}
    example: Example
    alike: tuple[Example, ...] = ()
    unlike: tuple[Example, ...] = ()


class TracebackForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form of an uncaught exception in one language (``conformance/tracebacks.yaml``): patterns of lines.

    `begins`: the first line. `exceptions`: with a group `text`, and `file` and `line` where they name a place. `frame`:
    with groups `file` and `line`. `innermost`: which frame comes last in time. `code_follows`: the line behind a frame
    is its source. `misread`: how JSON parsers of the language refuse a text. `asked_by`: the signal at which its
    runtimes write where the main thread stands, and end. `starts`: a call that starts a program which writes to the
    same stdout. `because`: an exception that goes on, and of which those behind it come. `method`: a frame with no
    line, with a group `method`; `defines`: the line that such a method begins with, ``{method}`` in place of its name.
    `causes_follow`: the exceptions that led to one are written behind it. `thrown`: the call that throws, in a stack;
    frames before the last one are those of a handler that threw again.
    """

    language: str
    exceptions: tuple[str, ...]
    begins: str = ""
    frame: str = ""
    innermost: Literal["first", "last"] = "first"
    code_follows: bool = False
    foreign: str = ""
    misread: str = ""
    asked_by: Literal["", "SIGINT", "SIGQUIT"] = ""
    starts: str = ""
    because: str = ""
    method: str = ""
    defines: str = ""
    thrown: str = ""
    causes_follow: bool = False
