"""Tuples near the samples of a bolt: which are made, and what is told of one that it can't take."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.protocol.wire.context import Sample
from multilang_cli.subject.options import Component, InputSource, RunOptions
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.probing.varied import LONG_TEXT, VARIED, NearSamples, fed_near_samples, varied
from multilang_cli.suite.runner.retaking import with_near_samples
from multilang_cli.suite.runner.suite_run import run_suite
from tests.sessions import PID
from tests.suite.test_refusals import CODE

if TYPE_CHECKING:
    from pathlib import Path


def wrong_of(near: NearSamples) -> str:
    return near.wrong.text if near.wrong is not None else ""


def values_of(*samples: list[Any]) -> list[list[Any]]:
    return [each.values for each in varied([Sample(values) for values in samples])]


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        (7, [0, None]),
        (7.5, [0.0, None]),
        (0, [None]),
        (True, [None]),
        (None, []),
        ([1, 2], [[], [1, 0], None]),
        ({"a": 1, "b": "x"}, [{}, {"a": 1, "b": ""}, None]),
        ("21.5", ["", "nan", None]),
        ("70.9 F", ["", "nan", None]),
        ("2026-11-28", ["", None]),
        ('{"a": 1}', ["", None]),
        ("word", ["", 'word "a" \\ b\n', None, ("word " + "word" * LONG_TEXT)[:LONG_TEXT]]),
        ("a\nb", ["", 'a\nb "a" \\ b\n', None, ("a\nb" * LONG_TEXT)[:LONG_TEXT]]),
    ],
)
def test_a_value_is_made_empty_quoted_null_and_long(value: Any, instead: list[Any]) -> None:
    assert values_of([value]) == [[each] for each in instead]


def test_a_long_text_of_a_long_one_takes_no_memory() -> None:
    assert [len(text) for (text,) in values_of(["word " * 100_000]) if text][-1] == LONG_TEXT


def test_one_value_differs_and_each_tuple_comes_once() -> None:
    made = values_of(["2", 3], ["2", 4])
    assert made == [["", 3], ["2", 0], ["", 4], ["nan", 3], ["nan", 4], [None, 3], ["2", None], [None, 4]]


def test_the_first_samples_alone_are_varied() -> None:
    assert values_of(*[[number + 1] for number in range(VARIED + 1)]) == [[0], [None]]


def bolt(tmp_path: Path, deed: str, *samples: list[Any], **declared: Any) -> Subject:
    script = tmp_path / "bolt.py"
    script.write_text(PID + CODE % deed)
    component = Component(
        command=(sys.executable, "-I", "-S", str(script)), kind="bolt", **{"samples": samples, **declared}
    )
    return Subject.of(component, RunOptions(record=str(tmp_path / "kept"), include=(), timeout=5.0))


EMITS_BEHIND_ITS_FAIL = """if not all(tup['tuple'][0] or ['']):
        say('{"command":"fail","id":"%s"}\\nend\\n' % tup['id'])
        if tup['tuple'][0]:
            time.sleep(0.03)
            say('{"command":"emit","anchors":["%s"],"tuple":["AB"]}\\nend\\n' % tup['id'])
        continue"""


@pytest.mark.component
@pytest.mark.parametrize(
    ("deed", "sample", "words"),
    [
        ("sum(tup['tuple'][0]) / len(tup['tuple'][0])", [[1, 2]], ("fed [[]]", "ZeroDivisionError", "bolt.py:")),
        ("if tup['tuple'] == ['']: continue", ["text"], ('fed [""]', "neither acked nor failed")),
        ("if '\"' in tup['tuple'][0]: say('no JSON\\nend\\n')", ["text"], ('a\\" \\\\', "no JSON")),
        ("if len(str(tup['tuple'][0])) > 99_999: os._exit(3)", ["text"], ("--tuples FILE", "3")),
        (EMITS_BEHIND_ITS_FAIL, [["AB", "CD"]], ('fed [["AB", ""]]', "settled already")),
    ],
)
def test_a_tuple_that_it_can_not_take_is_told(
    tmp_path: Path, deed: str, sample: list[Any], words: tuple[str, ...]
) -> None:
    note = wrong_of(fed_near_samples(bolt(tmp_path, deed, sample)))
    assert [word for word in words if word not in note] == [], note


@pytest.mark.component
@pytest.mark.parametrize("samples", [(["text"],), ()], ids=["declared", "made up"])
def test_a_long_text_that_is_never_settled_is_a_warning(tmp_path: Path, samples: Any) -> None:
    subject = bolt(tmp_path, "if len(str(tup['tuple'][0])) > 99_999: continue", *samples)
    options = msgspec.structs.replace(subject.options, include=("bolt.settle.once",))
    passed = run_suite(msgspec.structs.replace(subject.component, samples=(["text"],)), options)
    whole = msgspec.structs.replace(passed, selection=msgspec.structs.replace(passed.selection, include=()))
    result = with_near_samples(subject, whole)
    assert (result.exit_code, result.counts["warn"]) == (0, 1)
    (cause,) = result.subjects[-1].causes
    assert cause.id == "line-too-long"
    assert "it loses a message of 300," in cause.headline


@pytest.mark.component
def test_what_goes_wrong_with_an_empty_text_is_told_of_a_bolt_without_samples(tmp_path: Path) -> None:
    near = fed_near_samples(bolt(tmp_path, "if not tup['tuple'][0]: say('no JSON\\nend\\n')"))
    assert wrong_of(near).startswith('fed [""], made up, ')
    assert near.fed == 0


@pytest.mark.component
@pytest.mark.parametrize(
    ("deed", "declared"),
    [
        ("answer = 'fail' if tup['tuple'] != ['text'] else 'ack'", {}),
        ("while len(str(tup['tuple'][0])) > 99_999: pass", {}),
        ("continue", {}),
        ("1 / len(tup['tuple'][0])", {"sources": (InputSource("a", samples=(["x"],)), InputSource("b"))}),
    ],
    ids=["fails what it can't take", "is slow", "settles late", "joins"],
)
def test_who_fails_them_is_slow_or_settles_late_is_told_nothing(
    tmp_path: Path, deed: str, declared: dict[str, Any]
) -> None:
    assert not fed_near_samples(bolt(tmp_path, deed, *([] if declared else [["text"]]), **declared)).wrong


@pytest.mark.component
def test_who_emits_on_and_on_is_not_said_to_leave_it_open(tmp_path: Path) -> None:
    emits = 'while len(str(tup[\'tuple\'][0])) > 99_999: say(\'{"command":"log","msg":"on"}\\nend\\n\')'
    assert not fed_near_samples(bolt(tmp_path, emits, ["text"])).wrong


@pytest.mark.component
@pytest.mark.parametrize(
    ("code", "include", "samples", "told"),
    [
        (0, (), (["text"],), True),
        (1, (), (["text"],), False),
        (0, ("bolt.settle.once",), (["text"],), False),
        (0, (), (), False),
    ],
)
def test_a_pass_of_the_whole_suite_alone_is_told_of_them(
    tmp_path: Path, code: int, include: tuple[str, ...], samples: Any, told: bool
) -> None:
    subject = bolt(tmp_path, "1 / len(tup['tuple'][0])", *samples)
    options = msgspec.structs.replace(subject.options, include=("bolt.settle.once",))
    result = run_suite(msgspec.structs.replace(subject.component, samples=(["text"],)), options)
    assert (result.exit_code, result.complete) == (0, True)
    selection = msgspec.structs.replace(result.selection, include=include)
    given = msgspec.structs.replace(result, exit_code=code, selection=selection)
    notes = with_near_samples(subject, given).notes
    assert any("made up from a sample" in note for note in notes) is told
    # What tells of lost data comes before what tells of how it was run.
    assert ("made up from a sample" in notes[0]) is told


@pytest.mark.component
def test_a_note_tells_no_secret(tmp_path: Path) -> None:
    deed = "if not tup['tuple'][0]: raise ValueError(hello['conf']['db.password'])"
    subject = bolt(tmp_path, deed, ["text"], conf={"db.password": "sesame-open-77"})
    options = msgspec.structs.replace(subject.options, include=("bolt.settle.once",))
    result = run_suite(subject.component, options)
    result = msgspec.structs.replace(result, selection=msgspec.structs.replace(result.selection, include=()))
    note = with_near_samples(subject, result).notes[0]
    assert "ValueError" in note
    assert "sesame" not in note


@pytest.mark.component
@pytest.mark.parametrize(
    ("deed", "declared", "told"),
    [
        ("if tup['stream'] == '__tick': raise KeyError('count')", {}, True),
        ("if tup['stream'] == '__tick': raise KeyError('count')", {"settles": "on-tick"}, False),
        ("if tup['stream'].startswith('__'): raise KeyError('count')", {}, False),
        ("if tup['stream'] == '__tick': pass", {}, False),
    ],
    ids=["dies of it", "declared", "not told of in the source", "takes it"],
)
def test_a_tick_of_which_the_source_tells_is_tried(
    tmp_path: Path, deed: str, declared: dict[str, Any], told: bool
) -> None:
    note = wrong_of(fed_near_samples(bolt(tmp_path, deed, ["text"], **declared)))
    assert note.startswith("fed a tick") is told
    assert ("KeyError" in note and "--accepts ticks" in note) is told


@pytest.mark.component
def test_a_pass_tells_of_the_tuples_that_were_tried_last_of_all(tmp_path: Path) -> None:
    subject = bolt(tmp_path, "pass", ["text", 3])
    options = msgspec.structs.replace(subject.options, include=("bolt.settle.once",))
    result = run_suite(subject.component, options)
    whole = msgspec.structs.replace(result, selection=msgspec.structs.replace(result.selection, include=()))
    (*others, last) = with_near_samples(subject, whole).notes
    assert tuple(others) == result.notes
    assert last.startswith("also fed 6 tuples made up from its samples")
