"""Conversations made up for the tests of replay: what a bolt says to numbered tuples, in any order that is allowed."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from multilang_cli.protocol.words.events import End, Event
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Handshake, Pid, Sync, TupleMsg

ONE = st.lists(st.sampled_from(["a", "b", 1, 2, None]), min_size=1, max_size=2)


class Work(NamedTuple):
    """What a bolt does with one tuple: the values it emits for it, and how it settles it."""

    emits: list[list[Any]]
    settle: str


WORKS = st.lists(
    st.builds(Work, st.lists(ONE, max_size=3), st.sampled_from(["ack", "fail", ""])), min_size=1, max_size=6
)


def events_of(messages: list[tuple[str, Any]]) -> list[Event]:
    """Messages as events, a second apart; the end is long after the last word."""
    events = [
        Event(seq, float(seq), "in" if way == "in" else "out", body, b"x\nend\n")
        for seq, (way, body) in enumerate(messages)
    ]
    return [*events, Event(len(events), len(events) + 9.0, "control", End())]


def talk(works: list[Work], seed: int = 0, ids: str = "id") -> list[Event]:
    """All tuples at once; the answers in an order drawn by `seed`: only what is for one tuple keeps its order."""
    draw = random.Random(seed)  # noqa: S311 (an order needs no secrecy)
    lanes: list[list[tuple[str, Any]]] = []
    for number, work in enumerate(works):
        id_ = f"{ids}{number}"
        lane: list[tuple[str, Any]] = [("out", Emit(values, anchors=(id_,))) for values in work.emits]
        draw.shuffle(lane)
        lane += [("out", Ack(id_) if work.settle == "ack" else Fail(id_))] if work.settle else []
        lanes.append(lane)
    told = [("in", TupleMsg("source", [n], 2, "default", f"{ids}{n}")) for n in range(len(works))]
    said: list[tuple[str, Any]] = [("in", Handshake({}, "/pids", {})), ("out", Pid(7)), *told]
    while lanes := [lane for lane in lanes if lane]:
        said.append(draw.choice(lanes).pop(0))
    beat = TupleMsg(None, [], -1, "__heartbeat", f"{ids}beat")
    return events_of([*said, ("in", beat), ("out", Sync())])
