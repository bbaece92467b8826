"""The judge, apart from its rules (each rule is tested by its own two transcripts, see test_catalogue)."""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.storm.diagnosis import MAX_DEPTH
from multilang_cli.protocol.storm.reading import read_frame, read_frames
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.batches import Batch, EmptyTurns
from multilang_cli.protocol.wire.framing import Frame, Framer
from multilang_cli.protocol.words import large
from multilang_cli.protocol.words.events import (
    Activation,
    Chunk,
    Deadline,
    End,
    Event,
    Exited,
    Fact,
    Gap,
    StdinClosed,
    StdoutClosed,
    WriteFailed,
)
from multilang_cli.protocol.words.messages import (
    Ack,
    Emit,
    Error,
    Fail,
    Handshake,
    Log,
    Message,
    Metrics,
    Pid,
    SpoutCommand,
    Sync,
    TaskIds,
    TupleMsg,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.verdicts import Finding, Kind, StormVersion

IDS = ["1", "2", "3"]
SAID: list[tuple[str, Message | Fact]] = [
    *[("in", TupleMsg("src", ["a", 1], 2, "default", id_)) for id_ in IDS],
    ("in", TupleMsg(None, [], -1, "__heartbeat", "9")),
    *[("out", Ack(id_)) for id_ in IDS],
    ("out", Fail("1")),
    ("out", Ack("9")),
    ("out", Emit(["x", 1], anchors=("1",))),
    ("out", Emit(["x"], stream="nope")),
    ("out", Emit(["x", 1], id="m")),
    ("out", Sync()),
    ("out", Log("hello")),
    ("out", read_frame(Frame(0, b"print\nend\n"))),
    ("out", read_frame(Frame(0, b'{"command":"akc","id":"1"}\nend\n'))),
    ("in", TaskIds([4])),
    ("in", SpoutCommand("next")),
    ("in", SpoutCommand("ack", "m")),
    ("err", Chunk(70_000)),
    ("control", Deadline("settle", 5.0)),
    ("control", Deadline("sync", 5.0)),
    ("process", StdinClosed()),
    ("process", Exited(code=1)),
]
Step = tuple[list[tuple[str, Message | Fact]], float]
BEGIN: list[tuple[str, Message | Fact]] = [("in", Handshake({}, "/pids", {})), ("out", Pid(7))]

kinds = st.sampled_from(["bolt", "spout"])
conversations = st.lists(st.sampled_from(range(len(SAID))), max_size=40)


def events_of(said: list[tuple[str, Message | Fact]], step: float = 0.25) -> list[Event]:
    return [Event(seq, seq * step, channel, body) for seq, (channel, body) in enumerate(said)]  # type: ignore[arg-type]


def judge(kind: Kind, said: list[tuple[str, Message | Fact]]) -> list[Finding]:
    conversation = Conversation(example_profile(kind), load_rulebook())
    return [finding for event in events_of(BEGIN + said) for finding in conversation.feed(event)]


@given(kinds, conversations, st.integers(0, 42))
def test_a_conversation_judged_in_two_pieces_is_judged_the_same(kind: Kind, picks: list[int], cut: int) -> None:
    events = events_of(BEGIN + [SAID[pick] for pick in picks], step=3.0)
    whole = Conversation(example_profile(kind), load_rulebook())
    first = Conversation(example_profile(kind), load_rulebook())
    expected = [finding for event in events for finding in whole.feed(event)]
    found = [finding for event in events[:cut] for finding in first.feed(event)]
    second = Conversation(example_profile(kind), load_rulebook())
    second.restore(json.loads(json.dumps(first.snapshot())))
    found += [finding for event in events[cut:] for finding in second.feed(event)]
    assert found == expected
    assert second.outlook() == whole.outlook()
    assert second.outstanding() == whole.outstanding()


FRAMES: list[tuple[Literal["in", "out"], bytes]] = [
    *[("in", wire.encode_tuple(TupleMsg("src", ["a", 1], 2, "default", id_))) for id_ in IDS],
    ("in", wire.encode_tuple(TupleMsg("src", ["\u767d"], 2, "default", "4"))),
    ("in", wire.encode_tuple(TupleMsg(None, [], -1, "__heartbeat", "9"))),
    ("in", wire.encode_tuple(TupleMsg("__system", [1], -1, "__tick", "5"))),
    ("in", b"[4]\nend\n"),
    *[("out", b'{"command":"ack","id":"%b"}\nend\n' % id_.encode()) for id_ in [*IDS, "4", "5", "9"]],
    ("out", b'{"command":"fail","id":"1"}\nend\n'),
    ("out", b'{"command":"log","msg":"hello"}\nend\n'),
    ("out", b'{"command":"sync"}\nend\n'),
    ("out", b'{"command":"error","msg":"hello"}\nend\n'),
    ("out", b'{"command":"akc","id":"1"}\nend\n'),
    *[
        ("out", b'{"command":"emit",%b}\nend\n' % fields)
        for fields in (
            b'"anchors":["1"],"tuple":["x",1]',
            b'"anchors":["2"],"tuple":["x",1],"need_task_ids":false',
            b'"tuple":["\xef\xbf\xbd",1]',
            b'"tuple":["x"]',
            b'"tuple":["x",[1]]',
            b'"tuple":["x",1],"id":"m"',
            b'"tuple":["x",1],"task":4',
            b'"tuple":["x",1],"task":0',
            b'"tuple":["x",1],"stream":"nope"',
            b'"tuple":["x",1],"stream":""',
        )
    ],
]


def batches(picks: list[int]) -> Iterator[Batch]:
    """What was picked, as if all that follows on one channel came together; an event every three seconds."""
    seq, offsets = 2, {"in": 0, "out": 0}
    for channel, group in groupby((FRAMES[pick] for pick in picks), key=itemgetter(0)):
        raws = [raw for _, raw in group]
        data, offset = b"".join(raws), offsets[channel]
        bodies = (
            read_frames(Framer(lengthy=0).feed(data)) if channel == "out" else [wire.decode(raw[:-5]) for raw in raws]
        )
        yield Batch(seq, seq * 3.0, channel, bodies, data=data, offset=offset)
        seq += len(raws)
        offsets[channel] += len(data)


@given(kinds, st.lists(st.sampled_from(range(len(FRAMES))), max_size=40), st.booleans())
@example("bolt", [3, 20], True)  # text beyond ASCII, answered with U+FFFD
@example("bolt", [4, 14, *[0, 1, 2] * 4, 14], True)  # a heartbeat, and silence
def test_batches_are_judged_as_their_events_one_by_one(kind: Kind, picks: list[int], declared: bool) -> None:
    full = example_profile(kind)
    profile = full if declared else msgspec.structs.replace(full, streams=None)
    together, alone = Conversation(profile, load_rulebook()), Conversation(profile, load_rulebook())
    for event in events_of(BEGIN):
        assert together.feed(event) == alone.feed(event) == []
    for batch in batches(picks):
        found = together.feed_all(batch)
        assert found == [finding for event in list(batch) for finding in alone.feed(event)]
        assert together.snapshot() == alone.snapshot()


def test_a_batch_that_is_right_makes_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Conversation(example_profile("bolt"), load_rulebook())
    for event in events_of(BEGIN):
        judge.feed(event)
    monkeypatch.delattr(Batch, "_made")
    right = [0, 1, 18, 7, 8, 14, 6]
    for batch in batches(right):
        assert judge.feed_all(batch) == []
    assert (judge.state.open, judge.state.task_ids, judge.state.last_seq) == ({}, 0, 1 + len(right))


@pytest.mark.parametrize("pick", [0, 6], ids=["tuple", "task ids"])
def test_a_batch_of_storms_shows_that_it_goes_on_after_a_gap(pick: int) -> None:
    together, alone = (Conversation(example_profile("bolt"), load_rulebook()) for _ in range(2))
    [batch] = batches([pick])
    for event in (*events_of(BEGIN), Event(2, 1.0, "control", Gap("ring"))):
        assert together.feed(event) == alone.feed(event) == []
    assert together.feed_all(batch) == alone.feed(batch[0]) == []
    assert together.snapshot() == alone.snapshot()


@given(kinds, conversations)
def test_an_outlook_freezes_at_the_first_fatal_finding(kind: Kind, picks: list[int]) -> None:
    conversation = Conversation(example_profile(kind), load_rulebook())
    frozen: dict[str, object] = {}
    for event in events_of(BEGIN + [SAID[pick] for pick in picks]):
        found = conversation.feed(event)
        for outlook in conversation.outlook():
            assert frozen.setdefault(outlook.version, outlook) == outlook or outlook.version not in frozen
            if outlook.fate not in {"dies", "hangs"}:
                del frozen[outlook.version]
            elif outlook.seq == event.seq:
                assert outlook.rule in {finding.rule for finding in found}


@given(conversations)
def test_what_is_outstanding_is_what_was_asked_and_not_answered(picks: list[int]) -> None:
    said = [SAID[pick] for pick in picks]
    conversation = Conversation(example_profile("bolt"), load_rulebook())
    is_open: dict[str, None] = {}
    beats = 0
    for event in events_of(BEGIN + said):
        conversation.feed(event)
        body = event.body
        if isinstance(body, TupleMsg) and body.is_heartbeat:
            beats += 1
        elif isinstance(body, TupleMsg):
            is_open[body.id] = None
        elif isinstance(body, Ack | Fail):
            is_open.pop(body.id, None)
        elif isinstance(body, Sync):
            beats = max(0, beats - 1)
        assert set(conversation.outstanding().tuples) == set(is_open)
        assert len(conversation.outstanding().heartbeats) == beats


def test_after_a_gap_rules_that_need_the_past_are_silent() -> None:
    said: list[tuple[str, Message | Fact]] = [("out", Ack("1")), ("out", Emit(["x", 1], anchors=("2",)))]
    assert [finding.rule for finding in judge("bolt", said)] == ["ack-unknown", "anchor-unknown"]
    assert judge("bolt", [("control", Gap("a lost part")), *said]) == []


def test_a_message_that_is_not_read_may_have_settled_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as less:
        less.setattr(large, "MOST_PARTS", 2**17)
        unread = [read_frame(Frame(0, b'{"command":"ack","id":"1",%b}\nend\n' % b",".join([b'"key":1234'] * 2**17)))]
        told = [wire.decode(b'{"conf":{},"more":[%b]}' % b",".join([b"12345678"] * 2**18))]
    for channel, message in (("out", unread[0]), ("in", told[0])):
        said: list[tuple[str, Message | Fact]] = [("in", SAID[0][1]), (channel, message)]
        assert {finding.rule for finding in judge("bolt", said)} <= {"frame-too-long"}
        found = judge("bolt", [*said, ("out", Ack("1")), ("out", Emit(["x", 1], anchors=("2",)))])
        assert {finding.rule for finding in found} <= {"frame-too-long"}
    ended: list[tuple[str, Message | Fact]] = [("process", StdinClosed(stdout=True)), ("out", unread[0])]
    assert judge("bolt", ended) == []


def test_of_many_anchors_that_are_not_open_some_are_told() -> None:
    found = judge("bolt", [("out", Emit(["x", 1], anchors=tuple(map(str, range(9, 200_000)))))])
    assert {finding.rule for finding in found} == {"anchor-unknown"}
    assert len(found) == 1000


@pytest.mark.parametrize(
    "outlooks",
    [[1], [[1, 2]], [["2.8.3", "nofate", 1, "ack-twice"]], [["2.8.3", "dies", "x", None]], [["2.8.3"]], None],
    ids=range(6),
)
def test_a_snapshot_that_is_none_is_refused(outlooks: Any) -> None:
    judge_ = Conversation(example_profile("bolt"), load_rulebook())
    with pytest.raises(msgspec.ValidationError):
        judge_.restore({**judge_.snapshot(), "outlooks": outlooks})


def test_the_outlook_of_a_version_that_is_not_known_is_passed_over() -> None:
    judge_ = Conversation(example_profile("bolt"), load_rulebook())
    before = judge_.outlook()
    judge_.restore({**judge_.snapshot(), "outlooks": [["99.0", "dies", 1, "ack-twice"]]})
    assert judge_.outlook() == before


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "said",
    [
        Ack(LONG),
        Emit(["x", 1], anchors=(LONG,)),
        Emit(["x", 1], stream=LONG),
        read_frame(Frame(0, b'{"command":"%s"}\nend\n' % LONG.encode())),
        read_frame(Frame(0, b'{"command":"ack","id":"1"} %s\nend\n' % LONG.encode())),
        read_frame(Frame(0, b'{"command":"emit","tuple":[%s,1]}\nend\n' % (b"9" * len(LONG)))),
    ],
    ids=["id", "anchor", "stream", "command", "text", "number"],
)
def test_a_finding_is_not_as_long_as_what_it_is_about(said: Message) -> None:
    findings = judge("bolt", [("out", said)])
    assert findings
    assert max(len(msgspec.json.encode(finding)) for finding in findings) < len(LONG) // 10


