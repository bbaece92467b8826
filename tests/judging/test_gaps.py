"""What is missing in a right recording, wherever that is, is never a finding: by lint, and by the judge of an audit."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.transcript import line_order
from tests.pages import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind

_BOLT = """\
> {{"id":"{0}","comp":"sentences","stream":"default","task":2,"tuple":["snow white"]}}
< {{"command":"emit","anchors":["{0}"],"tuple":["snow",1]}}
> [4]
< {{"command":"ack","id":"{0}"}}
"""
_SPOUT = """\
> {{"command":"next"}}
< {{"command":"emit","id":"{0}","tuple":["snow",1]}}
> [4]
< {{"command":"sync"}}
> {{"command":"ack","id":"{0}"}}
< {{"command":"sync"}}
"""
_HEARTBEAT = '> {"id":"-1","comp":"__system","stream":"__heartbeat","task":-1,"tuple":[]}\n< {"command":"sync"}\n'
_DISMISSED = '! {"event": "stdin-closed"}\n! {"event": "stdout-closed"}\n! {"event": "exited", "code": 0}\n'
_KILLED = (
    '! {"event": "signalled", "signal": 15, "asks": true}\n! {"event": "stdout-closed"}\n'
    '! {"event": "exited", "signal": 15}\n'
)


def _talk(turn: str, turns: int, end: str = "") -> str:
    return "".join(f"@ {0.5 + n / 1000}\n{turn.format(n)}" for n in range(turns)) + end


RIGHT: dict[str, tuple[Kind, str]] = {
    "bolt": ("bolt", _talk(_BOLT, 3, _HEARTBEAT)),
    "bolt dismissed": ("bolt", _talk(_BOLT, 3, _DISMISSED)),
    "bolt killed": ("bolt", _talk(_BOLT, 2, _KILLED)),
    "spout": ("spout", _talk(_SPOUT, 3)),
    "spout dismissed": ("spout", _talk(_SPOUT, 2, _DISMISSED)),
}
"""Conversations in which all is right."""
_GAP = b'{"conv":"t","seq":%d,"t":1.0,"ch":"control","msg":{"event":"gap","why":"no room"}}\n'
LOSSES: dict[str, Callable[[int], list[bytes]]] = {
    "missing": lambda _: [],
    "damaged": lambda _: [b'{"conv":"t","seq":x}\n'],
    "declared": lambda seq: [_GAP % seq],
}
"""What stands in the place of lines that are lost, the first of which has that number."""


def _left(lines: list[bytes], loss: str) -> Iterator[list[bytes]]:
    """The recording without some lines that follow each other: any of them, but for the header."""
    for begin in range(1, len(lines)):
        for end in range(begin + 1, len(lines) + 1):
            yield [*lines[:begin], *LOSSES[loss](begin - 1), *lines[end:]]


def _places(lines: list[bytes]) -> Iterator[tuple[str, int, str, bytes]]:
    """Lines as the tables of an audit give them."""
    yield "t", 1, "header", lines[0]
    for line in lines[1:]:
        if b'"end"' not in line:
            yield "t", 1, "damaged" if b":x}" in line else "event", line


def _lines(path: Path, kind: Kind, talk: str) -> list[bytes]:
    return recorded(path, talk, kind, conv="t").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_missing_is_no_finding(name: str, loss: str, tmp_path: Path) -> None:
    lines = _lines(tmp_path / "whole.ndjson", *RIGHT[name])
    path = tmp_path / "t.ndjson"
    for left in _left(lines, loss):
        path.write_bytes(b"".join(left))
        judged = judge_transcripts([path], load_rulebook())
        assert [str(each) for subject in judged.subjects for each in subject.findings] == []
        assert judged.complete <= (loss == "declared" and left[-1] == lines[-1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_missing_is_no_finding_of_an_audit(name: str, loss: str, tmp_path: Path) -> None:
    for left in _left(_lines(tmp_path / "whole.ndjson", *RIGHT[name]), loss):
        rows = list(judge_lines(_places(left)))
        assert [row for row in rows if "version" not in row] == []


def test_a_death_behind_a_gap_is_found_if_storm_has_written_since(tmp_path: Path) -> None:
    lines = _lines(tmp_path / "whole.ndjson", "bolt", _talk(_BOLT, 3, '! {"event": "exited", "code": 1}\n'))
    found = []
    for begin in range(1, len(lines) - 2):
        path = tmp_path / "t.ndjson"
        path.write_bytes(b"".join([*lines[:begin], *lines[begin + 1 :]]))
        [subject] = judge_transcripts([path], load_rulebook()).subjects
        found.append([each.rule for each in subject.findings])
    # Behind the last that Storm wrote, task ids, stands an ack alone.
    assert found == [["exited"]] * (len(found) - 2) + [[], []]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_out_of_order_beyond_what_waits_is_no_finding(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_order, "WINDOW", 3)
    header, *events, end = _lines(tmp_path / "whole.ndjson", *RIGHT[name])
    path, late = tmp_path / "t.ndjson", 0
    for seed in range(100):
        Random(seed).shuffle(events)  # noqa: S311 (no secrets)
        path.write_bytes(b"".join([header, *events, end]))
        judged = judge_transcripts([path], load_rulebook())
        assert [str(each) for subject in judged.subjects for each in subject.findings] == []
        left_out = any("lines behind their place" in note for note in judged.notes)
        assert judged.complete is not left_out
        late += left_out
    assert late
