"""Runs of a topology: where its recordings are cut, and what a run's digest stands for."""

from __future__ import annotations

from typing import Any

import pytest

from multilang_cli.audit.runs import RecordedRun, topology_runs
from multilang_cli.audit.stages.facts import AuditFacts, HeardPart, Span

BEGAN = 1_767_600_000.0
"""2026-01-05, at 8:00 UTC."""
_AT_EIGHT = "t 2026-01-05T08:00:00Z"
Lives = list[tuple[int, float, float]]
"""Tasks, each with when it was heard: from, until, in seconds since eight."""


def facts(lives: Lives, **changed: Any) -> AuditFacts:
    """One conversation for each, named by its place. `changed`: fields of all parts."""
    parts, spans = {}, {}
    for place, (task, first, last) in enumerate(lives):
        conv = f"c{place}"
        part = HeardPart(conv, 1, f"/in/{conv}", "2.8.3", "bolt", "b", task, "w", "h", "t", BEGAN + first, 30.0, True)
        parts[conv] = [part._replace(**changed)]
        spans[conv] = Span(9, last - first, 0.0, last - first, False, None, None, None, 0, 8, 36, 8)
    return AuditFacts(parts, spans, {})


def told(lives: Lives, **changed: Any) -> dict[str, tuple[str, ...]]:
    return {name: run.convs for name, run in topology_runs(facts(lives, **changed)).items()}


def test_a_run_ends_where_all_its_tasks_pause_and_begin_again() -> None:
    lives = [(3, 0.0, 100.0), (4, 1.0, 99.0), (4, 200.0, 220.0), (3, 201.0, 300.0)]
    assert told(lives) == {_AT_EIGHT: ("c0", "c1"), "t 2026-01-05T08:03:20Z": ("c2", "c3")}


@pytest.mark.parametrize(
    ("lives", "changed"),
    [
        # A worker was restarted while another ran.
        ([(3, 0.0, 100.0), (4, 0.0, 300.0), (3, 200.0, 300.0)], {}),
        # It takes no longer than a tuple may.
        ([(3, 0.0, 100.0), (3, 129.0, 300.0)], {}),
        ([(3, 0.0, 100.0), (3, 109.0, 300.0)], {"timeout": 0.5}),
        # The clock of the worker of task 4 may be ahead; or a recording is missing.
        ([(3, 0.0, 100.0), (4, 3600.0, 3700.0)], {}),
        ([(3, 0.0, 100.0), (4, 0.0, 100.0), (4, 3600.0, 3700.0)], {}),
    ],
)
def test_what_may_belong_together_is_one_run(lives: Lives, changed: dict[str, Any]) -> None:
    assert list(told(lives, **changed)) == [_AT_EIGHT]


def test_where_nobody_says_when_it_was_all_is_one_run() -> None:
    assert list(told([(3, 0.0, 1.0), (3, 3600.0, 3601.0)], started=None)) == ["t"]


def test_a_run_with_a_history_is_named_as_its_folder() -> None:
    known = facts([(3, 0.0, 100.0), (3, 1.0, 100.0)])
    known.parts["c1"] = [known.parts["c1"][0]._replace(file="/runs/one/tapped/c1")]
    found = topology_runs(known, {"/runs/one", "/runs/two"})
    assert {name: run.convs for name, run in found.items()} == {
        "/runs/one": ("c1",),
        "/runs/two": (),
        _AT_EIGHT: ("c0",),
    }


def test_a_digest_is_of_all_that_is_known_of_a_run_and_of_nothing_else() -> None:
    days: Lives = [(3, 0.0, 100.0), (3, 86_400.0, 86_500.0), (3, 2 * 86_400.0, 2 * 86_400.0 + 9)]

    def runs(known: AuditFacts) -> list[RecordedRun]:
        """Runs of a topology, in order."""
        return list(topology_runs(known).values())

    first, second, last = runs(facts(days))
    assert [each.followed for each in (first, second, last)] == [True, True, False]
    assert runs(facts(days[:2])) == [first, second._replace(followed=False, mark=runs(facts(days[:2]))[1].mark)]
    assert runs(facts(days[:2]))[1].mark != second.mark
    known = facts(days)
    known.spans["c1"] = known.spans["c1"]._replace(number=8)
    marks = [run.mark for run in runs(known)]
    assert (marks[0], marks[2]) == (first.mark, last.mark)
    assert marks[1] != second.mark
