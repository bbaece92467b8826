"""Counts of a task's work: what Storm's UI shows, though of every tuple, not of a sample. Pure."""

from __future__ import annotations

import msgspec


class Tally(msgspec.Struct):
    """Counts of one task.

    `emitted`: tuples. `received`: deliveries queued for it; `lost`: those gone with it. `acked`, `failed`, `timed_out`:
    a bolt's deliveries, or a spout's emissions as their ends were learnt.
    `latency`: seconds, summed over the acked ones: from the emit to the ack that a spout is told, or from when a bolt's
    process was given the tuple to its ack.
    """

    emitted: int = 0
    received: int = 0
    acked: int = 0
    failed: int = 0
    timed_out: int = 0
    lost: int = 0
    latency: float = 0.0

    def add(self, other: Tally) -> None:
        """Count what another task did as well."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
