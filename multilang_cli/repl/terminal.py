"""A session by hand at a terminal: a prompt with completion and history, while the component speaks as it likes.

One thread: while the prompt stands, a task of the same loop listens to the component; while a command runs, the command
does. prompt_toolkit is imported here and nowhere else.
"""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from multilang_cli.repl import parsing
from multilang_cli.repl.commands.speaking import fields_asked, with_fields
from multilang_cli.repl.commands.table import Misuse, in_json
from multilang_cli.transcript.redact import everywhere
from multilang_cli.transcript.secrets import is_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from multilang_cli.repl.driver import Driver

LISTENS_EVERY = 0.02
"""Seconds between two looks at what the component says while the prompt stands."""
OWNER_ONLY = 0o600


class _Words(Completer):
    """Completes commands, and what the driver knows: streams, open ids, field names, keys, files."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield every word that begins as the one before the cursor."""
        del complete_event
        before = document.text_before_cursor
        word = before.rpartition(" ")[2]
        for each in self._driver.candidates(before):
            if each.startswith(word):
                yield Completion(each, start_position=-len(word))


class _History(FileHistory):
    """Remembers commands across sessions, but none that names or holds a secret; only its owner can read it."""

    def store_string(self, string: str) -> None:
        """Append a command to the file."""
        if not any(map(is_name, re.split(r"[\s=:]+", string))) and everywhere().line(string) == string:
            with suppress(OSError):
                super().store_string(string)


def history_in(environ: Mapping[str, str]) -> History:
    """The history in the user's state directory; in memory where there can't be one."""
    state = environ.get("XDG_STATE_HOME") or str(Path(environ.get("HOME", "")) / ".local" / "state")
    path = Path(state) / "mlcheck" / "repl-history"
    if not path.is_absolute():
        # A relative folder would be one of whoever made the working directory.
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, OWNER_ONLY))
    except OSError:
        return InMemoryHistory()
    return _History(str(path))


def run_terminal(driver: Driver, environ: Mapping[str, str]) -> None:
    """Ask for commands and do them, until `quit` or Ctrl-D."""
    driver.screen.line("help shows the commands; Ctrl-C ends a wait, Ctrl-D the session", "dim")
    asyncio.run(_Terminal(driver, history_in(environ)).run())


class _Terminal:
    def __init__(self, driver: Driver, history: History) -> None:
        self._driver = driver
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=_Words(driver),
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            bottom_toolbar=lambda: status_of(driver),
            refresh_interval=1.0,
            multiline=Condition(self._goes_on),
            prompt_continuation=lambda width, _line, _wrapped: ".".rjust(max(1, width - 1)) + " ",
        )
        self._field: PromptSession[str] = PromptSession()

    def _goes_on(self) -> bool:
        """True if Enter begins a new line: a bracket of a command that takes JSON is open."""
        text = self._session.default_buffer.text
        return bool(in_json(self._driver.commands).intersection(text.split(None, 1)[:1])) and parsing.is_open(text)

    async def run(self) -> None:
        """The loop."""
        driver = self._driver
        while not driver.quitting:
            opened, driver.opened = driver.opened, ""
            text = await self._ask(self._session, self._prompt(), default=opened)
            if text is None:
                driver.quitting |= await self._may_end()
                continue
            if not text.strip() and not _answers(driver) and await self._starts_again():
                text = "restart"
            for _, statement in parsing.statements(text.split("\n"), in_json(driver.commands)):
                if not (await self._execute(statement) and driver.goes_on):
                    break

    async def _execute(self, statement: str) -> bool:
        """Do one command, asking for the fields of a tuple that is given no values."""
        try:
            fields = fields_asked(self._driver, statement)
        except Misuse:
            fields = ()
        answers: list[str] = []
        for name in fields:
            answer = await self._ask(self._field, f"  {name} (JSON or text): ", on_interrupt=None)
            if answer is None:
                self._driver.screen.line("no tuple was sent", "dim")
                return True
            answers.append(answer)
        return self._driver.execute(with_fields(statement, answers) if answers else statement)

    async def _may_end(self) -> bool:
        """True if the session may end: nothing is pending, or the person says so."""
        driver = self._driver
        if not (driver.started and driver.life.alive and _has_pending(driver)):
            return True
        answer = await self._ask(self._field, "Something is pending (`pending` shows it). End the session? [y/N] ")
        return answer is None or answer.strip().lower() in {"y", "yes"}

    async def _starts_again(self) -> bool:
        """True if a component that has ended is to be started again."""
        answer = await self._ask(self._field, "The component has ended. Start it again? [Y/n] ", on_interrupt="n")
        return answer is not None and answer.strip().lower() in {"", "y", "yes"}

    async def _ask(
        self, session: PromptSession[str], prompt: str, on_interrupt: str | None = "", default: str = ""
    ) -> str | None:
        """Read a typed line, which begins as `default`; None for Ctrl-D; `on_interrupt` for Ctrl-C."""
        styled: Any = ANSI(f"\x1b[1m{prompt}\x1b[0m") if self._driver.screen.color else prompt
        with patch_stdout(raw=True):
            listening = asyncio.create_task(self._listen(session))
            try:
                return await session.prompt_async(styled, default=default)
            except KeyboardInterrupt:
                return on_interrupt
            except EOFError:
                return None
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening

    async def _listen(self, session: PromptSession[str]) -> None:
        """Show what the component says while the prompt stands, which goes when the session is to end."""
        while True:
            if self._driver.quitting and session.app.is_running:
                session.app.exit(exception=EOFError())
                return
            said = self._driver.listen(0.0)
            await asyncio.sleep(0.0 if said else LISTENS_EVERY)

    def _prompt(self) -> str:
        driver = self._driver
        state = ""
        if not _answers(driver):
            state = " (not heard)" if driver.started and driver.life.session.exit is None else " (ended)"
        return f"{driver.setup.profile.kind} {driver.setup.version.id}{state}> "


def status_of(driver: Driver) -> str:
    """A line below the prompt: the process, what is pending and for how long, what is wrong, where it is recorded."""
    if not driver.started:
        return "not started: Enter starts it again"
    life = driver.life
    session, found = life.session, life.session.judge.outstanding()
    since = [*(t for _, t in found.tuples.values()), *(each.t for each in (*found.commands, *found.heartbeats))]
    pending = f"pending: {len(since)}, for {session.now - min(since):.0f} s" if since and life.alive else ""
    wrong = sum(finding.level == "must" for finding in life.findings)
    state = f"process {session.process.pid}" if life.alive else f"{life.silence}: Enter starts it again"
    told = (state, pending, f"wrong: {wrong}" if wrong else "", str(life.path))
    return "  ".join(filter(None, told))


def _answers(driver: Driver) -> bool:
    return driver.started and driver.life.alive


def _has_pending(driver: Driver) -> bool:
    found = driver.life.session.judge.outstanding()
    return bool(found.tuples or found.commands or found.heartbeats or driver.life.pending)
