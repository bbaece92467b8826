"""Sentences on what could not be read of transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.transcript.read import Cut, Damaged

if TYPE_CHECKING:
    from multilang_cli.transcript.format import TranscriptError

MOST_NOTES = 100
"""Places that can't be read that are named; of more, the number is given."""


class Unread:
    """Files and lines that could not be read. `broken`: files from some place on. `open_ended`: a cut end is taken."""

    def __init__(self, *, open_ended: bool = False) -> None:
        self.open_ended = open_ended
        self.broken: list[TranscriptError] = []
        self._places: list[str] = []
        self._more = 0
        self._damaged = False
        self._cut: dict[str, str] = {}

    @property
    def lost(self) -> list[tuple[str, str]]:
        """Files of which the rest is lost, and why."""
        return [*self._cut.items(), *((error.path, str(error)) for error in self.broken)]

    def note(self, entry: Cut | Damaged) -> None:
        """Remember a line."""
        if isinstance(entry, Damaged) or not self.open_ended:
            self._damaged = True
            if isinstance(entry, Cut):
                self._cut.setdefault(entry.path, why_of(entry))
        if len(self._places) < MOST_NOTES:
            self._places.append(why_of(entry))
        else:
            self._more += 1

    @property
    def whole(self) -> bool:
        """True if nothing is missing but what a writer that is still at work has not written yet."""
        return not (self.broken or self._damaged)

    def notes(self) -> list[str]:
        """Sentences on what could not be read."""
        more = [f"{self._more} more lines can't be read"] if self._more else []
        return [*self._places, *more, *(f"{error}: from here on the file is not used" for error in self.broken)]


def why_of(entry: Cut | Damaged) -> str:
    """The reason why a line could not be read, and its place."""
    if isinstance(entry, Damaged):
        return entry.told
    where = f"its last {entry.size} bytes, from byte {entry.byte} on, are lost"
    return f"{entry.path}:{entry.line}: the recording was cut here: {where}"
