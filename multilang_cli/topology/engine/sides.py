"""Storm's side of one task's process: ShellBolt and ShellSpout whose collectors are a topology's."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from multilang_cli.driver.shell.asking import hear_asked
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.judge.spout_rules import acked_inside
from multilang_cli.protocol.storm.java_hash import java_values
from multilang_cli.protocol.words.events import Activation, Signalled
from multilang_cli.protocol.words.messages import Ack, Emit, Error, Fail, Json, Log, SpoutCommand, Sync, TaskIds
from multilang_cli.topology.engine.logged import ERROR
from multilang_cli.topology.groupings import GroupingError

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.driver.script import Handler
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.wire.batches import Batch
    from multilang_cli.protocol.words.verdicts import Finding, Kind
    from multilang_cli.topology.engine.flow import Flow
    from multilang_cli.topology.engine.spout_executor import SpoutTaskCommand

MOST_FINDINGS = 200
"""Findings of a task that are kept: more say nothing new."""
_OF_TUPLES = frozenset({Emit, Ack, Fail})
SILENT = "subprocess heartbeat timeout"
"""What Storm says of a component that it gives up."""


class TaskSide:
    """Base of Storm's sides of a topology's bolts and spouts, each over the `session` of its shell.

    `task`: its id. `blocked`: the pipe takes no more now; `watched`: that it takes more is waited for. `ready`: it said
    its pid. `death`: why its worker dies, a sentence; "" while it lives. `holds_input`, `holds_output`: nothing is
    written to it, nothing read from it. `excused`: rules whose breaches count for nothing here: no shell component says
    it, and no Storm hears it.
    """

    last_emit = None
    """No emit is kept."""

    def __init__(self, session: Session, flow: Flow) -> None:
        self.session = session
        self.flow = flow
        self.profile = session.judge.profile
        self.task = self.profile.task
        self.blocked = self.watched = False
        self.ready = False
        self.death = ""
        self.holds_input = False
        self.holds_output = False
        self.attempt_is_first = True
        self.excused: frozenset[str] = frozenset()
        self._fatal: int | None = None
        versions = session.judge.rulebook.versions
        self._place = [version.id for version in versions].index(session.judge.version.id)
        self._timeout = storm_timeout(self.profile.conf, session.judge.version)
        session.pump.events.sift = self._sifted

    @property
    def name(self) -> str:
        """As sentences call it."""
        return f"{self.profile.component}, task {self.task}"

    def _log(self, log: Log, _: int) -> None:
        self.flow.logged_by(self.task, self.profile.component, log.msg or "", log.level or 0)

    def _error(self, error: Error, _: int) -> None:
        self.flow.logged.take(self.profile.component, error.msg or "", ERROR)

    def say_on(self) -> None:
        """Write what there is to write, as far as the pipe takes it."""
        self.blocked = self.holds_input or self.session.pump.push()

    def _sifted(self, found: Sequence[Finding]) -> Sequence[Finding]:
        """Of what is found behind an event that Storm does not survive, nobody hears: it was read together with it."""
        if self.excused:
            found = [each for each in found if each.rule not in self.excused]
        if self.session.pump.ignored_from is None:
            self._look_ahead(found)
        kept = [each for each in found if self._fatal is None or each.seq <= self._fatal]
        return kept[: MOST_FINDINGS - len(self.session.findings)]

    def _as_read(self, emit: Emit) -> Emit:
        """An emit with its values as this Storm reads them: some numbers are others to it."""
        if "decimal" not in emit.hazards:
            return emit
        session = self.session
        return replace(emit, values=list(java_values(emit, session.pump.heard, session.judge.version.dialect)))

    def _look_ahead(self, found: Sequence[Finding]) -> None:
        """Storm's worker dies of what its version does not survive; of what comes after it hears nothing."""
        outlook = self.session.judge.outlook()[self._place]
        if outlook.fate == "dies" and outlook.seq is not None and outlook.rule not in self.excused:
            self.session.pump.ignored_from = self._fatal = outlook.seq
            every = (*found, *self.session.findings)
            about = (each for each in every if (each.rule, each.seq) == (outlook.rule, outlook.seq))
            self.die(next((each.message for each in about), outlook.rule or ""))

    def die(self, why: str) -> None:
        """Have its worker die; the first reason counts."""
        self.death = self.death or why
        if self.session.pump.ignored_from is None:
            self.session.pump.ignored_from = self.session.pump.events.seq

    def hear_asked(self) -> bool:
        """Take in what it said, and answer at once, if it waits for that; False if nothing was done."""
        return False

    def check_alive(self) -> str:
        """The reason why its worker dies, "" if it need not; called after every round."""
        if not self.death and not self.session.running:
            self.die("a message is longer than our limit" if self.session.pump.overflowed else "its process has ended")
        return self.death

    def says_no_pid(self, *, at_last: bool) -> bool:
        """True, with a finding, if it will not say its first message: it waits for more, or the limit is over."""
        limit = self.profile.limits["pid"]
        proven = not at_last and self.session.stuck()
        if self.ready or not (at_last or proven):
            return False
        self.session.give_up("pid", limit, proven=proven)
        return True

    def overdue(self) -> bool:
        """True, with a finding, if Storm has waited for it longer than its timeout; looked at once a second."""
        raise NotImplementedError

    def _silent(self, since: float) -> bool:
        return self.ready and self.session.now - since > self._timeout

    def sent(self, number: signal.Signals, why: str = "") -> None:
        """It was sent a signal that ends it, so its end is none of its own doing."""
        self.session.pump.note("process", Signalled(number))
        self.session.process.signal(number)
        self.die(why)


