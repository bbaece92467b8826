"""The queue between forwarding and recording: what waits is bounded, in its order, and a gap says what is missing."""

from __future__ import annotations

import json
import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multilang_cli.tap.feed import FACT, NAMES, OUT, TapRecord, Unpacker
from multilang_cli.tap.queue import RecordQueue

if TYPE_CHECKING:
    from collections.abc import Iterator

PIPE = 64 * 1024
"""Bytes that a new pipe holds."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)


def received(read: int, queue: RecordQueue) -> list[TapRecord]:
    """What comes out, with a reader that reads when it is asked to."""
    unpacker, found = Unpacker(), list[TapRecord]()
    while queue.waiting:
        queue.flush(9.0)
        found += unpacker.feed(os.read(read, PIPE))
    queue.close()
    while data := os.read(read, PIPE):
        found += unpacker.feed(data)
    return found


@given(st.lists(st.binary(max_size=5000), max_size=60))
@settings(max_examples=30, deadline=None)
def test_what_waits_comes_whole_and_in_order(pieces: list[bytes]) -> None:
    read, write = os.pipe()
    try:
        queue = RecordQueue(write)
        for number, piece in enumerate(pieces):
            queue.put(OUT, float(number), piece)
        assert received(read, queue) == [TapRecord(OUT, float(number), piece) for number, piece in enumerate(pieces)]
    finally:
        os.close(read)


@pytest.mark.long
def test_small_records_take_no_more_memory_than_the_limit(pipe: tuple[int, int]) -> None:
    read, write = pipe
    limit = 256 * 1024
    queue = RecordQueue(write, limit)
    tracemalloc.start()
    for _ in range(limit):
        queue.put(OUT, 1.0, b"x")
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 2 * limit
    *records, gap = received(read, queue)
    assert (gap.kind, gap.t) == (FACT, 9.0)
    told = json.loads(gap.data)
    assert {record.data for record in records} == {b"x"}
    assert told["left_out"] == {NAMES[OUT]: limit - len(records)}


def test_a_reader_that_is_gone_ends_the_queue_and_nothing_else(pipe: tuple[int, int]) -> None:
    read, write = pipe
    queue = RecordQueue(write)
    while not queue.waiting:
        queue.put(OUT, 1.0, b"x" * 5000)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, read)
    os.close(nowhere)
    queue.flush(2.0)
    assert (queue.fd, queue.waiting) == (None, False)
    queue.put(OUT, 3.0, b"more")
    queue.tell(3.0, "exited", code=0)
    queue.drain(3.0)
    assert not queue.waiting
