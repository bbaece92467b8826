"""Our side of the pipe against components that behave in every way one can: real processes, whatever they print."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.driver.process import ComponentProcess
from multilang_cli.driver.pump import Pump
from multilang_cli.protocol.words.events import Activation, Deadline
from multilang_cli.protocol.words.messages import Log, SpoutCommand, Sync, TaskIds, TupleMsg
from multilang_cli.protocol.words.verdicts import Profile
from tests.processes import until
from tests.sessions import ACK_ALL, LIMIT, SYNC_ONCE, bolt_of, deadline, playing, seen, spout_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.words.verdicts import Kind

pytestmark = pytest.mark.component


def rules_of(session: Session) -> list[str]:
    return [finding.rule for finding in session.findings]


def rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


def test_a_hang_says_who_waits_on_whom(tmp_path: Path) -> None:
    with playing(tmp_path, "os.write(2, b'hello stderr')\nmessage()\nmessage()\n") as (session, handshake):
        assert not session.handshake(handshake, 0.5)
    (finding,) = session.findings
    assert finding.rule == "handshake-silent"
    assert finding.message == (
        "no pid after the handshake, and that will not change: it has read everything and waits for more; "
        "the component is blocked reading its stdin, which is empty: it waits for Storm, and Storm waits for its pid"
    )
    assert deadline(session).facts == (
        "in the pipes: stdin 0 bytes, stdout 0 bytes, stderr 0 bytes; "
        "so far 0 bytes of stdout and 12 bytes of stderr; threads: read of descriptor 0 (stdin)"
    )


def test_time_in_which_we_keep_the_rest_back_is_not_the_components(tmp_path: Path) -> None:
    with playing(tmp_path, ACK_ALL) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        bolt = bolt_of(session)
        bolt.stdin.pieces.piece = 1
        bolt.send(["\u00e9" * 10_000])
        assert bolt.settle_all(0.5)
    assert not session.findings


@pytest.mark.parametrize("part", [(Pump, "move"), (ComponentProcess, "exchange")])
def test_time_in_which_we_stood_still_is_not_the_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: tuple[type, str]
) -> None:
    paused, real = [0.0], time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + paused[0])
    with playing(tmp_path, SYNC_ONCE, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        plain = getattr(*part)

        def pausing(*arguments: object) -> object:
            result = plain(*arguments)
            paused[0] += 100.0 if paused[0] < 300.0 else 0.0
            return result

        monkeypatch.setattr(*part, pausing)
        assert spout.call("next" if part[1] == "exchange" else "activate", limit=LIMIT)
        assert session.now < 2 * LIMIT
    assert paused[0] >= 100.0
    assert session.findings == []


TWO_EMITS = """
shake()
for number in range(4):
    while isinstance(command := message(), list): pass
    if command["command"] == "next":
        for each in range(number): say('{"command":"emit","id":"%d.%d","tuple":["a"]}\\nend\\n' % (number, each))
    say('{"command":"sync"}\\nend\\n')
