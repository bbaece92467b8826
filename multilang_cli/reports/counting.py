"""Numbers with their nouns. Pure."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """A number and its noun: ``1 message``, ``2 messages``."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