@pytest.mark.parametrize(
    "text", [b'{"command":"ack","id":"\\ud800"}', b'{"command":"emit","tuple":[],"stream":"\\ud800"}']
)
def test_a_finding_can_be_written_down_whatever_it_is_about(text: bytes) -> None:
    findings = judge("bolt", [("out", read_frame(Frame(0, text + b"\nend\n")))])
    assert any("\\ud800" in finding.subject for finding in findings)
    assert msgspec.json.decode(msgspec.json.encode(findings))


@pytest.mark.parametrize("kind", ["bolt", "spout"])
@pytest.mark.parametrize(
    "text",
    [
        b'{"command":"emit","tuple":["\xff",%s]}',
        b'{"command":%s}',
        b'{"command":"emit","id":%s,"tuple":["x"],}',
        b"{command:emit,tuple:[x],id:-%s}",
    ],
)
def test_no_integer_is_too_long_for_a_finding(text: bytes, kind: Kind) -> None:
    frame = Frame(0, text % (b"9" * 6000) + b"\nend\n")
    for first in (False, True):
        assert judge(kind, [("out", read_frame(frame, expecting_pid=first))])


@pytest.mark.parametrize("deep", ['["é"]', '{"é":1}'])
def test_no_value_is_nested_too_deep_to_be_compared_with_what_came(deep: str) -> None:
    text = f'{{"comp":"src","tuple":[{"[" * 1500}{deep}{"]" * 1500}],"task":2,"stream":"default","id":"1"}}'
    value = json.loads(deep)
    for _ in range(1500):
        value = [value]
    told = TupleMsg("src", [value], 2, "default", "1")
    event = Event(2, 0.0, "in", told, text.encode() + b"\nend\n", 0)
    conversation = Conversation(example_profile("bolt"), load_rulebook())
    assert conversation.feed(event) == []
    assert conversation.state.texts == ["é"]


