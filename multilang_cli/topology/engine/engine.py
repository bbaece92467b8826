"""Runs a topology: one event loop over the processes of all tasks, with the clock and the randomness of the run.

What is done is decided in ``flow`` and ``spout_executor``, which are pure; here messages are carried and time passes.
"""

from __future__ import annotations

import random
import time
from functools import partial
from typing import TYPE_CHECKING

from multilang_cli.driver.pipes import TO_READ
from multilang_cli.driver.process_selector import ProcessSelector
from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.topology.ackers import acker_of, rotations
from multilang_cli.topology.engine.acker_task import AckerTask
from multilang_cli.topology.engine.agenda import Agenda
from multilang_cli.topology.engine.ending import Ending
from multilang_cli.topology.engine.flow import Flow
from multilang_cli.topology.engine.setup import RECEIVE_BUFFER, SPOUT_SLEEP, Setup
from multilang_cli.topology.engine.sides import BoltTask, SpoutTask
from multilang_cli.topology.engine.spout_executor import SpoutExecutor
from multilang_cli.topology.engine.wiring import TIMER, downstream, outgoing_of
from multilang_cli.topology.engine.workers import Worker, launches_of
from multilang_cli.topology.tasks import MAX_SPOUT_PENDING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from multilang_cli.driver.pipes import Ready
    from multilang_cli.topology.engine.ending import PhaseName, RunOutcome
    from multilang_cli.topology.engine.spout_executor import SpoutTaskCommand
    from multilang_cli.topology.history import Happening

END_LOOKS_EVERY = 0.05
"""Seconds between two looks at whether the run is over, and the longest wait."""
RESTART_AFTER = 0.1
"""Seconds after which a worker that died is started again, the first time; twice as long each time, up to a limit."""
RESTART_AT_MOST = 3.0
TURNS = 32
"""Commands that a spout is told in one round while it answers at once: then bolts are given many tuples together."""
GATHERING = 0.003
"""Seconds after which a round of such commands ends: the bolts wait meanwhile."""
ANSWERED_AT_ONCE = 0.0003
"""Seconds within which an answer comes at once."""
CONVERSING = 0.008
"""Seconds for which bolts that wait for task ids are preferred to all others, while they go on."""
SAYS_MORE = 0.001
"""Seconds within which a bolt that was given task ids says more, while others wait."""
END_WAIT = 2.0
"""Seconds that processes are given to end."""


