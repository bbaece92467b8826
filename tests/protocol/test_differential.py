"""The differential: generator, scripts, comparing and shrinking without Java; and a portion played to real Storm."""

from __future__ import annotations

import json
import re
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import written_by
from multilang_cli.protocol.storm.reading import read_frame, read_frames
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.protocol.words.verdicts import Finding
from tests.differential.comparing import compare, parts
from tests.differential.generate import output, recorded, tokens_of
from tests.differential.grammar import GRAMMARS, MUTATIONS
from tests.differential.known import reason_for
from tests.differential.scripts import MARK, OVER, Forecast, Script, plan, steps_of
from tests.differential.shrinking import shrink, weight
from tests.differential.sides import Told, ask_ourselves, marker_of
from tests.differential.soak import Sides, keep, packed, play, scripts_of

if TYPE_CHECKING:
    from pathlib import Path

NEWEST = "2.8.3"
EMIT = b'{"command":"emit","tuple":["x",1]}\nend\n'
ACK = b'{"command":"ack","id":"$ID0"}\nend\n'
SAID = tuple(output("spout", Random(seed)) for seed in range(200))  # noqa: S311
ODD = (b"", b"x", "人😀".encode(), b"\xff\xfe\xff", b"a\xed\xa0\x80b", b"\xc3", b"a\r\n\0\x1a$ID0\n")


@pytest.mark.parametrize("kind", GRAMMARS)
def test_every_name_in_the_grammar_has_a_rule(kind: str) -> None:
    grammar = GRAMMARS[kind]
    named = {name for rule in grammar.values() for _, text in rule for name in re.findall(r"<([a-z-]+)>", text)}
    assert named <= grammar.keys()
    assert all(weight > 0 for rule in grammar.values() for weight, _ in rule)
    assert all(weight > 0 for weight, _ in MUTATIONS)


def test_a_seed_gives_the_same_outputs_again() -> None:
    first, again, other = ([output("bolt", random) for _ in range(50)] for random in map(Random, (3, 3, 4)))
    assert first == again
    assert first != other


@pytest.mark.long
def test_the_outputs_are_of_all_kinds() -> None:
    random = Random(1)  # noqa: S311
    messages = {"Emit", "Ack", "Fail", "Log", "Error", "Metrics", "Sync"}
    kinds: set[str] = set()
    for number in range(5000):
        if messages <= kinds and len(kinds - messages) >= 35:
            break
        for frame in Framer().feed(output("bolt" if number % 2 else "spout", random)):
            message = read_frame(frame)
            kinds.add(message.kind if isinstance(message, Malformed) else type(message).__name__)
    assert messages <= kinds
    assert len(kinds - messages) >= 35
    assert len(recorded()) > 1000


def test_frames_read_together_are_the_frames_read_one_by_one() -> None:
    random = Random(2)  # noqa: S311
    for _ in range(300):
        said = b"".join(output("spout", random) if random.random() < 0.3 else EMIT for _ in range(random.randint(2, 6)))
        frames = Framer(lengthy=0).feed(said)
        assert repr(list(read_frames(frames))) == repr([read_frame(frame) for frame in frames])


def test_steps_print_the_bytes_of_an_output() -> None:
    newest = load_rulebook().version(NEWEST)
    for data in (*ODD, *SAID):
        case = {"case": "c", "kind": "bolt", "handshake": [], "steps": steps_of(data.replace(b"$ID", b""))}
        assert written_by(case, newest) == data.replace(b"$ID", b"")
        assert b"".join(tokens_of(data)) == data


def test_each_output_has_its_marker() -> None:
    case = Script("spout", (EMIT, b'{"command":"sync"}\nend\n')).case("c")
    framer = Framer()
    messages: list[Any] = [
        read_frame(frame) for frame in framer.feed(written_by(case, load_rulebook().version(NEWEST)))
    ]
    names = [type(message).__name__ for message in messages[1:]]
    assert names == ["Emit", "Log", "Sync", "Log", "Log", "Sync"]
    assert [message.msg for message in messages if hasattr(message, "msg")] == [f"{MARK}0", f"{MARK}1", OVER]
    assert case["calls"].count("next") > sum(name == "Sync" for name in names)


def test_a_forecast_knows_what_was_said_before_and_forgets_what_ended_it() -> None:
    forecast = Forecast("bolt", NEWEST)
    anchored = b'{"command":"emit","tuple":["x",1],"anchors":["$ID0"]}\nend\n'
    assert [forecast.fatal(data) for data in (anchored, ACK, ACK, anchored, EMIT)] == [False, False, True, True, False]


def test_only_the_last_output_of_a_script_is_thought_to_be_fatal() -> None:
    random = Random(5)  # noqa: S311
    scripts = [plan(random, NEWEST) for _ in range(40)]
    for script in scripts:
        forecast = Forecast(script.kind, NEWEST)
        assert not any(forecast.fatal(data) for data in script.outputs[:-1])
    assert {script.kind for script in scripts} == {"bolt", "spout"}


