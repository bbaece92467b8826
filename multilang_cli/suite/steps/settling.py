"""Settling: what a bolt was fed, what became of it, and what a whole run says of that. Pure."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.judge.life_rules import NEVER_SETTLED
from multilang_cli.protocol.words.events import Deadline, Exited, Signalled, StdinClosed
from multilang_cli.protocol.words.large import as_raw
from multilang_cli.protocol.words.messages import SYSTEM_COMPONENT, Ack, Emit, Fail, Malformed, TupleMsg
from multilang_cli.protocol.words.shortening import head, shown
from multilang_cli.protocol.words.verdicts import ACKERS
from multilang_cli.reports.model import Observation, SubjectResult
from multilang_cli.reports.verdict import Judgement
from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.steps.equal_ones import ONCE, EqualOnes
from multilang_cli.suite.steps.mixing import Mixing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.protocol.words.events import Again, Event
    from multilang_cli.subject.options import Component

SUBJECT = "settling"
"""The id of the subject that a whole run's settling is judged by; it stands in files of known failures too."""
UNANCHORED = Observation(
    "never-anchors",
    "it acks what it takes and never anchors what it emits: Storm does not follow those tuples, so one that is lost or "
    "fails behind it is never replayed (anchor them, unless at most once is what you want)",
)
AT_HEARTBEATS = Observation(
    "settles-at-heartbeats",
    "it settles what it was fed last only when a heartbeat comes, up to a second later: flush stdout behind each ack, "
    "unless that is meant",
)
AT_THE_NEXT = Observation(
    "settles-at-the-next",
    "of tuples that come together it settles the first, and the others only when the next message comes: unless it "
    "settles at intervals, does it wait for stdin with select or poll, and read it through a buffer that holds them "
    "already?",
)
CHANGED = Observation(
    "fails-what-it-acked",
    "it fails a sample that it acked before, in one conversation: {values} (does something go on from one tuple to the "
    "next: a file that is read on, a cursor, a counter?)",
)
MIXED_UP = Observation(
    "values-of-another",
    "it emits for {of} alone a value of another sample: {values} (is what holds a tuple's values used again for the "
    "next, before they are emitted?)",
)
LEAST_OF_TEXT = 3
"""Characters of a text by which a sample is known again."""
MOST_OF_SAMPLE = 60
"""Characters of a sample that a note shows."""
UNEVEN = Observation(
    "uneven-tuples",
    "it emits tuples of {counts} values to the stream {stream!r}: a stream has one number of fields, and Storm refuses "
    "all that have another (say which is right, and have it judged: --stream {stream}:FIELDS)",
)
UNSETTLED = Observation(
    "ends-before-it-settles",
    "it emitted {emitted} tuples, and none of the {fed} that it was fed was settled before it ended: see whether it "
    "acks them once that is mended",
)
REFUSED = (
    "it fails every declared sample: a spout that replays what is failed does so for ever (give samples that it takes)"
)
SOME_REFUSED = "of {fed} times that it was given a declared sample it failed {refused}: {why}"
_IF_RIGHT = ": if that is right"
MOST_COUNTS = 3
"""Numbers of values of one stream that a note names."""
LEFT_OPEN = frozenset({"tuple-unsettled", "tuple-forgotten"})
"""Rules that a component breaks by leaving a tuple open."""
FORGETS = "forgets-tuples"
"""The cause of a case in which tuples stay open."""
TRIAL = 3.0
"""Seconds for what need not come: a component may refuse it, or was seen not to give it."""
SOON_SETTLED = 1.0
"""Seconds for what a component was proven to forget, or for the first settle of one that never settled anything."""
AMPLE = 2
"""Times as long as any tuple took, one is waited for at least: a slow bolt forgets nothing."""
SETTLES_ONE_OF = 10
"""One of so many tuples is settled at least by a bolt that settles what it is fed, of `NEVER_SETTLED` and more."""
RESTS = 0.2
"""Seconds without a settle, and then a heartbeat: what comes at once behind that came by it."""
AT_ONCE = 0.1
"""Seconds behind a heartbeat that are at once."""
SELDOM = 4
"""Conversations that end with a heartbeat, to each that may not: the next message may have come in time."""
WOKEN_OFTEN = 3
"""Conversations that have to show it: a slow bolt may be done by chance as a heartbeat comes."""
LONGEST_COMPARED = 65_536
"""Bytes of a tuple up to which it is compared with the samples."""
MOST_STREAMS = 3
"""Streams of which a run tells what was emitted there first."""


