"""A sweep: the same topology once for each of several seeds. Its verdict is that of the worst, whose run is kept."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.reports.escape import escape
from multilang_cli.reports.verdict import FAILURES, precedence, word_of
from multilang_cli.terminal.output import remark
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from multilang_cli.topology.engine.setup import Setup
    from multilang_cli.topology.running import TopologyRun


class Played(NamedTuple):
    """A run of a topology, and what it was set up with."""

    setup: Setup
    run: TopologyRun


def worst_of(seeds: Sequence[int], folder: Path, play: Callable[[int, Path], Played], *, quiet: bool) -> Played:
    """The worst run of these seeds; its result notes what came of all. Its folder, seed-N in `folder`, is the one kept.

    `play`: runs a seed in a folder. A line is told of each, unless `quiet`. Ends early where a run was interrupted.
    """
    forget(folder, "seed-*")
    worst: Played | None = None
    words: Counter[str] = Counter()
    for seed in seeds:
        played = play(seed, folder / f"seed-{seed}")
        words[word_of(played.run.result)] += 1
        if not quiet:
            remark(f"seed {seed}: {escape(_told(played.run))}")
        if worst is None:
            worst = played
        else:
            # Of equals the first, as sorting is stable.
            worst, other = sorted((worst, played), key=_badness)
            shutil.rmtree(other.setup.folder, ignore_errors=True)
        if played.run.outcome.interrupted:
            break
    assert worst is not None  # noqa: S101 (there is a seed)
    many = ", ".join(f"{count} {word}" for word, count in words.items())
    which = "the first of them" if set(words) == {"PASS"} else "the worst"
    again = f"--seed {worst.setup.seed} without --seeds plays it again"
    note = f"{words.total()} of {len(seeds)} seeds: {many}. This is {which}: {again}"
    return noted(worst, note)


def noted(played: Played, note: str) -> Played:
    """The same run, with a note before all others."""
    result = msgspec.structs.replace(played.run.result, notes=(note, *played.run.result.notes))
    return Played(played.setup, played.run._replace(result=result))


def forget(folder: Path, names: str) -> None:
    """Remove the runs with such names that were kept in a folder earlier, and nothing else."""
    for kept in folder.glob(names):
        if (kept / HISTORY).exists():
            shutil.rmtree(kept, ignore_errors=True)


def _badness(played: Played) -> tuple[int, int]:
    """The lower, the worse: by the verdict, then by how much failed."""
    result = played.run.result
    return precedence(result), -sum(subject.verdict in FAILURES for subject in result.subjects)


def _told(run: TopologyRun) -> str:
    first = next((each for each in run.result.subjects if each.verdict in {*FAILURES, "warn"}), None)
    reason = f": {first.id}: {first.reason}" if first is not None and first.reason else ""
    return f"{word_of(run.result)}; {run.account.sentence or 'nothing was sent'}{reason}"
