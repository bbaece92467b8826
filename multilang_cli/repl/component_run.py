"""One start of the component: its process and judge, what was said so far, its transcript, what was done to it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.driver.launch import readable
from multilang_cli.driver.shell.either import HasShell, shell_of
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, SpoutCommand
from multilang_cli.transcript.recording import header_now
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.repl.session_config import SessionConfig

    Display = Callable[[Sequence[Event], Sequence[Finding]], None]

SHOWN_AGAIN_EVENTS = 5000
"""Events that can be shown again; all of them are in the transcript."""
SHOWN_AGAIN_BYTES = 16 * 1024
"""Bytes of one event that can be shown again."""
MOST_PENDING = 10_000
"""Ids of a spout's tuples that are remembered to be settled."""

ENDINGS = frozenset({"exited", "stdin-closed", "stdout-closed"})
"""Rules by which a component is blamed for its end."""


class ComponentRun(HasShell):
    """The component from one start to its end.

    `events`: the latest, by number. `pending`: ids of a spout's tuples that were not yet acked or failed, the oldest
    first. `unrecorded`: why the transcript stops, "" if it does not. `emitted` and `settled`: how many messages of the
    kind the component said; `asked`: how many of them want task ids. `steps`: what was done, as operations of a case;
    `fed`: the values that were given by hand, `left_out`: what no case can say. `raw`: the number of the first message
    that a person wrote byte by byte, None if there was none.
    Raises LaunchError, OSError if the transcript can't be written.
    """

    def __init__(self, setup: SessionConfig, number: int, record: Path, display: Display) -> None:
        self.setup = setup
        self.number = number
        self.path = record / f"repl-{number}.ndjson"
        self.events: dict[int, Event] = {}
        self.pending: list[Json] = []
        self.emitted = 0
        self.asked = 0
        self.settled = 0
        self.steps: list[tuple[str, dict[str, Any]]] = []
        self.fed: list[list[Json]] = []
        self.left_out: list[str] = []
        self.raw: int | None = None
        self.checked = False
        self._asked_before = 0
        self.unrecorded = ""
        self._display = display
        subject, profile = setup.subject, setup.judged()
        judge = judge_of(profile, setup.rulebook)
        self.path.unlink(missing_ok=True)
        process = subject.start()
        try:
            header = header_now(f"repl-{number}", profile, map(readable, subject.launch.argv))
            self._writer = TranscriptWriter(self.path, header, more_settings=subject.component.env, flush_at=1)
        except BaseException:
            process.end()
            raise
        self.shell = shell_of(process, judge, (self,), timer=setup.timer, ticks=setup.ticks, seed=setup.seed)
        self.session: Session = self.shell.session
        self.session.interrupted = False

    @property
    def alive(self) -> bool:
        """True while the component can be talked to."""
        return self.session.running and self.session.exit is None

    @property
    def silence(self) -> str:
        """The reason why the component can't be talked to, "" if it can."""
        if self.alive:
            return ""
        if self.session.pump.overflowed:
            return "a message is longer than our limit (--limit frame=BYTES), so nobody listens to it any longer"
        if self.session.pump.events.flooded:
            return "so much is wrong that nobody listens to it any longer"
        return "the component has ended"

    @property
    def said_pid(self) -> bool:
        """True if the component said its first message."""
        return not self.session.judge.expecting_pid

    @property
    def findings(self) -> list[Finding]:
        """The findings so far; what a person brought about is only a note."""
        return [self._excused(finding) for finding in self.session.findings]

    def _excused(self, finding: Finding) -> Finding:
        """The finding; only a note if the component ended after bytes that a person made up, as Storm never does."""
        if self.raw is None or finding.rule not in ENDINGS or finding.seq < self.raw:
            return finding
        told = f"{finding.message}; not blamed, for it came after your raw message {self.raw}"
        return msgspec.structs.replace(finding, level="note", message=told, fates={}, errors={})

    def take(self, events: Sequence[Event], findings: Sequence[Finding], /) -> None:
        """Remember what happened, and have it shown."""
        findings = [self._excused(finding) for finding in findings]
        for event in events:
            short = len(event.raw) <= SHOWN_AGAIN_BYTES
            self.events[event.seq] = (
                event if short else msgspec.structs.replace(event, raw=event.raw[:SHOWN_AGAIN_BYTES])
            )
            self._count(event)
        while len(self.events) > SHOWN_AGAIN_EVENTS:
            self.events.pop(next(iter(self.events)))
        self._display(events, findings)
        try:
            self._writer.take(events, findings)
        except OSError as error:
            self.unrecorded = error.strerror or str(error)

    def _count(self, event: Event) -> None:
        body = event.body
        if isinstance(body, Emit):
            self.emitted += 1
            self.asked += body.wants_task_ids
            if body.id is not None and self.setup.profile.kind == "spout" and len(self.pending) < MOST_PENDING:
                self.pending.append(body.id)
        elif isinstance(body, Ack | Fail):
            self.settled += 1
        elif isinstance(body, SpoutCommand) and body.command in {"ack", "fail"} and body.id in self.pending:
            self.pending.remove(body.id)

    def did(self, operation: str, **arguments: Any) -> None:
        """Remember what was done, as an operation of a case; the same again is counted where it can be."""
        if self.steps and "times" in arguments:
            last, before = self.steps[-1]
            same = {**before, "times": 0} == {**arguments, "times": 0}
            if last == operation and same:
                self.steps[-1] = (last, {**before, "times": before["times"] + arguments["times"]})
                return
        self.steps.append((operation, arguments))

    def hold_task_ids(self) -> None:
        """Hold task ids back, for a person to give."""
        self.session.pump.stdin.hold_task_ids = True
        self._asked_before = self.asked
        self.did("hold_task_ids")

    def release_task_ids(self) -> None:
        """Answer what was asked, and all to come. Where nothing was asked, no case has to say that it was held back."""
        self.session.pump.stdin.release_task_ids()
        if self.asked > self._asked_before:
            self.did("release_task_ids")
        elif ("hold_task_ids", {}) in self.steps:
            last = len(self.steps) - 1 - self.steps[::-1].index(("hold_task_ids", {}))
            del self.steps[last]

    def happened(self, wanted: Iterable[str]) -> list[Event]:
        """The events on some channels that can be shown again, the oldest first."""
        channels = frozenset(wanted)
        return [event for event in self.events.values() if event.channel in channels]

    def end(self) -> None:
        """End the process and close the transcript."""
        try:
            self.session.end()
        finally:
            with contextlib.suppress(OSError):
                self._writer.close()