class Engine:
    """One run of a topology. `listeners` are told each event of the history; if `acting` at once, and may act (`soon`).

    `keep`: given all events of a round together, in their order, at its end: for whoever writes them down.
    `workers`: by number. `flow`: the tuples. `agenda`: what is done by the clock, for whoever wants more done.
    `sides`: Storm's sides of the tasks that are processes, while they live. `busy`: reasons not to end the run yet,
    though the sources are exhausted.
    """

    def __init__(
        self, setup: Setup, listeners: Sequence[Callable[[Happening], object]] = (), *, acting: bool = True
    ) -> None:
        self.setup = setup
        self.random = random.Random(setup.seed)  # noqa: S311 (a run is to be repeatable)
        self.agenda = Agenda()
        self.busy: set[str] = set()
        self.keep: Callable[[Sequence[Happening]], object] = len
        self._happened: list[Happening] = []
        self._listeners = listeners
        self._acting = acting
        self._start = time.monotonic()
        self._together: ProcessSelector[BoltTask | SpoutTask] = ProcessSelector()
        self._asking: ProcessSelector[BoltTask | SpoutTask] = ProcessSelector(looks=True)
        self._heard: set[BoltTask | SpoutTask] = set()
        self._soon: list[Callable[[], object]] = []
        self._silent = ""
        layout = setup.layout
        self._executors: list[SpoutExecutor] = []
        spouts: dict[int, SpoutExecutor] = {}
        for each in layout.executors:
            component = setup.topology.components.get(each.component)
            if component is not None and component.kind == "spout":
                limit = int(setup.setting(each.tasks[0], MAX_SPOUT_PENDING))
                sleep = setup.setting(each.tasks[0], SPOUT_SLEEP) / 1000 or 0.001
                executor = SpoutExecutor(each.tasks, limit, sleep, rotations(setup.version.id, each.tasks))
                self._executors.append(executor)
                spouts |= dict.fromkeys(each.tasks, executor)
        self.flow = Flow(
            layout.components,
            outgoing_of(setup.topology, layout, setup.version, self.random, setup.custom),
            spouts,
            [AckerTask(task, partial(acker_of, setup.version.id, setup.conf, setup.late)) for task in layout.ackers],
            random=self.random,
            tell=self.tell,
            capacity=int(setup.conf.get(RECEIVE_BUFFER) or 1024),
            java=setup.java_values,
        )
        launches = launches_of(setup)
        numbers = sorted(set(layout.workers.values()))
        self.workers = {number: Worker(number, setup, self.flow, launches, self.tell) for number in numbers}
        self.sides: dict[int, BoltTask | SpoutTask] = {}
        self._held_by = downstream(setup.topology, layout)
        self._ending = Ending(
            setup.goal,
            setup.message_timeout,
            self.flow,
            self._executors,
            busy=self.busy,
            everybody=self._everybody,
            tell=self.tell,
        )

    @property
    def phase(self) -> PhaseName:
        """Phase of the run: `start` until all tasks said their pid, `drain` once spouts are deactivated."""
        return self._ending.phase

    def _everybody(self) -> bool:
        return all(worker.up for worker in self.workers.values())

    @property
    def now(self) -> float:
        """Seconds since the run began, to the microsecond."""
        return round(time.monotonic() - self._start, 6)

    def tell(self, event: Happening) -> None:
        """An event of the history."""
        self._happened.append(event)
        for listener in self._listeners:
            listener(event)

    def soon(self, do: Callable[[], object]) -> None:
        """Have something done as soon as what is being done now is done: for listeners, who may change nothing."""
        self._soon.append(do)

    # --- the run --------------------------------------------------------------------------------------------------

    def run(self) -> RunOutcome:
        """Start everything, run until the goal is reached, drain, end everything. Raises LaunchError, OSError."""
        interrupted = False
        self.flow.watched = self._acting
        if not self._listeners:
            self.flow.tell = self._happened.append
        try:
            for worker in self.workers.values():
                self._begin(worker)
            self._plan()
            while self.phase != "end":
                self._round()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self._stop(END_WAIT if not interrupted else 0.5)
            self._give_happened()
        gave_up = any(each.deaths > self.setup.restarts for each in self.workers.values())
        return self._ending.outcome(self._silent, gave_up=gave_up, interrupted=interrupted)

    def _begin(self, worker: Worker) -> None:
        self.flow.t = self.now
        for side in worker.start():
            self.sides[side.task] = side
            side.say_on()
            self.watch(side)
            self.agenda.every(TIMER, self.now, partial(self._look_at, side))
            self.agenda.at(self.now + side.profile.limits["pid"], partial(self._expect_pid, side))

    def _plan(self) -> None:
        """Put on the agenda what happens by the clock, from the start on."""
        period, t = self.setup.message_timeout, self.now
        if period:
            for executor in self._executors:
                self.agenda.every(period, t, partial(self.flow.rotate, executor))
            for task in self.flow.ackers:
                self.agenda.every(period, t, partial(self.flow.rotate_acker, task))
        for task, name in self.setup.layout.components.items():
            component = self.setup.topology.components.get(name)
            seconds = self.setup.setting(task, TICK_FREQUENCY)
            if component is not None and component.kind == "bolt" and seconds:
                self.agenda.every(seconds, t, partial(self.flow.tick, task, int(seconds)))
        self.agenda.every(END_LOOKS_EVERY, t, self._ending.look)

    def watch(self, side: BoltTask | SpoutTask) -> None:
        """Wait for what a side waits for: to be called after whatever may have changed that."""
        side.watched = side.blocked
        write = side.blocked and not side.holds_input
        self._together.watch(side, side.session.process, write=write, read=not side.holds_output)

    def _round(self) -> None:
        """Wait for something, take it in, do what follows from it; then all that is to be said is said at once.

        Each write wakes a process, which costs more than what is written.
        """
        flow = self.flow
        self._heard.clear()
        self._hear(self._together.wait(self._patience()))
        flow.catch_up()
        self.agenda.run(flow.t)
        self._do_what_is_due()
        flow.run_ackers()
        self._ask_spouts()
        self._do_what_is_due()
        self._answer()
        if flow.dirty:
            self._feed_bolts()
        self._say_on()
        if self._answers:
            self._converse_with_askers()
        self._ending.check_messages()
        if self._happened:
            self._give_happened()

    def _hear(self, waited: Sequence[tuple[BoltTask | SpoutTask, Ready]], *, conversing: bool = False) -> None:
        """Take in what there is of each; who waits for task ids is answered at once.

        `conversing`: it is looked for them right after this.
        """
        self.flow.t = self.now
        for side, ready in waited:
            if ready is TO_READ and self._answers and self._hear_asked(side):
                continue
            self._heard.add(side)
            side.session.pump.hear(ready)
            if ready is not TO_READ:
                self._look_after(side)
            if not side.ready:
                self._became_ready(side)
            if side.death or not side.session.running:
                self._kill_worker_of(side)
            if not conversing:
                self._answer()

    def _say_on(self) -> None:
        """Write what there is to say to those that were heard or told something."""
        for side in self._heard:
            if self.sides.get(side.task) is side:
                side.say_on()
                if side.blocked is not side.watched:
                    self.watch(side)

    @property
    def _answers(self) -> bool:
        """True if bolts that wait for task ids are answered ahead of all else: nobody may act on what they say."""
        return bool(self.flow.ids_awaited) and not self.flow.watched

    def _answer(self) -> None:
        """Answer those that wait for task ids, in the midst of a round: meanwhile they can work."""
        if self._answers:
            waited = self._asking.wait(0.0)
            if any(ready is TO_READ and self._hear_asked(side) for side, ready in waited):
                self.flow.catch_up()
                self.flow.t = self.now

    def _hear_asked(self, side: BoltTask | SpoutTask) -> bool:
        """Answer a bolt that waits for task ids; False if it does not, and nothing was done."""
        if not side.hear_asked():
            return False
        self._follow_up(side)
        return True

    def _follow_up(self, side: BoltTask | SpoutTask) -> None:
        """Do what follows where it was not heard in its turn: it may be blocked now, or its worker have to die."""
        if side.session.pump.stdin.unwritten and not side.death:
            side.say_on()
        if side.blocked is not side.watched:
            self.watch(side)
        if side.death or not side.session.running:
            self._kill_worker_of(side)

    def _converse_with_askers(self) -> None:
        """Go on for a while with those alone that wait for an answer of ours again and again, task ids or a command.

        Meanwhile tuples for all others gather, and what those say: they are woken, and looked at, once for many.
        """
        flow = self.flow
        until = flow.t + CONVERSING
        self._know_who_asks()
        while flow.t <= until and not self._soon and any(map(flow.open.__getitem__, flow.ids_awaited)):
            waited = self._asking.wait(SAYS_MORE)
            if not waited:
                break
            self._heard.clear()
            self._hear(waited, conversing=True)
            if self._heard:
                self._ask_spouts()
                self._say_on()
        flow.catch_up()
        for task in tuple(flow.ids_awaited):
            self._take_put_off(task)

    def _take_put_off(self, task: int) -> None:
        if (side := self.sides.get(task)) is not None:
            side.session.pump.events.take_put_off()
            self._follow_up(side)

    def _know_who_asks(self) -> None:
        asking = self.flow.ids_awaited | self.flow.spouts.keys()
        for task, side in self.sides.items():
            if task not in asking:
                self._asking.forget(side)
            elif not side.holds_output:
                self._asking.watch(side, side.session.process, write=False)

    def _give_happened(self) -> None:
        # Taken out first: whoever interrupts the run now must not have it written twice.
        happened = self._happened[:]
        self._happened.clear()
        self.keep(happened)

    def _do_what_is_due(self) -> None:
        """Do what listeners asked for, before what they saw goes on: a tuple that they saw queued is queued still."""
        while self._soon:
            self._soon.pop(0)()

    def _look_after(self, side: BoltTask | SpoutTask) -> None:
        """It can be written to, or a pipe of its may have been closed."""
        if side.blocked:
            side.say_on()
        self.watch(side)

    def _patience(self) -> float:
        if self.flow.acking:
            return 0.0
        t = self.now
        wakes = t + END_LOOKS_EVERY
        if not self.flow.full:
            for each in self._executors:
                wakes = each.wakes(wakes)
        return self.agenda.left(t, max(0.0, wakes - t))

    def _became_ready(self, side: BoltTask | SpoutTask) -> None:
        """It may have said its pid: then it is there."""
        if side.session.judge.expecting_pid or not side.session.running:
            return
        side.ready = True
        side.session.check_pid(await_file=False)
        if isinstance(side, SpoutTask):
            self.flow.spouts[side.task].ready.add(side.task)
        if self.phase == "start" and all(each.ready for each in self.sides.values()):
            self._ending.go()

    def _ask_spouts(self) -> None:
        flow = self.flow
        for executor in self._executors:
            until = flow.t + GATHERING
            self._tell_outcomes(executor, until)
            for _ in range(TURNS):
                if executor.busy is not None or self._soon or flow.t > until:
                    break
                command = executor.next_command(flow.t, held_back=bool(flow.full))
                if command is None:
                    break
                side = self.sides[command.task]
                assert isinstance(side, SpoutTask)  # noqa: S101 (executors of spouts have spouts)
                self._heard.add(side)
                if self._is_waited_for(executor, side):
                    self._converse(executor, side, command)
                else:
                    side.command(command.what, command.id)

    def _is_waited_for(self, executor: SpoutExecutor, side: SpoutTask) -> bool:
        flow = self.flow
        return not (flow.ids_awaited or flow.t < executor.slow_until or side.holds_input or side.holds_output)

    def _tell_outcomes(self, executor: SpoutExecutor, until: float) -> None:
        """Tell acks and fails one after the other, where nobody may act on one of them, and the spout is quick."""
        flow = self.flow
        while not (flow.watched or flow.ids_awaited) and flow.t <= until and (commands := executor.next_outcomes()):
            side = self.sides[commands[0].task]
            assert isinstance(side, SpoutTask)  # noqa: S101 (executors of spouts have spouts)
            if not self._is_waited_for(executor, side):
                break
            self._heard.add(side)
            flow.t = self.now
            told = side.tell_outcomes(commands, ANSWERED_AT_ONCE, until - flow.t)
            flow.t = self.now
            if not told:
                break
            executor.answered(flow.t, at_once=executor.busy is None)
            if side.death or not side.session.running:
                self._kill_worker_of(side)

    def _converse(self, executor: SpoutExecutor, side: SpoutTask, command: SpoutTaskCommand) -> None:
        """Tell a spout something, and take its answer if that comes at once; else it has until the next rounds."""
        flow = self.flow
        flow.t = began = self.now
        side.command(command.what, command.id, ANSWERED_AT_ONCE)
        flow.t = self.now
        while executor.busy is not None and flow.t - began <= ANSWERED_AT_ONCE and not self._soon:
            side.say_on()
            ready = side.session.process.poll(ANSWERED_AT_ONCE, want_write=False)
            flow.t = self.now
            if ready is not TO_READ:
                break
            side.session.pump.hear(ready)
        executor.answered(flow.t, at_once=flow.t - began <= ANSWERED_AT_ONCE)
        self._ending.check_messages()
        if side.death or not side.session.running:
            self._kill_worker_of(side)

    def _feed_bolts(self) -> None:
        """Give bolts what is queued for them, but for those whose own tuples go to a full queue."""
        full = self.flow.full
        for task in tuple(self.flow.dirty):
            side = self.sides.get(task)
            if side is None or side.blocked or not side.ready or not isinstance(side, BoltTask):
                continue
            if not full or full.isdisjoint(self._held_by[task]):
                side.feed()
                self._heard.add(side)

    def _look_at(self, side: BoltTask | SpoutTask) -> bool:
        """Storm looks once a second whether a component lives, and sends bolts a heartbeat."""
        if self.sides.get(side.task) is not side:
            return False
        if side.ready:
            if side.overdue():
                self._kill_worker_of(side)
                return False
            if isinstance(side, BoltTask):
                side.beat()
                self._heard.add(side)
        elif side.says_no_pid(at_last=False):
            self._give_up(side)
        return True

    def _expect_pid(self, side: BoltTask | SpoutTask) -> None:
        if self.sides.get(side.task) is side and side.says_no_pid(at_last=True):
            self._give_up(side)

    def _give_up(self, side: BoltTask | SpoutTask) -> None:
        """A component said no complete first message: there is no use in going on."""
        found = next((f.message for f in side.session.findings if f.level == "must"), side.death)
        self._silent = self._silent or f"{side.name}: no complete first message: {found}"
        self._ending.end(self._silent)

    # --- deaths ---------------------------------------------------------------------------------------------------

    def _kill_worker_of(self, side: BoltTask | SpoutTask) -> None:
        """The worker of a task dies of it, as an exception in any executor ends it."""
        why = side.check_alive()
        found = next((f.message for f in side.session.findings if f.level == "must"), "")
        self.kill_worker(self.workers[self.setup.layout.workers[side.task]], f"{side.name}: {why or found}")
        if not side.ready and side.attempt_is_first:
            self._give_up(side)

    def kill_worker(self, worker: Worker, why: str, *, deliberate: bool = False) -> None:
        """Kill a worker, with all that its tasks have; it starts again after a while. `deliberate`: it is no fault."""
        if not worker.up or self.phase == "end":
            return
        self.flow.t = self.now
        self.flow.catch_up()
        for task in worker.lives:
            side = self.sides.pop(task)
            self._together.forget(side)
            self._asking.forget(side)
        worker.end(why)
        worker.deaths += not deliberate
        if worker.deaths > self.setup.restarts:
            self._ending.end(f"worker {worker.number} died {worker.deaths} times, at last because of {why}")
            return
        pause = min(RESTART_AT_MOST, RESTART_AFTER * 2 ** max(0, worker.deaths - 1))
        self.agenda.at(self.now + pause, partial(self._again, worker))

    def _again(self, worker: Worker) -> None:
        if self.phase != "end":
            self._begin(worker)

    # --- the end --------------------------------------------------------------------------------------------------

    def _stop(self, wait: float) -> None:
        """End all processes at once, whatever has happened."""
        self.flow.t = self.now
        self.flow.catch_up()
        self._ending.end()
        for worker in self.workers.values():
            worker.dismiss()
        for worker in self.workers.values():
            worker.stop(wait)
