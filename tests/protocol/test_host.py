"""A host that was told nothing is held to Storm's clock, as long as the bolt shows that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.catalogue import loader
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.words.feeds import Feed
from tests import notation

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind

TASKS = '{"1":"__acker","2":"src","3":"comp","4":"sink","5":"sink","6":"dsink","7":"fsink"}'
CONTEXT = f'{{"task->component":{TASKS},"taskid":3}}'
GREETED = f"""\
> {{"conf":{{"storm.cluster.mode":"distributed"CONF}},"pidDir":"/pids","context":{CONTEXT}}}
< {{"pid":1}}
"""
BEAT = '> {"id":"%d","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}'
SYNC = '< {"command":"sync"}'
EMIT = '< {"command":"emit","tuple":["a",1]}'
TICK = '> {"id":"%d","comp":"__system","stream":"__tick","task":-1,"tuple":[1]}'
WAITED = '! {"event":"deadline","waiting_for":"settle","limit":9}'


def talk(*lines: str, conf: str = "") -> str:
    """A conversation behind the handshake; a line that is a number is the time from there on."""
    timed = (f"@ {line}" if line.isdigit() else line for line in lines)
    return GREETED.replace("CONF", conf) + "\n".join(timed)


def breaches(text: str, storm: str = "0.9.7", kind: Kind = "bolt") -> list[str]:
    """The rules of hosts that Storm's side of a conversation breaks, each once."""
    profile = msgspec.structs.replace(loader.example_profile(kind), feed=Feed(free=True), storm=storm)
    judge = Conversation(profile, loader.load_rulebook(), roles=roles_of(profile))
    return sorted({finding.rule for event in notation.parse(text) for finding in judge.feed(event)})


TICKS = ', "topology.tick.tuple.freq.secs": 1'
BEATS = tuple(line for at in range(1, 10) for line in (str(at), BEAT % at, SYNC))
CASES: dict[str, tuple[str, list[str]]] = {
    "heartbeats each second": (talk(*BEATS, WAITED), []),
    "heartbeats that stop": (talk("1", BEAT % 1, SYNC, "9", WAITED), ["host-heartbeat-missing"]),
    "a heartbeat that is late": (talk("1", BEAT % 1, SYNC, "9", BEAT % 2), ["host-heartbeat-missing"]),
    "no heartbeat at all": (talk("9", WAITED), ["host-heartbeat-missing"]),
    "a bolt that answers none may not read": (talk("1", BEAT % 1, "9", WAITED), []),
    "ids that never come": (talk(EMIT, *BEATS, WAITED), ["host-task-ids-missing"]),
    "ids that come late": (talk(EMIT, *BEATS[:12], "> [4]", *BEATS[12:], WAITED), []),
    "ticks that never come": (talk(*BEATS, WAITED, conf=TICKS), ["host-tick"]),
    "a handshake that takes long": (GREETED.replace("CONF", TICKS).replace("< {", "@ 40\n< {") + WAITED, []),
    "ticks that come": (talk("1", TICK % 101, "2", TICK % 102, "3", TICK % 103, *BEATS[9:], WAITED, conf=TICKS), []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_host_keeps_storms_time(name: str) -> None:
    text, wanted = CASES[name]
    assert breaches(text) == wanted


def test_a_storm_without_heartbeats_owes_none() -> None:
    assert breaches(talk("9", WAITED), storm="0.9.2") == []


NEXT = '> {"id":"","command":"next"}'
AHEAD = (NEXT, SYNC, SYNC, SYNC, NEXT, NEXT, NEXT, EMIT, SYNC, EMIT, SYNC, EMIT, SYNC)
"""Two syncs too many, which Storm takes for the answers to its next commands; then emits that it reads one by one."""
SPOUTS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "ids come with the command that reads their emit": ((*AHEAD, "> [4]", NEXT, "> [4]", NEXT, "> [4]", NEXT), []),
    "ids of an emit that was read": ((*AHEAD, "> [4]", NEXT, NEXT), ["host-task-ids-missing"]),
    "ids of an emit that nobody has read": ((*AHEAD, "> [4]", "> [4]"), ["host-task-ids-extra"]),
    "a command before its time": ((*AHEAD, "> [4]", NEXT, "> [4]", NEXT, "> [4]", NEXT, NEXT), ["host-unsynced"]),
}


def test_syncs_that_nobody_waits_for_are_counted_and_survive_a_snapshot() -> None:
    profile = msgspec.structs.replace(loader.example_profile("spout"), feed=Feed(free=True), storm="0.9.7")
    first, then = (Conversation(profile, loader.load_rulebook(), roles=roles_of(profile)) for _ in range(2))
    events = list(notation.parse(talk(*[SYNC] * 500, EMIT, SYNC, *[NEXT] * 501, "> [4]", NEXT, NEXT)))
    middle = events.index(next(event for event in events if event.channel == "in" and event.seq > 3))
    found = [finding.rule for event in events[:middle] for finding in first.feed(event)]
    assert first.state.hosted is not None
    assert len(first.state.hosted.unread) == 3
    then.restore(first.snapshot())
    found += [finding.rule for event in events[middle:] for finding in then.feed(event)]
    assert found == ["host-unsynced"]


@pytest.mark.parametrize("name", SPOUTS)
def test_what_a_spout_says_ahead_is_read_with_the_commands_that_follow(name: str) -> None:
    said, wanted = SPOUTS[name]
    assert breaches(talk(*said), kind="spout") == wanted
