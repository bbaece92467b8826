"""Waiting for a bolt to settle, and a look at what it leaves open before that is called wrong.

A bolt may settle when a heartbeat or a tick comes, in batches of N, out of order, or when the window has moved on. So
what is still open after a wait is looked at again: with heartbeats, and, where later tuples were settled, with equal
ones, up to `protocol.judge.life_rules.NEVER_SETTLED` of them. Ticks come by the clock.
"""

from __future__ import annotations

import re
from itertools import chain, cycle, islice, repeat
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_causes
from multilang_cli.protocol.judge.life_rules import NEVER_SETTLED, SOME_SETTLED
from multilang_cli.protocol.words.events import Again
from multilang_cli.reports.escape import decode
from multilang_cli.suite.steps.settling import AMPLE, SOON_SETTLED, TRIAL, Proof, others_than

if TYPE_CHECKING:
    from multilang_cli.driver.shell.bolt import ShellBolt
    from multilang_cli.suite.steps.settling import Fed
    from multilang_cli.suite.steps.stage import Stage

CHUNKS = (5, 15, 30, 50, 100)
"""Equal tuples, `NEVER_SETTLED` in all, fed together before it is looked again whether the first is settled."""
LEAST_TICKS = 4
"""Ticks that a batch is waited for, at least."""
WHILE = 10.0
"""Seconds for which tuples are fed again at least: enough for all of them, unless the bolt is slow."""
WORKS = 0.5
"""Seconds after which it is looked again whether a bolt still works on what it may refuse."""
GLANCES = 4
"""Times in a row that a bolt is to be seen at rest before it counts as such."""
BETWEEN_GLANCES = 0.05
"""Seconds between them: what works on megabytes waits for memory, or for the rest of a message, now and then."""
NEXT_PIECE = 1.5
"""Seconds within which a bolt that goes on at each message emits again: a heartbeat comes each second."""
_THREAD_DIED = "thread-died"
MOST_HOLES = 5
"""Tuples that are looked at in one wait: each is of another value than those before."""


def await_settled(stage: Stage, limit: float, left: int) -> bool:
    """Wait until no more than `left` tuples are open, and none of them was passed over.

    False, with a finding, if that is not so after `limit` seconds without progress, or never will be.
    """
    if stage.bolt.profile.testee:
        settled = stage.bolt.settle_all(limit, left)
    else:
        wait = _Wait(stage, limit, left)
        settled = wait.comes() or wait.wakes() or (stage.session.running and wait.explained())
    if not settled and is_alive(stage):
        _try_batch(stage)
        stage.feed.give_up()
    return settled


def is_alive(stage: Stage) -> bool:
    """Ask the bolt that settled too little for a sign of life: a dead or stopped one is found out in every case."""
    bolt = stage.bolt
    if stage.may_refuse or stage.trying or not bolt.session.running:
        return False
    if not bolt.version.heartbeats:
        return True
    return bolt.judge.silence(bolt.session.now) <= bolt.judge.timeout and bolt.beat(stage.limits["heartbeat"])


