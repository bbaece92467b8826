"""The bolt and spout loops of component/, as real processes over real pipes."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from tempfile import TemporaryFile
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.component.wire import MOST_UNSENT, Wire, encode
from tests.dialogue import HEARTBEAT, SYNC, Dialogue, frame, tuple_message

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.component


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], Dialogue]:
    """Start the Python text given as a component, with the poorest environment."""

    def run(text: str) -> Dialogue:
        program = tmp_path / "component_under_test.py"
        program.write_text(dedent(text), encoding="utf-8")
        env = {"PYTHONPATH": str(ROOT), "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        dialogue = Dialogue([sys.executable, str(program)], tmp_path, env)
        request.addfinalizer(dialogue.__exit__)
        return dialogue

    return run


SPLIT = """
    from multilang_cli.component.bolt import BasicBolt
    class Split(BasicBolt):
        def process(self, tup):
            print("splitting", tup.values)
            for word in tup.values[0].split():
                self.emit([word])
    Split().run()
"""

ASKING = """
    from multilang_cli.component.bolt import Bolt
    class Asking(Bolt):
        def process(self, tup):
            try:
                tasks = self.emit(tup.values, anchors=[tup], need_task_ids=True)
            except Exception:
                tasks = "hidden"
            self.log(f"{tup.values[0]}: {tasks}")
            self.ack(tup)
    Asking().run()
