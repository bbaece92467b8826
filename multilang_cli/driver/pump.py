"""Bytes between one process and its judge: written and read, cut into frames, told to sinks."""

from __future__ import annotations

import math
import select
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from multilang_cli.driver import memory
from multilang_cli.driver.clock import Clock
from multilang_cli.driver.event_log import EventLog
from multilang_cli.driver.launch import readable
from multilang_cli.driver.process import NO_READER, READ_SIZE, BrokenStdin, ComponentProcess
from multilang_cli.driver.script import SILENT
from multilang_cli.driver.stdin_queue import StdinQueue
from multilang_cli.driver.waits import describing
from multilang_cli.protocol.storm.reading import read_frame, read_frames
from multilang_cli.protocol.storm.taking import taken
from multilang_cli.protocol.wire.batches import Batch
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT, Frame, Framer, Frames
from multilang_cli.protocol.words.events import (
    Chunk,
    Event,
    Exited,
    Signalled,
    Started,
    StdinClosed,
    StdoutClosed,
    WriteFailed,
)
from multilang_cli.protocol.words.messages import FromComponent, Malformed, Pid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.pipes import Ready
    from multilang_cli.driver.script import Script
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.events import Channel, Fact
    from multilang_cli.protocol.words.messages import FromStorm
    from multilang_cli.protocol.words.verdicts import Finding

LAST_WORDS = 2 * 1024 * 1024
"""Bytes that are read from the pipe of a dead process: more than a pipe holds."""
DIES_WITHIN = 2.0
"""Seconds that a process with a closed stdout or stdin is given to be dead."""


class OutOfTimeError(Exception):
    """The time that the whole command was given is over: no fault of the component."""