class Fed(NamedTuple):
    """A tuple that is open, its place among those that were fed, from 1, and when it was.

    `is_sample`: it is one of the declared samples. `behind`: another one was open when it came.
    """

    place: int
    message: TupleMsg
    t: float
    is_sample: bool
    behind: bool


class FedTuples:
    """Tuples that a bolt was fed in one conversation and what became of them: a sink of events.

    Storm's own tuples, as ticks and heartbeats, are left out, and so is what it says once it was told to end.
    `samples`: the declared ones. `open`: by id, in the order in which they were fed; `fed`, `acked`, `failed`,
    `emitted` and `anchored`: how many; `good` and `refused`: how many of the samples were acked, and failed. `starved`:
    none was settled in a time in which it should have been. `slowest`, `quickest`: seconds that one took to be settled.
    `died`: it ended by itself. `scant`: how many it settled of how many, where these were next to none. `arities`:
    by stream, how many values what it emitted of a sample, or as a spout, had. `woken`: of the last settled, True if
    that came just behind a heartbeat, long after it was fed, False if before any; None: neither. `behind`: it had come
    while another was open. `emits`: by stream, what was emitted there first, for its user to look at. `fates`:
    by values of a sample, whether it failed: both. `mixed`: an emit for one sample with a value of another. `mixing`:
    the texts that were fed and given back. `equal_ones`: what became of those that are equal.
    """

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self.open: dict[str, Fed] = {}
        self.fed = self.acked = self.failed = self.emitted = self.anchored = self.good = self.refused = 0
        self.starved = self.died = False
        self.slowest, self.quickest = 0.0, inf
        self.scant: tuple[int, int] | None = None
        self.arities: dict[str, set[int]] = {}
        self.emits: dict[str, str] = {}
        self.woken: bool | None = None
        self.behind = False
        self._beat = -inf
        self.fates: dict[bytes, set[bool]] = {}
        self.mixed: Observation | None = None
        self.mixing = Mixing()
        self.equal_ones = EqualOnes()
        samples = [*samples]
        self._samples = {(each.component, each.stream, msgspec.json.encode(each.values)) for each in samples}
        self._owned = _owners(samples)
        self._latest = 0
        self._began: float | None = None
        self._ended = 0.0
        self._dismissed = self._ticked = False

    @property
    def pace(self) -> float:
        """Seconds from the first that was fed to the last settled, for each."""
        return (self._ended - (self._began or 0.0)) / self.settled if self.settled else 0.0

    @property
    def delay(self) -> float:
        """Seconds in which one of them is settled: its share of the time, and no less than the quickest took."""
        return max(self.pace, self.quickest) if self.settled else 0.0

    @property
    def settled(self) -> int:
        """The number of those that were acked or failed."""
        return self.acked + self.failed

    def take(self, events: Iterable[Event], _: object = (), /) -> None:
        """See what happened."""
        for event in events:
            body = event.body
            if isinstance(body, TupleMsg):
                self._fed(body, event.t)
            elif self._dismissed:
                continue
            elif isinstance(body, Exited):
                self.died = True
            elif isinstance(body, Ack | Fail):
                self._settled(body, event.t)
            elif isinstance(body, Emit):
                self._emitted(body)
            elif isinstance(body, Malformed):
                self.anchored += sum(isinstance(meant, Emit) and bool(meant.anchors) for meant in body.salvage)
            elif isinstance(body, StdinClosed | Signalled):
                self._dismissed = True
            elif isinstance(body, Deadline) and body.waiting_for == "settle":
                self.starved = self.starved or bool(self.fed and not self.settled)

    def give_up(self) -> None:
        """It was waited in vain, with heartbeats, for what is open: see whether it settled next to nothing."""
        if self.settled and self.fed >= NEVER_SETTLED and SETTLES_ONE_OF * self.settled < self.fed:
            self.scant = (self.settled, self.fed)

    def _fed(self, message: TupleMsg, t: float) -> None:
        if message.is_heartbeat:
            self._beat = t
        elif message.comp != SYSTEM_COMPONENT:
            self.fed += 1
            self._began = t if self._began is None else self._began
            self.open[message.id] = Fed(self.fed, message, t, self._is_sample(message), bool(self.open))
            self.mixing.feed(message)
        else:
            self._ticked = True

    def _emitted(self, said: Emit) -> None:
        self.emitted += 1
        self.anchored += bool(said.anchors)
        of = [self.open.get(anchor) for anchor in said.anchors]
        if said.stream not in self.emits and len(self.emits) < MOST_STREAMS:
            by_spout = not (self.fed or self._ticked or self._beat > -inf)
            self.emits[said.stream] = _told_of(said, of[0] if of else None, by_spout=by_spout)
        if len(of) == 1 and of[0] is not None:
            self.mixing.emit(said, of[0].message, len(self.open))
        if self._owned and not self.mixed and of and all(each is not None and each.is_sample for each in of):
            self._look_for_mixed(said, [each.message.values for each in of if each is not None])
        if not self.fed or (of and all(each is not None and (each.is_sample or not self._samples) for each in of)):
            self.arities.setdefault(said.stream, set()).add(len(said.values))

    def _look_for_mixed(self, said: Emit, values: list[Any]) -> None:
        """See whether an emit for one sample, or several that are equal, has a text that is another's alone."""
        if any(each != values[0] for each in values) or not isinstance(said.values, list):
            return
        owners = (self._owned.get(value) for value in said.values if isinstance(value, str))
        if any(owner is not None and owner != values[0] for owner in owners):
            self.mixed = MIXED_UP.told(of=shown(values[0]), values=shown(said.values))

    def _settled(self, said: Ack | Fail, t: float) -> None:
        fed = self.open.pop(said.id, None)
        if fed is None:
            return
        self._latest = max(self._latest, fed.place)
        self.slowest, self.quickest = max(self.slowest, t - fed.t), min(self.quickest, t - fed.t)
        self._ended = t
        woken = self._beat - fed.t >= RESTS and t - self._beat <= AT_ONCE
        self.woken = True if woken else False if self._beat < fed.t else None
        self.behind = fed.behind
        failed = isinstance(said, Fail)
        self.failed += failed
        self.acked += not failed
        self.equal_ones.settled(fed.message, failed=failed)
        if fed.is_sample:
            self.fates.setdefault(msgspec.json.encode(fed.message.values, enc_hook=as_raw), set()).add(failed)
            self.refused += failed
            self.good += not failed

    def _is_sample(self, message: TupleMsg) -> bool:
        if not self._samples:
            return False
        data = msgspec.json.encode(message.values, enc_hook=as_raw)
        return len(data) <= LONGEST_COMPARED and (message.comp, message.stream, data) in self._samples

    def passed_over(self, lead: int = 1) -> Fed | None:
        """The oldest tuple that is open although one fed `lead` places after it, or later, is settled; None if none."""
        oldest = next(iter(self.open.values()), None)
        return oldest if oldest is not None and self._latest - oldest.place >= lead else None


