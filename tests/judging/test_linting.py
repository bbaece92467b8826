"""Judging recordings: what they do not hold, and which file a conversation came from."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from multilang_cli.catalogue.judging import schema_fault, values_check
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.judging import linting
from multilang_cli.judging.linting import MOST_NOTES, judge_transcripts, lint_result
from multilang_cli.protocol.words.events import Chunk, Event, Exited
from multilang_cli.protocol.words.messages import Handshake, Pid
from multilang_cli.recordings import judged as judged_recordings
from multilang_cli.transcript.format import Header, TranscriptError
from multilang_cli.transcript.write import TranscriptWriter
from tests.command import ROOT, mlcheck, refusal
from tests.pages import TWICE, recorded

HANDSHAKE = Event(0, 0.0, "in", Handshake({}, "/pids", {}), b'{"conf":{},"pidDir":"/pids","context":{}}\nend\n')
PID = Event(1, 0.1, "out", Pid(7), b'{"pid":7}\nend\n')


def record(path: Path, events: list[Event]) -> Path:
    with TranscriptWriter(path, Header(conv=path.stem, profile=example_profile("bolt"))) as writer:
        for event in events:
            writer.write(event)
    return path


def test_a_recording_of_nothing_is_inconclusive(tmp_path: Path) -> None:
    path = record(tmp_path / "empty.ndjson", [])
    result = lint_result(judge_transcripts([path], load_rulebook()), strict=False)
    assert [(subject.verdict, subject.reason) for subject in result.subjects] == [
        ("untestable", "the recording holds nothing that the component said")
    ]
    assert result.exit_code == 6


def test_each_conversation_names_its_own_file(tmp_path: Path) -> None:
    paths = [record(tmp_path / f"{name}.ndjson", [HANDSHAKE, PID]) for name in ("one", "two")]
    result = lint_result(judge_transcripts(paths, load_rulebook()), strict=False)
    assert [(subject.id, subject.transcript) for subject in result.subjects] == [
        ("one", str(paths[0])),
        ("two", str(paths[1])),
    ]
    assert result.exit_code == 0


def event_line(number: int, channel: str, message: str) -> str:
    return f'{{"conv":"t","seq":{number},"t":{number}.0,"ch":"{channel}","msg":{message}}}\n'


def test_what_can_be_read_is_judged_and_the_rest_is_named(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    *lines, end = path.read_text(encoding="utf-8").splitlines(keepends=True)
    ack = event_line(5, "out", '{"command":"ack"}')
    path.write_text("".join([*lines, "junk\n", "more junk\n", ack, end]), encoding="utf-8")
    (tmp_path / "junk").write_bytes(b"\xff")
    judged = judge_transcripts([tmp_path / "junk", path], load_rulebook())
    assert [f.rule for subject in judged.subjects for f in subject.findings] == ["settle-id-missing"]
    places = [note.partition(": ")[0] for note in judged.notes]
    assert places == [f"{path}:4", f"{path}:5", f"{tmp_path / 'junk'}:1"]


def test_behind_a_damaged_line_rules_that_need_the_past_are_silent(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]
    ack = event_line(2, "out", '{"command":"ack","id":"7"}')
    for between, found in (("", ["ack-unknown"]), ('{"conv":"t","seq":2,"t":1,"ch":"in","msg":{"id":"7\n', [])):
        path.write_text("".join([*lines, between, ack]), encoding="utf-8")
        judged = judge_transcripts([path], load_rulebook())
        assert [f.rule for subject in judged.subjects for f in subject.findings] == found


@pytest.mark.parametrize(
    ("lost", "why"),
    [
        (1, "event 0 is missing before it"),
        (4, "event 3 is missing before it"),
        (-2, "its end tells of 9 events, and there are 8"),
    ],
)
def test_a_line_that_is_gone_is_no_silence(lost: int, why: str, tmp_path: Path) -> None:
    """Its place is a gap: a bad component is not passed, and a good one is not blamed."""
    path = recorded(tmp_path / "t.ndjson", TWICE)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    del lines[lost]
    path.write_text("".join(lines), encoding="utf-8")
    judged = judge_transcripts([path], load_rulebook())
    [note] = judged.notes
    byte = sum(map(len, lines[: lost if lost > 0 else -1]))
    assert note.rpartition(f"{path}:")[2].partition(": ")[2] == f"{why} (from byte {byte} on)"
    assert judged.subjects[0].verdict != "pass"
    assert not judged.complete


def rewrite(path: Path, damage: str) -> None:
    """Damage a recording as told."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    packed = gzip.compress(data)
    path.write_bytes(
        {
            "no end": b"".join(lines[:-1]),
            "cut": data[:-9],
            "cut before the end line": b"".join(lines[:-1])[:-9],
            "zeros behind": data + bytes(5000),
            "zeros behind gzip": packed + bytes(5000),
            "crc": packed[:-8] + bytes(4) + packed[-4:],
            "gzip cut": packed[:-8],
            "not utf-8 behind": data + b"\xff\n",
            "zeros in the last line": data[:-7] + bytes(7),
            "nested": data + b'{"conv":"t","seq":99,"t":1,"ch":"in","msg":' + b"[" * 5000 + b"\n",
        }[damage]
    )


