"""The recording side of the tap: judges the traffic, logs its findings, keeps transcripts. It may fail.

Nothing here waits: times come with the records. It asks the system only for files and whose pid was announced.
"""

from __future__ import annotations

import json
import platform
import traceback
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.loader import load_rulebook, load_tracebacks
from multilang_cli.driver import pids
from multilang_cli.driver.launch import readable
from multilang_cli.protocol.words.events import Exited, Gap, PidChecked, Started
from multilang_cli.protocol.words.messages import Handshake, Pid
from multilang_cli.reports.failure import exit_in_words
from multilang_cli.reports.model import Exit
from multilang_cli.tap.cutter import Cutter
from multilang_cli.tap.files import RETRY, RING_BYTES, MessageRing, Parts
from multilang_cli.tap.findings import FindingLog
from multilang_cli.tap.log import TapLog, say_on_stderr_of
from multilang_cli.tap.plan import name_of
from multilang_cli.tap.profile import kind_of, profile_of
from multilang_cli.tap.status import StatusFile
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.private import make_private, whole_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding, Profile
    from multilang_cli.tap.feed import TapRecord
    from multilang_cli.tap.files import Snapshot
    from multilang_cli.tap.plan import TapPlan

EVENTS_BEFORE_KIND = 1000
"""Events that are kept while it is not known whether this is a bolt or a spout."""
JUDGED_AT_LEAST = 256
"""Events that are judged at a time, at least, where so many are there."""
LAST_LINE_KEPT = 4096
"""Bytes of stderr that are kept, to tell what it died of."""
MOST_FAULTS = 3
"""Faults of our own after which nothing is judged any more."""