def _owners(samples: Sequence[Sample]) -> dict[str, list[Any]]:
    """By text, the values of the only sample that has it, alone or within another text."""
    texts = [[text for text in each.values if isinstance(text, str)] for each in samples]
    return {
        text: samples[number].values
        for number, own in enumerate(texts)
        for text in own
        if len(text) >= LEAST_OF_TEXT
        and not any(text in other for at, others in enumerate(texts) if at != number for other in others)
    }


class Proof(NamedTuple):
    """A tuple that a bolt is proven to forget, and what became of those equal to it that were fed after it."""

    first: TupleMsg
    again: Again

    def tells_of(self, message: TupleMsg) -> bool:
        """True if one that is equal stays open too, as far as it goes by what it holds."""
        return not self.again.settled and msgspec.structs.replace(message, id=self.first.id) == self.first


def _told_of(said: Emit, of: Fed | None, *, by_spout: bool) -> str:
    """The words that show an emit: its values and stream, of which tuple it is, and the id that a spout gives it."""
    told = f"{shown(said.values)} to {shown(said.stream)}"
    told += "" if said.task is None else f", for task {said.task}"
    if by_spout:
        return f"{told}, without an id" if said.id is None else f"{told}, with the id {shown(said.id)}"
    if of is None:
        return f"{told}, without anchors" if not said.anchors else told
    beside = f" and {len(said.anchors) - 1} more" if len(said.anchors) > 1 else ""
    return f"{told}, anchored to {shown(of.message.values)}{beside}"


