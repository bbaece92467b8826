"""The loop of a spout. Storm asks, the spout answers, and ``sync`` ends the answer: exactly one for each command.

class Numbers(Spout):
    def next_tuple(self):
        self.emit([42], id="42")

Numbers().run()
"""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING

from multilang_cli.component.base import WARN, ShellComponent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.component.wire import Json

IDLE_SECONDS = 0.01
"""How long to sleep in `Spout.next_tuple` when there is nothing to emit: Storm itself may not pause between calls."""


class Spout(ShellComponent):
    """A spout. Each method that Storm calls may emit; what it raises is reported, and the spout goes on."""

    def next_tuple(self) -> None:
        """Emit a tuple or a few, or call `idle` if there is none; return soon, for Storm waits."""
        raise NotImplementedError

    def ack(self, id: Json) -> None:  # noqa: A002 - Storm's own word
        """Forget the tuple emitted with this id: it was processed to its end. `id` has the type it was emitted with."""

    def fail(self, id: Json) -> None:  # noqa: A002 - Storm's own word
        """Emit the tuple of this id again, or give it up: it failed, or was not processed in time."""

    def activate(self) -> None:
        """Start or go on: `next_tuple` will be called (since Storm 1.1)."""

    def deactivate(self) -> None:
        """Pause: `next_tuple` will not be called until `activate`; acks and fails still come (since Storm 1.1)."""

    def idle(self) -> None:
        """Sleep a short while: call it from `next_tuple` when there is nothing to emit."""
        time.sleep(IDLE_SECONDS)

    def emit(
        self,
        values: list[Json],
        id: str | float | None = None,  # noqa: A002 - Storm's own word
        stream: str | None = None,
        direct_task: int | None = None,
        *,
        need_task_ids: bool = False,
    ) -> list[int] | None:
        """Send a tuple out; return the tasks that get it, or None if that was not asked for.

        With an `id` Storm tells its fate by `ack` or `fail`; without one it is never replayed.
        """
        need_task_ids = need_task_ids and direct_task is None
        message: dict[str, Json] = {"command": "emit", "tuple": list(values), "need_task_ids": need_task_ids}
        if id is not None:
            message["id"] = id
        if stream is not None:
            message["stream"] = stream
        if direct_task is not None:
            message["task"] = direct_task
        self._write(message)
        return self._await_task_ids() if need_task_ids else None

    def emit_all(self, tuples: Iterable[tuple[list[Json], str | None]], stream: str | None = None) -> None:
        """Send tuples out, each with its id or None, all in one go with the ``sync``: faster than one by one."""
        for values, message_id in tuples:
            message: dict[str, Json] = {"command": "emit", "tuple": values, "need_task_ids": False}
            if message_id is not None:
                message["id"] = message_id
            if stream is not None:
                message["stream"] = stream
            self._write(message, more=True)

    def _await_task_ids(self) -> list[int]:
        # Without ackers Storm calls ack from within the emit and waits for its sync before it writes the task ids.
        while True:
            message = self._read()
            if isinstance(message, list):
                return message
            self._answer(message)

    def _turn(self) -> None:
        message = self._read()
        if not isinstance(message, list):  # task ids that nobody asked for: a Storm before 0.9.0 sends them always
            self._answer(message)

    def _answer(self, message: dict[str, Json]) -> None:
        try:
            self._dispatch(message["command"], message.get("id"))
        except Exception:  # noqa: BLE001 - whatever a user's code raises, Storm waits for the sync
            self.report_error(traceback.format_exc())
        self._sync()

    def _dispatch(self, command: str, message_id: Json) -> None:
        match command:
            case "next":
                self.next_tuple()
            case "ack":
                self.ack(message_id)
            case "fail":
                self.fail(message_id)
            case "activate":
                self.activate()
            case "deactivate":
                self.deactivate()
            case _:
                self.log(f"unknown command: {command}", WARN)