"""


def emitted(value: Any, *anchors: str, need: bool = False) -> dict[str, Any]:
    return {"command": "emit", "tuple": [value], "need_task_ids": need, "anchors": list(anchors)}


def acked(identity: str) -> dict[str, str]:
    return {"command": "ack", "id": identity}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    )
)
def test_what_the_wire_writes_it_reads_back(value: Any) -> None:
    with TemporaryFile() as file:
        Wire(file, file.fileno()).write(encode(value))
        file.seek(0)
        assert Wire(file, file.fileno()).read() == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", b"bytes", {1, 2}])
def test_the_wire_writes_nothing_of_what_json_cannot_carry(value: Any, tmp_path: Path) -> None:
    with (tmp_path / "sink").open("wb") as sink, pytest.raises((TypeError, ValueError)):
        Wire(io.BytesIO(), sink.fileno()).write(encode(["before", value]))
    assert (tmp_path / "sink").read_bytes() == b""


def test_what_may_wait_goes_out_with_the_next_message(tmp_path: Path) -> None:
    with (tmp_path / "pipe").open("w+b") as file:
        wire = Wire(io.BytesIO(), file.fileno())
        wire.write(encode({"n": 1}), more=True)
        with pytest.raises(ValueError, match="not JSON compliant"):
            wire.write(encode(float("nan")), more=True)
        assert os.fstat(file.fileno()).st_size == 0
        wire.write(encode("x" * MOST_UNSENT), more=True)
        wire.write(encode(2), more=True)
        wire.write(encode(3))
        file.seek(0)
        assert file.read() == b'{"n":1}\nend\n"' + b"x" * MOST_UNSENT + b'"\nend\n2\nend\n3\nend\n'


@pytest.mark.parametrize("data", [b"", b"{}", b"{}\n", b"{}\nend", b'{"a":'])
def test_the_end_of_the_pipe_is_told_apart_from_a_message(data: bytes) -> None:
    with pytest.raises(EOFError):
        Wire(io.BytesIO(data), 1).read()


def test_a_message_may_span_lines_and_end_in_crlf() -> None:
    assert Wire(io.BytesIO(b'{"a":\r\n1}\r\nend\r\n'), 1).read() == {"a": 1}


def test_pid_and_pid_file_come_before_initialize(start: Callable[[str], Dialogue]) -> None:
    storm = start("""
        import os
        from multilang_cli.component.bolt import Bolt
        class Early(Bolt):
            def initialize(self, conf, context):
                self.log(f"{conf} {context}")
        Early().run()
    """)
    assert storm.shake_hands() == storm.process.pid
    assert (storm.pid_dir / str(storm.process.pid)).read_bytes() == b""
    assert storm.read() == {"command": "log", "msg": "{'topology.workers': 1} {'taskid': 3}", "level": 2}
    assert storm.finish() == []


def test_an_error_in_initialize_is_reported_before_the_end(start: Callable[[str], Dialogue]) -> None:
    storm = start("""
        from multilang_cli.component.spout import Spout
        class Broken(Spout):
            def initialize(self, conf, context):
                raise RuntimeError("no database")
        Broken().run()
    """)
    storm.shake_hands()
    assert "no database" in storm.read()["msg"]
    assert storm.process.wait() == 1
    assert "no database" in storm.stderr


def test_a_basic_bolt_anchors_acks_and_may_print(start: Callable[[str], Dialogue]) -> None:
    storm = start(SPLIT)
    storm.shake_hands()
    storm.send(tuple_message("7", "schöne 雪 😀"), HEARTBEAT)
    words = [emitted("schöne", "7"), emitted("雪", "7"), emitted("😀", "7")]
    assert storm.finish() == [*words, acked("7"), SYNC]
    assert "splitting" in storm.stderr


def test_bytes_may_be_cut_anywhere(start: Callable[[str], Dialogue]) -> None:
    storm = start(SPLIT)
    for byte in frame(storm.hello(), tuple_message("7", "雪")):
        storm.write(bytes([byte]))
    storm.read()
    assert storm.read_some(2) == [emitted("雪", "7"), acked("7")]


def test_while_it_waits_for_task_ids_tuples_queue_and_heartbeats_are_answered(
    start: Callable[[str], Dialogue],
) -> None:
    storm = start(ASKING)
    storm.shake_hands()
    storm.send(tuple_message("1", "a"), tuple_message("2", "b"), HEARTBEAT, tuple_message("3", "c"), HEARTBEAT)
    assert storm.read_some(3) == [emitted("a", "1", need=True), SYNC, SYNC]
    storm.send([4], [5], [])
    logs = [{"command": "log", "msg": msg, "level": 2} for msg in ("a: [4]", "b: [5]", "c: []")]
    b, c = emitted("b", "2", need=True), emitted("c", "3", need=True)
    assert storm.finish() == [logs[0], acked("1"), b, logs[1], acked("2"), c, logs[2], acked("3")]


def test_the_end_of_stdin_ends_a_bolt_also_within_emit(start: Callable[[str], Dialogue]) -> None:
    storm = start(ASKING)
    storm.shake_hands()
    storm.send(tuple_message("1", "a"))
    assert storm.finish() == [emitted("a", "1", need=True)]


def test_task_ids_that_nobody_asked_for_are_passed_over(start: Callable[[str], Dialogue]) -> None:
    storm = start(SPLIT)
    storm.shake_hands()
    storm.send(tuple_message("1", "a"), [4, 5], HEARTBEAT)
    assert storm.finish() == [emitted("a", "1"), acked("1"), SYNC]


def test_a_direct_emit_waits_for_no_task_ids(start: Callable[[str], Dialogue]) -> None:
    storm = start("""
        from multilang_cli.component.bolt import Bolt
        class Direct(Bolt):
            def process(self, tup):
                self.emit([1], "dir", direct_task=6, need_task_ids=True)
                self.metric("count", 1)
                self.ack(tup)
        Direct().run()
    """)
    storm.shake_hands()
    storm.send(tuple_message("1", "a"))
    direct = {"command": "emit", "tuple": [1], "need_task_ids": False, "anchors": [], "stream": "dir", "task": 6}
    assert storm.finish() == [direct, {"command": "metrics", "name": "count", "params": 1}, acked("1")]


def test_after_an_exception_a_bolt_fails_what_is_open_and_goes_on(start: Callable[[str], Dialogue]) -> None:
    storm = start("""
        from multilang_cli.component.bolt import Bolt
        class Clumsy(Bolt):
            def process(self, tup):
                if tup.values[0] == "nan":
                    self.emit([float("nan")])
                self.ack(tup)
                if tup.values[0] == "twice":
                    self.ack(tup)
                if tup.values[0] == "text":
                    raise RuntimeError("\\ud800")
        Clumsy().run()
    """)
    storm.shake_hands()
    storm.send(*(tuple_message(what, what) for what in ("nan", "twice", "text", "good")))
    said = storm.finish()
    assert [(m["command"], m.get("id")) for m in said] == [
        ("error", None), ("fail", "nan"), ("ack", "twice"), ("error", None), ("ack", "text"), ("error", None),
        ("ack", "good"),
    ]  # fmt: skip
    assert "settled already" in said[3]["msg"]


def test_stdin_and_stdout_are_kept_from_child_processes(start: Callable[[str], Dialogue]) -> None:
    storm = start("""
        import os, subprocess
        from multilang_cli.component.bolt import BasicBolt
        class Noisy(BasicBolt):
            def process(self, tup):
                os.write(1, b"from C\\n")
                subprocess.run(["sh", "-c", "echo from a child; cat"], check=True)
                self.emit(["done"])
        Noisy().run()
    """)
    storm.shake_hands()
    for identity in ("1", "2"):
        storm.send(tuple_message(identity, "a"))
        assert storm.read_some(2) == [emitted("done", identity), acked(identity)]
    assert storm.finish() == []
    assert storm.stderr.count("from C\nfrom a child\n") == 2


def test_a_component_dies_of_sigterm(start: Callable[[str], Dialogue]) -> None:
    storm = start(SPLIT)
    storm.shake_hands()
    storm.process.send_signal(signal.SIGTERM)
    assert storm.process.wait() == -signal.SIGTERM


def test_a_component_that_nobody_reads_exits_without_a_word(start: Callable[[str], Dialogue]) -> None:
    storm = start(SPLIT)
    storm.shake_hands()
    assert storm.process.stdout
    storm.stdout.close()
    storm.process.stdout.close()
    storm.send(HEARTBEAT)
    assert storm.process.wait() == 0
    assert storm.stderr == ""


SPOUT = """
    from multilang_cli.component.spout import Spout
    class Counting(Spout):
        def next_tuple(self):
            self.emit(["x"], id=17)
            self.idle()
        def ack(self, id):
            self.log(f"ack {id!r}")
        def fail(self, id):
            raise RuntimeError(f"fail {id!r}")
        def deactivate(self):
            self.emit([float("inf")])
    Counting().run()
