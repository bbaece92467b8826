"""Alerts of a watch: what went wrong, with names, and an id that it keeps where a batch is done again. Pure."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from multilang_cli.audit.watch.ledger import RootRow

PROCESS_EXITED, WORKER_DIED, RECORDING_STOPPED = "process exited", "worker died", "recording stopped"
"""Verdicts on what has no root: the end of a conversation's process, of a worker in a history, of a recording."""
RECORDING_UNREAD = "recording unread"
"""The verdict on a file that can't be read, or not to its end."""
DecidedBy = Literal["recording", "wall time"]
"""Which clock an alert was decided by. Those by wall time depend on when the watch looked."""


class SpeakerNames(msgspec.Struct, frozen=True, array_like=True):
    """Names that one line tells of a task. `alone`: the run is its conversation."""

    topology: str
    component: str
    task: int
    alone: bool


class RunNames(msgspec.Struct):
    """Names of a run: its topology, the component of each task; `alone`: the task of a run that is a conversation."""

    topology: str = ""
    components: dict[int, str] = {}
    alone: int | None = None

    def learn(self, told: SpeakerNames) -> None:
        """Add what a line says."""
        self.topology = told.topology or self.topology
        self.components[told.task] = told.component
        self.alone = told.task if told.alone else self.alone

    def component(self, task: int | None) -> str | None:
        """The component of a task."""
        return None if task is None else self.components.get(task)


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One alert. `task`: the spout's, or that of the conversation; `open_*`: of the first tuple that nobody settled.

    `root` is None for what is about a process or a recording; `why` says what is known of its end.
    """

    id: str
    verdict: str
    topology: str
    component: str | None
    task: int | None
    run: str
    root: int | None
    message_id: str | None = None
    outcome: str | None = None
    open_component: str | None = None
    open_task: int | None = None
    open_id: str | None = None
    open_since: float | None = None
    why: str | None = None
    decided_by: DecidedBy = "recording"


def alert_of(row: RootRow, names: RunNames, decided_by: DecidedBy) -> Alert:
    """The alert of a row of the table roots."""
    task = row.task if row.task is not None else names.alone
    holds = row.open_task
    if holds is None and row.open_edge is not None:
        holds = names.alone
    return Alert(
        id=_id(row.run, row.root, row.verdict),
        verdict=row.verdict,
        topology=names.topology,
        component=names.component(task),
        task=task,
        run=row.run,
        root=row.root,
        message_id=row.message_id,
        outcome=row.outcome,
        open_component=names.component(holds),
        open_task=holds,
        open_id=row.open_id,
        open_since=row.open_since,
        decided_by=decided_by,
    )


class RunEnd(NamedTuple):
    """The end of a process, a worker or a recording, at `t` of the recording."""

    verdict: str
    t: float
    why: str
    decided_by: DecidedBy = "recording"


def alert_of_end(run: str, end: RunEnd, names: RunNames) -> Alert:
    """The alert of an end."""
    task = names.alone
    return Alert(
        id=_id(run, end.t, end.verdict, end.why),
        verdict=end.verdict,
        topology=names.topology,
        component=names.component(task),
        task=task,
        run=run,
        root=None,
        why=end.why,
        decided_by=end.decided_by,
    )


def _id(*words: object) -> str:
    return blake2b("\0".join(map(str, words)).encode(), digest_size=8).hexdigest()
