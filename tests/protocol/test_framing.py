from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.protocol.wire.framing import LENGTHY, Frame, Framer, Frames, count_byte, frame_text, plain_run

LINES = st.lists(
    st.sampled_from([b"", b"end", b" end", b"end ", b"{}", b'{"command":"sync"}', b"x", b"\xff"]), max_size=12
)


def reference(stream: bytes) -> list[bytes]:
    """The texts that Java's BufferedReader and JsonSerializer.readString give, written as plainly as can be."""
    texts: list[bytes] = []
    text = b""
    lines = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        if last and not line:
            break
        if line == b"end":
            texts.append(text)
            text = b""
        else:
            text += (b"\n" if text else b"") + line
    return texts


def frames_of(pieces: list[bytes], lengthy: int = LENGTHY) -> list[Frame]:
    framer = Framer(lengthy=lengthy)
    frames = [frame for piece in pieces for frame in framer.feed(piece)]
    rest = framer.close()
    return [*frames, rest] if rest else frames


@given(LINES, st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=12, max_size=12), st.booleans(), st.data())
def test_any_split_gives_the_frames_of_java(
    lines: list[bytes], ends: list[bytes], whole: bool, data: st.DataObject
) -> None:
    stream = b"".join(line + end for line, end in zip(lines, ends, strict=False))
    if not whole and stream:
        stream = stream[:-1]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    frames = frames_of(pieces)
    complete = [frame for frame in frames if not frame.fault]
    assert [frame.text for frame in complete] == reference(stream)
    assert [frame.offset for frame in frames] == [sum(len(f.raw) for f in frames[:i]) for i in range(len(frames))]
    assert stream.startswith(b"".join(frame.raw for frame in frames))
    assert frames == frames_of([bytes([byte]) for byte in stream])
    assert frames == frames_of(pieces, lengthy=0)


@pytest.mark.parametrize(
    ("stream", "texts"),
    [
        (b'{"a":1}\nend\n', [b'{"a":1}']),
        (b"end\nend\n", [b"", b""]),
        (b"end\n{}\nend\nend\n{}\nend\n", [b"", b"{}", b"", b"{}"]),
        (b"\n\n{}\n\nend\n", [b"{}\n"]),
        (b'{\n "a":\n 1\n}\nend\n', [b'{\n "a":\n 1\n}']),
        (b"{}\r\nend\r\n{}\r\nend\r\n", [b"{}", b"{}"]),
        (b"{}\rend\r{}\rend\r", [b"{}", b"{}"]),
        (b"{}\nend", [b"{}"]),
        (b"{}\nend \n{}\nend\n", [b"{}\nend \n{}"]),
    ],
)
def test_framing_table(stream: bytes, texts: list[bytes]) -> None:
    assert [frame.text for frame in frames_of([stream])] == texts


def test_a_cut_frame_says_so() -> None:
    framer = Framer()
    assert framer.feed(b'{"command":"em') == []
    rest = framer.close()
    assert rest is not None
    assert (rest.fault, rest.raw, rest.newline) == ("cut", b'{"command":"em', "")


def test_an_endless_frame_is_bounded() -> None:
    framer = Framer(limit=1000)
    frames = [frame for _ in range(100) for frame in framer.feed(b"x" * 100)]
    assert [(f.fault, len(f.raw)) for f in frames] == [("too-long", 1000)]
    assert framer.pending == b""
    assert framer.feed(b"\nend\n") == []


def test_frame_text_keeps_what_is_no_terminator() -> None:
    assert frame_text(b"a\nend \nb\nend\n") == b"a\nend \nb"


SYNC = b'{"command":"sync"}\nend\n'


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (SYNC * 3, 3),
        (SYNC + b"end\n" + SYNC, 0),
        (SYNC + SYNC[:-1], 0),
        (SYNC + b"\n" + SYNC, 0),
        (SYNC + b" " + SYNC, 0),
        (SYNC + b"[1]\nend\n", 0),
        (SYNC + b'{"command":\n"sync"}\nend\n', 0),
        (SYNC + b'{"command":\r"sync"}\nend\n', 0),
        (b"", 0),
    ],
)
def test_a_plain_run(data: bytes, frames: int) -> None:
    assert plain_run(data) == frames


def test_a_run_is_taken_with_what_was_left_and_within_the_limit() -> None:
    framer = Framer(limit=3 * len(SYNC), lengthy=0)
    assert framer.feed(SYNC[:4]) == []
    run = framer.feed(SYNC[4:] + SYNC + SYNC[:2])
    assert isinstance(run, Frames)
    assert (run.data, run.offset, list(run)) == (SYNC * 2, 0, [Frame(0, SYNC), Frame(len(SYNC), SYNC)])
    assert (framer.offset, framer.pending) == (2 * len(SYNC), SYNC[:2])
    long = framer.feed(SYNC[2:] + SYNC * 3)
    assert not isinstance(long, Frames)
    assert [frame.raw for frame in long] == [SYNC] * 4


def test_a_carriage_return_in_what_is_left_is_no_run() -> None:
    framer = Framer(lengthy=0)
    frames = framer.feed(SYNC + b"{}\rend")
    assert not isinstance(frames, Frames)
    assert [frame.raw for frame in (*frames, *framer.feed(b"\r"))] == [SYNC, b"{}\rend\r"]


def test_few_bytes_are_no_run() -> None:
    assert not isinstance(Framer().feed(SYNC * 2), Frames)
    assert isinstance(Framer().feed(SYNC * LENGTHY), Frames)


@given(st.binary(), st.binary(min_size=1, max_size=1))
def test_a_byte_is_counted(data: bytes, byte: bytes) -> None:
    assert count_byte(data + byte, byte) == data.count(byte) + 1
