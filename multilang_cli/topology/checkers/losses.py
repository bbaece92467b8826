"""Checks for tuples that are lost for good, or replayed too often."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.protocol.words.shortening import head
from multilang_cli.topology.checkers.checker import Checker, RunFacts
from multilang_cli.topology.checkers.pending import PendingEmissions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from multilang_cli.topology.history import (
        DeadLettered,
        Delivered,
        Died,
        EmissionEnded,
        Emitted,
        Lost,
        PhaseBegun,
        TupleSettled,
    )

SHOWN_IN_SENTENCE = 40
"""Characters of the values of a message that a sentence shows."""
MOST_COMPLETED = 1 << 15
"""Completed messages that are remembered, the last ones: a spout that dies sends those again that it had not stored."""
COMPLETED_BEFORE = "completed before their spout died"
GIVEN_UP_BEFORE = "given up before"
_Key = tuple[str, str]


class _Message(msgspec.Struct, frozen=True):
    """A reliable emission: by its message id and by its values it is known again. `first_id`: its first attempt's."""

    n: int
    task: int
    component: str
    id: str
    values: str
    first_id: str

    @property
    def key(self) -> _Key:
        """By what it is known: the spout and its message id."""
        return self.component, self.id

    @property
    def first_key(self) -> _Key:
        """By what its first attempt was known, as which a spout that dies sends it again."""
        return self.component, self.first_id


class Account:
    """Messages of spouts with an id, each counted once however often it was emitted and completed.

    `sent`, `completed`, `open`: of them; `lost`: those that failed, and that nobody emitted again; `cut`: those that
    failed, where the run ended before that can be said; `dead_letters`: those that their spout gave up, and
    keeps elsewhere, as it says. `twice`: how often one was emitted again, `first`: the first that was, and `causes`:
    why, with how often. `untracked`: tuples that were lost and stand in no tree, so that their message was completed
    all the same.
    """

    def __init__(self) -> None:
        self.sent = self.completed = self.open = self.lost = self.cut = self.twice = self.untracked = 0
        self.dead_letters = 0
        self.first = ""
        self.causes: Counter[str] = Counter()

    @property
    def sentence(self) -> str:
        """The account on one line; "" where no spout emitted with an id, and nothing was lost."""
        if not self.sent:
            return f"{self.untracked:,} tuple{'s' * (self.untracked != 1)} lost, in no tree" if self.untracked else ""
        said = [f"{self.sent:,} sent", f"{self.completed:,} completed", f"{self.lost:,} lost"]
        said += [f"{self.dead_letters:,} in the dead letters"] if self.dead_letters else []
        said += [f"{self.open:,} still open"] if self.open else []
        said += [f"{self.cut:,} not replayed before the run ended"] if self.cut else []
        said += [f"{self.untracked:,} of their tuples lost in no tree"] if self.untracked else []
        causes = ", ".join(f"{times:,} {why}" for why, times in sorted(self.causes.items()))
        again = f" ({causes}; the first: {self.first})" if self.twice else ""
        return f"{', '.join(said)}, {self.twice:,} sent again{again}"


class _Completed:
    """The last messages that were completed, and which of them come again because their spout died. Bounded."""

    def __init__(self) -> None:
        self._last: dict[int, None] = {}
        self._reborn: set[str] = set()
        self._again: set[int] = set()

    def add(self, message: _Message) -> bool:
        """A message was completed; False if it had been before."""
        again = self.is_again(message)
        self._again.discard(message.n)
        for key in {message.key, message.first_key}:
            self._last[hash((key, message.values))] = None
            if len(self._last) > MOST_COMPLETED:
                del self._last[next(iter(self._last))]
        return not again

    def died(self, components: Iterable[str]) -> None:
        """Tasks of these spouts begin anew."""
        self._reborn.update(components)

    def comes_again(self, message: _Message, of: _Message | None) -> bool:
        """True if it was completed in a former life. `of`: the attempt that it is a replay of, if it is one."""
        known = of is not None and of.n in self._again
        if not known and message.component in self._reborn:
            known = hash((message.key, message.values)) in self._last
        if known:
            self._again.add(message.n)
        return known

    def is_again(self, message: _Message) -> bool:
        """True if this attempt is of a message that was completed before."""
        return message.n in self._again


