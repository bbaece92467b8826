"""``python -m benchmarks.work [--accept]``: count the work of one tuple, one round trip, one recorded line.

Instructions are counted by valgrind's callgrind, on stored bytes and without a component, so the counts repeat within
0.2 % whatever else the machine does, as long as objects lie where they lay: CPython's cache of attributes goes by the
addresses of names, and an unlucky pair costs up to 4 %. What is over its budget is counted again with objects lying
elsewhere, and the least is what counts. The counts are held to the budgets in ``work.json``, which belong to one build
of Python; with another they are only printed. Calls of the system are counted too, and may not grow at all. What is
over its budget is profiled.
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import gc
import itertools
import os
import platform
import pstats
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from benchmarks import sides
from benchmarks.audit_whole import made
from benchmarks.stored import StoredProcess
from benchmarks.stored_topology import StoredRun
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.judging.linting import judge_transcripts, lint_result
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.reports.html.page import to_html
from multilang_cli.transcript.format import Header
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.driver.session import Session

HERE = Path(__file__).parent
BUDGETS = HERE / "work.json"
MARGIN = 0.02
"""The part of its budget by which a count may exceed it."""
TUPLES, WINDOW, READ = 4_000, 1_000, 250
"""Tuples of a run, tuples in flight, and tuples that are answered by one read."""
CALLS = 1_000
ROOTS = 200
SENTENCES = 400
SHOWN_EVENTS = 1_000
"""Events on the page of a report: of a long recording few are shown."""
SEED = 5
_PID, _SYNC = b'{"pid": 1}\nend\n', b'{"command":"sync"}\nend\n'
_EMIT = b'{"command":"emit","anchors":["%b"],"tuple":["snow white","and the seven dwarfs",7,0.5,false]}\nend\n'
_ACK = b'{"command":"ack","id":"%b"}\nend\n'
_TOTAL = re.compile(rb"^desc: Trigger: Client Request: (\S+)$.*^totals: (\d+)$", re.MULTILINE | re.DOTALL)
_SHOWN = 15
LAYOUTS = (0, 333, 777)
_ELSEWHERE = """
import runpy
lying = [bytes(size % 300) for size in range({layout})]
runpy.run_module("benchmarks.work", run_name="__main__", alter_sys=True)
"""


class Run(NamedTuple):
    """Prepared work: `do` does it once and returns the calls of the system, of which there are `units`."""

    units: int
    do: Callable[[], int]


class Count(msgspec.Struct, frozen=True, order=True):
    """The work of one unit: instructions, and calls of the system."""

    instructions: float
    calls: float


class Budgets(msgspec.Struct, frozen=True):
    """Counts by the name of the work, and the build of Python in which they were counted."""

    python: str
    counts: dict[str, Count]


# --- the work -----------------------------------------------------------------------------------------------------


def tuple_judged() -> Run:
    """Tuples through `ShellBolt.drive` and a bolt that echoes and acks them."""
    bolt = _bolt()
    return Run(TUPLES, lambda: _calls(bolt.session, lambda: _drive(bolt)))


def tuple_recorded() -> Run:
    """The same, with a transcript written."""
    bolt = _bolt(Path(os.devnull))
    return Run(TUPLES, lambda: _calls(bolt.session, lambda: _drive(bolt)))


def round_trip() -> Run:
    """Calls of next to a spout that answers with its sync alone."""
    judge = Conversation(sides.profile("spout"), sides.rulebook())
    spout = ShellSpout(StoredProcess.of(itertools.chain([_PID], itertools.repeat(_SYNC))), judge)
    _meet(spout.session)

    def run() -> None:
        for _ in range(CALLS):
            spout.call("next", limit=sides.LIMIT)

    return Run(CALLS, lambda: _calls(spout.session, run))


def line_of_echo() -> Run:
    """Lines of the recording of an echo bolt, read and judged."""
    return _lint([_recorded_echo()])


def line_of_topology() -> Run:
    """Lines of the recordings of a whole topology, read and judged."""
    folder = sides.folder() / "mixed"
    made(folder, ROOTS)
    return _lint(sorted(folder.iterdir()))


def line_reported() -> Run:
    """Lines of the recording of an echo bolt, judged and put on a page that shows few of them."""
    path = _recorded_echo()

    def run() -> int:
        result = lint_result(judge_transcripts([path], sides.rulebook()), strict=False)
        to_html(result, sides.rulebook(), events=SHOWN_EVENTS)
        return 0

    return _lines([path], run)


def sentence() -> Run:
    """Sentences of six words through a whole topology, with its transcripts and its history."""
    return Run(SENTENCES, StoredRun(SENTENCES).do)


def sentence_asked() -> Run:
    """The same, where the bolt waits for the task ids of each word, as one of storm.py does."""
    return Run(SENTENCES, StoredRun(SENTENCES, asking=True).do)


WORK: dict[str, Callable[[], Run]] = {
    "tuple, judged": tuple_judged,
    "tuple, recorded": tuple_recorded,
    "next to sync": round_trip,
    "linted line, echo": line_of_echo,
    "linted line, topology": line_of_topology,
    "reported line, echo": line_reported,
    "topology, sentence": sentence,
    "topology, asking sentence": sentence_asked,
}


def _bolt(record: Path | None = None) -> ShellBolt:
    """Storm's side of an echo bolt whose answers are stored, behind its handshake and a first run."""
    bits = Random(SEED).getrandbits
    ids = [str(bits(64) - 2**63).encode() for _ in range(2 * TUPLES)]
    parts = (ids[at : at + READ] for at in range(0, len(ids), READ))
    answers = [b"".join(_EMIT % id_ + _ACK % id_ for id_ in part) for part in parts]
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    sinks = [TranscriptWriter(record, Header(conv="1", profile=judge.profile))] if record else []
    bolt = ShellBolt(StoredProcess.of([_PID, *answers]), judge, sinks, seed=SEED)
    _meet(bolt.session)
    bolt.kept.keeps = False
    _drive(bolt)
    for sink in sinks:
        sink.flush()
    return bolt


