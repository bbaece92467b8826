"""All stages on Spark, once, over recordings with every kind of trouble: counts, findings, ledger, limits, page."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import zstandard

from multilang_cli.audit import inputs, pipeline
from multilang_cli.audit.page import document_of
from multilang_cli.audit.pages.answer import answer_of, worst_first
from multilang_cli.audit.result import result_of
from multilang_cli.audit.tables import TABLES
from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook, load_rules
from multilang_cli.judging.linting import judge_transcripts
from tests import notation
from tests.pages import ACKED, TWICE, record, recorded

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from multilang_cli.audit.store.stored import StoredTables
    from multilang_cli.protocol.words.verdicts import Kind

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1500)]

LATE = """\
@ 0.5
> {"id":"1","comp":"words","stream":"default","task":2,"tuple":["a"]}
> {"id":"2","comp":"words","stream":"default","task":2,"tuple":["b"]}
> {"id":"3","comp":"words","stream":"default","task":2,"tuple":["c"]}
> {"id":"4","comp":"__system","stream":"__tick","task":-1,"tuple":[1]}
@ 10.5
< {"command":"ack","id":"1"}
@ 61.5
< {"command":"ack","id":"2"}
@ 90
< {"command":"log","msg":"bye"}
"""
SPOUT = """\
@ 1
> {"command":"next"}
< {"command":"emit","id":7,"tuple":["a"],"need_task_ids":false}
< {"command":"sync"}
@ 32
> {"command":"fail","id":7}
< {"command":"sync"}
> {"command":"next"}
< {"command":"emit","id":7,"tuple":["a"],"need_task_ids":false}
< {"command":"sync"}
"""


BEATS = """\
@ 0.5
> {"id":"1","comp":"words","stream":"default","task":2,"tuple":["a"]}
@ 1
> {"id":"91","comp":"__system","stream":"__heartbeat","task":-1,"tuple":[]}
@ 4
< {"command":"sync"}
@ 5
> {"id":"92","comp":"__system","stream":"__heartbeat","task":-1,"tuple":[]}
@ 6
! {"event":"exited","code":3}
"""
KEYED = """\
@ 1
> {"command":"next"}
< {"command":"emit","tuple":["a"],"need_task_ids":false}
< {"command":"emit","tuple":["a"],"need_task_ids":false}
< {"command":"emit","tuple":[-1],"need_task_ids":false}
< {"command":"emit","tuple":["b"],"task":4}
< {"command":"sync"}
"""
BY_WORD = {
    "fields": ["word"],
    "consumers": {"count": [4, 5]},
    "groupings": {"count": {"type": "FIELDS", "fields": ["word"]}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings: wrong ones of every rule, late ones, copies, packed ones, damaged ones, and what is none."""
    made = tmp_path_factory.mktemp("in")
    (made / "rules").mkdir()
    for rule in list(load_rules().values()):
        if rule.profile.get("feed") is None and "tuple" in rule.occasions:
            kind: Kind = "spout" if rule.kind == "spout" else "bolt"
            record(made / "rules" / f"{rule.id}.ndjson", notation.parse(rule.bad), kind, profile=rule.profile)
    twice = recorded(made / "rules" / "twice.ndjson", TWICE)
    recorded(made / "late.ndjson", LATE)
    recorded(made / "spout.ndjson", SPOUT, "spout")
    recorded(made / "beats.ndjson", BEATS, worker="w1")
    recorded(made / "beats-too.ndjson", BEATS, worker="w1", started_at="2026-11-21T12:00:03.000+00:00")
    recorded(made / "keyed.ndjson", KEYED, "spout", profile={"component": "words", "streams": {"default": BY_WORD}})
    (made / "zcopy.ndjson").write_bytes(twice.read_bytes())
    shipped = recorded(made / "shipped.ndjson", TWICE)
    head, *lines, end = shipped.read_bytes().splitlines(keepends=True)
    swapped = [line for at in range(0, len(lines), 2) for line in reversed(lines[at : at + 2])]
    shipped.write_bytes(b"".join([head, *swapped, *swapped[-3:], end]))
    later = recorded(made / "late-again.ndjson", LATE, conv="late", started_at="2026-11-21T13:00:00.000+00:00")
    with later.open("ab") as file:
        file.write(b'junk\n\xff\xfe \xc3\n{"conv":"nobody","seq":1,"t":0,"ch":"in","msg":{}}\n{"conv":"la')
    for name, pack in (("gz", gzip.compress), ("zst", zstandard.compress)):
        plain = recorded(made / f"packed-{name}.ndjson", ACKED)
        (made / f"packed-{name}.ndjson.{name}").write_bytes(pack(plain.read_bytes()))
        plain.unlink()
    (made / "cut.ndjson.gz").write_bytes(
        gzip.compress((made / "late.ndjson").read_bytes().replace(b'"late"', b'"cut"'))[:-20]
    )
    (made / "newer.ndjson").write_bytes(twice.read_bytes().replace(b'"1.0"', b'"2.0"').replace(b'"twice"', b'"newer"'))
    (made / "other.ndjson").write_text("{}\n")
    return made