class _Wait:
    """One wait for a bolt to settle, until no more than `left` tuples are open."""

    def __init__(self, stage: Stage, limit: float, left: int) -> None:
        self.stage = stage
        self.bolt = stage.bolt
        self.left = left
        open_ones = len(stage.feed.open)
        self.patience = max(stage.settling.patience(limit, open_ones), LEAST_TICKS * self.bolt.tick_period)
        self.began = self.bolt.session.now
        self.emitted = stage.feed.emitted
        self.until = self.began + limit

    def comes(self) -> bool:
        """Wait for it; True if it came."""
        return self._quietly(self.patience)

    def wakes(self) -> bool:
        """Once in a run, wait until the limit is over: a heartbeat comes each second, and it may settle on one."""
        bolt, settling = self.bolt, self.stage.settling
        # What is given up early, since it may be refused, shows nothing of a whole limit.
        if self.stage.may_refuse or self.stage.trying:
            return self._works_on()
        if settling.waited_out or not bolt.version.heartbeats or _lost_a_thread(bolt):
            return False
        if bolt.session.worker_is_dead:
            # Nothing that comes now would be heard.
            settling.waited_out = bolt.session.now >= self.until
            return False
        came = bolt.session.wait(self._done, max(0.0, self.until - bolt.session.now), "output", quietly=True)
        settling.waited_out = not came and bolt.session.now >= self.until
        return came

    def _works_on(self) -> bool:
        """Wait on while it works on what it may refuse: slow is no refusal. In vain once in a run."""
        bolt, settling = self.bolt, self.stage.settling
        until = self.began + self.stage.limits["settle"]
        while not settling.overworked and bolt.session.now < until and (self._is_at_work() or self._goes_on()):
            if bolt.session.wait(self._done, WORKS, "output", quietly=True):
                return True
        settling.overworked = settling.overworked or bolt.session.now >= until
        # It may have answered, and be at rest, since the limit ran out.
        return bolt.session.wait(self._done, 0.0, "output", quietly=True)

    def _is_at_work(self) -> bool:
        bolt = self.bolt
        looks = (
            bolt.session.working or bolt.session.wait(self._done, BETWEEN_GLANCES, "output", quietly=True)
            for _ in range(GLANCES)
        )
        return any(looks)

    def _goes_on(self) -> bool:
        """True if it has emitted in this wait, and emits again for the next message: a piece of its work at each."""
        feed, before = self.stage.feed, self.stage.feed.emitted
        settles = feed.settled or self.stage.settling.settled
        if before == self.emitted or not settles or not self.bolt.version.heartbeats:
            return False
        self.bolt.session.wait(lambda: self._done() or feed.emitted > before, NEXT_PIECE, "output", quietly=True)
        return feed.emitted > before

    def explained(self) -> bool:
        """See what it is that stays open, and say so: False, with a finding; True if equal tuples had it settled."""
        bolt, stage = self.bolt, self.stage
        proven = bolt.session.now - self.began < self.patience and bolt.session.stuck()
        looked = 0
        while looked < MOST_HOLES and self._looks() and (hole := self._hole()) is not None:
            again = _fed_again(stage, hole)
            if hole.message.id in stage.feed.open:
                return self._forgotten(hole, again, proven=proven)
            looked += 1
        first = next(iter(stage.feed.open.values()), None)
        if first is not None and self._looks() and stage.feed.settled and bolt.session.running and _lost_a_thread(bolt):
            return self._forgotten(first, _fed_again(stage, first), proven=proven)
        if looked and self._quietly(max(TRIAL, stage.settling.ample)):
            # Equal ones are collected: then a tuple may be settled before an older one of another value.
            stage.settling.by_value = True
            return True
        return bolt.session.not_settled(self.patience, proven=proven)

    def _forgotten(self, hole: Fed, again: Again, *, proven: bool) -> bool:
        """Say that a tuple stayed open though equal ones came: False, with a finding."""
        session, settling = self.bolt.session, self.stage.settling
        if again.declared and not again.earlier:
            settling.proof = Proof(hole.message, again)
        return session.running and session.not_settled(self.patience, proven=proven, again=again)

    def _quietly(self, patience: float) -> bool:
        return self.bolt.settle_all(patience, self.left, also=self._whole, quietly=True)

    def _done(self) -> bool:
        return self.bolt.session.idle and self.bolt.unsettled <= self.left and self._whole()

    def _whole(self) -> bool:
        """True if no tuple was passed over, as far as that is looked at."""
        return not self._looks() or self._hole() is None

    def _looks(self) -> bool:
        """True unless what it was fed is our own making, which it need not understand."""
        return not (self.stage.trying or self.stage.settling.by_value) and self.stage.made_up is None

    def _hole(self) -> Fed | None:
        return self.stage.feed.passed_over(self.left + 1)


def _lost_a_thread(bolt: ShellBolt) -> bool:
    """True if it says that an exception ended a thread of it: what that was to settle is settled by no other."""
    known = next(cause for cause in load_causes() if cause.id == _THREAD_DIED)
    stderr = decode(bolt.session.process.stderr_tail)
    return any(each.stderr and re.search(each.stderr, stderr, re.MULTILINE) for each in known.when)


