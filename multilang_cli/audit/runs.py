"""Runs of a topology: what was recorded of it between two times at which none of its tasks ran. Pure.

No tuple, and so no tree, goes from one run to the next. So each is looked at on its own, and one that nothing new is
known of keeps the rows that it has in the tables.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from multilang_cli.audit.stages.facts import AuditFacts

LEAST_PAUSE = 10.0
"""Seconds that a pause takes at least, where the message timeout is shorter: clocks may be apart by as much."""
_NO_TIMEOUT = 30.0


class RecordedRun(NamedTuple):
    """A run. `convs`: its conversations; `timeout`: their longest message timeout; `followed`: its tasks ran again.

    `mark`: a digest of all that is known of these conversations as wholes.
    """

    name: str
    convs: tuple[str, ...]
    timeout: float
    followed: bool
    mark: str


class _Heard(NamedTuple):
    """When a conversation was heard, by its own clock."""

    first: float
    last: float
    conv: str


def topology_runs(facts: AuditFacts, folders: Collection[str] = frozenset()) -> dict[str, RecordedRun]:
    """All runs, by name. `folders`: those that have the history of a run, which is named as the folder is."""
    told: dict[str, list[str]] = {folder: [] for folder in folders}
    by_topology: dict[str, list[str]] = {}
    for conv, (one, *_) in facts.parts.items():
        folder = folder_of(one.file, folders)
        if folder is None:
            by_topology.setdefault(one.topology, []).append(conv)
        else:
            told[folder].append(conv)
    found = {folder: _run(facts, folder, sorted(convs), followed=False) for folder, convs in told.items()}
    for topology, convs in by_topology.items():
        found.update((run.name, run) for run in _of_topology(facts, topology, convs))
    return found


def folder_of(file: str, folders: Collection[str]) -> str | None:
    """The folder, of some, that a file is in at any depth; None if it is in none of them."""
    while "/" in file:
        file = file.rpartition("/")[0]
        if file in folders:
            return file
    return None


def _of_topology(facts: AuditFacts, topology: str, convs: list[str]) -> Iterator[RecordedRun]:
    known = {conv: _heard(facts, conv) for conv in convs}
    heard = sorted(each for each in known.values() if each)
    if len(heard) < len(convs):
        # Nobody knows what was recorded at the same time.
        yield _run(facts, topology, sorted(convs), followed=False)
        return
    timeout = max(part.timeout for conv in convs for part in facts.parts[conv])
    runs = _split(facts, heard, max(timeout, LEAST_PAUSE))
    for place, run in enumerate(runs):
        name = f"{topology} {_moment(run[0].first)}".strip()
        yield _run(facts, name, [each.conv for each in run], followed=place < len(runs) - 1)


def _heard(facts: AuditFacts, conv: str) -> _Heard | None:
    started, span = facts.parts[conv][0].started, facts.spans.get(conv)
    if started is None:
        return None
    if span is None or span.first is None:
        return _Heard(started, started, conv)
    return _Heard(started + span.first, started + span.t, conv)


def _split(facts: AuditFacts, heard: list[_Heard], pause: float) -> list[list[_Heard]]:
    """Cut where nothing was heard for longer than a pause takes, and the same tasks were heard before and behind it.

    Else clocks may be apart, or recordings missing: what belongs together must not be cut.
    """
    pieces: list[list[_Heard]] = []
    until = -inf
    for each in heard:
        if each.first - until > pause:
            pieces.append([])
        pieces[-1].append(each)
        until = max(until, each.last)
    runs: list[tuple[set[int], list[_Heard]]] = []
    for piece in pieces:
        tasks = {facts.parts[each.conv][0].task for each in piece}
        if runs and runs[-1][0] != tasks:
            runs[-1][0].update(tasks)
            runs[-1][1].extend(piece)
        else:
            runs.append((tasks, piece))
    return [run for _, run in runs]


def _run(facts: AuditFacts, name: str, convs: list[str], *, followed: bool) -> RecordedRun:
    timeout = max((part.timeout for conv in convs for part in facts.parts[conv]), default=_NO_TIMEOUT)
    known: list[Any] = [(facts.parts[conv], facts.spans.get(conv)) for conv in convs]
    mark = blake2b(repr((followed, known)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return RecordedRun(name, tuple(convs), timeout, followed, mark)


def _moment(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        # A recording may say anything of its time.
        return f"{at:.0f}"