def test_next_deadline_follows_the_limits_of_the_profile() -> None:
    conversation = Conversation(example_profile("bolt", {"limits": {"pid": 5.0, "settle": 8.0}}), load_rulebook())
    conversation.feed(Event(0, 1.0, "in", Handshake({}, "/pids", {})))
    assert conversation.next_deadline() == ("pid", 6.0)
    conversation.feed(Event(1, 1.5, "out", Pid(7)))
    assert conversation.next_deadline() is None
    conversation.feed(Event(2, 2.0, "in", TupleMsg("src", ["a", 1], 2, "default", "1")))
    assert conversation.next_deadline() == ("settle", 10.0)


FED = [SAID[n] for n in range(3)]
FOURTH: tuple[str, Message | Fact] = ("in", TupleMsg("src", ["a", 1], 2, "default", "4"))
BEAT = SAID[3]
ACKED = [SAID[n] for n in range(4, 7)]
SYNC: tuple[str, Message | Fact] = ("out", Sync())
GARBLED: tuple[str, Message | Fact] = ("in", wire.decode(b'{"stream":"__heartbeat","task":-1}'))
SYNCED = [each for ack in ACKED for each in (ack, SYNC)]
AGAIN: list[tuple[str, Message | Fact]] = [
    each for n in "567" for each in (("in", TupleMsg("src", ["a", 1], 2, "default", n)), ("out", Ack(n)), SYNC)
]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([*FED, *ACKED], 0),
        ([*FED, *SYNCED], 1),
        ([*FED, *SYNCED, *AGAIN], 1),
        ([*FED, *SYNCED[:4]], 0),
        ([*FED, *(one for ack in ACKED for one in (BEAT, ack, SYNC))], 0),
        ([BEAT, BEAT, BEAT, *FED, *ACKED, SYNC, SYNC, SYNC], 0),
        ([BEAT, *FED, *SYNCED, SYNC], 0),
        ([BEAT, *FED, *SYNCED, *AGAIN], 1),
        ([*FED, SYNC, SYNC, SYNC], 0),
        ([SYNC, SYNC, SYNC, *FED, *ACKED], 0),
        ([*FED, *ACKED, SYNC, SYNC, SYNC], 0),
        ([*FED, *SYNCED[:4], FOURTH, ("out", Ack("4")), SYNC], 1),
        ([*FED, *SYNCED[:4], ("control", Gap("ring")), FOURTH, ("out", Ack("4")), SYNC], 0),
        ([GARBLED, *FED, *SYNCED], 0),
        ([*FED, *SYNCED[:4], SYNC, ACKED[2], SYNC], 0),
        # Now and then, by a clock of its own: behind several, or behind none.
        ([*FED, FOURTH, *SYNCED[:2], *ACKED[1:], SYNC, ("out", Ack("4")), SYNC, *AGAIN[:3]], 0),
        ([*FED, *(one for ack in ACKED for one in (ack, SYNC, SYNC))], 0),
    ],
)
def test_a_bolt_that_syncs_behind_what_it_settles_is_noted_once(said: Any, told: int) -> None:
    assert [each.rule for each in judge("bolt", said)].count("sync-unasked") == told


