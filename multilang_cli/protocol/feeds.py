"""What a host is told to say to a component: its feed, and what the judge remembers of how it was said.

A host plays Storm's side. It is told beforehand which tuples to hand to a bolt, or which calls to make to a spout; so
what a component must be sent is known, as far as the protocol leaves it to nobody.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.protocol.messages import DEFAULT_STREAM, Json

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
    """What a host is told to say, in this order: `tuples` to a bolt, `calls` to a spout."""

    tuples: tuple[FedTuple, ...] = ()
    calls: tuple[FedCall, ...] = ()


class Wanted(msgspec.Struct, array_like=True):
    """An emit that asked for its task ids: the event, and the stream."""

    seq: int
    stream: str


class HostMemory(msgspec.Struct):
    """What the judge remembers of a host.

    `greeted`: it sent a handshake. `tuples`, `calls`: what is still to be said; `passed`: tuples passed over by
    later ones. `ids`: of the tuples it sent, with their seqs. `wanted`: emits that still want their task ids.
    `command`: the seq of the command that the spout has not answered, -1 for none. `message_ids`: of the spout's emits.
    `beat`: when the last heartbeat came, at first the pid, in seconds. `stopping`: it was told to end. `over`: the
    component has ended, or was let go.
    """

    greeted: bool = False
    tuples: list[FedTuple] = []
    calls: list[FedCall] = []
    passed: list[FedTuple] = []
    ids: dict[str, int] = {}
    wanted: list[Wanted] = []
    command: int = -1
    message_ids: list[Json] = []
    beat: float = 0.0
    stopping: bool = False
    over: bool = False