while True: message()
"""


def test_a_spout_without_handlers_is_not_heard_even_where_it_says_much_at_once(tmp_path: Path) -> None:
    emit, sync = '{"command":"emit","id":"1","tuple":["a"]}', '{"command":"sync"}'
    code = f"shake()\nmessage()\nsay('{emit}\\nend\\n{emit}\\nend\\n{sync}\\nend\\n')\nmessage()"
    with playing(tmp_path, code, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        session.pump.handlers = {}
        spout.ask("next")
        assert session.wait(lambda: not session.judge.state.commands and session.idle, LIMIT, "sync")
        assert (spout.kept.count, spout.unanswered) == (0, True)


@pytest.mark.parametrize("how", ["queued", "at once", "for later"])
def test_what_is_asked_at_once_or_for_later_is_what_is_queued(tmp_path: Path, how: str) -> None:
    with playing(tmp_path, TWO_EMITS, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        for command, id_ in (("activate", ""), ("next", ""), ("ack", "1.0"), ("next", "")):
            if how == "at once":
                spout.ask_at_once(command, id_, LIMIT)
            elif how == "for later":
                spout.ask_for_later(command, id_)
            else:
                spout.ask(command, id_)
            assert spout.wait_sync(LIMIT)
        assert session.flush(LIMIT)
        events = seen(session)
        said = [(each.seq, each.channel, each.raw) for each in events if each.channel in ("in", "out")][2:]
        assert [seq for seq, *_ in said] == list(range(said[0][0], said[0][0] + len(said)))
        told = [raw.split(b"\n")[0].replace(b'"id":"",', b"") for _, channel, raw in said if channel == "in"]
        assert told[:2] == [b'{"command":"activate"}', b'{"command":"next"}']
        assert told[2:5] == [b"[4]", b'{"id":"1.0","command":"ack"}', b'{"command":"next"}']
        assert [each.id for each in spout.kept.emits] == ["1.0", "3.0", "3.1", "3.2"]
    assert session.findings == []


def test_a_command_that_is_judged_with_its_answer_is_judged_before_anything_else(tmp_path: Path) -> None:
    with playing(tmp_path, OUTCOMES, "spout") as (session, handshake):
        spout, state = spout_of(session), session.judge.state
        assert session.handshake(handshake, LIMIT)
        seq = session.pump.events.seq
        spout.ask_for_later("ack", "odd")
        assert (len(state.commands), session.pump.events.seq) == (0, seq + 1)
        session.pump.note("control", Activation(active=True))
        assert [each.seq for each in state.commands] == [seq]
        assert spout.wait_sync(LIMIT)
        spout.ask_for_later("ack", "never")
        assert "its sync of 'ack'" in str(session.look().waits)
        assert not spout.wait_sync(0.2)
        events = list(seen(session))
        assert [each.seq for each in events] == list(range(len(events)))
        said = [each.body.__class__ for each in events[seq:] if each.channel != "process"]
        assert said == [SpoutCommand, Activation, Log, Sync, SpoutCommand, Deadline]
    assert [each.rule for each in session.findings] == ["sync-missing"]


OUTCOMES = """
shake()
while True:
    if command := message():
        if command["id"] == "odd": say('{"command":"log","msg":"odd"}\\nend\\n')
        if command["id"] != "never": say('{"command":"sync"}\\nend\\n')
"""


@pytest.mark.parametrize(
    ("ids", "count", "unanswered"),
    [([], 0, False), (["a", 7, "b"], 3, False), (["a", "odd", "b"], 2, False), (["a", "never", "b"], 2, True)],
)
def test_outcomes_are_told_as_long_as_a_sync_alone_answers(
    tmp_path: Path, ids: list[Any], count: int, *, unanswered: bool
) -> None:
    with playing(tmp_path, OUTCOMES, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        commands = [SpoutCommand("ack", each) for each in ids]
        limit = 0.2 if unanswered else LIMIT
        assert spout.tell_outcomes(commands, limit, session.now - 1) == 0
        assert spout.tell_outcomes(commands, limit, session.now + LIMIT) == count
        assert unanswered or "odd" not in ids or spout.wait_sync(LIMIT)
        assert not unanswered or not spout.wait_sync(limit)
        events = [each for each in seen(session) if each.channel in ("in", "out")][2:]
        offsets = dict(zip(("in", "out"), session.pump.spoken, strict=True))
        for event in reversed(events):
            offsets[event.channel] -= len(event.raw)
            assert event.offset == offsets[event.channel]
        told = [event.body for event in events if event.channel == "in"]
        assert told == commands[:count]
    assert [each.rule for each in session.findings] == (["sync-missing"] if unanswered else [])


HOSTILE: dict[str, tuple[str, list[str]]] = {
    "a gigabyte without a newline": ("shake()\nfor _ in range(1024): say(b'x' * 2**20)\n", ["frame-too-long"]),
    "binary": ("shake()\nsay(bytes(range(256)) * 50 + b'\\nend\\n')\nmessage()\n", ["other-serializer"]),
    "exit in the middle": ('shake()\nsay(\'{"command":"em\')\nsys.exit(3)\n', ["message-cut"]),
    "exit at once": ("sys.exit(3)\n", ["exited"]),
    "killed": ("shake()\nos.kill(os.getpid(), 9)\n", ["exited"]),
    "closes stdout": ("shake()\nos.close(1)\nmessage()\n", ["stdout-closed"]),
    "escape sequences": ("shake()\nsay('\\x1b[2J\\x1b]0;owned\\x07\\nend\\n')\nmessage()\n", ["other-serializer"]),
}


@pytest.mark.parametrize(("code", "rules"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_output_is_a_finding_within_bounded_memory(tmp_path: Path, code: str, rules: list[str]) -> None:
    before = rss()
    with playing(tmp_path, code) as (session, handshake):
        session.handshake(handshake, 10.0)
        session.wait(lambda: bool(session.findings), 10.0, "output")
    assert rules_of(session)[:1] == rules
    assert rss() - before < 64 * 1024 * 1024


def test_a_flood_of_stderr_is_drained_and_bounded(tmp_path: Path) -> None:
    before = rss()
    flood = "shake()\nfor _ in range(96): os.write(2, b'e' * 2**20)\n" + ACK_ALL.replace("shake()", "")
    # A pipe is filled and emptied some thousand times: on a busy machine that is a long silence.
    patient = Profile(kind="bolt", conf={"topology.subprocess.timeout.secs": 600})
    with playing(tmp_path, flood, profile=patient) as (session, handshake):
        bolt = bolt_of(session)
        assert session.handshake(handshake, 30.0)
        bolt.send(["x"])
        assert bolt.settle_all(300.0)
        assert session.process.stderr_total == 96 * 2**20
        assert len(session.process.stderr_tail) <= 64 * 1024
    assert rules_of(session) == []
    assert rss() - before < 64 * 1024 * 1024


def test_children_and_deaf_ears_leave_nothing_behind(tmp_path: Path) -> None:
    stubborn = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    while True: time.sleep(1000)
shake()
say('{"command":"log","msg":"%d"}\\nend\\n' % child)
while True: time.sleep(1000)
"""
    with playing(tmp_path, stubborn) as (session, handshake):
        assert session.handshake(handshake, 10.0)
        events = seen(session)
        assert session.wait(lambda: any(isinstance(e.body, Log) for e in events), 10.0, "output")
        child = int(next(e.body.msg or "" for e in events if isinstance(e.body, Log)))
        session.process.end(term_wait=0.1)
    assert gone(child)
    assert gone(session.process.pid)


