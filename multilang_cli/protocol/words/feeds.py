"""The feed of a host, which it is told to say to a component, and the judge's memory of how it was said.

A host plays Storm's side. It is told beforehand which tuples to hand to a bolt, or which calls to make to a spout; so
what a component must be sent is known, as far as the protocol leaves it to nobody.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Json

Call = Literal["activate", "deactivate", "next", "ack", "fail"]


class FedTuple(msgspec.Struct, frozen=True):
    """A tuple for a bolt: its values, and the component, stream and task that it comes from."""

    values: list[Json]
    comp: str = "src"
    stream: str = DEFAULT_STREAM
    task: int = 2


class FedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call to a spout.

    `emit`: for ack and fail, whose id: that of the spout's emit with this number, counted from 0 over its emits with an
    id. `next` may be called more often than it stands here, never less.
    """

    call: Call
    emit: int = 0


class Feed(msgspec.Struct, frozen=True, omit_defaults=True):
    """Messages that a host is told to say, in this order: `tuples` to a bolt, `calls` to a spout.

    `free`: it was told nothing, and may say what it likes: only what any Storm holds to is asked of it then.
    """

    tuples: tuple[FedTuple, ...] = ()
    calls: tuple[FedCall, ...] = ()
    free: bool = False


class Wanted(msgspec.Struct, array_like=True):
    """An emit that asked for its task ids: the event, and the stream; its time, and how many bytes were sent before."""

    seq: int
    stream: str
    t: float = 0.0
    sent: int = 0


class HostMemory(msgspec.Struct):
    """Memory of the judge about a host.

    `greeted`: it sent a handshake. `tuples`, `calls`: what is still to be said; `passed`: tuples passed over by
    later ones. `ids`: of the tuples it sent, with their seqs. `wanted`: emits that still want their task ids;
    `unread`: what a spout said while no command waited, so that Storm reads it with its next ones: those of its emits,
    and how many syncs came between them, in their order.
    `commands`: the seqs of the commands that the spout has not answered, one inside another with no ackers.
    `message_ids`: of the spout's emits. `pending`: how many emits of an id still have to be acked or failed, by its
    JSON text; `inside`: the ids of those that are acked before the emit returns. `active`: None where nobody told.
    `shown_tasks`, `shown_sources`: task->component and source->stream->fields of the context, None where a version
    shows none. `tick_period`: the seconds between two ticks in conf, 0 for no ticks; `ticks`: how many came.
    `beat`: when the last heartbeat came, at first the pid, in seconds; `beats`: how many have no sync. `tick`: when
    the last tick came, at first the pid. `sent`: bytes sent so far; `sent_at_beat`, `sent_at_tick`: until then.
    `stopping`: it was told to end. `over`: the component has ended, or was let go.
    """

    greeted: bool = False
    tuples: list[FedTuple] = []
    calls: list[FedCall] = []
    passed: list[FedTuple] = []
    ids: dict[str, int] = {}
    wanted: list[Wanted] = []
    unread: list[Wanted | int] = []
    commands: list[int] = []
    message_ids: list[Json] = []
    pending: dict[str, int] = {}
    inside: list[str] = []
    active: bool | None = None
    shown_tasks: dict[str, Json] = {}
    shown_sources: dict[str, Json] | None = None
    tick_period: float = 0.0
    ticks: int = 0
    beat: float = 0.0
    beats: int = 0
    sent: int = 0
    sent_at_beat: int = 0
    tick: float = 0.0
    sent_at_tick: int = 0
    stopping: bool = False
    over: bool = False
