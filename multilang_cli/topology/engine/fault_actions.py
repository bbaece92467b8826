"""Actions on a running topology, for faults and for tests. Never from within a listener: see `soon`."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from multilang_cli.topology.engine.sides import BoltTask
from multilang_cli.topology.history import Died, Launched

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.topology.engine.engine import Engine


class FaultActions:
    """Faults that can be injected into a running topology. Holds end with ``hold=False`` or with the death of the task.

    All but `kill_worker` take a task's id, and do nothing where it is dead at the moment. The judge is told of what
    ends a process, so that no component is blamed for it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def kill_worker(self, number: int, why: str) -> None:
        """Kill all the processes of a worker, with all that it holds; it is started again."""
        self._engine.kill_worker(self._engine.workers[number], why, deliberate=True)

    def kill_task(self, task: int, why: str) -> None:
        """Kill one process: its worker dies of that."""
        side = self._engine.sides.get(task)
        if side is not None:
            side.sent(signal.SIGKILL, why)
            self.kill_worker(self._engine.setup.layout.workers[task], f"{side.name}: {why}")

    def kill_acker(self, task: int, why: str) -> None:
        """Let an acker die alone, with its records and its queue; it is there again at once."""
        engine = self._engine
        number = engine.setup.layout.workers[task]
        if task in engine.flow.up:
            engine.flow.drop([task])
            engine.tell(Died(t=engine.flow.t, worker=number, task=task, why=why))
            name, attempt = engine.setup.layout.components[task], engine.workers[number].attempt
            engine.tell(Launched(t=engine.flow.t, task=task, component=name, worker=number, attempt=attempt))
            engine.flow.up.add(task)

    def hold_acker(self, task: int, *, hold: bool) -> None:
        """Have an acker take nothing from its queue, or go on."""
        if hold:
            self._engine.flow.ackers[task].held = True
        else:
            self._engine.flow.release_acker(task)

    def pause(self, task: int, *, hold: bool) -> None:
        """Stop a process (SIGSTOP), or let it go on."""
        if (side := self._engine.sides.get(task)) is not None:
            side.session.process.signal(signal.SIGSTOP if hold else signal.SIGCONT)

    def hold_input(self, task: int, *, hold: bool) -> None:
        """Write nothing to a process, or go on."""
        if (side := self._engine.sides.get(task)) is not None:
            side.holds_input = hold
            side.say_on()
            self._engine.watch(side)

    def hold_output(self, task: int, *, hold: bool) -> None:
        """Read nothing of a process's stdout, or go on."""
        if (side := self._engine.sides.get(task)) is not None:
            side.holds_output = hold
            self._engine.watch(side)

    def cut_off(self, task: int) -> None:
        """Hear nothing more of what a process says, not even of what was read already. Also from within a listener."""
        if (side := self._engine.sides.get(task)) is not None:
            side.session.pump.handlers = {}

    def time_out(self, task: int) -> None:
        """Have all that a spout's executor waits for time out, as if its message timeouts had passed."""
        executor = self._engine.flow.spouts[task]
        while executor.pending.waiting:
            self._engine.flow.rotate(executor)

    def hold_heartbeats(self, task: int, *, hold: bool) -> None:
        """Send a bolt no heartbeats, or go on."""
        if isinstance(side := self._engine.sides.get(task), BoltTask):
            side.holds_heartbeats = hold

    def alter(self, task: int, change: Callable[[bytes], bytes] | None) -> None:
        """Have what a process says changed before Storm sees it, as it is read: any piece of its stdout; None ends it.

        The judge takes it for the component's own words.
        """
        if (side := self._engine.sides.get(task)) is not None:
            side.session.pump.alter = change

    def repeat(self, task: int) -> int:
        """Deliver the tuple once more that a bolt's task was sent last, queued or open; its number, or 0."""
        flow = self._engine.flow
        if queue := flow.queues[task]:
            return flow.repeat(queue[-1])
        held = flow.open[task]
        return flow.repeat(held[next(reversed(held))]) if held else 0