@pytest.mark.parametrize("version", load_rulebook().versions, ids=lambda version: version.id)
def test_a_bolt_may_sync_where_storm_sends_no_heartbeats(version: StormVersion) -> None:
    profile = msgspec.structs.replace(example_profile("bolt"), storm=version.id)
    conversation = Conversation(profile, load_rulebook())
    found = [each.rule for event in events_of([*BEGIN, *FED, *SYNCED]) for each in conversation.feed(event)]
    assert found == ["sync-unasked"] * version.heartbeats


@pytest.mark.parametrize("kind", ["bolt", "spout"])
def test_the_end_after_stdin_was_closed_is_right(kind: Kind) -> None:
    ended: list[tuple[str, Message | Fact]] = [("process", Exited(code=0)), ("control", End())]
    assert judge(kind, [("process", StdinClosed()), *ended]) == []
    assert [finding.rule for finding in judge(kind, ended)] == ["exited"]


def test_fingerprints_are_the_same_from_run_to_run_and_differ_by_rule() -> None:
    def prints(id_: str) -> list[str]:
        said: list[tuple[str, Message | Fact]] = [("out", Ack(id_)), ("out", Fail(id_)), ("out", Emit(["x"], "nope"))]
        return [finding.fingerprint for finding in judge("bolt", said)]

    assert prints("11") == prints("22")
    assert len(set(prints("11"))) == 3


def at(times: list[float], said: list[tuple[str, Message | Fact]], kind: Kind, storm: str = "2.8.3") -> list[str]:
    conversation = Conversation(example_profile(kind, {"storm": storm}), load_rulebook(storm))
    events = events_of(BEGIN, step=0.0) + [
        Event(2 + i, t, channel, body)  # type: ignore[arg-type]
        for i, (t, (channel, body)) in enumerate(zip(times, said, strict=True))
    ]
    return [finding.rule for event in events for finding in conversation.feed(event)]


HEARTBEAT = ("in", TupleMsg(None, [], -1, "__heartbeat", "9"))
TUPLE = ("in", TupleMsg("src", ["a", 1], 2, "default", "1"))
NEXT = ("in", SpoutCommand("next"))
EMIT = ("out", Emit(["x", 1], id="m"))
GAP = ("control", Gap("a lost part"))


def test_a_gap_forgets_what_was_pending_but_not_what_was_settled() -> None:
    assert at([10.0, 60.0], [HEARTBEAT, TUPLE], "bolt") == ["heartbeat-timeout"]
    assert at([10.0, 11.0, 60.0], [HEARTBEAT, GAP, TUPLE], "bolt") == []
    assert at([1.0, 60.0], [NEXT, NEXT], "spout") == ["heartbeat-timeout"]
    assert at([1.0, 2.0, 60.0], [NEXT, GAP, NEXT], "spout") == []
    assert at([1.0, 1.1, 1.2], [NEXT, EMIT, EMIT], "spout") == ["message-id-reused"]
    assert at([1.0, 1.1, 1.2, 1.3, 1.4], [NEXT, EMIT, GAP, NEXT, EMIT], "spout") == []
    assert at([1.0, 1.1, 1.2, 1.3], [TUPLE, ("out", Ack("1")), GAP, ("out", Ack("1"))], "bolt") == ["ack-twice"]


SYNC = ("out", Sync())
LOG = ("out", Log("busy"))
NEAR, DEAD = "silence-near-timeout", "heartbeat-timeout"


@pytest.mark.parametrize(
    ("storm", "kind", "times", "said", "found"),
    [
        ("2.8.3", "bolt", [0.0, 29.9], [HEARTBEAT, SYNC], []),
        ("2.8.3", "bolt", [0.0, 30.5], [HEARTBEAT, SYNC], [NEAR]),
        ("2.8.3", "bolt", [0.0, 31.5], [HEARTBEAT, SYNC], [DEAD]),
        ("2.8.3", "bolt", [0.0, 20.0, 40.0], [HEARTBEAT, LOG, SYNC], []),
        ("0.9.7", "bolt", [0.0, 20.0, 40.0], [HEARTBEAT, LOG, SYNC], [DEAD]),
        ("0.9.7", "bolt", [0.0, 20.0, 30.5], [HEARTBEAT, LOG, SYNC], [NEAR]),
        ("0.9.2", "bolt", [0.0, 40.0], [HEARTBEAT, SYNC], []),
        ("2.8.3", "bolt", [0.0, 40.0], [TUPLE, ("out", Ack("1"))], []),
        ("2.8.3", "bolt", [0.0, 1.0, 40.0], [HEARTBEAT, ("process", StdinClosed()), SYNC], []),
        ("2.8.3", "spout", [0.0, 30.5], [NEXT, SYNC], [NEAR]),
        ("2.8.3", "spout", [0.0, 31.5], [NEXT, SYNC], [DEAD]),
        ("2.8.3", "spout", [0.0, 20.0, 40.0], [NEXT, LOG, SYNC], []),
        ("2.8.3", "spout", [40.0, 42.0], [NEXT, SYNC], []),
        ("1.0.2", "spout", [40.0, 40.1], [NEXT, SYNC], []),
        ("1.0.2", "spout", [40.0, 42.0], [NEXT, SYNC], [DEAD]),
        ("1.0.2", "spout", [39.0, 40.0, 42.0], [("control", Activation(active=True)), NEXT, SYNC], []),
        ("0.9.2", "spout", [0.0, 40.0], [NEXT, SYNC], []),
    ],
)
def test_silence_is_measured_by_the_clock_of_the_storm_class(
    storm: str, kind: Kind, times: list[float], said: list[tuple[str, Message | Fact]], found: list[str]
) -> None:
    assert at(times, said, kind, storm) == found


