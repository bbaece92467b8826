"""One case over one fresh process: steps, judgement, transcript, result."""

from __future__ import annotations

import contextlib
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.causes.seen import COMMANDS
from multilang_cli.driver.launch import readable
from multilang_cli.driver.memory import TooMuchMemoryError, ceiling
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.either import Shell, shell_of
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.judge.bolt_rules import TIMER
from multilang_cli.protocol.judge.coverage import Coverage
from multilang_cli.protocol.wire import context
from multilang_cli.reports.escape import decode
from multilang_cli.reports.verdict import Judgement
from multilang_cli.subject.profiles import profile_of, without_consumers
from multilang_cli.subject.samples import declared_values, has_samples, samples_of
from multilang_cli.subject.source.sources import source_of
from multilang_cli.suite.cases.case import shipped
from multilang_cli.suite.cases.fitness import why_unfit
from multilang_cli.suite.runner.case_verdict import CaseEnd, CaseVerdict, at_fault
from multilang_cli.suite.runner.learned import Learned
from multilang_cli.suite.runner.watch import OwnSide, Watch
from multilang_cli.suite.steps.operations import OPERATIONS
from multilang_cli.suite.steps.settling import FedTuples
from multilang_cli.suite.steps.stage import LISTENED_TO, NotExercised, Stage, Stop
from multilang_cli.suite.steps.ticks import declared_ticks, takes_ticks
from multilang_cli.suite.verdict.causes import UNANSWERED, LastWords, hear_out
from multilang_cli.suite.verdict.refusals import DEATHS, Refused, costs_nothing
from multilang_cli.suite.verdict.repeats import MEMORY, Hang, HangWatch, shortened
from multilang_cli.suite.verdict.replays import ReplayWatch
from multilang_cli.transcript.recording import Recording, header_now

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.session import OnWait, Session
    from multilang_cli.protocol.words.messages import Handshake
    from multilang_cli.protocol.words.verdicts import Profile
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.subject.options import Component
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.cases.case import Case, Step
    from multilang_cli.suite.runner.watch import Like

REMINDERS = 3
"""Heartbeats after which a bolt that has settled nothing on any of them will not."""

ANSWERED = frozenset({"handshake", "tuple", "heartbeat", *COMMANDS})
"""Occasions of what a component that passes has answered."""


