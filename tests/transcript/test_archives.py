"""Jars that are damaged, or made to do harm: each is refused by its name, by whatever reads it."""

from __future__ import annotations

import random
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from multilang_cli.topology.flux import FluxError, read_flux
from multilang_cli.topology.java.program import JavaHostError
from multilang_cli.topology.java.reading import JavaFile, read_java_flux
from multilang_cli.transcript import archives
from multilang_cli.transcript.archives import ArchiveError, unpack_chosen

if TYPE_CHECKING:
    from pathlib import Path

INCLUDING = "includes:\n  - {file: /more.yaml, resource: true, override: false}\n"
MEMBER = b"name: more\n" * 200


def jar(folder: Path, *names: str, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A jar with these members."""
    path = folder / "parts.jar"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name in names:
            archive.writestr(name, MEMBER)
    return path


def cut(path: Path) -> None:
    """Leave the first half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def other_contents(path: Path) -> None:
    """Change bytes of the first member behind its name."""
    data = bytearray(path.read_bytes())
    data[45:50] = b"\xff" * 5
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [cut, other_contents])
def test_a_damaged_jar_is_named_where_a_file_includes_from_it(harm: object, tmp_path: Path) -> None:
    path = jar(tmp_path, "more.yaml")
    assert callable(harm)
    harm(path)
    (tmp_path / "t.yaml").write_text(INCLUDING, encoding="utf-8")
    with pytest.raises(FluxError, match=r"t\.yaml:2: .*parts\.jar can't be read as a jar: "):
        read_flux(tmp_path / "t.yaml", jars=(str(path),))


def test_a_damaged_jar_is_named_before_java_passes_it_over(tmp_path: Path) -> None:
    path = jar(tmp_path, "a")
    cut(path)
    with pytest.raises(JavaHostError, match=r"parts\.jar: it can't be read as a jar: "):
        read_java_flux(JavaFile(path=tmp_path / "t.yaml", storm="2.8.3", jars=(str(path),)))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_only_what_java_can_read_is_unpacked(method: int, tmp_path: Path) -> None:
    """The libraries behind the other methods raise errors of their own for damage."""
    with pytest.raises(ArchiveError, match=f"'a' is packed by method {method}; only deflate is read"):
        unpack_chosen(jar(tmp_path, "a", method=method), tmp_path / "out", bool)


@pytest.mark.parametrize("names", [("a", "a/b"), ("n" * 300,)], ids=["a file that is a folder", "a name too long"])
def test_members_that_no_folder_can_hold_are_refused(names: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="it can't be unpacked: "):
        unpack_chosen(jar(tmp_path, *names), tmp_path / "out", bool)


@pytest.mark.parametrize("name", ["../../out", "/out", "resources/../../../out"])
def test_a_member_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    (folder := tmp_path / "inner" / "here").mkdir(parents=True)
    (found,) = unpack_chosen(jar(tmp_path, name), folder, bool)
    assert found.resolve().is_relative_to(folder)


def test_a_jar_unpacks_to_no_more_than_its_size_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", len(MEMBER))
    path = jar(tmp_path, "a", "b")
    assert unpack_chosen(path, tmp_path / "out", "a".__eq__)
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        unpack_chosen(path, tmp_path / "out", bool)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_jar_with_random_damage_is_read_or_refused(method: int, tmp_path: Path) -> None:
    whole = jar(tmp_path, "more.yaml", "resources/a.py", method=method).read_bytes()
    draw = random.Random(method)  # noqa: S311
    for number in range(100):
        data = bytearray(whole)
        for _ in range(3):
            data[draw.randrange(len(data))] = draw.randrange(256)
        (path := tmp_path / "b.jar").write_bytes(data)
        with suppress(ArchiveError):
            unpack_chosen(path, tmp_path / str(number), bool)