def outlook(
    kind: Kind, said: list[tuple[str, Message | Fact | bytes]], storm: str = "2.8.3", conf: dict[str, Any] | None = None
) -> str:
    """The fate that the version `storm` deals out; bytes are frames of the component."""
    conversation = Conversation(example_profile(kind, {"storm": storm, "conf": conf or {}}), load_rulebook())
    for seq, (channel, body) in enumerate([*BEGIN, *said]):
        raw = body + b"\nend\n" if isinstance(body, bytes) else b""
        message = read_frame(Frame(seq, raw)) if isinstance(body, bytes) else body
        conversation.feed(Event(seq, seq * 0.1, channel, message, raw, seq))  # type: ignore[arg-type]
    return next(each.fate for each in conversation.outlook() if each.version == storm)


def test_null_among_the_anchors_harms_no_spout() -> None:
    null = b'{"command":"emit","anchors":[null],"tuple":["x",1]}'
    assert outlook("spout", [NEXT, ("out", null), ("out", Sync())]) == "survives"
    assert outlook("bolt", [TUPLE, ("out", null)]) == "dies"


def test_what_storm_garbles_is_not_held_against_the_component() -> None:
    conversation = Conversation(example_profile("bolt"), load_rulebook())
    conversation.feed(Event(0, 0.0, "in", Handshake({}, "/pids", {})))
    (finding,) = conversation.feed(Event(1, 0.1, "in", wire.decode(b"{bad")))
    assert (finding.rule, finding.level) == ("host-message", "note")
    assert conversation.expecting_pid


BAD = ("in", wire.decode(b"{bad"))
TASK = ("in", TupleMsg("src", ["a", 1], 2, "default", "1"))


@pytest.mark.parametrize(
    ("kind", "said", "blamed"),
    [
        ("bolt", [BAD, ("control", Exited(1))], []),
        ("bolt", [BAD, ("out", Error("what?")), ("control", StdoutClosed()), ("control", Exited(0))], []),
        ("bolt", [BAD, ("out", Ack("it was 7")), TASK, ("out", Ack("1"))], []),
        ("bolt", [BAD, TASK, ("out", Ack("1")), ("control", Exited(1))], ["exited"]),
        ("spout", [BAD, ("control", WriteFailed("EPIPE")), ("control", Exited(1))], []),
        ("spout", [BAD, ("out", Error("what?")), ("out", Sync()), NEXT, ("out", Sync())], []),
        ("spout", [BAD, ("out", Sync()), NEXT, ("control", Exited(1))], ["exited"]),
        ("spout", [NEXT, ("out", Sync()), ("out", Sync())], ["sync-extra"]),
    ],
)
def test_what_cannot_be_read_may_end_a_component_or_be_answered(
    kind: Kind, said: list[tuple[str, Message | Fact]], blamed: list[str]
) -> None:
    conversation = Conversation(example_profile(kind), load_rulebook())
    started: list[tuple[str, Message | Fact]] = [("in", Handshake({}, "/pids", {})), ("out", Pid(4711))]
    found = conversation.feed_all(events_of([*started, *said]))
    assert [finding.rule for finding in found if finding.level == "must"] == blamed


def test_what_a_spout_says_between_commands_counts_with_the_next_one() -> None:
    text = ("out", b"debug")
    synced: list[tuple[str, Message | Fact | bytes]] = [NEXT, ("out", Sync())]
    assert outlook("spout", [*synced, text]) == "survives"
    assert outlook("spout", [*synced, text, ("control", End())]) == "survives"
    assert outlook("spout", [*synced, text, NEXT]) == "dies"
    assert outlook("spout", [*synced, EMIT, ("control", End())]) == "loses-data"


def test_an_unasked_sync_answers_the_next_command() -> None:
    answered: list[tuple[str, Message | Fact | bytes]] = [NEXT, ("out", Sync()), ("out", Sync()), NEXT]
    assert outlook("spout", [*answered, ("out", b"debug")]) == "survives"
    assert outlook("spout", [*answered, ("out", b"debug"), NEXT]) == "dies"
    assert outlook("spout", [NEXT, EMIT, ("in", SpoutCommand("ack", "m")), ("out", Sync()), ("out", b"x")]) == "dies"


LOCAL = {"storm.cluster.mode": "local"}


@pytest.mark.parametrize(
    "said", [b"debug", b'{"command":"ack","id":"5"}', b'{"command":"emit","stream":"nope","tuple":[]}']
)
def test_in_local_mode_an_error_of_a_bolt_ends_nothing_before_the_next_tuple(said: bytes) -> None:
    lost = "survives" if said == b"debug" else "loses-data"
    assert outlook("bolt", [TUPLE, ("out", said)], conf=LOCAL) == lost
    assert outlook("bolt", [TUPLE, ("out", said), HEARTBEAT], conf=LOCAL) == lost
    assert outlook("bolt", [TUPLE, ("out", said), TUPLE], conf=LOCAL) == "dies"
    assert outlook("bolt", [TUPLE, ("out", said)]) == "dies"
    assert outlook("spout", [NEXT, ("out", said)], conf=LOCAL) == "dies"