class _DeadLetters:
    """The last messages that spouts say to be kept elsewhere, by their values; None until they failed. Bounded."""

    def __init__(self) -> None:
        self._last: dict[_Key, str | None] = {}

    def announce(self, key: _Key) -> None:
        """A message that did not fail yet is kept."""
        self._last.setdefault(key, None)
        if len(self._last) > MOST_COMPLETED:
            del self._last[next(iter(self._last))]

    def add(self, message: _Message) -> None:
        """A message that failed is kept."""
        self.announce(message.first_key)
        self._last[message.first_key] = message.values

    def take_announced(self, message: _Message) -> bool:
        """True if this message, which failed, was said to be kept."""
        if self._last.get(message.key, "") is not None:
            return False
        self.add(message)
        return True

    def comes_again(self, message: _Message) -> bool:
        """True if this new attempt is of a message that is kept; whatever had its id before, it is forgotten."""
        return bool(self._last) and self._last.pop(message.key, None) == message.values


class _Room:
    """The seconds in which a spout's task could emit nothing: as much was pending as its limit lets be."""

    def __init__(self, limits: Mapping[tuple[int, ...], int]) -> None:
        self._limits = {tasks: limit for tasks, limit in limits.items() if limit}
        self._pending = PendingEmissions(self._limits)
        self._full_since: dict[tuple[int, ...], float] = {}
        self._full = dict.fromkeys(self._limits, 0.0)

    def emitted(self, event: Emitted) -> None:
        """Count an emission as pending."""
        tasks = self._pending.emitted(event)
        if tasks is not None and self._pending.count[tasks] == self._limits[tasks]:
            self._full_since.setdefault(tasks, event.t)

    def ended(self, event: EmissionEnded) -> None:
        """Count an emission as no longer pending."""
        if (tasks := self._pending.ended(event)) is not None:
            self._has_room(tasks, event.t)

    def died(self, gone: Collection[int], t: float) -> None:
        """With a task, all that was pending of it is gone."""
        for tasks in self._pending.died(gone):
            self._has_room(tasks, t)

    def full(self, task: int, t: float) -> float:
        """The seconds of it until `t`."""
        tasks = self._pending.group_of(task)
        return 0.0 if tasks is None else self._full[tasks] + t - self._full_since.get(tasks, t)

    def _has_room(self, tasks: tuple[int, ...], t: float) -> None:
        if self._pending.count[tasks] < self._limits[tasks]:
            self._full[tasks] += t - self._full_since.pop(tasks, t)


class _Due(NamedTuple):
    """A replay that is due since `t`. `full`: for how long its task could emit nothing until then."""

    message: _Message
    t: float
    why: str
    full: float


