"""End of a command: its exit code, and the one error that commands raise."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Every exit code, named like the verdicts of a run (``reports.verdict.OUTCOMES``)."""

    CONFORMANT = 0
    NOT_CONFORMANT = 1
    MISUSE = 2
    NO_FIRST_MESSAGE = 3
    NOTHING_SELECTED = 4
    HARNESS_FAULT = 5
    INCONCLUSIVE = 6
    INTERRUPTED = 130


PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.HARNESS_FAULT,
    ExitCode.MISUSE,
    ExitCode.NO_FIRST_MESSAGE,
    ExitCode.NOTHING_SELECTED,
    ExitCode.NOT_CONFORMANT,
    ExitCode.INCONCLUSIVE,
    ExitCode.CONFORMANT,
)
"""Which code wins where several apply, the first first."""


def worst(codes: list[int]) -> int:
    """The code of several runs together; CONFORMANT of none."""
    return min((ExitCode(code) for code in codes), key=PRECEDENCE.index, default=ExitCode.CONFORMANT)


class CommandError(Exception):
    """A command can't go on. `message`: what, where, what was expected, what next; shown as one paragraph."""

    def __init__(self, message: str, code: ExitCode = ExitCode.MISUSE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