DAMAGES = [
    "no end",
    "cut",
    "cut before the end line",
    "zeros behind",
    "zeros behind gzip",
    "crc",
    "gzip cut",
    "not utf-8 behind",
    "nested",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_recording_is_never_a_pass(damage: str, tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    rewrite(path, damage)
    result = lint_result(judge_transcripts([path], load_rulebook()), strict=False)
    assert (result.exit_code, result.complete) == (6, False)
    assert [subject.verdict for subject in result.subjects] == ["untestable"]
    assert re.search("from byte [0-9]+ on", result.subjects[0].reason)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_found_before_the_damage_still_counts(damage: str, tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.ndjson", f'{TWICE}< {{"command":"ack"}}\n> {{"command":"next"}}\n')
    rewrite(path, damage)
    result = lint_result(judge_transcripts([path], load_rulebook()), strict=False)
    assert (result.exit_code, result.complete) == (1, False)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("no end", 0),
        ("cut", 0),
        ("crc", 6),
        ("not utf-8 behind", 6),
        ("zeros behind", 6),
        ("zeros in the last line", 6),
    ],
)
def test_only_the_end_may_be_open(damage: str, code: int, tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    rewrite(path, damage)
    result = lint_result(judge_transcripts([path], load_rulebook(), open_ended=True), strict=False)
    assert (result.exit_code, result.complete) == (code, code == 0)


def test_a_file_without_a_conversation_is_a_subject_beside_others(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    (tmp_path / "junk").write_bytes(b"\xff")
    result = lint_result(judge_transcripts([path, tmp_path / "junk"], load_rulebook()), strict=False)
    assert [subject.verdict for subject in result.subjects] == ["pass", "untestable"]
    assert result.exit_code == 6


def test_a_line_that_stands_twice_is_one(tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.ndjson", TWICE)
    once = judge_transcripts([path], load_rulebook())
    header, *events, end = path.read_bytes().splitlines(keepends=True)
    for again in ([line for line in events for _ in "ab"], [*events, *events]):
        path.write_bytes(b"".join([header, *again, end]))
        twice = judge_transcripts([path], load_rulebook())
        assert (twice.complete, twice.notes) == (once.complete, ("t: 9 lines stand twice; each counts once",))
        assert twice.subjects[0].findings == once.subjects[0].findings


@pytest.mark.component
@pytest.mark.parametrize("damage", DAMAGES)
def test_lint_and_promote_say_the_same_of_a_damaged_recording(damage: str, tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    rewrite(path, damage)
    for command in (["lint"], ["promote"], ["diff", str(path)], ["shrink"]):
        ran = mlcheck(*command, str(path), cwd=tmp_path)
        assert ran.returncode == 6, (command, ran)
        assert "SAME" not in ran.stdout
        assert "passed" not in ran.stdout
        assert "Traceback" not in ran.stderr
        assert re.search("byte [0-9]+", " ".join((ran.stdout + ran.stderr).split()))
    ran = mlcheck("report", str(path), "-o", "page.html", cwd=tmp_path)
    assert ran.returncode == 0
    assert re.fullmatch(r"page\.html: inconclusive: .*from byte [0-9]+ on.*\n", ran.stderr)


GAP = '{{"conv":"t","seq":{},"t":1,"ch":"control","msg":{{"event":"gap","why":"the disk was full"}}}}\n'


def test_gaps_that_the_recording_tells_of_are_told_and_no_damage(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    lines = path.read_text().splitlines(keepends=True)[:-1]
    for more, told in ((1, ""), (3, ", and there are 2 gaps more")):
        end = f'{{"conv":"t","end":{{"events":{{"in":{len(lines) - 1 + more}}}}}}}\n'
        path.write_text("".join([*lines, *(GAP.format(20 + at) for at in range(more)), end]))
        judged = judge_transcripts([path], load_rulebook())
        why = f"t: events are missing at 20 (the disk was full), as it says itself{told}; what needs them is not judged"
        assert (judged.complete, judged.subjects[0].verdict, judged.notes) == (True, "pass", (why,))


def test_what_is_known_of_a_message_never_takes_its_place_in_what_is_shown(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    lines = path.read_text().splitlines(keepends=True)[:-1]
    mark = event_line(2, "control", '{"event":"redacted","seq_redacted":2,"keys":["password"]}')
    path.write_text("".join([*lines, event_line(2, "out", '{"command":"ack","id":"******"}'), mark]))
    (subject,) = judge_transcripts([path], load_rulebook(), open_ended=True).subjects
    assert [(line.text, line.note) for line in subject.excerpt if line.mark] == [
        ('{"command":"ack","id":"******"}', "ack of an id that Storm never sent")
    ]


def test_of_many_damaged_lines_the_number_is_told(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    with path.open("a", encoding="utf-8") as file:
        file.write("{}\n" * (MOST_NOTES + 5))
    notes = judge_transcripts([path], load_rulebook()).notes
    assert len(notes) == MOST_NOTES + 1
    assert notes[-1] == "5 more lines can't be read"


def without_the_last(lines: list[str]) -> str:
    """The end line of a transcript as it was before its last event."""
    last, end = json.loads(lines[-2]), json.loads(lines[-1])
    end["end"]["events"][last["ch"]] -= 1
    return json.dumps(end) + "\n"


def test_who_was_suspended_goes_on_as_if_it_had_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three conversations in turn: a few lines of it, its end as if that were all, and later the rest."""
    thrice = f'{TWICE}< {{"command":"ack","id":"7"}}\n'
    texts = [recorded(tmp_path / f"{name}.ndjson", thrice).read_text(encoding="utf-8") for name in "abc"]
    talks = [text.splitlines(keepends=True) for text in texts]
    mixed = [line for lines in talks for line in [*lines[:-2], without_the_last(lines)]]
    mixed += [line for lines in talks for line in lines[-2:]]
    (tmp_path / "mixed").write_text("".join(mixed), encoding="utf-8")
    monkeypatch.setattr(linting, "MOST_IN_MEMORY", 1)
    judged = judge_transcripts([tmp_path / "mixed"], load_rulebook())
    apart = judge_transcripts([tmp_path / f"{name}.ndjson" for name in "abc"], load_rulebook())
    assert [(s.findings, s.outlook, s.exit) for s in judged.subjects] == [
        (s.findings, s.outlook, s.exit) for s in apart.subjects
    ]
    assert all(subject.excerpt for subject in judged.subjects)
    assert judged.notes == ()


def test_a_recording_without_its_first_parts_says_so(tmp_path: Path) -> None:
    """Nothing wrong in the last part does not mean that nothing was wrong."""
    for part, notes in ((1, ()), (2, ("talk: it begins in the middle; what was found before is not told here",))):
        path = recorded(tmp_path / f"{part}.ndjson", TWICE, conv="talk", part=part)
        if part > 1:
            later = re.sub(r'"seq":(\d+)', lambda seq: f'"seq":{int(seq[1]) + 9}', path.read_text(encoding="utf-8"))
            path.write_text(later, encoding="utf-8")
        assert judge_transcripts([path], load_rulebook()).notes == notes


@pytest.mark.component
def test_of_many_conversations_those_with_findings_are_shown(tmp_path: Path) -> None:
    for number in range(12):
        record(tmp_path / f"c{number:02}.ndjson", [HANDSHAKE, PID])
    recorded(tmp_path / "wrong.ndjson", TWICE)
    first = mlcheck("lint", ".", cwd=tmp_path).stdout.splitlines()
    assert first[0] == "13 conversations, judged as Storm 2.8.3 does"
    assert first[2].startswith("FAIL  it settles a tuple twice")
    assert any(line.startswith("  In      wrong: ") for line in first)
    ran = mlcheck("lint", "-v", ".", cwd=tmp_path)
    assert ran.stdout.count("nothing found") == 1
    assert "c00, c01, c02, c03, c04, c05 and 6 more  nothing found" in ran.stdout
    assert "must ack-twice" in ran.stdout
    assert "FAIL  12 passed, 1 failed\n" in ran.stdout


@pytest.mark.component
def test_who_died_is_shown_with_its_last_words(tmp_path: Path) -> None:
    said = Event(2, 0.2, "err", Chunk(17), b"KeyError: 'tuple'")
    record(tmp_path / "died.ndjson", [HANDSHAKE, PID, said, Event(3, 0.3, "process", Exited(code=1))])
    assert "KeyError: 'tuple'" in mlcheck("lint", "died.ndjson", cwd=tmp_path).stdout
    ran = mlcheck("lint", "-v", "died.ndjson", cwd=tmp_path)
    assert "must exited" in ran.stdout
    assert "the component exited with code 1" in ran.stdout
    assert "| KeyError: 'tuple'\n" in ran.stdout


@pytest.mark.component
@pytest.mark.parametrize("content", [b"", b'{"transcript":', b"\x00\xff\n", b"{}\n", b"\x1f\x8b\x08", b"[]\n[]\n"])
def test_where_nothing_can_be_read_it_is_misuse(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.ndjson").write_bytes(content)
    for where in ("t.ndjson", "."):
        ran = mlcheck("lint", where, cwd=tmp_path)
        assert ran.returncode == 2
        assert "t.ndjson" in refusal(ran)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": 5}, "5 is not valid"),
        ({"$ref": "#/nowhere"}, "PointerToNowhere"),
        ({"$ref": "#"}, "refers to itself without end"),
        ({"items": {"$ref": "#/items"}}, "refers to itself without end"),
        ({"$ref": "http://127.0.0.1:9/x"}, "nothing is fetched"),
        ({"items": {"pattern": "("}}, "'(' is not a 'regex'"),
        ({"$id": 5}, "5 is not of type"),
    ],
    ids=range(7),
)
def test_a_schema_in_a_recording_that_is_none_is_refused(schema: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    header, rest = path.read_text("utf-8").split("\n", 1)
    fields = json.loads(header)
    fields["profile"]["streams"]["default"]["schema"] = schema
    path.write_text(f"{json.dumps(fields)}\n{rest}", encoding="utf-8")
    with pytest.raises(TranscriptError, match=re.escape(why)) as caught:
        judge_transcripts([path], load_rulebook())
    assert str(caught.value).startswith(f"{path}:1: the schema of stream 'default': ")


def test_a_schema_that_refers_to_nothing_where_few_values_come_blames_no_component() -> None:
    nowhere = {"items": {"properties": {"a": {"$ref": "#/nowhere"}}}}
    assert schema_fault(nowhere) is None
    profile = example_profile("bolt")
    assert profile.streams is not None
    streams = {"default": msgspec.structs.replace(profile.streams["default"], schema=nowhere)}
    check = values_check(msgspec.structs.replace(profile, streams=streams))
    assert check is not None
    assert check("default", [{"a": 1}]) == ""


@pytest.mark.component
def test_what_is_no_transcript_is_told_what_one_is(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text('{"level":"info","msg":"started"}\n', encoding="utf-8")
    said = refusal(mlcheck("lint", "app.log", cwd=tmp_path))
    assert "app.log:1: no line of a transcript: it names no conversation" in said
    assert "Transcripts are what `mlcheck run`, `tap` and `repl` record" in said


@pytest.mark.parametrize(("size", "told"), [(0, "lint: 0 MB are read; this may take minutes\n"), (200_000_000, "")])
def test_who_has_to_wait_long_is_told(
    size: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judged_recordings, "LARGE_RECORDINGS", size)
    judged_recordings.judged("lint", [str(record(tmp_path / "t.ndjson", [HANDSHAKE, PID]))], "")
    assert capsys.readouterr().err == told


@pytest.mark.component
def test_a_full_disk_is_no_fault_of_ours(tmp_path: Path) -> None:
    record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    argv = [sys.executable, "-m", "multilang_cli", "lint", str(tmp_path / "t.ndjson")]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(argv, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "mlcheck: can't write: No space left on device. Make room, or write elsewhere.\n"


@pytest.mark.component
def test_a_directory_may_hold_compressed_transcripts(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    (tmp_path / "t.ndjson.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    ran = mlcheck("lint", ".", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.component
def test_memory_does_not_grow_with_the_transcript(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    small = peak_memory(path)
    with path.open("a", encoding="utf-8") as file:
        for start in range(2, 60_000, 2):
            words = f'"id":"{start}","comp":"src","stream":"default","task":2,"tuple":["{"snow white " * 40}",1]'
            file.write(event_line(start, "in", f"{{{words}}}"))
            file.write(event_line(start + 1, "out", f'{{"command":"ack","id":"{start}"}}'))
    assert path.stat().st_size > 18 * 1024 * 1024
    assert peak_memory(path) < small + 8 * 1024


@pytest.mark.component
def test_memory_does_not_grow_with_the_conversations(tmp_path: Path) -> None:
    path = record(tmp_path / "t.ndjson", [HANDSHAKE, PID])
    small = peak_memory(path)
    said = [Event(seq, 1.0, "err", Chunk(4096), b"x" * 4096) for seq in range(2, 62)]
    more = [record(tmp_path / f"c{number}", [HANDSHAKE, PID, *said]).read_bytes() for number in range(100)]
    path.write_bytes(b"".join(more))
    assert path.stat().st_size > 30 * 1024 * 1024
    assert peak_memory(path) < small + 16 * 1024


PEAK = """\
import re, sys
from pathlib import Path
from multilang_cli.cli.dispatch import dispatch
assert dispatch(["lint", sys.argv[1]]) == 0
sys.stderr.write(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def peak_memory(path: Path) -> int:
    """KiB that ``mlcheck lint`` takes, at most. (A child's ru_maxrss would count what pytest took before it began.)"""
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], cwd=ROOT, check=True, capture_output=True, text=True)
    return int(done.stderr)
