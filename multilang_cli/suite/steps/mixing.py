"""Texts of one tuple that come back for another, told of what nobody declared: only by several tuples. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.protocol.words.shortening import shown
from multilang_cli.reports.model import Observation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.messages import Emit, TupleMsg

OTHERS_TEXTS = Observation(
    "texts-of-later-ones",
    "for {count} tuples it emitted the text of one that was fed after them, and their own for none: {values} of {of} "
    "(is what holds a tuple's values used again for the next, before they are emitted?)",
)
LEAST_OF_TEXT, MOST_OF_TEXT = 8, 1000
"""Characters of a text that is looked for in what is emitted."""
PROVEN_BY = 3
"""Tuples that lost their own texts: of fewer it may be what the component is for."""
MOST_TEXTS = 64
"""Different texts that are kept."""


class _Text(NamedTuple):
    place: int
    message: TupleMsg


class Mixing:
    """Texts that a bolt was fed in one conversation, and those that it emitted for their tuples.

    Only a bolt that gave back a whole text for its own tuple, one fed alone, is looked at. What it emits of what came
    before, as the longest so far, is its own affair, and so is what is anchored to several.
    """

    def __init__(self) -> None:
        self._texts: dict[str, _Text] = {}
        self._emitted: set[str] = set()
        self._swapped: dict[str, tuple[TupleMsg, list[Any]]] = {}
        self._gives_back = False

    def feed(self, message: TupleMsg) -> None:
        """Note the text of a tuple that is fed."""
        text = _text_of(message.values)
        if text is not None and text not in self._texts and len(self._texts) < MOST_TEXTS:
            self._texts[text] = _Text(len(self._texts), message)

    def emit(self, said: Emit, of: TupleMsg, open_ones: int) -> None:
        """See whose text is emitted for a tuple, the only anchor."""
        own = _text_of(of.values)
        if own is None or own not in self._texts or not isinstance(said.values, list):
            return
        given = [_folded(value) for value in said.values if isinstance(value, str) and len(value) <= 2 * MOST_OF_TEXT]
        if any(own in value for value in given):
            self._emitted.add(own)
            self._gives_back = self._gives_back or open_ones == 1
        elif len(self._texts) > PROVEN_BY:
            found = [text for text in self._texts if any(text in value for value in given)]
            self._emitted.update(found)
            if any(self._texts[text].place > self._texts[own].place for text in found):
                self._swapped.setdefault(own, (of, said.values))

    @property
    def observation(self) -> Observation | None:
        """The note on what is proven; None if nothing is."""
        lost = [swap for text, swap in self._swapped.items() if text not in self._emitted]
        if not self._gives_back or len(lost) < PROVEN_BY:
            return None
        of, values = lost[0]
        return OTHERS_TEXTS.told(count=len(lost), values=shown(values), of=shown(of.values))


def _text_of(values: Sequence[Any]) -> str | None:
    """The first text of a tuple, as it is compared; None if that is too short or too long to be known again."""
    text = next((value for value in values if isinstance(value, str)), "")
    return _folded(text) if LEAST_OF_TEXT <= len(text) <= MOST_OF_TEXT else None


def _folded(text: str) -> str:
    return text.casefold().strip()
