"""A topology as it was declared, whoever declared it: what a Flux file is read into, and what the engine runs. Pure."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from multilang_cli.protocol.words.messages import DEFAULT_STREAM
from multilang_cli.protocol.words.verdicts import Kind

QUEUED = "mlcheck.queue"
"""The key of conf with the messages of a queue that is there for as long as a run."""
EXPECTED = "mlcheck.expect"
"""The key of conf with what must arrive: lists of values by component."""

GUARANTEE = "mlcheck.guarantee"
"""The key of conf with the processing guarantee that the topology claims."""
UNANCHORED = "mlcheck.unanchored"
"""The key of conf with streams on which tuples need no anchor: STREAM, or COMPONENT/STREAM."""
GUARANTEES = ("at-least-once", "at-most-once", "none")

GroupingType = Literal[
    "SHUFFLE", "FIELDS", "ALL", "GLOBAL", "NONE", "DIRECT", "LOCAL_OR_SHUFFLE", "PARTIAL_KEY", "CUSTOM"
]
"""Storm's groupings, spelt as the topology context and Flux spell them. CUSTOM is asked of Java."""


class Location(msgspec.Struct, frozen=True):
    """Place of a declaration: a file, and its line from 1; 0 for the file as a whole."""

    file: str
    line: int

    def __str__(self) -> str:
        """As editors understand it."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Notice(msgspec.Struct, frozen=True):
    """Something about a topology that its user would want to know; `place`: where it comes from, if from a file."""

    place: Location | None
    text: str

    def __str__(self) -> str:
        """As editors understand it."""
        return f"{self.place}: {self.text}" if self.place else self.text


class OutputStream(msgspec.Struct, frozen=True):
    """A stream that a component declares (``OutputFieldsDeclarer``)."""

    fields: tuple[str, ...]
    direct: bool = False


class Grouping(msgspec.Struct, frozen=True):
    """Rule that shares a stream's tuples among a consumer's tasks. `fields`: for FIELDS and PARTIAL_KEY, in order."""

    type: GroupingType
    fields: tuple[str, ...] = ()


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """A consumer's wish for a stream (``InputDeclarer.grouping``). `places`: of its parts, by Flux's keys."""

    source: str
    target: str
    grouping: Grouping
    stream: str = DEFAULT_STREAM
    place: Location | None = None
    places: dict[str, Location] = {}

    def at(self, key: str) -> Location | None:
        """Place of a part of it, or else of the whole."""
        return self.places.get(key, self.place)


class ComponentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A shell spout or shell bolt.

    `command`: argv. `parallelism`: executors; `tasks`: its tasks, as many as executors unless told. `streams`: what it
    declares, by name. `conf`: its own settings over the topology's (``addComponentConfig``). `env`: for its process
    (``setEnv``). `cwd`: the directory that its process starts in, "" for the engine's choice. `sized`: where the number
    of its tasks stands.
    """

    id: str
    kind: Kind
    command: tuple[str, ...]
    parallelism: int = 1
    tasks: int = 1
    streams: dict[str, OutputStream] = {}
    conf: dict[str, Any] = {}
    env: dict[str, str] = {}
    cwd: str = ""
    place: Location | None = None
    sized: Location | None = None


class JavaSide(msgspec.Struct, frozen=True, kw_only=True):
    """Java's part in a topology.

    `components`: ids of those in Java. `tag`: the key by which a value is one that only Java can read. `chooser`: argv
    of the program that chooses by custom groupings.
    """

    components: frozenset[str]
    tag: str
    chooser: tuple[str, ...]


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """All of it: components by id in the order of their declaration, who consumes what, and the topology's conf.

    `java`: None if there is nothing of Java in it.
    """

    name: str
    components: dict[str, ComponentSpec]
    subscriptions: tuple[Subscription, ...] = ()
    conf: dict[str, Any] = {}
    java: JavaSide | None = None

    @property
    def workers(self) -> int:
        """``topology.workers``: the failure units."""
        return int(self.conf.get("topology.workers") or 1)

    @property
    def stream_names(self) -> frozenset[str]:
        """Every declared stream, as STREAM and as COMPONENT/STREAM."""
        named = [(each.id, name) for each in self.components.values() for name in each.streams]
        return frozenset(name for _, name in named) | {f"{id_}/{name}" for id_, name in named}

    def consumers(self, source: str, stream: str) -> list[Subscription]:
        """Consumers of a stream, in the order of declaration: an emit goes to each of them."""
        return [each for each in self.subscriptions if each.source == source and each.stream == stream]
