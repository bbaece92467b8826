"""Progress is told also where there is no terminal."""

from __future__ import annotations

import threading
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.suite.progress import Pace
from multilang_cli.terminal import output

if TYPE_CHECKING:
    from collections.abc import Iterable


def test_in_a_log_a_line_comes_by_the_clock_and_none_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    enough = threading.Event()

    def remark(text: str) -> None:
        said.append(text)
        if len(said) == 2:
            enough.set()

    monkeypatch.setattr(output, "remark", remark)
    with output.progress_line(verbose=False, quiet=False, every=0.01) as progress:
        assert progress is not None
        progress("bolt.settle.once", 2, 65)
        assert enough.wait(60)
    count = len(said)
    assert all(line.startswith("3/65 bolt.settle.once  (") and line.endswith(" s)") for line in said)
    assert len(said) == count
    assert not any(thread.name == "progress" for thread in threading.enumerate())


def test_nothing_is_said_where_nothing_began_or_nobody_wants_it(capsys: Any) -> None:
    with output.progress_line(verbose=False, quiet=False, every=0.001) as progress:
        assert progress is not None
    with output.progress_line(verbose=False, quiet=True) as none:
        assert none is None
    assert capsys.readouterr().err == ""


def test_a_slow_component_is_told_how_long_all_cases_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 4.0, 8.0, 12.0, 12.0, 16.0])
    monkeypatch.setattr("multilang_cli.suite.progress.time.monotonic", lambda: next(clock))
    pace = Pace()
    said = [pace.tell(begun, 44) for begun in (0, 1, 2, 3, 3, 4)]
    assert [bool(line) for line in said] == [False, False, False, True, False, False]
    assert said[3].startswith("a case takes 4.0 s, to start and to answer: all 44 may take some 3 min")


def test_a_component_that_is_slow_at_each_tuple_is_told_so_as_soon_as_one_was_settled() -> None:
    pace = Pace()
    pace.tell(0, 46)
    said = [pace.told_slow(seconds) for seconds in (0.1, 1.9, 5.0, 5.0)]
    assert [bool(line) for line in said] == [False, False, True, False]
    assert said[2].startswith(
        "a tuple takes it 5.0 s, and most of the 46 cases wait for one or more: all may take some 4 min"
    )


@pytest.mark.parametrize(("long", "told"), [([], []), ([5], []), ([4, 5, 6, 7, 8, 9], [10]), (range(12, 20), [20])])
def test_it_is_told_later_if_the_first_cases_were_quick(
    monkeypatch: pytest.MonkeyPatch, long: Iterable[int], told: list[int]
) -> None:
    took = [8.0 if case in long else 0.1 for case in range(30)]
    clock = iter([0.0, *accumulate(took, initial=0.0)])
    monkeypatch.setattr("multilang_cli.suite.progress.time.monotonic", lambda: next(clock))
    pace = Pace()
    assert [begun for begun in range(30) if pace.tell(begun, 44)] == told