def test_some_scripts_try_the_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.differential.scripts.PID_SHARE", 1.0)
    script = plan(Random(1), NEWEST)  # noqa: S311
    assert script.pid
    assert script.outputs == ()
    assert script.case("c")["handshake"][0] == {"pidfile": True}


def log(text: str) -> dict[str, Any]:
    return {"t": "log", "level": "INFO", "msg": text}


def emit(**more: Any) -> dict[str, Any]:
    return {"t": "emit", "stream": "default", "anchors": [], "tuple": ["x", 1], "types": ["String", "Integer"], **more}


MARKERS = [log("mark-0"), log("mark-1"), log("over")]
TWO = Script("bolt", (EMIT, EMIT)).case("c")
GOOD = [emit(), MARKERS[0], emit(), MARKERS[1], MARKERS[2]]


def accepted(events: list[dict[str, Any]]) -> dict[str, Any]:
    return {"verdict": "accepted", "events": events}


def finding(fate: Any) -> Finding:
    return Finding(rule="a-rule", level="must", seq=0, offset=0, message="m", fates={NEWEST: fate})


def test_two_sides_that_agree() -> None:
    assert compare(TWO, Told(GOOD, ["mark-0", "mark-1", "over"]), accepted(GOOD), NEWEST) == []


def test_a_call_that_differs_is_found_where_it_is() -> None:
    storm = [emit(), MARKERS[0], emit(wire=True), MARKERS[1], MARKERS[2]]
    (difference,) = compare(TWO, Told(GOOD, ["mark-0", "mark-1", "over"]), accepted(storm), NEWEST)
    assert (difference.outputs, difference.predicted, difference.actual) == ((1, 1), "survives", "loses-data")
    assert difference.sort == "bolt events: survives for loses-data, emit for emit wire"


def test_a_fate_that_differs_is_found_where_it_is() -> None:
    told = Told(GOOD, ["mark-0", finding("loses-data"), "mark-1", "over"])
    (difference,) = compare(TWO, told, accepted(GOOD), NEWEST)
    assert difference.outputs == (1, 1)
    assert difference.signature == "bolt fate: loses-data for survives [a-rule]"
    assert compare(TWO, Told(GOOD, [finding("unknown"), "mark-0", "mark-1", "over"]), accepted(GOOD), NEWEST) == []


def test_a_death_that_only_storm_saw_ends_the_comparison() -> None:
    verdict = {
        "verdict": "rejected",
        "error": ["E: why"],
        "events": [emit(), MARKERS[0], {"t": "error", "error": ["E: why"]}],
    }
    (difference,) = compare(TWO, Told(GOOD, ["mark-0", "mark-1", "over"]), verdict, NEWEST)
    assert (difference.outputs, difference.predicted, difference.actual) == ((1, 1), "survives", "dies")


def test_a_death_that_both_saw_counts_what_was_found_up_to_it() -> None:
    calls = [emit(), MARKERS[0], {"t": "error", "error": "E: why"}]
    told = Told(calls, ["mark-0", finding("dies"), "mark-1", finding("loses-data"), "over"])
    verdict = {"verdict": "rejected", "error": ["E: why"], "events": [*calls[:2], {"t": "error", "error": ["E: why"]}]}
    assert compare(TWO, told, verdict, NEWEST) == []
    hung = {"verdict": "hung", "events": verdict["events"]}
    assert [each.actual for each in compare(TWO, told, hung, NEWEST)] == ["hangs"]


def test_a_lost_marker_is_lost_data() -> None:
    calls = [emit(), MARKERS[1], MARKERS[2]]
    (difference,) = compare(TWO, Told(calls, ["mark-1", "over"]), accepted(calls), NEWEST)
    assert (difference.outputs, difference.predicted, difference.actual) == ((0, 1), "survives", "loses-data")
    assert compare(TWO, Told(calls, [finding("loses-data"), "mark-1", "over"]), accepted(calls), NEWEST) == []


def test_a_crash_of_ours_is_a_difference() -> None:
    (difference,) = compare(TWO, Told([], [], "Traceback\nIndexError: why\n"), accepted(GOOD), NEWEST)
    assert difference.signature == "bolt crash: IndexError: why for  []"


def test_ids_that_differ_from_run_to_run_do_not_count() -> None:
    case = Script("bolt", (b'{"command":"emit","tuple":[$ID0]}\nend\n',)).case("c")
    sides = [[emit(tuple=[number]), MARKERS[0], MARKERS[2]] for number in (-(10**18), 10**18)]
    assert not any(each.what == "events" for each in compare(case, Told(sides[0], []), accepted(sides[1]), NEWEST))
    sides = [[emit(tuple=[number]), MARKERS[0], MARKERS[2]] for number in (1, 2)]
    assert any(each.what == "events" for each in compare(case, Told(sides[0], []), accepted(sides[1]), NEWEST))


