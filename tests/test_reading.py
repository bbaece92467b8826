"""Reading many frames at once is reading each: nothing moves from frame to frame."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.protocol import reading
from multilang_cli.protocol.framing import Framer
from multilang_cli.protocol.messages import Emit, Malformed

WHOLE = (
    '{"command":"sync"}',
    '{"command":"ack","id":"1"}',
    '{"command":"fail","id":"a:b"}',
    '{"command": "log", "msg": "12:30", "level": 2}',
    '{"command":"emit","tuple":["a",1,0.5,null,true]}',
    '{"command":"emit","tuple":["a: b","x\\":"],"anchors":["-1"],"stream":"s"}',
    '{"command":"emit","tuple":[],"id":"7","need_task_ids":false}',
    '{"command":"emit","tuple":[1234567890123456789]}',
    '{"command":"error","msg":"m"}',
)
"""Messages, most of them without any trap."""
ODD = (
    '{"command":"log","msg":"a\\n\x7f"}',
    '{"command":"ack","id":"1","id":"2"}',
    '{"command":"ack","id" :"1","id":"2"}',
    '{"command":"sync"}{"command":"sync"}',
    '{"command":"sync"},{"command":"sync"}',
    '{"command":"sync"} {"command":"sync"}',
    '{"command":"ack"',
    '"id":"5"}',
    '{"command":"log","msg":"a}',
    '{b"}',
    '{"command":"emit","tuple":[{}',
    "{}]}",
    '{"command":"ack","id":"1","x":[{}',
    '{"command":"emit","tuple":[{"a":1}]}',
    '{"command":"emit","tuple":[9223372036854775808]}',
    '{"command":"emit","tuple":[0.1000000000000000055]}',
    '{"command":"emit","tuple":[1e999]}',
    '{"command":"emit","tuple":[-12345678901234567e1]}',
    '{"command":"emit","tuple":[NaN]}',
    '{"command":"emit","tuple":[1],"task":4}',
    '{"command":"emit","tuple":[1],"id":5}',
    '{"command":\n"sync"}',
    '\n{"command":"sync"}',
    '{"command":"sync"}\r',
    ' {"command":"sync"} ',
    '{"command":"emit","tuple":["a\\ud800"]}',
    "end",
    "",
    "[]",
    "x",
)
"""What is no message, or one with a trap; some of them make a message together."""
TEXTS = st.lists(st.sampled_from(WHOLE) | st.sampled_from(WHOLE + ODD), max_size=8)


@given(TEXTS, st.sampled_from(["", "{", '{"command":"sync"}', "\nen"]))
def test_many_frames_read_at_once_are_what_each_is_alone(texts: list[str], rest: str) -> None:
    framer = Framer()
    frames = framer.feed("".join(f"{text}\nend\n" for text in texts).encode() + rest.encode())
    if (last := framer.close()) is not None:
        frames.append(last)
    assert repr(reading.read_commands(frames)) == repr([reading.read_command(frame) for frame in frames])


@pytest.mark.parametrize("pair", [(5, 6), (7, 8), (9, 10)], ids=["object", "string", "array"])
def test_two_halves_are_no_message_even_if_another_frame_holds_two(pair: tuple[int, int]) -> None:
    halves = [ODD[pair[0]], ODD[pair[1]], ODD[3]]
    frames = Framer().feed("".join(f"{text}\nend\n" for text in halves).encode())
    assert all(isinstance(message, Malformed) for message in reading.read_commands(frames))


@pytest.mark.parametrize("text", WHOLE[:-1])
def test_what_has_no_trap_is_read_together(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reading, "_examine")
    frames = Framer().feed(f"{text}\nend\n".encode() * 3)
    assert len(set(map(repr, reading.read_commands(frames)))) == 1


def test_a_long_number_is_looked_at_by_itself() -> None:
    frames = Framer().feed(
        b'{"command":"emit","tuple":[0.1]}\nend\n{"command":"emit","tuple":[0.1000000000000000055]}\nend\n'
    )
    first, second = reading.read_commands(frames)
    assert isinstance(first, Emit)
    assert isinstance(second, Emit)
    assert (first.hazards, second.hazards) == ((), ("decimal",))


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_frame_among_plain_ones_is_read_as_if_alone(odd: str) -> None:
    frames = Framer().feed("".join(f"{text}\nend\n" for text in (WHOLE[1], odd, WHOLE[1])).encode())
    assert repr(reading.read_commands(frames)) == repr([reading.read_command(frame) for frame in frames])