class CaseRun:
    """One case, played to a fresh process of the component.

    `short`: seconds by which waits for answers are bounded, if the case can only confirm a hang that is known; else
    None. `until`: deadline on the machine's clock; passing it raises OutOfTimeError. `learned`: knowledge from the
    cases before, to which `learn` adds. `on_wait`: called during long waits, as that of `Session`.

    After `run`: `said_pid`: the component said its first message. `played`: steps that were done. `events`: number of
    events. `coverage`: occasions that it was given. `feed`: what became of the tuples that it was fed. `acked`: keys of
    the tuples that it took. `answers`, `forgets`: as in `Learned`. `refused`: the result that counts if the component
    takes in another case what it refused here; None if it refused nothing. `beaten`: it died of a heartbeat before it
    was fed anything. `hang`: the long wait that was in vain, None if there was none. `failing`: the result to show
    where no finding tells why tuples were failed. `unrecorded`: why the transcript could not be written, or "".
    """

    def __init__(
        self,
        checked: Subject,
        case: Case,
        short: float | None = None,
        until: float = math.inf,
        learned: Learned | None = None,
    ) -> None:
        self.subject, self.case = checked, case
        self.learned = learned or Learned()
        self.on_wait: OnWait | None = None
        self._short, self._until = short, until
        self._profile = self._profile_of(short)
        # Results.
        self.said_pid = self.beaten = False
        self.played = self.events = 0
        self.coverage = Coverage(self._profile)
        self.feed = FedTuples(samples_of(checked.component) if has_samples(checked.component) else ())
        self.acked: frozenset[Like] = frozenset()
        self.answers, self.forgets = self.learned.answers, self.learned.forgets
        self.refused: Refused | None = None
        self.hang: Hang | None = None
        self.failing: SubjectResult | None = None
        self.unrecorded = ""
        self._missing: Judgement | None = None
        self._stage: Stage | None = None

    def _profile_of(self, short: float | None) -> Profile:
        """The component's profile, with what the case declares, and limits bounded by `short` (``shortened``)."""
        checked, case = self.subject, self.case
        asked = case.testee_streams if case.testee else None
        profile = profile_of(checked.component, checked.version, checked.options.timeout, asked)
        limits = profile.limits if short is None else shortened(profile.limits, short)
        profile = msgspec.structs.replace(profile, samples=_declared(checked.component, case), limits=limits)
        return without_consumers(profile) if case.unconsumed else profile

    def run(self) -> SubjectResult:
        """Start the component, play the steps, end it. Raises LaunchError if it can't be started."""
        verdict = CaseVerdict(self.subject, self.case, self.learned)
        if unfit := why_unfit(self.case, self.subject):
            self.said_pid = True
            return verdict.result("skip", unfit)
        transcript = self.subject.record / f"{self.case.id}.ndjson"
        watch, hangs = Watch(), HangWatch(confirms=self._short is not None, slowest=self.learned.settling.slowest)
        header = header_now(self.case.id, self._profile, map(readable, self.subject.launch.argv))
        recording = Recording(transcript, header, self.subject.component.env)
        ours = OwnSide(self._profile, self.subject.rulebook) if self.case.id in shipped() else None
        seen = (self.coverage, self.feed, ReplayWatch(self.learned.replays))
        sinks = (recording, watch, hangs, *seen, *((ours,) if ours is not None else ()))
        shell = self._start(sinks)
        last, too_much = LastWords(), None
        with recording, shell.session as session:
            session.pump.until = self._until
            session.on_wait = self.on_wait
            session.pump.memory = ceiling(self.subject.options.memory, self.subject.options.jobs)
            try:
                self._play(shell)
                session.pump.check_stdin()
                source = source_of(self.subject.launch.argv, self.subject.cwd, self._profile.kind)
                last = hear_out(session, source)
            except TooMuchMemoryError as error:
                # What it would have said with more is not known.
                too_much, self.said_pid = error, True
                hangs.died(MEMORY, session.now)
        if isinstance(shell, ShellSpout):
            self.learned.idle.emitted(shell.kept.count, shell.kept.with_id)
        hangs.hear_last_words(decode(session.process.stderr_tail))
        self.hang = hangs.hang
        self.unrecorded = recording.failed
        self.events = session.pump.events.seq
        died = any(finding.rule in DEATHS for finding in session.findings)
        self.acked = frozenset() if self.case.told_otherwise else watch.taken(died=died)
        result = verdict.judged(CaseEnd(session, watch, self._stage, self.feed, last, self._missing, too_much))
        self.refused, self.failing, self.beaten = verdict.refused, verdict.failing, verdict.beaten
        if not session.pump.stdin.pieces.pieced:
            self.answers |= self.coverage.seen & ANSWERED if result.verdict == "pass" else frozenset()
            self.forgets |= {UNANSWERED[finding.rule] for finding in session.findings if finding.rule in UNANSWERED}
        if ours is not None and ours.fault:
            result = at_fault(result, self.subject.version.id, ours.fault)
        if result.verdict in {"pass", "skip"} and not self.subject.options.record_all:
            transcript.unlink(missing_ok=True)
            return result
        return result if recording.failed else msgspec.structs.replace(result, transcript=str(transcript))

    def learn(self) -> None:
        """Add what it has shown to what is learned; of calls and replays that was done while it was played."""
        learned = self.learned
        learned.seen |= self.coverage.seen
        learned.broken |= self.coverage.broken
        learned.acked |= self.acked
        learned.answers |= self.answers
        learned.forgets |= self.forgets
        learned.beaten = learned.beaten or self.beaten
        learned.settling.add(self.feed)
        learned.settling.failing = learned.settling.failing or self.failing

    def answers_plainly(self) -> bool:
        """True if the component answers a plain handshake; nothing is recorded."""
        shell = self._start(())
        with shell.session:
            self._play(shell, (("handshake", {}),))
        return self.said_pid

    def survives_one(self) -> bool:
        """True if the component lives on after a tuple that it settled; nothing is recorded."""
        shell = self._start(())
        with shell.session as session:
            self._play(shell, (("handshake", {}), ("tuple", {}), ("settle", {}), ("quiet", {})))
            return session.running

    def _start(self, sinks: Iterable[EventSink]) -> Shell:
        checked = self.subject
        judge = judge_of(self._profile, checked.rulebook)
        ticks = declared_ticks(checked.component) if takes_ticks(checked.component) else 0
        timer = TIMER if checked.version.heartbeats else 0.0
        process = checked.start(self.case.env)
        shell = shell_of(process, judge, sinks, timer=timer, ticks=ticks, seed=checked.options.seed)
        if isinstance(shell, ShellBolt):
            shell.reminders = REMINDERS
        else:
            shell.block_as_storm()
        return shell

    def _play(self, shell: Shell, steps: tuple[Step, ...] = ()) -> None:
        component, session = self.subject.component, shell.session
        stage = Stage(
            shell,
            component,
            partial(self._handshake, session),
            refusable=costs_nothing(self.case, frozenset(component.accepts)),
            feed=self.feed,
            settling=self.learned.settling,
            idle=self.learned.idle,
        )
        self._stage = stage
        try:
            for name, arguments in steps or self.case.steps:
                with contextlib.suppress(*((NotExercised,) if self.case.loose else ())):
                    OPERATIONS[name](stage, arguments)
                self.played += 1
            self._let_it_finish(stage)
        except Stop:
            pass
        except NotExercised as nothing:
            self._missing = Judgement(nothing.verdict, str(nothing))
            self._let_it_finish(stage)
        self.said_pid = stage.said_pid or not session.judge.expecting_pid

    def _let_it_finish(self, stage: Stage) -> None:
        """Wait until it has done all: what is wrong has to show every time, not only if it comes soon enough."""
        session = stage.session
        if not session.running or session.judge.state.dismissed:
            return
        if session.judge.profile.testee and not self._missing:
            OPERATIONS["done"](stage, {})
        if isinstance(stage.shell, ShellSpout):
            session.wait_quiet(stage.limits["output"], talk=LISTENED_TO)
        elif self._missing:
            with contextlib.suppress(Stop, NotExercised):
                OPERATIONS["barrier"](stage, {})

    def _handshake(self, session: Session, arguments: dict[str, Any]) -> Handshake:
        """The handshake, with what a step's arguments add."""
        version, profile = self.subject.version, self._profile
        overrides = dict(self.subject.component.conf) | arguments.get("conf", {})
        if pad := int(arguments.get("pad", 0)):
            overrides["mlcheck.pad"] = "x" * pad
        conf = context.realistic_conf(base_conf(version.id), profile, overrides)
        more = context.sent_by(version, profile, arguments.get("context", {}))
        return context.handshake(profile, version, conf, str(session.process.pid_dir), more)


def _declared(component: Component, case: Case) -> tuple[list[Any], ...] | None:
    """Values of the tuples that a bolt's user, or the case, says that it takes; None where no tuple is made up."""
    own = declared_values(component)
    if own is None:
        return None
    of_case = [values for _, arguments in case.steps for values in arguments.get("these", ())]
    return (*own, *of_case)
