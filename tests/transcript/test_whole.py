"""Files that are written whole or not at all, whatever happens to their writer."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.transcript.private import USUAL_FILE, whole_file
from tests.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HALF = """
import os, signal, sys
from pathlib import Path
from multilang_cli.transcript.private import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half of it")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


SYSTEMS = {"nameless": 0, "unknown": errno.EOPNOTSUPP, "refused": errno.EINVAL, "unlinked": errno.EPERM}


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that knows files without a name, two that say in their ways that they do not, one that names none."""
    error, real = SYSTEMS[request.param], os.open

    def unknown(path: str, flags: int, *more: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(error, os.strerror(error))
        return real(path, flags, *more)

    def unlinked(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    if request.param == "unlinked":
        monkeypatch.setattr(os, "link", unlinked)
    elif error:
        monkeypatch.setattr(os, "open", unknown)


@pytest.mark.component
def test_a_writer_that_is_killed_leaves_nothing_beside_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text("before")
    words = [sys.executable, "-c", HALF, str(tmp_path / "o.json")]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"o.json": "before"}


@pytest.mark.usefixtures("system")
def test_what_is_there_is_replaced_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    path.write_text("before")
    with whole_file(path, "w", encoding="utf-8") as file:
        file.write("after")
        file.flush()
        assert path.read_text() == "before"
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"o.json": "after"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.usefixtures("system")
def test_modes_that_were_chosen_are_kept(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        with whole_file(tmp_path / "run") as file:
            file.write(b"#!/bin/sh")
            os.fchmod(file.fileno(), 0o755)
        with whole_file(tmp_path / "o.json", permissions=USUAL_FILE):
            pass
    finally:
        os.umask(umask)
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert modes == {"run": 0o755, "o.json": 0o600}


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("name", ["x" * 250 + ".json", "\N{GRINNING FACE}" * 63], ids=["ascii", "beyond"])
def test_a_name_may_be_as_long_as_the_system_takes(name: str, tmp_path: Path) -> None:
    with whole_file(tmp_path / name) as file:
        file.write(b"all of it")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: b"all of it"}


@pytest.mark.usefixtures("system")
def test_nothing_is_left_of_what_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError), whole_file(tmp_path / "o.json") as file:
        file.write("no bytes")
    assert not list(tmp_path.iterdir())
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError), whole_file(tmp_path / "folder"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.usefixtures("system")
def test_what_a_killed_process_of_the_same_number_left_is_in_nobodys_way(tmp_path: Path) -> None:
    letter, left = tmp_path / "letter", tmp_path / f".o.json.{os.getpid()}.tmp"
    letter.write_text("not yours")
    left.symlink_to(letter)
    with whole_file(tmp_path / "o.json") as file:
        file.write(b"mine")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"letter": "not yours", "o.json": "mine"}