class AtLeastOnce(Checker):
    """Everything is processed at least once, after replay.

    What failed, timed out or was forgotten with its spout is emitted again, by any task of its component and with the
    same message id or the same values; what stands in no tree is neither lost nor failed, for nobody would replay it;
    and what is expected of a component was acked there.
    """

    id = "at-least-once"
    title = "Nothing is lost: what failed is replayed, and all that is expected arrives"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._open: dict[int, _Message] = {}
        self._pending_replays: dict[_Key, _Due] = {}
        self._room = _Room(facts.limits)
        self._last_new: dict[int, float] = {}
        self._completed = _Completed()
        self.account = Account()
        self._dead_letters = _DeadLetters()
        self._by_values: dict[_Key, _Key] = {}
        self._loose: dict[int, tuple[int, int]] = {}
        self._missing = {name: Counter(map(json.dumps, values)) for name, values in facts.expected.items()}
        self._sizes = {name: {len(each) for each in values} for name, values in facts.expected.items()}
        self._emission = (0, "")
        self._arriving: dict[int, str] = {}
        self._drained: float | None = None

    def emitted(self, event: Emitted) -> None:
        """Note what may be a replay, and what may have to be replayed."""
        self._emission = (event.n, event.values)
        if event.task not in self.facts.spouts:
            return
        component = self.facts.components[event.task]
        self._room.emitted(event)
        id_ = json.dumps(event.message_id)
        message = _Message(event.n, event.task, component, id_, event.values, id_)
        due = self._discharge(message) if self._pending_replays else None
        if due is not None:
            message = msgspec.structs.replace(message, first_id=due.message.first_id)
        if event.message_id is not None:
            self._open[event.n] = message
            repeated = COMPLETED_BEFORE * self._completed.comes_again(message, due.message if due else None)
            if self._dead_letters.comes_again(message):
                self.account.dead_letters -= 1
                repeated = GIVEN_UP_BEFORE
            self._enter(message, due.why if due else repeated)
            if due or repeated:
                return
        self._last_new[event.task] = event.t

    def delivered(self, event: Delivered) -> None:
        """Note what stands in no tree, and what is expected where it goes."""
        if not event.edges and event.emit:
            self._loose[event.n] = (event.emit, event.task)
        if event.emit == self._emission[0] and self.facts.components.get(event.task) in self._missing:
            self._arriving[event.n] = self._emission[1]

    def settled(self, event: TupleSettled) -> None:
        """Acked is there; failed out of any tree is lost."""
        loose = self._loose.pop(event.delivery, None)
        values = self._arriving.pop(event.delivery, None)
        if event.how == "fail" and loose is not None:
            self._gone(loose, event.delivery, "failed")
        elif event.how == "ack" and values is not None:
            self._arrived(values)

    def lost(self, event: Lost) -> None:
        """Out of any tree, that is for good."""
        self._arriving.pop(event.delivery, None)
        if (loose := self._loose.pop(event.delivery, None)) is not None:
            self._gone(loose, event.delivery, "lost")

    def ended(self, event: EmissionEnded) -> None:
        """Unless it was acked, it has to be replayed."""
        self._room.ended(event)
        message = self._open.pop(event.emit, None)
        if message is not None and event.how == "acked":
            self.account.completed += self._completed.add(message)
            self._pending_replays.pop(message.key, None)
        elif message is not None and self._dead_letters.take_announced(message):
            self.account.dead_letters += not self._completed.is_again(message)
        elif message is not None:
            self._expect_replay(message, event.t, event.how)

    def dead_lettered(self, event: DeadLettered) -> None:
        """Drop replays due of what is kept elsewhere; a spout may say so before the last tuple of a message failed."""
        component = self.facts.components[event.task]
        for key in [(component, each) for id_ in event.ids for each in (id_, json.dumps(id_))]:
            due = self._pending_replays.pop(key, None)
            if due is None:
                self._dead_letters.announce(key)
            else:
                self._dead_letters.add(due.message)
                self.account.dead_letters += not self._completed.is_again(due.message)

    def died(self, event: Died) -> None:
        """Expect a replay of everything that a dead spout had pending, from its source."""
        died = self.facts.gone(event) & self.facts.spouts
        self._completed.died(self.facts.components[task] for task in died)
        for number, message in tuple(self._open.items()):
            if message.task in died:
                del self._open[number]
                self._expect_replay(message, event.t, "with a worker that died")
        self._room.died(died, event.t)

    def phase(self, event: PhaseBegun) -> None:
        """From the drain on, no spout is asked for anything."""
        if event.name == "drain":
            self._drained = event.t

    def finish(self) -> None:
        """Report what is still to be replayed, and what never arrived."""
        self.account.open = len(self._open)
        for due in self._pending_replays.values():
            message = due.message
            whose = f"emission {message.n} (message id {message.id}) of {self.facts.name(message.task)}"
            counts = not self._completed.is_again(message)
            if not self._could_come(due):
                self.account.cut += counts
                self.unknown(f"{whose} failed, and the run ended before it could be replayed", message.n)
            else:
                self.account.lost += counts
                self.wrong(f"{whose} failed and was never replayed", message.n)
        for name, missing in self._missing.items():
            for values, times in (+missing).items():
                told = f"{name} never acked {values}" + (f", {times} times" if times > 1 else "")
                (self.wrong if self._drained is not None and not self._pending_replays else self.unknown)(told)

    def _could_come(self, due: _Due) -> bool:
        """True if its spout had time for a replay, and room below its limit; or sent something new instead."""
        if self._drained is None:
            return False
        task, idle = due.message.task, self.facts.idle
        if self._last_new.get(task, due.t) - due.t >= idle:
            return True
        return self._drained - due.t - (self._room.full(task, self._drained) - due.full) >= idle

    def _gone(self, loose: tuple[int, int], delivery: int, how: str) -> None:
        emission, task = loose
        self.account.untracked += 1
        told = f"delivery {delivery} for {self.facts.name(task)} was {how}"
        self.wrong(f"{told}, and stands in no tree: nobody replays it", emission)

    def _enter(self, message: _Message, again: str) -> None:
        account = self.account
        account.sent += not again
        if again:
            account.twice += 1
            account.causes[again] += 1
            values = head(message.values, SHOWN_IN_SENTENCE)
            account.first = account.first or f"{values} of {self.facts.name(message.task)}"

    def _expect_replay(self, message: _Message, t: float, why: str) -> None:
        self._pending_replays[message.key] = _Due(message, t, why, self._room.full(message.task, t))
        self._by_values[message.component, message.values] = message.key

    def _discharge(self, message: _Message) -> _Due | None:
        """Take an emission for the replay that was due, if one was."""
        key = (
            message.key
            if message.key in self._pending_replays
            else self._by_values.get((message.component, message.values))
        )
        if key is None or (pending := self._pending_replays.pop(key, None)) is None:
            return None
        self._by_values.pop((message.component, pending.message.values), None)
        return pending

    def _arrived(self, values: str) -> None:
        for name, missing in self._missing.items():
            for size in self._sizes[name]:
                missing[_prefix(values, size)] -= 1


