"""The parts of ``mlcheck repl`` that need no component: what is typed, tuple trees, where a line is cut."""

from __future__ import annotations

import json
import time
from functools import reduce
from operator import xor
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.protocol.words.events import Chunk, End, Event
from multilang_cli.protocol.words.messages import Ack, Emit, Fail, Malformed, SpoutCommand, TaskIds, TupleMsg
from multilang_cli.protocol.words.verdicts import Profile
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.editing import typed
from multilang_cli.repl.commands.speaking import id_of, with_fields
from multilang_cli.repl.commands.table import Misuse
from multilang_cli.repl.screen import Screen
from multilang_cli.repl.show import EventLines
from multilang_cli.repl.trees import MOST_NODES, drawn
from multilang_cli.reports.trees import Trees

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Channel
    from multilang_cli.protocol.words.messages import Message
    from multilang_cli.protocol.words.verdicts import Kind


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (r"a\nb\r\t\0\\", b"a\nb\r\t\0\\"),
        (r"\xff\u00e9é\"\'", b"\xff\xc3\xa9\xc3\xa9\"'"),
        (r"\ud83d", b"\xed\xa0\xbd"),
        ("", b""),
    ],
)
def test_bytes_as_they_are_typed(text: str, data: bytes) -> None:
    assert parsing.escaped_bytes(text) == data


@given(st.binary() | st.text().map(str.encode))
def test_bytes_are_typed_again_as_they_were(data: bytes) -> None:
    text = parsing.as_escaped(data)
    assert text.isprintable()
    assert parsing.escaped_bytes(text) == data


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (TupleMsg("source", ["a b", 1], 2, "default", "7"), 'tuple ["a b", 1]'),
        (TupleMsg("other", ["é"], 2, "late", "7"), 'tuple ["é"] stream=late comp=other'),
        (TupleMsg("__system", [1], -1, "__tick", "7"), "tick"),
        (TupleMsg(None, [], -1, "__heartbeat", "7"), "heartbeat"),
        (SpoutCommand("next"), "next"),
        (SpoutCommand("fail", {"n": 1}), 'fail {"n": 1}'),
        (TaskIds([4, 5]), "taskids [4, 5]"),
        (Malformed("json", 0, "{", "cut"), r"raw {\nend\n"),
    ],
)
def test_a_message_is_opened_as_the_command_that_says_it(message: Message, text: str) -> None:
    assert typed(Event(4, 0.5, "in", message, b"{\nend\n"), "source") == text


def test_only_what_storm_said_is_opened() -> None:
    with pytest.raises(Misuse, match="only what Storm said"):
        typed(Event(4, 0.5, "out", Ack("1"), b"x"))


@pytest.mark.parametrize("text", ["\\", r"\q", r"\x4", r"\u12"])
def test_a_backslash_that_escapes_nothing_is_refused(text: str) -> None:
    with pytest.raises(Misuse, match="a backslash"):
        parsing.escaped_bytes(text)


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("[", True),
        ("[1]", False),
        ('["[", ', True),
        ('["["]', False),
        ('["\\"["]', False),
        ('["open', True),
        ('{"a": [1}', True),
        ("]]", False),
        ('["open \\"', True),
        ('["over\ntwo"]', False),
        ('["over\ntwo [', True),
    ],
)
def test_when_a_command_goes_on(text: str, is_open: bool) -> None:
    assert parsing.is_open(text) == is_open


def test_commands_and_where_they_begin() -> None:
    lines = ["", "# no", "next", 'tuple ["a",', "# a value?", '"b"]', "raw [", "tuple ["]
    found = list(parsing.statements(lines, {"tuple"}))
    assert found == [(3, "next"), (4, 'tuple ["a",\n# a value?\n"b"]'), (7, "raw ["), (8, "tuple [")]


def test_a_command_of_many_lines_is_read_once() -> None:
    """Looked at anew with each of its lines, 10,000 of them would take half a minute, at each key at a prompt."""
    lines = ["tuple [", *(f'["{number} [", "]",' for number in range(10_000)), '"over', '[", "]"', "]" * 10_001]
    begun = time.process_time()
    assert list(parsing.statements([*lines, "next"], {"tuple"})) == [(1, "\n".join(lines)), (10_005, "next")]
    assert time.process_time() - begun < 2
    begun = time.process_time()
    text = f'tuple ["{"a" * 1_000_000}"]'
    assert not any(parsing.is_open(text) for _ in range(100))
    assert time.process_time() - begun < 2


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@pytest.mark.long
@given(st.lists(VALUES, min_size=1))
def test_values_of_any_kind_are_read_as_they_were_written(values: list[object]) -> None:
    text = json.dumps(values, indent=1, ensure_ascii=False)
    assert not parsing.is_open(text)
    assert parsing.leading_json(f"{text} times=2") == (values, " times=2")
    answers = [json.dumps(value) for value in values]
    assert parsing.leading_json(with_fields("tuple times=2", answers).removeprefix("tuple ")) == (values, " times=2")


