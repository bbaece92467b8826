"""What components log as warnings and errors is counted by its text, and what they gave up is a warning of the run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.topology.engine.logged import MOST_KINDS, LoggedProblems
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

FLUX = """
name: logged
config: {topology.acker.executors: 1}
spouts:
  - id: source
    className: org.apache.storm.flux.wrappers.spouts.FluxShellSpout
    constructorArgs: [[%s, %s], [word]]
"""
SPOUT = """
from multilang_cli.component.spout import Spout


class Source(Spout):
    turn = 0

    def next_tuple(self):
        self.turn += 1
        if self.turn <= 10:
            SAY


Source().run()
"""


def said(*lines: tuple[str, int]) -> list[str]:
    logged = LoggedProblems()
    for text, level in lines:
        logged.take("source", text, level)
    return [str(each) for each in logged.all()]


def test_texts_that_differ_in_numbers_are_one() -> None:
    assert said(("offset 1 lost", 3), ("offset 2 lost", 3), ("other", 4), ("fine", 2)) == [
        "source logged: offset 1 lost (2 such lines)",
        "source logged: other",
    ]


def test_a_traceback_is_its_first_and_its_last_line() -> None:
    frames = "".join(f'  File "bolt.py", line {n}, in run\n    self.run()\n' for n in range(9))
    text = f"-5: could not process\nTraceback (most recent call last):\n{frames}TypeError: no\n"
    assert said((text, 4), (text.replace("-5", "7"), 4)) == [
        "source logged: -5: could not process ... TypeError: no (2 such lines)"
    ]


def test_a_long_text_keeps_its_end() -> None:
    [shown] = said(("Traceback " + "x" * 2_000 + " TypeError: no", 4))
    assert shown.startswith("source logged: Traceback xxx")
    assert shown.endswith("TypeError: no")


def test_no_more_texts_are_kept_than_anybody_reads() -> None:
    assert len(said(*((chr(0x100 + number), 4) for number in range(1_000)))) == MOST_KINDS + 1


FAILS = """
bolts:
  - id: sink
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs: [[%s, %s], [word]]
streams:
  - {from: source, to: sink, grouping: {type: SHUFFLE}}
"""


def failing_bolt(folder: Path) -> Path:
    script = folder / "sink.py"
    script.write_text(
        "from multilang_cli.component.bolt import Bolt\n\n\nclass Sink(Bolt):\n    def process(self, tuple_):\n"
        "        self.fail(tuple_)\n\n\nSink().run()\n",
        encoding="utf-8",
    )
    return script


def run(folder: Path, say: str, *options: str, flux: str = FLUX) -> tuple[int, str]:
    script = folder / "source.py"
    script.write_text(SPOUT.replace("SAY", say), encoding="utf-8")
    (folder / "topology.yaml").write_text(flux.replace("%s, %s", f"{sys.executable}, {script}", 1), encoding="utf-8")
    done = mlcheck("topology", "run", "topology.yaml", "--idle", "0.2", *options, cwd=folder)
    return done.returncode, " ".join(done.stdout.split())


@pytest.mark.component
def test_what_a_spout_logs_is_shown_when_nothing_was_emitted(tmp_path: Path) -> None:
    code, shown = run(tmp_path, 'self.log(f"attempt {self.turn}: Connection refused", 3)')
    assert code == 6
    assert "source logged: attempt 1: Connection refused (10 such lines)" in shown


@pytest.mark.component
@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)])
def test_what_was_given_up_is_a_warning(tmp_path: Path, options: tuple[str, ...], code: int) -> None:
    say = 'self.emit([str(self.turn)], id=self.turn); self.log(f"given up: message {self.turn} is no JSON: dropped", 4)'
    found, shown = run(tmp_path, say, *options)
    assert found == code, shown
    assert "10 given up. The first: message 1 is no JSON: dropped" in shown


KEEPS = """self.emit([str(self.turn)], id=SHAPE)

    def fail(self, id):
        self.log(f"given up: order {id}: failed 1 time: DONE (message id {id})", 4)
"""


@pytest.mark.component
@pytest.mark.parametrize(("done", "code"), [("written to table dead", 0), ("dropped", 1)])
@pytest.mark.parametrize("shape", ["self.turn", "str(self.turn)", 'f"{self.turn}, b"'])
def test_what_its_spout_keeps_elsewhere_is_not_lost(tmp_path: Path, shape: str, done: str, code: int) -> None:
    """What is told to be dropped is lost."""
    say = KEEPS.replace("SHAPE", shape).replace("DONE", done)
    found, shown = run(tmp_path, say, flux=FLUX + FAILS % (sys.executable, failing_bolt(tmp_path)))
    assert found == code, shown
    account = "10 lost" if code else "0 lost, 10 in the dead letters"
    assert f"Messages: 10 sent, 0 completed, {account}, 0 sent again" in shown
    assert "10 given up. The first: order" in shown


@pytest.mark.component
def test_what_was_given_up_for_several_reasons_is_one_warning(tmp_path: Path) -> None:
    say = (
        "self.emit([str(self.turn)], id=self.turn); "
        "self.log(f\"given up: {'abcde'[self.turn % 5]}: message {self.turn}: failed 3 times: dropped\", 4)"
    )
    found, shown = run(tmp_path, say)
    assert found == 0, shown
    assert shown.count("WARN given-up-source ") == 1
    assert "2 given up. The first: b: message 1: failed 3 times: dropped; 2 given up. The first: c: " in shown
    assert "; 2 more kinds" in shown
