"""A session by hand: commands in, messages to a component, what happens shown as it happens. Knows no terminal.

The edges (``terminal``, ``plain``) hand it commands, and let it listen while nobody types. One thread does it all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.table import Misuse, command_of, in_json
from multilang_cli.repl.component_run import ComponentRun
from multilang_cli.repl.session_config import ENDLESS
from multilang_cli.repl.show import EventLines, show_breach, show_finding
from multilang_cli.reports.event_sentences import awaiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from multilang_cli.driver.script import WaitingFor
    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.protocol.words.waits import Waits
    from multilang_cli.repl.commands.table import CommandTable
    from multilang_cli.repl.screen import Screen
    from multilang_cli.repl.session_config import SessionConfig

_PUMPS_FOR = 0.02
"""Seconds of reading and writing before whoever types is looked after."""
_QUIET_SLICE = 1.0
MISUSE, NO_FIRST_MESSAGE, NOT_CONFORMANT = 2, 3, 1


class SessionSettings(msgspec.Struct):
    """Settings of ``set``. `show`: of ``steering.SHOWS``, which messages are shown; `lines`: how many a command."""

    show: str = "all"
    lines: int = 200


class Driver:
    """A session by hand over any number of starts of a component.

    `commands`: those that it knows, by name. `waits`: after each command that speaks, what the component has to say to
    it is waited for, as scripts need it. `record`: the folder for transcripts. `opened`: what the next prompt has in
    it, to be changed and sent. Raises what `ComponentRun` raises.
    """

    def __init__(
        self, setup: SessionConfig, commands: CommandTable[Driver], screen: Screen, record: Path, *, waits: bool
    ) -> None:
        self.setup: SessionConfig = setup
        self.screen = screen
        self.record = record
        self.waits = waits
        self.settings: SessionSettings = SessionSettings()
        self.commands = commands
        self.quitting = False
        self.opened = ""
        self.depth = 0
        self.next_sample = 0
        self.taskids_by_hand = False
        self._life: ComponentRun | None = None
        self._lives = 0
        self._codes: set[int] = set()
        self._interrupted = False
        self._shown = 0
        self._found = 0
        self._cut = False
        self._told_unrecorded = False
        self._explained: set[tuple[str, ...]] = set()
        self._lines = EventLines(screen)
        self._silent = False
        screen.clean = setup.redactor().text

    # --- lives --------------------------------------------------------------------------------------------------

    @property
    def life(self) -> ComponentRun:
        """The component as it was started last. Raises Misuse if it could not be."""
        if self._life is None:
            raise Misuse("the component could not be started; `restart` tries again")
        return self._life

    @property
    def started(self) -> bool:
        """True if there is a component to speak of."""
        return self._life is not None

    def begin(self, play: Callable[[ComponentRun], bool] | None = None) -> bool:
        """Start the component and shake hands. False if it said no first message.

        `play` begins the conversation in place of the handshake, and says whether the first message came.
        Raises LaunchError if it can't be started, OSError if the transcript can't be written.
        """
        self.end_life()
        self._lives += 1
        self._interrupted = False
        self.screen.clean = self.setup.redactor().text
        self._life = life = ComponentRun(self.setup, self._lives, self.record, self._display)
        life.did("handshake")
        if self.taskids_by_hand:
            life.hold_task_ids()
        session = life.session
        session.on_wait = self._tell_wait
        answered = self._send_handshake(life) if play is None else play(life)
        life.checked = answered
        if not answered and not session.interrupted:
            self._codes.add(NO_FIRST_MESSAGE)
        return answered

    def _send_handshake(self, life: ComponentRun) -> bool:
        session = life.session
        return session.handshake(self.setup.handshake(str(session.process.pid_dir)), self.limit("pid"))

    def _tell_wait(self, waiting_for: WaitingFor, seconds: float, waits: Waits) -> None:
        self.screen.line(f"{awaiting(waiting_for, seconds, waits)}; Ctrl-C ends the wait", "dim")

    def end_life(self) -> None:
        """End the component, if there is one; what was wrong counts for the exit code."""
        life, self._life = self._life, None
        if life is not None:
            life.end()
            self._lines.finish()
            if any(finding.level == "must" for finding in life.findings):
                self._codes.add(NOT_CONFORMANT)

    @property
    def code(self) -> int:
        """The exit code, by what happened in all lives that have ended."""
        return next((code for code in (MISUSE, NO_FIRST_MESSAGE, NOT_CONFORMANT) if code in self._codes), 0)

    def failed_to_start(self, error: LaunchError) -> None:
        """Say why the component could not be started."""
        self._codes.add(MISUSE if error.reason == "bad-cwd" else NO_FIRST_MESSAGE)
        hint = f" ({error.hint})" if error.hint else ""
        self.screen.para(f"not started: {error.message}{hint}", "wrong")

    def limit(self, waiting_for: str, seconds: float | None = None) -> float:
        """Seconds to wait for something: `seconds`, if a person said how many."""
        return self.setup.judged().limits.get(waiting_for, ENDLESS) if seconds is None else seconds

    # --- commands -----------------------------------------------------------------------------------------------

    def execute(self, text: str) -> bool:
        """Do one command; False if it could not be done, which was said. Whatever it is, the session goes on."""
        self._shown = self._found = 0
        self._cut = False
        self._lines.finish()
        self._interrupted = False
        if self._life is not None:
            self._life.session.interrupted = False
        try:
            self._do(text)
        except Misuse as misuse:
            self.screen.para(str(misuse), "wrong")
            return False
        except LaunchError as error:
            self.failed_to_start(error)
            return False
        except OSError as error:
            self.screen.para(f"{error.filename or 'the transcript'}: {error.strerror}", "wrong")
            return False
        return True

    @property
    def goes_on(self) -> bool:
        """True if the next command of several is to be done."""
        return not (self.quitting or self._interrupted)

    def _do(self, text: str) -> None:
        name, _, rest = text.strip().partition(" ") if "\n" not in text else _first_word(text)
        command = command_of(self.commands, name)
        kind = self.setup.profile.kind
        if command.kind not in {"both", kind}:
            raise Misuse(f"{name}: Storm says that to a {command.kind}, and this is a {kind}")
        if command.alive and not self.life.alive:
            raise Misuse(f"{name}: {self.life.silence}; `restart` starts it again")
        command.action(self, rest.strip())
        if command.speaks and self.waits:
            self.let_it_answer()

    def misused(self) -> None:
        """A command of a script could not be done: that is the exit code."""
        self._codes.add(MISUSE)

    def run_script(self, text: str, name: str) -> bool:
        """Do the commands in `text`, echoing each; False as soon as one can't be done. `name`: for the message."""
        before, self.waits = self.waits, True
        self.depth += 1
        try:
            for place, statement in parsing.statements(text.split("\n"), in_json(self.commands)):
                self.screen.line(statement.replace("\n", " "), "dim", lead="> ")
                if not self.execute(statement):
                    self.screen.line(f"{name}:{place}: this command could not be done", "wrong")
                    return False
                if not self.goes_on:
                    break
        finally:
            self.depth -= 1
            self.waits = before
        return True

    # --- while nobody types -------------------------------------------------------------------------------------

    def listen(self, timeout: float) -> bool:
        """Move bytes for at most `timeout` seconds while nobody types. True if something was said."""
        life = self._life
        if life is None or not life.session.running:
            return False
        session = life.session
        begun = said_by(session)
        until = session.now + timeout + _PUMPS_FOR
        while session.now < until:
            before = said_by(session)
            session.pump.move(timeout)
            timeout = 0.0
            if said_by(session) == before or not session.running:
                break
        if not life.checked and life.said_pid:
            life.checked = True
            session.check_pid(await_file=False)
        if self.setup.profile.kind == "spout" and life.spout.asked and life.spout.answered and session.idle:
            life.spout.leave()
        silent = said_by(session) == begun
        if silent and self._silent:
            # Half a line of stderr may be all there is, such as a debugger's prompt.
            self._lines.finish()
        self._silent = silent
        return not silent

    def let_it_answer(self) -> None:
        """Wait until the component waits for us, or a person has waited long enough; nothing comes of it."""
        session = self.life.session
        until = session.now + self.limit("output")
        while session.running and not self._interrupted and session.now < until:
            if session.wait_quiet(min(_QUIET_SLICE, until - session.now)):
                break
        self.listen(0.0)
        self._lines.finish()

    def interrupt(self) -> None:
        """A person does not want to wait any longer: what is waited for now ends, the component lives."""
        self._interrupted = True
        if self._life is not None:
            self._life.session.interrupted = True

    @property
    def interrupted(self) -> bool:
        """True if the command that runs, or ran last, was not to be waited for."""
        return self._interrupted

    def candidates(self, before: str) -> Iterable[str]:
        """The words that can take the place of the last of `before`, which may be empty."""
        name, space, rest = before.lstrip().partition(" ")
        if not space:
            kinds = {"both", self.setup.profile.kind}
            return [each for each, command in self.commands.items() if command.kind in kinds]
        command = self.commands.get(name)
        return () if command is None else command.complete(self, rest.split(" "))

    # --- showing ------------------------------------------------------------------------------------------------

    def _display(self, events: Sequence[Event], findings: Sequence[Finding]) -> None:
        by_seq: dict[int, list[Finding]] = {}
        for finding in findings:
            by_seq.setdefault(finding.seq, []).append(finding)
        if self._life is not None and self._life.unrecorded and not self._told_unrecorded:
            self._told_unrecorded = True
            self.screen.line(f"{self._life.path}: nothing more is recorded: {self._life.unrecorded}", "wrong")
        for event in events:
            found = by_seq.get(event.seq, ())
            if self._wanted(event, shown_anyway=bool(found)):
                self._show(event)
            for finding in found:
                self._show_finding(finding)

    def _wanted(self, event: Event, *, shown_anyway: bool) -> bool:
        show = self.settings.show
        return show == "all" or (show != "nothing" and (shown_anyway or (show == "out" and event.channel != "in")))

    def _show(self, event: Event) -> None:
        if self._shown < self.settings.lines:
            self._shown += self._lines.show(event)
        elif not self._cut:
            self._cut = True
            self.screen.line("(more than `set lines` has; `history` shows the latest, the transcript all)", "dim")

    def _show_finding(self, finding: Finding) -> None:
        self._found += 1
        self._lines.finish()
        if self.settings.show == "nothing" or self._found > self.settings.lines:
            return
        told = (finding.rule, *finding.fates.values(), *finding.errors.values())
        if told in self._explained:
            show_breach(self.screen, finding)
            return
        self._explained.add(told)
        show_finding(self.screen, finding)
        self.screen.line(f"explain {finding.rule}", "dim", lead=" " * 13)


def said_by(session: Session) -> tuple[int, int, int]:
    """Bytes that were said so far, by both sides and on stderr."""
    return (*session.pump.spoken, session.process.stderr_total)


def _first_word(text: str) -> tuple[str, str, str]:
    name, *rest = text.strip().split(None, 1)
    return name, " ", rest[0] if rest else ""
