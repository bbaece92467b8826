"""One conversation with one process: the handshake, waits with a limit, and the end.

Single-threaded. ``Pump`` moves the bytes and has events judged; ``shell/`` adds what Storm does for bolts and spouts.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Self

from multilang_cli.driver.pipes import SMALL_PIPE
from multilang_cli.driver.process import TERM_WAIT
from multilang_cli.driver.script import WaitingFor
from multilang_cli.driver.waits import describing, waiting, who_waits
from multilang_cli.driver.waits.allowance import BRIEFLY, STARVED, Allowance
from multilang_cli.driver.waits.starving import Starved
from multilang_cli.driver.waits.who_waits import Debts, Look
from multilang_cli.protocol.judge.bolt_rules import TIMER
from multilang_cli.protocol.words.events import Deadline, End, Exited, PidChecked, Signalled
from multilang_cli.protocol.words.shortening import head
from multilang_cli.protocol.words.verdicts import FATAL
from multilang_cli.protocol.words.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.pump import Pump
    from multilang_cli.protocol.words.events import Again
    from multilang_cli.protocol.words.messages import FromStorm, Handshake
    from multilang_cli.protocol.words.verdicts import Finding

OnWait = Callable[[WaitingFor, float, Waits], None]

_ANSWERS: frozenset[WaitingFor] = frozenset({"pid", "sync", "heartbeat", "settle", "plan"})
"""Waits that end early once the component is blocked reading its stdin, and nothing more will be sent."""

SILENT_BEFORE_LOOK = 0.25
"""Seconds without a byte after which a wait asks the system whether anything can still come."""
FULL = SMALL_PIPE - 512
"""Bytes in the pipe of a held stdout from which on the component must have met a full pipe."""
REST_SHOWN = 24
"""Bytes shown of a message that has no end."""
REST_KEPT = 400
"""Bytes of it that a Deadline keeps."""
DRAIN_READS = 32
"""Reads that empty the largest pipe."""
ON_WAIT_AFTER = 3.0
"""Seconds of a wait after which `Session.on_wait` is called."""
ON_WAIT_EVERY = 5.0
"""Seconds between two such calls."""
TIMEOUT_SLACK = 0.1
"""Seconds past Storm's timeout and one period of its timer from which on no answer is in time."""
POLL_INTERVAL = 0.05
"""Seconds between two looks at what no pipe reports, such as the pid file."""
QUIET_AFTER = 0.5
"""Seconds without a byte that count as quiet where the system does not tell what a process waits for."""


