"""Our side of a measured topology: ``python -m benchmarks.ours LANGUAGE SENTENCES [bare]`` prints what a run took.

`bare`: without transcripts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import yaml

from benchmarks import sides, split_count
from multilang_cli.topology.engine.setup import Goal, set_up
from multilang_cli.topology.flux import read_flux
from multilang_cli.topology.history import EmissionEnded, Emitted, PhaseBegun
from multilang_cli.topology.running import TopologyRun, prepare, run_topology

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.topology.engine.engine import Engine
    from multilang_cli.topology.history import Happening

    Listener = Callable[[Happening], object]

IDLE = 0.3


class Taken(msgspec.Struct, frozen=True):
    """What a run took.

    `rate`: sentences a second, from the first emit to the last ack; `latency`: seconds from emit to ack, the mean;
    `first`: seconds from the start of everything to the first ack; `cpu`: of our own process, seconds a sentence.
    """

    rate: float
    latency: float
    first: float
    cpu: float = 0.0


def taken(began: float, emits: list[float], acks: list[float], latency: float, cpu: float = 0.0) -> Taken:
    """`began`, `emits`, `acks`: seconds of the monotonic clock."""
    return Taken(len(acks) / (max(acks) - min(emits)), latency, min(acks) - began, cpu)


def run(
    language: split_count.Language,
    sentences: int,
    folder: Path,
    watch: Callable[[Engine], Listener | None] = lambda _: None,
    *,
    transcripts: bool = True,
) -> TopologyRun:
    """Run the topology until every sentence is acked; the run is written to `folder`."""
    path = folder / "topology.yaml"
    path.write_text(yaml.safe_dump(split_count.flux(language, sentences)), encoding="utf-8")
    rulebook = sides.rulebook()
    prepare(folder)
    setup = set_up(
        read_flux(path, resources=split_count.resources(language)).topology,
        rulebook.newest,
        rulebook,
        folder,
        cwd=folder,
        env=dict(os.environ),
        goal=Goal(messages=sentences, idle=IDLE),
        transcripts=transcripts,
    )
    return run_topology(setup, watch)


def measured(language: split_count.Language, sentences: int, *, transcripts: bool = True) -> Taken:
    """Run it in a process of its own, that begins with the interpreter. Raises CalledProcessError."""
    command = [sys.executable, "-m", "benchmarks.ours", language, str(sentences), *(() if transcripts else ("bare",))]
    env = {**os.environ, split_count.RESOURCES: str(split_count.resources(language))}
    began = time.monotonic()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=sides.HERE.parent, env=env)
    found = msgspec.json.decode(done.stdout, type=Taken)
    return msgspec.structs.replace(found, first=found.first - began)


def main(language: split_count.Language, sentences: int, *, transcripts: bool) -> None:
    """Run it here; `first` is printed as a time of the monotonic clock."""
    emits: list[float] = []
    acks: list[float] = []
    cpu: list[float] = []
    latency = start = 0.0

    def watch(engine: Engine) -> Listener:
        nonlocal start
        start = time.monotonic() - engine.now
        return listen

    def listen(event: Happening) -> None:
        nonlocal latency
        kind = event.__class__
        if kind is Emitted and event.message_id is not None:  # type: ignore[union-attr]
            emits.append(start + event.t)
        elif kind is EmissionEnded and event.how == "acked":  # type: ignore[union-attr]
            acks.append(start + event.t)
            latency += event.latency  # type: ignore[union-attr]
        elif kind is PhaseBegun:
            cpu.append(time.process_time())

    with tempfile.TemporaryDirectory(prefix="mlcheck-benchmarks-") as folder:
        result = run(language, sentences, Path(folder), watch, transcripts=transcripts).result
    if len(acks) != sentences or result.exit_code:
        raise RuntimeError(f"{len(acks)} of {sentences} sentences were acked: {result.verdict}")
    sys.stdout.buffer.write(
        msgspec.json.encode(taken(0.0, emits, acks, latency / sentences, (cpu[-1] - cpu[0]) / sentences))
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), transcripts="bare" not in sys.argv)  # type: ignore[arg-type]
