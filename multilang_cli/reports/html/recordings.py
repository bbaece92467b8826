"""The recordings that stand behind a result, read for its page: each subject with the conversation it was found in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.combined import parts_of
from multilang_cli.reports.grouping import place_of
from multilang_cli.reports.html.conversation import PageConversation
from multilang_cli.reports.html.findings import Explainer
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.read import Happened
from multilang_cli.transcript.sharing import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.html.keeping import EventBudget
    from multilang_cli.reports.model import RunResult, SubjectResult

MOST_CONVERSATIONS = 200
"""Conversations on one page; those in trouble come first."""
DETAILED = 8
"""Conversations that are shown with latency and tuple trees, where a page is about them."""


class _Wanted(NamedTuple):
    rank: int
    storm: str
    subject: SubjectResult
    detailed: bool

    @property
    def lead(self) -> str:
        """Id of the section of its conversation, with which those of its details begin."""
        return f"c{self.rank}"


class Recordings:
    """Recordings of a run. `told`: the conversations, the gravest first; `notes`: what can't be shown."""

    def __init__(self, result: RunResult, rulebook: Rulebook, budget: EventBudget, *, detailed: bool) -> None:
        self._rulebook, self._budget = rulebook, budget
        self._wanted, left_out = _chosen(result, DETAILED if detailed else 0)
        self._told: dict[str, PageConversation] = {}
        self.notes = [f"{left_out} more conversations are recorded, but not on this page"] if left_out else []
        self._read()
        self.told = [
            self._told[wanted.lead]
            for wanted in sorted(self._wanted, key=lambda wanted: wanted.rank)
            if wanted.lead in self._told
        ]
        self._leads = {id(told.subject): told.lead for told in self.told}

    def section_of(self, subject: SubjectResult) -> str | None:
        """The id of the section with the conversation of a subject, which is one of the result's own."""
        return self._leads.get(id(subject))

    def _read(self) -> None:
        here: dict[int, PageConversation] = {}
        paths = dict.fromkeys(path for wanted in self._wanted for path in _paths(wanted.subject))
        missing = [path for path in paths if not os.access(path, os.R_OK)]
        self.notes += [f"{path}: the recording can't be read any more" for path in missing]
        for number, path, entry in lines_of([path for path in paths if path not in missing]):
            if isinstance(entry, Happened):
                if number in here:
                    here[number].take(entry.events)
            elif isinstance(entry, Header) and number not in here:
                self._hear(number, path, entry, here)

    def _hear(self, number: int, path: str, header: Header, here: dict[int, PageConversation]) -> None:
        wanted = self._subject_of(path, header)
        if wanted is not None:
            explainer = Explainer(self._rulebook, wanted.storm)
            here[number] = self._told[wanted.lead] = PageConversation(
                wanted.lead,
                header,
                wanted.subject,
                explainer,
                self._budget,
                detailed=wanted.detailed,
                alone=len(self._wanted) == 1,
            )

    def _subject_of(self, path: str, header: Header) -> _Wanted | None:
        """Whose conversation begins here; None if nobody asks for it."""
        free = [each for each in self._wanted if each.lead not in self._told and each.subject.transcript == path]
        return next((each for each in free if each.subject.id == header.conv), free[0] if free else None)


def _chosen(result: RunResult, detailed: int) -> tuple[list[_Wanted], int]:
    """The subjects whose conversations are shown, so many of them in detail, and how many others there are.

    They stand as they were recorded, by which they are known in a file of several; their ranks are by gravity.
    """
    recorded = [
        (subject.storm or part.storm, subject)
        for part in parts_of(result)
        for subject in part.subjects
        if subject.transcript is not None
    ]
    order = sorted(range(len(recorded)), key=lambda place: place_of(recorded[place][1].verdict))[:MOST_CONVERSATIONS]
    full = frozenset(order[:detailed])
    rank = {place: number for number, place in enumerate(order, 1)}
    wanted = [_Wanted(rank[place], *recorded[place], detailed=place in full) for place in sorted(order)]
    return wanted, len(recorded) - len(wanted)


def _paths(subject: SubjectResult) -> Iterable[str]:
    return filter(None, (subject.transcript, *subject.further_parts))
