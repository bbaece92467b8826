"""Events that came together and have nothing odd about them: of one pipe at one time, or of both as recorded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, count, repeat
from typing import TYPE_CHECKING, Any, Literal

from multilang_cli.protocol.wire.framing import TERMINATOR, texts_of
from multilang_cli.protocol.wire.lazy import LazySequence
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.messages import Sync

if TYPE_CHECKING:
    from collections.abc import Sequence

    import msgspec

    from multilang_cli.protocol.words.events import Channel
    from multilang_cli.protocol.words.messages import SpoutCommand

_SYNC = Sync()
_NONE: frozenset[type] = frozenset()


class Usual(list[Any]):
    """Messages of a component that came together, of which no emit says more than its values and anchors.

    So each emit is on the default stream, wants its task ids and has neither a task, an id nor hazards.
    """


class Batch(LazySequence[Event]):
    r"""The events of frames that went through one pipe together, so at one time; they are made when looked at.

    Like the `Event` of the first frame, but `data` are the bytes of all, `bodies` their messages: each frame is an
    object or array on one line, with nothing around it, and ``\nend\n``. Whoever needs no events looks at these.
    """

    __slots__ = ("_kinds", "_texts", "bodies", "channel", "data", "offset", "seq", "t")

    def __init__(
        self,
        seq: int,
        t: float,
        channel: Literal["in", "out"],
        bodies: Sequence[Any],
        *,
        data: bytes,
        offset: int,
        texts: Sequence[bytes] = (),
    ) -> None:
        self.seq = seq
        self.t = t
        self.channel = channel
        self.bodies = bodies
        self.data = data
        self.offset = offset
        self._texts = texts
        self._kinds = _NONE

    @property
    def kinds(self) -> frozenset[type]:
        """The classes of the messages."""
        if not self._kinds:
            self._kinds = frozenset(map(type, self.bodies))
        return self._kinds

    @property
    def texts(self) -> Sequence[bytes]:
        """The bytes of each frame, without its terminator."""
        if not self._texts:
            self._texts = texts_of(self.data)
        return self._texts

    def _made(self) -> list[Event]:
        raws = [text + TERMINATOR for text in self.texts]
        offsets = accumulate(map(len, raws), initial=self.offset)
        columns = (count(self.seq), repeat(self.t), repeat(self.channel), self.bodies, raws, offsets)
        return list(map(Event, *columns))

    def __len__(self) -> int:
        return len(self.bodies)


class EmptyTurns(LazySequence[Event]):
    """Commands to a spout, each answered by its sync alone before the next is told; events are made when looked at.

    `seq` of the first command; `offsets`: where it and the first sync begin in their streams; `commands`, `told`: their
    bytes; `syncs`: those of the answers; `times`: when each was told, and answered.
    """

    __slots__ = ("commands", "offsets", "seq", "syncs", "times", "told")

    def __init__(self, seq: int, offsets: tuple[int, int]) -> None:
        self.seq = seq
        self.offsets = offsets
        self.commands: list[SpoutCommand] = []
        self.told: list[bytes] = []
        self.syncs: list[bytes] = []
        self.times: list[tuple[float, float]] = []

    def add(self, command: SpoutCommand, told: bytes, sync: bytes, times: tuple[float, float]) -> None:
        """Add the next turn; `times`: when it was told, and answered."""
        self.commands.append(command)
        self.told.append(told)
        self.syncs.append(sync)
        self.times.append(times)

    @property
    def ends(self) -> tuple[int, int]:
        """Ends of the last command and the last sync in their streams."""
        return self.offsets[0] + sum(map(len, self.told)), self.offsets[1] + sum(map(len, self.syncs))

    def _made(self) -> list[Event]:
        (told_at, said_at), seq, made = self.offsets, self.seq, list[Event]()
        for command, told, sync, (asked, answered) in zip(
            self.commands, self.told, self.syncs, self.times, strict=True
        ):
            made.append(Event(seq, asked, "in", command, told, told_at))
            made.append(Event(seq + 1, answered, "out", _SYNC, sync, said_at))
            seq, told_at, said_at = seq + 2, told_at + len(told), said_at + len(sync)
        return made

    def __len__(self) -> int:
        return 2 * len(self.commands)


@dataclass(slots=True, eq=False)
class RecordedEvents(LazySequence[Event]):
    """Events of plain frames of both pipes, in the order of their seq, as a recording tells them; made when looked at.

    `seq` of the first; `bodies` and `times` of each; `raws`: its bytes, without the terminator; `sent`: True if Storm
    said it; `offsets`: where the first of each pipe begins in its stream; `is_simple`: of all that Storm said, see
    ``encoding``; `is_usual`: what the component said is `Usual`.
    """

    seq: int
    bodies: Sequence[Any]
    times: Sequence[float]
    sent: Sequence[bool]
    raws: Sequence[msgspec.Raw]
    offsets: dict[Channel, int]
    is_simple: bool
    is_usual: bool = False

    def _made(self) -> list[Event]:
        ends, made = dict(self.offsets), list[Event]()
        columns = zip(self.times, self.sent, self.bodies, self.raws, strict=True)
        for seq, (t, sent, body, raw) in enumerate(columns, self.seq):
            channel: Channel = "in" if sent else "out"
            frame = bytes(raw) + TERMINATOR
            made.append(Event(seq, t, channel, body, frame, ends[channel]))
            ends[channel] += len(frame)
        return made

    def part(self, begin: int, end: int) -> RecordedEvents:
        """The events from the place `begin` up to `end`."""
        offsets = dict(self.offsets)
        for sent, raw in zip(self.sent[:begin], self.raws, strict=False):
            offsets["in" if sent else "out"] += len(raw) + len(TERMINATOR)
        return RecordedEvents(
            self.seq + begin,
            self.bodies[begin:end],
            self.times[begin:end],
            self.sent[begin:end],
            self.raws[begin:end],
            offsets,
            self.is_simple,
            self.is_usual,
        )

    def __len__(self) -> int:
        return len(self.bodies)
