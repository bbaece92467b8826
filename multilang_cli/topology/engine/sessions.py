"""Storm's side of one task's process: ShellBolt and ShellSpout whose collectors are a topology's."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from multilang_cli.driver.session import Session
from multilang_cli.driver.shell_bolt import ShellBolt
from multilang_cli.driver.shell_spout import ShellSpout
from multilang_cli.protocol.judge.context import storm_timeout
from multilang_cli.protocol.judge.spout_rules import acked_inside
from multilang_cli.protocol.storm.java_hash import java_values
from multilang_cli.protocol.words.events import Activation, Signalled
from multilang_cli.protocol.words.messages import Ack, Emit, Error, Fail, Json, Log, Sync, TaskIds
from multilang_cli.topology.engine.logged import ERROR
from multilang_cli.topology.groupings import GroupingError

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.driver.pump import EventSink
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.wire.batches import Batch
    from multilang_cli.protocol.words.events import Channel, Fact
    from multilang_cli.protocol.words.verdicts import Finding, Kind, Profile
    from multilang_cli.topology.engine.flow import Flow

MOST_FINDINGS = 200
"""Findings of a task that are kept: more say nothing new."""
_OF_TUPLES = frozenset({Emit, Ack, Fail})
SILENT = "subprocess heartbeat timeout"
"""What Storm says of a component that it gives up."""


class TaskSession(Session):
    """Base of the sessions of a topology's bolts and spouts.

    `task`: its id. `blocked`: the pipe takes no more now; `watched`: that it takes more is waited for. `ready`: it said
    its pid. `death`: why its worker dies, a sentence; "" while it lives. `holds_input`, `holds_output`: nothing is
    written to it, nothing read from it.
    """

    _clock_runs_on = True
    keep_stderr: Callable[[bytes], object] | None = None
    _fatal: int | None = None

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink], flow: Flow) -> None:
        super().__init__(process, judge, sinks)
        self.keep_emits = False
        self.handlers = {**self.handlers, Log: self._heard_log, Error: self._heard_error}
        self.flow = flow
        self.task = self.profile.task
        self.blocked = self.watched = False
        self.ready = False
        self.death = ""
        self.holds_input = False
        self.holds_output = False
        self.attempt_is_first = True
        self._place = [version.id for version in judge.rulebook.versions].index(self.version.id)
        self._timeout = storm_timeout(self.profile.conf, self.version)

    @property
    def name(self) -> str:
        """As sentences call it."""
        return f"{self.profile.component}, task {self.task}"

    def _heard_log(self, log: Log, _: int) -> None:
        self.flow.logged.take(self.profile.component, log.msg or "", log.level or 0)

    def _heard_error(self, error: Error, _: int) -> None:
        self.flow.logged.take(self.profile.component, error.msg or "", ERROR)

    def say_on(self) -> None:
        """Write what there is to write, as far as the pipe takes it."""
        self.blocked = self.holds_input or self.push()

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Something happened that is no message."""
        if channel == "err" and self.keep_stderr is not None:
            self.keep_stderr(raw)
        return super().note(channel, fact, raw)

    def excuse(self, rules: frozenset[str]) -> None:
        """Have nothing made of breaches of these rules: no shell component says it, and no Storm hears it."""
        self._excused = rules

    _excused: frozenset[str] = frozenset()

    def _found(self, found: Sequence[Finding]) -> None:
        """Of what is found behind an event that Storm does not survive, nobody hears: it was read together with it."""
        if self._excused:
            found = [each for each in found if each.rule not in self._excused]
        if self.deaf_from is None:
            self._look_ahead(found)
        super()._found([each for each in found if self._fatal is None or each.seq <= self._fatal])
        del self.findings[MOST_FINDINGS:]
        self.flooded = False

    def _as_read(self, emit: Emit) -> Emit:
        """An emit with its values as this Storm reads them: some numbers are others to it."""
        if "decimal" not in emit.hazards:
            return emit
        return replace(emit, values=list(java_values(emit, self.heard, self.version.dialect)))

    def _look_ahead(self, found: Sequence[Finding]) -> None:
        """Storm's worker dies of what its version does not survive; of what comes after it hears nothing."""
        outlook = self.judge.outlook()[self._place]
        if outlook.fate == "dies" and outlook.seq is not None and outlook.rule not in self._excused:
            self.deaf_from = self._fatal = outlook.seq
            about = (each for each in (*found, *self.findings) if (each.rule, each.seq) == (outlook.rule, outlook.seq))
            self.die(next((each.message for each in about), outlook.rule or ""))

    def die(self, why: str) -> None:
        """Have its worker die; the first reason counts."""
        self.death = self.death or why
        if self.deaf_from is None:
            self.deaf_from = self.next_seq

    def check_alive(self) -> str:
        """The reason why its worker dies, "" if it need not; called after every round."""
        if not self.death and not self.running:
            self.die("a message is longer than our limit" if self.overflowed else "its process has ended")
        return self.death

    def says_no_pid(self, *, at_last: bool) -> bool:
        """True, with a finding, if it will not say its first message: it waits for more, or the limit is over."""
        limit = self.profile.limits["pid"]
        proven = not at_last and self.stuck()
        if self.ready or not (at_last or proven):
            return False
        self.give_up("pid", limit, proven=proven)
        return True

    def overdue(self) -> bool:
        """True, with a finding, if Storm has waited for it longer than its timeout; looked at once a second."""
        raise NotImplementedError

    def _silent(self, since: float) -> bool:
        return self.ready and self.now - since > self._timeout

    def sent(self, number: signal.Signals, why: str = "") -> None:
        """It was sent a signal that ends it, so its end is none of its own doing."""
        self.note("process", Signalled(number))
        self.process.signal(number)
        self.die(why)


