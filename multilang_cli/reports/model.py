"""The result of a run, as data: every format is made from it, and ``schemas/report.schema.json`` publishes its shape.

Texts of a component are ``str`` as ``escape.decode`` makes them of its bytes; they may hold control characters, so
whoever shows them escapes them. Paths are relative to the working directory until a report is written.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.causes.model import Cause
from multilang_cli.protocol.words.events import Channel, Exited
from multilang_cli.protocol.words.verdicts import Clause, Finding, Kind, Level, Outlook, Profile

SCHEMA_VERSION = "1.0"

Verdict = Literal["pass", "fail", "warn", "skip", "untestable", "xfail", "stale", "flaky", "error"]
"""What became of a subject. `stale`: a known failure that passes. `error`: a fault of mlcheck's own."""

VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "warn", "skip", "untestable", "xfail", "stale", "flaky", "error")

SubjectKind = Literal["case", "conversation", "task", "root", "limit", "run", "difference"]
"""What was judged. `run`: what was found outside of any case; `difference`: a message that is not what it was."""

RunVerdict = Literal[
    "conformant",
    "not-conformant",
    "misuse",
    "no-first-message",
    "nothing-selected",
    "harness-fault",
    "inconclusive",
    "interrupted",
]
"""What became of the run; one for each exit code, see ``verdict.OUTCOMES``."""


class _Value(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Exit(_Value, frozen=True, kw_only=True):
    """The end of a process: its code, or the signal that ended it."""

    code: int | None = None
    signal: int | None = None

    @classmethod
    def of(cls, ended: Exited | None) -> Exit | None:
        """The end that an event tells of; None for none."""
        return None if ended is None else cls(code=ended.code, signal=ended.signal)


class ExcerptLine(_Value, frozen=True, kw_only=True):
    """One of the few messages that matter.

    `t` in seconds from the start of the conversation. `mark`: this is the wrong one. `at`: index in `text`, in
    characters, of the first wrong one. `note`: a word on it.
    """

    seq: int
    t: float
    channel: Channel
    text: str
    mark: bool = False
    note: str = ""
    at: int | None = None


class SubjectResult(_Value, frozen=True, kw_only=True):
    """The result of one case, conversation, task, root or limit.

    `reason`: one sentence, empty on pass. `expected`: what had to come back. `duration` in seconds. `transcript`: the
    path of its recording; `further_parts`: those of the files that it goes on in, if it does. `storm`: the version
    that it was judged for, "" for that of the run. `reproduce`: the one command that shows it again. `same_cause`: the
    case that shows what this one, which was not played, could only have shown again. `causes`: why it went wrong, the
    one that tells most first.
    """

    id: str
    title: str
    kind: SubjectKind = "case"
    level: Level = "must"
    verdict: Verdict
    reason: str = ""
    expected: str = ""
    duration: float = 0.0
    clause: Clause | None = None
    findings: tuple[Finding, ...] = ()
    outlook: tuple[Outlook, ...] = ()
    excerpt: tuple[ExcerptLine, ...] = ()
    stderr_tail: str = ""
    exit: Exit | None = None
    transcript: str | None = None
    further_parts: tuple[str, ...] = ()
    storm: str = ""
    reproduce: str = ""
    same_cause: str = ""
    causes: tuple[Cause, ...] = ()


class Tool(_Value, frozen=True, kw_only=True):
    """The program that made the result."""

    name: str = "mlcheck"
    version: str


class Suite(_Value, frozen=True, kw_only=True):
    """The suite that was asked for: its name and the hash of all its cases."""

    name: str
    hash: str = ""


class ComponentReport(_Value, frozen=True, kw_only=True):
    """The program that was judged.

    `name`: as the configuration file calls it. `why`: how its command and kind were chosen. `exit`, `stderr_tail`: its
    last.
    """

    name: str = ""
    command: tuple[str, ...]
    why: str = ""
    kind: Kind | None = None
    cwd: str = "."
    exit: Exit | None = None
    stderr_tail: str = ""


class Selection(_Value, frozen=True, kw_only=True):
    """The selection of cases: patterns, and how many cases they left of those available."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    available: int = 0
    selected: int = 0


class Untested(_Value, frozen=True, kw_only=True):
    """Subjects that were not tested, for one reason."""

    reason: str
    ids: tuple[str, ...]


class CoverageReport(_Value, frozen=True, kw_only=True):
    """The share exercised of the rules that hold for a component: by one recording, or by all together.

    `name`: of the recording, "" for all. `kind`: of the component. `exercised`: rules that it had occasion to break;
    `never`: the others, by what never happened.
    """

    name: str = ""
    kind: Kind
    exercised: tuple[str, ...]
    never: tuple[Untested, ...]


class TakenTuple(_Value, frozen=True):
    """A tuple that a bolt takes, which failed the made-up one: its values as JSON, and how the suite ends with it.

    Or what another `option` says of one that left all open.
    """

    values: str
    told: str
    option: str = "--tuple"


class Observation(_Value, frozen=True):
    """A note on what the component does, although nothing is wrong. `id`: of what is seen, whatever its `text` names.

    Where it is declared its `text` is a template, that `told` fills in.
    """

    id: str
    text: str

    def told(self, **facts: object) -> Observation:
        """The same of one component, in words of its own."""
        return Observation(self.id, self.text.format(**facts))


class RunResult(_Value, frozen=True, kw_only=True):
    """Everything that is known after a run. ``verdict.conclude`` fills what follows from the subjects.

    `storm`: id of the version played. `started_at`: ISO 8601, UTC. `duration` in seconds. `platform`: system, machine,
    python. `limits` in seconds or bytes, by name; None: no limit. `notes`: sentences that a reader needs to trust the
    verdict; `observations`: those of them that tell what the component does, not how it was run. `complete`: False if
    the run was interrupted or stopped early. `next_command`: what to type next, if the caller knows better than the
    report. `gates`: False if its verdict does not count in the exit code of the whole that it is a part of. `parts`:
    the results it is made of, one a component and Storm version, see ``combined.combine``; they have the subjects then.
    `sentences`: how each component fares on the versions, if there are several. `coverage`: what was exercised, where
    somebody asked. `extent`: how much of what was asked was played, if time ended before all of it was. `emits`: what
    it emitted first to each stream, and of what: whether that is meant, only its user can tell. `takes`: a tuple that
    it takes, where it failed or died of the one that was made up.
    """

    schema_version: str = SCHEMA_VERSION
    tool: Tool
    suite: Suite
    component: ComponentReport
    profile: Profile | None = None
    storm: str
    seed: int | None = None
    started_at: str
    duration: float = 0.0
    platform: dict[str, str] = {}
    selection: Selection = Selection()
    strict: bool = False
    subjects: tuple[SubjectResult, ...] = ()
    counts: dict[Verdict, int] = {}
    outlook: tuple[Outlook, ...] = ()
    verdict: RunVerdict = "inconclusive"
    exit_code: int = 6
    complete: bool = True
    limits: dict[str, float | None] = {}
    notes: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = ()
    untested: tuple[Untested, ...] = ()
    next_command: str = ""
    gates: bool = True
    parts: tuple[RunResult, ...] = ()
    sentences: tuple[str, ...] = ()
    coverage: tuple[CoverageReport, ...] = ()
    extent: str = ""
    emits: tuple[str, ...] = ()
    takes: TakenTuple | None = None

    def observing(self, *more: Observation) -> RunResult:
        """The result with more of them, before all that is noted already."""
        notes = (*(each.text for each in more), *self.notes)
        return msgspec.structs.replace(self, notes=notes, observations=(*more, *self.observations))