def test_everything_once(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    plan = inputs.AuditPlan(inputs.find([str(folder)]))
    said: list[str] = []
    known = pipeline.run(spark, plan, str(tmp_path), said.append)
    assert len(said) == len(pipeline.STAGES)
    assert set(known) <= set(TABLES)
    for name, table in known.items():
        assert table.columns == [column.name for column in TABLES[name].columns], name
        assert [kind for _, kind in table.dtypes] == [column.type for column in TABLES[name].columns], name
        [place] = (tmp_path / name).iterdir()
        comments = {field.name: field.metadata.get("comment") for field in spark.read.parquet(str(place)).schema}
        expected = {column.name: column.meaning for column in TABLES[name].columns}
        assert comments == expected | ({"topology": None, "day": None} if TABLES[name].placed_by else {}), name
    _counts_add_up(known, plan)
    _shipping_changes_nothing(known)
    _findings_are_those_of_lint(known, folder)
    _ledger_is_right(known)
    _summary_is_right(known)
    result = result_of(known, plan, "audit", {"max_settled_twice": 0, "max_restarts": 10_000})
    assert result.exit_code == 1
    assert {each.id: each.verdict for each in result.subjects} == {
        "audit.lines": "pass",
        "audit.max-settled-twice": "fail",
        "audit.max-restarts": "pass",
    }
    assert "task 3 of 'comp' was recorded by two taps at the same time; both count" in result.notes
    (breaches,) = (note for note in result.notes if "findings of level must" in note)
    assert "ack-twice" in breaches
    bounded = result_of(known, plan, "audit", {"max_must": 100})
    assert {*result.notes} - {*bounded.notes} == {breaches}
    document = json.loads(msgspec.json.encode(document_of(result, known)))
    assert schemas.explain(document, "page") == []
    sections = {section["id"]: section for section in document["sections"]}
    assert {"limits", "topology", "latency", "throughput", "rates", "dialects"} <= sections.keys()
    assert document["sections"][0]["id"] == "trees"
    trees = {_text(row[0]): int(_text(row[1])) for row in sections["trees"]["rows"]}
    assert trees == answer_of(known).trees
    lost = result_of(known, plan, "audit", {}, answer_of(known)._replace(certain=2))
    (reason,) = (each.reason for each in lost.subjects if each.id == "audit.lost")
    assert "1 message came again, and it was never acked)" in reason
    _losses_are_a_click_away(sections)
    _worst_trees_are_shown(document)


def _losses_are_a_click_away(sections: dict[str, Any]) -> None:
    nodes = sections["topology"]["graph"]["nodes"]
    red = {node["label"]: sections[node["to"]] for node in nodes if node.get("tone") == "bad"}
    assert red.keys() >= {"comp"}
    edges = sections["topology"]["graph"]["edges"]
    told = {each["from"] for each in edges if "never settled" in each["label"]}
    assert {node["id"] for node in nodes if node["label"] == "words"} <= told
    heads = [column["name"] for column in red["comp"]["columns"]]
    rows = [dict(zip(heads, map(_text, row), strict=True)) for row in red["comp"]["rows"]]
    assert all(int(row["never settled"]) + int(row["late"]) + int(row["twice"]) for row in rows)
    assert sections["latency"]["x"]["label"].endswith(" UTC")
    assert sections["throughput"]["series"]


def _worst_trees_are_shown(document: dict[str, Any]) -> None:
    sections = {section["id"]: section for section in document["sections"]}
    links = [cell["to"] for row in sections["roots"]["rows"] for cell in row if isinstance(cell, dict) and "to" in cell]
    assert links
    # What has a link is what the table begins with.
    columns = [column["name"] for column in sections["roots"]["columns"]]
    order = [dict(zip(columns, map(_text, row), strict=True)) for row in sections["roots"]["rows"]]
    keys = [
        worst_first(row["verdict"], row["confidence"], int(row["edges"]), row["run"], int(row["root"])) for row in order
    ]
    assert keys == sorted(keys)
    assert links == sorted(links, key=lambda link: int(link.split("/")[0].removeprefix("tree")))
    for section, seq in (link.split("/") for link in links):
        assert sections[section]["type"] == "conversation"
        assert int(seq) in sections[section]["events"]["seq"]


def _text(cell: str | dict[str, Any]) -> str:
    return cell if isinstance(cell, str) else str(cell["text"])


def _counts_add_up(known: StoredTables, plan: inputs.AuditPlan) -> None:
    files = {row.file.rpartition("/")[2]: row for row in known["files"].collect()}
    plain = [path for path in plan.inputs.transcripts if path.endswith(".ndjson")]
    assert {path.rpartition("/")[2]: open(path, "rb").read().rstrip(b"\n").count(b"\n") + 1 for path in plain} == {  # noqa: PTH123, SIM115
        name: row.lines for name, row in files.items() if name.endswith(".ndjson")
    }
    assert all(row.lines == row.headers + row.events + row.ends + row.quarantined for row in files.values())
    for table, column in (("events", "events"), ("conversations", "headers"), ("quarantine", "quarantined")):
        assert known[table].count() == sum(row[column] for row in files.values())
    bad: dict[str, list[Any]] = {}
    for row in known["quarantine"].orderBy("file", "line").collect():
        bad.setdefault(row.file.rpartition("/")[2], []).append((row.line, row.reason))
    assert [reason.partition(" of '")[0] for _, reason in bad["shipped.ndjson"]] == [
        f"a second copy of line {files['shipped.ndjson'].lines - back}" for back in (6, 5, 4)
    ]
    assert set(bad) == {"zcopy.ndjson", "shipped.ndjson", "late-again.ndjson", "cut.ndjson.gz", "newer.ndjson"}
    assert all("a second copy of part 1 of 'twice'" in reason for _, reason in bad["zcopy.ndjson"])
    assert "this mlcheck reads 1.x" in bad["newer.ndjson"][0][1]
    assert [reason.partition(":")[0] for _, reason in bad["late-again.ndjson"]] == [
        "it can't be read",
        "it can't be read",
        "no header of a conversation 'nobody' before this line",
        "it can't be read",
    ]


def _shipping_changes_nothing(known: StoredTables) -> None:
    """What was swapped and sent twice on its way is judged as the recording that it was."""
    for table, names in (("findings", ("seq", "rule", "message")), ("ledger", ("id", "nth", "verdict", "settled"))):
        shipped, whole = (
            known[table].where(f"conv = '{conv}'").select(*names).collect() for conv in ("shipped", "twice")
        )
        assert whole
        assert sorted(shipped) == sorted(whole)


def _findings_are_those_of_lint(known: StoredTables, folder: Path) -> None:
    paths = sorted((folder / "rules").glob("*.ndjson"))
    linted = judge_transcripts(paths, load_rulebook()).subjects
    mine = known["findings"].join(known["conversations"].where("file like '%/rules/%'").select("conv"), "conv")
    assert sorted(
        (row.conv, row.seq, row.rule, row.message, sorted(row.fates.items())) for row in mine.collect()
    ) == sorted(
        (each.id, found.seq, found.rule, found.message, sorted(found.fates.items()))
        for each in linted
        for found in each.findings
    )
    assert {row.conv for row in known["outlooks"].collect()} == {row.conv for row in known["conversations"].collect()}


def _ledger_is_right(known: StoredTables) -> None:
    rows = {(row.conv, row.id, row.nth): row for row in known["ledger"].collect()}
    late = {id_: rows["late", id_, 1] for id_ in "1234"}
    assert {id_: row.verdict for id_, row in late.items()} == {"1": "once", "2": "late", "3": "never", "4": "free"}
    assert (late["1"].after, late["1"].waiting) == (10, 0)
    assert (late["2"].after, late["2"].waiting, late["2"].lateness) == (61.0, 10, "surely")
    assert rows["late#2", "2", 1].at - late["2"].at == 3600
    assert rows["twice", "7", 1].verdict == "twice"
    assert [(rows["spout", "7", nth].verdict, rows["spout", "7", nth].by) for nth in (1, 2)] == [
        ("once", "fail"),
        ("open", None),
    ]
    assert [(row.id, row.emissions, row.failed) for row in known["replays"].collect()] == [("7", 2, 1)]
    slow = {(row.conv, row.id): row for row in known["timeouts"].collect()}
    assert slow["spout", "7"].downstream == 31
    assert (slow["late", "2"].waiting, slow["late", "2"].processing) == (10, 51)


def _summary_is_right(known: StoredTables) -> None:
    silent = known["silences"].where("conv = 'beats'").orderBy("t").collect()
    assert [(row.t, row.after, row.id, row.held) for row in silent] == [(1, 3, "1", 0.5), (5, None, "1", 4.5)]
    [episode] = known["restarts"].where("worker = 'w1'").collect()
    assert (episode.ends, episode.last_at - episode.first_at, episode.why, episode.lost) == (2, 3, "code 3", 2)
    keys = {row.key: row for row in known["keys"].collect()}
    assert {(key, row.tuples, row.task, row.task_since_2_6, row.moves) for key, row in keys.items()} == {
        ('["a"]', 2, 4, 4, False),
        ("[-1]", 1, 5, 4, True),
    }
    assert keys['["a"]'].share == pytest.approx(2 / 3)
    told = {row.expectation: row.found for row in known["quality"].collect()}
    assert told["every line went into a table"] == 0
    assert told["no line is in quarantine"] == known["quarantine"].count()
    assert told["every part was closed"] > 0
    fatal = known["dialects"].where("rule = 'direct-to-plain-stream' and version = '0.9.7'").collect()
    assert [(row.fate, row.messages, row.components, row.conv) for row in fatal] == [("dies", 1, ["words"], "keyed")]
