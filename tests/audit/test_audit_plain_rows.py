"""Rows of lines that are read together are those of lines read one by one, whatever stands in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from multilang_cli.audit.outline import Finder, Piece
from multilang_cli.audit.parsing import EventRow, parse
from multilang_cli.audit.stages import events
from multilang_cli.audit.stages.plain_rows import plain_rows
from multilang_cli.catalogue.loader import load_rules
from multilang_cli.protocol.wire.encoding import decode, decode_lines
from tests import notation
from tests.pages import record

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind

PLAIN = [
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"id":"7","comp":"s","stream":"default","task":2,"tuple":[1,"a"]}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"id":"7","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":[4,5]}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"emit","anchors":["7"],"tuple":["\xc3\xa4",1.5]}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"emit","id":7,"tuple":[],"need_task_ids":false}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"log","msg":"a","level":2}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"ack","id":"7"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"fail","id":"7"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"sync"}}',
]
SPOUT = [
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"command":"next"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"id":[1],"command":"ack"}}',
    *PLAIN[2:],
]
ODD = [
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"err","raw64":"YQ=="}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"process","msg":{"fact":"exited","code":1}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","raw64":"eyJjb21tYW5kIjoic3luYyJ9CmVuZAo="}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"pid":7}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"sync","command":"ack"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"emit","task":4294967296,"tuple":[]}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"emit","tuple":["\\ud800"]}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"metrics","name":"m","params":1}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"unheard"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":[1.0]}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":[4294967296]}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"command":"unheard"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"conf":{},"pidDir":"","context":{}}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"in","msg":{"command":"next","comp":"","id":"","stream":"","task":1,"tuple":[]}}',
    b'{"conv":"","seq":%d,"t":0.5,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":%d,"t":-1,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"sync"}} trailing',
    b"{'conv':'c','seq':%d,'t':0.5,'ch':'out','msg':{'command':'sync'}}",
    b'{"conv":"c","seq":%d,"t":NaN,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":%d000000000000000000000,"t":0.5,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":"%d","t":0.5,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":1,"seq":%d,"t":0.5,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":1.0e%d,"t":0.5,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c\xff","seq":%d,"t":0.5,"ch":"out","msg":{"command":"sync"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"log","msg":"\xff"}}',
    b'{"conv":"c","seq":%d,"t":0.5,"ch":"out",\r"msg":{"command":"sync"}}',
    b"",
    b"junk",
]
TALKS = [(rule, talk) for rule in load_rules().values() for talk in (rule.good, rule.bad)]


def numbered(lines: list[bytes]) -> list[bytes]:
    return [line % seq if b"%d" in line else line for seq, line in enumerate(lines, 3)]


def sorted_out(lines: list[bytes]) -> tuple[list[tuple[object, ...]], list[tuple[int, str]]]:
    """Rows and reasons, as the stage makes them; each line is of one conversation that began before."""
    found = events._sorted_out(lines, 5, Finder({"c": [Piece(1, "c", 1, "")]}))
    return found.rows, found.bad


def expected(lines: list[bytes]) -> list[tuple[object, ...]]:
    """The rows of lines that are read one by one, but of those whose conversation has not begun."""
    said = map(parse, lines)
    return [astuple(each) for each in said if isinstance(each, EventRow) and each.conv == "c"]


@pytest.mark.parametrize("of", [PLAIN, SPOUT], ids=["bolt", "spout"])
def test_plain_lines_are_read_together(of: list[bytes]) -> None:
    lines = numbered(of * 3)
    assert plain_rows(lines) == expected(lines)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("of", [PLAIN, SPOUT], ids=["bolt", "spout"])
def test_a_line_that_is_odd_changes_no_other(odd: bytes, of: list[bytes]) -> None:
    lines = numbered([*of, odd, *of])
    rows, bad = sorted_out(lines)
    assert rows == expected(lines)
    assert len(rows) + len(bad) == len(lines)
    together = plain_rows(lines)
    assert together is None or together == rows


@pytest.mark.long
@given(st.lists(st.sampled_from([*PLAIN, *SPOUT, *ODD]), max_size=40))
def test_any_lines_make_the_same_rows(some: list[bytes]) -> None:
    lines = numbered(some)
    assert sorted_out(lines)[0] == expected(lines)


@pytest.mark.long
def test_the_conversations_of_all_rules_make_the_same_rows(tmp_path: Path) -> None:
    together = 0
    for number, (rule, talk) in enumerate(TALKS):
        kind: Kind = "spout" if rule.kind == "spout" else "bolt"
        path = record(tmp_path / f"{number}.ndjson", notation.parse(talk), kind, conv="c")
        lines = path.read_bytes().splitlines()
        rows, _ = sorted_out(lines)
        assert rows == expected(lines)
        for at in range(len(lines)):
            if found := plain_rows(lines[at : at + events.LEAST_TOGETHER]):
                together += 1
                assert found == expected(lines[at : at + events.LEAST_TOGETHER])
    assert together > 100


@pytest.mark.parametrize("together", [4, 27, 512])
def test_lines_that_were_read_together_are_known_when_they_come_again(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "TOGETHER", together)
    lines = numbered(PLAIN * 3)
    rows, bad = sorted_out([*lines, *lines[4:6], *lines])
    assert rows == expected(lines)
    again = [*range(4, 6), *range(len(lines))]
    assert [why for _, why in bad] == [f"a second copy of line {5 + place} of 'c'" for place in again]


def test_a_line_that_says_something_else_of_an_event_is_none_and_a_mark_of_it_is() -> None:
    lines = numbered(PLAIN)
    mark = b'{"conv":"c","seq":8,"t":0.5,"ch":"control","msg":{"event":"redacted","seq_redacted":8,"keys":["a"]}}'
    other = lines[5].replace(b'"t":', b'"t": ')
    rows, bad = sorted_out([*lines, mark, other, mark, lines[5]])
    assert rows == expected([*lines, mark])
    assert [why for _, why in bad] == [
        "line 10 says something else of event 8 of 'c'",
        f"a second copy of line {5 + len(lines)} of 'c'",
        "a second copy of line 10 of 'c'",
    ]


@pytest.mark.parametrize(
    "text",
    [b'{"command":"next","id":""}', b'{"id":"\\u00e4","command":"fail"}', b'{"command":"NEXT"}', b'{"command":1}',
     b'{"command":"next","\\u0074uple":[],"comp":"","id":"","stream":"","task":1}', b'{"command":"ack"}', b"[]"],
)  # fmt: skip
def test_commands_that_are_read_together_are_read_alike(text: bytes) -> None:
    lines = [b'{"command":"next"}', text, b"[1]"]
    assert decode_lines(b"\n".join(lines)) == list(map(decode, lines))


@pytest.mark.long
def test_large_values_are_read_alike() -> None:
    large = b'{"conv":"c","seq":%d,"t":0.5,"ch":"out","msg":{"command":"emit","tuple":[[' + b"1," * 2**19 + b"1]]}}"
    lines = numbered([*PLAIN, large, *PLAIN])
    assert sorted_out(lines)[0] == expected(lines)


def test_columns_hold_what_is_read_together() -> None:
    lines = numbered([*PLAIN, *SPOUT])
    batch = events._events_of(
        events._sorted_out(lines, 5, Finder({"c": [Piece(1, "c", 1, "")]})), "f", pa.array(lines), 5
    )
    assert batch["line"].to_pylist() == list(range(5, 5 + len(lines)))
    assert json.loads(batch["values"][3].as_py()) == ["ä", 1.5]
