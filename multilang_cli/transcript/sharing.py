"""Conversations that share files, or whose parts stand in several, told apart as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.transcript.format import Header, TranscriptError
from multilang_cli.transcript.line_order import Shipped
from multilang_cli.transcript.read import Cut, Damaged, Happened, Unclosed, by_part, entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from multilang_cli.transcript.read import Entry
    from multilang_cli.transcript.reader import ConversationReader


class Broken(NamedTuple):
    """The place where a file stops being a transcript: what stands before it was given, what comes after is left."""

    path: str
    error: TranscriptError


def lines_of(paths: Sequence[Path | str]) -> Iterator[tuple[int, str, Entry | Broken]]:
    """Every line of `paths`, in the order of the parts they begin with, else as given.

    Of each: of which conversation it is, its file, what it says. Conversations are counted from 0 as they begin: with a
    header of part 1, or one not met before. A line that can't be read comes once with -1, and if it is a damaged one,
    once more for its conversation, or for each of its file, where it is not known to which it belonged. Raises OSError
    for a file that can't be read.
    """
    numbers: dict[str, int] = {}
    known: dict[str, ConversationReader] = {}
    begun = 0
    for path in map(str, by_part(paths)):
        here: set[int] = set()
        try:
            for entry in entries(path, before=known):
                if isinstance(entry, Happened):
                    yield numbers[entry.conv], path, entry
                elif isinstance(entry, Cut | Damaged):
                    yield -1, path, entry
                    if isinstance(entry, Damaged):
                        hurt = {numbers[entry.conv]} if entry.conv else here
                        yield from ((number, path, entry) for number in sorted(hurt))
                elif isinstance(entry, Shipped | Unclosed):
                    yield numbers[entry.conv], path, entry
                else:
                    if isinstance(entry, Header) and (entry.part == 1 or entry.conv not in numbers):
                        numbers[entry.conv] = begun
                        begun += 1
                    here.add(numbers[entry.conv])
                    yield numbers[entry.conv], path, entry
        except TranscriptError as error:
            yield -1, path, Broken(path, error)
