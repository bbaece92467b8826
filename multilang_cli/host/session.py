"""One component, one conversation: moves bytes between the process and the judge, and waits with a limit.

Single-threaded. What the shell classes of Storm do differently for bolts and spouts is in ``shell_bolt`` and
``shell_spout``; here is what they share: the handshake, the pump, silence, and the end.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, Protocol, Self

from multilang_cli.host import pids, waiting
from multilang_cli.host.process import BrokenStdin, ComponentProcess
from multilang_cli.host.routing import Router
from multilang_cli.protocol import wire
from multilang_cli.protocol.events import (
    Chunk,
    Deadline,
    End,
    Event,
    Exited,
    Fact,
    PidChecked,
    Signalled,
    Started,
    StdinClosed,
    StdoutClosed,
    WriteFailed,
)
from multilang_cli.protocol.framing import Frame, Framer
from multilang_cli.protocol.messages import FromStorm, Malformed, Message, Pid, TaskIds
from multilang_cli.protocol.reading import read_command, read_frame

if TYPE_CHECKING:
    from multilang_cli.protocol.conversation import Conversation
    from multilang_cli.protocol.events import Channel
    from multilang_cli.protocol.messages import Emit, Handshake
    from multilang_cli.protocol.verdicts import Finding

WaitingFor = Literal["pid", "sync", "heartbeat", "settle", "exit-after-eof", "exit-after-term", "read", "output"]

SLICE = 0.05
"""Seconds after which a wait looks again at what no pipe tells, such as the pid file."""
SILENCE = 0.5
"""Seconds of silence that count as quiet where the system does not tell what a process waits for."""
BACKLOG = 256 * 1024
"""Bytes that are put into the write buffer ahead of the pipe."""


class Sink(Protocol):
    """Something that wants every event as it happens: a recorder, a display."""

    def write(self, event: Event) -> None:
        """Take one event; the bytes of a frame are in `event.raw`."""


class Session:
    """A running component and its judge.

    `findings` so far, `found` those of the latest event, `sinks` that see every event. `ended_by_us`: the process lived
    until `end`. `hold_task_ids` keeps task ids back until
    `release_task_ids`. `piece`: write so many bytes at a time, waiting until they are read (0: as fast as it goes).
    """

    def __init__(self, process: ComponentProcess, judge: Conversation, sinks: Iterable[Sink] = ()) -> None:
        self.process = process
        self.judge = judge
        self.profile = judge.profile
        self.version = judge.version
        self.findings: list[Finding] = []
        self.found: list[Finding] = []
        self.hold_task_ids = False
        self.piece = 0
        self.pid: int | None = None
        self.overflowed = False
        self.ended_by_us = False
        self._sinks = tuple(sinks)
        self._framer = Framer(int(self.profile.limits.get("frame", 64 * 1024 * 1024)))
        self._router = Router(self.profile)
        self._queue: deque[FromStorm] = deque()
        self._answers: deque[FromStorm] = deque()
        self._held: deque[TaskIds] = deque()
        self._buffer = bytearray()
        self._written = 0
        self._seq = 0
        self._start = time.monotonic()
        self._closing = False
        self._eof = False
        self._exit: Exited | None = None
        self._ended = False
        self.note("process", Started(process.argv, process.pid))

    # --- events -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return time.monotonic() - self._start

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Something happened that is no message."""
        return self._happened(Event(self._seq, self.now, channel, fact, raw))

    def _happened(self, event: Event) -> list[Finding]:
        self._seq = event.seq + 1
        found = self.found = self.judge.feed(event)
        if found:
            self.findings += found
        for sink in self._sinks:
            sink.write(event)
        return found

    @property
    def running(self) -> bool:
        """True while the component can still say something."""
        return not self._eof and not self.overflowed

    @property
    def exit(self) -> Exited | None:
        """How the process ended, None while it runs."""
        return self._exit

    @property
    def queued(self) -> int:
        """How many messages are not yet in the write buffer."""
        return len(self._queue)

    @property
    def idle(self) -> bool:
        """True if Storm has nothing left to say."""
        return not (self._queue or self._answers)

    @property
    def emitted(self) -> bool:
        """True if the component has emitted anything."""
        return False

    @property
    def held(self) -> int:
        """How many replies with task ids are kept back."""
        return len(self._held)

    # --- Storm speaks -------------------------------------------------------------------------------------------

    def say(self, message: FromStorm) -> None:
        """Queue a message; it is an event when it is put into the pipe."""
        self._queue.append(message)

    def say_first(self, message: FromStorm) -> None:
        """Queue a message ahead of all others."""
        self._queue.appendleft(message)

    def answer_emit(self, emit: Emit) -> None:
        """Queue the task ids of an emit: ahead of tuples since Storm 1.0, behind them before (STORM-756)."""
        reply = TaskIds(self._router.targets(emit))
        if self.hold_task_ids:
            self._held.append(reply)
        elif self.version.task_ids == "overtake":
            self._answers.append(reply)
        else:
            self._queue.append(reply)

    def release_task_ids(self) -> None:
        """Send the task ids that were held back, and hold no more."""
        self.hold_task_ids = False
        (self._answers if self.version.task_ids == "overtake" else self._queue).extend(self._held)
        self._held.clear()

    def _refill(self) -> None:
        buffer, answers, queue, now = self._buffer, self._answers, self._queue, self.now
        while len(buffer) < BACKLOG and (answers or queue):
            message = (answers or queue).popleft()
            raw = wire.encode(message, self.version)
            buffer += raw
            self._happened(Event(self._seq, now, "in", message, raw, self._written))
            self._written += len(raw)

    # --- the component speaks -----------------------------------------------------------------------------------

    def heard(self, event: Event, message: Message) -> None:
        """A message came: what ShellBolt or ShellSpout does about it. Overridden by both."""

    def _hear(self, frames: list[Frame]) -> None:
        now, expecting_pid = self.now, self.judge.expecting_pid
        for frame in frames:
            message = read_frame(frame, expecting_pid=True) if expecting_pid else read_command(frame)
            event = Event(self._seq, now, "out", message, frame.raw, frame.offset)
            self._happened(event)
            if isinstance(message, Malformed):
                self.overflowed = self.overflowed or message.kind == "frame-too-long"
                for meant in message.salvage:
                    self.heard(event, meant)
            else:
                self.heard(event, message)
            if expecting_pid:
                expecting_pid = self.judge.expecting_pid
                if isinstance(message, Pid) and self.pid is None:
                    self.pid = message.pid

    def pump(self, timeout: float) -> None:
        """Move bytes for at most `timeout` seconds: write what is queued, else read what is there.

        Returns after one round, at once if something could be written.
        """
        if self._answers or self._queue:
            self._refill()
        unwritten = bool(self._buffer) and not self._closing
        if unwritten and self._write():
            return
        ready = self.process.poll(timeout, want_write=unwritten)
        if ready.stderr:
            chunk = self.process.read_stderr()
            if chunk:
                self.note("err", Chunk(len(chunk)), chunk)
        if ready.stdout:
            data = self.process.read_stdout()
            if data is None:
                self._end_of_output()
            elif data:
                self._hear(self._framer.feed(data))
        elif ready.exited and not self._eof:
            self._died()

    def _write(self) -> bool:
        """Write what fits; False if nothing did, so that there is something to wait for."""
        if self.piece and self.process.stdin_unread():
            time.sleep(0)
            return False
        size = self.piece or len(self._buffer)
        try:
            done = self.process.write(bytes(self._buffer[:size]) if self.piece else self._buffer)
        except BrokenStdin as error:
            self._buffer.clear()
            self._queue.clear()
            self._answers.clear()
            self._settle_death()
            self.note("process", WriteFailed(str(error)))
            return True
        del self._buffer[:done]
        return done > 0

    def _end_of_output(self) -> None:
        """End of file: the rest is a frame; then the process is dead or soon will be."""
        if self._eof:
            return
        self._eof = True
        rest = self._framer.close()
        if rest is not None:
            self._hear([rest])
        self._settle_death()
        if self._exit is None:
            self.note("process", StdoutClosed())

    def _settle_death(self) -> None:
        """Stdout is closed or stdin broken: give the process a moment to be dead, so that its true end is told."""
        self._take_exit(self.process.wait_exit(self.profile.limits.get("grace", 1.0)))

    def _died(self) -> None:
        """The process is dead; what it wrote is still read, but a grandchild that holds its stdout is not waited for."""
        while data := self.process.read_stdout():
            self._hear(self._framer.feed(data))
        self._end_of_output()

    def _take_exit(self, end: Exited | None) -> None:
        if end is not None and self._exit is None:
            self._exit = end
            self.note("process", end)

    # --- waiting ------------------------------------------------------------------------------------------------

    def wait(self, done: Callable[[], bool], limit: float, waiting_for: WaitingFor) -> bool:
        """Pump until `done`, the end of the component, or `limit` seconds; False and a Deadline event if it ran out.

        `waiting_for` is what the finding will be about. Also False, without a Deadline, if the component ended first.
        """
        until = time.monotonic() + limit
        while not done():
            if not self.running:
                return done()
            left = until - time.monotonic()
            if left <= 0:
                self.note("control", Deadline(waiting_for, limit, self.blocked()))
                return False
            self.pump(min(left, self._patience()))
        return True

    def _patience(self) -> float:
        """How long a round may block: for good while pipes tell everything."""
        return 0.001 if self.piece and self._buffer else 3600.0

    def wait_quiet(self, limit: float) -> bool:
        """Wait until the component waits for us: blocked reading an empty stdin, with nothing left in its stdout.

        A barrier that needs no answer. Where the system does not tell, a silence of half a second counts. False after
        `limit` seconds; that is no finding.
        """
        until, silent_since = self.now + limit, self.now
        while self.running and self.now < until:
            before = self._seq
            self.pump(SLICE / 10)
            if self._seq != before:
                silent_since = self.now
            elif self.idle and not self._buffer:
                if waiting.settled(self.process) or self.now - silent_since > SILENCE:
                    return True
        return False

    def blocked(self) -> str:
        """Who waits on whom: what the component is doing, as far as the system tells."""
        return waiting.describe(self.process).sentence

    def handshake(self, message: Handshake, limit: float) -> bool:
        """Send the handshake and wait for the first message; checks the pid and its file. False if none came."""
        self.say(message)
        if not self.wait(lambda: not self.judge.expecting_pid, limit, "pid"):
            return False
        self.check_pid()
        return True

    def check_pid(self) -> None:
        """Look at the announced pid and its file; the file may come a moment after the reply."""
        if self.pid is None or not self.running:
            return
        until = self.now + self.profile.limits.get("pid-file", 1.0)
        while pids.pid_file(self.process.pid_dir, self.pid) == "missing" and self.now < until and self.running:
            self.pump(SLICE)
        relation = pids.relation(self.pid, self.process.pid, self.process.cookie)
        self.note("process", PidChecked(self.pid, relation, pids.pid_file(self.process.pid_dir, self.pid)))

    # --- the end ------------------------------------------------------------------------------------------------

    def flush(self, limit: float) -> bool:
        """Wait until everything queued is in the pipe. False, with a finding, if the component does not read."""
        return self.wait(lambda: not (self._queue or self._answers or self._buffer), limit, "read")

    def close_stdin(self, limit: float) -> bool:
        """End of file on the component's stdin, as when a worker dies; it must end by itself within `limit` seconds."""
        self.flush(limit)
        self._closing = True
        self.process.close_stdin()
        self.note("process", StdinClosed())
        return self._wait_end(limit, "exit-after-eof")

    def terminate(self, limit: float) -> bool:
        """SIGTERM, as ``Process.destroy`` in ShellProcess; the component must end within `limit` seconds."""
        self.note("process", Signalled(signal.SIGTERM))
        self.process.signal(signal.SIGTERM)
        return self._wait_end(limit, "exit-after-term")

    def _wait_end(self, limit: float, waiting_for: WaitingFor) -> bool:
        until = self.now + limit
        self.wait(lambda: self._exit is not None, limit, waiting_for)
        if self._exit is None and self._eof:
            self._take_exit(self.process.wait_exit(max(0.0, until - self.now)))
            if self._exit is None:
                self.note("control", Deadline(waiting_for, limit, self.blocked()))
        return self._exit is not None

    def end(self) -> Exited | None:
        """The conversation is over: end the process group, whatever it takes, and say how the process ended."""
        if not self._ended:
            self._ended = True
            if self._exit is None:
                self.ended_by_us = True
                self.note("process", Signalled(signal.SIGTERM))
                self._take_exit(self.process.end())
            else:
                self.process.end()
            self.note("control", End())
        return self._exit

    def __enter__(self) -> Self:
        """The session is ended on leaving, whatever happens."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the component."""
        self.end()
