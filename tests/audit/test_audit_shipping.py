"""Recordings as shippers of logs leave them: the audit on Spark says of them what lint says, and counts them once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit import inputs, pipeline
from multilang_cli.audit.outline import AGAIN
from multilang_cli.audit.result import notes_of
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from tests import shipping

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MANY_AGAIN = {"each-twice", "sent-again", "all-again"}
pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def test_the_audit_says_what_lint_says_however_logs_were_shipped(spark: SparkSession, tmp_path: Path) -> None:
    ships = {name: ship for name, (ship, _) in (shipping.PUT_RIGHT | shipping.LOST).items()}
    for name, ship in ships.items():
        shipping.shipped(tmp_path / f"{name}.ndjson", ship, name)
    known = pipeline.run(spark, inputs.AuditPlan(inputs.find([str(tmp_path)])), str(tmp_path / "out"), lambda _: None)
    found: dict[str, list[tuple[str, int]]] = {name: [] for name in ships}
    for row in known["findings"].collect():
        found[row.conv].append((row.rule, row.seq))
    linted = judge_transcripts(sorted(tmp_path.glob("*.ndjson")), load_rulebook())
    for subject in linted.subjects:
        if subject.id in shipping.PUT_RIGHT:
            assert found[subject.id] == [(each.rule, each.seq) for each in subject.findings], subject.id
        else:
            assert {rule for rule, _ in found[subject.id]} <= {"ack-twice"}, subject.id
    counts = {row.conv: row["count"] for row in known["events"].groupBy("conv").count().collect()}
    assert counts == {name: shipping.LINES - (name == "missing") for name in ships}
    [lost] = [note for note in notes_of(known, {}) if "missing by number" in note]
    assert lost == "1 event is missing by number, of missing: what became of a tuple there may not be known"
    rows = [(row.file.rpartition("/")[2].removesuffix(".ndjson"), row.reason) for row in known["quarantine"].collect()]
    assert all(reason.startswith(AGAIN) for name, reason in rows if name in MANY_AGAIN)
    reasons = {name: reason for name, reason in rows if name not in MANY_AGAIN}
    line = shipping.TUPLE + 1
    assert reasons == {
        "again-at-the-end": "a second copy of line 6 of 'again-at-the-end'",
        "contradicted": f"line {line} says something else of event {line - 2} of 'contradicted'",
    }
