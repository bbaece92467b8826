"""Warnings and errors that components log or report in a run, counted by their text; and what they gave up."""

from __future__ import annotations

import re

import msgspec

from multilang_cli.protocol.words.shortening import ends

WARN = 3
ERROR = 4
GIVEN_UP = "given up: "
"""A log line at level error that begins so tells of a message that its component will not process any more."""
_KEPT = re.compile(r"(given up: .*: written to .*?) \(message ids? (.+)\)", re.DOTALL)
"""A line that also tells that the message is kept elsewhere, and with which ids it was emitted."""
KEPT_OF_LOG = 500
"""Characters that are kept of a text: of a traceback the last line says what it was."""
MOST_KINDS = 50
"""Different texts that are kept; more are of no use to anybody."""
_NUMBERS = re.compile(r"-?\d+")
_MOST_LINES = 4
"""Of a text of more, such as a traceback, the first and the last line tell what it was."""


class LoggedProblem(msgspec.Struct):
    """Texts of a component that differ in numbers alone. `first`: the first of them; `count`: how many there were."""

    component: str
    first: str
    level: int
    count: int = 0

    @property
    def given_up(self) -> bool:
        """True if it tells of messages that are given up."""
        return self.level >= ERROR and self.first.startswith(GIVEN_UP)

    def __str__(self) -> str:
        """Write it with how often it was said."""
        more = f" ({self.count:,} such lines)" if self.count > 1 else ""
        return f"{self.component} logged: {self.first}{more}"


class LoggedProblems:
    """The warnings and errors of all tasks; what is below a warning is left out."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], LoggedProblem] = {}

    def take(self, component: str, text: str, level: int) -> tuple[str, ...]:
        """Count a line of a component. Gives the message ids that it tells to be kept among dead letters."""
        if level < WARN:
            return ()
        ids: tuple[str, ...] = ()
        if level >= ERROR and (kept := _KEPT.fullmatch(text.strip())) is not None:
            text, said = kept.groups()
            # An id may have commas in it, too.
            ids = tuple(dict.fromkeys((said, *said.split(", "))))
        text = ends(_in_short(text), KEPT_OF_LOG)
        key = component, _NUMBERS.sub("#", text)
        if key not in self._kinds and len(self._kinds) >= MOST_KINDS:
            key = component, GIVEN_UP if text.startswith(GIVEN_UP) else ""
        self._kinds.setdefault(key, LoggedProblem(component, text, level)).count += 1
        return ids

    def all(self) -> list[LoggedProblem]:
        """List them in the order in which they were first heard."""
        return list(self._kinds.values())


def _in_short(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return text if len(lines) <= _MOST_LINES else f"{lines[0]} ... {lines[-1].strip()}"
