"""Recordings as they come: shared, in parts, cut, damaged, long; what of them stands on a page, and what is said."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.reports.html.keeping import KEPT_AROUND_FINDING, PAGE_EVENTS, EventBudget, Row, Rows, columns_of
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.read import LINES_ALONE, Happened, entries
from tests import notation
from tests.command import ROOT
from tests.pages import ACKED, TWICE, document, judged, record, recorded, section, texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind

PEAK = """\
import re, sys
from pathlib import Path
from multilang_cli.cli.dispatch import dispatch
code = dispatch(["report", sys.argv[1], "-o", "/dev/null", "--events", "200"])
assert code == 0, code
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


TUPLE = """\
> {{"id":"{n}","comp":"sentences","stream":"default","task":2,"tuple":["snow \u00e9 {n}"]}}
< {{"command":"emit","anchors":["{n}"],"tuple":["snow",{n}]}}
< {{"command":"emit","tuple":["white",{n}],"need_task_ids":{asks}}}
> [4]
"""
BEAT = """\
> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}
< {"command":"sync"}
"""
TURN = """\
> {{"command":"next","id":""}}
< {{"command":"emit","id":{n},"tuple":["a hid-den word"]}}
> [4]
< {{"command":"sync"}}
> {{"command":"{how}","id":{n}}}
< {{"command":"sync"}}
"""
TALKS: dict[str, tuple[Kind, Callable[[int], str]]] = {
    "tuples": ("bolt", lambda n: TUPLE.format(n=n, asks="true") + f'< {{"command":"ack","id":"{n}"}}\n'),
    "tuples that fail, and beats": (
        "bolt",
        lambda n: TUPLE.format(n=n, asks="false") + (BEAT if n % 7 == 0 else f'< {{"command":"fail","id":"{n}"}}\n'),
    ),
    "a breach here and there": (
        "bolt",
        lambda n: TUPLE.format(n=n, asks="false") + f'< {{"command":"ack","id":"{n // 50}"}}\n',
    ),
    "words for people": (
        "bolt",
        lambda n: (
            TUPLE.format(n=n, asks="true")
            + f'< {{"command":"log","msg":"pass-word=hunter{n}, a hid-den word"}}\n' * (n % 3)
        ),
    ),
    "large ones": ("bolt", lambda n: TUPLE.format(n="9" * (3000 if n % 40 == 0 else n % 9 + 1), asks="true")),
    "a spout": ("spout", lambda n: TURN.format(n=n, how="fail" if n % 5 == 0 else "ack")),
}


def rows(count: int, text: str = "") -> list[Row]:
    return [Row(n, n, n / 10, 1, "log", "log", text, 10, "") for n in range(count)]


def test_of_too_many_events_the_first_those_around_findings_and_the_last_are_kept() -> None:
    budget = EventBudget(events=200)
    keeper = budget.keeper([500, 505])
    for row in rows(1000):
        keeper.take(Rows.of(row))
    columns, kinds, _ = columns_of(keeper.rows())
    real = [seq for seq, kind in zip(columns.seq, columns.kind, strict=True) if kinds[kind] == "log"]
    near = list(range(500 - KEPT_AROUND_FINDING, 505 + KEPT_AROUND_FINDING + 1))
    assert real[:10] == list(range(10))
    assert [seq for seq in real if 400 <= seq <= 600] == near
    assert real[-1] == 999
    assert len(real) <= 200
    assert keeper.left_out == 1000 - len(real)
    gaps = [head for head, kind in zip(columns.head, columns.kind, strict=True) if kinds[kind] == "left-out"]
    assert sum(int(head.split()[0].replace(",", "")) for head in gaps) == keeper.left_out
    assert columns.seq == sorted(set(columns.seq))


