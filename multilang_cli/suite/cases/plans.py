"""Demands of a case on a library's testee, looked at before it is played: the streams on which it is to emit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.asked import TOLD, plan_of, spout_plan_of
from multilang_cli.protocol.words.messages import DEFAULT_STREAM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.subject.profiles import StreamTasks
    from multilang_cli.suite.cases.case import Case


def streams_of(case: Case) -> StreamTasks:
    """The streams of a case's plans, the usual one, and that on which a testee tells what its user's code sees.

    A real topology declares the streams of its components. So does ours, and an emit elsewhere shows as what it is.
    """
    found: dict[str, set[int | None]] = {DEFAULT_STREAM: set(), TOLD: {None}}
    for action in _actions(case):
        if action["do"] == "emit":
            task = action.get("task")
            found.setdefault(action.get("stream", DEFAULT_STREAM), set()).add(task if isinstance(task, int) else None)
    return {
        stream: frozenset(() if None in tasks else (task for task in tasks if task is not None))
        for stream, tasks in found.items()
    }


def _actions(case: Case) -> Iterator[dict[str, Any]]:
    for operation, arguments in case.steps:
        if operation == "plan":
            yield from plan_of([arguments["do"]]) or ()
        elif operation == "handshake":
            plan = spout_plan_of(arguments.get("conf", {})) or {}
            for lists in plan.values():
                for each in lists:
                    yield from each if isinstance(each, list) else (each,)