class Session:
    """One process in one conversation, from its handshake to its end.

    Its waits move bytes, have a limit, and end early if what is waited for can't come any more.

    `ended_by_us`: the process still lived when `end` was called. `as_storm`: waits last for the full limit, though
    nothing can come any more, but not past the end of the worker. `interrupted`: a person has stopped waiting: every
    wait ends, without a finding; None if waits can't be interrupted. `on_wait`: called during a long wait, with what is
    waited for, the seconds so far, and what the component is doing.
    """

    __slots__ = (
        "_ended",
        "_standstill",
        "_starved",
        "as_storm",
        "ended_by_us",
        "interrupted",
        "judge",
        "on_wait",
        "process",
        "pump",
    )

    def __init__(self, pump: Pump) -> None:
        self.pump = pump
        self.process, self.judge = pump.process, pump.judge
        self.as_storm = self.ended_by_us = False
        self.interrupted: bool | None = None
        self.on_wait: OnWait | None = None
        self._ended = False
        self._starved = Starved(pump.process)
        self._standstill = waiting.Standstill(pump.process)

    def add_sink(self, sink: EventSink) -> None:
        """Send every later event to `sink`."""
        self.pump.events.sinks = (*self.pump.events.sinks, sink)

    @property
    def now(self) -> float:
        """Seconds since the conversation began."""
        return self.pump.clock.now

    @property
    def findings(self) -> list[Finding]:
        """All that was found so far."""
        return self.pump.events.findings

    @property
    def running(self) -> bool:
        """True while the component can still say something."""
        return self.pump.running

    @property
    def exit(self) -> Exited | None:
        """The end of the process, None while it runs."""
        return self.pump.exit

    @property
    def own_end(self) -> Exited | None:
        """The component's own exit; None while it lives or if we ended it."""
        return None if self.ended_by_us else self.exit

    def say(self, message: FromStorm) -> None:
        """Queue a message; it becomes an event when it is written to the pipe."""
        self.pump.stdin.queue.append(message)

    @property
    def idle(self) -> bool:
        """True if nothing is queued for the component."""
        return not (self.pump.stdin.queue or self.pump.stdin.answers)

    # --- waiting ------------------------------------------------------------------------------------------------

    def wait(
        self,
        done: Callable[[], bool],
        limit: float,
        waiting_for: WaitingFor,
        progress: Callable[[], object] | None = None,
        *,
        quietly: bool = False,
    ) -> bool:
        """Wait until `done`, for `limit` seconds since `progress` last gave another value; True if it is done.

        False if that took too long, noted as a Deadline about `waiting_for` unless `quietly`; without a Deadline if the
        component ended first or the wait was `interrupted`. Storm's timeout runs in every wait: a silence for which
        Storm ends the worker is a Deadline of its own, and a wait goes on past its limit while one is coming.
        """
        began = time.monotonic()
        over = done if self.interrupted is None else lambda: bool(self.interrupted) or done()
        waited = self._at_once(over, limit) or self._wait_on(
            over, limit, waiting_for, progress, began=began, quietly=quietly
        )
        return waited and not self.interrupted

    def _wait_on(
        self,
        done: Callable[[], bool],
        limit: float,
        waiting_for: WaitingFor,
        progress: Callable[[], object] | None,
        *,
        began: float,
        quietly: bool,
    ) -> bool:
        """Wait as `wait` does, which was called at `began`, where one round is not enough."""
        now = self.now
        allowed = Allowance(limit, now, began, progress)
        unmoved, tell = False, began + ON_WAIT_AFTER
        while not done():
            if not self.pump.running or (self.as_storm and self.worker_is_dead):
                return done()
            allowed.renew(now)
            overdue = self.judge.silence(now) - self.judge.timeout
            all_read = not (self.process.listening and self.process.stdout_unread())
            timed_out = overdue > TIMER + TIMEOUT_SLACK and all_read
            if timed_out or (unmoved and not self.as_storm and self._will_die(TIMER + TIMEOUT_SLACK - overdue)):
                self.give_up(self.pump.script.asks_with, self.judge.timeout + TIMER, proven=not timed_out)
                # A dead worker gets no answer: what a testee was asked to say is missing, whatever else it died of.
                profile = self.judge.profile
                return bool(profile.testee) and self.give_up("plan", profile.limits["plan"], proven=False)
            if now >= allowed.until and overdue <= 0:
                return self._last_chance(done) or (not quietly and self.give_up(waiting_for, limit, proven=False))
            before = self.pump.spoken
            most = self._patience() if self.pump.stdin.buffer else SILENT_BEFORE_LOOK
            patience = min(allowed.until - now if allowed.until > now else POLL_INTERVAL, most)
            self.pump.move(patience, done)
            now = self.now
            kept = self._give_back()
            if done():
                return True
            clock = time.monotonic()
            if (lost := allowed.lost(clock, kept, self._starved.lost)) is not None:
                self.pump.stand_still(lost)
                now = self.now
                if self.on_wait is not None and clock >= tell:
                    self.on_wait(waiting_for, clock - began, self.look().waits)
                    tell = clock + ON_WAIT_EVERY
            unmoved = self.pump.spoken == before
            within = max(0.0, allowed.until - now) + TIMER + TIMEOUT_SLACK
            ends_here = unmoved and not self.as_storm and waiting_for in _ANSWERS
            if ends_here and self._is_final(waiting_for, within) and not done():
                return not quietly and self.give_up(waiting_for, limit, proven=True)
        return True

    def _at_once(self, done: Callable[[], bool], limit: float) -> bool:
        """True if it is `done` now or after one round: most waits are that short, and need no clock."""
        if done():
            return True
        if not self.pump.running or (self.as_storm and self.worker_is_dead):
            return False
        patience = min(limit, self._patience() if self.pump.stdin.buffer else POLL_INTERVAL)
        self.pump.move(patience, done)
        return done()

    @property
    def worker_is_dead(self) -> bool:
        """True if the component has done what ends the worker of the Storm that is played."""
        return self.judge.fate in FATAL

    def _will_die(self, within: float) -> bool:
        """True if Storm waits for an answer, and the component can't move `within` the seconds until it gives up."""
        return self.judge.silence(self.now) > 0 and self._standstill.is_seen(within)

    def _last_chance(self, done: Callable[[], bool]) -> bool:
        """Read what was in the pipe when the limit ran out: it came in time. True if it is `done` then."""
        for _ in range(DRAIN_READS):
            if done() or not self.process.stdout_unread():
                break
            self.pump.move(0)
        if not done():
            self.pump.script.last_chance(done)
        return done()

    def not_settled(self, limit: float, *, proven: bool, again: Again | None = None) -> Literal[False]:
        """Note a Deadline for tuples that were not settled, after what was in the pipe was read. False."""
        self._last_chance(lambda: False)
        return self.give_up("settle", limit, proven=proven, again=again)

    def give_up(
        self, waiting_for: WaitingFor, limit: float, *, proven: bool, again: Again | None = None
    ) -> Literal[False]:
        """Note a Deadline: it did not come within `limit` seconds; `proven`: and never will. False, as waits return."""
        waits, facts = self.look()
        rest = head(self.pump.framer.pending[: REST_KEPT + 1].decode("utf-8", "backslashreplace"), REST_KEPT)
        self.pump.note("control", Deadline(waiting_for, limit, str(waits), proven, facts, again, rest))
        return False

    def _give_back(self) -> float:
        """Seconds for which we held back what the pipe could have taken: the clock does not count them."""
        kept, self.pump.stdin.pieces.kept = self.pump.stdin.pieces.kept, 0.0
        if kept:
            self.pump.stand_still(kept)
        return kept

    def stuck(self, within: float = math.inf) -> bool:
        """True if the component is certain to say nothing for the seconds `within`, so that waiting is of no use."""
        if self.pump.stdin.unwritten or self.process.stdout_unread():
            return False
        return waiting.stuck(self.process, within)

    @property
    def working(self) -> bool:
        """True if the component lives and runs, rather than waits, as far as the system tells."""
        return self.running and describing.describe(self.process).state == "running"

    def _is_final(self, waiting_for: WaitingFor, within: float) -> bool:
        """True if it will not come for the seconds `within`, whatever Storm's side may still send by itself."""
        later = waiting_for in self.pump.script.given_later
        if self.stuck(within):
            return not (later and self.pump.script.says_more())
        return not later and self._standstill.is_seen(within)

    def _patience(self) -> float:
        """Seconds for which a round with something to write may block: few within a message that goes in pieces."""
        return 0.001 if self.pump.stdin.pieces.any else SILENT_BEFORE_LOOK

    def wait_quiet(self, limit: float, silence: float = QUIET_AFTER, talk: float = math.inf) -> bool:
        """Wait until the component is blocked reading an empty stdin, and its stdout is read to the end.

        A barrier that needs no answer and makes no finding. `silence`: seconds without a byte that are enough where the
        system does not tell; time in which it was kept from running is not counted. False after `limit` seconds, or
        `talk` seconds of one that does not stop talking.
        """
        began = silent_since = self.now
        until = began + limit
        self._starved.lost()
        while self.running and self.now < until:
            before = self.pump.spoken
            self.pump.move(POLL_INTERVAL / 10)
            if self.pump.spoken != before:
                silent_since = self.now
                if silent_since - began > talk:
                    return False
            elif self.pump.stdin.unwritten:
                continue
            elif waiting.settled(self.process):
                return True
            elif self.now - silent_since > silence:
                if (lost := min(silence, self._starved.lost())) < BRIEFLY:
                    return True
                silent_since += lost
        return False

    def wait_stalled(self, limit: float, silence: float = QUIET_AFTER) -> bool:
        """Wait, while nobody reads its stdout, until the component is blocked writing or has nothing to write.

        True if the pipe is full. `silence`: seconds without a byte that are enough where the system does not tell; one
        that is seen to run is waited for. No clock runs meanwhile, neither Storm's nor ours.
        """
        waited = still = 0.0
        unread, stood = -1, self.now
        while self.running and waited < limit:
            self.pump.move(POLL_INTERVAL / 10)
            took = self.now - stood
            self.pump.stand_still(took)
            waited, still, stood = waited + took, still + took, self.now
            state = describing.describe(self.process).state
            drained = not self.pump.stdin.unwritten and waiting.at_rest(self.process)
            # Looked at last: what waits now was written before.
            if (now_unread := self.process.stdout_unread() or 0) != unread:
                unread, still = now_unread, 0.0
            silent = state != "running" and still > silence
            if state == "writing-stdout" or drained or silent:
                return state == "writing-stdout" or unread >= FULL
        return False

    def look(self) -> Look:
        """Tell who waits on whom: what the component is doing, as far as the system tells, and what is pending."""
        self.pump.events.take_put_off()
        return who_waits.look(describing.describe_waiting(self.process), self._debts())

    @property
    def rest(self) -> bytes:
        """The bytes of a message that has no end yet: the last of it."""
        return self.pump.framer.pending.strip()[-REST_SHOWN:]

    def _debts(self) -> Debts:
        pending, state = self.judge.outstanding(), self.judge.state
        reentered = state.reentered >= 0
        return Debts(
            pid=pending.handshake,
            command=pending.commands[-1 if reentered else 0].what if pending.commands else "",
            heartbeats=len(pending.heartbeats),
            tuples=len(pending.tuples),
            end=state.dismissed,
            task_ids=pending.task_ids,
            held=self.pump.stdin.held,
            reentered=reentered,
            unasked=self._unasked(),
            unsent=len(self.pump.stdin.buffer),
            rest=self.rest,
        )

    def _unasked(self) -> Literal["", "direct", "declined"]:
        """The way in which the last emit made sure that no task ids come; "" if it did not, or is not known."""
        last = self.pump.script.last_emit
        if last is None:
            return ""
        return "direct" if last.task else "" if last.wants_task_ids else "declined"

    def handshake(self, message: Handshake, limit: float, *, await_file: bool = False) -> bool:
        """Send the handshake and wait for the first message; checks the pid and its file. False if none came."""
        self.say(message)
        if not self.await_pid(limit):
            return False
        self.check_pid(await_file=await_file)
        return True

    def await_pid(self, limit: float) -> bool:
        """Wait for the first message. False if none came."""
        # In small pieces it takes its time: the limit begins when all is written.
        return self.wait(lambda: not self.judge.expecting_pid, limit, "pid", self._piped)

    def check_pid(self, *, await_file: bool) -> None:
        """Look at the announced pid and its file.

        The file may come a moment after the reply: whoever wants to know whether it comes at all waits for it.
        """
        if self.pump.pid is None or not self.running:
            return
        until = self.now + (self.judge.profile.limits.get("pid-file", 0.0) if await_file else 0.0)
        while (file := self.process.pid_file(self.pump.pid)) == "missing" and self.now < until and self.running:
            self.pump.move(POLL_INTERVAL)
        told = file if await_file or file != "missing" else "unknown"
        self.pump.note("process", PidChecked(self.pump.pid, self.process.relation(self.pump.pid), told))

    # --- the end ------------------------------------------------------------------------------------------------

    def flush(self, limit: float) -> bool:
        """Wait until everything queued is in the pipe. False, with a finding, if the component does not read."""
        return self.wait(lambda: not self.pump.stdin.unwritten, limit, "read", self._piped)

    def _piped(self) -> int:
        """Bytes that the pipe has taken so far."""
        return self.pump.stdin.piped

    def close_stdin(self, limit: float) -> bool:
        """End of file on the component's stdin, as when a worker dies; it must end by itself within `limit` seconds."""
        self.flush(limit)
        self.pump.close_stdin()
        return self._wait_end(limit, "exit-after-eof")

    def lose_worker(self, messages: Iterable[FromStorm], limit: float) -> bool:
        """Close its stdin and its stdout, as the death of a worker does, with `messages` to be read in its stdin.

        It must end by itself within `limit` seconds. Its stderr is read on: what it dies of is worth knowing.
        """
        self.flush(limit)
        if not self.running:
            return self.exit is not None
        self.pump.close_pipes(messages)
        return self._wait_end(limit, "exit-after-eof")

    def hear_out(self, limit: float) -> None:
        """Close its stdin and hear what it held back, for `limit` seconds at most: proof of a missing flush.

        No finding comes of it: this is the end of the conversation, and the process is ended by us.
        """
        self.ended_by_us = True
        self.pump.close_stdin()
        self._hear_on(limit)

    def ask_where(self, number: int, limit: float) -> None:
        """Send it the signal at which its runtime tells where it stands, and ends; hear that out, without a finding."""
        self.ended_by_us = True
        self.pump.note("process", Signalled(number))
        self.process.ask(number)
        self._hear_on(limit)

    def _hear_on(self, limit: float) -> None:
        """Hear it until its end, or for `limit` seconds; those in which it was kept from running do not count."""
        self._starved.lost()
        left, spare = limit, STARVED * limit
        while left >= BRIEFLY and self.exit is None:
            self.pump.hear_out(left)
            left = min(spare, self._starved.lost())
            spare -= left

    def terminate(self, limit: float) -> bool:
        """SIGTERM, as ``Process.destroy`` in ShellProcess; the component must end within `limit` seconds.

        Java's ``Process.destroy`` then closes its stdin. That ends a component whose handler only sets a flag, or ran
        just before it began to read. The stdin of one that ignores the signal stays open, so that this is seen.
        """
        catches = self.process.catches(signal.SIGTERM)
        self.pump.note("process", Signalled(signal.SIGTERM))
        self.process.signal(signal.SIGTERM)
        if catches:
            self.pump.close_stdin()
        return self._wait_end(limit, "exit-after-term")

    def _wait_end(self, limit: float, waiting_for: WaitingFor) -> bool:
        until = self.now + limit
        self.wait(lambda: self.exit is not None, limit, waiting_for)
        if not self.pump.await_exit(until - self.now):
            self.give_up(waiting_for, limit, proven=False)
        return self.exit is not None

    def end(self) -> Exited | None:
        """The conversation is over: end the process group, whatever it takes, and say how the process ended."""
        if not self._ended and self.exit is None:
            self.pump.note("process", Signalled(signal.SIGTERM))
        return self.finish(TERM_WAIT)

    def finish(self, wait: float) -> Exited | None:
        """`end` without the note that we end it, for where that was noted; the process is given `wait` seconds."""
        if not self._ended:
            self._ended = True
            self.ended_by_us = self.ended_by_us or self.exit is None
            self.pump.end(wait)
            self.pump.note("control", End())
        return self.exit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
