"""The answer of an audit: each task with what went wrong with it, of its own topology, and where a tuple was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.pages.answer import AuditAnswer, answer_of
from multilang_cli.audit.stages.facts import HeardPart, told_facts
from multilang_cli.audit.store.manifest import StoredPiece
from multilang_cli.audit.store.stored import StoredTables
from multilang_cli.audit.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TASKS = [("source", 1, "spout"), ("split", 2, "bolt"), ("count", 3, "bolt")]
LOST = {
    "run": "made",
    "root": 1,
    "edges": 2,
    "task": 1,
    "message_id": '"m"',
    "verdict": "lost",
    "confidence": "certain",
    "open_task": 3,
}


def answered(folder: Path, topologies: Sequence[str], roots: Sequence[dict[str, Any]]) -> AuditAnswer:
    """The answer, where nobody says when a topology ran, so that its run has its name."""
    rates = [
        {"run": topology, "topology": topology, "component": component, "task": task, "kind": kind, "tuples": 5}
        for topology in topologies
        for component, task, kind in TASKS
    ]
    conversations = [
        {"conv": f"{topology}-{component}", "part": 1, "file": f"{component}.ndjson", "storm": "2.8.3", "kind": kind,
         "component": component, "task": task, "topology": topology, "timeout": 30.0, "closed": True, "header": b"{}"}
        for topology in topologies
        for component, task, kind in TASKS
    ]  # fmt: skip
    events = [
        {"conv": f"{topology}-{component}", "part": 1, "seq": 7, "t": 1.0, "ch": ch, "kind": kind, "id": id_}
        for topology in topologies
        for component, ch, kind, id_ in (("source", "out", "emit", '"m"'), ("count", "in", "tuple", "9"))
    ]
    known = StoredTables(None, str(folder), {})  # type: ignore[arg-type]  # nothing here asks Spark
    rows = {"rates": rates, "conversations": conversations, "events": events, "roots": roots}
    for name, mine in rows.items():
        # Nothing here asks for an hour, and Spark alone writes one.
        schema = arrow_schema(each for each in TABLES[name].columns if each.type != "timestamp")
        columns = [pa.array([row.get(field.name) for row in mine], field.type) for field in schema]
        (folder / name).mkdir()
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), folder / name / "part.parquet")
        known.pieces[name] = (StoredPiece(name),)
    known.facts = told_facts([[row.get(name) for name in HeardPart._fields] for row in conversations], [])
    return answer_of(known)


def test_a_task_is_blamed_for_no_tree_of_another_topology(tmp_path: Path) -> None:
    """Task ids are small numbers, and each topology has its own."""
    answer = answered(tmp_path, ["made", "well"], [LOST])
    heads, *rows = [line.split() for line in answer.tasks]
    assert heads[:2] == ["topology", "component"]
    assert rows[0][:4] == ["made", "count", "3", "5"]
    assert {(row[0], row[1]): row[-1] for row in rows if row[-1] != "0"} == {("made", "count"): "1"}
    assert len(rows) == 6


def test_one_topology_is_not_named_and_its_tasks_fit_a_screen(tmp_path: Path) -> None:
    answer = answered(tmp_path, ["made"], [LOST])
    assert answer.tasks[0].startswith("component  task")
    assert len({len(line) for line in answer.tasks}) == 1
    assert len(answer.tasks[0]) < 78


@pytest.mark.parametrize(
    ("open_id", "told"),
    [
        (None, "its tuple for count, task 3, never came there"),
        ("8", "its tuple for count, task 3, is in no recording"),
        ("9", "tuple 9 was with count, task 3"),
    ],
    ids=["on its way", "in its task's queue", "there"],
)
def test_a_tree_says_which_task_its_lost_tuple_was_for(tmp_path: Path, open_id: str | None, told: str) -> None:
    [(what, command)] = answered(tmp_path, ["made", "well"], [LOST | {"open_id": open_id}]).worst
    assert f'message "m" of task 1; {told}; event 7 of made-' in what
    assert command.startswith("mlcheck report -o tree.html ")