@pytest.mark.parametrize(
    ("pending", "text", "meant"),
    [
        (["1"], "1", "1"),
        ([1], "1", 1),
        ([1, "1"], "1", 1),
        ([1, "1"], '"1"', "1"),
        ([], "a b", "a b"),
        ([[1]], "[1]", [1]),
        (["true"], "true", "true"),
    ],
)
def test_the_id_that_is_meant(pending: list[object], text: str, meant: object) -> None:
    assert id_of(pending, text) == meant


def trees_of(kind: Kind, *said: tuple[Channel, Message]) -> Trees:
    profile = Profile(kind=kind, component="own", tasks={1: "source", 3: "own", 4: "sink"})
    return Trees(profile, [Event(number, number / 10, *each) for number, each in enumerate(said)])


def tuple_(id_: str, stream: str = "default", comp: str = "source") -> tuple[Channel, Message]:
    return "in", TupleMsg(comp, ["x"], 1, stream, id_)


def test_the_tree_of_a_bolt_ends_with_its_ack() -> None:
    trees = trees_of(
        "bolt",
        tuple_("1"),
        tuple_("2"),
        ("out", Emit(["a"], anchors=("1", "2"))),
        ("out", Emit(["b"])),
        ("out", Ack("1")),
        ("out", Fail("2")),
        tuple_("3"),
        tuple_("4", "__tick", "__system"),
        ("out", Ack("4")),
    )
    one, two, three = trees.trees()
    assert [tree.outcome.kind if tree.outcome else "" for tree in (one, two, three)] == ["acked", "failed", ""]
    assert [node.holder.component for node in one.nodes.values()] == ["own", "sink"]
    assert reduce(xor, (step.sent for step in one.steps)) == 0
    assert [step.acker_val for step in one.steps][-1] == 0
    assert [trees.numbers[edge] for edge in one.nodes] == [0, 2]
    assert [trees.numbers[node.edge] for node in three.open()] == [6]


def test_a_tree_is_drawn_with_each_tuple_below_its_anchor() -> None:
    trees = trees_of("bolt", tuple_("1"), ("out", Emit(["a"], anchors=("1",))), ("out", Emit(["b"], anchors=("1",))))
    [tree] = trees.trees()
    lines = ["└─ 0 to own: open", "   ├─ 1 to sink: acked", "   └─ 2 to sink: acked"]
    assert list(drawn(tree, trees.numbers, ascii_only=False)) == lines
    assert list(drawn(tree, trees.numbers, ascii_only=True))[1] == "   |- 1 to sink: acked"


def test_a_tree_that_a_flood_made_is_drawn_in_part() -> None:
    many: list[tuple[Channel, Message]] = [("out", Emit(["a"], anchors=("1",)))] * (MOST_NODES + 5)
    trees = trees_of("bolt", tuple_("1"), *many)
    *lines, rest = drawn(trees.trees()[0], trees.numbers, ascii_only=True)
    assert (len(lines), rest) == (MOST_NODES, "and 6 more tuples")


def test_the_tree_of_a_spout_ends_when_it_is_told() -> None:
    trees = trees_of(
        "spout",
        ("in", SpoutCommand("next")),
        ("out", Emit(["a"], id=1)),
        ("out", Emit(["b"], id="1")),
        ("out", Emit(["c"])),
        ("in", SpoutCommand("fail", "1")),
        ("in", SpoutCommand("ack", 1)),
        ("in", SpoutCommand("ack", "unknown")),
    )
    assert [(tree.message_id, tree.outcome and tree.outcome.kind) for tree in trees.trees()] == [
        (1, "acked"),
        ("1", "failed"),
    ]


def test_stderr_in_pieces_is_shown_in_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lines = EventLines(Screen(lambda: 80, color=False))
    for number, piece in enumerate((b"one ", b"line\ntwo\n", b"\n", b"(Pdb) ")):
        lines.show(Event(number, 0.5, "err", Chunk(len(piece)), piece))
    lines.show(Event(4, 0.5, "control", End()))
    shown = [line[6:] for line in capsys.readouterr().out.splitlines()]
    assert shown[0] == "   0.500s err     one line"
    assert [line.split("err")[-1].strip() for line in shown[1:4]] == ["two", "", "(Pdb)"]


def test_a_line_of_a_traceback_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    line = b'  File "/home/someone/project/topology/resources/split_bolt.py", line 37, in process\n'
    EventLines(Screen(lambda: 80, color=False)).show(Event(0, 0.5, "err", Chunk(len(line)), line))
    assert line.decode().strip() in "".join(row[24:] for row in capsys.readouterr().out.splitlines())


def test_secrets_are_hidden_and_lines_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(lambda: 50, color=True)
    screen.clean = lambda text: text.replace(b"hush", b"***")
    screen.line(f"hush {'x' * 500} end", "must", lead="> ", most=2)
    screen.copied(f"hush {'y' * 500}")
    screen.hang("hush " + "word " * 20, "", lead="-- ")
    shown = capsys.readouterr().out
    first, second, copied, *hung = shown.splitlines()
    assert "hush" not in shown
    assert first.startswith("\x1b[1;31m> ***")
    assert second.endswith(" end\x1b[0m")
    assert len(copied) == 2 + 3 + 1 + 500
    assert [line[:3] for line in hung] == ["-- ", "   ", "   "]
