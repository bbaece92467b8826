"""Conversations that stand whole in files are judged from there: the same rows, or none where anything is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.audit.outline import Head, Size, outline
from multilang_cli.audit.stages import whole_files as stage
from multilang_cli.audit.stages.facts import AuditFacts, Span
from multilang_cli.audit.stages.whole_files import WholeFiles, heard, whole_files
from multilang_cli.catalogue.loader import load_rules
from tests import notation
from tests.audit.test_audit import lines
from tests.pages import ACKED, TWICE, record, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind

GAP = b'{"conv":"t","seq":7,"t":0.75,"ch":"control","msg":{"event":"gap","why":"full"}}\n'
SPAN = Span(9, 1.0, 0.0, 1.0, exited=False, over=None, why=None, gap=None, least=0, most=8, total=36, xor=8)


def whole(path: Path, *convs: str) -> WholeFiles:
    """The one file, with as many events of each conversation as it has lines of it."""
    told = list(lines([path]))
    counts = {conv: sum(line[0] == conv and line[2] == "event" for line in told) for conv in convs or (path.stem,)}
    return WholeFiles((str(path),), {conv: conv for conv in counts}, counts)


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(str, rows))


@pytest.mark.long
def test_the_conversations_of_all_rules_are_judged_as_lines_of_tables_are(tmp_path: Path) -> None:
    found = 0
    for rule in load_rules().values():
        if rule.profile.get("feed") is None:
            kind: Kind = "spout" if rule.kind == "spout" else "bolt"
            path = record(tmp_path / f"{rule.id}.ndjson", notation.parse(rule.bad), kind, profile=rule.profile)
            if (rows := heard(whole(path), "")) is not None:
                assert in_order(rows) == in_order(list(judge_lines(lines([path]))))
                found += 1
    assert found > 100


def test_conversations_that_share_a_file_are_judged_each_for_itself(tmp_path: Path) -> None:
    two = [recorded(tmp_path / f"{name}.ndjson", text * 9) for name, text in (("a", ACKED), ("b", TWICE))]
    mixed = tmp_path / "mixed.ndjson"
    pairs = zip(*(path.read_bytes().splitlines(keepends=True) for path in two), strict=False)
    mixed.write_bytes(b"".join(line for pair in pairs for line in pair))
    told = [line for conv in "ab" for line in lines([mixed]) if line[0] == conv]
    rows = heard(whole(mixed, "a", "b"), "")
    assert rows is not None
    assert in_order(rows) == in_order(list(judge_lines(told)))
    assert {row["conv"] for row in rows if row.get("rule") == "bolt.ack.unknown"} <= {"b"}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: [*text[:4], b"junk\n", *text[5:]],
        lambda text: [*text[:4], *text[5:]],
        lambda text: [*text[:4], text[5], text[4], *text[6:]],
        lambda text: [*text[:-2], text[-2][:9]],
        lambda text: [*text[:5], text[4].replace(b'"t":', b'"t": '), *text[5:]],
        lambda text: text[1:],
        lambda _: [],
        lambda text: text[:-2],
        lambda text: [*text[:8], GAP, text[7].replace(b'"t":', b'"t": '), text[10]],
    ],
    ids=["damaged", "gone", "swapped", "cut", "again", "no header", "empty", "fewer", "backwards"],
)
def test_a_file_with_anything_odd_is_left_to_the_tables(change: Any, tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.ndjson", TWICE)
    file = whole(path)
    assert heard(file, "")
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    assert heard(file, "") is None


def test_a_file_that_grew_or_went_is_left_to_the_tables(tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.ndjson", TWICE)
    file = whole(path)
    assert heard(file._replace(events={"t": file.events["t"] - 1}), "") is None
    path.unlink()
    assert heard(file, "") is None


PARTS = 4


def parted(folder: Path, change: Any = lambda _: None) -> WholeFiles:
    """A conversation whose parts stand in files of their own; `change`: what becomes of these."""
    said = recorded(folder / "t.ndjson", TWICE * 20).read_bytes().splitlines(keepends=True)
    head, *events, _ = said
    header = msgspec.json.decode(head)
    paths = []
    for part in range(PARTS):
        mine = events[len(events) * part // PARTS : len(events) * (part + 1) // PARTS]
        end = msgspec.json.encode({"conv": "t", "end": {"events": {"in": len(mine)}}}) + b"\n"
        begun = head if part == 0 else msgspec.json.encode({**header, "part": part + 1}) + b"\n"
        # Their names are in another order than their parts.
        paths.append(folder / f"{PARTS - part}.ndjson")
        paths[-1].write_bytes(b"".join([begun, *mine, end]))
    change(paths)
    return WholeFiles(tuple(map(str, sorted(paths))), {"t": "t"}, {"t": len(events)})


def test_parts_of_a_conversation_in_files_of_their_own_are_judged_as_lines_of_tables_are(tmp_path: Path) -> None:
    files = parted(tmp_path)
    rows = heard(files, "")
    assert rows is not None
    told = lines([tmp_path / f"{number}.ndjson" for number in range(PARTS, 0, -1)])
    assert in_order(rows) == in_order(list(judge_lines(told)))
    assert "ack-twice" in {row.get("rule") for row in rows}


def _without_end(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def _without_first_event(path: Path) -> None:
    header, _, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, *rest]))


@pytest.mark.parametrize(
    "change",
    [
        lambda paths: _without_end(paths[1]),
        lambda paths: _without_first_event(paths[1]),
        lambda paths: paths[2].unlink(),
        lambda paths: paths[2].write_bytes(paths[1].read_bytes()),
    ],
    ids=["not closed", "fewer", "gone", "twice"],
)
def test_parts_with_anything_odd_are_left_to_the_tables(change: Any, tmp_path: Path) -> None:
    assert heard(parted(tmp_path, change), "") is None


def test_a_finding_has_the_time_of_its_event_and_of_no_mark_with_that_number(tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.ndjson", TWICE)
    [row] = [row for row in judge_lines(lines([path])) if row.get("rule") == "ack-twice" and "t" in row]
    *text, end = path.read_bytes().splitlines(keepends=True)
    fact = {"event": "redacted", "seq_redacted": 1}
    mark = msgspec.json.encode({"conv": "t", "seq": row["seq"], "t": row["t"] + 9, "ch": "control", "msg": fact})
    path.write_bytes(b"".join([*text, mark, b"\n", end]))
    assert row in judge_lines(lines([path]))


def test_findings_that_are_held_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = whole(recorded(tmp_path / "t.ndjson", TWICE * 50))
    assert heard(file, "")
    monkeypatch.setattr(stage, "MOST_ROWS", 1)
    monkeypatch.setattr("multilang_cli.audit.line_judge.MOST_HELD", 1)
    assert heard(file, "") is None


def test_files_are_whole_that_have_all_of_their_conversations_and_no_others_have() -> None:
    def head(file: str, nth: int, conv: str, part: int = 1, started: float = 5.0) -> Head:
        return Head(file, 0, nth, conv, part, started, "", "", "", "", 1)

    heads = [
        head("/one", 1, "a"), head("/one", 3, "b"),
        head("/parted", 1, "c"), head("/copied", 9, "c", 2),
        head("/parts", 1, "d"), head("/parts", 4, "d", 2),
        head("/damaged", 1, "e"),
        head("/cut", 1, "i"), head("/more", 1, "i", 2), head("/more", 9, "j"), head("/most", 1, "j", 2),
        head("/z", 1, "k"), head("/y", 1, "k", 2), head("/x", 1, "k", 3), head("/x", 9, "l"),
        head("/own", 1, "n"), head("/others", 1, "n", started=6.0), head("/others", 9, "o"), head("/own", 9, "o", 2),
        head("/twice", 1, "f"), head("/twice", 4, "f", started=6.0),
        head("/copied", 1, "g"), head("/copy", 1, "g"),
        head("hdfs://far", 1, "h"),
        *(head("/many", nth, f"m{nth}") for nth in range(1, 40)),
    ]  # fmt: skip
    known = outline([Size(file, 0, 50) for file in {each.file for each in heads}], heads, [])
    keys = {piece.key for of in known.pieces.values() for each in of.values() for piece in each}
    facts = AuditFacts({}, dict.fromkeys(keys - {"b"}, SPAN), {})
    damaged = {"/damaged", "/cut"}
    assert {files.paths for files in whole_files(known, facts, damaged)} == {("/parts",), ("/x", "/y", "/z")}
    facts = AuditFacts({}, dict.fromkeys(keys, SPAN), {})
    assert {files.paths for files in whole_files(known, facts, damaged)} == {("/one",), ("/parts",), ("/x", "/y", "/z")}
