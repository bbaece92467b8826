"""The messages of the protocol, both directions, as frozen values.

The shapes are the published ones of ``schemas/messages/``; a property test holds the two together. Names of fields are
those of the JSON. `stream` is the *effective* stream: absent, null and "default" are one thing to Storm
(``JsonSerializer.readShellMsg``), so the difference is not kept here; the exact bytes are in the frame.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec

DEFAULT_STREAM = "default"
HEARTBEAT_STREAM = "__heartbeat"
TICK_STREAM = "__tick"
SYSTEM_COMPONENT = "__system"
SYSTEM_TASK = -1
TICK_FREQUENCY = "topology.tick.tuple.freq.secs"
MAX_BOLT_PENDING = "topology.shellbolt.max.pending"
"""The key of conf that says how often a bolt gets a tick, in seconds."""

Json = Any
"""A value as JSON has it: None, bool, int (exact, of any size), float, str, list, dict with str keys."""


if TYPE_CHECKING:
    from typing import TypeAlias

    from multilang_cli.protocol.words.large import LargeValues

    Values: TypeAlias = list[Any] | LargeValues
    TupleValues: TypeAlias = list[Any] | LargeValues
    _OfValues: TypeAlias = object
else:
    # What fast reading takes: anything else is a hazard or a trap, and read with care.
    _Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    _Double = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
    Values = list[bool | _Int64 | _Double | str | None]
    # Any values, where it is not said of which kinds they are to be.
    TupleValues = TypeVar("TupleValues", bound=list[Any])
    _OfValues = Generic[TupleValues]


class Handshake(msgspec.Struct, frozen=True):
    """Storm's first message: the merged configuration, the pid directory and the topology context.

    `more`: keys beside these three, such as a later Storm might send.
    """

    conf: dict[str, Json]
    pid_dir: str
    context: dict[str, Json]
    more: dict[str, Json] = {}


class TupleMsg(msgspec.Struct, _OfValues, frozen=True, gc=False, rename={"values": "tuple"}):
    """A tuple for a bolt; heartbeats and ticks are tuples too (``ShellBolt.BoltWriterRunnable``).

    `id` is made anew for each delivery: a signed 64-bit integer as a string. `comp` is None in a heartbeat. The fields
    stand in the order in which Storm writes them.
    """

    comp: str | None
    values: TupleValues
    task: int
    stream: str
    id: str

    @property
    def is_heartbeat(self) -> bool:
        """True for the tuple that asks for a `sync`."""
        return self.stream == HEARTBEAT_STREAM and self.task == SYSTEM_TASK

    @property
    def is_tick(self) -> bool:
        """True for a tick: an ordinary tuple of the system component, to be settled like any other."""
        return self.stream == TICK_STREAM and self.comp == SYSTEM_COMPONENT


class TaskIds(msgspec.Struct, frozen=True, gc=False):
    """The tasks that an emit was sent to, in reply to it; may be empty."""

    tasks: list[int]


class SpoutCommand(msgspec.Struct, frozen=True, gc=False):
    """A command to a spout: next, ack, fail, activate or deactivate. `id` is kept with its JSON type."""

    command: str
    id: Json = ""


class Pid(msgspec.Struct, frozen=True, gc=False):
    """The component's first message: its process id."""

    pid: int


class Emit(
    msgspec.Struct,
    frozen=True,
    gc=False,
    tag="emit",
    tag_field="command",
    rename={"values": "tuple", "hazards": "(hazards)"},
):
    """A tuple from the component. `task` makes it direct; `anchors` count in bolts, `id` in spouts only.

    `hazards` is no field of the message but what the reader saw in the values: "nested" (an object or array) and
    "decimal" (a number literal of which Storm may make a BigDecimal): some versions can't send these between workers.
    "scale": such a literal with an exponent that no BigDecimal has.
    """

    values: Values
    stream: str = DEFAULT_STREAM
    task: int | None = None
    anchors: tuple[str, ...] = ()
    id: Json = None
    need_task_ids: bool = True
    hazards: tuple[str, ...] = ()

    @property
    def wants_task_ids(self) -> bool:
        """True if Storm will answer with task ids: never for a direct emit (task 0 is no direct emit since 0.9.2)."""
        return self.need_task_ids and not self.task


class Ack(msgspec.Struct, frozen=True, gc=False, tag="ack", tag_field="command"):
    """The bolt is done with the tuple `id`."""

    id: str


class Fail(msgspec.Struct, frozen=True, gc=False, tag="fail", tag_field="command"):
    """The bolt gives up on the tuple `id`: its spout tuple fails at once."""

    id: str


class Log(msgspec.Struct, frozen=True, gc=False, tag="log", tag_field="command"):
    """A line for the worker's log. Levels: 0 trace, 1 debug, 2 info, 3 warn, 4 error; None is info."""

    msg: str | None
    level: int | None = None


class Sync(msgspec.Struct, frozen=True, gc=False, tag="sync", tag_field="command"):
    """A spout's end of its answer; a bolt's answer to a heartbeat."""


class Error(msgspec.Struct, frozen=True, gc=False, tag="error", tag_field="command"):
    """An error for Storm's UI (``Shell Process Exception: msg``); it fails nothing and stops nothing."""

    msg: str | None


class Metrics(msgspec.Struct, frozen=True, gc=False, tag="metrics", tag_field="command"):
    """A value for a metric that Java code has registered under `name` (``IShellMetric``)."""

    name: str
    params: Json = None


Command = Emit | Ack | Fail | Log | Sync | Error | Metrics
"""What a component says after its pid."""

FromStorm = Handshake | TupleMsg | TaskIds | SpoutCommand
"""What Storm says."""

FromComponent = Pid | Command
"""What a component says."""


class DialectReading(msgspec.Struct, frozen=True):
    """The reading of an irregular frame by one of Storm's JSON parsers.

    `error`: the Java exception as ``Class: text`` if it refuses, else None. `value`: the JSON value it sees (see
    ``dialects``: plain Python values; Decimal stands for BigDecimal). `effective`: the message that Storm then acts on,
    None if it refuses or if the command is unknown to it. A null anchor is an error to bolts, and harmless in the
    emit of a spout: both are given.
    """

    error: str | None = None
    value: Json = None
    effective: Command | Pid | None = None


class Malformed(msgspec.Struct, frozen=True):
    """A frame that the protocol does not allow.

    `kind`: the id of the rule it breaks, first in the order in which Storm reads. `strict`: it is JSON by RFC 8259,
    only its shape is wrong. `at`: offset in the frame's text, in bytes, of the first offending byte, or of the value
    meant. `detail`: one sentence for people. `salvage`: the messages that were meant, as far as can be told.
    `by_dialect`: the reading of each of Storm's parsers, by name.
    """

    kind: str
    at: int
    excerpt: str
    detail: str
    salvage: tuple[FromComponent, ...] = ()
    by_dialect: dict[str, DialectReading] = {}
    strict: bool = False


Message = FromStorm | FromComponent | Malformed
"""Anything that one frame can say."""