def _drive(bolt: ShellBolt) -> None:
    if not bolt.drive((sides.values(number) for number in range(TUPLES)), WINDOW, sides.LIMIT) or bolt.session.findings:
        raise RuntimeError(f"the stored bolt did not do well: {bolt.session.findings[:3]}")


def _meet(session: Session) -> None:
    session.say(sides.handshake(session.process, session.judge))
    if not session.await_pid(sides.LIMIT):
        raise RuntimeError("the stored component did not answer the handshake")


def _calls(session: Session, run: Callable[[], object]) -> int:
    process = cast("StoredProcess", session.process)
    before = process.calls
    run()
    return process.calls - before


def _recorded_echo() -> Path:
    path = sides.folder() / "echo.ndjson"
    path.unlink(missing_ok=True)
    _drive(_bolt(path))
    return path


def _lint(paths: list[Path]) -> Run:
    def run() -> int:
        judge_transcripts(paths, sides.rulebook())
        return 0

    return _lines(paths, run)


def _lines(paths: list[Path], run: Callable[[], int]) -> Run:
    run()  # loads the rules, once
    return Run(sum(path.read_bytes().count(b"\n") for path in paths), run)


# --- the counting -------------------------------------------------------------------------------------------------


def _inside(library: str) -> None:
    """Do all work under valgrind, and tell of each its units and calls."""
    counting = ctypes.CDLL(library)
    told = {}
    for name, run in _prepared():
        gc.collect()
        counting.begin()
        calls = run.do()
        counting.end(name.replace(" ", "_").encode())
        told[name] = (run.units, calls)
    sys.stdout.buffer.write(msgspec.json.encode(told))


