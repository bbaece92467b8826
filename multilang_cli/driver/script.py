"""Hooks of a session: Storm's side as far as it acts by itself in a conversation."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from multilang_cli.protocol.wire.framing import LENGTHY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.protocol.wire.batches import Batch
    from multilang_cli.protocol.words.messages import Emit

WaitingFor = Literal[
    "pid", "sync", "heartbeat", "settle", "exit-after-eof", "exit-after-term", "read", "output", "plan", "host"
]

Handler = Callable[[Any, int], None]
"""Does what follows from a message, given about how many bytes that has."""


class Script:
    """Storm's side as far as it acts by itself. This one does nothing: all is said by whoever has the session.

    `handlers`: what is done on which message, by its class. `ids_overtake`: a thread of Storm's own writes what is
    queued, so that task ids may come before it. `lengthy`: bytes that may come together from which on they are read
    together. `asks_with`: what Storm ends the worker for if it stays unanswered. `given_later`: what a component may
    give on something that is said by the clock.
    """

    __slots__ = ()

    handlers: Mapping[type, Handler] = MappingProxyType({})
    ids_overtake = True
    lengthy = LENGTHY
    asks_with: WaitingFor = "sync"
    given_later: frozenset[WaitingFor] = frozenset()

    def take(self, batch: Batch) -> bool:
        """Do what follows from all messages of a batch together; False if that has to be done one by one."""
        del batch
        return False

    def before_round(self, timeout: float) -> float:
        """Do what is due before bytes are moved; the seconds, at most `timeout`, until more is."""
        return timeout

    def last_chance(self, done: Callable[[], bool]) -> None:
        """Wait for what may be under way to `done` when a limit runs out."""

    def says_more(self) -> bool:
        """True if something is said, or is due, on which a component at rest may give what is `given_later`."""
        return False

    def answer(self, emit: Emit) -> None:
        """Answer an emit that was taken while somebody else played."""

    @property
    def last_emit(self) -> Emit | None:
        """The last emit, None if that is not known."""
        return None


SILENT = Script()
