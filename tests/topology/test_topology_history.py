"""The history of a run: its schema is that of its structs, and a file of it that was cut is read up to there."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest

from multilang_cli.audit.marks import marks_of_line
from multilang_cli.audit.watch.heard import heard_in_line
from multilang_cli.catalogue import schemas
from multilang_cli.protocol.storm.dialects import BigInteger
from multilang_cli.protocol.wire.encoding import ENCODER
from multilang_cli.topology.history import (
    AckerTold,
    Beat,
    DeadLettered,
    Delivered,
    Died,
    EmissionEnded,
    Emitted,
    Faulted,
    Happening,
    Launched,
    Lost,
    PhaseBegun,
    TupleSettled,
)
from multilang_cli.topology.history_file import HistoryFile, read_history

if TYPE_CHECKING:
    from pathlib import Path

BIG = -(2**63)
SAMPLES: tuple[Happening, ...] = (
    Launched(t=0.0, task=1, component="__acker", worker=0),
    Launched(t=0.1, task=2, component="split", worker=1, attempt=2, pid=4711),
    Emitted(t=1.0, n=1, task=3, stream="default", values='["a"]', message_id={"any": ["json"]}, root=BIG),
    Emitted(t=1.0, n=2, task=2, stream="default", anchors=(1, 0), direct=4),
    Emitted(t=1.0, n=3, task=3, stream="default", message_id=BigInteger(2**70), root=BIG),
    Delivered(t=1.0, n=1, emit=1, task=2, id="-17", edges={BIG: 2**63 - 1}),
    TupleSettled(t=1.5, delivery=1, how="fail"),
    AckerTold(t=1.5, task=1, what="init", root=BIG, val=0),
    EmissionEnded(t=2.0, emit=1, root=BIG, task=3, how="timed out", latency=1.0),
    Beat(t=2.0, task=2, what="answered"),
    DeadLettered(t=2.0, task=3, ids=("0:0:7:0:1",)),
    Died(t=2.0, worker=0, why="split, task 2: the process exited with code 1"),
    Died(t=2.0, worker=0, task=1, why="killed"),
    Lost(t=2.0, delivery=1, edges={BIG: 5}),
    Faulted(t=2.0, plan=0, fault="kill:split:3", phase="strikes", task=2),
    PhaseBegun(t=3.0, name="drain"),
)


def test_there_is_a_sample_of_each() -> None:
    assert {type(each) for each in SAMPLES} == set(get_args(Happening))


@pytest.mark.parametrize("kind", get_args(Happening), ids=lambda kind: kind.__name__)
def test_the_schema_has_the_fields_of_the_struct(kind: type[msgspec.Struct]) -> None:
    tag = kind.__struct_config__.tag
    defined = schemas.load("history")["$defs"][tag]
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    assert set(defined["properties"]) == fields | {"k"}
    assert set(defined["required"]) == fields | {"k"}
    assert defined["properties"]["k"]["const"] == tag


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_what_is_written_holds_to_the_schema(sample: Happening) -> None:
    plain: Any = json.loads(ENCODER.encode(sample))
    assert schemas.explain(plain, "history") == []
    assert schemas.explain({**plain, "t": -1}, "history")


@pytest.mark.parametrize(
    "line",
    [
        b'{"k":"emit","t":1.0,"n":1,"task":4,"stream":"s","root":9223372036854775808}',
        b'{"k":"deliver","t":1.0,"n":1,"emit":1,"task":2,"id":"1","edges":{"-9223372036854775809":5}}',
        b'{"k":"settle","t":1.0,"delivery":1,"how":"ack","edges":{"5":99999999999999999999}}',
        b'{"k":"outcome","t":1.0,"emit":1,"task":2147483648,"how":"acked","latency":0.1}',
        b'{"k":"launch","t":1.0,"task":-2147483649,"component":"b","worker":0}',
    ],
)
def test_a_number_that_no_table_has_room_for_is_no_history(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "history.ndjson"
    path.write_bytes(line + b"\n")
    with pytest.raises(msgspec.ValidationError, match="line 1: Expected `int`"):
        list(read_history(path))
    assert marks_of_line(line) is None
    assert heard_in_line(str(path), line) == []


def test_a_history_that_was_cut_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "history.ndjson"
    with HistoryFile(path) as history:
        for each in SAMPLES:
            history.take(each)
    assert tuple(read_history(path)) == SAMPLES
    path.write_bytes(path.read_bytes()[:-4])
    assert tuple(read_history(path)) == SAMPLES[:-1]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (b"\n", "line 901: "),
        (b'{"k":"beat"}\n', "line 901: "),
        (b'{"k":"phase","t":1.0,"name":"drain"}{"k":"phase","t":1.0,"name":"drain"}\n', "line 901: "),
        (b'{"k":"phase","t":1.0,"name":"drain"}{"k":"phase","t":1.0,"name":"drain"}\n\n', "line 901: "),
        (b'{"k":"phase",\n"t":1.0,"name":"drain"}\n', "line 901: "),
    ],
    ids=["empty", "no event", "two in one", "two in one and none", "one in two"],
)
def test_a_line_that_is_no_event_is_named_and_all_before_it_is_read(damage: bytes, why: str, tmp_path: Path) -> None:
    whole = [event for _ in range(300) for event in SAMPLES[:3]]
    path = tmp_path / "history.ndjson"
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in whole))
    assert list(read_history(path)) == whole
    path.write_bytes(path.read_bytes() + damage + msgspec.json.encode(SAMPLES[0]) + b"\n")
    events, read = read_history(path), list(islice(read_history(path), len(whole)))
    assert read == whole
    with pytest.raises(msgspec.ValidationError, match=why):
        list(events)
