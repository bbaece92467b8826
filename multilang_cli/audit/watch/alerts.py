"""Alerts of a watch: a root that went wrong, with names, and an id that it keeps where a batch is done again."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from multilang_cli.audit import parsing
from multilang_cli.audit.inputs import run_of
from multilang_cli.topology.history import Happening, Launched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame, Row

SPEAKERS = "run string, topology string, component string, task int, alone boolean"
_SCHEMA = pa.schema([
    ("run", pa.string()), ("topology", pa.string()), ("component", pa.string()), ("task", pa.int32()),
    ("alone", pa.bool_()),
])  # fmt: skip
_HEADER, _LAUNCH = b'"transcript"', b'"launch"'
"""One of these is in each line that names a task."""
_decode = msgspec.json.Decoder(Happening).decode


class RunNames(msgspec.Struct):
    """Names of a run: its topology, the component of each task; `alone`: the task of a run that is a conversation."""

    topology: str = ""
    components: dict[int, str] = {}
    alone: int | None = None


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One alert. `task`: the spout's, or that of the conversation; `open_*`: of the first tuple that nobody settled."""

    id: str
    verdict: str
    topology: str
    component: str | None
    task: int | None
    run: str
    root: int
    message_id: str | None
    outcome: str | None
    open_component: str | None
    open_task: int | None
    open_id: str | None
    open_since: float | None


def speakers(lines: DataFrame) -> DataFrame:
    """Names that lines of transcripts and histories tell (columns `text`, bytes, and `file`), as `SPEAKERS`."""
    return lines.select("file", "text").mapInArrow(_speaker_batches, SPEAKERS).distinct()


def _speaker_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        files, texts = (column.to_pylist() for column in batch.columns)
        rows = [row for file, text in zip(files, texts, strict=True) if (row := _speaker(file, text)) is not None]
        yield pa.RecordBatch.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA)


def _speaker(file: str, text: bytes) -> tuple[str, str, str, int, bool] | None:
    if _HEADER in text:
        told = parsing.parse(text)
        if isinstance(told, parsing.HeaderRow):
            return told.conv, told.topology, told.component, told.task, True
    elif _LAUNCH in text:
        try:
            event = _decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if isinstance(event, Launched):
            run = run_of(file)
            return run, run.rpartition("/")[2], event.component, event.task, False
    return None


def learn(names: dict[str, RunNames], told: Iterable[Row]) -> None:
    """Add what rows of `speakers` say."""
    for run, topology, component, task, alone in told:
        known = names.setdefault(run, RunNames())
        known.topology = topology or known.topology
        known.components[task] = component
        known.alone = task if alone else known.alone


def alert_of(root: Row, names: dict[str, RunNames]) -> Alert:
    """The alert of a row of the table roots."""
    known = names.get(root.run) or RunNames()
    task = root.task if root.task is not None else known.alone
    holds = root.open_task
    if holds is None and root.open_edge is not None:
        holds = known.alone
    return Alert(
        id=blake2b(f"{root.run}\0{root.root}\0{root.verdict}".encode(), digest_size=8).hexdigest(),
        verdict=root.verdict,
        topology=known.topology,
        component=known.components.get(task) if task is not None else None,
        task=task,
        run=root.run,
        root=root.root,
        message_id=root.message_id,
        outcome=root.outcome,
        open_component=known.components.get(holds) if holds is not None else None,
        open_task=holds,
        open_id=root.open_id,
        open_since=root.open_since,
    )
