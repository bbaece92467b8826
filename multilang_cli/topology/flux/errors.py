"""Errors in Flux files, with their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multilang_cli.topology.model import Location


class FluxError(Exception):
    """A file that Storm, or mlcheck, can't make a topology of. Its str is ``file:line: sentence``."""

    def __init__(self, place: Location, sentence: str) -> None:
        super().__init__(f"{place}: {sentence}")
        self.place = place
        self.sentence = sentence
