"""The folder of an audit may come from a stranger: what its manifest says is read or refused, and nothing else goes."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.audit.store.manifest import (
    FOLDER,
    SCHEMA,
    Manifest,
    ManifestError,
    StoredPiece,
    clear,
    format_before,
    new_name,
    newest,
    only_writer,
    publish,
    trees_before,
)
from multilang_cli.audit.store.views import view_sql

if TYPE_CHECKING:
    from pathlib import Path

NO_SPARK: Any = None
"""Only folders elsewhere need it."""


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"schema":%d,"tables":' % SCHEMA + b'{"a":' * 100_000,
        b"{}",
        b"[]",
        b'{"schema":%d,"number":"x"}' % SCHEMA,
        b"\xff",
    ],
    ids=["brackets", "deep", "empty", "list", "types", "bytes"],
)
def test_any_manifest_is_read_or_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    for number in (1, 2):
        (tmp_path / FOLDER / f"{number:06d}.json").write_bytes(text)
    with pytest.raises(ManifestError, match="is no manifest"):
        newest(NO_SPARK, str(tmp_path))
    assert not trees_before(str(tmp_path))


@pytest.mark.parametrize("folder", ["", "/etc", "../../other", "roots/../../other", "//x"])
def test_no_table_of_a_manifest_leads_out_of_its_folder(folder: str, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    manifest = Manifest(tables={"roots": (StoredPiece(folder),)})
    (tmp_path / FOLDER / "000001.json").write_bytes(msgspec.json.encode(manifest))
    with pytest.raises(ManifestError, match="not in the folder"):
        newest(NO_SPARK, str(tmp_path))
    with pytest.raises(ManifestError, match="not in the folder"):
        view_sql(str(tmp_path))


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "sparse"])
def test_a_manifest_without_an_end_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    for number in (1, 2):
        path = tmp_path / FOLDER / f"{number:06d}.json"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        else:
            path.touch()
            os.truncate(path, 1 << 40)
    with pytest.raises(ManifestError, match="is no manifest"):
        newest(NO_SPARK, str(tmp_path))
    assert not trees_before(str(tmp_path))
    assert not format_before(str(tmp_path))


def test_no_link_in_the_place_of_the_lock_is_followed_and_no_pipe_waited_for(tmp_path: Path) -> None:
    letter, place = tmp_path / "letter", tmp_path / "audit" / FOLDER
    place.mkdir(parents=True)
    letter.write_text("mine")
    (place / ".writing").symlink_to(letter)
    with pytest.raises(ManifestError, match="can't be locked"), only_writer(str(place.parent)):
        pass
    assert letter.read_text() == "mine"
    (place / ".writing").unlink()
    os.mkfifo(place / ".writing")
    with pytest.raises(ManifestError, match="can't be locked"), only_writer(str(place.parent)):
        pass


def test_nothing_is_removed_but_folders_that_an_audit_has_written(tmp_path: Path) -> None:
    mine, home = tmp_path / "audit", tmp_path / "home"
    (mine / FOLDER).mkdir(parents=True)
    kept, old = new_name(2), new_name(1)
    for folder in (mine / "edges" / kept, mine / "edges" / old, home / "documents"):
        folder.mkdir(parents=True)
    (home / "letter").write_text("mine")
    (mine / "roots").symlink_to(home)
    manifest = Manifest(number=2, tables={"edges": (StoredPiece(f"edges/{kept}"),)})
    clear(str(mine), ("edges", "roots"), manifest, None)
    assert [path.name for path in (mine / "edges").iterdir()] == [kept]
    assert sorted(path.name for path in home.iterdir()) == ["documents", "letter"]


def test_a_folder_of_which_all_was_replaced_counts_no_more() -> None:
    piece = StoredPiece("roots/1", "run", has=("a", "b", "c"))
    less = piece.less("run", frozenset({"b", "x"}))
    assert less is not None
    assert less == StoredPiece("roots/1", "run", ("b",), has=("a", "b", "c"))
    assert less.less("run", frozenset({"a", "c"})) is None
    # Of one that says nothing of what it has, something may always be left.
    assert StoredPiece("roots/1").less("run", frozenset("b")) == StoredPiece("roots/1", "run", ("b",))


def test_a_file_of_a_table_that_is_missing_is_named(tmp_path: Path) -> None:
    """Without it the table would have fewer rows, or none, and nobody would be told."""
    folder = tmp_path / "roots" / "1"
    folder.mkdir(parents=True)
    for name in ("part-00000.parquet", "part-00001.parquet", "_SUCCESS"):
        (folder / name).write_bytes(b"")
    manifest = Manifest(number=1, tables={"roots": (StoredPiece("roots/1"),)})
    publish(NO_SPARK, str(tmp_path), manifest)
    (folder / "_SUCCESS").unlink()
    assert newest(NO_SPARK, str(tmp_path)) is not None
    (folder / "part-00001.parquet").unlink()
    with pytest.raises(ManifestError, match=r"roots/1/part-00001\.parquet is missing; give --overwrite"):
        newest(NO_SPARK, str(tmp_path))
    shutil.rmtree(folder)
    with pytest.raises(ManifestError, match=r"roots/1/part-00000\.parquet is missing"):
        view_sql(str(tmp_path))


def test_a_folder_written_before_files_were_listed_is_read(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    old = b'{"schema": %d, "number": 1, "tables": {"roots": [{"folder": "roots/1"}]}}' % SCHEMA
    (tmp_path / FOLDER / "000001.json").write_bytes(old)
    assert newest(NO_SPARK, str(tmp_path)) == Manifest(number=1, tables={"roots": (StoredPiece("roots/1"),)})