class BoltTask(TaskSide):
    """A bolt's task: the collector of its `shell`."""

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink], flow: Flow) -> None:
        self.handlers: Mapping[type, Handler] = {
            Ack: self._ack,
            Fail: self._fail,
            Sync: self._synced,
            Log: self._log,
            Error: self._error,
        }
        self.shell = ShellBolt(process, judge, sinks, collector=self, runs_on=True)
        super().__init__(self.shell.session, flow)
        self.holds_heartbeats = False
        self._most = self.shell.max_pending or 1000
        self._open = flow.open[self.task]
        self._awaits_ids, self._unanswered = True, False
        """Nothing speaks against it yet, and an emit has not been given its ids."""

    def emit(self, emit: Emit, _: int) -> TaskIds | None:
        """Send the tuple where it goes; the answer, None for none."""
        return next(iter(self._routed([emit])), None)

    def _routed(self, emits: Iterable[Emit]) -> list[TaskIds]:
        """Send tuples where they go; the answers to those that want one."""
        self._went_on()
        emits = list(map(self._as_read, emits))
        try:
            found = self.flow.bolt_emit(self.task, emits)
        except GroupingError as error:
            self.die(str(error))
            return []
        answers = [TaskIds(list(tasks)) for emit, tasks in zip(emits, found, strict=True) if emit.wants_task_ids]
        if answers and self._awaits_ids:
            self.flow.ids_awaited.add(self.task)
            self._unanswered = True
            if len(emits) > 1:
                self._went_on()
        return answers

    def _went_on(self) -> None:
        """Note that it says something: behind an emit whose ids it can't have, that shows that it waits for none."""
        if self._unanswered:
            self._awaits_ids = self._unanswered = False
            self.flow.ids_awaited.discard(self.task)

    def say_on(self) -> None:
        """Write what there is to write, task ids with it."""
        self._unanswered = False
        super().say_on()

    def take(self, batch: Batch) -> list[TaskIds] | None:
        """Do what the messages ask for, emits in a row together: where nobody is told of each who may be cut off by it.

        As in Storm, of what a bolt says behind an emit that its worker dies of nothing is heard.
        """
        if self.flow.watched or not _OF_TUPLES.issuperset(map(type, batch.bodies)):
            return None
        settle_all, task, answers = self.flow.settle_all, self.task, list[TaskIds]()
        for kind, messages in groupby(batch.bodies, type):
            if kind is Emit:
                answers += self._routed(messages)
                if self.death:
                    break
            else:
                self._went_on()
                how: Literal["ack", "fail"] = "ack" if kind is Ack else "fail"
                settle_all(task, [message.id for message in messages], how)
        return answers

    def hear_asked(self) -> bool:
        """Take in what it said, and answer at once, if it waits for that; False if nothing was done."""
        return self.ready and self._awaits_ids and not self._unanswered and hear_asked(self.session.pump, self)

    def has(self, id_: str) -> bool:
        """True if a tuple is with the bolt now."""
        return id_ in self._open

    def route(self, emit: Emit) -> tuple[int, ...] | None:
        """Send a tuple where it goes; the tasks, None if its worker dies of it."""
        try:
            return self.flow.bolt_answer(self.task, emit)
        except GroupingError as error:
            self.die(str(error))
            return None

    def acked(self, ids: Sequence[str]) -> None:
        """Take acks that came in a row."""
        self.flow.settle_all(self.task, ids, "ack")

    def _ack(self, message: Ack, _: int) -> None:
        self._went_on()
        self.flow.settle(self.task, message.id, "ack")

    def _fail(self, message: Fail, _: int) -> None:
        self._went_on()
        self.flow.settle(self.task, message.id, "fail")

    def _synced(self, _: Sync, __: int) -> None:
        self.flow.beat(self.task, "answered")

    def feed(self) -> None:
        """Queue tuples for its pipe, as long as that takes them; the last are written by `say_on`."""
        queue, said = self.flow.queues[self.task], self.session.pump.stdin.queue
        while queue and not self.blocked and not self.death:
            if len(said) >= self._most:
                self.say_on()
            said.extend(self.flow.take(self.task, self._most - len(said)))

    def beat(self) -> None:
        """Send a heartbeat, unless this Storm has none, or the last could not be written yet."""
        if self.session.judge.version.heartbeats and not (self.blocked or self.holds_heartbeats):
            self.shell.heartbeat()
            self.flow.beat(self.task, "sent")

    def overdue(self) -> bool:
        """True if nothing came for too long that this Storm takes for a sign of life (``BoltHeartbeatTimerTask``).

        Whoever owes no answer and reads is never given up: a busy machine must not be taken for a dead component.
        """
        state, counts = self.session.judge.state, self.session.judge.version.refreshed_by
        if counts == "nothing" or not (state.heartbeats or self.blocked):
            return False
        since = state.heard if counts == "command" or not state.heartbeats else state.heartbeats[0].t
        if not self._silent(since):
            return False
        self.session.give_up("heartbeat", self._timeout, proven=False)
        self.flow.beat(self.task, "missed")
        self.die(SILENT)
        return True


