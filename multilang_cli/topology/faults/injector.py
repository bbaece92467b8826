"""Carries out a plan of faults on a running topology: each strikes at its delivery, and is healed in its time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.words.messages import Ack, SpoutCommand, TupleMsg
from multilang_cli.topology.engine.fault_actions import FaultActions
from multilang_cli.topology.engine.sides import BoltTask
from multilang_cli.topology.faults.kinds import KINDS
from multilang_cli.topology.faults.moments import Moments
from multilang_cli.topology.faults.plan import Fault
from multilang_cli.topology.history import Delivered, Faulted, Launched, PhaseBegun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.topology.engine.engine import Engine
    from multilang_cli.topology.faults.moments import Moment
    from multilang_cli.topology.history import Happening

WHY = "the fault {} ends it"
SLOW_RUNS_FOR = 0.02
"""Seconds for which a slow process runs, and then four times as long does not."""
CUT_AT = 9
"""Bytes of a half message that come first."""
LEFT_ALIVE = 0.05
"""Seconds that a component in a restart storm is left alive."""
MESSAGE_COMES = 3.0
"""Seconds within which even an idle component says something: it is sent a heartbeat a second."""
_CUTS = frozenset({"kill", "mute", "restart-storm"})
"""Faults of which a task dies: nothing is heard of it from their moment on."""
_HELD: dict[str, Callable[..., None]] = {
    "pause": FaultActions.pause,
    "stall-stdin": FaultActions.hold_input,
    "stall-stdout": FaultActions.hold_output,
    "drop-heartbeats": FaultActions.hold_heartbeats,
    "stall-acker": FaultActions.hold_acker,
}
"""Faults that last until what they hold is let go."""
GARBAGE = b"this is no JSON\nend\n"
_END = b"\nend\n"


class Injector:
    """A listener of the engine. `spared`: how many findings of a side are its own: later ones come of a fault."""

    def __init__(self, engine: Engine, plan: Sequence[Fault]) -> None:
        self.spared: dict[object, int] = {}
        self._engine = engine
        self._actions = FaultActions(engine)
        self._waiting = dict(enumerate(plan))
        self._moments = Moments() if any(each.moment for each in plan) else None
        self._lasting: dict[int, tuple[Fault, Callable[[], object]]] = {}
        self._storms: dict[int, list[_Storm]] = {}
        self._muted: set[int] = set()
        self._healed = not plan

    def __call__(self, event: Happening) -> None:
        """See whether it is time for something."""
        if self._moments is not None:
            for moment in self._moments.take(event):
                self._reached(moment)
        if isinstance(event, Delivered):
            for number, fault in self._waiting.items():
                if not fault.moment and event.n >= fault.at and (fault.kind != "duplicate" or event.task == fault.task):
                    self._engine.soon(partial(self._strike, number))
        elif isinstance(event, Launched) and event.task in self._storms:
            self._engine.soon(partial(self._storm_on, event.task))
        elif isinstance(event, PhaseBegun) and event.name == "drain":
            self._engine.soon(self._heal_all)

    # --- striking -------------------------------------------------------------------------------------------------

    def _reached(self, moment: Moment) -> None:
        """A task did something for so many times. What it said behind that is not heard, if it is to die of it."""
        for number, fault in self._waiting.items():
            if (fault.task, fault.moment) == (moment.task, moment.what) and moment.nth >= fault.at:
                if fault.kind in _CUTS and self._engine.phase == "run":
                    self._actions.cut_off(moment.task)
                self._engine.soon(partial(self._strike, number))

    def _strike(self, number: int) -> None:
        fault = self._waiting.get(number)
        if fault is None or self._engine.phase != "run" or not self._there(fault):
            return
        del self._waiting[number]
        self._tell(number, fault, "strikes")
        if KINDS[fault.kind].blames and fault.task is not None:
            side = self._engine.sides[fault.task]
            self.spared.setdefault(side, len(side.session.findings))
        heal = _ACTIONS[fault.kind](self, number, fault)
        if KINDS[fault.kind].lasts and heal is not None:
            self._engine.busy.add(f"fault {number}")
            self._lasting[number] = (fault, heal)
            self._engine.agenda.at(self._engine.now + fault.parameter, partial(self._heal, number))
        elif number not in self._muted and fault.kind != "restart-storm":
            self._over()

    def _there(self, fault: Fault) -> bool:
        """Tell if the target of a fault is there, and ready."""
        engine = self._engine
        if fault.task is None:
            return engine.workers[fault.worker].up
        if fault.kind == "duplicate" and not (engine.flow.queues[fault.task] or engine.flow.open[fault.task]):
            return False
        side = engine.sides.get(fault.task)
        return fault.task in engine.flow.ackers or (side is not None and side.ready)

    def _kill(self, _: int, fault: Fault) -> None:
        why = WHY.format(fault)
        if fault.task is None:
            self._actions.kill_worker(fault.worker, why)
        elif fault.task in self._engine.flow.ackers:
            self._actions.kill_acker(fault.task, why)
        else:
            self._actions.kill_task(fault.task, why)

    def _hold(self, _: int, fault: Fault) -> Callable[[], object]:
        hold = partial(_HELD[fault.kind], self._actions, _task(fault))
        hold(hold=True)
        return partial(hold, hold=False)

    def _slow(self, number: int, fault: Fault) -> Callable[[], object]:
        task, agenda, engine = _task(fault), self._engine.agenda, self._engine

        def stop() -> None:
            """Hold the task for most of a slice of time, unless the fault is over."""
            if number in self._lasting:
                self._actions.pause(task, hold=True)
                agenda.at(engine.now + 4 * SLOW_RUNS_FOR, go)

        def go() -> None:
            """Let the task run for the rest."""
            self._actions.pause(task, hold=False)
            agenda.at(engine.now + SLOW_RUNS_FOR, stop)

        self._engine.soon(stop)
        return partial(self._actions.pause, task, hold=False)

    def _half(self, _: int, fault: Fault) -> None:
        side = self._engine.sides[_task(fault)]
        side.session.pump.stdin.pieces.cut(TupleMsg if isinstance(side, BoltTask) else SpoutCommand, CUT_AT)

    def _awaited(self, number: int) -> Callable[[], object]:
        """Have the run go on until what is given is called: a fault that waits for a message may come upon the last."""
        name, engine = f"fault {number}", self._engine
        engine.busy.add(name)
        done = partial(engine.busy.discard, name)
        engine.agenda.at(engine.now + MESSAGE_COMES, done)
        return done

    def _torn(self, number: int, fault: Fault) -> None:
        task, why, done = _task(fault), WHY.format(fault), self._awaited(number)

        def tear(data: bytes) -> bytes:
            """Half of what was to be written; the task is killed behind it."""
            done()
            self._engine.soon(partial(self._actions.kill_task, task, why))
            return data[: max(1, len(data) // 2)]

        self._actions.alter(task, tear)

    def _garbage(self, number: int, fault: Fault) -> None:
        task, done = _task(fault), self._awaited(number)

        def garble(data: bytes) -> bytes:
            """The same bytes with garbage behind the first message; once."""
            head, end, rest = data.partition(_END)
            if not end:
                return data
            self._actions.alter(task, None)
            done()
            return head + end + GARBAGE + rest

        self._actions.alter(task, garble)

    def _late(self, _: int, fault: Fault) -> Callable[[], object]:
        session, agenda = self._engine.sides[_task(fault)].session, self._engine.agenda
        before = session.pump.handlers
        heard = before[Ack]

        def later(message: Ack, size: int) -> None:
            """Hear an ack when the delay is over."""
            agenda.at(self._engine.now + fault.parameter, partial(heard, message, size))

        session.pump.handlers = delayed = {**before, Ack: later}

        def end() -> None:
            """Hear acks at once again, unless it is not heard at all."""
            if session.pump.handlers is delayed:
                session.pump.handlers = before

        return end

    def _mute(self, number: int, fault: Fault) -> None:
        """Have a task unheard, and killed when the others have had time to go on without it."""
        task, name, engine = _task(fault), f"fault {number}", self._engine
        side = engine.sides[task]
        self._actions.cut_off(task)
        engine.busy.add(name)
        self._muted.add(number)

        def end() -> None:
            """It dies, unless it did already."""
            engine.busy.discard(name)
            self._muted.discard(number)
            if engine.sides.get(task) is side:
                self._actions.kill_task(task, WHY.format(fault))
            self._over()

        engine.agenda.at(engine.now + fault.parameter, end)

    def _time_out(self, _: int, fault: Fault) -> None:
        self._actions.time_out(_task(fault))

    def _repeat(self, _: int, fault: Fault) -> None:
        self._actions.repeat(_task(fault))

    def _storm(self, number: int, fault: Fault) -> None:
        """Begin to kill a task again and again; where that goes on already, afterwards."""
        self._engine.busy.add(f"fault {number}")
        storms = self._storms.setdefault(_task(fault), [])
        storms.append(_Storm(number, fault, int(fault.parameter)))
        if len(storms) == 1:
            self._storm_on(_task(fault))

    def _storm_on(self, task: int) -> None:
        storms = self._storms[task]
        while storms:
            storm = storms[0]
            if storm.left and self._engine.phase == "run":
                storm.left -= 1
                again = partial(self._actions.kill_task, task, WHY.format(storm.fault))
                self._engine.agenda.at(self._engine.now + LEFT_ALIVE, again)
                return
            storms.pop(0)
            self._engine.busy.discard(f"fault {storm.number}")
            self._tell(storm.number, storm.fault, "heals")
        del self._storms[task]
        self._over()

    # --- healing --------------------------------------------------------------------------------------------------

    def _heal(self, number: int) -> None:
        if number in self._lasting:
            fault, heal = self._lasting.pop(number)
            heal()
            self._tell(number, fault, "heals")
            self._engine.busy.discard(f"fault {number}")
            self._over()

    def _heal_all(self) -> None:
        for number in tuple(self._lasting):
            self._heal(number)

    def _over(self) -> None:
        """All is healed as soon as nothing is to strike and nothing lasts."""
        if not (self._healed or self._waiting or self._lasting or self._storms or self._muted):
            self._healed = True
            self._engine.tell(PhaseBegun(t=self._engine.flow.t, name="heal"))

    def _tell(self, number: int, fault: Fault, phase: str) -> None:
        self._engine.tell(
            Faulted(
                t=self._engine.flow.t,
                plan=number,
                fault=str(fault),
                phase="strikes" if phase == "strikes" else "heals",
                task=fault.task,
            )
        )


class _Storm(msgspec.Struct):
    """A restart storm of the plan, and how often it is to kill its task still."""

    number: int
    fault: Fault
    left: int


def _task(fault: Fault) -> int:
    assert fault.task is not None  # noqa: S101 (only workers are killed as such)
    return fault.task


_ACTIONS: dict[str, Callable[[Injector, int, Fault], Callable[[], object] | None]] = {
    "kill": Injector._kill,  # noqa: SLF001 (its own)
    **dict.fromkeys(_HELD, Injector._hold),  # noqa: SLF001
    "slow": Injector._slow,  # noqa: SLF001
    "half-message": Injector._half,  # noqa: SLF001
    "torn-message": Injector._torn,  # noqa: SLF001
    "garbage-line": Injector._garbage,  # noqa: SLF001
    "late-acks": Injector._late,  # noqa: SLF001
    "duplicate": Injector._repeat,  # noqa: SLF001
    "restart-storm": Injector._storm,  # noqa: SLF001
    "mute": Injector._mute,  # noqa: SLF001
    "time-out": Injector._time_out,  # noqa: SLF001
}