class BoltTask(TaskSession, ShellBolt):
    """A bolt's task."""

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink], flow: Flow) -> None:
        super().__init__(process, judge, sinks, flow)
        self.handlers = {**self.handlers, Ack: self._heard_ack, Fail: self._heard_failed}
        self._most = self.max_pending or 1000
        self.holds_heartbeats = False

    _awaits_ids, _unanswered = True, False
    """Nothing speaks against it yet, and an emit has not been given its ids."""

    def route(self, emit: Emit) -> TaskIds | None:
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

    def _react_all(self, batch: Batch) -> None:
        """Do what the messages ask for, emits in a row together: where nobody is told of each who may be cut off by it.

        As in Storm, of what a bolt says behind an emit that its worker dies of nothing is heard.
        """
        others = self.flow.watched or self.deaf_from is not None or self.handlers.get(Ack) != self._heard_ack
        if others or not _OF_TUPLES.issuperset(map(type, batch.bodies)):
            super()._react_all(batch)
            return
        settle, task = self.flow.settle, self.task
        for kind, messages in groupby(batch.bodies, type):
            if kind is Emit:
                self.stdin.answer_all(self._routed(messages))
                if self.death:
                    return
            else:
                self._went_on()
                how: Literal["ack", "fail"] = "ack" if kind is Ack else "fail"
                for message in messages:
                    settle(task, message.id, how)

    def _heard_ack(self, message: Ack, _: int) -> None:
        self._went_on()
        self.flow.settle(self.task, message.id, "ack")

    def _heard_failed(self, message: Fail, _: int) -> None:
        self._went_on()
        self.flow.settle(self.task, message.id, "fail")

    def feed(self) -> None:
        """Queue tuples for its pipe, as long as that takes them; the last are written by `say_on`."""
        queue, said = self.flow.queues[self.task], self.stdin.queue
        while queue and not self.blocked and not self.death:
            if len(said) >= self._most:
                self.say_on()
            said.extend(self.flow.take(self.task, self._most - len(said)))

    def beat(self) -> None:  # type: ignore[override]
        """Send a heartbeat, unless this Storm has none, or the last could not be written yet."""
        if self.version.heartbeats and not (self.blocked or self.holds_heartbeats):
            self.heartbeat()
            self.flow.beat(self.task, "sent")

    def _heard_sync(self, sync: Sync, size: int) -> None:
        super()._heard_sync(sync, size)
        self.flow.beat(self.task, "answered")

    def overdue(self) -> bool:
        """True if nothing came for too long that this Storm takes for a sign of life (``BoltHeartbeatTimerTask``).

        Whoever owes no answer and reads is never given up: a busy machine must not be taken for a dead component.
        """
        heartbeats, counts = self.judge.state.heartbeats, self.version.refreshed_by
        if counts == "nothing" or not (heartbeats or self.blocked):
            return False
        since = self.judge.state.heard if counts == "command" or not heartbeats else heartbeats[0].t
        if not self._silent(since):
            return False
        self.give_up("heartbeat", self._timeout, proven=False)
        self.flow.beat(self.task, "missed")
        self.die(SILENT)
        return True


class SpoutTask(TaskSession, ShellSpout):
    """A spout's task."""

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink], flow: Flow) -> None:
        super().__init__(process, judge, sinks, flow)
        self._own_handlers = self.handlers  # what they do is all that is done about a message

    def route(self, emit: Emit) -> TaskIds | None:
        """Send the tuple where it goes; the answer, None for none."""
        inside = emit.id is not None and acked_inside(self.judge, emit)
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
        if what in {"activate", "deactivate"} and not self.version.activate:
            self.note("control", Activation(what == "activate"))
            self._executor.synced(self.flow.t)
            return
        self._asked_at = self.now
        if limit:
            self.ask_at_once(what, id_, limit)
        else:
            self.ask(what, id_)
        self._take_sync()

    _asked_at = 0.0

    @property
    def _executor(self) -> Any:
        return self.flow.spouts[self.task]

    def _heard_sync(self, sync: Sync, size: int) -> None:
        super()._heard_sync(sync, size)
        self._take_sync()

    def _react_all(self, batch: Batch) -> None:
        super()._react_all(batch)
        self._take_sync()

    def _take_sync(self) -> None:
        """A sync ends what was asked, be it one that came too early."""
        if self.answered:
            self.leave()
            self._executor.synced(self.flow.t)

    def overdue(self) -> bool:
        """True if it was asked and said nothing since for too long (``SpoutHeartbeatTimerTask``)."""
        if not self.unanswered or not self._silent(max(self._asked_at, self.judge.state.heard)):
            return False
        self.give_up("sync", self._timeout, proven=False)
        self.die(SILENT)
        return True


SESSIONS: dict[Kind, type[BoltTask | SpoutTask]] = {"bolt": BoltTask, "spout": SpoutTask}


def session_of(
    profile: Profile, process: ComponentProcess, judge: Conversation, sinks: Iterable[EventSink], flow: Flow
) -> BoltTask | SpoutTask:
    """The session of a task's process."""
    return SESSIONS[profile.kind](process, judge, sinks, flow)
