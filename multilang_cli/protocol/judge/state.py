"""State of the judge: its memory of a conversation, and the order of phases. Plain data: it can be saved."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from typing import Annotated, Any, Literal

import msgspec

from multilang_cli.protocol.words import events, messages
from multilang_cli.protocol.words.asked import Memory
from multilang_cli.protocol.words.feeds import HostMemory
from multilang_cli.protocol.words.verdicts import Fate

Phase = Literal["start", "handshake", "running", "closing", "ended"]

# The first message of the component ends the handshake whatever it says: Storm takes it for the pid.
TRANSITIONS: dict[Phase, dict[type, Phase]] = {
    "start": {messages.Handshake: "handshake", events.Exited: "ended"},
    "handshake": {
        messages.Pid: "running",
        messages.Malformed: "running",
        events.StdinClosed: "closing",
        events.Signalled: "closing",
        events.Exited: "ended",
    },
    "running": {events.StdinClosed: "closing", events.Signalled: "closing", events.Exited: "ended"},
    "closing": {events.Exited: "ended"},
    "ended": {},
}
"""What moves a conversation from phase to phase; anything else leaves it where it is."""

MOVERS = frozenset(kind for moves in TRANSITIONS.values() for kind in moves)

Seq = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""The seq of an event, as it is kept of an id."""
REMEMBERED = 65_536
"""How many settled ids are remembered at least; a second settle of an older one counts as unknown."""
PACKED_TOGETHER = 4_096
"""Ids that are packed together."""


