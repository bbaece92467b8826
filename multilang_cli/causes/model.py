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

SpoutCommandName = Literal["next", "ack", "fail", "activate", "deactivate"]
Asked = Literal["", "heartbeat", "tick", "tuple", "no-ids"] | SpoutCommandName
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
    """Conditions that must hold for a cause; one that is not given is not looked at. Its schema describes each of them.

    `facts`: the values that fit, by the names of ``diagnosis.FACTS``; in a file they stand beside the other conditions.
    """

    facts: dict[str, tuple[object, ...]] = {}
    rules: tuple[str, ...] = ()
    matches: str = ""
    repeated: bool | None = None
    of_a_text: bool | None = None
    fills_a_buffer: bool | None = None
    exception: str = ""
    stderr: str = ""
    late_stderr: str = ""
    trace: str = ""
    waits: str = ""
    wrote: str = ""
    code: str = ""
    source: str = ""
    also: str = ""
    lacks: str = ""
    since: str = ""
    over: int = 0
    certainty: Certainty | None = None
    sentence: str = ""
    mend: str = ""
    mend_code: str = ""

    def asks_for(self, fact: str) -> bool:
        """True if a fact that is true or false has to be true."""
        return True in self.facts.get(fact, ())


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
    stood: str = ""
    held: str = ""
    batch: int = 0
    headline: str = ""


class GivenBack(msgspec.Struct, frozen=True, kw_only=True):
    """Words of the calls by which something is `taken`, as a lock, and given `back`: patterns, whatever their case."""

    taken: str
    back: str


class KnownCause(msgspec.Struct, frozen=True, kw_only=True):
    """One file of ``conformance/causes``. `alike`: more conversations that show it. `unlike`: those that do not.

    `rank`: of several that fit, the lowest is told. `sentence`: its headline, with ``{how}`` and other words of
    ``diagnosis.WORDS``. `by_source`: its line is the one that `suspects` find, whatever an exception names.
    `in_adapter`: that line may stand in an adapter that was copied beside the component.
    `by_place`: in one place of the source it is one trouble, whatever its exceptions say. `of_child`: its line is the
    one that names the program that it waits for. `by_chance`: it shows in some runs and not in others, or with many
    tuples under way, whatever the case.
    `folds`: rules whose findings are consequences. `mend`, `code`: as in `Cause`, by language.
    `suspects`: patterns of lines that do such things, by language, the surest first. `given_back`: what it waits for,
    which a way out of a function may keep.
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
    of_child: bool = False
    suspects: dict[str, tuple[str, ...]] = {}
    given_back: GivenBack | None = None
    example: Example
    alike: tuple[Example, ...] = ()
    unlike: tuple[Example, ...] = ()


class TracebackForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form of an uncaught exception in one language (``conformance/tracebacks.yaml``): patterns of lines.

    `begins`: the first line. `exceptions`: with a group `text`, and `file` and `line` where they name a place. `frame`:
    with groups `file` and `line`. `innermost`: which frame comes last in time. `code_follows`: the line behind a frame
    is its source. `misread`: how JSON parsers of the language refuse a text. `asked_by`: the signal at which its
    runtimes write where the main thread stands, to stderr or, as a JVM, to stdout, and may end. `starts`: a call
    that starts a program which writes to the same stdout. `because`: an exception that goes on, and of which those
    behind it come. `aftermath`: an exception that comes of one that ended another thread before. `method`: a frame
    with no line, with a group `method`; `defines`: the line that such a method begins with, ``{method}`` in place
    of its name. `causes_follow`: the exceptions that led to one are written behind it. `thrown`: the call that
    throws, in a stack; `thread`: the line that another thread's frames begin with; frames before the last one are
    those of a handler that threw again. `idle`: that of a first thread which waits for others; `held_up`: that of one
    whose place tells more, where the first is idle: most where its group `first` matches.
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
    aftermath: str = ""
    method: str = ""
    defines: str = ""
    thrown: str = ""
    thread: str = ""
    idle: str = ""
    held_up: str = ""
    causes_follow: bool = False
