"""The scripted player of component/, as a real process over real pipes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dialogue import HEARTBEAT, SYNC, Dialogue, frame, tuple_message

PLAYER = Path(__file__).parents[2] / "multilang_cli" / "component" / "player.py"

pytestmark = pytest.mark.component


def play(case: dict[str, Any], tmp_path: Path, *options: str) -> Dialogue:
    script = tmp_path / "cases.json"
    script.write_text(json.dumps([{"case": "other", "steps": []}, {"case": "this", **case}]), encoding="utf-8")
    return Dialogue([sys.executable, *options, str(script), "this"], tmp_path)


AS_FILE = ("-I", "-S", str(PLAYER))
AS_MODULE = ("-m", "multilang_cli.component.player")
A, B = tuple_message("11", "a"), tuple_message("22", "b")
NEXT = {"command": "next", "id": ""}


@pytest.mark.parametrize(
    ("case", "storm_says", "output"),
    [
        ({"steps": []}, [A], b""),
        ({"steps": []}, [HEARTBEAT, A, NEXT, [4]], frame(SYNC, SYNC)),
        ({"steps": [], "auto": False}, [HEARTBEAT, NEXT], b""),
        ({"steps": [{"read": "tuple"}, {"raw": "$ID0"}]}, [HEARTBEAT, A], frame(SYNC) + b"11"),
        ({"steps": [{"read": "heartbeat"}, {"raw": "$HBID"}]}, [A, HEARTBEAT], b"-1"),
        ({"steps": [{"read": "taskids"}, {"raw": "ids"}]}, [A, NEXT, [4]], frame(SYNC) + b"ids"),
        ({"steps": [{"read": "any"}, {"raw": "1"}, {"read": "any"}, {"raw": "2"}]}, [NEXT, HEARTBEAT], b"12"),
        ({"steps": [{"read": "ack"}, {"raw": "$CMDID"}]}, [NEXT, {"command": "ack", "id": 1.5}], frame(SYNC) + b"1.5"),
        ({"steps": [{"read": "tuple"}, {"read": "tuple"}, {"raw": "$ID1,$ID0,$ID2"}]}, [A, B], b"22,11,$ID2"),
        ({"steps": [{"read": "tuple"}, {"msg": {"id": "$ID0", "é": 1}}]}, [A], '{"id":"11","é":1}\nend\n'.encode()),
        ({"steps": [{"raw": "ab", "times": 3}]}, [], b"ababab"),
        ({"steps": [{"cat": ["<", ["[", 2], "]", [">", 3]]}]}, [], b"<[[]>>>"),
        (
            {"steps": [{"hex": "efbbbf00ff"}, {"sleep": 0.001}, {"raw": "é\ud83d"}]},
            [],
            b"\xef\xbb\xbf\0\xff\xc3\xa9\xed\xa0\xbd",
        ),
        ({"steps": [{"close": "stdout"}, {"raw": "unheard"}, {"pidfile": True}]}, [HEARTBEAT], b""),
        ({"steps": [{"close": "stdin"}, {"raw": "deaf"}]}, [], b"deaf"),
    ],
)
def test_the_player_plays(case: dict[str, Any], storm_says: list[Any], output: bytes, tmp_path: Path) -> None:
    with play(case, tmp_path, *AS_FILE) as storm:
        assert storm.shake_hands() == storm.process.pid
        assert (storm.pid_dir / str(storm.process.pid)).exists()
        if storm_says:
            storm.send(*storm_says)
        storm.stdin.close()
        assert storm.stdout.read() == output
        assert storm.process.wait() == 0, storm.stderr


@pytest.mark.parametrize(
    ("step", "status"), [({"exit": 3}, 3), ({"kill": 9}, -9), ({"kill": 15}, -15), ({"dance": 1}, 1)]
)
def test_the_player_ends_as_it_is_told(step: dict[str, Any], status: int, tmp_path: Path) -> None:
    with play({"steps": [{"stderr": "bye\n", "times": 2}, {"raw": "x"}, step]}, tmp_path, *AS_MODULE) as storm:
        storm.shake_hands()
        assert storm.stdout.read() == b"x"
        assert storm.process.wait() == status
        assert storm.stderr.startswith("bye\nbye\n")


def test_the_player_plays_another_handshake(tmp_path: Path) -> None:
    with play({"handshake": [{"raw": '{"pid":"$PID"}\nend\n'}], "steps": []}, tmp_path, *AS_FILE) as storm:
        storm.send(storm.hello())
        assert storm.read() == {"pid": str(storm.process.pid)}
        assert storm.finish() == []
        assert not (storm.pid_dir / str(storm.process.pid)).exists()


def test_a_player_that_does_not_read_ends_with_its_stdin(tmp_path: Path) -> None:
    case = {"noread": True, "handshake": [{"raw": '{"pid":$PID}\nend\n'}], "steps": [{"pidfile": True}]}
    with play(case, tmp_path, *AS_FILE) as storm:
        assert storm.read() == {"pid": storm.process.pid}
        assert storm.process.poll() is None
        assert storm.finish() == []


def test_the_player_says_that_a_case_is_missing(tmp_path: Path) -> None:
    script = tmp_path / "cases.json"
    script.write_text("[]")
    with Dialogue([sys.executable, *AS_FILE, str(script), "this"], tmp_path) as storm:
        assert storm.process.wait() == 1
        assert storm.stderr == f"player.py: there is no case 'this' in {script}\n"
