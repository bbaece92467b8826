"""Channels are aligned one at a time, however their rows were cut into batches on their way."""

from __future__ import annotations

import pyarrow as pa
import pytest

from multilang_cli.audit.aligning import align
from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.stages.channels import SIDES, align_channels

_ROW = {"n": 0, "gap": False, "at": 0.0, "target": 4, "id": "1"}


def _sides() -> pa.RecordBatch:
    """Three channels; of the second what was emitted first is lost, the third got what nobody emitted."""
    sent = {1: [11, 12, 13], 2: [21, 22], 3: [31]}
    got = {1: [11, 12, 13], 2: [22], 3: [39]}
    rows = []
    for channel, hashes_sent in sent.items():
        for is_got, hashes in ((False, hashes_sent), (True, got[channel])):
            for seq, each in enumerate(hashes):
                key = each + 100 * is_got
                rows.append(
                    _ROW | {"channel": channel, "got": is_got, "seq": seq, "hash": each, "emission": key, "edge": key}
                )
    return pa.RecordBatch.from_pylist(rows, arrow_schema(SIDES))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_channels_are_aligned_however_their_rows_are_cut(size: int) -> None:
    rows = _sides()
    batches = [rows.slice(begin, size) for begin in range(0, len(rows), size)]
    found = pa.Table.from_batches(align_channels(iter(batches)))
    edges = dict(zip(found["emission"].to_pylist(), found["edge"].to_pylist(), strict=True))
    assert edges == {11: 111, 12: 112, 13: 113, 21: 21, 22: 122, 31: 31}


def test_a_partition_without_channels_has_no_pairs() -> None:
    assert list(align_channels(iter([]))) == []
    assert list(align_channels(iter([_sides().slice(0, 0)]))) == []


@pytest.mark.parametrize("gap", [False, True])
def test_what_was_emitted_and_got_alike_is_aligned_as_python_would(gap: bool) -> None:
    hashes = [7, 7, 8, 7, 7]
    rows = [
        _ROW | {"channel": 1, "got": is_got, "seq": seq, "hash": each, "emission": seq, "edge": seq, "gap": gap}
        for is_got in (False, True)
        for seq, each in enumerate(hashes)
    ]
    [found] = align_channels(iter([pa.RecordBatch.from_pylist(rows, arrow_schema(SIDES))]))
    pairs = align(hashes, hashes, whole=not gap).pairs
    assert found["doubt"].to_pylist() == [pair.doubt for pair in pairs]
    assert found["edge"].to_pylist() == [pair.got for pair in pairs]
    assert found["later"].to_pylist() == [False] * len(hashes)
