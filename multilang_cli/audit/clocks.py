"""Differences between the clocks of workers, estimated from what passed between their tasks. Pure.

A tuple can't be received before it is sent. Between two tasks, the one that was fastest took about no time: what is
left is the difference of the clocks, give or take a few milliseconds of an idle queue.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