class Remembered(msgspec.Struct):
    """A bounded memory of ids, each with the seq of an event. All is added, hardly anything is ever looked up.

    So only the last ids stand in a dict; older ones are packed as JSON text, `PACKED_TOGETHER` in each of `packed`, the
    oldest first: 32 bytes an id instead of some 200.
    """

    young: dict[str, Seq] = {}
    packed: list[str] = []

    def add(self, key: str, seq: int) -> None:
        """Remember `key` with the event it belongs to."""
        self.young[key] = seq
        self.pack()

    def pack(self) -> None:
        """Pack the last ids if they are many, as is due behind what is added to `young` itself."""
        while len(self.young) >= PACKED_TOGETHER:
            ids = iter(self.young.items())
            self.packed.append(_packed(dict(islice(ids, PACKED_TOGETHER))))
            self.young = dict(ids)
            del self.packed[: -REMEMBERED // PACKED_TOGETHER]

    def get(self, key: str) -> int | None:
        """The seq that was remembered for `key` last, None if it is unknown or forgotten."""
        if (found := self.young.get(key)) is not None:
            return found
        wanted = hash(key)
        for hashes, seqs in map(_index_of, reversed(self.packed)):
            at = bisect_left(hashes, wanted)
            if at < len(hashes) and hashes[at] == wanted:
                return seqs[at]
        return None

    def latest(self) -> list[int]:
        """The seqs that were remembered last, two at most, the last first."""
        newest = list(islice(reversed(self.young.values()), 2))
        if len(newest) < 2 and self.packed:  # noqa: PLR2004 (two)
            newest += islice(reversed(json.loads(self.packed[-1]).values()), 2 - len(newest))
        return newest

    def keys(self) -> set[str]:
        """All ids that are remembered."""
        return set(self.young).union(*map(json.loads, self.packed))


@lru_cache(maxsize=128)
def _index_of(packed: str) -> tuple[array[int], array[int]]:
    """The hashes of packed ids, in order, and the seq of each: a second settle is seldom the last."""
    index = sorted((hash(key), seq) for key, seq in json.loads(packed).items())
    return array("q", [found for found, _ in index]), array("q", [seq for _, seq in index])


def _packed(ids: dict[str, int]) -> str:
    """JSON in ASCII; msgspec is several times faster, where it writes that."""
    with suppress(UnicodeEncodeError):
        text = msgspec.json.encode(ids)
        if text.isascii():
            return text.decode()
    return json.dumps(ids)


class Pending(msgspec.Struct, array_like=True, gc=False):
    """Something asked for and not yet answered: the event that asked, its time in seconds, and what it was."""

    seq: int
    t: float
    what: str = ""


class PendingEmit(msgspec.Struct, array_like=True, gc=False):
    """A pending emit of a spout: its event, the number of the command, its stream, a checksum of its values."""

    seq: int
    command: int
    stream: str
    values: int


class Later(msgspec.Struct, array_like=True):
    """A breach that Storm has not noticed yet: fates by version, of the breach of `rule` at the event `seq`.

    Without a rule: a sync that a spout sent unasked, and that will answer its next command.
    """

    seq: int
    rule: str = ""
    fates: dict[str, Fate] = {}


class State(msgspec.Struct):
    """Everything that later judgements need. `t` values in seconds of the conversation, keys are protocol ids."""

    phase: Phase = "start"
    began: float = 0.0
    last_seq: int = -1
    gap: bool = False
    """Part of the past is missing: what would need it is not judged."""
    # bolts
    open: dict[str, tuple[int, float]] = {}
    settled: Remembered = msgspec.field(default_factory=Remembered)
    heartbeat_ids: Remembered = msgspec.field(default_factory=Remembered)
    heartbeats: list[Pending] = []
    undeclared: Remembered = msgspec.field(default_factory=Remembered)
    """Tuples that nobody declared (`Profile.samples`)."""
    unasked: int = 0
    """Syncs in a row for which no heartbeat waited, each behind one more tuple that was settled."""
    synced_seq: int = -1
    """The sync that came last, whatever it answered."""
    foreign: bool = False
    """A tuple held text beyond ASCII, or an integer that no double holds: what is emitted is compared with that."""
    integers: list[int] = []
    """Such integers, the latest."""
    texts: list[str] = []
    """Texts beyond ASCII that tuples held, the latest."""
    replaced: bool = False
    """Something it was sent held U+FFFD, the sign of bytes that were no text."""
    # spouts
    commands: list[Pending] = []
    commanded: int = 0
    last_sync: int = -1
    unread: list[int] = []
    unread_logs: list[int] = []
    """What a spout said while Storm reads nothing: emits and settles, and what may be lost without harm."""
    message_ids: dict[str, PendingEmit] = {}
    reading: int = 0
    """Commands whose answer Storm waits for: it reads what a spout says. With no ackers one stands inside another."""
    emits: int = 0
    stderr: int = 0
    deactivated: bool = False
    quiet_calls: int = 0
    """Calls of next in a row that emitted nothing, and when the first of them began."""
    quiet_since: float = 0.0
    sleepless: bool = False
    reentered: int = -1
    """The emit that Storm acks, with no ackers, before it sends the task ids: the seq, -1 for none."""
    emitted: bool = False
    """The command that is out has emitted something."""
    with_id: int = 0
    without_id: int = 0
    # both
    later: list[Later] = []
    """What counts when Storm looks again: with a spout's next command, or the next tuple of a bolt."""
    task_ids: int = 0
    heard: float = 0.0
    synced: float = 0.0
    silent_reported: float = -1.0
    said: bool = False
    """The component has said its first message."""
    garbled: int = -1
    """The latest message of Storm's that no component can read, by its seq."""
    cut: bool = False
    lost_pipe: bool = False
    may_be_dismissed: bool = False
    """Something is missing, and Storm has written nothing since: it may have wanted the end there."""
    dismissed: bool = False
    """Storm closed its stdin or sent a signal, or a testee was asked to end: the end is expected."""
    orphaned: bool = False
    """Its stdin and its stdout were closed at once: its worker is dead."""
    unheard: bool = False
    """Storm closed its stdin or sent a signal: nobody reads any more."""
    asked: Memory | None = None
    """What a testee was asked to say; None for other components."""
    hosted: HostMemory | None = None
    """What a host has said of its feed; None where a component is judged."""


class Outstanding(msgspec.Struct, frozen=True):
    """Answers that are pending at this moment.

    `handshake`: the pid is. `tuples`: open tuple ids, with the seq of their delivery and its time in seconds.
    `task_ids`: how many emits Storm still has to answer. `commands`: of a spout, not yet answered by sync.
    `heartbeats`: not yet answered, oldest first, each with its time.
    """

    handshake: bool
    tuples: dict[str, tuple[int, float]]
    task_ids: int
    commands: tuple[Pending, ...]
    heartbeats: tuple[Pending, ...]


_MET = msgspec.json.Decoder(State)
"""Made at import: the first use of a type by msgspec must not happen in several threads at once."""


def to_plain(state: State) -> dict[str, Any]:
    """The state as JSON values."""
    plain = msgspec.to_builtins(state)
    assert isinstance(plain, dict)  # noqa: S101 (a struct becomes an object)
    return plain


def from_plain(plain: dict[str, Any]) -> State:
    """The state from `to_plain`. Raises msgspec.ValidationError if it is none."""
    state = msgspec.convert(plain, State)
    for packed in chain(state.settled.packed, state.heartbeat_ids.packed, state.undeclared.packed):
        try:
            msgspec.convert(json.loads(packed), dict[str, Seq])
        except (ValueError, RecursionError) as error:
            raise msgspec.ValidationError(f"ids that are none: {error}") from None
    return state
