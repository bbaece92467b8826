"""Storm's side where real Storm was asked: emits that are refused, words that come too early, values nested deep.

The scripts that real Storm played are in ``conformance/oracle``; here is what holds of them in single conversations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.catalogue.oracle import oracle_cases, oracle_verdicts
from multilang_cli.driver.shell.routing import Router
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.messages import Emit, Pid, SpoutCommand, TaskIds, TupleMsg
from multilang_cli.verify.verification import compare
from tests.sessions import LIMIT, playing, seen, spout_of

if TYPE_CHECKING:
    from pathlib import Path

SIMPLE, SMART = "org.apache.storm.shade.org.json.simple.", "org.apache.storm.shade.net.minidev.json."
NESTED = '{"command":"emit","tuple":["x",[1,{"a":2}]]}'
DECIMAL = '{"command":"emit","tuple":["x",0.12345678901234567]}'


def losing(text: str, **conf: Any) -> set[str]:
    """The versions on which the emit `text` is lost with `conf`."""
    profile = msgspec.structs.replace(example_profile("bolt"), conf=conf)
    judge = Conversation(profile, load_rulebook())
    judge.feed(Event(0, 0.0, "out", Pid(1)))
    (frame,) = Framer().feed(f"{text}\nend\n".encode())
    found = judge.feed(Event(1, 0.0, "out", read_frame(frame), frame.raw))
    return {version for finding in found for version, fate in finding.fates.items() if fate == "loses-data"}


def registering(*classes: Any) -> dict[str, Any]:
    return {"topology.kryo.register": list(classes)}


@pytest.mark.parametrize(
    ("text", "conf", "lost"),
    [
        (NESTED, {}, {"2.5.0", "2.8.3"}),
        (NESTED, {"topology.fall.back.on.java.serialization": False}, {"2.5.0", "2.8.3"}),
        (NESTED, {"topology.fall.back.on.java.serialization": "true"}, {"2.5.0", "2.8.3"}),
        (NESTED, {"topology.fall.back.on.java.serialization": True}, set()),
        (NESTED, registering(SIMPLE + "JSONArray", SIMPLE + "JSONObject"), {"2.8.3"}),
        (NESTED, registering(SMART + "JSONArray", {SMART + "JSONObject": None}), {"2.5.0"}),
        (NESTED, registering(SMART + "JSONArray"), {"2.5.0", "2.8.3"}),
        (NESTED, {"topology.kryo.register": {SMART + "JSONArray": None, SMART + "JSONObject": None}}, {"2.5.0"}),
        (DECIMAL, {}, {"2.8.3"}),
        (DECIMAL, registering(SMART + "JSONArray"), {"2.8.3"}),
        (DECIMAL, registering("java.math.BigDecimal"), set()),
        (DECIMAL, {"topology.fall.back.on.java.serialization": True}, set()),
    ],
)
def test_conf_decides_what_another_worker_can_be_sent(text: str, conf: dict[str, Any], lost: set[str]) -> None:
    assert losing(text, **conf) == lost


def test_values_nested_deeper_than_python_goes_have_a_task() -> None:
    profile = example_profile("bolt")
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    answers = [Router(profile).answer(Emit(["x", deep], stream="fld")) for _ in range(2)]
    assert answers[0] == answers[1] == TaskIds([7])


def test_a_script_that_was_never_recorded_differs_from_nothing() -> None:
    name = "bolt-ack-twice"
    new = {**oracle_cases()[name], "case": "never-recorded"}
    found = compare("2.8.3", [new], lambda some: {each["case"]: oracle_verdicts()[name]["2.8.3"] for each in some})
    assert found.differences == ()


LOCAL = """
shake()
tup = message()
say('{"command":"emit","stream":"nope","tuple":["x",1]}\\nend\\n'
    '{"command":"emit","anchors":[7],"tuple":["x",1]}\\nend\\n'
    '{"command":"ack","id":%s}\\nend\\n'
    '{"command":"emit","tuple":["x",1]}\\nend\\n' % tup["id"])
while True: message()
"""


@pytest.mark.component
def test_in_local_mode_what_is_refused_has_no_effect(tmp_path: Path) -> None:
    local = msgspec.structs.replace(example_profile("bolt"), conf={"storm.cluster.mode": "local"})
    with playing(tmp_path, LOCAL, profile=local) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        session.say(TupleMsg("src", ["x", 1], 2, "default", "9"))
        assert session.wait_quiet(LIMIT)
        events = seen(session)
    assert len([event for event in events if isinstance(event.body, TaskIds)]) == 1
    assert list(session.judge.state.open) == ["9"]


AFTER = """
shake()
message()
say('{"command":"sync"}\\nend\\n{"command":"emit","id":1,"tuple":["x",1]}\\nend\\n'
    '{"command":"sync"}\\nend\\n{"command":"emit","id":2,"tuple":["x",1]}\\nend\\n')
message()
message()
message()
message()
say('{"command":"sync"}\\nend\\n')
message()
"""


@pytest.mark.component
def test_task_ids_of_what_was_said_after_the_sync_come_behind_the_command_that_reads_it(tmp_path: Path) -> None:
    with playing(tmp_path, AFTER, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        for _ in range(3):
            assert spout.call("next", limit=LIMIT)
            assert session.wait_quiet(LIMIT)
        events = seen(session)
    said = [type(event.body) for event in events if isinstance(event.body, SpoutCommand | TaskIds)]
    assert said == [SpoutCommand, SpoutCommand, TaskIds, SpoutCommand, TaskIds]


@pytest.mark.component
@pytest.mark.parametrize("early", ['{"command":"sync"}', '{"command":"emit","id":1,"tuple":["x",1]}'])
def test_what_stands_in_the_place_of_the_pid_does_nothing(tmp_path: Path, early: str) -> None:
    code = f"message()\nsay('{early}\\nend\\n')\nmessage()\nsay('{{\"command\":\"sync\"}}\\nend\\n')\nmessage()\n"
    with playing(tmp_path, code, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        assert spout.call("next", limit=LIMIT)
        events = seen(session)
    assert not [event for event in events if isinstance(event.body, TaskIds)]
    assert {finding.rule for finding in session.findings} == {"pid-not-first"}
