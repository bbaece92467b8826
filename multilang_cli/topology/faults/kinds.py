"""Every kind of fault, what it may strike and when, what its parameter means, and whose fault it is. Tables; pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

FaultTarget = Literal["bolt", "spout", "acker", "worker"]


class FaultKind(NamedTuple):
    """A kind of fault.

    `targets`: what it may strike. `unit`: of its parameter, "" if it has none; `usual`: the parameter that is meant if
    none is given. `lasts`: it goes on for so many seconds, its parameter, and is healed then. `blames`: the component
    seems to be wrong by it, so what the judge finds from then on, in that life, is not held against it.
    """

    targets: tuple[FaultTarget, ...]
    text: str
    unit: Literal["", "s", "times"] = ""
    usual: float = 0.0
    lasts: bool = False
    blames: bool = False


_PROCESSES: tuple[FaultTarget, ...] = ("bolt", "spout")

KINDS: dict[str, FaultKind] = {
    "kill": FaultKind(("bolt", "spout", "acker", "worker"), "it dies: a process with its worker, an acker alone"),
    "pause": FaultKind(_PROCESSES, "its process is stopped (SIGSTOP)", "s", 0.5, lasts=True, blames=True),
    "slow": FaultKind(_PROCESSES, "its process runs a fifth of the time", "s", 1.0, lasts=True, blames=True),
    "stall-stdin": FaultKind(_PROCESSES, "nothing is written to it", "s", 0.5, lasts=True, blames=True),
    "stall-stdout": FaultKind(_PROCESSES, "nothing it says is read", "s", 0.5, lasts=True, blames=True),
    "stall-acker": FaultKind(("acker",), "it looks at none of its mail", "s", 0.5, lasts=True),
    "drop-heartbeats": FaultKind(("bolt",), "no heartbeats are sent to it", "s", 2.0, lasts=True, blames=True),
    "half-message": FaultKind(_PROCESSES, "a message comes to it in two pieces"),
    "torn-message": FaultKind(_PROCESSES, "it dies in the middle of a message", blames=True),
    "garbage-line": FaultKind(_PROCESSES, "a line that is no JSON comes from it", blames=True),
    "late-acks": FaultKind(("bolt",), "its acks are late by as long as it lasts", "s", 0.5, lasts=True, blames=True),
    "duplicate": FaultKind(("bolt",), "a tuple is delivered to it twice"),
    "restart-storm": FaultKind(_PROCESSES, "it dies again and again, as soon as it is there", "times", 3),
    "mute": FaultKind(_PROCESSES, "nothing that it says is heard any more, and then it dies", "s", 0.3, blames=True),
    "time-out": FaultKind(("spout",), "all that it waits for times out, before its time"),
}
"""By name."""

MOMENTS: dict[str, tuple[FaultTarget, ...]] = {
    "got": ("bolt",),
    "emit": ("bolt", "spout"),
    "ack": ("bolt", "acker"),
    "fail": ("bolt", "acker"),
    "init": ("acker",),
    "end": ("spout",),
}
"""Of what a task does, behind which a fault may strike it: a tuple is queued for it, it emits, acks or fails; an acker
takes a message; a spout's emission ends.
"""