class Recorder:
    """One conversation, from its records to its files. `tap`: the pid of the tap; `started`: when it began."""

    def __init__(self, plan: TapPlan, tap: int, started: datetime) -> None:
        self.plan = plan
        self.judge: Conversation | None = None
        self.name = ""
        self._tap = tap
        self._started = started.isoformat(timespec="milliseconds")
        self._cutter = Cutter()
        self._held: list[Event] = []
        self._files: MessageRing | Parts | None = None
        self._log = TapLog(verbose=plan.verbose)
        self._counts: Counter[str] = Counter()
        self._findings = FindingLog(self._log)
        self._component = 0
        self._pid_dir = ""
        self._t = 0.0
        self._status = StatusFile(plan)
        self._state = "running"
        self._exit: Exited | None = None
        self._last_words = b""

    # --- what passed --------------------------------------------------------------------------------------------

    def take(self, records: Iterable[TapRecord]) -> None:
        """Take what passed, oldest first. Never raises: a fault of ours is noted, as a gap in the recording."""
        events: list[Event] = []
        for record in records:
            try:
                self._retry(record.t)
                events += self._checked(self._cutter.take(record))
                if len(events) >= JUDGED_AT_LEAST:
                    self._happened(events)
                    events = []
            except Exception as error:  # noqa: BLE001 (whatever it is, the component's bytes have passed)
                self._fault(error)
                events = self._cutter.gap("a fault of mlcheck's own")
        try:
            self._happened(events)
        except Exception as error:  # noqa: BLE001
            self._fault(error)
            with suppress(Exception):
                self._happened(self._cutter.note_gap("a fault of mlcheck's own"))

    def end(self) -> None:
        """The tap is no more: write what is left. Nothing at all if there never was a component."""
        if not self._begun:
            return
        why = "the component ended" if self._state == "ended" else "the tap was killed"
        self._state = "ended" if self._state == "ended" else "killed"
        try:
            self._happened(self._cutter.end(why))
            self._decide(last=True)
        except Exception as error:  # noqa: BLE001
            self._fault(error)
        try:
            self._close()
        except Exception as error:  # noqa: BLE001
            self._fault(error)
        self._log.line(f"end: {why}{self._how()}")
        if self._findings.levels and not self.plan.kafka:
            self._log.line(f"next: mlcheck lint {self.plan.folder / self.name}*.ndjson")
        self._log.close()
        self.show()

    def _close(self) -> None:
        if self._files is not None:
            self._files.close(self._t)
            self._tell_failure(self._files.failed)

    def _how(self) -> str:
        """Describe the component's end and, if that was wrong, what it died of: an exception, else its last line."""
        if self._exit is None:
            return ""
        ended = f": {exit_in_words(Exit(code=self._exit.code, signal=self._exit.signal))}"
        words = self._last_words.decode("utf-8", "backslashreplace").strip()
        if not words or self._exit.code == 0:
            return ended
        death = load_tracebacks().death_in(words)
        told = death.told if death is not None else words.rpartition("\n")[2]
        return f"{ended}; last on stderr: {told}"

    def flush(self) -> None:
        """Write what is kept in memory, so that the files show how far it is; nothing before there is a component."""
        if not self._begun:
            return
        if self._files is not None:
            failed = self._files.failed
            self._files.flush(self._t)
            if self._files.failed != failed:
                self._tell_failure(self._files.failed)
        self.show()

    @property
    def _begun(self) -> bool:
        """True if there is a component, or was one."""
        return bool(self._component) or self._files is not None

    def _checked(self, events: list[Event]) -> list[Event]:
        """The events, and behind a pid what the system says about it."""
        for event in events:
            body = event.body
            if isinstance(body, Started):
                self._component = body.pid
            elif isinstance(body, Handshake):
                self._pid_dir = self._pid_dir or body.pid_dir
            elif isinstance(body, Pid):
                return [*events, self._cutter.note(self._check(body.pid))]
        return events

    def _check(self, pid: int) -> PidChecked:
        """It is a moment later: that a process is gone, or a file not yet there, says nothing now."""
        relation = pids.relation(pid, self._component, f"tap-{self._tap}")
        file = pids.pid_file(Path(self._pid_dir), pid) if self._pid_dir else "missing"
        return PidChecked(pid, "unknown" if relation == "dead" else relation, "unknown" if file == "missing" else file)

    def _happened(self, events: list[Event]) -> None:
        if not events:
            return
        self._t = events[-1].t
        for event in events:
            self._counts[event.channel] += 1
            if isinstance(event.body, Gap):
                self._counts["gaps"] += 1
                self._log.line(f"gap: {event.body.why}")
            elif isinstance(event.body, Exited):
                self._state, self._exit = "ended", event.body
            elif event.channel == "err":
                self._last_words = (self._last_words + event.raw)[-LAST_LINE_KEPT:]
        if self._files is None:
            self._held += events
            size = sum(len(event.raw) for event in self._held)
            self._decide(last=len(self._held) >= EVENTS_BEFORE_KIND or size > RING_BYTES)
        else:
            self._judge(events)

    def _judge(self, events: list[Event]) -> None:
        assert self._files is not None  # noqa: S101 (decided before)
        found: list[Finding] = []
        fault: Exception | None = None
        if self.judge is not None:
            try:
                found = self.judge.feed_all(events)
            except Exception as error:  # noqa: BLE001 (a fault of the judge must not cost the recording)
                fault = error
        failed = self._files.failed
        self._files.take(events, self._snapshot)
        if self._files.failed != failed:
            self._tell_failure(self._files.failed)
        self._findings.report(found, self._version())
        if fault is None:
            self._name_causes(events, found)
        else:
            self._fault(fault)
            if self.judge is not None:
                self._new_judge(self.judge.profile)
            self._happened(self._cutter.note_gap("a fault of mlcheck's own: the judge began anew"))

    def _version(self) -> str:
        """The version of Storm that is judged for, as far as it is known."""
        return self.plan.storm if self.judge is None else self.judge.version.id

    def _snapshot(self) -> Snapshot:
        return None if self.judge is None else self.judge.snapshot()

    # --- what it is ---------------------------------------------------------------------------------------------

    def _decide(self, *, last: bool) -> None:
        """Begin to judge as soon as it is known what to judge for; at the `last` moment, as far as it is known."""
        if self._files is not None or not (self._held or last):
            return
        spoken = next((event.body for event in self._held if event.channel == "in"), None)
        kinds = (kind_of(event) for event in self._held)
        kind = self.plan.kind or next((kind for kind in kinds if kind), "bolt" if last else None)
        if kind is None or (spoken is None and not last):
            return
        handshake = spoken if isinstance(spoken, Handshake) else Handshake({}, "", {})
        profile = profile_of(handshake, "spout" if kind == "spout" else "bolt", self.plan.storm)
        task = profile.task if isinstance(spoken, Handshake) else None
        self.name = name_of(profile.component, task, self._started, self._tap)
        self._log.open(self.plan.folder / f"{self.name}.log", profile.conf, self.plan.command)
        self._new_judge(profile)
        self._keep(profile, task)
        held, self._held = self._held, []
        self._judge(held)

    def _keep(self, profile: Profile, task: int | None) -> None:
        header = Header(
            conv=self.name,
            profile=profile,
            storm=self._version(),
            argv=tuple(map(readable, self.plan.command)),
            topology=str(profile.conf.get("topology.name", "")),
            component=profile.component,
            task=task,
            host=platform.node(),
            started_at=self._started,
        )
        with suppress(OSError):
            make_private(self.plan.folder)
        stem = self.plan.folder / self.name
        if self.plan.kafka:
            from multilang_cli.tap.topic import Topic  # noqa: PLC0415 (an extra)

            self._files = Topic(header, self.plan)
        elif self.plan.ring:
            self._files = MessageRing(header, stem, self.plan, judge_of(profile, load_rulebook(self.plan.storm)))
        else:
            self._files = Parts(header, stem, self.plan)
        self._tell_failure(self._files.failed)

    def _new_judge(self, profile: Profile) -> None:
        tired = self._counts["faults"] >= MOST_FAULTS
        rulebook = load_rulebook(self.plan.storm)
        self.judge = None if tired else judge_of(profile, rulebook)
        self._findings.begin(profile, rulebook, self.plan.command)

    # --- what is told -------------------------------------------------------------------------------------------

    def _name_causes(self, events: list[Event], found: list[Finding]) -> None:
        try:
            self._findings.name_causes(events, found)
        except Exception as error:  # noqa: BLE001 (what can't be explained is recorded all the same)
            self._fault(error)

    def _retry(self, t: float) -> None:
        """After a failure, see whether files can be written again; what was lost is a gap."""
        files = self._files
        if files is None or not files.failed or t < files.retry_at:
            return
        try:
            files.reopen(self._snapshot())
        except OSError:
            files.retry_at = t + RETRY
            return
        lost, files.lost = files.lost, 0
        self._happened(self._cutter.note_gap(f"{lost} events could not be written"))

    def _tell_failure(self, failed: str) -> None:
        if failed:
            if not (self._counts["failures"] or self.plan.warned):
                # Where the files can't be written, the log beside them most often can't be either.
                say_on_stderr_of(self._tap, f"mlcheck tap: recording failed: {self._log.clean(failed)}")
            self._counts["failures"] += 1
            self._log.line(f"recording failed: {failed}")

    def _fault(self, error: Exception) -> None:
        """Write down what went wrong with us."""
        self._counts["faults"] += 1
        self._log.line(f"a fault of mlcheck's own: {type(error).__name__}: {error}")
        text = self._log.clean("".join(traceback.format_exception(error)))
        path = self.plan.folder / f"{self.name or 'tap'}.fault.txt"
        with suppress(OSError), whole_file(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)

    def status(self) -> dict[str, Any]:
        """Progress as JSON."""
        files = self._files
        return {
            "conversation": self.name,
            "state": self._state,
            "pid": self._tap,
            "component_pid": self._component or None,
            "command": self._log.words([readable(word) for word in self.plan.command]),
            "started_at": self._started,
            "exit": {"code": self._exit.code, "signal": self._exit.signal} if self._exit is not None else None,
            "updated_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "seconds": round(self._t, 3),
            "bytes": dict(self._cutter.bytes),
            "messages": {channel: self._counts[channel] for channel in ("in", "out")},
            "findings": {level: self._findings.levels[level] for level in ("must", "should", "note")},
            "rules": dict(self._findings.rules),
            "gaps": self._counts["gaps"],
            "faults": self._counts["faults"],
            "failed": files.failed if files is not None else "",
            "transcript": str(files.path) if files is not None else None,
        }

    def show(self) -> None:
        """Write the status to its file."""
        self._status.write(self.name or f"tap-{self._tap}", self._log.clean(json.dumps(self.status(), indent=1)))
