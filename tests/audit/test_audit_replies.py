"""Which emit a reply with task ids answers, where lines of the recording are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

HEARD = {
    "E R E R": {0: 2, 4: 6},
    "E E R R": {0: 4, 2: 6},
    "E _ R E R": {6: 8},
    "E E _ R R E R": {10: 12},
    "E _ E R": {4: 6},
    "_ E R R E R": {},
    "_ E R R E R _ E R": {14: 16},
    "E R _ _ E R": {0: 2, 8: 10},
}
"""Heard in turn: an emit that asks, a reply, _ for a line that is missing; and the replies, by emit's place."""


def test_replies_are_counted_anew_behind_a_gap(spark: SparkSession) -> None:
    from multilang_cli.audit.stages.trees import _numbered  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.store.local_rows import local_rows  # noqa: PLC0415

    rows, gaps = [], []
    for n, heard in enumerate(HEARD):
        for seq, what in enumerate(heard):
            if what in "ER":
                rows.append((n, seq, what == "E", what == "E"))
            if seq >= 2 and heard[seq - 2] == "_" and what != "_":
                gaps.append((n, seq, True))
    torn = local_rows(spark, gaps, "n int, seq bigint, behind_gap boolean")
    told, key = _numbered(local_rows(spark, rows, "n int, seq bigint, emits boolean, asking boolean"), torn)
    emits: dict[tuple[int, ...], int] = {}
    found: dict[int, dict[int, int]] = {n: {} for n in range(len(HEARD))}
    for row in told.where("nth is not null").orderBy("seq").collect():
        at = (*(row[name] for name in key.split(", ")), row.nth)
        if row.emits:
            emits[at] = row.seq
        elif at in emits:
            found[row.n][emits[at]] = row.seq
    assert dict(zip(HEARD, found.values(), strict=True)) == HEARD


def test_nothing_is_looked_for_where_no_line_is_missing(spark: SparkSession) -> None:
    from multilang_cli.audit.stages.trees import _gaps  # noqa: PLC0415 (Spark)

    assert _gaps(spark.range(1), []) is None
