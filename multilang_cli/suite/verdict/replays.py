"""Replays by a spout of what failed: Storm itself keeps no values, and replays nothing. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.judge.spout_rules import key_of
from multilang_cli.protocol.words.large import as_raw
from multilang_cli.protocol.words.messages import Emit, Error, Log, SpoutCommand
from multilang_cli.protocol.words.shortening import ends, head, shown
from multilang_cli.reports.model import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multilang_cli.causes.model import Place
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.subject.options import Component

    LineLike = Callable[[str], Place | None]

CALLS = 5
"""Calls of next behind a fail in which a spout could have emitted the tuple again."""
FAILED_FOR_GOOD = 3
"""Tuples that failed for good, in a run, from which on it is told."""
IN_VAIN, MUCH_LONGER = 20, 4
"""Calls of next that bring nothing, and how many of its longest pauses they last, where a spout has stopped."""
LEAST_LIMIT = 5
"""Tuples from which on a number in the source is taken for how many may be under way."""
_LIMIT = r"(?i)(?:pend|flight|outstanding|unacked|uncommitted|unconfirmed|window|credit)\w*\b[^\n\d]{{1,40}}{most}\b"
TOO_OFTEN = 3
"""Emits of a tuple that is pending, one at each command, from which on it is no clock that has it come again."""
MOST_WORDS = 120
"""Characters of a log that a note shows."""
NO_IDS = "never-an-id"
"""The rule of a conversation in which no tuple had an id: short ones say too little."""
NEVER = Observation(
    "failed-never-again",
    "it emitted none of the {lost} tuples again that failed{but}: Storm replays nothing itself, so they are "
    "lost{unless} (emit them again, unless at most once is what you want; is what `fail` names the id that is looked "
    "up?)",
)
NUMBERED = Observation(
    "failed-never-again",
    "it emitted none of the {lost} tuples again that failed{but}: Storm replays nothing itself, so they are "
    "lost{unless} (its ids are numbers: does its parser give them back as it keeps them, not 1 as 1.0, nor rounded "
    "beyond 2^53?)",
)
DIGITS = Observation(
    "failed-never-again",
    "it emitted none of the {lost} tuples again that failed{but}: Storm replays nothing itself, so they are "
    "lost{unless} (its ids are texts of digits: is what is pending kept by numbers? Storm brings the text back)",
)
NO_MORE = {"but": "", "unless": ""}
BUSY = {"but": ", and new ones all the while", "unless": ", unless they wait behind those"}
"""What is added where no call of next behind a fail brought nothing."""
ANYWAY = Observation(
    "failed-perhaps-again",
    "it emitted none of the {lost} tuples that failed again by its id, and their values come again of themselves: "
    "whether it replays them can't be told (Storm replays nothing itself)",
)
STOPPED = Observation(
    "stops-behind-fails",
    "it emitted nothing more once {failed} of its tuples had failed, and went on where they were acked: does what "
    "failed still count among those under way, or does it wait before it sends that again?",
)
FULL = Observation(
    "stops-at-its-limit",
    "it emitted {most} tuples and nothing more although all were settled, as many as may be under way by line {line} "
    "of {file}: unless its source has no more than these, does an ack take its tuple out of what counts there (is its "
    "id looked up as it was kept, a text as a text)?",
)
DISOWNS = Observation(
    "disowns-its-id",
    'Storm brings back an id that it emitted, and it logs "{words}": it has lost what it needs to replay that',
)
MIXED = Observation(
    "replays-other-values",
    "a tuple that failed came again by its id with the values of another one, {how}: those of the first are lost (is "
    "an id given again while its first tuple may still fail?)",
)
OVERTAKEN = Observation(
    "forgets-older-ones",
    "it emits again what failed, but for the {lost} tuples that failed when one of those emitted behind them was "
    "acked: they are lost (does an ack or fail take another than its own out of what is pending?)",
)
TWICE = Observation(
    "replays-twice",
    "it emits a tuple twice for one fail, {id} for example: its bolts get it once too often (is it emitted by `fail`, "
    "and again by the next `next`?)",
)
ANOTHER = Observation(
    "replays-another",
    "it emits again tuples that did not fail, {id} for example, where others did: those are lost (is what `fail` names "
    "compared as it should be?)",
)
WITHOUT_ID = Observation(
    "replays-without-id",
    "it emits again without an id what failed, {values} for example: Storm does not follow that, so it comes no third "
    "time (keep the id beside the values)",
)
AT_ACTIVATE = Observation(
    "forgets-at-activate",
    "it emits again what failed, but none of the {lost} tuples that failed once it was deactivated and activated again "
    "and that it had emitted before: they are lost, unless its source brings them anew (does `activate` empty what is "
    "pending?)",
)
WHILE_INACTIVE = Observation(
    "forgets-while-inactive",
    "it emits again what failed, but none of the {lost} tuples that failed while it was deactivated: they are lost "
    "(Storm fails and acks what is pending then as well: does it leave these commands aside until `activate`?)",
)
REPEATS = Observation(
    "repeats-what-is-pending",
    "it emits {id} again although that is pending and did not fail, as its place in its source does not go on (is the "
    "place set where it is read, and not in a copy, as in a shell's loop behind a pipe?)",
)
ANEW = Observation(
    "begins-anew-at-activate",
    "once it is activated again it emits {id} anew although its first tuple of that id is pending, which an ack or "
    "fail then takes for the other (does `activate` open its source again, or count its ids from the start?)",
)
THE_FIRST = Observation(
    "forgets-the-first",
    "it emits again what failed, but never the first tuple that a process of it had emitted, which failed in {lost} of "
    "them: that is lost (is 0, the place of the first, taken for none?)",
)
SOME = Observation(
    "replays-some",
    "of tuples that failed one behind the other it emitted one again, and {lost} not in {calls} calls of `next`: they "
    "are lost, unless it waits longer than {seconds:.0f} s (is what waits to be sent again kept for each of them?)",
)
STALLED = 2.5
"""Seconds without an emit in which what failed could have come again."""
SOON_AGAIN = 0.4
"""Seconds after its fail in which a spout that waits a little emits a tuple again."""
CALLS_BEHIND = 10
"""Calls of next behind a fail of one among many, in which it could have come again."""
MOST_COMPARED = 20
"""Values of a tuple up to which it is compared with others one by one."""
MOST_OF_VALUES = 50
"""Characters of the values that a note shows."""
_DISOWNS = re.compile(
    r"\b(?:unknown|unexpected|missing|no such|not (?:pending|found|known|there|open|in flight)|never (?:emitted|sent)|"
    r"do(?:es)?(?: no|n')t (?:exist|know))\b",
    re.IGNORECASE,
)


class Replays:
    """Replays that a run shows. `lost`: tuples that failed and did not come again in `CALLS` of next.

    `idle`: a call of next behind a fail brought nothing. `replayed`: one came again by its id; `alike`: values that
    came again under another; `recurring`: those that come again although they did not fail. `uses_ids`: a tuple with an
    id was emitted in some case; `numbered`, `of_digits`: the last id was a number, or a text of digits. `acked`: tuples
    of the conversation with most of them in which none failed, and `pause`: its longest pause between two of them;
    `stopped`: how many had failed, and how many it had emitted in how long a silence, in one where all did until it
    stopped. `near`: what all values but one of a tuple that came again were, such as one with the number of its
    attempt, and `ordinary`: the same of tuples that did not fail. `disowned`: what it logged of an id of its own.
    `mixed`: the id and the values of one that came again with others. `overtaken`: tuples that failed when a newer one
    was acked, and did not come again; None once one of them did. `twice`: the id of one that came again twice for one
    fail; `repeated`: one that was emitted so often again while it was pending, between two activates; `anew`: one that
    was pending when it was emitted again behind an activate; `goes_on`: it emitted something behind an activate before
    which some were acked, `reopens`: one of those. `another`: that of one that came again though it did not fail;
    `without_id`: values that came again so. `outlived`: tuples that were emitted before an activate, failed behind it
    and did not come again; None once one of them did, or one that had not failed. `inactive`: the same of those that
    failed between deactivate and activate. `some`: how many of those that failed did not come again, in how many calls
    and seconds, in a conversation in which one did. `firsts`: processes whose first tuple of all failed and had not
    come again when another did; None once one of them came. `ends`: how many it had emitted wherever it stopped though
    all were settled.
    """

    def __init__(self) -> None:
        self.ends: set[int] = set()
        self.lost = self.acked = 0
        self.pause = 0.0
        self.replayed = self.uses_ids = self.numbered = self.of_digits = self.idle = self.goes_on = self.reopens = False
        self.mixed = ""
        self.alike: set[bytes] = set()
        self.recurring: set[bytes] = set()
        self.near: set[bytes] = set()
        self.ordinary: set[bytes] = set()
        self.stopped: tuple[int, int, float] | None = None
        self.disowned = self.twice = self.another = self.without_id = self.anew = self.repeated = ""
        self.some: tuple[int, int, float] | None = None
        self.overtaken: int | None = 0
        self.outlived: int | None = 0
        self.inactive: int | None = 0
        self.firsts: int | None = 0

    def without_contradiction(self, subject: SubjectResult) -> SubjectResult:
        """A case's result without the note that it gives no ids, if it gave some in another case."""
        kept = tuple(finding for finding in subject.findings if finding.rule != NO_IDS)
        return msgspec.structs.replace(subject, findings=kept) if self.uses_ids else subject

    def observations(self, component: Component, line_like: LineLike = lambda _: None) -> Iterator[Observation]:
        """Notes for its user although nothing is wrong. `line_like`: finds a line of its source by a pattern."""
        if component.testee:
            return
        yield from self._full(line_like)
        if self.disowned:
            yield DISOWNS.told(words=head(self.disowned, MOST_WORDS))
        if self.mixed:
            yield MIXED.told(how=self.mixed)
        yield from self._emitted_again()
        if self.without_id:
            yield WITHOUT_ID.told(values=self.without_id)
        yield from self._some_lost()
        if self.stopped is not None:
            failed, emitted, silent = self.stopped
            if emitted < self.acked and silent > MUCH_LONGER * self.pause:
                yield STOPPED.told(failed=failed)
        yield from self._none_again()

    def _full(self, line_like: LineLike) -> Iterator[Observation]:
        """A note on one that stops at the number that it allows to be under way, whatever was acked."""
        if len(self.ends) == 1 and (most := max(self.ends)) >= max(LEAST_LIMIT, self.acked):
            place = line_like(_LIMIT.format(most=most))
            if place is not None:
                yield FULL.told(most=most, line=place.line, file=place.file)

    def _emitted_again(self) -> Iterator[Observation]:
        """A note on what comes again although it need not: the one that tells most."""
        # What goes back to its last commit brings nothing again that was acked.
        if self.repeated:
            yield REPEATS.told(id=self.repeated)
        elif self.anew and (self.reopens or not self.goes_on):
            yield ANEW.told(id=self.anew)
        elif self.twice:
            yield TWICE.told(id=self.twice)

    def _none_again(self) -> Iterator[Observation]:
        """A note on one that never emits again what failed, as far as its ids and values show."""
        came = self.replayed or self.alike - self.recurring or self.near - self.ordinary
        if self.lost < FAILED_FOR_GOOD or came or self.without_id:
            return
        by_id = NUMBERED if self.numbered else DIGITS if self.of_digits else NEVER
        yield (ANYWAY if self.alike else by_id).told(lost=self.lost, **(NO_MORE if self.idle else BUSY))

    def _some_lost(self) -> Iterator[Observation]:
        """A note on what is lost by a spout that emits again some of what failed: the one that tells most."""
        if self.another:
            yield ANOTHER.told(id=self.another)
        elif self.replayed and (self.overtaken or 0) >= FAILED_FOR_GOOD:
            yield OVERTAKEN.told(lost=self.overtaken)
        elif self.replayed and (self.outlived or 0) >= FAILED_FOR_GOOD:
            yield AT_ACTIVATE.told(lost=self.outlived)
        elif self.replayed and (self.inactive or 0) >= FAILED_FOR_GOOD:
            yield WHILE_INACTIVE.told(lost=self.inactive)
        elif (self.firsts or 0) >= FAILED_FOR_GOOD:
            yield THE_FIRST.told(lost=self.firsts)
        elif self.some is not None:
            lost, calls, seconds = self.some
            yield SOME.told(lost=lost, calls=calls, seconds=seconds)


