"""The examples, as processes: what goes over the pipes, byte for byte where it matters."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.dialogue import HEARTBEAT, SYNC, Dialogue, frame, tuple_message

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parent.parent / "examples"
LANGUAGES = ("python", "javascript", "c")
NEXT = {"command": "next", "id": ""}
MIB = 1 << 20

pytestmark = pytest.mark.component


def program(language: str, name: str, directory: Path) -> list[str]:
    """The command that starts an example; C is compiled first. Fails, does not skip, without cc or node."""
    if language == "python":
        return [sys.executable, "-I", str(EXAMPLES / "python" / f"{name}.py")]
    if language == "javascript":
        node = shutil.which("node")
        assert node, "node is missing"
        return [node, str(EXAMPLES / "javascript" / f"{name}.js")]
    binary = directory / name
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", str(binary), str(EXAMPLES / "c" / f"{name}.c")], check=True)
    return [str(binary)]


@pytest.fixture(scope="module", params=LANGUAGES)
def commands(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Bolt and spout of one language."""
    directory = tmp_path_factory.mktemp("built")
    return {name: program(request.param, name, directory) for name in ("split_bolt", "sentence_spout")}


@pytest.fixture
def pid_dir(tmp_path: Path) -> Path:
    """A directory whose name needs decoding, when it is escaped."""
    directory = tmp_path / "pids é 😀"
    directory.mkdir()
    return directory


@pytest.fixture
def bolt(commands: dict[str, list[str]], pid_dir: Path) -> Iterator[Dialogue]:
    with Dialogue(commands["split_bolt"], pid_dir, {"LANG": "C"}) as dialogue:
        yield dialogue


@pytest.fixture
def spout(commands: dict[str, list[str]], pid_dir: Path) -> Iterator[Dialogue]:
    with Dialogue(commands["sentence_spout"], pid_dir, {"LANG": "C"}) as dialogue:
        yield dialogue


def answer(identity: str, *words: str) -> list[dict[str, Any]]:
    """What a split bolt says to one tuple."""
    emits = [
        {"command": "emit", "anchors": [identity], "tuple": [word], "need_task_ids": False}
        for word in words
    ]  # fmt: skip
    return [*emits, {"command": "ack", "id": identity}]


@pytest.mark.parametrize("which", ["split_bolt", "sentence_spout"])
def test_handshake_pid_file_and_end(which: str, commands: dict[str, list[str]], pid_dir: Path) -> None:
    with Dialogue(commands[which], pid_dir) as storm:
        assert storm.shake_hands() == storm.process.pid
        assert (pid_dir / str(storm.process.pid)).read_bytes() == b""
        assert storm.finish() == []


@pytest.mark.parametrize("which", ["split_bolt", "sentence_spout"])
def test_sigterm_ends_it(which: str, commands: dict[str, list[str]], pid_dir: Path) -> None:
    with Dialogue(commands[which], pid_dir) as storm:
        storm.shake_hands()
        storm.process.send_signal(signal.SIGTERM)
        assert storm.process.wait() == -signal.SIGTERM


def test_an_escaped_handshake_is_understood(bolt: Dialogue, pid_dir: Path) -> None:
    escaped = str(pid_dir).replace("/", "\\/").replace("é", "\\u00e9").replace("😀", "\\ud83d\\ude00")
    noise = '"x":{"pidDir":"no","y":["}",{"z":"\\\\"}]},"conf":{},"context":{}'
    bolt.write(f'{{ {noise} ,\n "pidDir" : "{escaped}" , "new" : -1.5e3 }}\r\nend\r\n'.encode())
    assert (pid_dir / str(bolt.read()["pid"])).exists()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("snow white", ["snow", "white"]),
        ("  a\tb\nc\r\nd ", ["a", "b", "c", "d"]),
        ("", []),
        ("schöne 雪 😀", ["schöne", "雪", "😀"]),
        ('"quoted" back\\slash \\n sl/ash', ['"quoted"', "back\\slash", "\\n", "sl/ash"]),
        ("\x01 \x7f", ["\x01", "\x7f"]),
        (12, ["12"]),
        (-0.5, ["-0.5"]),
        (None, ["null"]),
        (True, ["true"]),
        ({"k": ['"', "\\"]}, ['{"k":["\\"","\\\\"]}']),
        (["a b"], ['["a', 'b"]']),
    ],
)
def test_a_bolt_splits_any_first_value(bolt: Dialogue, value: Any, words: list[str]) -> None:
    bolt.shake_hands()
    bolt.send(tuple_message("-42", value, {"id": "no", "tuple": ["no"]}))
    assert bolt.finish() == answer("-42", *words)


def test_a_bolt_acks_a_tuple_without_values_and_ticks(bolt: Dialogue) -> None:
    bolt.shake_hands()
    bolt.send(tuple_message("1"), {"tuple": [60], "task": -1, "stream": "__tick", "comp": "__system", "id": "2"})
    assert bolt.finish() == [*answer("1"), *answer("2", "60")]


def test_a_bolt_answers_heartbeats_and_passes_task_ids_over(bolt: Dialogue) -> None:
    bolt.shake_hands()
    like_a_heartbeat = {**HEARTBEAT, "id": "3", "task": 4, "tuple": ["beat"]}
    bolt.send(HEARTBEAT, tuple_message("1", "a"), [4, 5], [], {**HEARTBEAT, "comp": "1"}, like_a_heartbeat)
    assert bolt.finish() == [SYNC, *answer("1", "a"), SYNC, *answer("3", "beat")]