class Pump:
    """A running component and its judge.

    `script`: Storm's automatic actions. `events`: everything that happened. `stdin`: the queue of messages to the
    component. `read_size`: bytes per read of stdout. `overflowed`: a frame passed the limit.
    `without_reader`: the component lives but nobody reads its stdin, so Storm's next write fails and the worker dies.
    `handlers`: actions by message class; the script's by default. `heard`: the frame being handled. `ignored_from`:
    the event after which messages have no effect because the worker is dead; None while it lives. `alter`: transforms
    each piece that is read from stdout. `keep_stderr`: called with each piece of stderr. `until`: deadline on the
    machine's clock; passing it raises OutOfTimeError. `memory`: limit in bytes for the process and its descendants;
    exceeding it kills the process and raises TooMuchMemoryError.
    """

    __slots__ = (
        "_after_death",
        "_closing",
        "_eof",
        "_held_open",
        "_looked",
        "alter",
        "clock",
        "events",
        "exit",
        "framer",
        "handlers",
        "heard",
        "ignored_from",
        "judge",
        "keep_stderr",
        "memory",
        "overflowed",
        "pid",
        "process",
        "read_size",
        "script",
        "stdin",
        "until",
        "without_reader",
    )

    def __init__(
        self,
        process: ComponentProcess,
        judge: Conversation,
        sinks: Iterable[EventSink] = (),
        script: Script = SILENT,
        *,
        runs_on: bool = False,
    ) -> None:
        """`runs_on`: time goes by between two rounds as well, since somebody else decides when to look."""
        self.process = process
        self.script = script
        self.judge = judge
        self.clock = Clock(runs_on=runs_on)
        self.events = EventLog(judge, self.clock, sinks)
        self.without_reader = self.overflowed = False
        self.read_size = READ_SIZE
        self.pid: int | None = None
        self.ignored_from: int | None = None
        self.heard = b""
        self.alter: Callable[[bytes], bytes] | None = None
        self.until = self.memory = math.inf
        self.keep_stderr: Callable[[bytes], object] | None = None
        overtaken = script.ids_overtake and judge.version.task_ids == "overtake"
        self.stdin = StdinQueue(judge.version, overtaken=overtaken)
        self.handlers = script.handlers
        self.framer = Framer(int(judge.profile.limits.get("frame", DEFAULT_LIMIT)), lengthy=script.lengthy)
        self._looked = 0.0
        self._eof = self._closing = self._held_open = False
        self._after_death = 0
        self.exit: Exited | None = None
        self.note("process", Started(tuple(map(readable, process.argv)), process.pid))

    # --- events -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return self.clock.now

    def note(self, channel: Channel, fact: Fact, raw: bytes = b"") -> list[Finding]:
        """Record an event that is not a message."""
        return self.events.note(channel, fact, raw)

    @property
    def running(self) -> bool:
        """True while the component can still say something."""
        return not (self._eof or self.overflowed or self.without_reader or self.events.flooded)

    @property
    def spoken(self) -> tuple[int, int]:
        """Bytes of messages so far, by Storm and by the component."""
        return self.stdin.written, self.framer.offset

    def stand_still(self, seconds: float) -> None:
        """Take `seconds` out of the conversation's time: neither Storm's clock nor ours ran in them."""
        self.clock.stand_still(seconds, self.events.seq)

    # --- what is heard ------------------------------------------------------------------------------------------

    def _hear(self, frames: Sequence[Frame]) -> None:
        """Judge messages and act on them."""
        if self.events.awaits_answer and self._answers(frames):
            return
        now = self.clock.now
        if frames and not self.judge.state.said:
            self._hear_first(frames[0], now)
            frames = frames[1:]
        if not frames:
            return
        said = read_frames(frames)
        events = self._events(frames, said, now)
        found = self.events.judged(events)
        passed_over = self.judge.passed_over(found) if found else frozenset()
        if isinstance(events, Batch) and not passed_over:
            self._react_all(events)
            return
        for message, event in zip(said, events, strict=True):
            if self.ignored_from is not None and event.seq >= self.ignored_from:
                break
            if event.seq not in passed_over:
                self.heard = event.raw
                self._react(message, len(event.raw))

    def _hear_first(self, frame: Frame, now: float) -> None:
        """Take the first message for the answer to the handshake: Storm does nothing about what else it says."""
        message = read_frame(frame, expecting_pid=True)
        self.pid = message.pid if isinstance(message, Pid) else self.pid
        self.events.judged((Event(self.events.seq, now, "out", message, frame.raw, frame.offset),))
        self.overflowed = isinstance(message, Malformed) and message.kind == "frame-too-long"

    def _events(self, frames: Sequence[Frame], said: Sequence[Any], now: float) -> Sequence[Event]:
        """The events of frames after the first, and of what they say; of a run as a batch."""
        if isinstance(frames, Frames):
            return Batch(self.events.seq, now, "out", said, data=frames.data, offset=frames.offset, texts=frames.texts)
        return [
            Event(seq, now, "out", message, frame.raw, frame.offset)
            for seq, (frame, message) in enumerate(zip(frames, said, strict=True), self.events.seq)
        ]

    def _react_all(self, batch: Batch) -> None:
        script, texts = self.script, batch.texts
        if self.ignored_from is not None:
            texts = texts[: max(0, self.ignored_from - batch.seq)]
        elif self.handlers is script.handlers and script.take(batch):
            return
        for message, text in zip(batch.bodies, texts, strict=False):
            if (handler := self.handlers.get(message.__class__)) is not None:
                self.heard = text
                handler(message, len(text))
            elif message.__class__ is Malformed:
                self._react(message, len(text))

    def _react(self, message: FromComponent | Malformed, size: int) -> None:
        if (handler := self.handlers.get(message.__class__)) is not None:
            handler(message, size)
        elif isinstance(message, Malformed):
            self.overflowed = self.overflowed or message.kind == "frame-too-long"
            for meant in taken(message, self.judge.profile.kind, self.judge.version).messages:
                self._react(meant, size)

    # --- what is said -------------------------------------------------------------------------------------------

    def say_bytes(self, said: Iterable[tuple[FromStorm | Malformed, bytes]]) -> None:
        """Write messages with bytes of their own, behind what is in the write buffer: nothing else may be queued."""
        self.events.judged(self.stdin.put_raw(said, self.events.seq, self.now))

    def _fill(self) -> None:
        """Put messages into the write buffer: all that were put one by one are judged together."""
        for events in self.stdin.fill(self.events.seq, self.now):
            self.events.judged(events)

    def _write(self) -> bool:
        """Write what fits; False if nothing did, so that there is something to wait for."""
        out = self.stdin
        data = out.buffer
        if out.pieces.any:
            data = data[: out.pieces.size(self.process, data, out.written, self.now)]
            if not data:
                time.sleep(0)
                return False
        try:
            done = self.process.write(data)
        except BrokenStdin as error:
            self._give_up_stdin(str(error))
            return True
        del out.buffer[:done]
        out.pieces.took(all_of_it=not out.buffer)
        return done > 0

    def _give_up_stdin(self, why: str) -> None:
        """Nobody reads it any more: Storm dies of its next write, and a component that lives on does not hear it."""
        self.stdin.drop()
        # What no pipe took is told as unread when it is dead.
        self._await_death()
        self.stdin.buffer.clear()
        self.note("process", WriteFailed(why))
        self.without_reader = self.exit is None

    # --- one round ----------------------------------------------------------------------------------------------

    def move(self, timeout: float, done: Callable[[], bool] | None = None) -> None:
        """Move bytes for at most `timeout` seconds: write what is queued, else read what is there.

        Returns after one round, at once if something could be written; with `done` it reads as well, if all was written
        and that was not all that is waited for. Raises OutOfTimeError after `until`, and
        TooMuchMemoryError.
        """
        self.keep_bounds(time.monotonic())
        timeout = self.script.before_round(timeout)
        out = self.stdin
        if out.answers or out.queue:
            self._fill()
        unwritten = bool(out.buffer) and not self._closing
        if unwritten and self._write():
            if done is None or out.buffer or done():
                return
            unwritten = False
        self.hear(self._poll(timeout, want_write=unwritten))

    def is_free(self) -> bool:
        """True if nothing is under way but the queue, and nothing changes or delays what is written and read."""
        out, pieces = self.stdin, self.stdin.pieces
        return not (
            out.buffer
            or pieces.piece
            or pieces.to_cut
            or self.alter
            or self._closing
            or (self._eof or self.overflowed or self.without_reader or self.events.flooded)  # `running`, without a call
            or self.ignored_from is not None
            or self.handlers is not self.script.handlers
            or self.read_size != READ_SIZE
        )

    def _poll(self, timeout: float, *, want_write: bool = False) -> Ready:
        self.clock.will_wait(timeout)
        return self.process.poll(timeout, want_write=want_write)

    def keep_bounds(self, now: float) -> None:
        """Raise OutOfTimeError or TooMuchMemoryError, if `now`, on the machine's clock, it is too late or too much."""
        if now >= self.until:
            raise OutOfTimeError
        if self.memory < math.inf and now - self._looked >= memory.LOOKS_EVERY:
            self._looked = now
            self._look_at_memory()

    def _look_at_memory(self) -> None:
        held = memory.held_by(self.process.pid, self.memory)
        if held > self.memory:
            # It was not the component that ended itself.
            self.note("process", Signalled(signal.SIGKILL))
            self.process.signal(signal.SIGKILL)
            raise memory.TooMuchMemoryError(held, self.memory)

    # --- in one go ----------------------------------------------------------------------------------------------

    def converse(self, limit: float) -> None:
        """Write all that is queued, and take what is said within `limit` seconds; maybe none of it can be written."""
        told = self._take_all()
        data = self.exchange(told, limit) if len(told) <= select.PIPE_BUF else None
        if data is None:
            self.stdin.buffer += told
        if data:
            self.hear_bytes(data)
        else:
            self.events.take_put_off()

    def tell(self) -> None:
        """Write all that is queued, for an answer that comes later, while all `is_free`."""
        self.write_at_once(self._take_all())

    def _take_all(self) -> bytes:
        """All that is queued: it is judged together with the answer to it."""
        told = self.stdin.taken(self.events.seq, self.now)
        self.events.put_off_told(told)
        return told.data

    def exchange(self, data: bytes, limit: float) -> bytes | None:
        """As `ComponentProcess.exchange`; None also where nobody reads, which the next write will tell."""
        with suppress(BrokenStdin):
            return self.process.exchange(data, limit)
        return None

    def _answers(self, frames: Sequence[Frame]) -> bool:
        """Take `frames` in if they are all that answers a command, and plainly right; else nothing is done."""
        if not isinstance(frames, Frames):
            return False
        seq, said = self.events.seq, read_frames(frames)
        heard = Batch(seq, self.now, "out", said, data=frames.data, offset=frames.offset, texts=frames.texts)
        if not self.events.take_answer(heard):
            return False
        self._react_all(heard)
        return True

    def hear_bytes(self, data: bytes) -> None:
        """Take what was read of its stdout."""
        self._hear(self.framer.feed(data))

    def push(self) -> bool:
        """Write all that the pipe takes now; True if something is left. With `hear`, one round of a poll."""
        out = self.stdin
        while out.buffer or out.queue or out.answers:
            if out.queue or out.answers:
                self._fill()
            if self._closing or not self._write():
                return bool(out.buffer)
        return False

    def write_at_once(self, data: bytes) -> None:
        """Write what is judged by others, while all `is_free`; what the pipe does not take waits in the buffer."""
        try:
            done = self.process.write(data)
        except BrokenStdin as error:
            self.stdin.buffer += data
            self._give_up_stdin(str(error))
            return
        if done < len(data):
            self.stdin.buffer += data[done:]

    def hear(self, ready: Ready) -> None:
        """Read what is there."""
        if ready.stderr:
            chunk = self.process.read_stderr()
            if chunk:
                if self.keep_stderr is not None:
                    self.keep_stderr(chunk)
                self.note("err", Chunk(len(chunk)), chunk)
        if ready.stdout:
            data = self.process.read_stdout(self.read_size)
            if data is None:
                self._end_of_output()
            elif data:
                data = data if self.alter is None else self.alter(data)
                self._after_death += len(data) if ready.exited else 0
                if not self._eof:
                    self.hear_bytes(data)
        # A descendant that holds stdout may write for ever: what the dead process can have left there is bounded.
        if ready.exited and not self._eof and (not ready.stdout or self._after_death > LAST_WORDS):
            self._held_open = True
            self._end_of_output(whole=not ready.stdout)

    def _end_of_output(self, *, whole: bool = True) -> None:
        """End of file: the rest is a frame, if that is the whole of it; the process is dead or soon will be."""
        if self._eof:
            return
        self._eof = True
        rest = self.framer.close()
        if rest is not None and whole:
            self._hear([rest])
        self._await_death()
        if self.exit is None:
            self.note("process", StdoutClosed())

    def _await_death(self) -> None:
        """Stdout or stdin is closed: give the process a moment to be dead, so that its true end is told.

        What it still says is read meanwhile: a full pipe must not keep it alive.
        """
        until = self.now + self.judge.profile.limits.get("grace", DIES_WITHIN)
        while self.exit is None and (left := until - self.now) > 0:
            self.hear(self._poll(left))
            self._take_exit(self.process.exited())

    def _take_exit(self, end: Exited | None) -> None:
        if end is not None and self.exit is None:
            if self._held_open:
                end = replace(end, holders=describing.holders(self.process))
            if unread := (self.process.stdin_unread() or 0) + len(self.stdin.buffer):
                end = replace(end, unread=unread)
            self.exit = end
            self.note("process", end)

    # --- the end ------------------------------------------------------------------------------------------------

    def close_stdin(self) -> None:
        """Close the component's stdin, and wait for nothing."""
        self._closing = True
        self.process.close_stdin()
        self.note("process", StdinClosed())

    def close_pipes(self, messages: Iterable[FromStorm]) -> None:
        """Close its stdin and its stdout, with `messages` to be read in its stdin."""
        self.stdin.queue.extend(messages)
        self._fill()
        self._closing = self._eof = True
        # First, so that no answer finds a pipe: what stood in the stdin of a busy component was never answered either.
        self.process.close_stdout()
        with suppress(BrokenStdin):
            self.process.write(self.stdin.buffer)
        self.stdin.buffer.clear()
        self.process.close_stdin()
        self.note("process", StdinClosed(stdout=True))

    def await_exit(self, limit: float) -> bool:
        """Wait for the end of a process whose stdout is closed; False if it lives on after `limit` seconds."""
        until = self.now + limit
        while self.exit is None and self._eof and (left := until - self.now) > 0:
            self.hear(self._poll(left))
            self._take_exit(self.process.exited())
        return self.exit is not None or not self._eof

    def hear_out(self, limit: float) -> None:
        """Read what it says until its end, for `limit` seconds at most."""
        until = self.now + limit
        while self.exit is None and (left := until - self.now) > 0:
            self.hear(self._poll(left))
            end = self.process.exited()
            # What it wrote last may have come between the reading and the look at it.
            while end is not None and self.now < until and (ready := self.process.poll(0, want_write=False)).stderr:
                self.hear(ready)
            self._take_exit(end)

    def check_stdin(self) -> None:
        """See whether anybody is left to read the component's stdin: Storm would find out with its next write."""
        if self.running and not (self._closing or self.judge.state.dismissed) and not self.process.has_reader():
            self._give_up_stdin(NO_READER)

    def end(self, term_wait: float) -> None:
        """End the process group, whatever it takes."""
        self._take_exit(self.process.end(term_wait=term_wait))
