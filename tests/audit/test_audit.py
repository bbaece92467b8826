"""The audit without Spark: what is read, how lines are judged on executors, keys, and that the documents are true."""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import zstandard

from multilang_cli.audit import inputs
from multilang_cli.audit.java import class_archive
from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.audit.result import LIMITS
from multilang_cli.audit.session import (
    BRIEF,
    EXECUTORS_JAVA,
    LITTLE,
    SparkMissingError,
    executors_python,
    session,
    usual_settings,
)
from multilang_cli.catalogue.loader import load_causes, load_rulebook, load_rules
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.transcript.format import decode_line
from multilang_cli.transcript.naming import HISTORY
from tests import notation
from tests.audit import table_docs
from tests.command import ROOT, mlcheck, refusal
from tests.pages import ACKED, TWICE, record, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.verdicts import Kind

DOCS = ROOT / "docs" / "audit.md"
TABLES = ROOT / "docs" / "audit-tables.md"


def lines(paths: Sequence[Path]) -> Iterator[tuple[str, int, str, bytes]]:
    """Lines as the stage findings has them."""
    for path in paths:
        part = 1
        for text in path.read_bytes().splitlines():
            try:
                line = decode_line(text)
            except msgspec.MsgspecError:
                yield path.stem, part, "damaged", b""
                continue
            part = json.loads(text).get("part", 1) if line.transcript else part
            yield line.conv, part, "header" if line.transcript else "event" if line.end is None else "end", text


def compared(paths: Sequence[Path]) -> tuple[list[Any], list[Any]]:
    """What executors find in recordings, and what lint does."""
    found = [row for row in judge_lines(lines(paths)) if "version" not in row]
    linted = judge_transcripts(paths, load_rulebook()).subjects
    told = [(subject.id, finding) for subject in linted for finding in subject.findings]
    names = ("seq", "rule", "level", "subject", "message", "offset", "fates", "fingerprint")
    return (
        sorted([(row["conv"], *(row[name] for name in names)) for row in found], key=str),
        sorted([(conv, *(getattr(finding, name) for name in names)) for conv, finding in told], key=str),
    )


@pytest.mark.long
def test_executors_find_in_the_bad_example_of_every_rule_what_lint_finds(tmp_path: Path) -> None:
    paths = []
    for rule in load_rules().values():
        if rule.profile.get("feed") is None:
            kind: Kind = "spout" if rule.kind == "spout" else "bolt"
            paths.append(record(tmp_path / f"{rule.id}.ndjson", notation.parse(rule.bad), kind, profile=rule.profile))
    here, lint = compared(paths)
    assert here == lint
    assert len({row[2] for row in here}) > 50


def test_a_finding_names_the_cause_that_lint_names(tmp_path: Path) -> None:
    paths = [
        record(tmp_path / f"{cause.id}.ndjson", notation.parse(cause.example.talk), cause.example.kind)
        for cause in load_causes()
    ]
    named = {(row["conv"], row["rule"]): row["cause"] for row in judge_lines(lines(paths)) if "version" not in row}
    for subject in judge_transcripts(paths, load_rulebook()).subjects:
        told = {rule: cause.id for cause in reversed(subject.causes) for rule in cause.rules}
        assert {rule: named[subject.id, rule] for rule in told} == told
    assert len(set(named.values())) > 25


@pytest.mark.parametrize("instead", [b"junk\n", b""], ids=["damaged", "gone"])
def test_behind_a_line_that_is_lost_rules_that_need_the_past_are_silent(instead: bytes, tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.ndjson", TWICE)
    whole = path.read_bytes().splitlines(keepends=True)
    for at in range(1, len(whole)):
        path.write_bytes(b"".join([*whole[:at], instead, *whole[at + 1 :]]))
        here, lint = compared([path])
        assert here == lint


def test_files_are_found_once_and_the_others_named(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "a.ndjson", ACKED)
    (tmp_path / "b.ndjson.gz").write_bytes(gzip.compress(whole.read_bytes()))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / HISTORY).write_text('{"k":"phase"}\n')
    (tmp_path / "empty.ndjson").touch()
    (tmp_path / "broken.ndjson.gz").write_bytes(b"\x1f\x8bjunk, not packed")
    (tmp_path / "other.ndjson").write_text("{}\n")
    found = inputs.find([str(tmp_path), str(whole), str(tmp_path / "*.gz"), str(tmp_path / "nowhere")])
    assert [Path(path).name for path in found.transcripts] == ["a.ndjson", "b.ndjson.gz"]
    assert [Path(path).name for path in found.histories] == [HISTORY]
    said = [(Path(note.partition(": ")[0]).name, note.partition(": ")[2]) for note in found.notes]
    assert [name for name, why in said if "left out" in why] == [
        "broken.ndjson.gz",
        "empty.ndjson",
        "other.ndjson",
        "nowhere",
    ]
    assert [name for name, why in said if "given twice" in why] == [
        "a.ndjson",
        "b.ndjson.gz",
        "broken.ndjson.gz",
    ]


