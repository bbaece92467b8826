"""The views for other engines: what the newest manifest counts, less what later runs replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import msgspec
import pytest

from multilang_cli.audit.store.manifest import FOLDER, Manifest, ManifestError, StoredPiece
from multilang_cli.audit.store.views import main, view_sql
from multilang_cli.audit.tables import TABLES
from multilang_cli.terminal.exits import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

FILES = TABLES["files"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs: of the first run's three files, the second read one anew; a table has no row, and one crashed."""
    pytest.importorskip("pyarrow")
    from multilang_cli.audit.store.local_rows import FewRows  # noqa: PLC0415 (an extra)
    from multilang_cli.audit.store.parquet_files import commented_schema, write_batches  # noqa: PLC0415

    out = tmp_path / "it's here"
    runs: dict[str, list[str | None]] = {"1": ["a", "b's", None], "2": ["b's"], "crashed": ["c"]}
    for name, files in runs.items():
        batch = FewRows([(file, int(name == "2"), 0, 0, 0, 0) for file in files], FILES.ddl).batch()
        write_batches([batch], str(out / "files" / name), commented_schema(FILES))
    (out / "roots" / "1").mkdir(parents=True)
    pieces = {
        "files": (StoredPiece("files/1", "file", ("b's",)), StoredPiece("files/2")),
        "roots": (StoredPiece("roots/1"),),
        "outline": (StoredPiece("outline/1"),),
    }
    (out / FOLDER).mkdir()
    (out / FOLDER / "000002.json").write_bytes(msgspec.json.encode(Manifest(number=2, tables=pieces)))
    return out


def test_views_have_the_rows_that_count(folder: Path) -> None:
    made = view_sql(str(folder))
    assert "crashed" not in made
    assert made.count("create or replace view") == 2
    assert """where "file" is null or "file" not in ('b''s')""" in made
    assert "where false" in made
    connection = duckdb.connect()
    connection.execute(made)
    rows = connection.execute("select file, lines from files order by file nulls last").fetchall()
    assert rows == [("a", 0), ("b's", 1), (None, 0)]
    assert connection.execute("select * from roots").fetchall() == []


def test_a_folder_without_tables_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ManifestError, match="there are no tables of an audit in"):
        view_sql(str(tmp_path))
    with pytest.raises(ManifestError, match="is not on this machine"):
        view_sql("s3a://bucket/audit")
    assert main([str(tmp_path)]) == ExitCode.MISUSE
    assert "there are no tables" in capsys.readouterr().err
    assert main([]) == ExitCode.MISUSE
