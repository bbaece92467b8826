"""``python -m benchmarks.fuzz``: generated conversations with every right component, as many as `mlcheck fuzz` is told.

What it counts is false alarms. There must be none. It says how many conversations a second were played as well.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.options import chosen_of, parser_of
from benchmarks.soak import busy
from multilang_cli.fuzz.fuzzing import FuzzFlags, Fuzzing
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.subject.subject import Subject
from tests.components import copy_examples, examples, unusual

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.model import RunResult

RUBY: tuple[tuple[str, Kind, str], ...] = (("split_bolt", "bolt", "word"), ("sentence_spout", "spout", "sentence"))


def main() -> int:
    """Play; 1 if there was a false alarm."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a component's name; default: all")
    parser.add_argument("--conversations", type=int, default=2000, help="with each component")
    parser.add_argument("--seed", type=int, default=1, help="where they come from")
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside it")
    chosen = parser.parse_args()
    alarms = 0
    with tempfile.TemporaryDirectory() as folder, busy(chosen.busy):
        for name, component in chosen_of(right(Path(folder)), chosen.names):
            alarms += fuzz(name, component, chosen.conversations, chosen.seed, folder)
    print(f"false alarms: {alarms}")
    return 1 if alarms else 0


def right(folder: Path) -> dict[str, Component]:
    """Every component that is right: the examples in all their languages, and those that are right in unusual ways."""
    copy = copy_examples(folder)
    return {**examples(copy), **dict(_ruby(copy)), **unusual()}


def _ruby(copy: Path) -> Iterator[tuple[str, Component]]:
    for name, kind, field in RUBY:
        streams = {"default": StreamDeclaration((field,))}
        file = copy / "ruby" / f"{name}.rb"
        yield f"ruby/{name}.rb", Component(command=("ruby", str(file)), kind=kind, streams=streams)


def fuzz(name: str, component: Component, conversations: int, seed: int, folder: str) -> int:
    """Fuzz one component; 1 if anything was said against it."""
    checked = Subject.of(component, RunOptions(record=f"{folder}/record", strict=True, seed=seed))
    checked.record.mkdir(exist_ok=True)
    asked = FuzzFlags(conversations=conversations, max_time=3600.0, database=f"{folder}/database", quiet=True)
    began = time.monotonic()
    result = Fuzzing(checked, asked).run()
    print(f"{name}: {result.verdict}, {time.monotonic() - began:.0f} s; {result.notes[-1]}", flush=True)
    return _told(result)


def _told(result: RunResult) -> int:
    wrong = [subject for subject in result.subjects if subject.verdict != "pass"]
    for subject in wrong:
        print(f"  {subject.id}: {subject.verdict}: {subject.reason}")
        if subject.transcript is not None:
            print(Path(subject.transcript).with_suffix(".yaml").read_text(encoding="utf-8"))
    return int(bool(wrong) or result.exit_code != 0)


if __name__ == "__main__":
    sys.exit(main())
