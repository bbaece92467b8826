"""Components that are right in unusual ways: not one finding of level must or should on any of them.

However often and however busy the machine is asked by the soak: ``python -m benchmarks.soak``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from multilang_cli.driver.session import Session
from multilang_cli.subject.options import RunOptions
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.runner.suite_run import run_suite
from tests.components import DECLARED, WARNED_OF, WORTH_A_WORD, unusual

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

JOBS = 2
COMPONENTS = unusual()


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", COMPONENTS)
def test_nothing_is_found(name: str, tmp_path: Path) -> None:
    fair = WORTH_A_WORD.get(name.partition("-")[2], set())
    result = run_suite(COMPONENTS[name], RunOptions(record=str(tmp_path), strict=True, jobs=JOBS))
    warned = WARNED_OF.get(name.partition("-")[2], set())
    assert {s.id: s.verdict for s in result.subjects if s.verdict not in {"pass", "skip"}} == dict.fromkeys(
        warned, "warn"
    )
    assert {finding.rule for s in result.subjects for finding in s.findings} <= fair
    assert (result.exit_code, result.complete) == (int(bool(warned)), True)
    assert sum(s.verdict == "pass" for s in result.subjects) > len(result.subjects) / 2


def test_every_declaration_is_of_a_component() -> None:
    assert set(DECLARED) | set(WORTH_A_WORD) | set(WARNED_OF) <= {name.partition("-")[2] for name in COMPONENTS}


TELLING = (
    *("bolt-syncs-first", "bolt-syncs-by-itself", "bolt-fails-all", "bolt-polls"),
    *("spout-silent", "spout-answers-in-ack", "spout-answers-later"),
)
"""Those whose kind is not plain from a first answer."""


@pytest.mark.parametrize("name", TELLING)
def test_the_probe_is_not_misled(name: str) -> None:
    component = msgspec.structs.replace(COMPONENTS[name], kind="auto")
    assert kind_of(component, RunOptions()).kind == name.partition("-")[0]


def test_who_settles_by_a_clock_is_not_too_slow_for_a_backlog(tmp_path: Path) -> None:
    options = RunOptions(record=str(tmp_path), include=("bolt.heartbeat.behind-backlog",))
    [subject] = run_suite(COMPONENTS["bolt-timed-batch"], options).subjects
    assert (subject.verdict, subject.reason) == ("pass", "")


@pytest.mark.parametrize("glance", [True, False], ids=["seen at work", "at rest at a glance"])
def test_who_works_for_long_on_a_large_tuple_is_waited_for(
    glance: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = iter([glance])
    works = vars(Session)["working"]
    monkeypatch.setattr(Session, "working", property(lambda bolt: next(seen, True) and works.fget(bolt)))
    options = RunOptions(record=str(tmp_path), include=("bolt.value.large",))
    [subject] = run_suite(COMPONENTS["bolt-ponders"], options).subjects
    assert (subject.verdict, subject.reason) == ("pass", "")