@pytest.mark.parametrize("handler", ["lambda *_: None", "signal.SIG_IGN"])
def test_storm_closes_its_stdin_behind_sigterm(tmp_path: Path, handler: str) -> None:
    reads_on = f"import signal\nsignal.signal(signal.SIGTERM, {handler})\nshake()\nwhile True: message()\n"
    with playing(tmp_path, reads_on) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        ignores = "IGN" in handler
        assert session.terminate(0.5 if ignores else LIMIT) is not ignores
    assert rules_of(session) == (["outlives-sigterm"] if ignores else [])


def test_the_exit_is_told_truly(tmp_path: Path) -> None:
    with playing(tmp_path, "shake()\nsys.exit(42)\n") as (session, handshake):
        session.handshake(handshake, 10.0)
        session.wait(lambda: False, 10.0, "output")
    assert session.exit is not None
    assert session.exit.code == 42
    assert session.findings[-1].message.startswith("the process exited with code 42")


ORDERS = {"2.8.3": ["task ids", "tuple"], "0.10.2": ["tuple", "task ids"]}


@pytest.mark.parametrize(("storm", "order"), ORDERS.items())
def test_task_ids_overtake_queued_tuples_since_1_0(tmp_path: Path, storm: str, order: list[str]) -> None:
    emits = 'shake()\nsay(\'{"command":"emit","tuple":["x"]}\\nend\\n\')\n' + ACK_ALL.replace("shake()", "")
    with playing(tmp_path, emits, storm=storm) as (session, handshake):
        bolt = bolt_of(session)
        bolt.stdin.hold_task_ids = True
        assert session.handshake(handshake, 10.0)
        assert session.wait(lambda: bolt.stdin.held == 1, 10.0, "output")
        events = seen(session)
        before = len(events)
        bolt.send(["x"])
        bolt.stdin.release_task_ids()
        assert bolt.settle_all(10.0)
        said = [event.body for event in events[before:] if event.channel == "in"]
    kinds = ["task ids" if isinstance(body, TaskIds) else "tuple" for body in said]
    assert kinds == order


def test_everything_said_is_an_event_and_the_bytes_add_up(tmp_path: Path) -> None:
    with playing(tmp_path, ACK_ALL) as (session, handshake):
        bolt = bolt_of(session)
        assert session.handshake(handshake, 10.0)
        assert bolt.drive(([f"tuple {number}"] for number in range(500)), 100, 10.0)
        assert bolt.beat(10.0)
        events = seen(session)
    out = [event for event in events if event.channel == "out"]
    assert [event.seq for event in events] == list(range(len(events)))
    assert sum(len(event.raw) for event in out) == session.process.stdout_total
    assert [event.offset for event in out] == [sum(len(e.raw) for e in out[:i]) for i in range(len(out))]
    assert rules_of(session) == []


