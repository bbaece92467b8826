"""The topology that is measured, in storm.py and in C: sentences, their words, counts of the words."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchmarks import sides
from examples.storm_py.get_storm import fetch

if TYPE_CHECKING:
    from collections.abc import Mapping

Language = Literal["storm.py", "C"]
LANGUAGES: tuple[Language, ...] = ("storm.py", "C")
HERE = sides.HERE / "topologies"
RESOURCES = "MLCHECK_BENCHMARK_RESOURCES"
"""The variable that hands the folder to a measured process, so that it need not be made again."""
PENDING = 100
"""``topology.max.spout.pending``: without a limit the spout runs ahead, and latency is that of the queues."""


@cache
def resources(language: Language) -> Path:
    """The folder with the components, made on first use. Raises CalledProcessError, OSError."""
    if RESOURCES in os.environ:
        return Path(os.environ[RESOURCES])
    folder = sides.folder() / f"split-count-{language}"
    folder.mkdir()
    if language == "C":
        for source in HERE.glob("*.c"):
            subprocess.run(["cc", "-O2", "-o", folder / source.stem, source], check=True)
    else:
        fetch(folder)
        for source in HERE.glob("*.py"):
            shutil.copy(source, folder)
    return folder


def flux(language: Language, sentences: int) -> dict[str, Any]:
    """The Flux file; the spout emits so many sentences, one a call, and then nothing."""
    package = "org.apache.storm.flux.wrappers"

    def component(name: str, kind: Literal["Spout", "Bolt"], program: str, *fields: str) -> Mapping[str, Any]:
        path = str(resources(language) / program)
        arguments = [[path] if language == "C" else [sys.executable, f"{path}.py"], list(fields)]
        return {"id": name, "className": f"{package}.{kind.lower()}s.FluxShell{kind}", "constructorArgs": arguments}

    return {
        "name": "split-count",
        "config": {
            "topology.acker.executors": 1,
            "topology.max.spout.pending": PENDING,
            "topology.message.timeout.secs": 300,
            "sentences": sentences,
        },
        "spouts": [component("sentences", "Spout", "sentence_spout", "sentence")],
        "bolts": [
            component("split", "Bolt", "split_bolt", "word"),
            component("count", "Bolt", "ack_bolt" if language == "C" else "count_bolt", "word"),
        ],
        "streams": [
            {"from": "sentences", "to": "split", "grouping": {"type": "SHUFFLE"}},
            {"from": "split", "to": "count", "grouping": {"type": "FIELDS", "args": ["word"]}},
        ],
    }
