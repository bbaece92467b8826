"""Reading many frames at once is reading each: nothing moves from frame to frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.protocol.storm import reading
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.messages import Emit, Malformed

if TYPE_CHECKING:
    from collections.abc import Iterator

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
NUMBERS = (
    "5",
    "-0",
    "1.0",
    "1e5",
    "1e400",
    "0.1000000000000000055",
    "9223372036854775807",
    "9223372036854775808",
    "NaN",
)
STRINGS = ('"a"', '""', '"-5"', '"a: b"', '"\\u0041"', '"\\ud800"', '"\x7f"', '"\\"\x7f"', '"default"')
VALUES = (*NUMBERS, *STRINGS, "null", "true", "{}", "[]", "[1]", '["a",0.5,9223372036854775808]')
PLAIN: dict[str, dict[str, str]] = {
    "emit": {"tuple": '["a",1]', "stream": '"s"', "anchors": '["1"]', "id": '"1"', "need_task_ids": "false"},
    "ack": {"id": '"1"'},
    "fail": {"id": '"1"'},
    "log": {"msg": '"m"', "level": "2"},
    "sync": {},
}
NAMES = ("command", "task", "name", "x", *PLAIN["emit"], *PLAIN["log"])


def nearly_plain(command: str) -> Iterator[str]:
    """A message in which one field is left out, written otherwise, added, or there twice; and its keys turned round."""
    plain = [("command", f'"{command}"'), *PLAIN[command].items()]
    for name in NAMES:
        rest = [field for field in plain if field[0] != name]
        for fields in [
            rest,
            *([*rest, (name, value)] for value in VALUES),
            *([*plain, (name, value)] for value in VALUES),
        ]:
            for turned in (fields, fields[::-1]):
                yield "{" + ",".join(f'"{key}":{value}' for key, value in turned) + "}"


TEXTS = st.lists(st.sampled_from(WHOLE) | st.sampled_from(WHOLE + ODD), max_size=8)


@given(TEXTS, st.sampled_from(["", "{", '{"command":"sync"}', "\nen"]))
def test_many_frames_read_at_once_are_what_each_is_alone(texts: list[str], rest: str) -> None:
    framer = Framer(lengthy=0)
    frames = framer.feed("".join(f"{text}\nend\n" for text in texts).encode() + rest.encode())
    assert repr(list(reading.read_frames(frames))) == repr([reading.read_frame(frame) for frame in frames])
    if (last := framer.close()) is not None:
        assert repr(reading.read_frames([last])) == repr([reading.read_frame(last)])


@pytest.mark.long
@pytest.mark.parametrize("command", PLAIN)
def test_what_is_read_fast_is_what_is_read_with_care(command: str) -> None:
    texts = [text.encode() for text in nearly_plain(command)]
    careful = [reading._examine(text, False, None) for text in texts]
    assert list(map(repr, map(reading.read, texts))) == list(map(repr, careful))


@pytest.mark.parametrize("pair", [(5, 6), (7, 8), (9, 10)], ids=["object", "string", "array"])
def test_two_halves_are_no_message_even_if_another_frame_holds_two(pair: tuple[int, int]) -> None:
    halves = [ODD[pair[0]], ODD[pair[1]], ODD[3]]
    frames = Framer(lengthy=0).feed("".join(f"{text}\nend\n" for text in halves).encode())
    assert all(isinstance(message, Malformed) for message in reading.read_frames(frames))


@pytest.mark.parametrize("text", WHOLE[:-1])
def test_what_has_no_trap_is_read_together(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reading, "_examine")
    frames = Framer(lengthy=0).feed(f"{text}\nend\n".encode() * 3)
    assert len(set(map(repr, reading.read_frames(frames)))) == 1


def emit(more: str = "", values: str = '["a"]') -> str:
    return f'{{"command":"emit","tuple":{values}{more},"anchors":["1"]}}'


ACK, WANTS, WANTS_NONE = '{"command":"ack","id":"1"}', ',"need_task_ids":true', ',"need_task_ids":false'
SAY_IT = {
    "each": [emit(WANTS), emit(WANTS), ACK],
    "one": [emit(WANTS), emit(), emit(WANTS), ACK],
    "one of those that want none": [emit(WANTS_NONE), emit(WANTS)],
}
SAY_MORE = {
    "twice": [emit(WANTS + WANTS), emit(), ACK],
    "both": [emit(WANTS_NONE + WANTS), emit(WANTS)],
    "none twice": [emit(WANTS_NONE + WANTS_NONE), emit(WANTS)],
    "an ack": [emit(WANTS), ACK.replace("}", f"{WANTS}}}")],
    "a key twice": [emit(WANTS), emit(',"tuple":["b"]')],
    "another key": [emit(WANTS), ACK.replace("}", ',"x":true}')],
    "another default": [emit(WANTS), emit(f'{WANTS},"stream":"default"')],
    "two on a line": [emit(WANTS), ACK + ACK],
    "a value": [emit(WANTS, '["a:b"]'), emit(values='[{"need_task_ids":true}]')],
}


@pytest.mark.parametrize("said", SAY_IT.values(), ids=SAY_IT)
def test_emits_that_say_that_they_want_ids_are_read_together(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    frames = Framer(lengthy=0).feed("".join(f"{text}\nend\n" for text in said).encode())
    alone = [reading.read_frame(frame) for frame in frames]
    monkeypatch.delattr(reading, "_has_keys_or_defaults")
    assert repr(list(reading.read_frames(frames))) == repr(alone)


@pytest.mark.parametrize("said", SAY_MORE.values(), ids=SAY_MORE)
def test_emits_that_say_more_than_that_are_read_one_by_one(said: list[str]) -> None:
    frames = Framer(lengthy=0).feed("".join(f"{text}\nend\n" for text in said).encode())
    assert repr(list(reading.read_frames(frames))) == repr([reading.read_frame(frame) for frame in frames])


def test_a_long_number_is_looked_at_by_itself() -> None:
    frames = Framer(lengthy=0).feed(
        b'{"command":"emit","tuple":[0.1]}\nend\n{"command":"emit","tuple":[0.1000000000000000055]}\nend\n'
    )
    first, second = reading.read_frames(frames)
    assert isinstance(first, Emit)
    assert isinstance(second, Emit)
    assert (first.hazards, second.hazards) == ((), ("decimal",))


@pytest.mark.parametrize(
    "odd", [*ODD, '{"command":"emit","tuple":[1],"tuple":[2]}', '{"command":"emit","tuple":[1],"x":2}']
)
def test_many_odd_frames_alike_are_read_as_if_alone(odd: str) -> None:
    frames = Framer(lengthy=0).feed(f"{odd}\nend\n".encode() * 3)
    assert repr(list(reading.read_frames(frames))) == repr([reading.read_frame(frame) for frame in frames])


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_frame_among_plain_ones_is_read_as_if_alone(odd: str) -> None:
    frames = Framer(lengthy=0).feed("".join(f"{text}\nend\n" for text in (WHOLE[1], odd, WHOLE[1])).encode())
    assert repr(list(reading.read_frames(frames))) == repr([reading.read_frame(frame) for frame in frames])
