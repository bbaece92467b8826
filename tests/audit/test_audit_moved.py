"""Recordings that are cut between tasks, and whose files are renamed, or come again longer, between two audits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit import inputs, pipeline
from multilang_cli.audit.outline import AGAIN
from multilang_cli.audit.stages.lines import SMALL, lines
from multilang_cli.audit.store.manifest import ManifestError
from tests.pages import recorded

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from multilang_cli.audit.store.stored import StoredTables

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
TUPLES = 120
_WORD = "x" * 50_000
TALK = "".join(
    f'@ {1 + n}\n> {{"id":"{n}","comp":"s","stream":"default","task":2,"tuple":["{_WORD}"]}}\n'
    f'< {{"command":"ack","id":"{n}"}}\n'
    for n in range(TUPLES)
)
"""More than one task reads."""
EVENTS = 2 * TUPLES + 4


def whole(folder: Path) -> list[bytes]:
    """The lines of the recording."""
    path = recorded(folder / "made", TALK, conv="t")
    found = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    return found


def audited(spark: SparkSession, folder: Path) -> StoredTables:
    plan = inputs.AuditPlan(inputs.find([str(folder / "in")]))
    return pipeline.run(spark, plan, str(folder / "out"), lambda _: None)


def laid(folder: Path, name: str, content: list[bytes]) -> Path:
    path = folder / "in" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(content))
    return path


def counts(known: StoredTables) -> tuple[int, int, int, list[tuple[str, int]]]:
    """Events, tuples that were settled once, findings, and each file with the lines of it that are in quarantine."""
    once = known["ledger"].where("verdict = 'once'").count()
    files = [(row.file.rpartition("/")[2], row.quarantined) for row in known["files"].collect()]
    assert known.lines.lines == known.lines.told
    return known["events"].count(), once, known["findings"].count(), sorted(files)


def test_what_stands_twice_on_both_sides_of_a_cut_counts_once(spark: SparkSession, tmp_path: Path) -> None:
    found = whole(tmp_path)
    middle, size = 0, 0
    while size < SMALL:
        size += len(found[middle])
        middle += 1
    path = laid(tmp_path, "a.ndjson", [*found[: middle + 8], *found[middle - 30 : middle + 8], *found[middle + 8 :]])
    assert len({piece.start for task in lines(spark, [str(path)]).tasks for piece in task}) > 1
    known = audited(spark, tmp_path)
    assert counts(known) == (EVENTS, TUPLES, 0, [("a.ndjson", 38)])
    assert all(row.reason.startswith(AGAIN) for row in known["quarantine"].collect())


def test_a_longer_copy_is_read_wherever_it_is_cut_then(spark: SparkSession, tmp_path: Path) -> None:
    found = whole(tmp_path)
    laid(tmp_path, "m.ndjson", found[:-20])
    audited(spark, tmp_path)
    laid(tmp_path, "n.ndjson", found)
    assert counts(audited(spark, tmp_path)) == (
        EVENTS,
        TUPLES,
        0,
        [("m.ndjson", len(found) - 20), ("n.ndjson", 0)],
    )


def test_a_file_that_was_renamed_is_the_same_recording(spark: SparkSession, tmp_path: Path) -> None:
    found = whole(tmp_path)[:40]
    path = laid(tmp_path, "m.ndjson", found)
    laid(tmp_path, "z.ndjson", [line.replace(b'"conv":"t"', b'"conv":"u"') for line in found])
    before = counts(audited(spark, tmp_path))
    events, once, _, _ = before
    path.rename(tmp_path / "in" / "a.ndjson")
    assert counts(audited(spark, tmp_path)) == (events, once, 0, [("a.ndjson", 0), ("z.ndjson", 0)])
    (tmp_path / "in" / "a.ndjson").rename(path)
    # Under its old name it stands behind the name that counts, whose file is gone.
    assert counts(audited(spark, tmp_path))[:3] == (events, once, 0)


def test_a_part_that_can_be_read_nowhere_any_more_is_not_dropped(spark: SparkSession, tmp_path: Path) -> None:
    found = whole(tmp_path)[:40]
    other = [line.replace(b'"conv":"t"', b'"conv":"u"') for line in found]
    path = laid(tmp_path, "m.ndjson", [*found[:30], *other[:30]])
    audited(spark, tmp_path)
    path.unlink()
    laid(tmp_path, "n.ndjson", [*found, *(line for line in found for _ in "ab")])
    with pytest.raises(ManifestError, match=r"m\.ndjson is gone, and another file has a longer copy of a part of it"):
        audited(spark, tmp_path)