class ReplayWatch:
    """A sink of the events of one conversation; tells `run` what it shows. A tuple comes again by its id or values."""

    def __init__(self, run: Replays) -> None:
        self._run = run
        self._emitted: dict[str, bytes] = {}
        self._failed: dict[str, bytes] = {}
        self._calls: dict[str, int] = {}
        self._order: dict[str, int] = {}
        self._newest_acked = 0
        self._overtaken: set[str] = set()
        self._given_up: set[str] = set()
        self._eldest = ""
        self._is_left = False
        self._activations = 0
        self._emitted_in: dict[str, int] = {}
        self._acked: set[str] = set()
        self._acked_before: set[str] = set()
        self._told_since: dict[tuple[str, bytes], int] = {}
        self._outlived: set[str] = set()
        self._repeats: Counter[str] = Counter()
        self._is_inactive = False
        self._inactive: set[str] = set()
        self._again: dict[str, tuple[str, bytes]] = {}
        self._first: dict[str, tuple[str, bytes]] = {}
        self._commands = 0
        self._told_in: dict[str, int] = {}
        self._failed_at: dict[str, float] = {}
        self._values: dict[bytes, str] = {}
        self._kept: dict[str, frozenset[bytes]] = {}
        self._kept_of_failed: set[bytes] = set()
        self._owner: dict[bytes, str] = {}
        self._brought = ""
        self._emits = self._acks = self._fails = self._vain = 0
        self._last = 0.0

    def take(self, events: Iterable[Event], _: object = (), /) -> None:
        """See what happened."""
        for event in events:
            if isinstance(event.body, Emit):
                self._came(event.body, event.t)
            elif isinstance(event.body, SpoutCommand):
                self._commanded(event.body, event.t)
            elif isinstance(event.body, Log | Error) and self._brought:
                self._said(event.body.msg or "")

    def _came(self, emit: Emit, now: float) -> None:
        if emit.id is None and not self._failed:
            return
        values = msgspec.json.encode(emit.values, enc_hook=as_raw)
        key = key_of(emit.id) if emit.id is not None else ""
        self._came_again(key, (emit.stream, values), emit.id)
        run, by_id = self._run, key in self._failed
        run.replayed = run.replayed or (by_id and not _by_chance(emit.id))
        if by_id and values != self._failed[key] and self._values.get(values, key) != key:
            run.mixed = run.mixed or f"{shown(emit.id)}: first {_short(self._failed[key])}, then {_short(values)}"
        if values in self._failed.values():
            run.alike.update(() if by_id else (values,))
        elif key and self._values.setdefault(values, key) != key:
            run.recurring.add(values)
        if key and not by_id:
            self._came_near(key, emit)
        if emit.id is not None:
            run.uses_ids = True
            run.numbered = isinstance(emit.id, int)
            run.of_digits = isinstance(emit.id, str) and emit.id.isdecimal()
            self._emitted[key] = values
            if self._acks and not self._fails:
                run.acked = max(run.acked, self._emits + 1)
                run.pause = max(run.pause, now - self._last)
            self._emits, self._vain, self._last = self._emits + 1, 0, now

    def _came_again(self, key: str, told: tuple[str, bytes], id_: Json) -> None:
        """See whether a tuple that failed comes again, or once more than it failed; `told`: its stream and values."""
        run = self._run
        waiting = self._failed.keys() - self._emitted.keys() - {key}
        if not key:
            alone = told in (self._first[each] for each in waiting) and told[1] not in run.recurring
            run.without_id = run.without_id or (_short(told[1]) if alone else "")
            return
        if key in self._overtaken:
            run.overtaken = None
        if self._outlives(key, told, id_):
            run.outlived = None
        if key in self._inactive or told[1] in (self._failed.get(each) for each in self._inactive):
            run.inactive = None
        # One message on several streams, or in several tuples of one call, is one to the spout.
        anew = self._first.get(key) == told and self._told_in[key] != self._commands
        if anew and waiting and key not in self._failed and not run.another:
            run.another = shown(id_)
        self._first.setdefault(key, told)
        self._told_in[key] = self._commands
        if self._again.get(key) == told and not run.twice:
            run.twice = shown(id_)
        if key in self._failed and key not in self._emitted:
            self._again[key] = told
            self._eldest_waits(key)
        self._eldest = self._eldest or key
        self._order[key] = len(self._order)

    def _eldest_waits(self, key: str) -> None:
        """See whether the first of all still waits when another one that failed comes again."""
        if key == self._eldest:
            self._run.firsts = None
        elif self._eldest in self._failed.keys() - self._emitted.keys() and self._run.firsts is not None:
            self._run.firsts += not self._is_left
            self._is_left = True

    def _came_near(self, key: str, emit: Emit) -> None:
        """See whether it has all values but one of a tuple that failed, or of one that did not."""
        kept = _without_one(emit)
        near = kept & self._kept_of_failed
        self._run.near.update(near)
        for each in kept - near:
            if self._owner.setdefault(each, key) != key:
                self._run.ordinary.add(each)
        self._kept[key] = kept

    def _outlives(self, key: str, told: tuple[str, bytes], id_: Json) -> bool:
        """True of what was emitted before an activate: it comes again, or its source is read anew and nothing lost."""
        now = self._activations
        self._run.reopens = self._run.reopens or key in self._acked_before
        self._run.goes_on = self._run.goes_on or bool(self._acked_before)
        if key in self._emitted and self._emitted_in[key] < now and not self._run.anew:
            self._run.anew = shown(id_)
        elif key in self._emitted and told == self._first.get(key) and self._commands - self._told_in[key] == 1:
            self._repeats[key] += 1
            if self._repeats[key] >= TOO_OFTEN and not self._fails:
                self._run.repeated = self._run.repeated or shown(id_)
        elder = min(self._emitted_in.get(key, now), self._told_since.setdefault(told, now)) < now
        self._emitted_in[key] = now
        return key in self._outlived or (elder and (key not in self._failed or key in self._emitted))

    def _commanded(self, said: SpoutCommand, now: float) -> None:
        key = key_of(said.id)
        self._commands += 1
        if said.command in {"activate", "deactivate"}:
            self._is_inactive = said.command == "deactivate"
        if said.command == "activate":
            self._activated()
        self._brought = str(said.id) if said.command in {"ack", "fail"} and key in self._emitted else ""
        if said.command == "fail":
            self._has_failed(key, now)
        elif said.command == "ack":
            self._was_acked(key)
        elif said.command == "next":
            self._was_called(now)

    def _has_failed(self, key: str, now: float) -> None:
        # Calls before it brought nothing because all was under way: that is no silence behind a fail.
        self._fails, self._vain, self._last = self._fails + 1, 0, now
        self._again.pop(key, None)
        self._failed_at[key] = now
        if key in self._emitted:
            self._failed[key], self._calls[key] = self._emitted.pop(key), 0
            self._kept_of_failed |= self._kept.get(key, frozenset())
            self._overtaken.update({key} if self._order[key] < self._newest_acked else ())
            self._outlived.update({key} if self._emitted_in[key] < self._activations else ())
            self._inactive.update({key} if self._is_inactive else ())

    def _was_called(self, now: float) -> None:
        run = self._run
        run.idle = run.idle or (self._vain > 0 and any(self._calls.values()))
        for each in self._calls:
            self._calls[each] += 1
        run.lost += sum(calls == CALLS for calls in self._calls.values())
        watched = self._overtaken | self._outlived | self._inactive
        late = {key for key in watched - self._given_up if self._had_time(key, now)}
        self._given_up |= late
        if run.overtaken is not None:
            run.overtaken += len((late & self._overtaken) - self._emitted.keys())
        if run.outlived is not None:
            run.outlived += len(late & self._outlived)
        if run.inactive is not None:
            run.inactive += len(late & self._inactive)
        self._vain += 1
        self._look_for_lost(now)
        if self._vain >= IN_VAIN and not self._emitted:
            self._has_stopped(now)

    def _was_acked(self, key: str) -> None:
        self._acks += 1
        self._acked.add(key)
        self._newest_acked = max(self._newest_acked, self._order.get(key, 0))
        self._overtaken.discard(key)
        # What is done may have its id given again: a source that is read in a circle numbers its rows.
        for known in (self._emitted, self._failed, self._calls, self._again, self._first, self._told_in, self._repeats):
            known.pop(key, None)

    def _activated(self) -> None:
        """Take that its source may go back: what it emits then, it does not for a fail of before."""
        self._activations += 1
        self._acked_before |= self._acked
        self._again.clear()

    def _had_time(self, key: str, now: float) -> bool:
        """True if it was called often enough to emit this one again, and long enough after it failed."""
        return self._calls[key] >= CALLS_BEHIND and now - self._failed_at[key] >= SOON_AGAIN

    def _has_stopped(self, now: float) -> None:
        """Take that it emits nothing more though all is settled."""
        if self._acks or self._fails:
            self._run.ends.add(self._emits)
        if self._fails and not self._acks:
            self._run.stopped = (self._fails, self._emits, now - self._last)

    def _look_for_lost(self, now: float) -> None:
        """See whether some of what failed has come again, and others have not though there was time."""
        silent = now - self._last
        lost = self._failed.keys() - self._emitted.keys()
        if self._run.some is None and self._vain >= IN_VAIN and silent >= STALLED and len(lost) >= FAILED_FOR_GOOD:
            came = len(self._failed) - len(lost)
            self._run.some = (len(lost), self._vain, silent) if came else None

    def _said(self, words: str) -> None:
        """Take a log while it is told of an id of its own."""
        if self._brought in words and _DISOWNS.search(words.replace(self._brought, " ")):
            self._run.disowned = self._run.disowned or words


def _by_chance(id_: Json) -> bool:
    """True of an id that a double holds, though most as large are none: who reads ids as doubles finds one in 500."""
    return isinstance(id_, int) and abs(id_) > 2**53 and int(float(id_)) == id_


def _without_one(emit: Emit) -> frozenset[bytes]:
    """Values, and what is left of them without one, at each place; nothing of many."""
    values = emit.values
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_COMPARED:
        return frozenset()
    left = [["", each, *values[:each], *values[each + 1 :]] for each in range(len(values))] + [values[:-1]]
    return frozenset(
        msgspec.json.encode(each, enc_hook=as_raw) for each in [values, *(left if len(values) > 1 else ())]
    )


def _short(values: bytes) -> str:
    return ends(values.decode(), MOST_OF_VALUES)