def test_a_spout_that_syncs_twice_is_off_by_one_as_in_storm(tmp_path: Path) -> None:
    twice = """
shake()
while True:
    command = message()
    if isinstance(command, list): continue
    say('{"command":"sync"}\\nend\\n')
    if command["command"] == "activate": say('{"command":"sync"}\\nend\\n')
"""
    with playing(tmp_path, twice, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, 10.0)
        assert spout.call("activate", limit=10.0)
        assert session.wait_quiet(10.0)
        assert all(spout.call("next", limit=10.0) for _ in range(3))
    assert rules_of(session) == ["sync-extra"]


def test_silence_is_no_finding_before_its_limit(tmp_path: Path) -> None:
    with playing(tmp_path, ACK_ALL) as (session, handshake):
        assert session.handshake(handshake, 10.0)
        assert session.wait_quiet(10.0)
        assert str(session.look().waits) == "is blocked reading its stdin, which is empty: it waits for Storm"
    assert rules_of(session) == []


def test_a_profile_limit_bounds_the_frame(tmp_path: Path) -> None:
    with playing(tmp_path, "shake()\nsay(b'y' * 9 * 2**20)\nmessage()\n") as (session, handshake):
        session.handshake(handshake, 10.0)
        session.wait(lambda: session.pump.overflowed, 10.0, "output")
        (finding,) = session.findings
    assert (finding.rule, finding.level) == ("frame-too-long", "note")
    assert "4,194,304 bytes" in finding.message


def test_heartbeats_and_ticks_by_the_clock(tmp_path: Path) -> None:
    with playing(tmp_path, ACK_ALL) as (session, handshake):
        bolt = bolt_of(session)
        bolt._beats.period, bolt._ticks.period = 0.02, 0.03
        assert session.handshake(handshake, 10.0)
        events = seen(session)

        def count(stream: str) -> int:
            return sum(isinstance(e.body, TupleMsg) and e.body.stream == stream for e in events)

        assert session.wait(lambda: count("__heartbeat") >= 3 and count("__tick") >= 2, 10.0, "output")
    assert rules_of(session) == []


def test_no_more_tuples_than_max_pending_wait_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    with playing(tmp_path, ACK_ALL) as (session, handshake):
        bolt = bolt_of(session)
        assert bolt.max_pending == 100
        assert session.handshake(handshake, 10.0)
        plain = Pump.move

        def move(self: Pump, timeout: float, done: Callable[[], bool] | None = None) -> None:
            waited.append(len(self.stdin.queue))
            plain(self, timeout, done)

        monkeypatch.setattr(Pump, "move", move)
        assert bolt.drive((["x" * 1000] for _ in range(2000)), 1000, 10.0)
    assert 50 < max(waited) <= 100


EMITS_AT_ONCE = """
shake()
tup = message()
emit = '{"command":"emit","anchors":["%s"],"tuple":["%s"]%s}\\nend\\n'
more = ["", ',"need_task_ids":false', ',"stream":"other"', "", ""]
say("".join(emit % (tup["id"], "x" * (20000 if at == 7 else at), more[at % 5]) for at in range(12)) +
    '{"command":"log","msg":"x"}\\nend\\n{"command":"ack","id":"%s"}\\nend\\n' % tup["id"])
while True: message()
"""


def test_emits_heard_together_are_kept_and_answered_as_each_alone(tmp_path: Path) -> None:
    heard = []
    for by_others in (False, True):
        with playing(tmp_path, EMITS_AT_ONCE) as (session, handshake):
            bolt = bolt_of(session)
            if by_others:  # who has other handlers is told one by one
                session.pump.handlers = dict(session.pump.handlers)
            assert session.handshake(handshake, LIMIT)
            bolt.send(["x"])
            assert bolt.settle_all(LIMIT)
            events = seen(session)
        replies = [event.body.tasks for event in events if isinstance(event.body, TaskIds)]
        heard.append(
            ([len(emit.values) for emit in bolt.kept.emits], [emit.stream for emit in bolt.kept.emits], replies)
        )
    assert heard[0] == heard[1]
    sizes, _, replies = heard[0]
    assert (sizes, len(replies)) == ([0 if at == 7 else 1 for at in range(12)], 9)