"""


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ({"command": "next", "id": ""}, ["emit"]),
        ({"command": "next"}, ["emit"]),
        ({"command": "ack", "id": 17}, ["log"]),
        ({"command": "ack"}, ["log"]),
        ({"command": "fail", "id": "m1"}, ["error"]),
        ({"command": "activate", "id": ""}, []),
        ({"command": "deactivate", "id": ""}, ["error"]),
        ({"command": "hibernate", "id": ""}, ["log"]),
        ([4, 5], None),
    ],
)
def test_a_spout_answers_each_command_with_exactly_one_sync(
    start: Callable[[str], Dialogue], command: Any, answer: list[str] | None
) -> None:
    storm = start(SPOUT)
    storm.shake_hands()
    storm.send(command)
    said = [message["command"] for message in storm.finish()]
    assert said == ([] if answer is None else [*answer, "sync"])


def test_ids_of_a_spout_keep_their_type(start: Callable[[str], Dialogue]) -> None:
    storm = start(SPOUT)
    storm.shake_hands()
    storm.send({"command": "next", "id": ""}, {"command": "ack", "id": 17}, {"command": "ack", "id": "17"})
    said = storm.finish()
    assert said[0] == {"command": "emit", "tuple": ["x"], "need_task_ids": False, "id": 17}
    assert [message["msg"] for message in said if message["command"] == "log"] == ["ack 17", "ack '17'"]


def test_a_spout_answers_the_ack_that_comes_before_its_task_ids(start: Callable[[str], Dialogue]) -> None:
    """Without ackers Storm acks within the emit (ShellSpout, SpoutOutputCollectorImpl)."""
    storm = start("""
        from multilang_cli.component.spout import Spout
        class Asking(Spout):
            def next_tuple(self):
                self.log(str(self.emit(["x"], "m1", need_task_ids=True)))
            def ack(self, id):
                self.log(f"acked {id}")
        Asking().run()
    """)
    storm.shake_hands()
    storm.send({"command": "next", "id": ""})
    assert storm.read()["need_task_ids"] is True
    storm.send({"command": "ack", "id": "m1"})
    assert storm.read_some(2) == [{"command": "log", "msg": "acked m1", "level": 2}, SYNC]
    storm.send([4])
    assert storm.finish() == [{"command": "log", "msg": "[4]", "level": 2}, SYNC]
