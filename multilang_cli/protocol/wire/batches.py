"""Batches: events of one pipe that came together and have nothing odd about them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, count, repeat
from typing import TYPE_CHECKING, Any, Literal, overload

from multilang_cli.protocol.wire.framing import TERMINATOR, texts_of
from multilang_cli.protocol.words.events import Event

if TYPE_CHECKING:
    from collections.abc import Iterator


class Batch(Sequence[Event]):
    r"""The events of frames that went through one pipe together, so at one time; they are made when looked at.

    Like the `Event` of the first frame, but `data` are the bytes of all, `bodies` their messages: each frame is an
    object or array on one line, with nothing around it, and ``\nend\n``. Whoever needs no events looks at these.
    """

    __slots__ = ("_events", "_texts", "bodies", "channel", "data", "offset", "seq", "t")

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
        self._events: list[Event] = []

    @property
    def texts(self) -> Sequence[bytes]:
        """The bytes of each frame, without its terminator."""
        if not self._texts:
            self._texts = texts_of(self.data)
        return self._texts

    def _all(self) -> list[Event]:
        if not self._events:
            raws = [text + TERMINATOR for text in self.texts]
            offsets = accumulate(map(len, raws), initial=self.offset)
            columns = (count(self.seq), repeat(self.t), repeat(self.channel), self.bodies, raws, offsets)
            self._events = list(map(Event, *columns))
        return self._events

    def __len__(self) -> int:
        return len(self.bodies)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]