def test_what_can_not_be_read_is_named_whatever_it_is_and_the_rest_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a folder.ndjson"
    folder.mkdir()
    whole = recorded(folder / "a [1].ndjson", ACKED)
    (folder / "link.ndjson").symlink_to(tmp_path / "gone")
    os.mkfifo(folder / "pipe.ndjson")
    (folder / "junk.ndjson.zst").write_bytes(b"junk")
    (folder / os.fsdecode(b"\xff.ndjson")).write_bytes(whole.read_bytes())
    (folder / "z.ndjson.zst").write_bytes(zstandard.compress(whole.read_bytes()))
    for given in (folder, f"file://{folder}", f"file:{folder}", tmp_path / "*", f"file://{tmp_path}/a*.nd*"):
        found = inputs.find([str(given)])
        assert [Path(path).name for path in found.transcripts] == ["a [1].ndjson", "z.ndjson.zst"]
        assert [note.removeprefix(f"{folder}/") for note in found.notes] == [
            "junk.ndjson.zst: is no zstd; it is left out",
            "link.ndjson: leads to no file; it is left out",
            "pipe.ndjson: is no file; it is left out",
            "\\xff.ndjson: has a name that is no UTF-8; it is left out",
        ]


def test_the_documents_have_every_table() -> None:
    text = TABLES.read_text(encoding="utf-8")
    shown = text.partition("<!-- tables: begin -->\n")[2].partition("<!-- tables: end -->")[0]
    assert shown == table_docs.markdown()
    published = json.loads((ROOT / "schemas" / "audit.schema.json").read_text(encoding="utf-8"))
    assert published["$defs"] == table_docs.schemas()


def test_limits_are_those_of_the_schema_and_the_documents() -> None:
    schema = json.loads((ROOT / "schemas" / "config.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]["audit"]["properties"]) == set(LIMITS)
    assert all(f"\n{name} = " in DOCS.read_text(encoding="utf-8") for name in LIMITS)


def test_without_java_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkMissingError, match="needs Java 17"):
        session()


def test_an_archive_of_classes_is_made_where_audits_are_run_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = class_archive.place("17.0.15")
    assert path != class_archive.place("21.0.7")
    uses, makes = f'"-XX:SharedArchiveFile={path}"', f'"-XX:ArchiveClassesAtExit={path}"'

    def told(*, make: bool) -> str:
        return class_archive.java_options("17.0.15", make=make).removesuffix(f" {class_archive.QUIET}")

    assert [told(make=make) for make in (False, True, True, False)] == ["", "", makes, ""]
    # Java writes what it begins with last.
    path.write_bytes(bytes(64))
    assert told(make=True) == ""
    os.utime(path, (0, 0))
    assert told(make=True) == makes
    path.write_bytes(b"\xa8\x0b" + bytes(62))
    assert told(make=True) == told(make=False) == uses


def test_archives_that_no_audit_uses_any_more_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    paths = [class_archive.place(version) for version in ("17", "21", "11")]
    used, recent, old = paths
    used.parent.mkdir()
    for path in paths:
        path.write_bytes(b"archive")
        path.chmod(0o444)
    (tmp_path / "mlcheck" / "other").touch()
    days = {used: 31, old: 31, recent: 29, tmp_path / "mlcheck" / "other": 99}
    for path, ago in days.items():
        os.utime(path, (0, time.time() - 86400 * ago))
    assert class_archive.java_options("17")
    assert {path for path in days if path.exists()} == days.keys() - {old}
    # It was used now, so it stays, whoever is next.
    assert class_archive.java_options("21")
    assert used.exists()


def test_where_nothing_can_be_kept_there_is_no_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [class_archive.java_options("17", make=True) for _ in range(2)] == ["", ""]


@pytest.mark.component
def test_what_can_be_refused_is_refused_before_spark_starts(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thing").touch()
    nothing = mlcheck("audit", "run", "in", "-o", "new", cwd=tmp_path)
    assert nothing.returncode == 4
    assert "there are no transcripts" in nothing.stderr
    recorded(tmp_path / "in" / "a.ndjson", ACKED)
    assert "holds no tables" in refusal(mlcheck("audit", "run", "in", "-o", "out", cwd=tmp_path))
    assert "is no setting" in refusal(mlcheck("audit", "run", "in", "-o", "new", "--spark-conf", "x", cwd=tmp_path))


@pytest.mark.parametrize(
    ("master", "size", "brief"),
    [
        ("local-cluster[2,1,1024]", LITTLE, True),
        ("local-cluster[2,1,1024]", LITTLE + 1, False),
        ("local[2]", LITTLE, None),
        ("yarn", LITTLE, None),
    ],
)
def test_executors_on_this_machine_are_as_brief_as_it_is_and_those_of_a_cluster_its_own(
    master: str, size: int, brief: bool | None
) -> None:
    told = usual_settings(master, size)
    assert (told.get("spark.locality.wait"), EXECUTORS_JAVA in told) == (
        ("0s", True) if brief is not None else (None, False)
    )
    assert (BRIEF in told.get(EXECUTORS_JAVA, "")) is bool(brief)


def test_executors_have_the_python_that_spark_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"spark.pyspark.python": "./env/bin/python"}
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert [executors_python(conf) for conf in ({}, told)] == [sys.executable, "./env/bin/python"]
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    assert [executors_python(conf) for conf in ({}, told)] == ["/opt/python", "./env/bin/python"]
