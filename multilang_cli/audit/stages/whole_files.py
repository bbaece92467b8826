"""Conversations that stand whole in files of this machine: judged from there, as ``mlcheck lint`` does.

Of tables their lines would have to be brought together and put in order first, which takes twice as long as to judge
them. Whatever is odd in them leaves their conversations to that way, which has an answer to everything.
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
"""Conversations of files that belong together, at most: all of them are judged at a time."""
MOST_ROWS = 20_000
"""Findings of such files that are held until they are known to have nothing odd."""
Row = dict[str, Any]


class WholeFiles(NamedTuple):
    """Files that have all of their conversations, and no others have any: of each the events, by its key.

    One file, or those of the parts of a conversation. `keys`: by the id that stands in their lines.
    """

    paths: tuple[str, ...]
    keys: Mapping[str, str]
    events: Mapping[str, int]


def whole_files(known: Outline, facts: AuditFacts, damaged: Collection[str]) -> list[WholeFiles]:
    """The files whose conversations can be judged from there. `damaged`: those that have lines in quarantine."""
    found = (_whole(known, facts, uris) for uris in _together(known) if not any(map(damaged.__contains__, uris)))
    return [files for files in found if files is not None]


def _whole(known: Outline, facts: AuditFacts, uris: Collection[str]) -> WholeFiles | None:
    """These files; None if something is odd in what they have."""
    keys: dict[str, str] = {}
    for uri in uris:
        for conv, pieces in known.pieces[uri].items():
            if any(piece.copy or keys.setdefault(conv, piece.key) != piece.key for piece in pieces):
                return None
    numbers = {key: facts.spans[key].number for key in keys.values() if key in facts.spans}
    if any(map(is_url, uris)) or len(keys) > MOST_CONVERSATIONS or len(numbers) < len(keys):
        return None
    return WholeFiles(tuple(here(named(uri)) for uri in sorted(uris)), keys, numbers)


def _together(known: Outline) -> list[list[str]]:
    """All files; those that have parts of one conversation stand together."""
    heads = {uri: uri for uri in known.pieces}

    def head(uri: str) -> str:
        """The file that stands for all that stand together with this one."""
        while heads[uri] != uri:
            heads[uri] = uri = heads[heads[uri]]
        return uri

    first: dict[str, str] = {}
    for uri, by_conv in known.pieces.items():
        for key in {piece.key for each in by_conv.values() for piece in each}:
            heads[head(uri)] = head(first.setdefault(key, uri))
    groups: dict[str, list[str]] = {}
    for uri in heads:
        groups.setdefault(head(uri), []).append(uri)
    return list(groups.values())


def heard(files: WholeFiles, storm: str) -> list[Row] | None:
    """Findings and outlooks of their conversations; None if something in them is odd: lines out of order, or missing.

    Only the last part of a conversation may lack its end.
    """
    judges: dict[str, LineJudge] = {}
    last = dict.fromkeys(files.events, -1)
    left = dict(files.events)
    unclosed: set[str] = set()
    rows: list[Row] = []
    try:
        for entry in entries(*files.paths):
            if isinstance(entry, Unclosed):
                unclosed.add(entry.conv)
                continue
            if isinstance(entry, Cut | Damaged | Shipped) or entry.conv not in files.keys.keys() - unclosed:
                return None
            if len(rows) > MOST_ROWS:
                return None
            key = files.keys[entry.conv]
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
