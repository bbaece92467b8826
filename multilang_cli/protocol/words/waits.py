"""Parts of the sentence on who waits on whom. Recordings and findings keep the sentence: it is read here alone."""

from __future__ import annotations

import re

import msgspec

from multilang_cli.protocol.words.clauses import SEPARATOR, clauses

STDIN_EMPTY = "its stdin, which is empty"
"""What a component reads, or polls, that has nothing left to read."""
FACTS = "in the pipes: "
"""The beginning of the line of facts that goes with it."""
STOPPED = "is stopped by a signal"
"""What is said first of a process that was stopped."""
_STORM = "Storm waits for "
_UNREAD = re.compile(r", where ([\d,]+) bytes? stands? unread$")
_PROGRAM = re.compile(r"\bprocess \d+ \(([^()]+)\)")
_WHOM = r"(?:it|that process|that part of it) waits for .*?"
_PARTS = re.compile(rf"(.*?)(?:: ({_WHOM})(?:, and {_STORM}(.+))?)?", re.DOTALL)
_COMPONENT = "the component "


def left_unread(count: int | None) -> str:
    """The end of what is said of a component that does not look at its stdin, where so many bytes stand."""
    return f", where {count} byte{' stands' if count == 1 else 's stand'} unread" if count else ""


class Waits(msgspec.Struct, frozen=True):
    """The sentence on a component, to go behind "the component": what it does, for whom it waits, who waits for it.

    `doing`: "is asleep (nanosleep)". `whom`: "it waits for nobody but the clock". `storm`: what Storm waits for, "its
    sync of 'next'". `hints`: what else is known, such as that no task ids are on their way.
    """

    doing: str = ""
    whom: str = ""
    storm: str = ""
    hints: tuple[str, ...] = ()

    def __str__(self) -> str:
        whom = f": {self.whom}" if self.whom else ""
        # Both at once is what a deadlock looks like; that it is one can't be seen from here.
        joint = ", and " if self.whom else SEPARATOR
        storm = f"{joint}{_STORM}{self.storm}" if self.storm else ""
        return SEPARATOR.join([f"{self.doing}{whom}{storm}", *self.hints])

    @property
    def shorter(self) -> tuple[str, ...]:
        """The sentence, and shorter ones in place of it: who waits for whom goes before what is known besides."""
        pair = SEPARATOR.join([self.doing, f"{_STORM}{self.storm}"]) if self.storm else self.doing
        known = SEPARATOR.join([self.doing, *(hint.partition(" (")[0] for hint in self.hints)])
        return str(self), known, pair, self.doing

    @classmethod
    def read(cls, sentence: str) -> Waits:
        """Read a sentence as a recording or a finding has it. It is kept whole: what is no part is part of `doing`."""
        first, *hints = clauses(sentence)
        found = _PARTS.fullmatch(first)
        doing, whom, storm = found.groups("") if found else (first, "", "")
        if not whom and hints and hints[0].startswith(_STORM) and hints[0] != _STORM:
            storm = hints.pop(0).removeprefix(_STORM)
        return cls(doing, whom, storm, tuple(hints))

    @classmethod
    def behind(cls, message: str) -> Waits | None:
        """Read what `clause` put behind the message of a finding; None if there is nothing."""
        said = clauses(message)
        first = next((n for n, clause in enumerate(said) if n and clause.startswith(_COMPONENT)), None)
        return None if first is None else cls.read(SEPARATOR.join(said[first:]).removeprefix(_COMPONENT))

    @property
    def clause(self) -> str:
        """Clause to go behind the message of a finding; "" if nothing is known."""
        return f"{SEPARATOR}{_COMPONENT}{self}" if self != Waits() else ""

    @property
    def at_stdin(self) -> bool:
        """True if it has read everything and waits for more."""
        return STDIN_EMPTY in self.doing

    @property
    def program(self) -> str:
        """The name of a program of its own that it waits for, as the system has it (15 characters at most); or ""."""
        found = _PROGRAM.search(f"{self.doing}: {self.whom}")
        return found[1] if found else ""

    @property
    def stopped(self) -> bool:
        """True if a signal has stopped it."""
        return STOPPED in self.doing

    @property
    def unread(self) -> int | None:
        """Bytes that it lets lie in its stdin, where it waits for something else; None if that was not seen."""
        found = _UNREAD.search(self.doing)
        return int(found[1].replace(",", "")) if found else None
