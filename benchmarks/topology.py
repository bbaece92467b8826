"""Whole topologies, the same Flux file in our engine and in Storm's LocalCluster: throughput, latency, first result."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from benchmarks import ours, sides, split_count
from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved
from tests.storm.build import BuildError
from tests.storm.cluster import Cluster, ClusterError, settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.ours import Taken

ROUNDS = 5
SENTENCES = {"storm.py": 1_000, "C": 4_000}
"""Sentences of a round: a second or so, for shorter ones differ by half from one to the next."""
CLUSTER = "LocalCluster 2.8.3"
NANO = 1e-9
MILLI = 1e3


def run() -> Result:
    """Measure topologies."""
    figures: list[Figure] = []
    notes = [
        f"split-count: sentences, their words anchored, counted; max.spout.pending {split_count.PENDING}, one acker",
        f"medians of {ROUNDS} interleaved rounds; sentences a round: {SENTENCES}",
        "first result: the first ack, from the start of mlcheck's process, or from the submission to a running JVM",
        "CPU time: of our engine, of the JVM (its start and end of the topology with it); not of the components",
        "ours writes transcripts and history; the cluster's hook writes down what spouts do, and nothing of bolts",
    ]
    with tempfile.TemporaryDirectory(prefix="mlcheck-benchmarks-") as folder:
        began = time.monotonic()
        try:
            cluster = Cluster(Path(folder) / "cluster", ["-Dcluster.watch=spouts"])
        except (BuildError, ClusterError) as error:
            raise UnmeasuredError(str(error)) from None
        notes.append(f"the JVM with the LocalCluster was up after {time.monotonic() - began:.1f} s")
        try:
            for language in split_count.LANGUAGES:
                measures = {
                    "ours": lambda language=language: ours.measured(language, SENTENCES[language]),
                    "bare": lambda language=language: ours.measured(language, SENTENCES[language], transcripts=False),
                    "storm": lambda language=language: theirs(cluster, language, SENTENCES[language]),
                }
                taken = interleaved(ROUNDS, measures)
                figures += _figures(language, taken)
                costs = [f"{median(each.cpu for each in taken[side]) * MILLI:.2f}" for side in ("ours", "bare")]
                notes.append(f"{language}: {costs[0]} ms of our CPU time a sentence, {costs[1]} without transcripts")
        except ClusterError as error:
            raise UnmeasuredError(str(error)) from None
        finally:
            cluster.close()
    return Result("topology", f"all processes on any of the {len(sides.CPUS)} CPUs", tuple(figures), tuple(notes))


def theirs(cluster: Cluster, language: split_count.Language, sentences: int) -> Taken:
    """What a run in the cluster took."""
    began = time.monotonic()
    before = _cpu(cluster.pid)
    ran = cluster.run(split_count.flux(language, sentences), settled(sentences), limit=300.0)
    cpu = (_cpu(cluster.pid) - before) / sentences
    # An emit does not tell its message id: the ids go up from 1, in the order of the emits.
    emits = [each["nanos"] * NANO for each in ran.of("emit")]
    acks = {each["id"]: each["nanos"] * NANO for each in ran.of("ack")}
    if sorted(acks) != list(range(1, sentences + 1)):
        raise UnmeasuredError(f"{len(acks)} of {sentences} sentences were acked in the cluster")
    latency = mean(acks[number] - t for number, t in enumerate(emits, start=1))
    return ours.taken(began, emits, list(acks.values()), latency, cpu)


def _cpu(pid: int) -> float:
    """CPU seconds that a process has used, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _figures(language: str, taken: dict[str, list[Taken]]) -> Iterator[Figure]:
    def figure(what: str, name: str, unit: str, better: str, goal: float | None = None) -> Figure:
        values, references = ([getattr(each, name) for each in taken[side]] for side in ("ours", "storm"))
        return Figure.of_rounds(
            f"{language}, {what}",
            values,
            CLUSTER,
            references,
            unit=unit,
            better="higher" if better == "higher" else "lower",
            goal=goal,
        )

    yield figure("throughput", "rate", "sentences/s", "higher", 1.3 if language == "storm.py" else 1.0)
    yield figure("complete latency", "latency", "s", "lower")
    yield figure("first result", "first", "s", "lower", 0.15)
    yield figure("CPU time a sentence", "cpu", "s", "lower")
