"""A tuple that a bolt takes is looked for where it fails the made-up one, and the suite played with that."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.reports.formats.console import as_text
from multilang_cli.reports.formats.screen import render_screen
from multilang_cli.reports.model import TakenTuple
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.subject import Subject
from multilang_cli.suite.runner.retaking import with_taken
from multilang_cli.suite.runner.suite_run import run_suite
from tests.sessions import PID
from tests.suite.test_refusals import CODE

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.model import RunResult

pytestmark = pytest.mark.component

CASES = ("bolt.settle.once", "bolt.emit.anchors")
TWO = 'user, at = tup["tuple"]; at + 1'


def again(tmp_path: Path, deed: str, *more: str, **declared: Any) -> RunResult:
    """The result of a bolt that does this, looked at once more."""
    script = tmp_path / "bolt.py"
    script.write_text(PID + CODE % deed)
    component = Component(command=(sys.executable, "-I", "-S", str(script)), **declared)
    options = RunOptions(record=str(tmp_path / "kept"), include=(*CASES, *more), timeout=5.0)
    return with_taken(Subject.of(component, options), run_suite(component, options))


TAKES = {
    TWO: ('["some text", 7]', "PASS, "),
    'tup["tuple"][0].split(); len(tup["tuple"][2])': ('["some text", "some text", "some text"]', "PASS, "),
    f'{TWO}; say(\'{{"command":"ack","id":"\' + tup["id"] + \'"}}\\nend\\n\')': (
        '["some text", 7]',
        "FAIL, it settles ",
    ),
}


@pytest.mark.parametrize("deed", TAKES)
def test_how_a_bolt_fares_with_a_tuple_that_it_takes_is_told(tmp_path: Path, deed: str) -> None:
    result = again(tmp_path, deed)
    values, told = TAKES[deed]
    assert result.takes is not None
    assert result.takes.values == values
    assert result.takes.told.startswith(told)
    # Nobody said that such tuples come: the verdict stays what it was.
    assert result.exit_code == 6
    # What was recorded of it is nobody's: a later run would find it among its own.
    assert [path.name for path in (tmp_path / "kept").iterdir() if path.is_dir()] == []
    screen = as_text(lambda console: render_screen(result, console), 80)
    assert "  Takes   --tuple " in screen
    assert screen.count("\n") <= 24


def test_who_takes_the_plain_tuple_and_not_each_text_of_ours_needs_no_other_shape(tmp_path: Path) -> None:
    deed = 'answer = "ack" if tup["tuple"][0].isascii() else "fail"'
    result = again(tmp_path, deed, "bolt.emit.unicode")
    assert (result.exit_code, result.takes) == (6, None)


def test_a_bolt_that_takes_none_of_the_shapes_is_left_alone(tmp_path: Path) -> None:
    assert again(tmp_path, 'tup["tuple"][0]["key"]').takes is None


@pytest.mark.parametrize(("deed", "declared"), [(TWO, {"samples": (["a"],)}), ("pass", {})])
def test_none_is_looked_for_where_one_is_declared_or_the_made_up_one_taken(
    tmp_path: Path, deed: str, declared: dict[str, Any]
) -> None:
    assert again(tmp_path, deed, **declared).takes is None


def test_what_it_takes_is_in_the_report(tmp_path: Path) -> None:
    assert again(tmp_path, TWO).takes == TakenTuple('["some text", 7]', "PASS, 1 case passed")


ON_TICK = """if tup["stream"] != "__tick":
        held = [*globals().get("held", []), tup["id"]]
        continue
    for id_ in globals().pop("held", []): say('{"command":"ack","id":"%s"}\\nend\\n' % id_)"""


@pytest.mark.parametrize(
    ("deed", "declared", "option"),
    [
        (ON_TICK, {"samples": (["a"],)}, "--settles"),
        (ON_TICK, {}, "--settles"),
        ("continue", {"samples": (["a"],)}, None),
        (ON_TICK, {"samples": (["a"],), "settles": "after-2"}, None),
    ],
    ids=["at a tick", "at a tick, undeclared", "never", "as is declared"],
)
def test_who_leaves_all_open_is_asked_whether_a_tick_settles_them(
    tmp_path: Path, deed: str, declared: dict[str, Any], option: str | None
) -> None:
    takes = again(tmp_path, deed, kind="bolt", **declared).takes
    assert (takes and takes.option) == option
    assert takes is None or takes.values == "on-tick"