@pytest.mark.parametrize(
    ("storm", "said", "fate"),
    [
        ("1.2.4", b'{"command":"emit","tuple":["x","a" "b"]}', "dies"),
        ("2.5.0", b'{"command":"emit","tuple":["x","a" "b"]}', "survives"),
        ("2.8.3", b'{"command":"emit","stream":,"tuple":["x",1]}', "dies"),
        ("2.8.3", b"{'command':'emit','tuple':['x',['y']]}", "loses-data"),
        ("2.8.3", b'{"command":"emit",#:["x",1]}', "loses-data"),
        ("2.8.3", b'{"command":"ack","id":nope}', "dies"),
        ("2.8.3", b'{"command":"metrics",,"name":"","params":1}', "dies"),
        ("2.8.3", b'{"tuple":["x",1,],"stream":"Default","command":"emit"}', "dies"),
        ("2.8.3", b'{"command":"emit","anchors":["5"],"tuple":null}', "dies"),
        ("2.8.3", b'{"command":"emit","stream":"dir"}', "dies"),
        ("2.8.3", b'{"command":"emit","tuple":null,"task":4294967302}', "survives"),
        ("2.8.3", b'{"command":"emit","tuple":[{"a":1},1],"task":4294967302}', "loses-data"),
        ("2.8.3", b'{"command":"emit","tuple":[],"stream":"__ack_ack"}', "dies"),
        ("2.8.3", b'{"command":"emit","tuple":[1],"task":4294967302,"stream":"__system"}', "dies"),
        ("2.8.3", b'{"command":"emit","tuple":[1,2],"task":4294967297,"stream":"__ack_ack"}', "dies"),
        ("2.8.3", b'{"command":"log","msg":"m"}{"pid":12}', "survives"),
        ("2.8.3", b'{"command":"emit","tuple":["x",,0.30000000000000004],"stream":"lone"}', "survives"),
        ("2.8.3", b'{"command":"emit","stream":"__metrics"}', "survives"),
        ("2.8.3", b'{"command":"emit","stream":"__ack_ack"}', "dies"),
        ("2.8.3", b'{"command":"emit","tuple":["x",1.000000000000000000e-2147483648]}', "dies"),
        ("2.5.0", b'{"command":"emit","tuple":["x",1.000000000000000000e-2147483648]}', "survives"),
        ("2.8.3", b'{"command":"log","msg":"\\n\x7f"}', "loses-data"),
        ("2.8.3", b'{"command":"log","msg":"\\n","name":"\x7f"}', "survives"),
        ("2.8.3", b'{"command":"ack","id":"1"}{"command":"sync"}', "survives"),
        ("2.8.3", b'{"command":"snc"}', "ignored"),
        ("2.8.3", b'{"command":"emit","tuple":["x",1],"id":"\\q"}', "survives"),
        ("2.8.3", b'{"command":"emit","tuple":["_\\ud83d\\ude00",1,]}', "survives"),
    ],
)
def test_a_frame_is_judged_as_what_this_storm_takes_it_for(storm: str, said: bytes, fate: str) -> None:
    assert outlook("bolt", [TUPLE, ("out", said)], storm) == fate


@pytest.mark.parametrize(("metrics", "found"), [(None, []), ({}, ["metric-unregistered"]), ({"m": "count"}, [])])
def test_a_metric_is_unregistered_only_where_somebody_told_which_are(
    metrics: dict[str, str] | None, found: list[str]
) -> None:
    judge = Conversation(example_profile("bolt", {"metrics": metrics}), load_rulebook())
    said: list[tuple[str, Message | Fact]] = [("out", Metrics("m", 1)), ("out", Metrics("", 1))]
    findings = [finding for event in events_of(BEGIN + said) for finding in judge.feed(event)]
    assert [finding.rule for finding in findings] == [*found, "metric-name"]
    assert {finding.level for finding in findings} == {"must"}


def test_what_reaches_no_task_is_acked_inside_the_emit_from_0_10_to_1_2() -> None:
    lone = ("out", Emit(["x", 1], stream="lone", id="m"))
    hang = ("control", Deadline("sync", 5.0))
    fates = {storm: outlook("spout", [NEXT, lone, hang], storm) for storm in ("0.9.7", "0.10.2", "1.2.4", "2.8.3")}
    assert fates == {"0.9.7": "dies", "0.10.2": "hangs", "1.2.4": "hangs", "2.8.3": "dies"}


def test_a_lost_sync_of_a_spout_is_missed_only_if_no_other_comes() -> None:
    both = ("out", b'{"command":"emit","tuple":["x",1]}{"command":"sync"}')
    assert outlook("spout", [NEXT, both, ("out", Sync()), NEXT]) == "survives"
    assert outlook("spout", [NEXT, both, ("control", Deadline("sync", 30.0))]) == "dies"


@pytest.mark.parametrize(("last", "fate"), [(4.5, "hangs"), (0.5, "dies")])
def test_storm_waits_for_ever_for_a_spout_that_talks_on(last: float, fate: str) -> None:
    said: list[tuple[float, Any, Any]] = [
        (0.0, *NEXT),
        (0.4, "out", Log("a post")),
        (last, "out", Log("a post")),
        (5.0, "control", Deadline("sync", 5.0)),
    ]
    judge = Conversation(example_profile("spout"), load_rulebook())
    before = events_of(BEGIN)
    later = [Event(len(before) + n, before[-1].t + t, channel, body) for n, (t, channel, body) in enumerate(said)]
    [finding] = [finding for event in [*before, *later] for finding in judge.feed(event)]
    assert (finding.rule, finding.fates["2.8.3"]) == ("sync-missing", fate)


