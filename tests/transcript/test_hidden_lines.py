"""Lines of a recording that are copied elsewhere hold nothing that was declared, and are lines of it still."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.transcript.given import GIVEN, NO_SECRETS
from multilang_cli.transcript.hidden_lines import LineRedactor
from multilang_cli.transcript.read import Cut, Damaged, Happened, entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROFILE = {"kind": "bolt", "task": 3, "component": "b", "storm": "2.8.3", "conf": {"my.pin": "zebra-crossing"}}
HEADER = {"transcript": "1.9", "conv": "c", "profile": PROFILE, "argv": ["b", "--customer=Quick-4711"]}
SHAKE = {"conf": PROFILE["conf"], "context": {}, "pidDir": "/p"}
NOTED = "met customer=Quick-4711"
SAID: tuple[tuple[str, Any], ...] = (
    ("in", SHAKE),
    ("out", {"pid": 7}),
    ("in", {"id": "Quick-4711", "comp": "s", "stream": "default", "task": 1, "tuple": [NOTED, "zebra-crossing"]}),
    ("out", {"command": "log", "msg": NOTED}),
    ("out", {"command": "emit", "tuple": ["plain", 4711471147], "anchors": ["Quick-4711"], "need_task_ids": False}),
    ("out", {"command": "ack", "id": "Quick-4711"}),
    ("process", {"event": "started", "pid": 7, "argv": ["b", "--customer=Quick-4711"]}),
    ("process", {"event": "of a newer format", "says": [NOTED]}),
)
RAW64 = "bWV0IGN1c3RvbWVyPVF1aWNrLTQ3MTEK"
"""Of "met customer=Quick-4711"."""


@pytest.fixture
def declared() -> Iterator[None]:
    with GIVEN.while_open():
        GIVEN.add(patterns=["customer=(\\S+)", "4711471147"], names=["^my[.]pin$"])
        yield


def recorded() -> list[bytes]:
    lines = [HEADER, *({"conv": "c", "seq": seq, "t": 0.1, "ch": ch, "msg": msg} for seq, (ch, msg) in enumerate(SAID))]
    lines.append({"conv": "c", "seq": len(SAID), "t": 0.2, "ch": "err", "raw64": RAW64})
    lines.append({"conv": "c", "end": {"events": {"in": 2, "out": 4, "process": 2, "err": 1}, "bytes": {}}})
    return [json.dumps(line, separators=(",", ":")).encode() for line in lines]


@pytest.mark.usefixtures("declared")
def test_lines_are_without_what_was_declared_and_can_be_read(tmp_path: Path) -> None:
    redactor = LineRedactor()
    hidden = [redactor.line(line) for line in recorded()]
    text = b"\n".join(hidden)
    assert b"customer=Quick" not in text
    assert RAW64.encode() not in text
    assert not [word for word in (b"zebra", b"4711471147") if word in text]
    # Ids are what the protocol hangs on.
    assert text.count(b'"id":"Quick-4711"') == 2
    same = [number for number, (line, was) in enumerate(zip(hidden, recorded(), strict=True)) if line == was]
    assert same == [2, 6, 10]
    path = tmp_path / "c.ndjson"
    path.write_bytes(text + b"\n")
    found = list(entries(path))
    assert not [entry for entry in found if isinstance(entry, Cut | Damaged)]
    events = [event for entry in found if isinstance(entry, Happened) for event in entry.events]
    assert [event.seq for event in events] == [0, 1, 2, 3, 4, 5, 6, 8]


def test_lines_stay_as_they_are_where_nothing_was_declared() -> None:
    redactor = LineRedactor()
    lines = [line for line in recorded() if b"argv" not in line]
    assert [redactor.line(line) for line in lines] == lines


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(
    "line", [b"customer=Quick-4711", b'{"conv":"c","seq":1,"ch":"customer=Quick-4711"}', b"[" * 99]
)
def test_what_is_no_line_of_a_recording_is_hidden_as_a_text(line: bytes) -> None:
    assert b"Quick" not in LineRedactor().line(line)


@pytest.mark.usefixtures("declared")
def test_another_process_hides_the_same() -> None:
    told = GIVEN.told()
    GIVEN.take(NO_SECRETS)
    assert LineRedactor().line(recorded()[4]) == recorded()[4]
    GIVEN.take(told)
    assert b"Quick" not in LineRedactor().line(recorded()[4])
