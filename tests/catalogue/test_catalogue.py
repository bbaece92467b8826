from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue import loader, locate, schemas
from multilang_cli.catalogue.judging import judge_of
from multilang_cli.catalogue.oracle import (
    confirmed_on,
    fate_of,
    oracle_cases,
    oracle_verdicts,
    plain,
    recorded_fate,
)
from multilang_cli.protocol.storm.outlooks import fingerprint
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT
from multilang_cli.protocol.words.events import Chunk, Exited, PidChecked, Started
from multilang_cli.protocol.words.messages import Ack, Handshake, Malformed, Pid, TaskIds, TupleMsg
from multilang_cli.protocol.words.rulebook import covers
from tests import notation

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Effect, Finding, Kind, Profile, Rule

RULES = loader.load_rules()
VERSIONS = loader.load_versions()
VERIFIED = [version for version in VERSIONS if version.verified]
CONFIRMED = [
    pytest.param(rule, effect, case, id=f"{rule.id}-{effect.when or 'plain'}-{effect.versions}-{case}")
    for rule in RULES.values()
    for effect in rule.effects
    for case in effect.confirmed_by
]
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def kind_of(rule: Rule) -> Kind:
    return "spout" if rule.kind == "spout" else "bolt"


def profile_of(rule: Rule) -> Profile:
    return loader.example_profile(kind_of(rule), rule.profile)


def findings_of(rule: Rule, transcript: str, limit: int = DEFAULT_LIMIT) -> list[Finding]:
    judge = judge_of(profile_of(rule), loader.load_rulebook())
    return [finding for event in notation.parse(transcript, limit) for finding in judge.feed(event)]


# the files


@each_rule
def test_rule_file_holds_to_its_schema(rule: Rule) -> None:
    assert loader.problems(locate.data_path("conformance", "rules", f"{rule.id}.yaml"), "rule") == []


def test_versions_file_holds_to_its_schema_and_is_in_order() -> None:
    assert loader.problems(locate.data_path("conformance", "versions.yaml"), "versions") == []
    numbers = [[int(part) for part in version.id.split(".")] for version in VERSIONS]
    assert numbers == sorted(numbers)
    assert [version.id for version in VERIFIED] == ["0.9.7", "0.10.2", "1.2.4", "2.5.0", "2.8.3"]
    assert all(version.note for version in VERSIONS if not version.verified)


def test_schemas_allow_just_the_fields_of_the_types() -> None:
    from multilang_cli.protocol.words import verdicts  # noqa: PLC0415 (the type behind each schema)

    for name, schema, struct in [
        ("rule", schemas.load("rule"), verdicts.Rule),
        ("effect", schemas.load("rule")["$defs"]["effect"], verdicts.Effect),
    ]:
        assert set(schema["properties"]) == set(struct.__struct_fields__), name
    parts = schemas.load("versions")["$defs"]
    keys = {*parts["version"]["properties"], *parts["change"]["properties"]} - {"since"}
    assert keys == set(verdicts.StormVersion.__struct_fields__)


@each_rule
def test_every_verified_version_has_one_effect_in_every_variant(rule: Rule) -> None:
    variants = {effect.when for effect in rule.effects}
    assert variants - {""} == rule.variants.keys()
    for when in variants:
        for version in VERIFIED:
            fitting = [e for e in rule.effects if e.when == when and covers(e.versions, version.id)]
            assert len(fitting) == 1, (when, version.id, fitting)


# against what real Storm did


def texts_of(recorded: dict[str, Any]) -> list[str]:
    refused = [event["wire"] for event in recorded["events"] if "wire" in event]
    return [*recorded.get("error", []), *refused, *(t for e in recorded["events"] for t in e.get("error", []))]


@pytest.mark.parametrize(("rule", "effect", "case"), CONFIRMED)
def test_the_oracle_confirms_the_fate(rule: Rule, effect: Effect, case: str) -> None:
    assert rule.kind in {"both", oracle_cases()[case]["kind"]}
    for version in VERIFIED:
        if covers(effect.versions, version.id):
            assert recorded_fate(case, version) == plain(effect.fate), version.id


