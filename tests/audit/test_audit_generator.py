"""A made recording is one that the tools read; its history is in order; a piece is the same wherever it is made."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.acking.acker import Acker
from multilang_cli.acking.messages import AckAck, AckFail, AckInit
from multilang_cli.audit import parsing
from multilang_cli.audit.marks import marks_of_line
from multilang_cli.catalogue import schemas
from multilang_cli.topology.history import TupleSettled
from multilang_cli.transcript.read import read
from tests.audit.generator.damage import Damage
from tests.audit.generator.histories import events_of, history, truth
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import EVERYTHING, VERDICTS, TreesPlan, make

if TYPE_CHECKING:
    from pathlib import Path

    from tests.audit.generator.trees import Made

PLAN = TreesPlan(roots=400, weights=EVERYTHING, restarts=((1.0, 0), (2.5, 2)))


def test_it_has_every_verdict_and_is_the_same_again() -> None:
    made = list(truth(PLAN))
    assert {each.verdict for each in made} == set(VERDICTS)
    assert make(PLAN, 137) == made[137]
    assert make(msgspec.structs.replace(PLAN, seed=2), 137) != made[137]
    ids = Counter(node.edge for each in made for node in each.nodes)
    assert max(ids.values()) == 1


def test_its_history_is_in_order_and_fits_the_schema() -> None:
    lines = [msgspec.json.encode(event) for event in history(PLAN)]
    times = [msgspec.json.decode(line)["t"] for line in lines]
    assert times == sorted(times)
    validator = schemas.validator("history")
    for line in lines[:300]:
        validator.validate(msgspec.json.decode(line))
    assert all(marks_of_line(line) is not None for line in lines)
    assert marks_of_line(lines[0][:-2]) is None


@pytest.mark.parametrize("verdict", VERDICTS)
def test_an_acker_agrees(verdict: str) -> None:
    """What the acker of this package answers is what the made spout was told, as far as an acker can tell it."""
    for each in truth(PLAN):
        if each.verdict == verdict and each.outcome is not None and each.outcome[1] != "timed out":
            assert _answers(each) == ("__ack_ack" if each.outcome[1] == "acked" else "__ack_fail"), each


def _answers(made: Made) -> str | None:
    acker, first = Acker(), made.nodes[0]
    acker.execute(AckInit(made.root, first.edge, made.task), made.emitted)
    nodes = {node.edge: place for place, node in enumerate(made.nodes)}
    for event in sorted((e for e in events_of(made) if isinstance(e, TupleSettled)), key=lambda e: e.t):
        edge = event.edges[made.root]
        made_of_it = 0
        for node in made.nodes:
            made_of_it ^= node.edge if node.parent == nodes[edge] else 0
        message = AckAck(made.root, edge ^ made_of_it) if event.how == "ack" else AckFail(made.root)
        if reply := acker.execute(message, event.t):
            return reply.stream
    return None


def test_its_transcripts_are_transcripts(tmp_path: Path) -> None:
    files = transcripts(PLAN)
    assert {"source-1-1.ndjson", "split-3-2.ndjson", "count-8-2.ndjson"} <= files.keys()
    kinds: Counter[str] = Counter()
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
        assert read(tmp_path / name).header.conv == name.removesuffix(".ndjson")
        for line in text.splitlines():
            said = parsing.parse(line)
            assert not isinstance(said, parsing.Quarantined), line
            kinds[said.kind if isinstance(said, parsing.EventRow) else type(said).__name__] += 1
    settled = sum(len(node.settles) for each in truth(PLAN) for node in each.nodes)
    assert kinds["task-ids"] == kinds["emit"] == sum(len(each.nodes) for each in truth(PLAN))
    assert kinds["ack"] + kinds["fail"] == settled + sum(each.outcome is not None for each in truth(PLAN))


def test_damage_befalls_lines_but_those_that_open_and_end_a_file() -> None:
    whole = transcripts(PLAN)
    damage = Damage(lost=0.02, doubled=0.02, swapped=0.02, packed=(1,), cut=(3,), twice=(5,))
    hurt = transcripts(PLAN, Taps(damage=damage))
    assert hurt == transcripts(PLAN, Taps(damage=damage))
    lost = doubled = swapped = 0
    for name, file in whole.items():
        if name.startswith(("source-1", "split-3", "split-5")):
            continue
        lines, found = file.splitlines(), hurt[name].splitlines()
        assert (lines[:3], lines[-1]) == (found[:3], found[-1])
        lost += len(set(lines) - set(found))
        doubled += len(found) - len(set(found))
        places = [lines.index(line) for line in dict.fromkeys(found)]
        swapped += sum(one > two for one, two in pairwise(places))
    assert min(lost, doubled, swapped) > 10
    with pytest.raises(gzip.BadGzipFile, match="CRC"):
        gzip.decompress(hurt["source-1-1.ndjson.gz"])
    last = max(name for name in hurt if name.startswith("split-3"))
    assert not hurt[last].endswith(b"\n")
    assert hurt["split-5-1-beside.ndjson"] == whole["split-5-1.ndjson"].replace(b'"split-5-1"', b'"split-5-1-beside"')
