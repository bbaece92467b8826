"""One host case: the host is started with the scripted component, told to end, and judged by what that has noted."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.feed_file import VARIABLE, written
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.component import player
from multilang_cli.driver.launch import Launch, readable
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.judging.excerpts import excerpt_of
from multilang_cli.protocol.host.host_rules import STOP
from multilang_cli.protocol.host.hosting import death_of
from multilang_cli.protocol.words.events import Barrier, Deadline, End, Event
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Finding, StormVersion
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import Exit, SubjectResult, Verdict
from multilang_cli.reports.verdict import verdict_of
from multilang_cli.subject.recordings import RecordError
from multilang_cli.suite.case_result import case_result
from multilang_cli.suite.hosts.witnessed import Witnessed
from multilang_cli.suite.runner.case_verdict import STDERR_SHOWN
from multilang_cli.transcript.recording import Recording, header_now
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.suite.hosts.case import HostCase

WITNESS = Path(player.__file__).with_name("witness.py")
NOTES_EVERY = 0.02
"""Seconds between two looks at the notes."""
END = 15.0
"""Seconds that a host may take to end, once it is told to."""
COMPONENT_ENDS_WITHIN = 2.0
"""Seconds that a component may take to end after its host has."""


class HostPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is the same for all cases. `patience`: what limits are multiplied by."""

    command: tuple[str, ...]
    launch: Launch
    cwd: Path
    env: dict[str, str]
    version: StormVersion
    rulebook: Rulebook
    record: Path
    record_all: bool = False
    patience: float = 1.0


class HostRun:
    """Plays `case` as `plan` says.

    `started`: the host has started a component; `unrecorded`: why the transcript could not be written, "" if it could.
    """

    def __init__(self, plan: HostPlan, case: HostCase) -> None:
        self.plan = plan
        self.case = case
        self.started = False
        self.unrecorded = ""
        self._profile = case.profile_for(plan.version, plan.patience)

    def run(self) -> SubjectResult:
        """Start the host, wait until the script is over, end it.

        Raises LaunchError if it can't be started, and RecordError if what its component does can't be noted.
        """
        began = time.monotonic()
        if not self.case.holds_for(self.plan.version):
            self.started = True
            reason = f"not asked of Storm {self.plan.version.id} yet (since {self.case.since})"
            return self._result("skip", reason, began)
        transcript = self.plan.record / f"{self.case.id}.ndjson"
        folder = private_pid_dir()
        header = header_now(self.case.id, self._profile, map(readable, self.plan.launch.argv))
        with Recording(transcript, header, {}) as recording, self._start(folder) as process:
            seen = _Watched(process, Witnessed(folder, began), judge_of(self._profile, self.plan.rulebook), recording)
            in_time = seen.play(self.case.limit * self.plan.patience, self.plan.patience)
            if why := seen.witnessed.why_unnoted():
                raise self._unnoted(folder, why)
        self.started, self.unrecorded = seen.witnessed.pid is not None, recording.failed
        result = self._judged(seen, began, in_time=in_time)
        if result.verdict == "pass" and not self.plan.record_all:
            transcript.unlink(missing_ok=True)
            return result
        return result if recording.failed else msgspec.structs.replace(result, transcript=str(transcript))

    def _start(self, folder: Path) -> ComponentProcess:
        script, feed = folder / "case.json", folder / "feed.json"
        try:
            script.write_text(json.dumps(self.case.played()), encoding="utf-8")
            feed.write_bytes(written(self.case.id, self._profile))
            Witnessed.make_room(folder)
        except OSError as error:
            raise self._unnoted(folder, error.strerror or str(error)) from None
        player = (sys.executable, "-I", "-S", str(WITNESS), str(script), str(folder))
        env = {**self.plan.env, VARIABLE: str(feed)}
        return ComponentProcess.start((*self.plan.launch.argv, *player), cwd=self.plan.cwd, env=env, pid_dir=folder)

    @staticmethod
    def _unnoted(folder: Path, why: str) -> RecordError:
        where = f"can't be noted in {folder.parent}"
        return RecordError(f"what passes between it and its component {where}: {why} (TMPDIR)")

    def _judged(self, seen: _Watched, began: float, *, in_time: bool) -> SubjectResult:
        limit = f"within {self.case.limit * self.plan.patience:g} s"
        late = f"the component's script was not over {'before the host ended' if seen.host_ended else limit}"
        verdict, reason = verdict_of(seen.findings, self.plan.version.id, "" if in_time else late)
        if seen.witnessed.pid is None:
            verdict, reason = "fail", "the host started no component"
        return self._result(verdict, reason, began, seen)

    def _result(self, verdict: Verdict, reason: str, began: float, seen: _Watched | None = None) -> SubjectResult:
        case, findings = self.case, tuple(seen.findings) if seen is not None else ()
        ended = seen.process.exited() if seen is not None else None
        patience = ["--patience", f"{self.plan.patience:g}"] if self.plan.patience != 1 else []
        secrets = Redactor({}, words=self.plan.command)
        words = ["mlcheck", "host", "--storm", self.plan.version.id, *patience, "-k", case.id]
        words += ["--", *secrets.words(self.plan.command)]
        return case_result(
            case,
            verdict,
            reason,
            duration=round(time.monotonic() - began, 4),
            findings=findings,
            excerpt=excerpt_of(findings, seen.events, secrets) if seen is not None else (),
            stderr_tail=decode(seen.process.stderr_tail[-STDERR_SHOWN:]) if seen is not None else "",
            exit=Exit.of(ended),
            reproduce=readable(shlex.join(words)),
        )


