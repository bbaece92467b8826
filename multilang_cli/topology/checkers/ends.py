"""Ends of spouts' emissions: each once, where it came from, when all of its tree is done, and not too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.topology.checkers.checker import TIMER_LATE, Checker, Excusing, RunFacts

if TYPE_CHECKING:
    from multilang_cli.topology.history import Delivered, Died, EmissionEnded, Emitted, Faulted, Lost, TupleSettled


class EndsOnce(Checker):
    """Every reliable emission ends in exactly one ack or fail, at the spout's task that emitted it."""

    id = "ends-once"
    title = "Every reliable emission ends once, at the task that emitted it"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._open: dict[int, tuple[int, float]] = {}

    def emitted(self, event: Emitted) -> None:
        """One more to be answered, if it has a message id."""
        if event.task in self.facts.spouts and event.message_id is not None:
            self._open[event.n] = (event.task, event.t)

    def ended(self, event: EmissionEnded) -> None:
        """Take the answer to an emission: there must be one only."""
        task, _ = self._open.pop(event.emit, (0, 0.0))
        if not task:
            self.wrong(f"emission {event.emit} was {event.how} though nobody waited for it any more", event.emit)
        elif task != event.task:
            at = self.facts.name(event.task)
            self.wrong(f"emission {event.emit} of task {task} was {event.how} at {at}", event.emit)

    def died(self, event: Died) -> None:
        """With a spout's worker, what it waited for is forgotten: its source has to replay."""
        gone = self.facts.gone(event)
        self._open = {n: each for n, each in self._open.items() if each[0] not in gone}

    def finish(self) -> None:
        """Report what is still pending."""
        timeout = self.facts.timeout
        for number, (task, t) in self._open.items():
            if not timeout or self.t - t < 2 * timeout + TIMER_LATE:
                self.unknown(f"the run ended before emission {number} of {self.facts.name(task)} did", number)
            else:
                self.wrong(f"emission {number} of {self.facts.name(task)} never ended", number)


class AckedIsDone(Checker):
    """Acked means that every descendant was acked."""

    id = "acked-is-done"
    title = "What is acked is done: every tuple of its tree was acked"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._root_of: dict[int, int] = {}
        self._open: dict[int, dict[int, int]] = {}
        self._edges: dict[int, dict[int, int]] = {}
        self._fresh = (0, set[int]())

    def emitted(self, event: Emitted) -> None:
        """A new tree, or more of one."""
        self._fresh = (event.n, set())
        if event.root is not None:
            self._root_of[event.n] = event.root
            self._open[event.root] = {}

    def delivered(self, event: Delivered) -> None:
        """An edge in each tree. A tree with a tuple that is delivered again is not judged.

        The first copy's ack ends the edge, and the acker calls the tree done while the second copy's tuples are open.
        """
        self._edges[event.n] = event.edges
        if event.again:
            for root in event.edges:
                self._open.pop(root, None)
        number, fresh = self._fresh
        if event.emit == number:
            for root, edge in event.edges.items():
                if root in self._open and edge not in fresh:
                    self._open[root][edge] = event.task
                fresh.add(edge)

    def settled(self, event: TupleSettled) -> None:
        """Of an acked edge, nothing more is asked."""
        edges = self._edges.pop(event.delivery, {})
        if event.how == "ack":
            for root, edge in edges.items():
                if root in self._open:
                    self._open[root].pop(edge, None)

    def lost(self, event: Lost) -> None:
        """Nobody will settle it: its edges stay open."""
        self._edges.pop(event.delivery, None)

    def ended(self, event: EmissionEnded) -> None:
        """Nothing may be open if it was acked."""
        root = self._root_of.pop(event.emit, None)
        still = {} if root is None else self._open.pop(root, {})
        if event.how == "acked" and still:
            edge, task = next(iter(still.items()))
            whose = self.facts.name(task)
            self.wrong(f"emission {event.emit} was acked, but its tuple {edge} for {whose} was not", event.emit)


class NotTooEarly(Checker):
    """No tuple times out before its time, but by a fault that is just that."""

    id = "no-early-expiry"
    title = "Nothing times out before topology.message.timeout.secs"
    about = "limit"
    _forced = -1.0

    def faulted(self, event: Faulted) -> None:
        """All that times out at that moment is its doing."""
        if event.fault.startswith("time-out:"):
            self._forced = event.t

    def ended(self, event: EmissionEnded) -> None:
        """A time-out comes between one and two message timeouts after the emit."""
        if event.how == "timed out" and event.latency < self.facts.timeout and event.t != self._forced:
            told = f"emission {event.emit} timed out after {event.latency:.3f} s, of {self.facts.timeout:g}"
            self.wrong(told, event.emit)


class InTime(Excusing):
    """Check that what no fault and no death has to do with is settled before it times out."""

    id = "settled-in-time"
    title = "What no fault touches is settled before it times out"
    about = "limit"

    def ended(self, event: EmissionEnded) -> None:
        """It may have been emitted before, while or shortly after something was wrong."""
        if event.how == "timed out" and not self.excused(event.t - event.latency, 2 * self.facts.timeout):
            told = f"emission {event.emit} timed out after {event.latency:.3f} s, and no fault was to blame"
            limit = f"topology.message.timeout.secs is {self.facts.timeout:g}"
            self.wrong(f"{told}: who holds it never settles it, or takes longer than that; {limit}", event.emit)
