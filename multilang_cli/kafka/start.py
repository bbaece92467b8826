"""Start of a partition when a task gets it, and the reason for it. Pure.

Every decision gives a sentence for the worker's log, and names what it skips: nothing is ever skipped in silence.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Strategy = Literal["earliest", "latest", "uncommitted-earliest", "uncommitted-latest", "timestamp"]
"""``FirstPollOffsetStrategy``. What is stored counts for the two uncommitted ones always, for the others only if this
deployment of the topology has stored it."""


class Range(msgspec.Struct, frozen=True):
    """Offsets from `first` up to and without `end`."""

    first: int
    end: int

    def __len__(self) -> int:
        """Number of offsets, of which a compacted topic may lack some."""
        return max(0, self.end - self.first)

    def __str__(self) -> str:
        """As people count: both ends are in it."""
        return f"{self.first}-{self.end - 1}" if len(self) > 1 else f"{self.first}"


class GivenUp(msgspec.Struct, frozen=True):
    """Messages of a partition that were given up: how many, the offset of the last one, and why."""

    count: int = 0
    offset: int = -1
    why: str = ""


class Committed(msgspec.Struct, frozen=True):
    """The stored progress: the next offset to read. `ours`: this deployment of the topology stored it.

    `topic_id`: what Kafka called the topic then, "" if that was not stored. `given_up`: until then, as far as the store
    keeps that.
    """

    offset: int
    ours: bool
    topic_id: str = ""
    given_up: GivenUp = GivenUp()


class BrokerOffsets(msgspec.Struct, frozen=True, kw_only=True):
    """Offsets at the broker: `earliest` that is there, `latest` the next that will be, `at_time` the timestamp's.

    `topic_id` tells the topic from one of the same name that was made earlier; "" for unknown.
    """

    earliest: int
    latest: int
    at_time: int | None = None
    topic_id: str = ""


class Start(msgspec.Struct, frozen=True):
    """The first offset to read, `why` in a sentence, and the range that will never be read, None if nothing is lost."""

    offset: int
    why: str
    lost: Range | None = None


def decide(strategy: Strategy, stored: Committed | None, seen: BrokerOffsets, max_behind: int | None = None) -> Start:
    """Choose the offset to begin at. `max_behind`: how far behind `latest` a stored one may be; None for any number."""
    if stored is None or not (stored.ours or strategy.startswith("uncommitted")):
        return _first(strategy, stored, seen)
    if stored.topic_id and seen.topic_id and stored.topic_id != seen.topic_id:
        return Start(
            seen.earliest,
            f"stored offset {stored.offset} is of a topic that was deleted; this one was made anew: from the earliest, "
            f"{seen.earliest}",
        )
    if stored.offset > seen.latest:
        return Start(
            seen.earliest,
            f"stored offset {stored.offset} is past the end ({seen.latest}), so the topic was made anew: from the "
            f"earliest, {seen.earliest}",
        )
    if stored.offset < seen.earliest:
        lost = Range(stored.offset, seen.earliest)
        gone = f"stored offset {stored.offset} is gone: {len(lost)} offsets ({lost}) were deleted unread"
        return Start(seen.earliest, f"{gone}; from the earliest, {seen.earliest}", lost)
    if max_behind is not None and seen.latest - stored.offset > max_behind:
        lost = Range(stored.offset, seen.latest - max_behind)
        return Start(
            lost.end,
            f"stored offset {stored.offset} is {seen.latest - stored.offset} behind, more than the {max_behind} "
            f"allowed: {len(lost)} offsets ({lost}) are skipped, from {lost.end}",
            lost,
        )
    return Start(stored.offset, f"from the stored offset {stored.offset}, {seen.latest - stored.offset} behind")


def _first(strategy: Strategy, stored: Committed | None, seen: BrokerOffsets) -> Start:
    nothing = "nothing is stored" if stored is None else f"offset {stored.offset} was stored by another deployment"
    if strategy == "timestamp" and seen.at_time is not None:
        return Start(seen.at_time, f"{nothing}: from the first message of that time, {seen.at_time}")
    if strategy == "timestamp":
        return Start(seen.latest, f"{nothing}, and no message is as late as that time: from the end, {seen.latest}")
    if strategy in {"earliest", "uncommitted-earliest"}:
        return Start(seen.earliest, f"{nothing}: from the earliest, {seen.earliest}")
    return Start(seen.latest, f"{nothing}: from the end, {seen.latest}")


def decide_as_0_9_3(
    stored: Committed | None, seen: BrokerOffsets, *, force_from_start: bool = False, max_behind: int | None = None
) -> Start:
    """Choose the offset as Storm 0.9.3's ``PartitionManager`` does, traps and all.

    What is current is the end, unless `force_from_start`; a stored offset of 0, or one too far behind, jumps there.
    """
    current = seen.earliest if force_from_start else seen.latest
    name = "earliest" if force_from_start else "end"
    if stored is None:
        return Start(current, f"nothing is stored: from the {name}, {current}")
    if force_from_start and not stored.ours:
        return Start(current, f"offset {stored.offset} was stored by another deployment: from the {name}, {current}")
    too_far = max_behind is not None and current - stored.offset > max_behind
    if too_far or stored.offset <= 0:
        lost = Range(max(stored.offset, seen.earliest), current)
        why = "too far behind" if too_far else "0, which counts as none"
        return Start(
            current, f"stored offset {stored.offset} is {why}: from the {name}, {current}", lost if len(lost) else None
        )
    return Start(stored.offset, f"from the stored offset {stored.offset}")


def out_of_range_as_0_9_3(offset: int, seen: BrokerOffsets, *, force_from_start: bool = False) -> Start:
    """Choose the offset as Storm 0.9.3 does if its own is out of range: the end, unless `force_from_start`."""
    current = seen.earliest if force_from_start else seen.latest
    lost = Range(offset, current)
    why = f"offset {offset} is out of range: from the {'earliest' if force_from_start else 'end'}, {current}"
    return Start(current, why, lost if len(lost) else None)
