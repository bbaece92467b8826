"""The workloads in examples/topologies, run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.topology.console.searching import searched
from multilang_cli.topology.console.sweeping import Played
from multilang_cli.topology.flux import read_flux
from tests.command import ROOT
from tests.topologies.runs import Ran, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = ROOT / "examples" / "topologies"
RELIABLE = ("split-count", "fan-out", "diamond", "join", "aggregate", "slow-consumer", "explicit-fail")
UNRELIABLE = ("no-ackers", "no-message-id", "no-anchor")


def run_workload(
    name: str,
    folder: Path,
    faults: Sequence[str] = (),
    seed: int = 0,
    *,
    conf: Mapping[str, Any] | None = None,
    examples: Path = FOLDER,
    **more: Any,
) -> Ran:
    """Run one; its Python components by this Python. `examples`: the folder of the files."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    topology = read_flux(examples / f"{name}.yaml", conf=conf).topology
    return run(topology, folder, faults=faults, seed=seed, env={"PATH": path, "PYTHONPATH": str(ROOT)}, **more)


def search_workload(name: str, folder: Path, seconds: float, seed: int = 0, *, quiet: bool = True) -> Played:
    """Search one for faults that break it."""

    def play(faults: tuple[str, ...], there: Path) -> Played:
        ran = run_workload(name, there, faults, seed)
        return Played(ran.setup, ran.run)

    return searched(seconds, folder, play, strict=False, quiet=quiet)
