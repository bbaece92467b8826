"""Differences between the clocks of workers, estimated from what passed between their tasks. Pure.

A tuple can't be received before it is sent. Between two tasks, the one that was fastest took about no time: what is
left is the difference of the clocks, give or take a few milliseconds of an idle queue.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Passage(NamedTuple):
    """Tuples from one conversation to another: how many, and the seconds that they usually `took` by their clocks."""

    sender: str
    receiver: str
    took: float
    number: int


class ComparedClock(NamedTuple):
    """The clock of a conversation: `ahead` seconds of that of the first of its `group`, those that it is known by."""

    group: str
    ahead: float


def compared(passages: Iterable[Passage]) -> dict[str, ComparedClock]:
    """The clocks of all conversations that anything passed between, each by way of those that had most to do with it.

    What waited in queues makes a clock seem ahead by as much: good to tell one life of a task from another.
    """
    nexts: dict[str, list[tuple[int, str, float]]] = {}
    for sender, receiver, took, number in passages:
        nexts.setdefault(sender, []).append((-number, receiver, took))
        nexts.setdefault(receiver, []).append((-number, sender, -took))
    found: dict[str, ComparedClock] = {}
    for group in sorted(nexts):
        heap = [(0, group, 0.0)]
        while heap:
            _, conv, ahead = heappop(heap)
            if conv not in found:
                found[conv] = ComparedClock(group, ahead)
                for number, other, took in nexts[conv]:
                    heappush(heap, (number, other, ahead + took))
    return found


def offsets(fastest: Mapping[tuple[str, str], float], first: Iterable[str]) -> dict[str, float]:
    """Seconds by which the clock of each conversation is ahead of those of `first`, which are taken as right.

    `fastest`: by sender and receiver, the least of received minus sent, by their own clocks. What nothing reaches from
    `first` is left out.
    """
    found = dict.fromkeys(first, 0.0)
    nexts: dict[str, list[tuple[str, float]]] = {}
    for (sender, receiver), least in sorted(fastest.items()):
        nexts.setdefault(sender, []).append((receiver, least))
    queue = deque(found)
    while queue:
        sender = queue.popleft()
        for receiver, least in nexts.get(sender, ()):
            if receiver not in found:
                found[receiver] = found[sender] + least
                queue.append(receiver)
    return found
