"""Input and output of the judge: profiles, rules, findings and outlooks."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from multilang_cli.protocol.words.clauses import clauses
from multilang_cli.protocol.words.feeds import Feed
from multilang_cli.protocol.words.waits import Waits

Kind = Literal["bolt", "spout"]
Level = Literal["must", "should", "note"]
Fate = Literal["survives", "ignored", "loses-data", "fails-tuple", "hangs", "dies", "unknown"]

ACKERS = "topology.acker.executors"
"""The key of conf that says how many ackers there are; null for one a worker."""

FATES: tuple[Fate, ...] = ("survives", "ignored", "unknown", "fails-tuple", "loses-data", "hangs", "dies")
"""Every fate, the mildest first."""

FATAL: frozenset[str] = frozenset({"hangs", "dies"})
"""Fates after which nothing more of a conversation counts for a version."""

LONGEST_MESSAGE = 800
"""Characters of a finding's message at most, and of each error."""
LONGEST_SUBJECT = 200
"""Characters of what a finding is about."""


def together(settles: str) -> int:
    """Tuples that are settled together: N of ``after-N``, and 1 of whatever else a profile says of it."""
    word, _, number = settles.partition("-")
    return int(number) if word == "after" else 1


class StreamSpec(msgspec.Struct, frozen=True):
    """An output stream as the topology declares it.

    `fields` None: not declared to us, so arity is not judged. `consumers`: task ids by consuming component.
    `groupings`: by consuming component, {"type": "SHUFFLE"} or {"type": "FIELDS", "fields": [...]} and so on. `schema`:
    a JSON Schema of the array of values, as its user wrote it.
    """

    fields: tuple[str, ...] | None = None
    direct: bool = False
    consumers: dict[str, tuple[int, ...]] = {}
    groupings: dict[str, dict[str, Any]] = {}
    schema: dict[str, Any] | None = None


class SourceSpec(msgspec.Struct, frozen=True):
    """A stream that a bolt subscribes to: its fields and grouping."""

    fields: tuple[str, ...]
    grouping: dict[str, Any]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """Declarations about a component, for the judge. It stands in the header of every transcript.

    `kind`: bolt or spout. `streams`: output streams by name; None if nobody declared them, then streams are not judged.
    `sources`: subscribed streams by component, then stream. `tasks`: component name by task id. `metrics`: registered
    metrics by name, their kind (count, assignable, combined, reduced, plain); None if nobody told, then it is not
    judged whether one is registered. `conf`: topology configuration by key. `local`: Storm's local mode. `pid`: own, or
    foreign behind a container. `limits` in seconds or bytes by name. `samples`: values of tuples that a bolt's user
    declared; what it emits of others was made up for is judged for what the wire must carry alone. None: of all tuples.
    `testee`: its part, if it is a library's testee (``conformance/testees``): bolt, basic (a bolt whose library anchors
    and acks by itself) or spout; `features`: what it says that its library can do. `feed`: what a host was told to say;
    then the host is judged, and not the component. `unconsumed`: nobody consumes the streams, declared or not, that are
    not direct.
    """

    kind: Kind
    storm: str = ""
    task: int = 3
    component: str = "component"
    streams: dict[str, StreamSpec] | None = None
    sources: dict[str, dict[str, SourceSpec]] = {}
    tasks: dict[int, str] = {}
    conf: dict[str, Any] = {}
    features: tuple[str, ...] = ()
    metrics: dict[str, str] | None = None
    pid: Literal["own", "foreign"] = "own"
    settles: str = "by-limit"
    limits: dict[str, float] = {}
    samples: tuple[list[Any], ...] | None = None
    testee: Literal["", "bolt", "basic", "batch", "spout"] = ""
    feed: Feed | None = None
    unconsumed: bool = False

    @property
    def without_ackers(self) -> bool:
        """True if Storm follows no tuple: it acks each while it is emitted."""
        return self.conf.get(ACKERS) == 0

    @property
    def local(self) -> bool:
        """True if Storm runs in local mode."""
        return self.conf.get("storm.cluster.mode") == "local"


class StormVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One Storm version, as data (``conformance/versions.yaml``).

    `verified`: measured with the real classes. `dialect`: its JSON reader. `context`: none, small (0.9) or full.
    `activate`: sends activate and deactivate. `task_ids`: overtake queued tuples, or fifo. `refreshed_by`: what keeps a
    bolt alive: sync, or any message (command). `timeout_key`: the conf key of the subprocess timeout, in seconds.
    `command_id`: next, activate and deactivate carry "id":"". `max_pending`: default of topology.shellbolt.max.pending,
    None unbounded.
    """

    id: str
    verified: bool
    dialect: Literal["simple-quiet", "simple", "smart"]
    context: Literal["none", "small", "full"]
    activate: bool
    task_ids: Literal["overtake", "fifo"]
    heartbeats: bool
    refreshed_by: Literal["sync", "command", "nothing"]
    timeout_key: str
    command_id: bool
    max_pending: int | None = None
    note: str = ""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a breach on some Storm versions.

    `versions`: a specifier set such as ``>=2.6``, or ``*``. `when`: the variant of the breach it holds for, "" for any.
    `error`: the text that Storm shows, for people who search for it. `confirmed_by`: names of oracle cases.
    """

    versions: str
    fate: Fate
    error: str = ""
    when: str = ""
    confirmed_by: tuple[str, ...] = ()


class Clause(msgspec.Struct, frozen=True):
    """A quoted sentence and where it stands."""

    text: str
    source: str


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the protocol asks, or one thing real Storm punishes (``conformance/rules/``).

    `clause`: the id of a sentence of the written protocol, or one quoted.
    `occasions`: what gives a component the chance to break it, all of it (``coverage.OCCASIONS``). `effects`: those of
    the variant that `bad` shows come first. `good` and `bad`: the smallest transcripts that show it, in the notation of
    ``tests/notation.py``. `profile`: what their profile has beyond the example topology's.
    `variants`: what each variant of the breach is, by the name that effects have it under; it goes on from "where".
    `unconfirmed`: why no script can confirm some of the effects, where none does.
    """

    id: str
    title: str
    kind: Literal["bolt", "spout", "both"]
    level: Level
    occasions: tuple[str, ...]
    clause: Clause | str
    effects: tuple[Effect, ...]
    why: str
    mend: str
    good: str
    bad: str
    since: str = ""
    until: str = ""
    profile: dict[str, Any] = {}
    variants: dict[str, str] = {}
    unconfirmed: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One breach of one rule at one event.

    `seq` and `offset`: the event and its place in the stream, in bytes. `related`: seqs of the events that explain it.
    `subject`: what it is about (a tuple id, a stream, a command). `fates`: by version id. `errors`: by version id, what
    that Storm would print. `fingerprint`: the same for the same breach from run to run.
    """

    rule: str
    level: Level
    seq: int
    offset: int
    message: str
    subject: str = ""
    related: tuple[int, ...] = ()
    fates: dict[str, Fate] = {}
    errors: dict[str, str] = {}
    fingerprint: str = ""

    @property
    def head(self) -> str:
        """The message without what explains it."""
        return clauses(self.message)[0]

    @property
    def waits(self) -> Waits | None:
        """The part of the message on who waits on whom, where a limit ran out."""
        return Waits.behind(self.message)


class Outlook(msgspec.Struct, frozen=True):
    """The end of a conversation on one Storm version: the worst fate so far, frozen at the first fatal event."""

    version: str
    fate: Fate
    seq: int | None = None
    rule: str | None = None