def _prepared() -> Iterator[tuple[str, Run]]:
    # The clock goes by its readings: else a slow machine does what only long waits need.
    time.monotonic = itertools.count(1.0, 1e-6).__next__
    for name, prepare in WORK.items():
        yield name, prepare()


def counted(layout: int) -> dict[str, Count]:
    """The work of all kinds. Raises CalledProcessError, and FileNotFoundError without valgrind or a C compiler.

    `layout`: objects that are made before all others, so that those lie elsewhere.
    """
    with tempfile.TemporaryDirectory(prefix="mlcheck-work-") as folder:
        library, out = Path(folder) / "counting.so", Path(folder) / "out"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "counting.c"], check=True)
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        command = [*valgrind, sys.executable, "-c", _ELSEWHERE.format(layout=layout), "--inside", str(library)]
        env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, check=True, env=env, cwd=HERE.parent, capture_output=True)
        told = msgspec.json.decode(done.stdout, type=dict[str, tuple[int, int]])
        totals = dict(found for file in Path(folder).glob("out*") for found in _totals(file))
    return {
        name: Count(round(totals[name.replace(" ", "_")] / units, 1), round(calls / units, 4))
        for name, (units, calls) in told.items()
    }


def _totals(file: Path) -> Iterator[tuple[str, int]]:
    for name, total in _TOTAL.findall(file.read_bytes()):
        yield name.decode(), int(total)


def _profiled(name: str) -> None:
    """Print which functions the work is done in."""
    run = next(run for each, run in _prepared() if each == name)
    profile = cProfile.Profile()
    profile.runcall(run.do)
    pstats.Stats(profile).sort_stats("tottime").print_stats(_SHOWN)


def build() -> str:
    """The build of Python that runs here: another has other counts."""
    return " ".join((platform.python_implementation(), sys.version.replace("\n", " ")))


def main() -> int:
    """Count, print, and compare with the budgets; 1 if one is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.work", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="make what is counted the budgets")
    parser.add_argument("--profile", metavar="NAME", choices=WORK, help="only show the functions of one kind of work")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside or chosen.profile:
        _inside(chosen.inside) if chosen.inside else _profiled(chosen.profile)
        return 0
    if chosen.accept:
        every = [counted(layout) for layout in LAYOUTS]
        least = {name: min(each[name] for each in every) for name in WORK}
        BUDGETS.write_bytes(msgspec.json.format(msgspec.json.encode(Budgets(build(), least))) + b"\n")
    budgets = msgspec.json.decode(BUDGETS.read_bytes(), type=Budgets)
    comparable = budgets.python == build()
    counts = counted(LAYOUTS[0])
    for layout in LAYOUTS[1:] if comparable else ():
        if any(_is_over(count, budgets.counts.get(name)) for name, count in counts.items()):
            again = counted(layout)
            counts = {name: min(count, again[name]) for name, count in counts.items()}
    if not comparable:
        print(f"not compared: the budgets were counted with {budgets.python}, and this is {build()}")
    over = [name for name, count in counts.items() if _told(name, count, budgets.counts.get(name)) and comparable]
    for name in over:
        _profiled(name)
    return 1 if over else 0


def _is_over(count: Count, budget: Count | None) -> bool:
    return budget is None or count.instructions > (1 + MARGIN) * budget.instructions or count.calls > budget.calls


def _told(name: str, count: Count, budget: Count | None) -> bool:
    """Print a count; True if it is over its budget."""
    over = _is_over(count, budget)
    if budget is None:
        print(f"{name:24}{count.instructions:12,.0f} instructions  no budget (--accept makes it one)")
        return over
    change = count.instructions / budget.instructions - 1
    calls = f"{count.calls:8.3f} calls of {budget.calls:.3f}"
    print(f"{name:24}{count.instructions:12,.0f} instructions  {change:+7.2%}  {calls}  {'OVER' if over else 'kept'}")
    return over


if __name__ == "__main__":
    sys.exit(main())
