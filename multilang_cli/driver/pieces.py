"""Messages that a component gets in parts: each part waits until the one before it was read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from multilang_cli.driver.waits import waiting

if TYPE_CHECKING:
    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.protocol.words.messages import FromStorm

EMPTY = 0.1
"""Seconds of an empty stdin that count as waiting for more, where nobody is seen to: a poller sleeps in between."""
EDGE = 64
"""Bytes at both ends of a message that are written in the smallest pieces."""
WOKEN = 0.1
"""Seconds that it costs a component at most to be woken for a message: what takes longer is work of its own."""
BULK = 61
"""Bytes of a piece in between: no multiple of what characters, words and blocks are long."""


class Pieces:
    """Cuts the bytes for a component.

    `piece`: write so many bytes at a time, more in the plain middle of a long message (0: as fast as it goes).
    `pieced`: the messages, by seq, that were written in parts. `to_cut`: the kind of message that is to be cut next,
    and where; `hold`: seconds for which its rest is kept back once it is awaited. `kept`: seconds for which bytes were
    kept back that the pipe could have taken, not yet given back.
    """

    __slots__ = ("_cut_at", "_empty_since", "_piece_since", "_reads_on", "hold", "kept", "piece", "pieced", "to_cut")

    def __init__(self) -> None:
        self.piece = 0
        self.pieced: set[int] = set()
        self.to_cut: tuple[type[FromStorm], int] | None = None
        self.hold = 0.0
        self.kept = 0.0
        self._cut_at: int | None = None
        self._empty_since: float | None = None
        self._piece_since: float | None = None
        self._reads_on = False

    def cut(self, kind: type[FromStorm], at: int, hold: float = 0.0) -> None:
        """Cut the next message of a kind after `at` bytes: the rest follows when those were read and more is awaited.

        Without the wait both parts would come to the component as one. `hold`: seconds to wait beyond that.
        """
        self.to_cut, self.hold = (kind, at), hold

    @property
    def any(self) -> bool:
        """True if not all that is in the buffer may be written at once."""
        return self.piece > 0 or self._cut_at is not None

    def mark(self, message: FromStorm, seq: int, offset: int, size: int) -> None:
        """Note a message of `size` bytes that begins at `offset`: it may be the one to cut."""
        if self.to_cut is not None and isinstance(message, self.to_cut[0]):
            self._cut_at, self.to_cut = offset + min(self.to_cut[1], size - 1), None
            self.pieced.add(seq)
        if self.piece:
            self.pieced.add(seq)

    def mark_all(self, seq: int, count: int) -> None:
        """Note messages of which none is to be cut."""
        if self.piece:
            self.pieced.update(range(seq, seq + count))

    def size(self, process: ComponentProcess, buffer: bytearray, written: int, now: float) -> int:
        """The number of bytes of `buffer` that may be written now; 0 while a part is still to be read.

        `written`: the bytes so far with those of the buffer. `now`: seconds of the conversation.
        """
        if self.piece:
            return self._next_piece(process, buffer, written)
        ahead = (self._cut_at or 0) - (written - len(buffer))
        if ahead > 0:
            return min(ahead, len(buffer))
        if not self._awaits_more(process, now) or now - (self._empty_since or now) < self.hold:
            return 0
        self.kept += now - (self._empty_since or now)
        self._cut_at, self._empty_since, self.hold = None, None, 0.0
        return len(buffer)

    def took(self, *, all_of_it: bool) -> None:
        """Note that the pipe took something: if all, the next message begins anew."""
        if all_of_it:
            self._piece_since, self._reads_on = None, False

    def _next_piece(self, process: ComponentProcess, buffer: bytearray, written: int) -> int:
        """Bytes of the next piece: more in the plain middle of a long message, where each place is like the others.

        Each piece waits until the component was run, and we were, which takes long where the machine is busy. Who has
        read the first of them is in the midst of a reading, which Storm's own writing would not make it wait for.
        """
        if process.stdin_unread():
            return 0
        now = time.monotonic()
        if self._piece_since is not None:
            took = now - self._piece_since
            self.kept += took if self._reads_on else min(WOKEN, took)
            self._reads_on = True
        self._piece_since = now
        left = len(buffer)
        edge = left <= EDGE or written - left < EDGE
        plain = not edge and buffer[:BULK].isascii()
        return max(self.piece, min(BULK, left - EDGE)) if plain else self.piece

    def _awaits_more(self, process: ComponentProcess, now: float) -> bool:
        """True if it has read the part that was written, and waits for what follows."""
        if process.stdin_unread():
            self._empty_since = None
            return False
        self._empty_since = now if self._empty_since is None else self._empty_since
        return now - self._empty_since >= EMPTY or waiting.reading(process)