ASKED: list[list[tuple[str, Message | Fact]]] = [
    [("in", SpoutCommand("next")), ("out", Sync())],
    [("in", SpoutCommand("next")), ("out", Emit(["x", 1], id="m")), ("in", TaskIds([4])), ("out", Sync())],
    [("in", SpoutCommand("next")), ("out", Emit(["x", 1])), ("out", Sync())],
    [("in", SpoutCommand("next"))],
    [("in", SpoutCommand("ack", "m")), ("out", Sync())],
    [("in", SpoutCommand("fail", "m"))],
    [("in", Activation(True))],
    [("in", Activation(False))],
    [("out", Sync())],
    [("out", Log("hello"))],
    [("out", read_frame(Frame(0, b"print\nend\n")))],
    [("err", Chunk(70_000))],
    [("control", Deadline("sync", 5.0))],
    [("control", Gap("lost"))],
    [("process", StdinClosed())],
    [("process", Exited(code=1))],
]
QUIET = ASKED[0]
steps = st.lists(st.tuples(st.sampled_from([QUIET, QUIET, *ASKED]), st.sampled_from([0.001, 0.5, 29.0, 31.0])))


@pytest.mark.long
@given(steps, st.integers(0, 250))
@example([], 250)
@example([(QUIET, 31.0)], 100)
@example([([("control", Gap("lost"))], 0.001), ([("out", Sync())], 0.001)], 0)
def test_an_empty_next_is_passed_as_the_handlers_judge_it(steps: list[Step], quiet: int) -> None:
    """By the times of a next and its sync or by their events: the same findings, and the same state behind them."""
    at_once, one_by_one = (Conversation(example_profile("spout"), load_rulebook()) for _ in range(2))
    passed, seq, now = 0, 0, 0.0
    for said, wait in [(BEGIN, 0.1), *[(QUIET, 0.5)] * quiet, *steps, (QUIET, 0.1)]:
        events = [Event(seq + n, now + n * wait, channel, body) for n, (channel, body) in enumerate(said)]  # type: ignore[arg-type]
        seq, now = seq + len(events), now + len(events) * wait
        found = at_once.pass_empty_next(events[0].seq, events[0].t, events[1].t) if said is QUIET else None
        passed += found is not None
        assert one_by_one.feed_all(events) == (at_once.feed_all(events) if found is None else found)
        assert one_by_one.snapshot() == at_once.snapshot()
    assert passed or not quiet


Turn = tuple[list[Message], list[Message]]
NEXT_ALONE: Turn = ([SpoutCommand("next")], [Sync()])
GIVEN_ONE: Turn = ([SpoutCommand("next")], [Emit(["x", 1], id="m"), Sync()])
TURNS: list[Turn] = [
    NEXT_ALONE,
    GIVEN_ONE,
    ([TaskIds([4]), TaskIds([]), SpoutCommand("next")], [Emit(["x", 1], id=7), Emit(["y", 2], id="7"), Sync()]),
    ([SpoutCommand("next")], [Emit(["x", 1], need_task_ids=False), Emit(["x", 1], stream="default"), Sync()]),
    ([SpoutCommand("next")], [Emit(["x", 1], id="m"), Emit(["y", 1], id="m"), Sync()]),
    ([TaskIds([4]), SpoutCommand("ack", "m")], [Sync()]),
    ([SpoutCommand("fail", "m")], [Emit(["x", 1], id="m"), Sync()]),
    ([SpoutCommand("fail", 7)], [Sync()]),
    ([SpoutCommand("activate")], [Sync()]),
    ([SpoutCommand("deactivate")], [Sync()]),
    ([SpoutCommand("next"), TaskIds([4])], [Sync()]),
    ([SpoutCommand("next")], [Emit(["x", 1]), Log("hello"), Sync()]),
    ([SpoutCommand("next")], [Sync(), Sync()]),
    ([SpoutCommand("next")], [Sync(), Emit(["x", 1])]),
    ([SpoutCommand("next")], [Emit(["x", 1])]),
    ([SpoutCommand("next")], [Emit(["x"]), Sync()]),
    ([SpoutCommand("next")], [Emit(["x", 1], stream="nope"), Sync()]),
    ([SpoutCommand("next")], [Emit(["x", 1], anchors=("1",)), Sync()]),
    ([SpoutCommand("next")], [Emit(["x", 1], task=4), Sync()]),
    ([SpoutCommand("next")], [Emit(["x", {}], hazards=("nested",)), Sync()]),
    ([SpoutCommand("next")], [Ack("m"), Sync()]),
]
plain_turns = st.sampled_from([NEXT_ALONE, GIVEN_ONE, *TURNS[:8]])
lone = [([(channel, body)], False) for said in ASKED for channel, body in said]
SETTLED: list[tuple[str, Any]] = [("in", SpoutCommand("ack", "m")), ("out", Sync())]
turns = st.lists(
    st.tuples(st.one_of(plain_turns, st.sampled_from([*TURNS, *lone])), st.sampled_from([0.001, 29.0, 31.0]))
)


