"""What lies on other file systems is listed and read through Hadoop; what is wrong there is named, the rest counts."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from multilang_cli.audit import inputs
from tests.pages import ACKED, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def mounted(spark: SparkSession, folder: Path, name: str = "recordings") -> str:
    """The URL of a folder on a file system of that name, which Hadoop alone knows, and remembers."""
    context: Any = spark.sparkContext
    settings = context._jsc.hadoopConfiguration()  # PySpark has no other door
    settings.set(f"fs.viewfs.mounttable.{name}.link./in", folder.as_uri())
    return f"viewfs://{name}/in"


def test_urls_are_listed_and_read_as_hadoop_has_them(spark: SparkSession, tmp_path: Path) -> None:
    from multilang_cli.audit.stages import events  # noqa: PLC0415 (Spark)
    from multilang_cli.audit.stages import lines as sources  # noqa: PLC0415

    (tmp_path / "deep").mkdir()
    whole = recorded(tmp_path / "a [1], 100%25.ndjson", ACKED).read_bytes()
    recorded(tmp_path / "deep" / "b.ndjson", ACKED)
    (tmp_path / "deep" / "c, too.ndjson.gz").write_bytes(gzip.compress(whole.replace(b"a [1]", b"c")))
    (tmp_path / "deep" / "cut.ndjson.zst").write_bytes(zstandard.compress(whole.replace(b"a [1]", b"cut"))[:-20])
    (tmp_path / "deep" / "_other.ndjson").write_bytes(whole)
    url = mounted(spark, tmp_path)
    found = inputs.find([f"{url}/*.ndjson", f"{url}/dee*", url, f"{url}/none*", "nosuch://host/x"], spark)
    names = ["a [1], 100%25.ndjson", "deep/b.ndjson", "deep/c, too.ndjson.gz", "deep/cut.ndjson.zst"]
    assert list(found.transcripts) == [f"{url}/{name}" for name in names]
    assert [note for note in found.notes if "twice" not in note] == [
        f"{url}/deep/_other.ndjson: has a name that Spark passes over: it begins with . or _; it is left out",
        f"{url}/none*: there is no such file; it is left out",
        'nosuch://host/x: can\'t be listed: No FileSystem for scheme "nosuch"; it is left out',
    ]
    read = events.tables(sources.lines(spark, found.transcripts))
    lines = whole.count(b"\n")
    counts = {row.file.removeprefix(f"{url}/"): (row.lines, row.quarantined) for row in read.files.collect()}
    # Of the one that was cut nothing could be unpacked, and a line says so.
    assert counts == {**dict.fromkeys(names[:3], (lines, 0)), names[3]: (1, 1)}
    [row] = read.quarantine.collect()
    assert row.reason == "from here on the file can't be unpacked: the file ends amid a frame"


def test_a_file_elsewhere_is_known_again_whatever_its_name_is(spark: SparkSession, tmp_path: Path) -> None:
    from multilang_cli.audit import pipeline  # noqa: PLC0415 (Spark)

    (tmp_path / "in").mkdir()
    plain, packed = (tmp_path / "in" / name for name in ("a 100%25.ndjson", "b%41.ndjson.gz"))
    whole = recorded(plain, ACKED, conv="a").read_bytes()
    packed.write_bytes(gzip.compress(whole.replace(b'"conv":"a"', b'"conv":"b"')))
    url = mounted(spark, tmp_path / "in", "known")

    def audited() -> dict[str, tuple[int, int]]:
        """The lines of each file, and its rows in events."""
        plan = inputs.AuditPlan(inputs.find([url], spark))
        known = pipeline.run(spark, plan, str(tmp_path / "out"), lambda _: None)
        rows = {row.file: row["count"] for row in known["events"].groupBy("file").count().collect()}
        assert {row.file for row in known["files"].collect()} == set(rows)
        assert known.lines.lines == known.lines.told
        return {row.file.removeprefix(f"{url}/"): (row.lines, rows[row.file]) for row in known["files"].collect()}

    lines = whole.count(b"\n")
    assert audited() == {plain.name: (lines, lines - 2), packed.name: (lines, lines - 2)}
    plain.write_bytes(b"".join(whole.splitlines(keepends=True)[:-2]))
    packed.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes()) + b"\n"))
    assert audited() == {plain.name: (lines - 2, lines - 3), packed.name: (lines + 1, lines - 2)}