def test_a_dead_process_is_seen_though_its_child_floods_stdout(tmp_path: Path) -> None:
    flood = """
shake()
if os.fork() == 0:
    while True: say('{"command":"log","msg":"x"}\\nend\\n')
message()
os._exit(3)
"""
    with playing(tmp_path, flood) as (session, handshake):
        bolt = bolt_of(session)
        assert session.handshake(handshake, 10.0)
        bolt.send(["x"])
        session.wait(lambda: False, 20.0, "output")
    assert session.exit is not None
    assert session.exit.code == 3
    assert rules_of(session) == ["exited"]


def test_a_flood_of_nonsense_is_not_listened_to_for_ever(tmp_path: Path) -> None:
    with playing(tmp_path, "shake()\nwhile True: say('debug line\\nend\\n' * 1000)\n") as (session, handshake):
        session.handshake(handshake, 10.0)
        session.wait(lambda: False, 60.0, "output")
    assert session.pump.events.flooded
    assert len(session.findings) < 30_000


def test_stderr_is_drained_while_a_death_is_awaited(tmp_path: Path) -> None:
    code = "shake()\nos.close(1)\nos.write(2, b'e' * 300_000)\nos._exit(7)\n"
    with playing(tmp_path, code) as (session, handshake):
        session.handshake(handshake, 10.0)
        session.wait(lambda: False, 10.0, "output")
    assert rules_of(session) == ["exited"]
    assert session.exit is not None
    assert session.exit.code == 7


def test_chatter_on_stderr_is_no_speech(tmp_path: Path) -> None:
    code = (
        """
import threading
def chatter():
    while True:
        time.sleep(0.01)
        os.write(2, b"metrics\\n")
threading.Thread(target=chatter, daemon=True).start()
"""
        + ACK_ALL
    )
    with playing(tmp_path, code) as (session, handshake):
        assert session.handshake(handshake, 10.0)
        assert session.wait_quiet(20.0)
    assert rules_of(session) == []


HANGS = {
    "sleeps": ("time.sleep(5000)", True),
    "waits for itself": ("import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()", True),
    "was stopped": ("import signal; os.kill(os.getpid(), signal.SIGSTOP)", True),
    "sleeps, and again": ("\nwhile True: time.sleep(0.05)", False),
}