class SpoutTask(TaskSide):
    """A spout's task: the collector of its `shell`."""

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink], flow: Flow) -> None:
        self.handlers: Mapping[type, Handler] = {Log: self._log, Error: self._error}
        self.shell = ShellSpout(process, judge, sinks, collector=self, runs_on=True)
        self.shell.on_answer = self._answered
        super().__init__(self.shell.session, flow)
        self._asked_at = 0.0

    def emit(self, emit: Emit, _: int) -> TaskIds | None:
        """Send the tuple where it goes; the answer, None for none."""
        inside = emit.id is not None and acked_inside(self.session.judge, emit)
        try:
            tasks = self.flow.spout_emit(self.task, self._as_read(emit), acked_inside=inside)
        except GroupingError as error:
            self.die(str(error))
            return None
        return TaskIds(list(tasks)) if emit.wants_task_ids else None

    def command(self, what: str, id_: Json, limit: float = 0.0) -> None:
        """Tell it something; activations are told to none by a Storm that knows no such command.

        `limit`: seconds for which its answer is waited for, if there is nothing else to say.
        """
        if what in {"activate", "deactivate"} and not self.session.judge.version.activate:
            self.session.pump.note("control", Activation(what == "activate"))
            self._executor.synced(self.flow.t)
            return
        self._asked_at = self.session.now
        if limit:
            self.shell.ask_at_once(what, id_, limit)
        elif self.flow.watched or self.holds_input:
            self.shell.ask(what, id_)
        else:
            self.shell.ask_for_later(what, id_)
        if self.shell.answered:
            self._answered()

    def tell_outcomes(self, commands: Sequence[SpoutTaskCommand], limit: float, seconds: float) -> int:
        """Tell acks and fails for at most so many `seconds`, as long as each is answered within `limit` by its sync.

        Gives how many were told.
        """
        self._asked_at = self.session.now
        said = [SpoutCommand(command.what, command.id) for command in commands]
        told = self.shell.tell_outcomes(said, limit, self._asked_at + seconds)
        self._executor.told_outcomes(told)
        if told and not self.shell.unanswered:
            self._answered()
        return told

    @property
    def _executor(self) -> Any:
        return self.flow.spouts[self.task]

    def _answered(self) -> None:
        """A sync ends what was asked, be it one that came too early."""
        self.shell.leave()
        self._executor.synced(self.flow.t)

    def overdue(self) -> bool:
        """True if it was asked and said nothing since for too long (``SpoutHeartbeatTimerTask``)."""
        if not self.shell.unanswered or not self._silent(max(self._asked_at, self.session.judge.state.heard)):
            return False
        self.session.give_up("sync", self._timeout, proven=False)
        self.die(SILENT)
        return True


SIDES: dict[Kind, type[BoltTask | SpoutTask]] = {"bolt": BoltTask, "spout": SpoutTask}

"""Storm's side of a task's process, by the kind of its component."""
