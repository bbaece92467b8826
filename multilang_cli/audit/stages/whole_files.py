"""Conversations that stand whole in one file of this machine: judged from there, as ``mlcheck lint`` does.

Of tables their lines would have to be brought together and put in order first, which takes twice as long as to judge
them. Whatever is odd in a file leaves its conversations to that way, which has an answer to everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.audit.inputs import here, is_url, named
from multilang_cli.audit.line_judge import LineJudge
from multilang_cli.protocol.wire.batches import RecordedEvents
from multilang_cli.transcript.format import EndLine, Header, TranscriptError
from multilang_cli.transcript.line_order import Shipped
from multilang_cli.transcript.read import Cut, Damaged, Unclosed, entries

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from multilang_cli.audit.outline import Outline
    from multilang_cli.audit.stages.facts import AuditFacts
    from multilang_cli.protocol.words.events import Event

MOST_CONVERSATIONS = 32
"""Conversations of a file, at most: all of them are judged at a time."""
MOST_ROWS = 20_000
"""Findings of a file that are held until it is known to have nothing odd."""
Row = dict[str, Any]


class WholeFile(NamedTuple):
    """A file that has all of its conversations, and no one else has: of each the events, by its key.

    `keys`: by the id that stands in its lines.
    """

    path: str
    keys: Mapping[str, str]
    events: Mapping[str, int]


def whole_files(known: Outline, facts: AuditFacts, damaged: Collection[str]) -> list[WholeFile]:
    """The files whose conversations can be judged from there. `damaged`: those that have lines in quarantine."""
    elsewhere: dict[str, set[str]] = {}
    for uri, by_conv in known.pieces.items():
        for each in by_conv.values():
            for piece in each:
                elsewhere.setdefault(piece.key, set()).add(uri)
    found = []
    for uri, by_conv in known.pieces.items():
        pieces = {conv: {(piece.key, piece.copy) for piece in each} for conv, each in by_conv.items()}
        alone = all(len(each) == 1 for each in pieces.values())
        if is_url(uri) or uri in damaged or not alone or len(pieces) > MOST_CONVERSATIONS:
            continue
        keys = {conv: key for conv, ((key, _),) in pieces.items()}
        if all(elsewhere[key] == {uri} and key in facts.spans for key in keys.values()):
            found.append(WholeFile(here(named(uri)), keys, {key: facts.spans[key].number for key in keys.values()}))
    return found


def heard(file: WholeFile, storm: str) -> list[Row] | None:
    """Findings and outlooks of its conversations; None if something in it is odd: lines out of order, or missing."""
    judges: dict[str, LineJudge] = {}
    last = dict.fromkeys(file.events, -1)
    left = dict(file.events)
    rows: list[Row] = []
    try:
        for entry in entries(file.path):
            if isinstance(entry, Unclosed):
                continue
            if isinstance(entry, Cut | Damaged | Shipped) or entry.conv not in file.keys or len(rows) > MOST_ROWS:
                return None
            key = file.keys[entry.conv]
            if isinstance(entry, EndLine):
                judges[key].close()
                continue
            if isinstance(entry, Header):
                judge = judges.setdefault(key, LineJudge(key, storm))
                rows += judge.begin(entry.part, entry)
                continue
            first, count = _first(entry.events), len(entry.events)
            if first <= last[key]:
                return None
            last[key] = first + count - 1
            left[key] -= count
            rows += judges[key].take_events(entry.events)
    except (OSError, TranscriptError):
        return None
    if any(left.values()):
        return None
    return [*rows, *(row for judge in judges.values() for row in judge.finish())]


def _first(events: Sequence[Event]) -> int:
    """The number of the first; a batch makes no events for that."""
    return events.seq if isinstance(events, RecordedEvents) else events[0].seq