@each_rule
def test_every_rule_is_confirmed_on_every_verified_version_or_says_why_not(rule: Rule) -> None:
    claimed = {
        version.id
        for version in VERIFIED
        if any(covers(effect.versions, version.id) and effect.fate != "unknown" for effect in rule.effects)
    }
    missing = claimed - confirmed_on(rule).keys()
    advice = "name scripts of conformance/oracle in confirmed_by, or say in unconfirmed why there are none"
    assert not missing or rule.unconfirmed, f"confirmed on none of {', '.join(sorted(missing))}: {advice}"
    assert missing or not rule.unconfirmed, "it is confirmed on every version: leave out unconfirmed"


def test_what_a_metric_takes_changed_with_2_6() -> None:
    for release, fate in {"2.5.1": "dies", "2.6.0": "survives", "2.6.4": "survives"}.items():
        assert loader.load_rulebook(release).effects("metric-params", "float")[release].fate == fate


def test_few_rules_are_unconfirmed() -> None:
    """Besides those of testees, as no Storm knows what user's code asked for, and those of hosts: Storm keeps them."""
    others = [rule for rule in RULES.values() if not {"testee", "feed"} & rule.profile.keys()]
    unconfirmed = [rule.id for rule in others if rule.unconfirmed]
    assert len(unconfirmed) <= 12, "record a script for one of them (CONTRIBUTING.md, a rule): " + ", ".join(
        unconfirmed
    )


def test_what_no_script_shows_is_not_confirmed() -> None:
    rule = RULES["ack-twice"]
    (effect,) = rule.effects
    assert list(confirmed_on(rule)) == ["2.8.3", "2.5.0", "1.2.4", "0.10.2", "0.9.7"]
    assert confirmed_on(rule)["2.8.3"] == effect.confirmed_by
    for change in ({"confirmed_by": ()}, {"fate": "survives"}, {"confirmed_by": ("bolt-ack",)}):
        other = msgspec.structs.replace(rule, effects=(msgspec.structs.replace(effect, **change),))
        assert confirmed_on(other) == {}
    older = msgspec.structs.replace(rule, effects=(msgspec.structs.replace(effect, versions="<1.0"),))
    assert set(confirmed_on(older)) == {"0.9.7", "0.10.2"}


def test_a_fate_needs_every_call_that_was_meant() -> None:
    ack = {"t": "ack", "tuple": 0}
    accepted = {"verdict": "accepted", "events": [ack]}
    assert fate_of(accepted, [ack]) == "survives"
    assert fate_of(accepted, [ack, ack]) == fate_of(accepted, [{"t": "ack", "tuple": 1}]) == "loses-data"
    assert fate_of({"verdict": "accepted", "events": [{**ack, "wire": "Class is not registered"}]}, []) == "loses-data"
    assert fate_of({"verdict": "rejected", "events": []}, [ack]) == "dies"
    assert fate_of({"verdict": "hung", "events": []}, [ack]) == "hangs"


@each_rule
def test_every_rule_has_a_neighbour_that_harms_no_storm(rule: Rule) -> None:
    neighbours = [name for name, case in oracle_cases().items() if rule.id in case.get("beside", [])]
    assert neighbours or rule.unconfirmed, f"name {rule.id} in the `beside` of a harmless script, or say unconfirmed"
    for name in neighbours:
        assert {recorded_fate(name, version) for version in VERIFIED} == {"survives"}, name