class _Watched:
    """A host and its component, watched: the events so far go to the judge and into the recording.

    `host_ended`: by itself, before it was told to.
    """

    def __init__(
        self, process: ComponentProcess, witnessed: Witnessed, judge: Conversation, recording: Recording
    ) -> None:
        self.process = process
        self.witnessed = witnessed
        self.judge = judge
        self.findings: list[Finding] = []
        self.events: dict[int, Event] = {}
        self.host_ended = False
        self._recording = recording

    def play(self, limit: float, patience: float) -> bool:
        """Let them talk for `limit` seconds, then end the host. False if the script was not over by then."""
        in_time = self._wait(limit)
        self.host_ended = self.process.exited() is not None
        self._take(self.witnessed.rest())
        if not in_time:
            self._say(Deadline("host", limit, proven=self.host_ended))
        self._say(Barrier(STOP))
        self.process.signal(signal.SIGTERM)
        self._pass_until(lambda: self.process.exited() is not None, END * patience)
        self._pass_until(lambda: not self.witnessed.alive, COMPONENT_ENDS_WITHIN * patience)
        self._take(self.witnessed.update())
        if self.witnessed.alive:
            self._say(Deadline("host", END * patience))
        self._say(End())
        return in_time

    def _wait(self, limit: float) -> bool:
        """Wait until the script is over and, if Storm has died of it, the component is let go; False if it is not."""
        self._pass_until(lambda: self._is_over() or self.process.exited() is not None, limit)
        # A host that is gone may have left its component words that it has not read.
        return self._pass_until(self._is_over, COMPONENT_ENDS_WITHIN if self.process.exited() is not None else 0.0)

    def _is_over(self) -> bool:
        # Looked at before its last notes are read.
        dead = self.witnessed.pid is not None and not self.witnessed.alive
        self._take(self.witnessed.update())
        if dead:
            self._take(self.witnessed.gone())
        return self.witnessed.let_go or (self.witnessed.done and death_of(self.judge) is None)

    def _pass_until(self, true: Callable[[], bool], limit: float) -> bool:
        """Read what the host prints until something is true; False after `limit` seconds."""
        until = time.monotonic() + limit
        while not true():
            if time.monotonic() >= until:
                return False
            self.process.poll(NOTES_EVERY, want_write=False)
            self.process.read_stdout()
            self.process.read_stderr()
        return True

    def _say(self, fact: Deadline | Barrier | End) -> None:
        self._take([self.witnessed.event("control", fact, self.witnessed.now)])

    def _take(self, events: list[Event]) -> None:
        self.events.update((event.seq, event) for event in events)
        self.findings += self.judge.feed_all(events)
        self._recording.take(events)