class ReplayedOnce(Checker):
    """Check that what failed is replayed once a failure: more makes duplicates of no use."""

    id = "replayed-once"
    title = "What failed is replayed once, not several times at once"
    worst = "warn"

    def __init__(self, facts: RunFacts) -> None:
        super().__init__(facts)
        self._key_of: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._states: dict[tuple[str, ...], list[int]] = {}

    def emitted(self, event: Emitted) -> None:
        """Before the first failure a source may do as it likes: as many at once stay right."""
        if event.task not in self.facts.spouts or event.message_id is None:
            return
        key = (self.facts.components[event.task], json.dumps(event.message_id), event.stream, event.values)
        self._key_of[event.n] = (event.task, key)
        state = self._states.setdefault(key, [0, 0, 0])
        state[0] += 1
        if not state[1]:
            state[2] = max(state[2], state[0])
        elif state[0] > state[2]:
            who = self.facts.name(event.task)
            self.wrong(f"{who} has message id {key[1]} replayed {state[0]} times at once, after one failure", event.n)

    def ended(self, event: EmissionEnded) -> None:
        """Count one fewer at once."""
        if (known := self._key_of.pop(event.emit, None)) is not None:
            self._less(known[1], failed=event.how != "acked")

    def died(self, event: Died) -> None:
        """All that it waited for is to be replayed."""
        gone = self.facts.gone(event)
        for number, (task, key) in tuple(self._key_of.items()):
            if task in gone:
                del self._key_of[number]
                self._less(key, failed=True)

    def _less(self, key: tuple[str, ...], *, failed: bool) -> None:
        state = self._states[key]
        state[0] -= 1
        state[1] |= failed
        if not failed and not state[0]:
            del self._states[key]


def _prefix(values: str, size: int) -> str:
    """The first values of an emission as text; what was cut in the history is like nothing."""
    try:
        return json.dumps(json.loads(values)[:size])
    except ValueError:
        return values
