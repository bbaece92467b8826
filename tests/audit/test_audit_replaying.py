"""Recordings played to another version of a component: what differs is found, with its shortest example."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from multilang_cli.audit.console.replaying import AuditReplayFlags, replay_given
from multilang_cli.replay.said import ComparisonOptions
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.subject import Subject
from multilang_cli.terminal.exits import ExitCode
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import TreesPlan
from tests.audit.test_audit_watching import FEW, SMALL
from tests.command import mlcheck
from tests.components import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

PLAN = TreesPlan(roots=40)
SPLIT = ROOT / "examples" / "python" / "split_bolt.py"


def recorded() -> dict[str, list[bytes]]:
    """The lines of what the splitting tasks of a made topology said."""
    files = transcripts(PLAN, Taps(asks=False))
    return {name: text.splitlines() for name, text in files.items() if name.startswith("split")}


def played(program: Path, lines: dict[str, list[bytes]], size: int) -> list[dict[str, Any]]:
    from multilang_cli.audit.replaying import Request  # noqa: PLC0415 (an extra)
    from multilang_cli.audit.replaying import played as play  # noqa: PLC0415

    rows = [(name, line) for name, of_one in lines.items() for line in of_one]
    table = pa.table({"conv": [name for name, _ in rows], "line": [line for _, line in rows]})
    component = Component(command=(sys.executable, str(program)), cwd=str(program.parent))
    target = Subject.of(component, RunOptions())
    found = play(iter(table.to_batches(max_chunksize=size)), Request(target, ComparisonOptions()))
    return [row for batch in found for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [7, 10_000], ids=["small-batches", "one-batch"])
def test_the_same_component_does_the_same(size: int) -> None:
    lines = recorded()
    rows = played(SPLIT, lines, size)
    assert [(row["conv"], row["differences"], row["problem"]) for row in rows] == [(name, 0, None) for name in lines]
    assert all(row["compared"] > len(lines[row["conv"]]) / 2 for row in rows)


def test_one_that_forgets_a_word_is_found_out(tmp_path: Path) -> None:
    program = tmp_path / "split_bolt.py"
    text = SPLIT.read_text(encoding="utf-8")
    changed = text.replace("for word in sentence.split():", "for word in sentence.replace('cow', '').split():")
    assert changed != text
    program.write_text(changed, encoding="utf-8")
    lines = recorded()
    rows = played(program, lines, 100)
    cows = sum(b'"ch":"out"' in line and b'["cow"]' in line for of_one in lines.values() for line in of_one)
    missing = [row for row in rows if row["change"] == "missing"]
    assert len(missing) == cows > 0
    assert all('["cow"]' in row["then"] and row["now"] is None for row in missing)
    assert sum(row["differences"] for row in rows if row["change"] is None) == len(rows) - len(lines)


def test_what_is_no_recording_is_a_problem_and_the_rest_is_played() -> None:
    lines = recorded()
    name = next(iter(lines))
    rows = played(SPLIT, {"broken": [b"no transcript"], name: lines[name]}, 100)
    assert [row["conv"] for row in rows] == ["broken", name]
    assert rows[0]["problem"]
    assert rows[1]["problem"] is None


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_on_spark_the_same_component_does_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One recording is a file, the other stands where only Hadoop finds it."""
    (here, lines), (there, more) = list(recorded().items())[:2]
    (tmp_path / "far").mkdir()
    (tmp_path / here).write_bytes(b"\n".join(lines) + b"\n")
    (tmp_path / "far" / there).write_bytes(b"\n".join(more) + b"\n")
    mounted = {"spark.hadoop.fs.viewfs.mounttable.far.link./in": (tmp_path / "far").as_uri()}
    flags = AuditReplayFlags(
        words=(str(tmp_path / here), "viewfs://far/in", sys.executable, str(SPLIT)),
        output=tmp_path / "compared",
        master="local[1]",
        spark_conf=tuple(f"{each}={value}" for each, value in (FEW | mounted).items()),
    )
    code = replay_given(flags)
    assert (code, capfd.readouterr().out) == (ExitCode.CONFORMANT, "")
    rows = pq.read_table(tmp_path / "compared").to_pylist()
    told = {(row["conv"], row["differences"], row["problem"]) for row in rows}
    assert told == {(name.removesuffix(".ndjson"), 0, None) for name in (here, there)}
    assert all(row["compared"] > 0 for row in rows)


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_from_the_command_line_what_differs_is_a_table_and_its_shortest_examples(tmp_path: Path) -> None:
    program = tmp_path / "split_bolt.py"
    text = SPLIT.read_text(encoding="utf-8")
    program.write_text(text.replace('"tuple": [word]', '"tuple": [word.replace("cow", "ox")]'), encoding="utf-8")
    lines = recorded()
    for name, of_one in lines.items():
        (tmp_path / name).write_bytes(b"\n".join(of_one) + b"\n")
    argv = ["audit", "replay", *sorted(lines), "-o", "compared", "--master", "local[1]", *SMALL, "--"]
    ran = mlcheck(*argv, sys.executable, str(program), cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (ExitCode.NOT_CONFORMANT, "")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    table = pq.read_table(tmp_path / "compared").to_pylist()
    assert {row["conv"] for row in table if row["change"] is None} == {name.removesuffix(".ndjson") for name in lines}
    differing = [row for row in table if row["change"]]
    assert sum(each["times"] for each in told) == len(differing) > 0
    for each in told:
        least = min(row["size"] for row in differing if row["change"] == each["change"])
        [row] = [row for row in differing if (row["conv"], row["seq"], row["now"], row["then"]) == (
            each["conv"], each["seq"], each["now"], each["then"])]  # fmt: skip
        assert row["size"] == least
