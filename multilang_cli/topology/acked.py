"""The ack framework step by step: what an acker was told of one root, and what its record held after that. Pure.

The worked example is that of the published descriptions of the framework: a spout's tuple 0100, and a bolt's 0010.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.acking.acker import Acker
from multilang_cli.acking.messages import AckAck, AckInit
from multilang_cli.protocol.words.shortening import head
from multilang_cli.reports.trees import hexadecimal
from multilang_cli.topology.history import AckerTold, Delivered, EmissionEnded, Emitted, Launched, Lost, TupleSettled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multilang_cli.acking.messages import AckerMessage
    from multilang_cli.topology.history import Happening

SHOWN_OF_VALUES = 60
"""Characters of the values of an emission that are shown."""


class AckStep(msgspec.Struct, frozen=True):
    """A step at `t` seconds. `text`: what happened. `sent`: what an acker XORed into its record, which held `before`.

    `sent` is None where no acker was told anything. Ids are signed 64-bit integers.
    """

    t: float
    text: str
    sent: int | None = None
    before: int = 0

    @property
    def after(self) -> int:
        """The record's value after the step."""
        return self.before ^ (self.sent or 0)


def plain_steps(steps: Iterable[AckStep]) -> list[dict[str, Any]]:
    """Steps as plain values, ids in hexadecimal digits: many a reader of JSON has no integers of 64 bits."""
    return [
        {
            "t": step.t,
            "text": step.text,
            "sent": None if step.sent is None else hexadecimal(step.sent),
            "before": hexadecimal(step.before),
            "after": hexadecimal(step.after),
        }
        for step in steps
    ]


class NoRootError(LookupError):
    """There is no such emission in a history, or no acker follows it; the message says which."""


def worked_example() -> tuple[AckStep, ...]:
    """The example 0100, 0010, played by the acker of this package."""
    acker, root, steps = Acker(), 1, list[AckStep]()

    def told(t: float, text: str, message: AckerMessage, sent: int) -> None:
        """Tell the acker, and note what it holds then."""
        before = acker.val(root)
        reply = acker.execute(message, t)
        steps.append(AckStep(t, text, sent, before))
        if reply is not None:
            steps.append(
                AckStep(t, f"the value is zero: the acker forgets the root, and tells the spout on {reply.stream}")
            )

    steps.append(AckStep(0, "the spout emits a tuple with a message id: edge 0100 to bolt1"))
    told(0, "the spout's task sends the acker the edge, with its own task id", AckInit(root, 0b0100, 1), 0b0100)
    steps.append(AckStep(1, "bolt1 emits, anchored to that tuple: edge 0010 to bolt2; the acker is told nothing yet"))
    told(1, "bolt1 acks 0100: it sends 0100 XOR 0010, the edges that it made", AckAck(root, 0b0110), 0b0110)
    told(2, "bolt2 acks 0010, and made no edge: it sends 0010", AckAck(root, 0b0010), 0b0010)
    steps.append(AckStep(2, "the spout drops the message id from its pending ones, and its component gets `ack`"))
    return tuple(steps)


def a_root_in(events: Iterable[Happening]) -> int:
    """The number of the emission to look at: the first followed one that was not acked, else the first followed one.

    Raises NoRootError.
    """
    first, acked = 0, set[int]()
    followed: list[int] = []
    for event in events:
        if isinstance(event, Emitted) and event.root is not None and event.message_id is not None:
            first = first or event.n
            followed.append(event.n)
        elif isinstance(event, EmissionEnded) and event.how == "acked":
            acked.add(event.emit)
    if not first:
        raise NoRootError("no emission of the run was followed: none had a message id, or there was no acker")
    return next((number for number in followed if number not in acked), first)


def steps_of(events: Iterable[Happening], emission: int) -> Iterator[AckStep]:
    """The steps of an emission, by its number. Raises NoRootError."""
    following = _Following(emission)
    for event in events:
        if (handle := following.handlers.get(event.__class__)) and (step := handle(event)):
            yield step
    if following.root is None:
        raise NoRootError(f"there is no emission {emission} in this run")


class _Following:
    """Follows one emission through a history. `edges`: by delivery, its edge and who holds it."""

    def __init__(self, emission: int) -> None:
        self.emission = emission
        self.root: int | None = None
        self._val = 0
        self._names: dict[int, str] = {}
        self._emits: dict[int, Emitted] = {}
        self._edges: dict[int, tuple[int, str]] = {}
        self.handlers: dict[type[Happening], Callable[[Any], AckStep | None]] = {
            Launched: self._launched,
            Emitted: self._emitted,
            Delivered: self._delivered,
            TupleSettled: self._settled,
            Lost: self._lost,
            AckerTold: self._told,
            EmissionEnded: self._ended,
        }

    def _who(self, task: int) -> str:
        return f"{self._names.get(task, 'a component')}, task {task}"

    def _launched(self, event: Launched) -> None:
        self._names[event.task] = event.component

    def _emitted(self, event: Emitted) -> AckStep | None:
        if any(anchor in self._edges for anchor in event.anchors):
            self._emits[event.n] = event
        if event.n != self.emission:
            return None
        self.root = event.root
        if event.root is None:
            raise NoRootError(
                f"emission {event.n} has no message id, or there is no acker: nobody follows it; take a spout's: 1"
            )
        values = head(event.values, SHOWN_OF_VALUES)
        return AckStep(event.t, f"{self._who(event.task)} emits {values}: root {hexadecimal(event.root)}")

    def _delivered(self, event: Delivered) -> AckStep | None:
        if self.root is None or self.root not in event.edges:
            return None
        emit, edge = self._emits.pop(event.emit, None), event.edges[self.root]
        made = f"{self._who(emit.task)} emits {head(emit.values, SHOWN_OF_VALUES)}, anchored; " if emit else ""
        self._edges[event.n] = edge, self._who(event.task)
        return AckStep(event.t, f"{made}its tuple goes to {self._who(event.task)}: edge {hexadecimal(edge)}")

    def _settled(self, event: TupleSettled) -> AckStep | None:
        edge, holder = self._edges.get(event.delivery, (0, ""))
        return AckStep(event.t, f"{holder} {event.how}s {hexadecimal(edge)}") if edge else None

    def _lost(self, event: Lost) -> AckStep | None:
        edge, holder = self._edges.get(event.delivery, (0, ""))
        return AckStep(event.t, f"{hexadecimal(edge)} is lost with {holder}") if edge else None

    def _told(self, event: AckerTold) -> AckStep | None:
        if event.root != self.root:
            return None
        before, self._val = self._val, event.val
        return AckStep(event.t, f"acker, task {event.task}: {event.what}", before ^ event.val, before)

    def _ended(self, event: EmissionEnded) -> AckStep | None:
        if event.emit != self.emission:
            return None
        return AckStep(event.t, f"{self._who(event.task)} learns, after {event.latency * 1000:,.1f} ms: {event.how}")
