"""A folder that grows by days of a topology: each audit looks at what is new, and all is as if it had been whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.audit.session import LEAST
from multilang_cli.audit.store.manifest import FOLDER
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import EVERYTHING, TreesPlan
from tests.audit.test_audit_again import audited, lay

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1500)]
SIZE = LEAST
OF_RUNS = ("marks", "roots", "rates", "replays")


def day(number: int) -> dict[str, bytes]:
    """Recordings of a day: trees with every fate, and a worker that dies."""
    plan = TreesPlan(seed=number + 9, roots=30, weights=EVERYTHING, restarts=((0.2, 1),))
    return transcripts(plan, Taps(day=number))


def in_parts(name: str, text: bytes) -> dict[str, bytes]:
    """A recording as a tap makes it that begins new files: two parts of one conversation."""
    head, *lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    again = msgspec.json.encode({**msgspec.json.decode(head), "part": 2}) + b"\n"
    end = msgspec.json.encode({"conv": msgspec.json.decode(head)["conv"], "end": {"events": {}}}) + b"\n"
    return {f"1-{name}": b"".join([head, *lines[:middle], end]), f"2-{name}": b"".join([again, *lines[middle:]])}


def without_a_line(text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    return b"".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])


def written(out: Path, number: int) -> dict[str, set[str]]:
    """By table, the runs that an audit wrote rows of: by their beginning."""
    manifest: dict[str, Any] = json.loads((out / FOLDER / f"{number:06d}.json").read_bytes())
    return {name: {run[len("made ") :][:10] for run in manifest["tables"][name][-1]["has"]} for name in OF_RUNS}


def test_each_day_is_looked_at_alone_and_all_is_as_if_it_had_been_whole(spark: SparkSession, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    first, second, third = (day(number) for number in (1, 2, 3))
    halves = [in_parts(name, text) for name, text in third.items()]
    late = min(second)
    early = max(first)

    # A file of the first day is missing, and a line of the second.
    lay(folder, [(name, text) for name, text in first.items() if name != early])
    lay(folder, second.items())
    lay(folder, [(late, without_a_line(second[late]))])
    audited(spark, folder, out)
    # The morning of the third day: its conversations go on, and so do trees.
    lay(folder, [each for half in halves for each in list(half.items())[:1]])
    morning = audited(spark, folder, out)
    lay(folder, [each for half in halves for each in list(half.items())[1:]])
    evening = audited(spark, folder, out)
    # What is settled is carried over: only the day that goes on was looked at.
    assert written(out, 3) == {name: {"2026-01-08"} for name in OF_RUNS}
    # The line that was missing comes, the file, and a day before all others.
    lay(folder, [(late, second[late]), (early, first[early]), *day(0).items()])
    after = audited(spark, folder, out)
    assert written(out, 4) == {name: {"2026-01-05", "2026-01-06", "2026-01-07"} for name in OF_RUNS}
    fresh = audited(spark, folder, tmp_path / "fresh")
    for name, found in fresh.items():
        assert after[name] == found, name
    assert morning["roots"] != evening["roots"] != after["roots"]
