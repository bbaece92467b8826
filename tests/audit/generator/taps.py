"""Made roots as taps would have recorded them: a transcript for each life of each task. No root ids, as in real Storm.

Clocks of workers may be apart, and task ids may be asked for or not. A worker that dies ends its tasks' conversations.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.words.verdicts import Profile
from multilang_cli.transcript.format import Counts, EndLine, Header, encode, header_line
from tests.audit.generator.damage import Damage, damaged
from tests.audit.generator.trees import TAPPED_AFTER, make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.audit.generator.trees import Made, TreesPlan

BEGAN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
RESTART = 1.0
"""Seconds until the tasks of a worker that died are there again."""


class Taps(msgspec.Struct, frozen=True, kw_only=True):
    """Recording settings. `skew`: by worker, seconds by which its clock is ahead. `asks`: emits ask for task ids.

    `steps`: by worker, seconds by which its clock is set forward each time that the worker dies. `damage`: what becomes
    of the files. `day`: on which it ran, counted from 0; conversations of all others are named by it.
    """

    skew: Mapping[int, float] = {}
    steps: Mapping[int, float] = {}
    asks: bool = True
    damage: Damage = Damage()
    day: int = 0


class _Said(NamedTuple):
    """A message on the pipe of a task at `t`, in the order of `turn` within it."""

    t: float
    turn: int
    task: int
    ch: str
    msg: Any


def transcripts(plan: TreesPlan, taps: Taps | None = None) -> dict[str, bytes]:
    """The files by their names."""
    taps = taps or Taps()
    turns = count()
    said = sorted(each for number in range(plan.roots) for each in _of_root(make(plan, number), taps, turns))
    by_task: dict[int, list[_Said]] = {task: [] for task in (*plan.spouts, *plan.splits, *plan.counts)}
    for each in said:
        by_task[each.task].append(each)
    files: dict[str, tuple[int, bytes]] = {}
    for task, messages in by_task.items():
        for life, (start, end) in enumerate(_lives(plan, task), start=1):
            conv = f"{plan.component(task)}-{task}-{life}" + (f"-day{taps.day}" if taps.day else "")
            mine = [each for each in messages if start <= each.t < end]
            ahead = taps.steps.get(plan.worker(task), 0.0) * (life - 1)
            header = _header(plan, taps, task, conv, start + ahead)
            files[f"{conv}.ndjson"] = (task, _file(header, start, mine, end))
    return damaged(files, taps.damage)


def _lives(plan: TreesPlan, task: int) -> list[tuple[float, float]]:
    deaths = sorted(t for t, worker in plan.restarts if worker == plan.worker(task))
    return list(zip([0.0, *deaths], [*deaths, float("inf")], strict=True))


def _header(plan: TreesPlan, taps: Taps, task: int, conv: str, start: float) -> Header:
    component, worker = plan.component(task), plan.worker(task)
    profile = Profile(kind="spout" if task in plan.spouts else "bolt", component=component, task=task)
    began = BEGAN + timedelta(days=taps.day, seconds=start + taps.skew.get(worker, 0.0))
    return Header(
        conv=conv, profile=profile, storm="2.8.3", component=component, task=task, topology="made",
        worker=str(worker), host=f"host-{worker}", started_at=began.isoformat(timespec="microseconds"),
    )  # fmt: skip


def _file(header: Header, start: float, messages: list[_Said], end: float) -> bytes:
    lines = [header_line(header)]
    context: dict[str, Any] = {"taskid": header.task, "componentid": header.component, "task->component": {}}
    shake = {"conf": {}, "pidDir": "pids", "context": context}
    opening = [_Said(start, -1, 0, "in", shake), _Said(start, -1, 0, "out", {"pid": 1000})]
    messages = opening + messages
    for seq, each in enumerate(messages):
        line = {"conv": header.conv, "seq": seq, "t": round(each.t - start, 6), "ch": each.ch, "msg": each.msg}
        lines.append(encode(line) + b"\n")
    if end == float("inf"):
        lines.append(encode(EndLine(header.conv, Counts(events={"in": len(messages)}))) + b"\n")
    else:
        line = {"conv": header.conv, "seq": len(messages), "t": end - start, "ch": "process"}
        lines.append(encode({**line, "msg": {"event": "exited", "signal": 9}}) + b"\n")
    return b"".join(lines)


def _of_root(made: Made, taps: Taps, turns: Iterator[int]) -> Iterator[_Said]:
    yield _Said(made.emitted, next(turns), made.task, "in", {"command": "next"})
    yield from _emits(made, taps, None, turns)
    yield _Said(made.emitted, next(turns), made.task, "out", {"command": "sync"})
    for place, node in enumerate(made.nodes):
        if node.arrived is None or (node.lost is not None and node.lost <= node.made + TAPPED_AFTER):
            # Its receiver died before it came: the next life never sees it.
            continue
        comp = "source" if node.parent is None else "split"
        message = {"id": node.id, "comp": comp, "stream": "default", "task": node.source, "tuple": node.values}
        yield _Said(node.made + TAPPED_AFTER, next(turns), node.target, "in", message)
        yield from _emits(made, taps, place, turns)
        for t, how in node.settles:
            yield _Said(t, next(turns), node.target, "out", {"command": how, "id": node.id})
    if made.outcome is not None:
        t, how = made.outcome
        command = {"command": "ack" if how == "acked" else "fail", "id": made.number}
        yield _Said(t, next(turns), made.task, "in", command)
        yield _Said(t, next(turns), made.task, "out", {"command": "sync"})


def _emits(made: Made, taps: Taps, place: int | None, turns: Iterator[int]) -> Iterator[_Said]:
    """Emissions anchored to a tuple, or the spout's own."""
    for node in made.nodes:
        if node.parent != place:
            continue
        message: dict[str, Any] = {"command": "emit", "tuple": node.values, "need_task_ids": taps.asks}
        if place is None:
            message["id"] = made.number
        else:
            message["anchors"] = [made.nodes[place].id]
        yield _Said(node.made, next(turns), node.source, "out", message)
        if taps.asks:
            yield _Said(node.made, next(turns), node.source, "in", [node.target])