class Settling:
    """Settling of tuples in all cases of a run together; counts as in `Feed`.

    `starved`: the most that it was fed in a conversation that waited in vain for the first to be settled.
    `waited_out`: a whole limit was waited for in vain, with heartbeats. `proof`: what proved that it forgets tuples.
    `batch`: so many it settles together, 0 if that was not seen. `tried`: it was fed enough in one conversation to tell
    a batch. `by_value`: it collects equal tuples. `slowest`: seconds that a tuple took to be settled at most; `pace`:
    for each, in the quickest conversation; `delay`: until one is. `died`: it ended by itself in one of them.
    `takes_text`: it was seen to take text of our making. `overworked`: for a whole limit it worked on what it may
    refuse, in vain. `failing`: the first case in which it failed a declared sample. `scant`: as in the first
    conversation that has one. `changed`: a sample that it acked and failed; `mixed`: as in the first
    conversation that has one. `equal_ones`: what became of those in all. `woken`: how many conversations ended so;
    `prompt`: how many did not, `settles_behind`: those of these whose last had come while another was open, `unclear`:
    how many may have. `emits`: as in the first conversation that has some.
    """

    def __init__(self) -> None:
        self.fed = self.settled = self.acked = self.emitted = self.anchored = self.good = self.refused = 0
        self.starved = self.woken = self.prompt = self.unclear = self.settles_behind = self.batch = 0
        self.slowest = self.pace = self.delay = 0.0
        self.scant: tuple[int, int] | None = None
        self.arities: dict[str, set[int]] = {}
        self.emits: dict[str, str] = {}
        self.changed = ""
        self.mixed: Observation | None = None
        self.equal_ones = EqualOnes()
        self.failing: SubjectResult | None = None
        self.proof: Proof | None = None
        self.waited_out = self.tried = self.by_value = self.died = self.takes_text = self.overworked = False

    @property
    def forgetful(self) -> bool:
        """It is proven to forget tuples."""
        return self.proof is not None

    def patience(self, limit: float, open_ones: int = 1) -> float:
        """Seconds to wait for a tuple to be settled: once the whole limit; what did not come then is soon given up.

        `open_ones`: how many are open with it. Who is proven to forget is waited for no longer than those need.
        """
        if not (self.waited_out or self.forgetful):
            return limit
        hopeless = self.forgetful or (self.tried and not self.settled)
        ample = min(self.ample, AMPLE * open_ones * self.delay) if self.forgetful else self.ample
        return min(limit, max(SOON_SETTLED if hopeless else TRIAL, ample))

    @property
    def ample(self) -> float:
        """Seconds in which a tuple would have been settled, as long as any took; 0.0 where none was."""
        return AMPLE * self.slowest

    def add(self, feed: FedTuples) -> None:
        """Count what one conversation showed."""
        for name in ("fed", "settled", "acked", "emitted", "anchored", "good", "refused"):
            setattr(self, name, getattr(self, name) + getattr(feed, name))
        self.slowest = max(self.slowest, feed.slowest)
        self.pace = min(filter(None, (self.pace, feed.pace)), default=0.0)
        self.delay = min(filter(None, (self.delay, feed.delay)), default=0.0)
        self.died = self.died or feed.died
        self.scant = self.scant or feed.scant
        for stream, counts in feed.arities.items():
            self.arities.setdefault(stream, set()).update(counts)
        self.emits = feed.emits | self.emits
        changed = (values.decode() for values, fates in feed.fates.items() if len(fates) > 1)
        self.changed = self.changed or next(changed, "")
        self.mixed = self.mixed or feed.mixed or feed.mixing.observation
        self.equal_ones.add(feed.equal_ones)
        self.woken += feed.woken is True
        self.prompt += feed.woken is False
        self.settles_behind += feed.behind and feed.woken is False
        self.unclear += feed.woken is None and bool(feed.settled)
        if feed.starved:
            self.starved = max(self.starved, feed.fed)

    def observations(self, component: Component) -> Iterator[Observation]:
        """Notes for its user although nothing is wrong."""
        # A word or two at its start are no answers to what it was fed.
        answers = self.died and self.fed and 2 * self.emitted >= self.fed
        unsettled = answers and not (self.settled or self.starved or component.settles)
        if unsettled:
            yield UNSETTLED.told(emitted=self.emitted, fed=self.fed)
        if component.streams is None and not component.testee:
            for stream, counts in self.arities.items():
                if len(counts) > 1:
                    yield UNEVEN.told(counts=_named(counts), stream=stream)
        if not unsettled:
            yield from self._notes(component)

    def _notes(self, component: Component) -> Iterator[Observation]:
        """Notes on a bolt that settles what it is fed."""
        if self.mixed is not None:
            yield self.mixed
        if self.changed:
            yield CHANGED.told(values=head(self.changed, MOST_OF_SAMPLE))
        unfollowed = component.testee or component.conf.get(ACKERS) == 0
        if not unfollowed and self.acked and self.emitted and not self.anchored:
            yield UNANCHORED
        if self.woken >= WOKEN_OFTEN and not component.settles:
            if not self.prompt:
                yield AT_HEARTBEATS
            elif SELDOM * (self.settles_behind + self.unclear) <= self.woken:
                yield AT_THE_NEXT

    def judged(self, component: Component) -> Judgement | None:
        """The verdict on the run as a whole; None if nothing, or if it was not fed enough to tell."""
        if component.testee or component.kind != "bolt" or component.settling == "unchecked":
            return None
        # A text of our making that it refuses is no tuple of its topology.
        settled = self.good + self.refused if has_samples(component) else self.settled
        if self.starved and not settled:
            return _never(component, self)
        if self.scant is not None and not (component.settles or self.forgetful):
            return _next_to_none(component, self.scant)
        if self.refused and not self.good:
            return Judgement("warn", REFUSED)
        why = self.failing.causes[0].last if self.failing is not None and self.failing.causes else ""
        if self.refused and why:
            fed = self.refused + self.good
            return Judgement("warn", SOME_REFUSED.format(refused=self.refused, fed=fed, why=why))
        return Judgement("warn", ONCE) if self.equal_ones.once else None


