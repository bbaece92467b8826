"""History of a run of a topology, event by event: what checkers, blame and plots are made from. Pure.

``history.ndjson`` in a run's folder holds one event a line, in the order in which the engine did things, tagged by `k`.
Times `t` are seconds from the start of the run. An emission and a delivery each have a number, from 1 on, that is
theirs alone in the run: an emission `n` that goes to three tasks makes three deliveries. Root and edge ids are signed
64-bit integers as in Storm; JSON readers that have only floats must read them as text.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Task = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""Numbers as Storm has them: a history that holds larger ones is none, for no table has room for them."""


class _Happened(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="k"):
    t: float


class Launched(_Happened, frozen=True, kw_only=True, tag="launch"):
    """A task is there: `pid` of its process, None for an acker, which is the engine's own. `attempt` from 1 on."""

    task: _Task
    component: str
    worker: int
    attempt: int = 1
    pid: int | None = None


class Emitted(_Happened, frozen=True, kw_only=True, tag="emit"):
    """A task emitted. `message_id`: a spout's, null for none. `root`: of a tracked emission. `anchors`: deliveries.

    `values`: as much of them as is kept, as JSON text; `direct`: the task of a direct emit.
    """

    n: int
    task: _Task
    stream: str
    values: str = ""
    message_id: Any = None
    root: _Long | None = None
    anchors: tuple[int, ...] = ()
    direct: _Task | None = None


class Delivered(_Happened, frozen=True, kw_only=True, tag="deliver"):
    """A tuple was queued for a task. `emit`: its emission; `id`: its tuple id; `edges`: edge id by root id.

    `again`: it is another delivery's tuple once more, with the same edges: a network's doing, not an emission's.
    """

    n: int
    emit: int
    task: _Task
    id: str
    edges: dict[_Long, _Long] = {}
    again: bool = False


class TupleSettled(_Happened, frozen=True, kw_only=True, tag="settle"):
    """A bolt's task acked or failed a delivery. `edges`: the delivery's, so that this line can be read on its own."""

    delivery: int
    how: Literal["ack", "fail"]
    edges: dict[_Long, _Long] = {}


class AckerTold(_Happened, frozen=True, kw_only=True, tag="acker"):
    """An acker's task took a message; `val`: the ack val of its record after it."""

    task: _Task
    what: Literal["init", "ack", "fail"]
    root: _Long
    val: _Long


class EmissionEnded(_Happened, frozen=True, kw_only=True, tag="outcome"):
    """A spout's task learnt the end of an emission, which is told to its process as ack or fail. `root`: if tracked."""

    emit: int
    root: _Long | None = None
    task: _Task
    how: Literal["acked", "failed", "timed out"]
    latency: float


class Beat(_Happened, frozen=True, kw_only=True, tag="beat"):
    """A bolt's task was sent a heartbeat, answered the oldest one, or is given up: Storm heard nothing for too long."""

    task: _Task
    what: Literal["sent", "answered", "missed"]


class DeadLettered(_Happened, frozen=True, kw_only=True, tag="dead-letter"):
    """A spout's task gave messages up, and put them where they are kept. `ids`: their message ids, as it said them."""

    task: _Task
    ids: tuple[str, ...]


class Died(_Happened, frozen=True, kw_only=True, tag="death"):
    """A worker, or an acker's task alone, is gone with all it held. `why`: a sentence."""

    worker: int
    task: _Task | None = None
    why: str = ""


class Lost(_Happened, frozen=True, kw_only=True, tag="lost"):
    """A delivery that was queued or being worked on is gone with its task, or never reached it. `edges`: its own."""

    delivery: int
    edges: dict[_Long, _Long] = {}


class Faulted(_Happened, frozen=True, kw_only=True, tag="fault"):
    """The `plan`-th fault of the plan (from 0) strikes, or is over. `fault`: as written, kind:target:parameter."""

    plan: int
    fault: str
    phase: Literal["strikes", "heals"]
    task: _Task | None = None


class PhaseBegun(_Happened, frozen=True, kw_only=True, tag="phase"):
    """The run as a whole goes on: faults may strike, all is healed, spouts are left to finish, it is over."""

    name: Literal["run", "heal", "drain", "end"]


Happening = (
    Launched
    | Emitted
    | Delivered
    | TupleSettled
    | AckerTold
    | EmissionEnded
    | Beat
    | DeadLettered
    | Died
    | Lost
    | Faulted
    | PhaseBegun
)
"""Any event of a history."""
