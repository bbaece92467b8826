"""What the judge remembers of settled ids: all of the last ones exactly, in little memory, and it can be saved."""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from multilang_cli.protocol.judge import state
from multilang_cli.protocol.judge.state import (
    PACKED_TOGETHER,
    REMEMBERED,
    Remembered,
    State,
    from_plain,
    to_plain,
)

MANY = REMEMBERED + 2 * PACKED_TOGETHER + PACKED_TOGETHER // 2
BYTES_AN_ID = 40


@pytest.fixture(scope="module")
def ids() -> list[str]:
    bits = Random(9).getrandbits  # noqa: S311
    return [str(bits(64) - (1 << 63)) for _ in range(MANY)]


@pytest.fixture(scope="module")
def memory(ids: list[str]) -> Remembered:
    found = Remembered()
    for seq, each in enumerate(ids):
        found.add(each, seq)
    return found


def test_the_last_ids_are_remembered_and_the_first_are_not(memory: Remembered, ids: list[str]) -> None:
    window = range(MANY - REMEMBERED, MANY)
    assert all(memory.get(ids[seq]) == seq for seq in [window[0], *window[:: PACKED_TOGETHER - 1], window[-1]])
    assert memory.get(ids[0]) is None
    assert {ids[seq] for seq in window} <= memory.keys() <= {*ids[MANY - REMEMBERED - PACKED_TOGETHER :]}


def test_it_takes_the_memory_of_its_text(memory: Remembered) -> None:
    assert sum(map(len, memory.packed)) <= REMEMBERED * BYTES_AN_ID
    assert len(memory.young) < PACKED_TOGETHER


def test_it_is_the_same_when_it_was_saved(memory: Remembered, ids: list[str]) -> None:
    again = msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(memory))), Remembered)
    assert again == memory
    assert again.get(ids[-REMEMBERED]) == MANY - REMEMBERED


@pytest.mark.parametrize("together", [7, 1000, 3 * PACKED_TOGETHER, MANY])
def test_it_is_the_same_where_many_are_added_together(memory: Remembered, ids: list[str], together: int) -> None:
    found = Remembered()
    for begin in range(0, MANY, together):
        found.young.update((ids[seq], seq) for seq in range(begin, min(MANY, begin + together)))
        found.pack()
    assert found == memory


def test_looking_up_reads_what_is_packed_once(
    memory: Remembered, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def loads(text: str) -> Any:
        read.append(text)
        return json.loads(text)

    state._index_of.cache_clear()
    monkeypatch.setattr(state, "json", SimpleNamespace(loads=loads))
    assert [memory.get(id_) for id_ in ("unknown", *ids[-REMEMBERED : -REMEMBERED + 100])].count(None) == 1
    assert memory.get("unknown too") is None
    assert len(read) == len(memory.packed)


@pytest.mark.parametrize("packed", ["x", "[1]", '{"a":"b"}', '{"a":1e400}', '{"a":-1}', f'{{"a":{2**63}}}', "[" * 9999])
@pytest.mark.parametrize("name", ["settled", "heartbeat_ids", "undeclared"])
def test_ids_that_are_none_are_refused(name: str, packed: str) -> None:
    plain = to_plain(State())
    plain[name]["packed"] = [packed]
    with pytest.raises(msgspec.ValidationError):
        from_plain(plain)


@pytest.mark.parametrize("id_", ['a "quoted": 1', "\\", "", "snow white \u767d", "\ud800"])
def test_any_text_may_be_an_id(id_: str) -> None:
    memory = Remembered()
    memory.add(id_, 7)
    for seq in range(PACKED_TOGETHER):
        memory.add(f"x{id_}{seq}", seq)
    assert len(memory.packed) == 1
    assert memory.get(id_) == 7
    assert memory.get(id_ + "0") is None


def test_many_at_a_time_are_remembered_as_each_alone(memory: Remembered, ids: list[str]) -> None:
    together = Remembered()
    for seq in range(0, MANY, PACKED_TOGETHER // 4):
        together.young.update({each: at for at, each in enumerate(ids[seq : seq + PACKED_TOGETHER // 4], seq)})
        together.pack()
    assert together == memory


def test_what_is_remembered_twice_is_remembered_as_it_was_last() -> None:
    memory = Remembered()
    for seq in range(2 * PACKED_TOGETHER):
        memory.add("again" if seq in {5, PACKED_TOGETHER + 5} else str(seq), seq)
    assert memory.get("again") == PACKED_TOGETHER + 5
