"""Replays Storm's recorded side to a component: the same bytes in the same order, each once it may be sent.

If the recorded Storm had received a message before it sent one, the replay first waits for the matching message, until
it can't come any more or its time limit is over. Ids that the component must echo are replaced by this run's ids.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.driver.shell.routing import Router
from multilang_cli.driver.stdin_queue import BACKLOG
from multilang_cli.driver.waits import waiting
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.words.events import Activation, Deadline, Event, Exited, PidChecked, Signalled, StdinClosed
from multilang_cli.protocol.words.messages import Emit, Handshake, SpoutCommand, TaskIds
from multilang_cli.replay.identities import Identities, TaskIdReplies
from multilang_cli.replay.received import PID, ExpectedMessage, ReceivedMessages
from multilang_cli.replay.script import ReplayStep, closed_behind_signal, ended_at_once, equal_after, script_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from multilang_cli.driver.script import WaitingFor
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.events import Again
    from multilang_cli.replay.recording import JudgedRecording
    from multilang_cli.replay.said import ComparisonOptions

FIRST_LOOK_AFTER = 0.02
"""Seconds of silence after which it is asked whether there is anything to wait for; then twice as long, and so on."""
LONGEST_LOOK = 0.5
WRITTEN_TOGETHER = 32 * 1024
"""Bytes that are put into the pipe together."""
SHORT_WAIT = 1.0
"""Seconds that are waited for once a whole limit has run out: the next one would too."""
OFTEN = 50
"""Waits in vain after which none is begun for what may still come later, such as the settling of tuples."""
_ENDS = frozenset({"exit-after-eof", "exit-after-term"})
_PID_DIR = re.compile(rb'"pidDir"\s*:\s*"(?:[^"\\]|\\.)*"')
_TERMINATED = 15


class RecordingPlayer:
    """Replays `recording` over `session`, which it owns until `release`.

    `conf`: values for the handshake's conf, such as those recorded as ***. `real_time`: send nothing before its
    recorded time. `left_out`: sentences on what could not be sent. `awaited_in_vain`: how often a recorded message did
    not come before the next one was sent. `stopped_at`: the recorded event before which the replay was stopped; None
    if it ran to the end.
    """

    def __init__(
        self,
        session: Session,
        recording: JudgedRecording,
        wanted: ComparisonOptions,
        *,
        conf: Mapping[str, Any] | None = None,
        real_time: bool = False,
    ) -> None:
        self.session = session
        self.left_out: dict[str, int] = {}
        self.awaited_in_vain = 0
        self.stopped_at: int | None = None
        self._recording = recording
        self._conf = dict(conf or {})
        self._real_time = real_time
        self._kind = recording.profile.kind
        self._heard = ReceivedMessages(self._kind, recording.version)
        self._identities = Identities(recording.events, wanted)
        self._answers = TaskIdReplies(recording.events, wanted)
        self._router = Router(recording.profile)
        self._asks: deque[Emit] = deque()
        self._skipped = 0
        self._patience = float("inf")
        self._vain = 0
        self._gave_up = False
        self._batch: list[tuple[Any, bytes]] = []
        self._size = 0
        self._handlers, session.pump.handlers = session.pump.handlers, {Emit: self._hear_emit}
        session.add_sink(self._heard)

    # --- playing ------------------------------------------------------------------------------------------------

    def play(self, done: Callable[[], bool] | None = None, *, end: bool = True) -> None:
        """Play it all, or until `done`; then wait until the component has said what it had to say.

        `end`: False to leave out how Storm made an end of the recorded component.
        """
        events = self._recording.events
        left_out: tuple[type, ...] = () if end else (StdinClosed, Signalled)
        if ended_at_once(events):
            left_out = (*left_out, StdinClosed)
        behind = closed_behind_signal(events)
        played = [event for event in events if not isinstance(event.body, left_out) and event.seq != behind]
        for step in script_of(played, self._kind, self._recording.version):
            if done is not None and done():
                self.stopped_at = step.event.seq
            if not self.session.running or self._gave_up or self.stopped_at is not None:
                break
            self._do(step)
        self._flush()
        if self.session.running and not self.session.judge.state.dismissed:
            self._finish()

    def found(self, fingerprint: str = "") -> bool:
        """True if the judge has found a breach by now, or the one with this fingerprint."""
        found = self.session.findings
        if fingerprint:
            return any(finding.fingerprint == fingerprint for finding in found)
        return any(finding.level != "note" for finding in found)

    def release(self) -> None:
        """Give the session back: emits that wait for task ids are answered by it from now on."""
        self.session.pump.handlers = self._handlers
        for emit in self._asks:
            self.session.pump.script.answer(emit)
        self._asks.clear()

    def _do(self, step: ReplayStep) -> None:
        event, needs = step
        if self._real_time or any(not self._has(need) for need in needs):
            self._flush()
            self._await_time(event.t)
            self._await(needs)
        body = event.body
        if event.channel == "in":
            self._send(event, body)
            return
        if isinstance(body, StdinClosed) and body.stdout:
            # What was said last is not to be answered: it stood in stdin when the worker died.
            batch, self._batch, self._size = self._batch, [], 0
            self.session.lose_worker([message for message, _ in batch], self._limit("exit-after-eof"))
            return
        self._flush()
        if isinstance(body, Deadline):
            self._repeat(body, event.seq)
        elif isinstance(body, Activation):
            self.session.pump.note("control", body)
        elif isinstance(body, PidChecked):
            self.session.check_pid(await_file=body.file == "missing")
        elif isinstance(body, StdinClosed):
            self._finish()
            self.session.close_stdin(self._limit("exit-after-eof"))
        elif isinstance(body, Signalled) and self._by_itself():
            self._finish()
            self.session.terminate(self._limit("exit-after-term"))

    def _by_itself(self) -> bool:
        """True if a recorded signal, and not the end of the recording, made an end of the component."""
        for event in self._recording.events:
            ended = isinstance(event.body, Exited) and event.body.signal == _TERMINATED
            if ended or (isinstance(event.body, Deadline) and event.body.waiting_for == "exit-after-term"):
                return True
        return False

    # --- sending ------------------------------------------------------------------------------------------------

    def _send(self, event: Event, body: Any) -> None:
        if isinstance(body, TaskIds):
            self._answer(event)
        elif isinstance(body, Handshake):
            self._put(self._handshake(event, body))
        elif isinstance(body, SpoutCommand) and self._identities.known(event):
            self._settle(event, body)
        else:
            self._put((body, event.raw))

    def _put(self, said: tuple[Any, bytes]) -> None:
        self._batch.append(said)
        self._size += len(said[1])
        if self._size >= WRITTEN_TOGETHER:
            self._flush()

    def _flush(self) -> None:
        """Hand what was put together to the pipe; wait until it has taken most of what it was given before."""
        if not self._batch:
            return
        batch, self._batch, self._size = self._batch, [], 0
        self.session.pump.say_bytes(batch)
        if self._room():
            return
        self._until(self._room, "read")

    def _room(self) -> bool:
        return self.session.pump.stdin.unwritten < BACKLOG

    def _handshake(self, event: Event, body: Handshake) -> tuple[Any, bytes]:
        """The recorded handshake with a pid directory of now, and the conf that was given."""
        pid_dir = str(self.session.process.pid_dir)
        message = msgspec.structs.replace(body, pid_dir=pid_dir, conf={**body.conf, **self._conf})
        raw, count = _PID_DIR.subn(lambda _: b'"pidDir":' + wire.frame(pid_dir)[:-5], event.raw, count=1)
        if self._conf or not count or wire.decode(raw[:-5]) != message:
            raw = wire.encode(message, self._recording.version)
        return message, raw

    def _answer(self, event: Event) -> None:
        """Task ids, for the oldest emit of now that waits for them."""
        if not self._asks:
            self._flush()
            self._until(lambda: bool(self._asks), "output")
        if not self._asks:
            self._leave_out("task ids: fewer emits ask for them")
            return
        answer = self._answers.to(self._asks.popleft(), event)
        self._put((answer.body, answer.raw))

    def _settle(self, event: Event, body: SpoutCommand) -> None:
        """An ack or fail of a tuple that was emitted, with the id that it has now."""
        id_ = self._identities.id_for(event)
        if id_ is None:
            self._skipped += 1
            self._leave_out(f"{body.command} of a tuple that was not emitted")
        elif id_ == body.id and type(id_) is type(body.id):
            self._put((body, event.raw))
        else:
            message = SpoutCommand(body.command, id_)
            self._put((message, wire.encode(message, self._recording.version)))

    def _leave_out(self, what: str) -> None:
        self.left_out[what] = self.left_out.get(what, 0) + 1

    def _hear_emit(self, emit: Emit, _: int) -> None:
        if emit.wants_task_ids:
            self._asks.append(emit)
        if self._kind == "spout" and emit.id is not None:
            self._identities.emitted(emit)

    # --- waiting ------------------------------------------------------------------------------------------------

    def _has(self, need: ExpectedMessage) -> bool:
        if need.what == "sync" and self._skipped:
            need = need._replace(number=need.number - self._skipped)
        return self._heard.has(need)

    def _await_time(self, t: float) -> None:
        while self._real_time and self.session.running and (left := t - self.session.now) > 0:
            self.session.pump.move(min(left, LONGEST_LOOK))

    def _await(self, needs: Iterable[ExpectedMessage]) -> None:
        """Wait until all that was heard then was heard now, or will not be."""
        answer: WaitingFor = "heartbeat" if self._kind == "bolt" else "sync"
        left = [need for need in needs if not self._has(need)]
        waits: tuple[tuple[WaitingFor, frozenset[str]], ...] = (
            ("pid", frozenset({"pid"})),
            (answer, frozenset({"sync"})),
            ("settle", frozenset({"settle", "emit"})),
        )
        for what, names in waits:
            some = [need for need in left if need.what in names]
            if some and not self._until(lambda some=some: all(map(self._has, some)), what):  # type: ignore[misc]
                self.awaited_in_vain += sum(not self._has(need) for need in some)

    def _until(self, done: Callable[[], bool], what: WaitingFor) -> bool:
        """Wait for something; False if the component is sure to say nothing more, or the limit has run out.

        What the judge sees pending is a finding then: a pid, a sync. What is not settled may be settled later.
        """
        session, look = self.session, FIRST_LOOK_AFTER
        limit = min(self._limit(what), self._patience)
        spoken, since = session.pump.spoken, session.now
        while not done() and session.running:
            session.pump.move(look if limit else 0.0)
            now = session.now
            if session.pump.spoken != spoken:
                spoken, since, look = session.pump.spoken, now, FIRST_LOOK_AFTER
            elif now - since >= limit:
                self._patience = SHORT_WAIT if self._patience > SHORT_WAIT else 0.0
                return done() or self._give_up(what, proven=False)
            elif not session.pump.stdin.unwritten and waiting.stuck(session.process):
                if not (self._asks and what != "output"):
                    return done() or self._give_up(what, proven=True)
                self._answer_now()
            else:
                look = min(2 * look, LONGEST_LOOK)
        return done()

    def _give_up(self, what: WaitingFor, *, proven: bool) -> bool:
        session = self.session
        self._gave_up = what in {"pid", "read"}
        self._vain += 1
        if self._vain >= OFTEN:
            self._patience = 0.0
        if what not in {"settle", "output"}:
            waits, facts = session.look()
            session.pump.note("control", Deadline(what, self._limit(what), str(waits), proven, facts))
        return False

    def _answer_now(self) -> None:
        """Answer an emit that did not ask for task ids then, and for which the component waits."""
        answer = self._router.answer(self._asks.popleft())
        self._put((answer, wire.encode(answer, self._recording.version)))
        batch, self._batch, self._size = self._batch, [], 0
        self.session.pump.say_bytes(batch)

    def _repeat(self, deadline: Deadline, seq: int) -> None:
        """Wait as the recording did in vain until its event `seq`: perhaps what was pending then comes now."""
        if deadline.waiting_for in _ENDS:
            return
        state, what = self.session.judge.state, deadline.waiting_for
        pending: dict[str, Callable[[], bool]] = {
            "pid": lambda: not self.session.judge.expecting_pid,
            "sync": lambda: not state.commands,
            "heartbeat": lambda: not state.heartbeats,
            "settle": lambda: not state.open,
            "read": lambda: not self.session.pump.stdin.unwritten,
        }
        limit, again = self._limit(what), deadline.again
        if what in pending and not self.session.wait(pending[what], limit, what, quietly=again is not None) and again:
            self._passed_over(again, limit, seq)
        self._gave_up = self._gave_up or (what == "pid" and self.session.judge.expecting_pid)

    def _passed_over(self, again: Again, limit: float, seq: int) -> None:
        """Say what became of a tuple that the recording left open at event `seq`, and of those equal to it."""
        session, is_open = self.session, self.session.judge.state.open
        if not session.running:
            return
        equal = equal_after(self._recording.events, again.id, seq)
        settled = sum(id_ not in is_open for id_ in equal)
        again = msgspec.structs.replace(again, fed=len(equal), settled=settled)
        session.not_settled(limit, proven=session.stuck(), again=again)

    def _limit(self, what: str) -> float:
        return self.session.judge.profile.limits.get(what, float("inf"))

    def _finish(self) -> None:
        """Let it say what it has to say; what was settled then and is pending now is waited for."""
        session = self.session
        if not self._has(PID):
            return
        while session.running:
            session.wait_quiet(self._limit("output"))
            if not self._asks:
                break
            self._answer_now()
        pending = self._settled_then()
        if pending and session.running:
            is_open = session.judge.state.open
            session.wait(lambda: pending.isdisjoint(is_open), self._limit("settle"), "settle")

    def _settled_then(self) -> set[str]:
        """The open tuples that were settled in the recording."""
        is_open = self.session.judge.state.open
        if not is_open:
            return set()
        judge_then = ReceivedMessages(self._kind, self._recording.version)
        settled = {
            need.id for event in self._recording.events for need in judge_then.hear(event) if need.what == "settle"
        }
        return settled & set(is_open)