def test_calls_are_cut_at_markers() -> None:
    assert parts(GOOD) == [("mark-0", [emit()]), ("mark-1", [emit()]), ("over", []), ("", [])]
    assert marker_of({"t": "error", "error": "over"}) == ""


def test_shrinking_leaves_what_the_difference_needs() -> None:
    long = (
        b'{"command":"emit","tuple":["some text",{"a":[1,2]}],"stream":"one","need_task_ids":false,"task":4711}\nend\n'
    )
    asked: list[int] = []

    def ask(scripts: dict[str, Script]) -> dict[str, set[str]]:
        asked.append(len(scripts))
        texts = {name: b"".join(script.outputs) for name, script in scripts.items()}
        return {name: {"sort"} for name, text in texts.items() if b'"task":' in text and text.endswith(b"}\nend\n")}

    scripts = {"a": (Script("bolt", (EMIT, ACK, long, EMIT)), "sort"), "b": (Script("bolt", (EMIT,)), "sort")}
    small = shrink(scripts, ask)
    assert small["a"].outputs == (b'"task":}\nend\n',)
    assert small["b"].outputs == (EMIT,)
    assert len(asked) < 20


def test_shrinking_a_pid_keeps_a_pid() -> None:
    script = Script("spout", (), b'{"pid":1,"x":[1,2,3]}\nend\n')
    small = shrink({"a": (script, "s")}, lambda tried: {n: {"s"} for n, s in tried.items() if b"2" in (s.pid or b"")})
    assert small["a"].pid == b"2\nend\n"
    assert weight(small["a"]) < weight(script)


def test_harmless_candidates_share_a_process() -> None:
    fatal = b'{"command":"ack","id":"nope"}\nend\n'
    scripts = {f"s{n}": Script("bolt", (data,)) for n, data in enumerate([EMIT, fatal, ACK, EMIT, ACK])}
    packs, alone = packed(scripts, NEWEST)
    assert [names for _, names in packs.values()] == [["s0", "s2", "s3"]]
    assert alone.keys() == {"s1", "s4"}


def test_what_is_kept_can_be_added_to_the_recorded_cases(tmp_path: Path) -> None:
    for name in ("a", "b"):
        keep(tmp_path, [Script("bolt", (EMIT,)).case(name)], {name: accepted(GOOD)}, NEWEST)
    cases = json.loads((tmp_path / "cases.json").read_text())
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    assert [case["case"] for case in cases] == list(verdicts) == ["a", "b"]
    assert verdicts["a"][NEWEST]["verdict"] == "accepted"


@pytest.mark.component
def test_our_side_tells_what_came_before_each_marker() -> None:
    lost = b'{"command":"emit","tuple":["x",[1]]}\nend\n'
    scripts = {
        "bolt": Script("bolt", (EMIT, lost, ACK, ACK, EMIT)),
        "spout": Script("spout", (EMIT, b'{"command":"sync"}\nend\n', EMIT)),
        "pid": Script("bolt", (), b'{"pid":"1"}\nend\n'),
    }
    told = ask_ourselves([script.case(name) for name, script in scripts.items()], NEWEST)
    calls = {name: [call["t"] for _, calls in parts(each.calls) for call in calls] for name, each in told.items()}
    assert calls == {"bolt": ["emit", "emit", "ack", "error"], "spout": ["emit", "emit"], "pid": []}
    assert [each if isinstance(each, str) else each.rule for each in told["bolt"].found][:3] == [
        "mark-0",
        "nested-value",
        "mark-1",
    ]
    assert not any(each.crash for each in told.values())


@pytest.mark.storm
@pytest.mark.timeout(300)
def test_random_outputs_do_to_mlcheck_what_they_do_to_storm(capsys: pytest.CaptureFixture[str]) -> None:
    portion = play(1, 500, Sides(NEWEST, jobs=2))
    with capsys.disabled():
        sys.stdout.write(f"\n{portion.outputs} outputs: {dict(portion.verdicts)}, known: {dict(portion.known)}\n")
    assert portion.outputs >= 500
    assert portion.verdicts["rejected"] > 10 < portion.verdicts["accepted"] + portion.verdicts["rejected"]
    assert list(map(str, portion.distinct.values())) == []


def test_a_known_difference_is_told_by_its_signature_and_version() -> None:
    case = Script("spout", (EMIT,)).case("c")
    call = {key: value for key, value in emit().items() if key != "anchors"}
    told, storm = ([each, MARKERS[0], MARKERS[2]] for each in (call, call | {"refused": True}))
    (difference,) = compare(case, Told(told, ["mark-0", "over"]), accepted(storm), NEWEST)
    assert difference.signature == "spout events: survives for loses-data, emit for emit refused []"
    assert "acked inside emit" in reason_for(difference, "1.2.4")
    assert reason_for(difference, NEWEST) == ""


def test_a_portion_is_the_same_for_the_same_seed() -> None:
    assert scripts_of(9, 60, NEWEST) == scripts_of(9, 60, NEWEST)