@pytest.mark.parametrize("secret", [False, True])
@pytest.mark.parametrize("talk", TALKS)
def test_lines_that_are_read_together_stand_on_a_page_as_one_by_one(
    talk: str, secret: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, turn = TALKS[talk]
    conf = {"profile": {"conf": {"db.password": "hidden"}}} if secret else {}
    path = recorded(tmp_path / "talk.ndjson", "".join(map(turn, range(1, 300))), kind, **conf)
    # What records hides secrets; another writer may not.
    told = path.read_bytes().replace(b"pass-word", b"password").replace(b"hid-den", b"hidden")
    path.write_bytes(told.replace(b'"***"', b'"hidden"'))
    together = [document(path, events=events) for events in (PAGE_EVENTS, 300, 40)]
    assert any(isinstance(each, Happened) and len(each.events) > LINES_ALONE for each in entries(path))
    monkeypatch.setattr("multilang_cli.transcript.read.LINES_TOGETHER", 1_000_000)
    assert all(len(each.events) == 1 for each in entries(path) if isinstance(each, Happened))
    assert [document(path, events=events) for events in (PAGE_EVENTS, 300, 40)] == together


def test_conversations_share_the_room_and_the_longest_gives_way() -> None:
    budget = EventBudget(events=200)
    short, long = budget.keeper([]), budget.keeper([])
    for row in rows(50):
        short.take(Rows.of(row))
    for row in rows(1000):
        long.take(Rows.of(row))
    assert short.left_out == 0
    assert long.left_out >= 850


def test_much_text_is_too_much_as_well() -> None:
    budget = EventBudget(events=1000, text=10_000)
    keeper = budget.keeper(range(1000))
    for row in rows(1000, "x" * 100):
        keeper.take(Rows.of(row))
    kept = list(keeper.rows())
    assert sum(len(row.text) for row in kept) <= 10_000
    assert max(row.seq for row in kept) == 999


def test_a_page_of_a_long_conversation_says_what_is_left_out(tmp_path: Path) -> None:
    page = document(recorded(tmp_path / "talk.ndjson", f'{ACKED}* 500 < {{"command":"log","msg":"x"}}\n'), events=100)
    talk = section(page, "c1")
    assert "events are left out: shown are the first" in talk["note"]
    assert "left-out" in talk["kinds"]
    plot = section(page, "c1-settle")
    assert plot["series"][0]["to"] == [None]


def test_conversations_that_share_a_file(tmp_path: Path) -> None:
    one, two = (recorded(tmp_path / f"{name}.ndjson", text) for name, text in (("one", ACKED), ("two", TWICE)))
    lines = [path.read_bytes().splitlines(keepends=True) for path in (one, two)]
    both = tmp_path / "both.ndjson"
    both.write_bytes(b"".join(part for pair in zip(*lines, strict=False) for part in pair) + b"".join(lines[1][-1:]))
    page = document(both)
    found = {each["id"]: len(each["findings"]) for each in page["sections"] if each["type"] == "conversation"}
    assert found == {"c1": len(section(document(two), "c1")["findings"]), "c2": 0}


def test_a_conversation_in_several_files_is_one(tmp_path: Path) -> None:
    events = notation.parse(TWICE)
    for part, some in enumerate((events[:6], events[6:]), 1):
        record(tmp_path / f"part-{part}.ndjson", some, conv="talk", part=part)
    paths = sorted(tmp_path.glob("*.ndjson"))
    talk = section(document(*paths), "c1")
    assert talk["events"]["seq"] == [event.seq for event in events]
    assert [each["rule"] for each in talk["findings"]] == ["ack-twice"]
    assert judged(paths).subjects[0].further_parts == (str(paths[1]),)


def test_after_a_gap_nothing_is_told_of_what_was_open(tmp_path: Path) -> None:
    events = notation.parse(ACKED)
    cut = [*events[:5], Event(5, 0.55, "control", Gap("a ring that wrapped", 3)), *events[-1:]]
    page = document(record(tmp_path / "talk.ndjson", cut))
    assert "3 events are missing here: a ring that wrapped" in texts(section(page, "c1"))
    assert {each["type"] for each in page["sections"]} == {"facts", "conversation", "table", "text"}
    assert "talk: events are missing at 5 (a ring that wrapped), as it says itself" in str(section(page, "notes"))


@pytest.mark.parametrize(
    "tail", [b"\x00\xffbinary\nmore\n", b'{"transcript":"9.0","conv":"x","profile":{}}\n', b"[1]\n{}\n"]
)
def test_the_good_part_of_a_damaged_file_is_used(tail: bytes, tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", TWICE)
    whole = document(path)
    path.write_bytes(path.read_bytes() + tail)
    page = document(path)
    assert section(page, "c1") == section(whole, "c1")
    assert "talk.ndjson:" in section(page, "notes")["paragraphs"][0]


def test_what_is_damaged_is_not_called_conformant(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", ACKED)
    assert judged([path]).exit_code == 0
    path.write_bytes(path.read_bytes() + b"\x00\xff\nmore\n")
    result = judged([path])
    assert (result.exit_code, result.complete) == (6, False)
    (tmp_path / "none.ndjson").write_bytes(b"\x00\xff\nmore\n")
    assert [each.verdict for each in judged([tmp_path / "none.ndjson", path]).subjects] == ["untestable"] * 2
    with pytest.raises(TranscriptError):
        judge_transcripts([tmp_path / "none.ndjson"], load_rulebook())


def test_a_cut_recording_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", TWICE)
    path.write_bytes(path.read_bytes()[:-150])
    page = document(path)
    assert any("the recording was cut here" in each for each in section(page, "notes")["paragraphs"])
    assert section(page, "c1")["events"]["seq"]


@pytest.mark.component
def test_memory_does_not_grow_with_the_recording(tmp_path: Path) -> None:
    peaks = []
    for count in (10, 2000):
        path = tmp_path / f"{count}.ndjson"
        recorded(path, f'{ACKED}* {count} < {{"command":"log","msg":"{"x" * 20_000}"}}\n')
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)], cwd=ROOT, check=True, capture_output=True, text=True
        )
        peaks.append(int(done.stdout) * 1024)
    assert path.stat().st_size > 40_000_000
    assert peaks[1] - peaks[0] < 8_000_000


def test_a_table_of_recordings_has_no_empty_columns(tmp_path: Path) -> None:
    paths = [recorded(tmp_path / "acked.ndjson", ACKED), recorded(tmp_path / "twice.ndjson", TWICE)]
    heads = [column["name"] for column in section(document(*paths), "all")["columns"]]
    assert heads == ["verdict", "subject", "got", "rules", "seconds"]


def test_another_line_of_an_event_is_told(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", ACKED)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], lines[4].replace(b'"seq":', b'"seq": '), lines[-1]]))
    assert "another line of event 3 says something else: this one is left out" in json.dumps(document(path))


def test_a_recording_that_is_gone_is_told(tmp_path: Path) -> None:
    from multilang_cli.reports.html.page import document_of  # noqa: PLC0415

    path = recorded(tmp_path / "talk.ndjson", ACKED)
    result = judged([path])
    path.unlink()
    page = document_of(result, load_rulebook())
    assert "the recording can't be read any more" in json.dumps(texts([str(page.sections)]))


def test_the_characters_of_a_part_are_those_of_its_rows() -> None:
    rows = [Row(n, n, 0.0, 0, "tuple", "", "x" * n, n, "") for n in (3, 5, 7)]
    first, behind = Rows(rows, (0, 3, 8, 15), 0, 0, 0, 3).split(1)
    assert (first.text, behind.text) == (3, 12)
    assert Rows.of(rows[1]).text == 5