@pytest.mark.parametrize(("code", "proven"), HANGS.values(), ids=HANGS.keys())
def test_who_hangs_with_nothing_to_wake_it_costs_no_limit(tmp_path: Path, code: str, proven: bool) -> None:
    with playing(tmp_path, f"shake()\nmessage(); {code}", "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        assert not spout.call("next", limit=1000.0 if proven else 3.0)
        assert deadline(session).proven is proven
    (finding,) = session.findings
    assert finding.rule == "sync-missing"
    assert ("and that will not change: no thread of it runs" in finding.message) is proven


@pytest.mark.parametrize(("code", "waiting_for"), [("", "heartbeat"), ("time.sleep(5000)", "heartbeat")])
def test_a_bolt_that_hangs_is_found_by_its_heartbeat(tmp_path: Path, code: str, waiting_for: str) -> None:
    with playing(tmp_path, f"shake()\n{code}\nmessage(); message()") as (session, handshake):
        bolt = bolt_of(session)
        assert bolt.session.handshake(handshake, LIMIT)
        assert not bolt.beat(1000.0)
        assert (deadline(session).waiting_for, deadline(session).proven) == (waiting_for, True)


def test_pieces_are_small_where_a_place_is_like_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(tmp_path, ACK_ALL) as (session, handshake):
        told = msgspec.structs.replace(handshake, conf={**handshake.conf, "a": "snöwhite"})
        pieces: list[bytes] = []
        write = session.process.write

        def written(data: bytes) -> int:
            pieces.append(bytes(data))
            return write(data)

        monkeypatch.setattr(session.process, "write", written)
        session.pump.stdin.pieces.piece = 1
        assert session.handshake(told, LIMIT)
    text = b"".join(pieces)
    assert max(len(piece) for piece in pieces) == 61
    assert len(pieces) < len(text) / 16
    assert [len(piece) for piece in (*pieces[:60], *pieces[-60:])] == [1] * 120
    assert all(len(piece) == 1 for piece in pieces if not piece.isascii())


@pytest.mark.parametrize("kind", ["bolt", "spout"])
def test_who_leaves_its_stdin_without_a_reader_is_found_without_a_write(tmp_path: Path, kind: Kind) -> None:
    with playing(tmp_path, "shake()\nos.close(0); os.close(2); time.sleep(5000)", kind) as (session, handshake):
        assert session.handshake(handshake, LIMIT)
        assert until(lambda: not session.process.has_reader())
        session.pump.check_stdin()
        assert session.pump.without_reader
        assert not session.running
    assert rules_of(session) == ["stdin-closed"]


def test_a_bolt_that_stands_still_is_not_waited_for(tmp_path: Path) -> None:
    with playing(tmp_path, "shake()\nmessage(); time.sleep(5000)") as (session, handshake):
        bolt = bolt_of(session)
        assert bolt.session.handshake(handshake, LIMIT)
        bolt.send(["x"])
        bolt.heartbeat()
        assert not bolt.settle_all(1000.0, quietly=True)
        assert (deadline(session).waiting_for, deadline(session).proven) == ("heartbeat", True)
    assert rules_of(session) == ["heartbeat-unanswered"]


def test_storm_knows_of_a_tuple_once_it_reads_it(tmp_path: Path) -> None:
    sync = 'say(\'{"command":"sync"}\\nend\\n\')'
    emit = 'say(\'{"command":"emit","id":"1","tuple":["x"],"need_task_ids":false}\\nend\\n\')'
    code = f"shake()\nmessage()\n{sync}\n{emit}\nmessage()\n{sync}\nmessage()"
    with playing(tmp_path, code, "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        assert spout.call("next")
        assert session.wait_quiet(LIMIT)
        assert (spout.kept.count, len(spout.kept.emits)) == (0, 0)
        assert spout.call("next")
        assert (spout.kept.count, spout.kept.with_id, len(spout.kept.emits)) == (1, 1, 1)


BURST = """
def reads():
    while True: message()
def emits(times, more):
    for _ in range(times): say('{"command":"emit","tuple":["a word"]%s}\\nend\\n' % more)
message()
"""
BURSTS = {
    "ids unread": ("emits(20_000, '')", False),
    "few": ("emits(6_000, '')", True),
    "no ids asked for": ("emits(20_000, ',\"need_task_ids\":false')", True),
    "ids read meanwhile": (
        "import threading; threading.Thread(target=reads, daemon=True).start(); emits(20_000, '')",
        True,
    ),
}


@pytest.mark.parametrize(("code", "comes"), BURSTS.values(), ids=BURSTS.keys())
def test_a_spout_blocks_storm_with_task_ids_that_it_does_not_read(tmp_path: Path, code: str, comes: bool) -> None:
    code = f'shake()\n{BURST}\n{code}\nsay(\'{{"command":"sync"}}\\nend\\n\')\ntime.sleep(5000)'
    with playing(tmp_path, code, "spout") as (session, handshake):
        spout = spout_of(session)
        spout.block_as_storm()
        assert session.handshake(handshake, LIMIT)
        assert spout.call("next", limit=1000.0) is comes
        found = [finding.message for finding in session.findings if finding.rule == "sync-missing"]
    assert bool(found) is not comes
    for message in found:
        assert "no sync of 'next', and that will not change: no thread of it runs; the component is blocked" in message
        assert "writing its stdout, which is full" in message
        assert "its stdin is full too" in message


TALK = (
    'shake()\nmessage()\nfor _ in range(%d):\n    say(\'{"command":"log","msg":"on"}\\nend\\n\')\n    time.sleep(%g)\n'
)


@pytest.mark.parametrize(("code", "comes"), [(TALK % (3, 1.5), True), (TALK % (10_000, 0.1), False)])
def test_who_talks_within_a_command_is_alive_but_not_for_ever(tmp_path: Path, code: str, comes: bool) -> None:
    limit = 3.0 if comes else 0.5
    with playing(tmp_path, f'{code}say(\'{{"command":"sync"}}\\nend\\n\')\nmessage()', "spout") as (session, handshake):
        spout = spout_of(session)
        assert session.handshake(handshake, LIMIT)
        assert spout.call("next", limit=limit) is comes
    assert rules_of(session) == ([] if comes else ["sync-missing"])