@pytest.mark.parametrize(
    ("rule", "effect"),
    [
        pytest.param(rule, effect, id=f"{rule.id}-{effect.when or 'plain'}-{effect.versions}")
        for rule in RULES.values()
        for effect in rule.effects
        if effect.error and effect.confirmed_by
    ],
)
def test_the_oracle_shows_the_error(rule: Rule, effect: Effect) -> None:
    pattern = re.compile(re.sub(r"\\\{(id|name)\\\}|\\\.\\\.\\\.", ".*", re.escape(effect.error)), re.DOTALL)
    for version in VERIFIED:
        if covers(effect.versions, version.id):
            told = [text for case in effect.confirmed_by for text in texts_of(oracle_verdicts()[case][version.id])]
            assert any(map(pattern.search, told)), (rule.id, version.id, effect.error, told)


# the examples


@each_rule
def test_bad_transcript_breaks_the_rule_with_the_fates_of_its_first_variant(rule: Rule) -> None:
    limit = 40 if rule.id == "frame-too-long" else DEFAULT_LIMIT
    found = [finding for finding in findings_of(rule, rule.bad, limit) if finding.rule == rule.id]
    assert found, f"nothing calls judge.breach with {rule.id!r} where its bad conversation is played"
    expected = loader.load_rulebook().effects(rule.id, rule.effects[0].when)
    assert found[-1].fates == {version: effect.fate for version, effect in expected.items()}
    # The newest Storm, which is played here, dies of what the protocol allows.
    assert found[-1].level == ("must" if rule.id == "json-too-deep" else rule.level)


@each_rule
def test_good_transcript_breaks_no_rule_at_all(rule: Rule) -> None:
    assert findings_of(rule, rule.good) == []


# the loader


def edited(tmp_path: Path, old: str, new: str) -> Path:
    source = locate.data_path("conformance", "rules", "ack-twice.yaml").read_text(encoding="utf-8")
    assert old in source
    path = tmp_path / "ack-twice.yaml"
    path.write_text(source.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("fate: dies", "fate: explodes", r"ack-twice\.yaml:\d+: /effects/0/fate: \"explodes\" is none of"),
        ("level: must", "level: [must]", r"ack-twice\.yaml:4: /level: "),
        ("title:", "titel:", r"ack-twice\.yaml:1: at the top: .*\"title\" is missing"),
        ("kind: bolt", "kind: {bolt", r"ack-twice\.yaml:\d+: no YAML: did not find expected"),
        ("id: ack-twice", "id: ack-thrice", r"the id is 'ack-thrice', not the file's name"),
        (
            "why:",
            "why: !!python/object/apply:os.getcwd []\nwhy2:",
            r"ack-twice\.yaml:\d+: no YAML: a value with the tag",
        ),
    ],
)
def test_a_broken_rule_is_refused_with_file_line_and_key(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(loader.CatalogueError, match=expected):
        loader.read_rule(edited(tmp_path, old, new))


def test_a_rule_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"id: \xff\xfe")
    with pytest.raises(loader.CatalogueError, match=r"x\.yaml"):
        loader.read_rule(tmp_path / "x.yaml")
    with pytest.raises(loader.CatalogueError, match=r"nowhere\.yaml: No such file"):
        loader.read_rule(tmp_path / "nowhere.yaml")


def test_a_misspelt_key_is_a_problem_though_it_loads(tmp_path: Path) -> None:
    path = edited(tmp_path, "kind: bolt", "kind: bolt\nsinse: '0.9.3'")
    assert loader.read_rule(path).since == ""
    assert [problem.partition(":")[2] for problem in loader.problems(path, "rule")]


def test_the_example_profile_is_the_oracles_topology() -> None:
    bolt, spout = loader.example_profile("bolt"), loader.example_profile("spout", {"conf": {"x": 1}, "storm": "1.2.4"})
    assert bolt.streams is not None
    assert bolt.streams["fld"].groupings == {"fsink": {"type": "FIELDS", "fields": ["b"]}}
    assert bolt.sources["src"]["default"].fields == ("word", "n")
    assert bolt.tasks[3] == bolt.component == "comp"
    assert spout.sources == {}
    assert spout.conf == {"storm.cluster.mode": "distributed", "x": 1}
    assert spout.storm == "1.2.4"
    with pytest.raises(loader.CatalogueError, match="task"):
        loader.example_profile("bolt", {"task": "three"})


