"""Pages: made of results and recordings, whole, harmless, with the findings of lint, and the same each time."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook, load_rules
from multilang_cli.catalogue.written import clause_of
from multilang_cli.causes.model import Cause
from multilang_cli.protocol.storm.reading import read
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT
from multilang_cli.protocol.words.events import Chunk, Event, Gap
from multilang_cli.reports.html.document import PageDocument, PageVerdict, Text
from multilang_cli.reports.html.page import document_of, to_html
from multilang_cli.reports.html.page_file import Kit, KitError, load_kit, render
from tests import notation
from tests.pages import ACKED, TWICE, PageFile, document, judged, record, recorded, section, texts
from tests.recording import sample
from tests.results import HOSTILE_BYTES, RESULTS, RULEBOOK, result
from tests.results import TWICE as SETTLED_TWICE

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind

KIT = Kit("alert(1)", "p {}")


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_of_a_run_holds_to_the_schema(name: str) -> None:
    page = json.loads(msgspec.json.encode(document_of(RESULTS[name], RULEBOOK)))
    assert schemas.explain(page, "page") == []
    assert page["verdict"]["text"] == RESULTS[name].verdict.replace("-", " ")
    assert len({each["id"] for each in page["sections"]}) == len(page["sections"])


def test_a_page_of_a_run_begins_with_the_cause_and_its_messages() -> None:
    first, *others = json.loads(msgspec.json.encode(document_of(RESULTS["fail"], RULEBOOK)))["sections"]
    assert first["title"].startswith("FAIL ack-twice")
    assert [(step["seq"], step["side"], step.get("mark", False)) for step in first["sequence"]] == [
        (1, "storm", False),
        (2, "component", False),
        (3, "component", True),
    ]
    assert first["command"] == "mlcheck run bolt.py -k bolt.settle.once"
    folded = {section["title"] for section in others if section.get("folded")}
    assert folded == {"Not tested", "Notes", "About"}
    [table] = [section for section in others if section["title"] == "Everything that was tested"]
    assert [row[0]["text"] for row in table["rows"]][:3] == ["FAIL", "FAIL", "warn"]


def test_a_page_of_a_run_says_what_is_wrong_and_what_was_not_tested() -> None:
    page = json.loads(msgspec.json.encode(document_of(RESULTS["fail"], RULEBOOK)))
    told = "\n".join(texts(page))
    for said in (
        "tuple 5 was acked twice (rule ack-twice), in 2 cases",
        "one ack or fail of tuple 5",
        "Mend: Ack each tuple in one place",
        "mlcheck run bolt.py -k bolt.settle.once",
        "undeclared: ticks",
        "bolt.tick.settled",
    ):
        assert said in told
    assert "hunter2" not in told


def test_the_code_that_mends_it_has_lines_of_its_own() -> None:
    cause = Cause(
        id="settles-twice", certainty="certain", headline="it acks twice", mend="Ack once.", code="a()\n# b()"
    )
    blamed = msgspec.structs.replace(SETTLED_TWICE, causes=(cause,))
    first = json.loads(msgspec.json.encode(document_of(result(blamed), RULEBOOK)))["sections"][0]
    assert "Mend: Ack once." in first["paragraphs"]
    assert first["code"].splitlines()[:3] == ["The mend in code:", "    a()", "    # b()"]


def test_a_head_has_whole_sentences() -> None:
    long = msgspec.structs.replace(SETTLED_TWICE, reason="It acks twice. " + "And so on, word by word. " * 40)
    told = document_of(result(long), RULEBOOK).subtitle
    assert told.endswith("word. (rule ack-twice)")
    assert "left out" not in told


def test_a_page_of_a_recording_holds_to_the_schema(tmp_path: Path) -> None:
    paths = [recorded(tmp_path / "one.ndjson", TWICE), record(tmp_path / "two.ndjson", sample())]
    page = document(*paths)
    assert schemas.explain(page, "page") == []
    assert [each["id"] for each in page["sections"] if each["type"] == "conversation"] == ["c1", "c2"]
    assert page["made_at"] == "2026-11-21T12:00:00Z"
    [row] = [row for row in section(page, "all")["rows"] if row[1]["text"] == "one"]
    assert row[1]["to"] == "c1"


def test_of_several_recordings_the_worst_is_open_and_the_others_folded(tmp_path: Path) -> None:
    paths = [recorded(tmp_path / "fine.ndjson", ACKED), recorded(tmp_path / "wrong.ndjson", TWICE)]
    sections = document(*paths)["sections"]
    opened = [each["id"] for each in sections if each["type"] == "conversation" and not each.get("folded")]
    assert opened == [each["id"] for each in sections if each.get("findings")]
    assert sections[0]["title"] == "Conversations"


@pytest.mark.long
@pytest.mark.parametrize("rule", load_rules().values(), ids=lambda rule: rule.id)
def test_the_findings_are_those_of_lint(rule: Any, tmp_path: Path) -> None:
    kind: Kind = "spout" if rule.kind == "spout" else "bolt"
    limit = 40 if rule.id == "frame-too-long" else DEFAULT_LIMIT
    path = record(tmp_path / "bad.ndjson", notation.parse(rule.bad, limit), kind, profile=rule.profile)
    [subject] = judged([path]).subjects
    page = document(path)
    told = section(page, "c1")["findings"]
    assert rule.id in {each["rule"] for each in told}
    found = sorted((each.seq, each.rule, each.level) for each in subject.findings)
    assert sorted((each["seq"], each["rule"], each["level"]) for each in told) == found
    assert schemas.explain(page, "page") == []


def test_a_finding_is_explained(tmp_path: Path) -> None:
    page = document(recorded(tmp_path / "talk.ndjson", TWICE))
    talk = section(page, "c1")
    [found] = talk["findings"]
    rule = load_rules()["ack-twice"]
    assert (found["title"], found["source"]) == (rule.title, clause_of(rule.clause).source)
    assert found["why"]
    assert found["mend"]
    assert {fate["fate"] for fate in found["fates"]} >= {"dies"}
    place = talk["events"]["seq"].index(found["seq"])
    assert talk["events"]["head"][place] == "ack 7"
    verified = [version.id for version in load_rulebook().versions if version.verified]
    assert [each["version"] for each in talk["outlook"]] == verified
    [newest] = [each for each in talk["outlook"] if each["version"] == verified[-1]]
    assert newest["seq"] == found["seq"]
    assert f"would have killed the worker at event {found['seq']}" in newest["sentence"]


def test_the_page_is_the_same_each_time(tmp_path: Path) -> None:
    path = recorded(tmp_path / "talk.ndjson", TWICE)
    first, second = (to_html(judged([path]), load_rulebook()) for _ in range(2))
    assert first == second


def test_nothing_hostile_stands_raw_in_a_page(tmp_path: Path) -> None:
    hostile = HOSTILE_BYTES + b"</script><script>alert(1)</script>\xe2\x80\xa8\xed\xa0\x80<!--"
    words = hostile.decode("utf-8", "replace")
    quoted = json.dumps(words, ensure_ascii=False).encode()
    log = b'{"command":"log","msg":%b}' % quoted
    events = [
        *sample()[:2],
        Event(2, 0.2, "out", read(hostile, expecting_pid=False, raw=hostile + b"\nend\n"), hostile + b"\nend\n"),
        Event(3, 0.3, "out", read(log, expecting_pid=False, raw=log + b"\nend\n"), log + b"\nend\n"),
        Event(4, 0.4, "err", Chunk(len(hostile)), hostile),
        Event(5, 0.5, "control", Gap(words)),
    ]
    path = record(tmp_path / "talk.ndjson", events, argv=("x", words), topology=words, conv=words)
    text = to_html(judged([path]), load_rulebook())
    page = PageFile(text)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "alert(1)" not in text.replace("alert(1)&lt;/script&gt;", "")
    assert all(line.isprintable() for line in text.replace(load_kit().script, "").split("\n"))
    told = texts(page.carried)
    assert any("alert(1)" in each for each in told)
    assert [each for each in told if not each.replace("\n", "").isprintable()] == []


def test_what_is_json_stays_json(tmp_path: Path) -> None:
    log = '{"command":"log","msg":"a\u2028b\xa0c\U000e0001"}'.encode()
    event = Event(4, 0.2, "out", read(log, expecting_pid=False, raw=log + b"\nend\n"), log + b"\nend\n")
    path = record(tmp_path / "talk.ndjson", [*notation.parse(""), event])
    shown = section(document(path), "c1")["events"]["text"][-1]
    assert shown.isprintable()
    assert json.loads(shown) == json.loads(log)


def test_the_policy_allows_the_script_and_the_style_of_the_page_and_nothing_else() -> None:
    page = PageFile(to_html(RESULTS["hostile"], RULEBOOK))
    tag, policy = page.tags[2]
    assert (tag, policy["http-equiv"]) == ("meta", "Content-Security-Policy")
    content = policy["content"] or ""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in page.inside["script"][1:]]
    assert f"script-src 'sha256-{hashes[0]}'" in content
    [style] = page.inside["style"]
    assert f"style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in content
    assert content.startswith("default-src 'none'; ")
    assert "unsafe" not in content
    assert not {"src", "href"} & {name for _, attributes in page.tags for name in attributes}


@pytest.mark.parametrize("script", ["a</SCRIPT>", "a<!--", "a\r\nb", None])
def test_a_kit_that_would_break_a_page_is_refused(script: str | None, tmp_path: Path) -> None:
    (tmp_path / "page.css").write_text("")
    if script is not None:
        (tmp_path / "page.js").write_bytes(script.encode())
    with pytest.raises(KitError, match="kit"):
        load_kit(tmp_path)


def test_without_its_script_a_page_has_title_facts_and_findings(tmp_path: Path) -> None:
    text = to_html(judged([recorded(tmp_path / "talk.ndjson", TWICE)]), load_rulebook())
    static = text.partition("<main>")[2].partition("</main>")[0]
    assert "<h1>Recorded: python3 bolt.py</h1>" in static
    assert "<dt>command</dt><dd>python3 bolt.py</dd>" in static
    assert re.search(r"<li>must ack-twice: event \d+: ", static)
    hostile = PageDocument(
        title="<b>",
        subtitle="&",
        made_by="",
        made_at="",
        verdict=PageVerdict(text="<i>", tone="bad"),
        sections=(Text(id="a", title="<u>", paragraphs=("</main>",), code="<s>"),),
    )
    tags = {tag for tag, _ in PageFile(render(hostile, KIT)).tags}
    assert not tags & {"b", "i", "u", "s"}


def test_a_long_message_is_cut_and_says_so(tmp_path: Path) -> None:
    long = "ä" * 5000
    text = f'{ACKED}< {{"command":"log","msg":"{long}"}}\n'
    events = section(document(recorded(tmp_path / "talk.ndjson", text)), "c1")["events"]
    shown = events["text"][-1]
    left_out = int(re.search(r"\.\.\.\((\d+) bytes left out\)\.\.\.", shown)[1])  # type: ignore[index]
    whole = len(f'{{"command":"log","msg":"{long}"}}'.encode())
    assert len(shown.partition("...(")[0].encode()) + left_out + len(shown.rpartition(")...")[2].encode()) == whole
    assert "\\x" not in shown
    assert events["size"][-1] == whole + len("\nend\n")


def test_a_secret_of_conf_is_in_no_page(tmp_path: Path) -> None:
    hidden = "correct horse battery"
    text = (
        '> {"conf": {"db.password": "HIDDEN"}, "pidDir": "/pids", "context": {}}\n< {"pid": 1}\n'
        '< {"command":"log","msg":"I am HIDDEN"}\n< {"command":"what HIDDEN"}\n'
    ).replace("HIDDEN", hidden)
    path = tmp_path / "talk.ndjson"
    recorded(tmp_path / "hidden.ndjson", text)
    profile = msgspec.json.decode((tmp_path / "hidden.ndjson").read_bytes().split(b"\n")[0])["profile"]
    lines = [json.dumps({"transcript": "1.0", "conv": "a", "profile": profile})]
    for seq, (channel, line) in enumerate((("in", 0), ("out", 1), ("out", 2), ("out", 3))):
        message = text.splitlines()[line][2:]
        lines.append(f'{{"conv":"a","seq":{seq},"t":{seq},"ch":"{channel}","msg":{message}}}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = json.dumps(document(path))
    assert "I am ***" in told
    assert hidden not in told
