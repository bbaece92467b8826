"""Lines of files as tasks read them: a file that is cut anywhere has each of its lines once."""

from __future__ import annotations

import gzip
import os
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zstandard import ZstdCompressor

from multilang_cli.audit.parsing import FAULT
from multilang_cli.audit.stages import file_lines
from multilang_cli.audit.stages.file_lines import (
    LEAST_UNPACKED,
    TIMES_UNPACKED,
    LineFault,
    blocks,
    packed,
    whole_file,
)
from multilang_cli.audit.stages.lines import SMALL, TASK_BYTES, _shared_out

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "file"


def cut(file: Path, start: int, end: int) -> list[bytes]:
    """Lines that begin between two bytes of a file."""
    return [line for block in blocks(str(file), start, end) for line in block.removesuffix(b"\n").split(b"\n")]


@given(st.lists(st.sampled_from([b"", b"a", b"bc\r", b"long" * 9])), st.booleans(), st.lists(st.integers(0, 99)))
def test_a_file_that_is_cut_anywhere_has_each_line_once(
    file: Path, lines: list[bytes], closed: bool, cuts: list[int]
) -> None:
    text = b"\n".join(lines) + b"\n" * closed
    file.write_bytes(text)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [cut(file, *piece) for piece in pairwise(places)]
    assert [line for piece in pieces for line in piece] == text.removesuffix(b"\n").split(b"\n") * bool(text)


def test_a_line_that_fills_pieces_is_passed_over_in_blocks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lines, "_SKIPPED", 3)
    file.write_bytes(b"x" * 50 + b"\nlast\n")
    assert [cut(file, start, start + 10) for start in (0, 10, 50, 60)] == [[b"x" * 50], [], [b"last"], []]


def test_a_file_that_is_gone_is_a_line_that_says_so(tmp_path: Path) -> None:
    (line,) = blocks(str(tmp_path / "gone"), 0, 9)
    assert line.startswith(FAULT + b"from here on the file can't be read: [Errno 2]")


def test_what_is_no_file_is_not_opened_and_says_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ndjson")
    (tmp_path / "device.ndjson").symlink_to("/dev/zero")
    for name in ("pipe.ndjson", "device.ndjson", "gone.ndjson", "a\0b.ndjson"):
        (line,) = whole_file(str(tmp_path / name))
        assert isinstance(line, LineFault)
        assert line.why.startswith("from here on the file can't be read: ")


def test_no_line_of_a_file_says_that_others_can_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "plain.ndjson"
    path.write_bytes(FAULT + b"from here on\nb\n" + FAULT)
    lines = list(whole_file(str(path)))
    assert lines == [FAULT + b"from here on", b"b", FAULT]
    assert not any(isinstance(line, LineFault) for line in lines)


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, 9), ZstdCompressor(19).compress], ids=["gz", "zst"])
def test_a_file_unpacks_to_no_more_than_its_size_allows(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    suffix = "gz" if pack(b"").startswith(b"\x1f\x8b") else "zst"
    path = tmp_path / f"bomb.{suffix}"
    path.write_bytes(pack(b"first\n" + (b"x" * 99 + b"\n") * (LEAST_UNPACKED // 50)))
    lines = list(whole_file(str(path)))
    assert lines[0] == b"first"
    assert isinstance(lines[-1], LineFault)
    assert sum(map(len, lines)) <= max(LEAST_UNPACKED, TIMES_UNPACKED * path.stat().st_size) + len(lines[-1])
    small = tmp_path / f"small{path.suffix}"
    small.write_bytes(pack((b"x" * 99 + b"\n") * 10_000))
    assert set(whole_file(str(small))) == {b"x" * 99}


def _gz(*lines: int) -> bytes:
    return gzip.compress(b"".join(b"%d\n" % line for line in lines), mtime=0)


@pytest.mark.parametrize(
    ("file", "kept", "fault"),
    [
        (_gz(1, 2) + _gz(3), 3, ""),
        (_gz(1, 2) + bytes(512) + _gz(3) + bytes(512), 3, ""),
        (_gz(1, 2, 3) + bytes(5000), 3, "more than 512 zeros"),
        (_gz(1, 2) + bytes(20_000) + _gz(3), 2, "more than 512 zeros"),
        (b"", 0, ""),
        (bytes(512), 0, "incorrect header check"),
        (_gz(1, 2, 3)[:-8] + bytes(8), 3, "incorrect data check"),
        (_gz(1, 2, 3) + b"no gzip", 3, "incorrect header check"),
        (_gz(*range(1, 5000))[:-100], 4000, "the file ends amid a frame"),
        (_gz(*range(1, 5000)).replace(_gz(*range(1, 5000))[9000:9060], b"\xff" * 60), 4000, "invalid distance"),
    ],
    ids=[
        "members",
        "zeros",
        "many zeros",
        "many zeros amid",
        "empty",
        "nothing but zeros",
        "checksum",
        "garbage",
        "cut",
        "damaged",
    ],
)
def test_all_that_can_be_unpacked_of_a_gzip_is_read(tmp_path: Path, file: bytes, kept: int, fault: str) -> None:
    (tmp_path / "made.gz").write_bytes(file)
    lines = list(packed(str(tmp_path / "made.gz")))
    told = [line for line in lines if line.startswith(FAULT)]
    assert lines[:kept] == [b"%d" % line for line in range(1, kept + 1)]
    assert [fault in line.decode() for line in told] == [True] * bool(fault)


def test_tasks_have_much_the_same_to_read(tmp_path: Path) -> None:
    for name, size in {"large": 9 * SMALL, "packed.gz": 3 * SMALL, "small": 100, "empty": 0}.items():
        with (tmp_path / name).open("wb") as made:
            made.truncate(size)
    paths = sorted(map(str, tmp_path.iterdir()))
    shares = _shared_out(paths, 2)
    assert {piece.path for share in shares for piece in share} == set(paths)
    assert [piece.end for share in shares for piece in share if piece.path.endswith(".gz")] == [None]
    sizes = [sum(piece.end - piece.start for piece in share if piece.end is not None) for share in shares]
    assert abs(sizes[0] - sizes[1]) <= 6 * SMALL
    assert len(_shared_out(paths, 1)) == 1
    with (tmp_path / "large").open("wb") as made:
        made.truncate(3 * TASK_BYTES)
    assert len(_shared_out([str(tmp_path / "large")], 1)) == 3