def test_the_packaged_data_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "multilang_cli"
    shutil.copytree(locate.data_path("conformance", "rules"), package / "_data" / "conformance" / "rules")
    monkeypatch.setattr(locate, "_PACKAGE", package)
    locate.data_path.cache_clear()
    try:
        assert locate.data_path("conformance", "rules", "ack-twice.yaml").is_relative_to(package)
    finally:
        locate.data_path.cache_clear()


# the notation


def test_notation_writes_down_every_kind_of_event() -> None:
    events = notation.parse(
        '> {"id":"1","comp":"src","stream":"default","task":2,"tuple":["\\u4eba"]}\n'
        '@ 1.5\n< {"command":"ack","id":"1"}\n> [4, 5]\n\n2> 10\n'
        '<raw "{\\"command\\":"\n<raw "\\"sync\\"}\\nend\\n"\n<hex 7b7d0a\n! {"event": "exited", "signal": 9}'
    )
    assert [event.seq for event in events] == list(range(len(events)))
    bodies = [event.body for event in events]
    assert [type(body) for body in bodies[:4]] == [Started, Handshake, Pid, PidChecked]
    assert bodies[4] == TupleMsg("src", ["人"], 2, "default", "1")
    assert bodies[5] == Ack("1")
    assert bodies[6:8] == [TaskIds([4, 5]), Chunk(10)]
    assert isinstance(bodies[9], Malformed)
    assert bodies[9].kind == "message-cut"
    assert bodies[10] == Exited(signal=9)
    assert [event.t for event in events[3:6]] == [0.0, 0.0, 1.5]
    assert [event.channel for event in events[7:]] == ["err", "out", "out", "process"]
    for channel in ("in", "out", "err"):
        offset = 0
        for event in events:
            if event.channel == channel:
                assert event.offset == offset
                offset += len(event.raw)


def test_notation_takes_a_handshake_of_its_own() -> None:
    events = notation.parse('> {"conf": {"a": 1}, "pidDir": "/p", "context": {}}\n< {"pid": "7"}')
    assert events[0].body == Handshake({"a": 1}, "/p", {})
    assert isinstance(events[1].body, Malformed)
    assert events[1].body.kind == "pid-type"


@pytest.mark.parametrize(
    "line", ["? {}", "<raw 5", '<raw "', "<hex 7", "2> many", '! {"event": "nothing"}', "! {}", "@ now", "<"]
)
def test_notation_refuses_what_is_no_event(line: str) -> None:
    text = f'< {{"command":"sync"}}\n{line}'
    if line == "<":
        assert isinstance(notation.parse(text)[-1].body, Malformed)
    else:
        with pytest.raises(notation.NotationError, match="line 2: "):
            notation.parse(text)


# what real Storm did


def test_the_oracle_is_kept_whole() -> None:
    shared = json.loads(locate.data_path("conformance", "oracle", "cases.json").read_text(encoding="utf-8"))
    assert len(shared) == 191
    assert len(oracle_cases()) - len(shared) >= 150
    assert oracle_cases().keys() == oracle_verdicts().keys()
    for verdicts in oracle_verdicts().values():
        assert verdicts.keys() == {version.id for version in VERIFIED}


@pytest.mark.parametrize(("command", "fate"), [("activate", "survives"), ("deactivate", "survives"), ("next", "dies")])
def test_a_command_that_old_storms_never_send_harms_none_of_them(command: str, fate: str) -> None:
    sent = json.dumps({"command": command, **({"id": ""} if command == "next" else {})})
    waits = '! {"event": "deadline", "waiting_for": "sync", "limit": 5}'
    (found,) = findings_of(RULES["sync-missing"], f"> {sent}\n@ 5\n{waits}\n")
    assert (found.fates["0.10.2"], found.fates["1.2.4"]) == (fate, "dies")
    # What lists of known failures know it by has no variant.
    assert found.fingerprint == fingerprint("sync-missing", "", command)