def test_a_bolt_takes_bytes_one_by_one(bolt: Dialogue) -> None:
    for byte in frame(bolt.hello(), tuple_message("1", "雪 😀"), HEARTBEAT):
        bolt.write(bytes([byte]))
    assert bolt.finish()[1:] == [*answer("1", "雪", "😀"), SYNC]


@pytest.mark.parametrize("size", [MIB, 10_000_000])
def test_a_bolt_takes_large_messages(bolt: Dialogue, size: int) -> None:
    bolt.shake_hands()
    word = "x" * (size // 2)
    bolt.send(tuple_message("1", word, "é" * (size // 4)))
    assert bolt.read_some(2) == answer("1", word)
    bolt.send({"deep": [], **tuple_message("2", "a", [[[["}"]]]] * 1000)})
    assert bolt.finish() == answer("2", "a")


def test_a_spout_says_each_sentence_until_it_is_acked(spout: Dialogue) -> None:
    spout.shake_hands()
    open_ids: dict[str, str] = {}
    for _ in range(5):
        spout.send(NEXT)
        emit, sync = spout.read_some(2)
        assert (sync, emit["need_task_ids"], emit["command"]) == (SYNC, False, "emit")
        assert emit["id"] not in open_ids
        open_ids[emit["id"]] = emit["tuple"][0]
    failed, *rest = open_ids
    spout.send(NEXT, {"command": "fail", "id": failed}, *({"command": "ack", "id": i} for i in rest), NEXT, NEXT)
    again = {"command": "emit", "id": failed, "tuple": [open_ids[failed]], "need_task_ids": False}
    assert spout.finish() == [SYNC] * (2 + len(rest)) + [again, SYNC, SYNC]


@pytest.mark.parametrize(
    "command",
    [
        {"command": "activate", "id": ""},
        {"command": "activate"},
        {"command": "deactivate", "id": ""},
        {"id": "never emitted", "command": "ack"},
        {"command": "fail", "id": "never emitted"},
        {"command": "ack", "id": 17},
    ],
)
def test_a_spout_answers_exactly_one_sync(spout: Dialogue, command: dict[str, Any]) -> None:
    spout.shake_hands()
    spout.send(command, [4])
    assert spout.finish() == [SYNC]


def test_the_c_examples_are_clean_under_the_sanitizers(tmp_path: Path) -> None:
    flags = ["-std=c11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    binary = tmp_path / "split_bolt"
    subprocess.run(["cc", *flags, "-o", str(binary), str(EXAMPLES / "c" / "split_bolt.c")], check=True)
    said: list[Any]
    with Dialogue([str(binary)], tmp_path) as storm:
        storm.shake_hands()
        storm.send(tuple_message("1", 'a\\ "b" \n é', [[{}]] * 100), HEARTBEAT, [4], tuple_message("2", 5))
        said = storm.finish()
        assert storm.stderr == ""
    assert said == [*answer("1", "a\\", '"b"', "é"), SYNC, *answer("2", "5")]


@pytest.mark.parametrize(
    "cut", ['{"id":"1","tuple":["a', '{"id":"1","tuple":["a\\', '{"id":"1","tuple":]}', "{", '{"id"', ""]
)
def test_a_c_bolt_refuses_what_is_no_message(tmp_path: Path, cut: str) -> None:
    with Dialogue(program("c", "split_bolt", tmp_path), tmp_path) as storm:
        storm.shake_hands()
        storm.write(cut.encode() + b"\nend\n")
        assert storm.process.wait() == 1
        assert storm.stderr.strip()


@pytest.fixture(scope="module")
def with_storm_py(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples on the real storm.py, which Maven fetches."""
    directory = tmp_path_factory.mktemp("storm_py")
    subprocess.run([sys.executable, str(EXAMPLES / "storm_py" / "get_storm.py"), str(directory)], check=True)
    for name in ("split_bolt.py", "sentence_spout.py"):
        shutil.copy(EXAMPLES / "storm_py" / name, directory)
    return directory


def test_the_bolt_on_storm_py(with_storm_py: Path, pid_dir: Path) -> None:
    with Dialogue([sys.executable, str(with_storm_py / "split_bolt.py")], pid_dir, {"LANG": "C"}) as storm:
        assert storm.shake_hands() == storm.process.pid
        storm.send(tuple_message("1", "schöne 雪"), HEARTBEAT)
        for word in ("schöne", "雪"):
            assert storm.read() == {"command": "emit", "anchors": ["1"], "tuple": [word]}
            storm.send([4])
        assert storm.read_some(2) == [{"command": "ack", "id": "1"}, SYNC]


def test_the_spout_on_storm_py(with_storm_py: Path, pid_dir: Path) -> None:
    with Dialogue([sys.executable, str(with_storm_py / "sentence_spout.py")], pid_dir, {"LANG": "C"}) as storm:
        assert storm.shake_hands() == storm.process.pid
        storm.send({"command": "activate", "id": ""}, NEXT, [4], {"command": "ack", "id": "1"})
        said = storm.read_some(4)
        assert [message["command"] for message in said] == ["sync", "emit", "sync", "sync"]
        assert said[1]["id"] == "1"
