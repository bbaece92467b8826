"""Rows of the table events: whatever a component wrote, a column can hold what is made of it."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.parsing import EventRow, HeaderRow, Quarantined, parse
from multilang_cli.audit.tables import EVENTS
from tests.pages import TWICE, recorded

if TYPE_CHECKING:
    from pathlib import Path

BEYOND = 2**70
TYPES = {field.name: field.type for field in arrow_schema(EVENTS.columns)}


def line(raw: bytes, channel: str = "out", seq: int = 1) -> bytes:
    return json.dumps(
        {"conv": "c", "seq": seq, "t": 0.5, "ch": channel, "raw64": b64encode(raw + b"\nend\n").decode()}
    ).encode()


@pytest.mark.long
@pytest.mark.parametrize(
    ("raw", "channel", "expected"),
    [
        (rb'{"command":"log","msg":"a \ud800"}', "out", {"says": "a ?"}),
        (rb'{"command":"ack","id":"\udfff"}', "out", {"id": "?"}),
        (
            rb'{"command":"emit","id":"\ud800","tuple":["\ud83d\ude00\ud800"]}',
            "out",
            {"values": '["😀?"]', "id": '"?"'},
        ),
        (rb'{"command":"emit","anchors":["\ud800"],"tuple":[],"stream":"\ud800"}', "out", {"stream": "?"}),
        (b'{"command":"emit","task":%d,"tuple":[1]}' % BEYOND, "out", {"task": None, "values": "[1]"}),
        (b'{"command":"emit","task":%d,"tuple":[1]}' % (2**31), "out", {"task": None}),
        (b"[4,%d]" % (2**31), "in", {"tasks": None}),
        (b"[4,5]", "in", {"tasks": (4, 5)}),
    ],
)
def test_what_a_column_can_not_hold_is_left_out(raw: bytes, channel: str, expected: dict[str, object]) -> None:
    row = parse(line(raw, channel))
    assert isinstance(row, EventRow)
    assert {name: getattr(row, name) for name in expected} == expected
    for name in row.__struct_fields__:
        pa.array([getattr(row, name)], TYPES[name])


def test_numbers_that_no_recorder_wrote_are_quarantined(tmp_path: Path) -> None:
    assert isinstance(parse(line(b"[4]", "in", seq=BEYOND)), Quarantined)
    header = json.loads(recorded(tmp_path / "t.ndjson", TWICE).read_bytes().splitlines()[0])
    assert isinstance(parse(json.dumps(header).encode()), HeaderRow)
    assert isinstance(parse(json.dumps({**header, "part": BEYOND}).encode()), Quarantined)
