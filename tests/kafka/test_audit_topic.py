"""A topic of recordings that is watched comes to what a batch finds in the same lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.console.watching import WatchFlags, watch_given
from multilang_cli.audit.marks import alone_of
from multilang_cli.audit.parsing import EventRow, parse
from multilang_cli.audit.session import session
from multilang_cli.audit.tables import MARKS
from tests.audit.generator.histories import history
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.test_audit_watching import FEW, PLAN, open_roots, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from tests.kafka.topics import Topic

# PySpark leaves sockets to the garbage collector.
UNTIDY = [
    pytest.mark.filterwarnings(f"ignore::{each}")
    for each in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")
]
pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600), *UNTIDY]

TIMEOUT = PLAN.timeout
TAPPED = "split-3-1.ndjson"


def alone(lines: DataFrame) -> DataFrame:
    """The table marks of lines of transcripts, each read on its own, as a watch reads them."""

    def marks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [row for text in batch.column(0).to_pylist() if isinstance(row := parse(text), EventRow)]
            found = [(row.conv, *mark) for row in rows for mark in alone_of(row)]
            names = [column.name for column in MARKS.columns]
            yield pa.RecordBatch.from_pylist(
                [dict(zip(names, each, strict=True)) for each in found], schema=arrow_schema(MARKS.columns)
            )

    return lines.select("text").mapInArrow(marks, MARKS.ddl)


def test_a_topic_that_is_watched_comes_to_what_a_batch_finds(topic: Topic, tmp_path: Path) -> None:
    files = {
        "history.ndjson": [msgspec.json.encode(event) for event in history(PLAN)],
        # A watch takes what a process held at its end for lost; a batch that reads line by line does not.
        TAPPED: [line for line in transcripts(PLAN, Taps())[TAPPED].splitlines() if b'"exited"' not in line],
    }
    for partition, (name, lines) in enumerate(files.items()):
        topic.fill(partition, lines, name.encode())
        (tmp_path / name).write_bytes(b"\n".join(lines) + b"\n")
    out = tmp_path / "out"
    where = f"kafka://{topic.kafka.bootstrap_servers}/{topic.name}"
    flags = WatchFlags(
        source=where,
        output=out,
        timeout=TIMEOUT,
        once=True,
        master="local[1]",
        spark_conf=tuple(f"{name}={value}" for name, value in FEW.items()),
    )
    assert watch_given(flags) == 0

    from multilang_cli.audit.stages import edges, roots  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.stages import lines as sources  # noqa: PLC0415

    spark = session("local[1]", FEW)
    read = sources.lines(spark, [str(tmp_path / name) for name in files]).rows()
    batch = verdicts(roots.roots(edges.of_history(read).unionByName(alone(read)), TIMEOUT))
    tapped = verdicts(roots.roots(alone(read), TIMEOUT)).keys()
    still = open_roots(spark, out).keys()
    spark.stop()
    found = pq.read_table(out / "roots" / "00000000").to_pylist()
    over = {row["root"]: (row["verdict"], row["outcome"], row["edges"], row["open_edge"]) for row in found}
    assert over.items() <= batch.items()
    assert over.keys() | still == batch.keys()
    assert not over.keys() & still
    assert {row["run"] for row in found} == {"history.ndjson"}
    # The tap's recording is shorter than a root is waited for.
    assert tapped
    assert tapped <= still