def _fed_again(stage: Stage, first: Fed) -> Again:
    """Feed tuples equal to the first, others of the samples in between, until it is settled: what became of them."""
    bolt, feed, limit, proof = stage.bolt, stage.feed, stage.limits["settle"], stage.settling.proof
    if proof is not None and proof.tells_of(first.message):
        return msgspec.structs.replace(proof.again, id=first.message.id, earlier=True)
    others = others_than(first.message, stage.samples)
    turns = chain.from_iterable(repeat(others)) if others else repeat(None)
    sent: list[str] = []

    def done() -> bool:
        """True if the first is settled, or all that were sent after it."""
        return bolt.session.idle and (first.message.id not in feed.open or not any(id_ in feed.open for id_ in sent))

    def settled() -> int:
        """The number of those sent that are settled."""
        return sum(id_ not in feed.open for id_ in sent)

    until = bolt.session.now + max(limit, WHILE)
    # Of one that settles no equal ones a few at a time would be waited for in vain as often.
    for size in (NEVER_SETTLED,) if proof is not None and not proof.again.settled else CHUNKS:
        in_time = bolt.session.now + (2 if others else 1) * size * feed.pace < until
        if settled() >= SOME_SETTLED and (proof is not None or not in_time):
            break
        for _ in range(size):
            sent.append(bolt.new_id())
            bolt.session.say(msgspec.structs.replace(first.message, id=sent[-1]))
            if (other := next(turns)) is not None:
                stage.send(other)
        soon = stage.settling.patience(min(limit, TRIAL), len(feed.open))
        ample = 0.0 if proof is not None else AMPLE * max(feed.slowest, stage.settling.slowest)
        patience = max(soon, LEAST_TICKS * bolt.tick_period, min(limit, ample))
        bolt.session.wait(done, patience, "settle", lambda: len(feed.open), quietly=True)
        if first.message.id not in feed.open or not bolt.session.running or bolt.session.now > until:
            break
    joins = sum(map(len, bolt.profile.sources.values())) > 1
    return Again(first.message.id, len(sent), settled(), declared=first.is_sample and not joins)


def _try_batch(stage: Stage) -> None:
    """See once in a run whether what is open is a batch, if nobody said when it is settled.

    Where some were settled: if the newest alone are open, and were waited for in vain for a whole limit.
    """
    feed, settling = stage.feed, stage.settling
    if settling.tried or stage.settles_declared:
        return
    if (settling.settled or feed.settled) and not (settling.waited_out and feed.passed_over() is None):
        return
    first = next(iter(feed.open.values()), None)
    if first is not None:
        settling.tried = True
        again = _fed_again(stage, first)
        if first.message.id not in feed.open:
            settling.batch = _batch_size(stage)
        elif again.declared and again.settled >= SOME_SETTLED and stage.bolt.session.running:
            # It was the newest, and is a hole now: a batch would have it by this time.
            stage.bolt.session.not_settled(stage.limits["settle"], proven=False, again=again)


def _batch_size(stage: Stage) -> int:
    """The number of tuples that it settles together, as they come one after another; 0 if not the same number twice."""
    session = stage.bolt.session
    # The first of those settled together was seen to be: the others are still being read.
    session.wait_quiet(WHILE)
    until = session.now + WHILE
    first, second = (_settled_together(stage, until) for _ in range(2))
    return first if first == second > 1 else 0


def _settled_together(stage: Stage, until: float) -> int:
    """Feed one tuple after another until it settles some: how many, 0 if it leaves others open, or settles none."""
    feed, session = stage.feed, stage.bolt.session
    for sample in islice(cycle(stage.samples), NEVER_SETTLED):
        before = len(feed.open)
        stage.send(sample)
        session.wait_quiet(max(SOON_SETTLED, until - session.now))
        if len(feed.open) <= before:
            return 0 if feed.open else before + 1
        if session.now > until or not session.running:
            break
    return 0