@pytest.mark.long
@given(turns, st.integers(0, 250), st.sampled_from(["2.8.3", "0.9.7", "1.2.4"]), st.booleans())
@example([(GIVEN_ONE, 0.001), (TURNS[5], 0.001)], 250, "2.8.3", False)
def test_a_turn_of_a_spout_is_passed_as_the_handlers_judge_it(
    steps: list[tuple[Any, float]], quiet: int, storm: str, without_ackers: bool
) -> None:
    """A command and its whole answer at once, or each event by itself: the same findings, and the same state."""
    profile = msgspec.structs.replace(example_profile("spout"), storm=storm)
    if without_ackers:
        profile = msgspec.structs.replace(profile, conf={**profile.conf, "topology.acker.executors": 0})
    at_once, one_by_one = (Conversation(profile, load_rulebook()) for _ in range(2))
    passed, seq, now = 0, 0, 0.0
    for (told, said), wait in [((BEGIN, False), 0.1), *[(NEXT_ALONE, 0.01)] * quiet, *steps, (GIVEN_ONE, 0.1)]:
        if said is False:
            events = [Event(seq + n, now, channel, body) for n, (channel, body) in enumerate(told)]
            found = at_once.feed_all(events)
        else:
            halves = [("in", now, told), ("out", now + wait, said)]
            every = [(channel, t, body) for channel, t, bodies in halves for body in bodies]
            events = [Event(seq + n, t, channel, body) for n, (channel, t, body) in enumerate(every)]  # type: ignore[arg-type]
            both = [
                Batch(first, t, channel, bodies, data=b"", offset=0)  # type: ignore[arg-type]
                for first, (channel, t, bodies) in zip((seq, seq + len(told)), halves, strict=True)
            ]
            passes = at_once.pass_turn(*both)
            passed += passes
            found = [] if passes else at_once.feed_all(events)
        seq, now = seq + len(events), now + wait
        assert one_by_one.feed_all(events) == found
        assert one_by_one.snapshot() == at_once.snapshot()
    assert passed or not quiet


@pytest.mark.long
@given(
    st.lists(st.tuples(st.sampled_from([GIVEN_ONE, NEXT_ALONE, *lone]), st.integers(0, 3))),
    st.sampled_from([0.001, 29.0, 31.0]),
)
@example([(GIVEN_ONE, 3), (NEXT_ALONE, 2)], 0.001)
@example([(([("control", Gap("lost"))], False), 0), (([("out", Sync())], False), 1)], 0.001)
def test_empty_turns_are_passed_as_the_handlers_judge_them(steps: list[tuple[Any, int]], wait: float) -> None:
    """Acks and fails, and the sync behind each, at once or by their events: the same findings, and the same state."""
    at_once, one_by_one = (Conversation(example_profile("spout"), load_rulebook()) for _ in range(2))
    passed, seq, now = 0, 0, 0.0
    for (told, said), count in [((BEGIN, False), 0), ((SETTLED, False), 1), *steps, ((SETTLED, False), 2)]:
        bodies = told if said is False else [*(("in", each) for each in told), *(("out", each) for each in said)]
        events = [Event(seq + n, now, channel, body) for n, (channel, body) in enumerate(bodies)]
        assert one_by_one.feed_all(events) == at_once.feed_all(events)
        turns = EmptyTurns(seq + len(events), (0, 0))
        for number in range(count):
            command = SpoutCommand("fail" if number else "ack", "m" if number else 7)
            turns.add(command, b"", b"", (now + number * wait, now + (number + 1) * wait))
        passes = bool(count) and at_once.pass_empty_turns(turns)
        passed += passes
        assert one_by_one.feed_all(list(turns)) == ([] if passes else at_once.feed_all(turns))
        seq, now = turns.seq + len(turns), now + wait * count
        assert one_by_one.snapshot() == at_once.snapshot()
    assert passed or wait > 1.0


DEEP = ["command", "id", "tuple", "anchors", "stream", "task", "msg", "level", "name", "params", "pid"]


@pytest.mark.long
@given(
    kinds,
    st.sampled_from(DEEP),
    st.sampled_from(["emit", "ack", "log", "metrics", "akc"]),
    st.integers(380, 1000) | st.just(5000),
)
def test_no_field_is_nested_too_deep_to_be_judged(kind: Kind, field: str, command: str, depth: int) -> None:
    """Wherever a component nests deep: Python's limit on that is met by no reader, writer or sentence of the judge."""
    said = {"command": json.dumps(command), "id": '"m"', "tuple": '["x", 1]', field: "[" * depth + "]" * depth}
    text = "{{{}}}".format(",".join(f'"{name}":{value}' for name, value in said.items()))
    conversation = Conversation(example_profile(kind), load_rulebook())
    events = events_of([*BEGIN, ("out", read_frame(Frame(0, f"{text}\nend\n".encode())))])
    found = [finding.rule for event in events for finding in conversation.feed(event)]
    assert "json-too-deep" in found or depth < MAX_DEPTH
    assert json.dumps(conversation.snapshot())


def test_a_storm_that_never_asks_for_it_does_not_die_of_silence() -> None:
    said: list[tuple[str, Message | Fact]] = [("in", SpoutCommand("activate", "")), ("out", Sync())]
    events = [msgspec.structs.replace(event, t=event.t + 40.0 * (event.body == Sync())) for event in events_of(said)]
    fates = next(f.fates for f in Conversation(example_profile("spout"), load_rulebook()).feed_all(events))
    assert (fates["0.10.2"], fates["1.2.4"], fates["2.8.3"]) == ("survives", "dies", "dies")


@pytest.mark.parametrize(
    "number", ["9223372036854775807", "10000000000000000000", "-9223372036854775809", "1e400", "0.30000000000000004"]
)
def test_numbers_of_java_are_compared_where_an_id_is_used_again(number: str) -> None:
    frames = [f'{{"command":"emit","id":"m","tuple":[{value}]}}\nend\n'.encode() for value in (number, 1)]
    said: list[tuple[str, Message | Fact]] = []
    for frame in frames:
        said += [("in", SpoutCommand("next", "")), ("out", read_frame(Frame(0, frame))), ("out", Sync())]
    rules = {finding.rule: finding.level for finding in judge("spout", said)}
    assert rules["message-id-reused"] == "should"