def subject_of(
    judgement: Judgement, cases: Sequence[SubjectResult] = (), failing: SubjectResult | None = None
) -> SubjectResult:
    """The subject that carries what is said of the run as a whole; of the `cases`, the first that shows it.

    `failing`: the case that shows how it fails a declared sample.
    """
    subject = SubjectResult(
        id=SUBJECT,
        title="settles what it is fed",
        kind="run",
        verdict=judgement.verdict,
        reason=judgement.reason,
        expected="an ack or a fail for what it is fed, in the run as a whole",
    )
    forgetful = _forgetful(cases)
    shown = (
        forgetful if judgement.verdict in {"fail", "untestable"} else failing if judgement.verdict == "warn" else None
    )
    if shown is None or not shown.causes:
        return subject
    cause = shown.causes[0]
    headline = judgement.reason.partition(_IF_RIGHT)[0]
    if judgement.reason == REFUSED:
        headline = cause.headline.replace("a declared sample", "every declared sample", 1)
    # What keeps it from settling says more than that it settles none.
    if shown is not forgetful or cause.id == FORGETS:
        cause = msgspec.structs.replace(cause, certainty="certain", headline=headline)
    return msgspec.structs.replace(
        subject,
        causes=(cause,),
        findings=shown.findings,
        outlook=shown.outlook,
        excerpt=shown.excerpt,
        transcript=shown.transcript,
        reproduce=shown.reproduce,
    )


def _forgetful(cases: Sequence[SubjectResult]) -> SubjectResult | None:
    """The first case in which tuples stay open; if one and no other cause says why, the first that has that."""
    left_open = [case for case in cases if case.causes and LEFT_OPEN & {*case.causes[0].rules}]
    explained = [case for case in left_open if case.causes[0].id != FORGETS]
    told = explained if len({case.causes[0].id for case in explained}) == 1 else left_open
    return next(iter(told), None)


def _never(component: Component, seen: Settling) -> Judgement:
    fed = f"of the {seen.fed} tuples that it was fed"
    none = f"it settled none {fed}" if not seen.settled else f"it settled no declared sample {fed}"
    if component.settles:
        return Judgement("fail", f"{none}, although settles = {component.settles!r} is declared")
    return Judgement("untestable", none + _ways_out(component))


def _next_to_none(component: Component, scant: tuple[int, int]) -> Judgement:
    settled, fed = scant
    few = f"it settled {settled} of the {fed} tuples that it was fed in one case, and no more while heartbeats came"
    return Judgement("untestable", few + _ways_out(component))


def _ways_out(component: Component) -> str:
    options = 'settles = "after-N" if it collects N, "on-tick" if a tick settles them, "unchecked" if it can\'t be told'
    sample = "" if has_samples(component) else "; or does it need other tuples? (--tuple JSON, or samples)"
    return f"{_IF_RIGHT}, declare when it settles them: {options}{sample}"


def others_than(message: TupleMsg, samples: Sequence[Sample]) -> list[Sample]:
    """The samples that are fed between tuples equal to `message`, in their order, those that come after it first."""
    places = [number for number, sample in enumerate(samples) if _is(message, sample)]
    at = places[0] if places else -1
    turned = [*samples[at + 1 :], *samples[: at + 1]]
    return [sample for sample in turned if not _is(message, sample)]


def _is(message: TupleMsg, sample: Sample) -> bool:
    return (message.comp, message.stream, message.values) == (sample.component, sample.stream, sample.values)


def _named(counts: Iterable[int]) -> str:
    """Numbers in words, the lowest of many."""
    told = [str(count) for count in sorted(counts)]
    more = len(told) - MOST_COUNTS
    return " and ".join(told if more <= 0 else [*told[:MOST_COUNTS], f"{more} more numbers of"])
