"""What of transcripts could not be read, in sentences."""

from __future__ import annotations

from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.read import Cut, Damaged

MOST_NOTES = 100
"""Places that can't be read that are named; of more, the number is given."""


class Unread:
    """What could not be read. `broken`: files from some place on."""

    def __init__(self) -> None:
        self.broken: list[TranscriptError] = []
        self._places: list[str] = []
        self._more = 0
        self._damaged = False

    def note(self, entry: Cut | Damaged) -> None:
        """Remember a line."""
        if isinstance(entry, Damaged):
            self._damaged = True
        if len(self._places) < MOST_NOTES:
            self._places.append(why_of(entry))
        else:
            self._more += 1

    @property
    def whole(self) -> bool:
        """True if nothing is missing but what a recording that was cut lost at its end."""
        return not (self.broken or self._damaged)

    def notes(self) -> list[str]:
        """What could not be read, in sentences."""
        more = [f"{self._more} more lines can't be read"] if self._more else []
        return [*self._places, *more, *(f"{error}: from here on the file is not used" for error in self.broken)]


def why_of(entry: Cut | Damaged) -> str:
    """Why a line could not be read, and where it stands."""
    if isinstance(entry, Damaged):
        return str(TranscriptError(entry.path, entry.line, entry.why))
    return f"{entry.path}:{entry.line}: the recording was cut here: its last {entry.size} bytes are lost"
